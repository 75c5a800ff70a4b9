/* The best policy under a utility, by bounds from both sides. */
#include "invert/utility/rival.h"

#include <math.h>

#include "base/memory.h"
#include "invert/utility/mind_kernel.h"
#include "plan/point/search.h"

/* A lower bound as a policy: the action of the vector that is best at a belief. */
typedef struct adviser {
  const alphas *lower;
  uint32_t *state; /* [state]: scratch */
  double *mass;
} adviser;

static size_t advise(void *context, const double *z)
{
  const adviser *a = context;
  belief b = {.state = a->state, .mass = a->mass};
  for (size_t s = 0; s < a->lower->states; s++) {
    if (!(z[s] > 0)) continue;
    a->state[b.count] = (uint32_t)s;
    a->mass[b.count++] = z[s];
    b.sign |= belief_bit((uint32_t)s);
  }
  const alpha_choice best = idm_alphas_best(a->lower, &b, 0, (alpha_choice){0, -INFINITY});
  return a->lower->action[best.vector];
}

/* The policy of a lower bound, as a graph, and what it is worth. */
static idm_status keep_policy(const idm_mind *mind, const double *utility, const alphas *lower,
                              size_t most, idm_rival *rival, idm_halt *halt, idm_error *opt_error)
{
  const idm_sizes n = mind->n;
  idm_policy_graph kept = {0};
  adviser a = {.lower = lower,
               .state = idm_new(n.states, sizeof *a.state),
               .mass = idm_new(n.states, sizeof *a.mass)};
  idm_status status = a.state && a.mass ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_policy_graph_follow(mind, advise, &a, most, &kept, opt_error);
  if (status == IDM_OK)
    status = idm_policy_graph_counts(mind, &kept, rival->count, halt, opt_error);
  rival->value = 0;
  for (size_t e = 0; e < n.actions * n.states && status == IDM_OK; e++)
    rival->value += rival->count[e] * utility[e];
  idm_policy_graph_free(&kept);
  free(a.state);
  free(a.mass);
  return status;
}

static bool watch(void *context, double lower, double upper)
{
  (void)lower;
  (void)upper;
  return idm_halt_check(context, NULL) != IDM_OK;
}

idm_status idm_rival_find(const idm_mind *mind, const double *utility, double gap, size_t most,
                          idm_rival *rival, idm_halt *halt, idm_error *opt_error)
{
  enum { most_backups = 20000 };
  kernel *k = NULL;
  bounds b = {0};
  search_result result = {0};
  idm_status status = idm_mind_kernel(mind, &k, opt_error);
  if (status != IDM_OK) return status;
  const point_problem problem = {.kernel = k,
                                 .reward = utility,
                                 .prior = mind->prior,
                                 .terminal = mind->terminal,
                                 .start = mind->start,
                                 .discount = mind->discount};
  const search_goal goal = {
      .gap = gap, .backups = most_backups, .bytes = 0x1p30, .opt_watch = watch, .context = halt};
  status = idm_bounds_create(&problem, 0.01 * (1 - mind->discount) * gap, &b, opt_error);
  if (status == IDM_OK) status = idm_search(&problem, &goal, &b, &result, opt_error);
  if (status == IDM_OK) status = idm_halt_check(halt, opt_error);
  if (status == IDM_OK)
    status = keep_policy(mind, utility, &b.stage[b.stages - 1].lower, most, rival, halt, opt_error);
  rival->upper = result.upper;
  idm_bounds_free(&b);
  idm_kernel_destroy(k);
  return status;
}
