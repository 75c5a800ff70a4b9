/* The planner `controller`: a memory of finitely many nodes, learnt by policy gradient from
 * episodes alone; an observer of it has a distribution over the node it is
 * in. */
#include "plan/tabular/controller.h"

#include <math.h>

#include "base/memory.h"
#include "idm/behavior.h"
#include "idm/data.h"

/* Transitions where `budget` is auto. */
enum { default_budget = 30000000 };

/* --- making one ----------------------------------------------------------------------------- */

static void table_free(controller_table *t)
{
  free(t->choice);
  free(t->pass);
}

static bool table_make(const controller *c, controller_table *t)
{
  const size_t pairs = idm_times(c->nodes, c->sizes.actions);
  t->choice = idm_new(pairs, sizeof *t->choice);
  t->pass = idm_new(idm_times(pairs, idm_times(c->sizes.observations, c->nodes)), sizeof *t->pass);
  return t->choice && t->pass;
}

static void destroy(void *content)
{
  controller *c = content;
  if (!c) return;
  for (size_t v = 0; c->learnt && v < c->variants; v++) table_free(&c->learnt[v]);
  free(c->learnt);
  table_free(&c->logit);
  table_free(&c->probability);
  for (size_t r = 0; r < CONTROLLER_STARTS; r++) table_free(&c->start[r]);
  table_free(&c->count);
  table_free(&c->sum);
  free(c->step);
  idm_lesson_destroy(&c->lesson);
  free(c);
}

static idm_status create(const idm_setting *setting, const idm_theta *theta, const idm_agent *agent,
                         void **ret_content, idm_error *opt_error)
{
  *ret_content = NULL;
  controller *c = idm_new(1, sizeof *c);
  if (!c) return idm_fail_memory(opt_error);
  *c = (controller){.setting = setting,
                    .sizes = theta->sizes,
                    .nodes = (size_t)agent->nodes,
                    .variants = idm_theta_variants(theta),
                    .budget = agent->budget > 0 ? (size_t)agent->budget : default_budget,
                    .seed = agent->seed};
  c->learnt = idm_new(c->variants, sizeof *c->learnt);
  c->step = idm_new(CONTROLLER_STEPS, sizeof *c->step);
  bool made = c->learnt && c->step && table_make(c, &c->logit) && table_make(c, &c->probability) &&
              table_make(c, &c->count) && table_make(c, &c->sum) &&
              idm_lesson_create(&c->lesson, theta);
  for (size_t v = 0; made && v < c->variants; v++) made = table_make(c, &c->learnt[v]);
  for (size_t r = 0; made && r < CONTROLLER_STARTS; r++) made = table_make(c, &c->start[r]);
  if (!made) {
    destroy(c);
    return idm_fail_memory(opt_error);
  }
  *ret_content = c;
  return IDM_OK;
}

static idm_status plan(void *content, const idm_theta *theta, const idm_solver *solver,
                       idm_plan_report *report, idm_error *opt_error)
{
  (void)solver;
  (void)opt_error;
  controller *c = content;
  idm_experience *all = &c->lesson.found;
  const bool is_new = idm_lesson_is_new(&c->lesson, theta);
  c->habits = idm_habit_of(theta);
  for (size_t v = 0; is_new && v < c->variants; v++) {
    idm_experience one = {0};
    idm_controller_learn(c, theta, v, &one);
    const long drawn = (v ? all->transitions : 0) + one.transitions;
    if (v == 0 || one.value < all->value) *all = one;
    all->transitions = drawn;
  }
  *report = idm_lesson_report(&c->lesson);
  return IDM_OK;
}

/* --- how it behaves ------------------------------------------------------------------------- */

typedef struct memory {
  size_t variant;
  int last;       /* action of this trajectory; IDM_MISSING at its start */
  double *weight; /* [node]: how likely it is to be there, given all that was seen */
  double *next;   /* [node]: scratch */
  double *choice; /* [node][action]: probabilities when it last acted */
  double *log_pi; /* [action]: scratch */
} memory;

static void memory_destroy(void *content)
{
  memory *m = content;
  if (!m) return;
  free(m->weight);
  free(m->next);
  free(m->choice);
  free(m->log_pi);
  free(m);
}

static idm_status memory_create(const void *content, void **ret_memory, idm_error *opt_error)
{
  const controller *c = content;
  memory *m = idm_new(1, sizeof *m);
  *ret_memory = NULL;
  if (!m) return idm_fail_memory(opt_error);
  m->weight = idm_new(c->nodes, sizeof *m->weight);
  m->next = idm_new(c->nodes, sizeof *m->next);
  m->choice = idm_new(idm_times(c->nodes, c->sizes.actions), sizeof *m->choice);
  m->log_pi = idm_new(c->sizes.actions, sizeof *m->log_pi);
  if (!m->weight || !m->next || !m->choice || !m->log_pi) {
    memory_destroy(m);
    return idm_fail_memory(opt_error);
  }
  *ret_memory = m;
  return IDM_OK;
}

static idm_status begin_agent(const void *content, void *content_memory, idm_error *opt_error)
{
  (void)content;
  (void)content_memory; /* it is of one trajectory */
  (void)opt_error;
  return IDM_OK;
}

static idm_status begin_trajectory(const void *content, void *before, void *after, size_t variant,
                                   const double *opt_start, idm_error *opt_error)
{
  (void)before;
  (void)opt_start; /* it learns of the start what it sees */
  const controller *c = content;
  memory *m = after;
  if (variant >= c->variants)
    return idm_fail(opt_error, IDM_USAGE,
                    "variant %zu was not planned for: bind the utilities before making a workspace",
                    variant);
  m->variant = variant;
  m->last = IDM_MISSING;
  for (size_t n = 0; n < c->nodes; n++) m->weight[n] = n == 0;
  return IDM_OK;
}

/* Habits and slips are of the choice in each node. */
static void choose(const controller *c, memory *m, const bool *opt_open)
{
  const size_t actions = c->sizes.actions;
  for (size_t n = 0; n < c->nodes; n++) {
    const double *pi = c->learnt[m->variant].choice + n * actions;
    double open;
    for (size_t u = 0; u < actions; u++) m->log_pi[u] = log(pi[u]);
    idm_habit_tilt_logs(c->habits, actions, m->log_pi, opt_open, m->last, m->log_pi, &open);
    for (size_t u = 0; u < actions; u++)
      m->choice[n * actions + u] =
          opt_open && !opt_open[u] ? 0 : idm_habit_slip(c->habits, exp(m->log_pi[u]), open);
  }
}

static idm_status act(const void *content, void *content_memory, const bool *opt_available,
                      double *probability, idm_error *opt_error)
{
  (void)opt_error;
  const controller *c = content;
  memory *m = content_memory;
  choose(c, m, opt_available);
  for (size_t u = 0; u < c->sizes.actions; u++) {
    probability[u] = 0;
    for (size_t n = 0; n < c->nodes; n++)
      probability[u] += m->weight[n] * m->choice[n * c->sizes.actions + u];
  }
  return IDM_OK;
}

static idm_status refuse(const char *what, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT,
                  "%s, and a controller moves by it: expected every action and observation to be "
                  "recorded; leave such trajectories out by --where",
                  what);
}

/* One step of the forward recursion over nodes. */
static void move(const controller *c, const memory *m, size_t u, size_t x, double *weight)
{
  const double *pass = c->learnt[m->variant].pass;
  double total = 0;
  memset(weight, 0, c->nodes * sizeof *weight);
  for (size_t n = 0; n < c->nodes; n++) {
    const double share = m->weight[n] * m->choice[n * c->sizes.actions + u];
    const double *next = pass + idm_controller_row(c, n, u, x);
    for (size_t i = 0; i < c->nodes; i++) weight[i] += share * next[i];
    total += share;
  }
  /* After something that it never does, any node is as good as another. */
  for (size_t i = 0; i < c->nodes; i++)
    weight[i] = total > 0 ? weight[i] / total : 1 / (double)c->nodes;
}

static idm_status observe(const void *content, void *before, void *after, const idm_event *event,
                          double *opt_log_evidence, idm_random *opt_random, idm_error *opt_error)
{
  (void)opt_log_evidence;
  (void)opt_random; /* all nodes that it may be in are kept: what it does next has the same law */
  const controller *c = content;
  const memory *from = before;
  memory *to = after;
  if (event->action == IDM_MISSING) return refuse("an action was not recorded", opt_error);
  if (event->observation == IDM_MISSING && !event->last)
    return refuse("an observation was not recorded", opt_error);
  if (event->observation != IDM_MISSING) {
    move(c, from, (size_t)event->action, (size_t)event->observation, to->next);
    double *const swapped = to->weight;
    to->weight = to->next;
    to->next = swapped;
  }
  to->variant = from->variant;
  to->last = event->missed ? from->last : event->action;
  return IDM_OK;
}

static const idm_behavior_ops behavior = {.scope = IDM_SCOPE_TRAJECTORY,
                                          .memory_create = memory_create,
                                          .memory_destroy = memory_destroy,
                                          .begin_agent = begin_agent,
                                          .begin_trajectory = begin_trajectory,
                                          .act = act,
                                          .observe = observe};

/* --- the table ------------------------------------------------------------------------------ */

const idm_planner idm_controller = {
    .name = "controller",
    .summary = "a memory of finitely many nodes, learnt by policy gradient from episodes alone",
    .row = "Model-free POMDP learner",
    .keys = (const char *const[]){"seed", "budget", "nodes", NULL},
    .reads = (const idm_block_id[]){IDM_UTILITY, IDM_DISCOUNT, IDM_PERSEVERANCE, IDM_LAPSE,
                                    IDM_BLOCK_COUNT},
    .transitions = default_budget,
    .needs = IDM_NEEDS_SAMPLER | IDM_NEEDS_RANDOM | IDM_NEEDS_ACTIONS,
    .gives = IDM_GIVES_STATIONARY | IDM_GIVES_MOVES,
    .create = create,
    .plan = plan,
    .destroy = destroy,
    .behavior = &behavior};
