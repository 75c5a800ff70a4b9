/* Bounds on the value of the optimal policy, for any planner (docs/method/control.md, 10). */
#include <math.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "plan/choice.h"
#include "plan/point/search.h"
#include "plan/workspace.h"
#include "setting/model.h"

/* Whether a lattice was solved for the ordinary POMDP, whose value is convex in the belief.
 * Parameters of a planner's own may define another problem. */
static bool is_rational(const idm_workspace *w)
{
  const double alpha = idm_theta_scalar(w->theta, IDM_ALPHA);
  if (!w->planner->lattice || w->planner->own_count) return false;
  if (idm_theta_scalar(w->theta, IDM_DISCOUNT) == 1 && !(w->setting->horizon > 0)) return false;
  const idm_sensor sensor = idm_sensor_of(w->setting, w->theta);
  return !w->setting->fully_observed && !idm_sensor_is_limited(&sensor) && alpha == 0 &&
         !signbit(alpha) &&
         (isinf(idm_theta_scalar(w->theta, IDM_BETA)) || w->theta->models == 1) &&
         idm_theta_scalar(w->theta, IDM_ETA) == 0 && !w->delayed &&
         !idm_update_of(w->theta).distorted &&
         idm_piecewise_reward_of(w->theta, &(piecewise_reward){0});
}

/* A planned workspace as a policy. */
typedef struct lattice_policy {
  idm_workspace *workspace;
  size_t variant;
  double *quality; /* [action] */
} lattice_policy;

/* Its greedy action; the first one of ties. */
static size_t greedy(void *context, const double *z, int left)
{
  const lattice_policy *h = context;
  const idm_workspace *w = h->workspace;
  const double *prior = idm_theta_values(w->theta, IDM_ACTION_PRIOR, 0);
  const int steps = w->setting->horizon > 0 ? w->setting->horizon - left : 0;
  idm_plan_quality(h->workspace, h->variant, steps, z, h->quality);
  size_t best = SIZE_MAX;
  for (size_t u = 0; u < w->theta->sizes.actions; u++)
    if (prior[u] > 0 && (best == SIZE_MAX || h->quality[u] > h->quality[best])) best = u;
  return best;
}

/* Lower bound by plans that take the greedy actions of the lattice solution. */
static idm_status lower_by_search(lattice_policy *h, const double *z, double *lower,
                                  idm_error *opt_error)
{
  enum { max_backups = 5000 };
  const idm_workspace *w = h->workspace;
  kernel *k;
  idm_status status = idm_kernel_create(w->setting, w->theta, &k, opt_error);
  if (status != IDM_OK) return status;
  piecewise_reward belief_reward;
  (void)idm_piecewise_reward_of(w->theta, &belief_reward);
  const point_problem problem = {.kernel = k,
                                 .piecewise_reward = belief_reward,
                                 .reward = idm_theta_values(w->theta, IDM_UTILITY, h->variant),
                                 .prior = idm_theta_values(w->theta, IDM_ACTION_PRIOR, 0),
                                 .terminal = w->setting->terminal,
                                 .start = z,
                                 .discount = idm_theta_scalar(w->theta, IDM_DISCOUNT),
                                 .horizon = w->setting->horizon,
                                 .opt_policy = greedy,
                                 .context = h};
  const search_goal goal = {.gap = 1e-4 * idm_variant_utility_range(w->theta, h->variant),
                            .backups = max_backups,
                            .bytes = 0x1p30};
  bounds b;
  search_result result;
  status = idm_bounds_create(&problem, 0.01 * (1 - problem.discount) * goal.gap, &b, opt_error);
  if (status == IDM_OK) status = idm_search(&problem, &goal, &b, &result, opt_error);
  if (status == IDM_OK) *lower = result.lower;
  idm_bounds_free(&b);
  idm_kernel_destroy(k);
  return status;
}

idm_status idm_plan_bounds(idm_workspace *workspace, size_t variant, const double *z, double *lower,
                           double *upper, idm_error *opt_error)
{
  idm_require(workspace, z, lower, upper);
  *lower = *upper = NAN;
  if (variant >= idm_theta_variants(workspace->theta))
    return idm_fail(opt_error, IDM_USAGE, "there is no variant %zu", variant);
  if (!idm_workspace_evaluates(workspace, variant, 0, z))
    return idm_fail(opt_error, IDM_USAGE,
                    "the workspace has no plan, or the belief is not a probability distribution");
  if (workspace->planner->search)
    workspace->planner->search->bounds(workspace->content, variant, 0, z, lower, upper,
                                       workspace->scratch);
  if (!is_rational(workspace)) return IDM_OK;
  *upper = idm_plan_value(workspace, variant, z) + workspace->bound;
  lattice_policy h = {workspace, variant,
                      idm_new(workspace->theta->sizes.actions, sizeof *h.quality)};
  const idm_status status =
      h.quality ? lower_by_search(&h, z, lower, opt_error) : idm_fail_memory(opt_error);
  free(h.quality);
  return status;
}

bool idm_plan_vector(const idm_workspace *workspace, size_t variant, size_t index, double *vector,
                     size_t *action)
{
  if (!workspace || !vector || !action || variant >= idm_theta_variants(workspace->theta) ||
      !workspace->planned || !workspace->planner->search)
    return false;
  return workspace->planner->search->vector(workspace->content, variant, index, vector, action);
}
