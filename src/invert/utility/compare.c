/* Comparison of two agents of one problem: EPIC-type canonical distance of their utilities, and
 * divergences of their policies.
 *
 * Contents: whether they can be compared · agents · divergences */
#include "invert/project.h"

#include <math.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "idm/extension/planner.h"
#include "invert/predict.h"
#include "invert/utility/mdp.h"
#include "plan/plan.h"

/* Largest number of draws over which the policy of a run is averaged. */
static const size_t max_draws = 200;

/* --- whether they can be compared ----------------------------------------------------------- */

static idm_status compare_names(const idm_labels *a, const idm_labels *b, const char *what,
                                idm_error *opt_error)
{
  if (a->count != b->count)
    return idm_fail(opt_error, IDM_INPUT,
                    "one problem has %zu %s and the other %zu; expected the same ones", a->count,
                    what, b->count);
  for (size_t i = 0; i < a->count; i++)
    if (strcmp(a->name[i], b->name[i]) != 0)
      return idm_fail(opt_error, IDM_INPUT,
                      "among the %s one problem has '%.100s' where the other has '%.100s'; "
                      "expected the same ones in the same order",
                      what, a->name[i], b->name[i]);
  return IDM_OK;
}

static bool all_equal(const double *opt_a, const double *opt_b, size_t count)
{
  if (!opt_a || !opt_b) return !opt_a == !opt_b;
  for (size_t i = 0; i < count; i++)
    if (!(fabs(opt_a[i] - opt_b[i]) <= 1e-12)) return false;
  return true;
}

/* Compares sparse transition rows. */
static bool same_transitions(const idm_sparse_rows *a, const idm_sparse_rows *b, size_t rows)
{
  if (!all_equal(a->probability, b->probability,
                 a->first[rows] == b->first[rows] ? a->first[rows] : 0))
    return false;
  for (size_t i = 0; i <= rows; i++)
    if (a->first[i] != b->first[i]) return false;
  for (size_t i = 0; i < a->first[rows]; i++)
    if (a->next[i] != b->next[i]) return false;
  return true;
}

static idm_status fail_differ(const char *in, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT,
                  "the two problems differ in %s; utilities and policies are compared in one "
                  "environment",
                  in);
}

static idm_status compare_settings(const idm_setting *a, const idm_setting *b, idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(a);
  idm_status status = compare_names(&a->states, &b->states, "states", opt_error);
  if (status == IDM_OK) status = compare_names(&a->actions, &b->actions, "actions", opt_error);
  if (status == IDM_OK)
    status = compare_names(&a->observations, &b->observations, "observations", opt_error);
  if (status != IDM_OK) return status;
  if (a->fully_observed != b->fully_observed)
    return fail_differ("whether states are observed", opt_error);
  if (!all_equal(a->start, b->start, n.states)) return fail_differ("their `start`", opt_error);
  if (a->horizon != b->horizon) return fail_differ("their horizon", opt_error);
  for (size_t u = 0; u < n.actions; u++)
    if (a->terminal[u] != b->terminal[u])
      return fail_differ("which actions are terminal", opt_error);
  if (!a->fully_observed &&
      !all_equal(a->emission, b->emission, n.actions * n.states * n.observations))
    return fail_differ("their `observation`", opt_error);
  return IDM_OK;
}

/* --- agents --------------------------------------------------------------------------------- */

/* One of the two agents. */
typedef struct agent {
  const idm_compared_agent *of;
  idm_parameters *parameters; /* NULL without a run */
  idm_theta *theta;           /* at the centre of the draws, or the problem's */
  idm_mdp *mdp;
  double *policy; /* [state][action]; NULL without a policy by state */
} agent;

static void close_compared_agent(agent *a)
{
  idm_mdp_destroy(a->mdp);
  idm_theta_destroy(a->theta);
  idm_parameters_destroy(a->parameters);
  free(a->policy);
}

/* Averages the policy over draws: the centre of a multimodal posterior need not represent any of
 * its modes. */
static idm_status average_policy(agent *a, size_t numbers, idm_error *opt_error)
{
  const idm_posterior *p = a->of->opt_posterior;
  const size_t all = p->chains * p->draws;
  const size_t count = all < max_draws ? all : max_draws;
  idm_theta *theta = NULL;
  double *one = idm_new(numbers, sizeof *one);
  idm_status status = one ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_theta_copy(a->of->problem->theta, &theta, opt_error);
  for (size_t k = 0; k < count && status == IDM_OK; k++) {
    const size_t draw = k * all / count;
    status =
        idm_posterior_theta(p, a->parameters, draw / p->draws, draw % p->draws, theta, opt_error);
    if (status == IDM_OK) status = idm_policy_plan(a->of->problem, theta, one, opt_error);
    for (size_t i = 0; i < numbers && status == IDM_OK; i++) a->policy[i] += one[i] / (double)count;
  }
  idm_theta_destroy(theta);
  free(one);
  return status;
}

static idm_status find_policy(agent *a, idm_error *opt_error)
{
  const idm_problem *problem = a->of->problem;
  const idm_sizes n = idm_setting_sizes(problem->setting);
  /* With a horizon, policies depend on the steps left. */
  if (!idm_policy_by_state(problem) || problem->setting->horizon) return IDM_OK;
  a->policy = idm_new(idm_times(n.states, n.actions), sizeof *a->policy);
  if (!a->policy) return idm_fail_memory(opt_error);
  return a->of->opt_posterior ? average_policy(a, n.states * n.actions, opt_error)
                              : idm_policy_plan(problem, a->theta, a->policy, opt_error);
}

static idm_status open_compared_agent(const idm_compared_agent *of, agent *a, idm_error *opt_error)
{
  *a = (agent){.of = of};
  idm_status status = idm_theta_copy(of->problem->theta, &a->theta, opt_error);
  if (status == IDM_OK && of->opt_posterior) {
    status = idm_parameters_create(of->problem, &a->parameters, opt_error);
    if (status == IDM_OK)
      status = idm_posterior_central_theta(of->opt_posterior, a->parameters, a->theta, opt_error);
  }
  if (status == IDM_OK)
    status = idm_mdp_underlying(of->problem, of->problem->setting, "compare", &a->mdp, opt_error);
  if (status != IDM_OK) return status;
  a->mdp->discount = idm_theta_scalar(a->theta, IDM_DISCOUNT);
  a->mdp->prior = idm_theta_values(a->theta, IDM_ACTION_PRIOR, 0);
  return find_policy(a, opt_error);
}

static idm_status compare_worlds(const agent *a, const agent *b, idm_error *opt_error)
{
  const idm_sizes n = a->mdp->n;
  if (!same_transitions(a->mdp->moves, b->mdp->moves, n.actions * n.states))
    return fail_differ("their `transition`", opt_error);
  if (!all_equal(&a->mdp->discount, &b->mdp->discount, 1))
    return fail_differ("their discount", opt_error);
  if (!all_equal(a->mdp->prior, b->mdp->prior, n.actions))
    return fail_differ("their `action_prior`", opt_error);
  return IDM_OK;
}

/* --- divergences ---------------------------------------------------------------------------- */

static double divergence(const double *p, const double *q, size_t count)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    if (p[i] > 0) sum += p[i] * log(p[i] / q[i]);
  return fmax(sum, 0);
}

/* Mean KL divergence over the state occupancy of the first policy. */
static idm_status mean_divergence(const agent *a, const agent *b, double *mean,
                                  idm_error *opt_error)
{
  const idm_sizes n = a->mdp->n;
  double *occupancy = idm_new(idm_times(n.states, n.actions), sizeof *occupancy);
  if (!occupancy) return idm_fail_memory(opt_error);
  const idm_status status = idm_mdp_occupancy(a->mdp, a->policy, occupancy, opt_error);
  double sum = 0;
  double total = 0;
  for (size_t s = 0; s < n.states && status == IDM_OK; s++) {
    double mass = 0;
    for (size_t u = 0; u < n.actions; u++) mass += occupancy[s * n.actions + u];
    if (!(mass > 0)) continue;
    sum += mass * divergence(a->policy + s * n.actions, b->policy + s * n.actions, n.actions);
    total += mass;
  }
  *mean = sum / total; /* the total is below 1 with terminal actions */
  free(occupancy);
  return status;
}

static bool has_distance(const agent *a)
{
  return idm_planner_reads(idm_agent_planner(&a->of->problem->agent), IDM_UTILITY);
}

static idm_status compare_agents(const agent *a, const agent *b, idm_agent_distance *c,
                                 idm_error *opt_error)
{
  *c = (idm_agent_distance){.distance = NAN,
                            .kl = {NAN, NAN},
                            .has_distance = has_distance(a) && has_distance(b),
                            .has_divergence = a->policy && b->policy};
  idm_status status = IDM_OK;
  if (c->has_distance)
    status = idm_canonical_distance(a->mdp, a->theta->block[IDM_UTILITY].value,
                                    b->theta->block[IDM_UTILITY].value, &c->distance, opt_error);
  if (status == IDM_OK && c->has_divergence) status = mean_divergence(a, b, &c->kl[0], opt_error);
  if (status == IDM_OK && c->has_divergence) status = mean_divergence(b, a, &c->kl[1], opt_error);
  return status;
}

idm_status idm_compare(const idm_compared_agent *first, const idm_compared_agent *second,
                       idm_agent_distance *apart, idm_error *opt_error)
{
  idm_require(first, second, apart);
  idm_require(first->problem, second->problem);
  agent a = {0};
  agent b = {0};
  idm_status status =
      compare_settings(first->problem->setting, second->problem->setting, opt_error);
  if (status == IDM_OK) status = open_compared_agent(first, &a, opt_error);
  if (status == IDM_OK) status = open_compared_agent(second, &b, opt_error);
  if (status == IDM_OK) status = compare_worlds(&a, &b, opt_error);
  if (status == IDM_OK) status = compare_agents(&a, &b, apart, opt_error);
  close_compared_agent(&a);
  close_compared_agent(&b);
  return status;
}
