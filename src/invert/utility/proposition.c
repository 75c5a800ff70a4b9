/* Both sides of the proposition, by code that has nothing in common but the world. */
#include "idm/proposition.h"

#include <math.h>
#include <stdio.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/workspace.h"
#include "invert/utility/closest.h"
#include "invert/utility/conjugate_matching.h"
#include "invert/utility/convex_margin.h"
#include "invert/utility/smooth_margin.h"

const char *idm_zeta_name(idm_zeta zeta)
{
  static const char *const names[IDM_ZETA_COUNT] = {"squared", "absolute", "entropy", "gail",
                                                    "box"};
  return (size_t)zeta < IDM_ZETA_COUNT ? names[zeta] : NULL;
}

void idm_proposition_destroy(idm_proposition *proposition)
{
  if (!proposition) return;
  free(proposition->demonstrated);
  free(proposition->planned);
  free(proposition->matched);
  free(proposition->occupancy);
  idm_labels_destroy(&proposition->state);
  idm_labels_destroy(&proposition->action);
  free(proposition);
}

static idm_status allocate(const idm_setting *setting, idm_proposition *p, idm_error *opt_error)
{
  const size_t states = setting->states.count;
  const size_t all = states * setting->actions.count;
  p->demonstrated = idm_new(all, sizeof *p->demonstrated);
  p->planned = idm_new(all, sizeof *p->planned);
  p->matched = idm_new(all, sizeof *p->matched);
  p->occupancy = idm_new(states, sizeof *p->occupancy);
  if (!p->demonstrated || !p->planned || !p->matched || !p->occupancy)
    return idm_fail_memory(opt_error);
  const idm_status status = idm_labels_copy(&setting->states, &p->state, opt_error);
  return status == IDM_OK ? idm_labels_copy(&setting->actions, &p->action, opt_error) : status;
}

/* --- the demonstrator ----------------------------------------------------------------------- */

static idm_status demonstrate(const idm_problem *problem, double *policy, idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(problem->setting);
  idm_workspace *workspace = NULL;
  double *corner = idm_new(n.states, sizeof *corner);
  idm_status status = corner ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                                  opt_error);
  if (status == IDM_OK) status = idm_plan(problem->theta, NULL, workspace, NULL, opt_error);
  for (size_t s = 0; s < n.states && status == IDM_OK; s++) {
    corner[s] = 1;
    idm_plan_policy(workspace, 0, corner, policy + s * n.actions, NULL);
    corner[s] = 0;
  }
  idm_workspace_destroy(workspace);
  free(corner);
  return status;
}

/* --- both sides ----------------------------------------------------------------------------- */

/* Every entry of the utility is a free number. */
static idm_status find_utility(const idm_mdp *world, const double *target, const double *uniform,
                               idm_proposition *p, idm_error *opt_error)
{
  const idm_sizes n = world->n;
  const size_t all = n.states * n.actions;
  idm_soft_plan *plan = NULL;
  int32_t *number = idm_new(all, sizeof *number);
  double *work = idm_new(2 * all, sizeof *work);
  idm_status status = number && work ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_soft_plan_create(world, p->alpha, uniform, &plan, opt_error);
  if (status == IDM_OK) {
    for (size_t e = 0; e < all; e++) {
      number[e] = (int32_t)e;
      work[e] = target[e % n.states * n.actions + e / n.states];
    }
    const idm_sought sought = {
        .entries = all, .count = all, .number = number, .held = work, .unit = 1};
    const idm_smooth_margin margin = {&sought, plan, work, p->lambda, NULL};
    status = idm_smooth_margin_minimise(&margin, work + all, &p->margin, &p->slope, opt_error);
  }
  if (status == IDM_OK) memcpy(p->planned, plan->policy, all * sizeof *p->planned);
  idm_soft_plan_destroy(plan);
  free(number);
  free(work);
  return status;
}

static idm_status find_policy(const idm_mdp *world, const idm_setting *setting,
                              const double *target, idm_proposition *p, idm_error *opt_error)
{
  const idm_sizes n = world->n;
  idm_closest *found = NULL;
  const idm_status status =
      idm_closest_create(world, setting, target, p->demonstrated, NULL, IDM_DIVERGENCE_SQUARED,
                         p->lambda, p->alpha, NULL, &found, opt_error);
  if (status != IDM_OK) return status;
  p->matching = found->objective;
  p->gap = found->gap;
  memcpy(p->matched, found->policy, n.states * n.actions * sizeof *p->matched);
  for (size_t e = 0; e < n.states * n.actions; e++)
    p->occupancy[e / n.actions] += found->occupancy[e];
  idm_closest_destroy(found);
  return IDM_OK;
}

/* --- both sides, of any regulariser --------------------------------------------------------- */

/* In an action that the demonstrator never takes `gail` is least at no utility. */
static idm_status check_taken(const idm_mdp *world, const double *target, const idm_proposition *p,
                              idm_error *opt_error)
{
  const size_t actions = world->n.actions;
  for (size_t s = 0; s < world->n.states && p->zeta == IDM_ZETA_GAIL; s++) {
    double mass = 0;
    for (size_t u = 0; u < actions; u++) mass += target[s * actions + u];
    for (size_t u = 0; u < actions && mass > 0; u++)
      if (!(target[s * actions + u] > 0))
        return idm_fail(
            opt_error, IDM_INPUT,
            "'gail' needs a demonstrator that takes every action in every state it visits; in "
            "'%s' it never takes '%s'",
            p->state.name[s], p->action.name[u]);
  }
  return IDM_OK;
}

static idm_status find_margin(const idm_mdp *world, const double *target, const double *uniform,
                              idm_proposition *p, idm_error *opt_error)
{
  const idm_sizes n = world->n;
  const size_t all = n.states * n.actions;
  const idm_regulariser zeta = {p->zeta, p->lambda};
  idm_soft_plan *plan = NULL;
  double *work = idm_new(2 * all, sizeof *work);
  idm_status status = work ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_soft_plan_create(world, p->alpha, uniform, &plan, opt_error);
  if (status == IDM_OK) {
    for (size_t e = 0; e < all; e++) work[e] = target[e % n.states * n.actions + e / n.states];
    status = idm_convex_margin(plan, &zeta, work, work + all, &p->margin, &p->slope, opt_error);
  }
  if (status == IDM_OK) memcpy(p->planned, plan->policy, all * sizeof *p->planned);
  idm_soft_plan_destroy(plan);
  free(work);
  return status;
}

static idm_status find_matching(const idm_problem *problem, const idm_mdp *world,
                                const double *target, idm_proposition *p, idm_error *opt_error)
{
  const idm_sizes n = world->n;
  const idm_regulariser zeta = {p->zeta, p->lambda};
  idm_conjugate_matching *found = NULL;
  const idm_status status =
      idm_conjugate_match(problem, world, &zeta, p->alpha, p->units, target, &found, opt_error);
  if (status != IDM_OK) return status;
  p->matching = found->objective;
  p->gap = fmax(found->slope, found->beyond);
  memcpy(p->matched, found->policy, n.states * n.actions * sizeof *p->matched);
  for (size_t e = 0; e < n.states * n.actions; e++)
    p->occupancy[e / n.actions] += found->occupancy[e];
  idm_conjugate_matching_destroy(found);
  return IDM_OK;
}

/* --- both sides, and the difference --------------------------------------------------------- */

static idm_status compare(const idm_mdp *world, idm_proposition *p, idm_error *opt_error)
{
  const size_t actions = p->action.count;
  const size_t all = p->state.count * actions;
  double *planned = idm_new(all, sizeof *planned);
  if (!planned) return idm_fail_memory(opt_error);
  const idm_status status = idm_mdp_occupancy(world, p->planned, planned, opt_error);
  for (size_t e = 0; e < all && status == IDM_OK; e++) {
    const double mass = p->occupancy[e / actions];
    p->apart = fmax(p->apart, fabs(planned[e] - mass * p->matched[e]));
    if (mass > 0) p->difference = fmax(p->difference, fabs(p->planned[e] - p->matched[e]));
  }
  p->constant = -p->alpha * log((double)actions);
  free(planned);
  return status;
}

/* The squared norm has inverse planners of its own, with a duality gap. */
static idm_status find_sides(const idm_problem *problem, const idm_mdp *world, const double *target,
                             const double *uniform, bool own, idm_proposition *p,
                             idm_error *opt_error)
{
  idm_status status = own ? find_utility(world, target, uniform, p, opt_error)
                          : check_taken(world, target, p, opt_error);
  if (status == IDM_OK && !own) status = find_margin(world, target, uniform, p, opt_error);
  if (status != IDM_OK) return status;
  return own ? find_policy(world, problem->setting, target, p, opt_error)
             : find_matching(problem, world, target, p, opt_error);
}

static idm_status find_both(const idm_problem *problem, bool own, idm_proposition *p,
                            idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(problem->setting);
  idm_mdp *world = NULL;
  double *target = idm_new(n.states * n.actions, sizeof *target);
  double *uniform = idm_new(n.actions, sizeof *uniform);
  idm_status status = target && uniform ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_mdp_create(problem, problem->setting, "proposition", &world, opt_error);
  if (status == IDM_OK && world->horizon)
    status = idm_fail(opt_error, IDM_INPUT,
                      "the proposition is of problems without a horizon, and this one has one");
  if (status == IDM_OK) {
    for (size_t u = 0; u < n.actions; u++) uniform[u] = 1.0 / (double)n.actions;
    world->prior = uniform; /* of both: entropy knows no other */
    status = demonstrate(problem, p->demonstrated, opt_error);
  }
  if (status == IDM_OK) status = idm_mdp_occupancy(world, p->demonstrated, target, opt_error);
  if (status == IDM_OK) status = find_sides(problem, world, target, uniform, own, p, opt_error);
  if (status == IDM_OK) status = compare(world, p, opt_error);
  idm_mdp_destroy(world);
  free(target);
  free(uniform);
  return status;
}

static idm_status create(const idm_problem *problem, const idm_proposition *of, bool own,
                         idm_proposition **ret_proposition, idm_error *opt_error)
{
  *ret_proposition = NULL;
  const double alpha = of->alpha;
  const double lambda = of->lambda;
  if (!(alpha > 0 && isfinite(alpha) && lambda > 0 && isfinite(lambda)))
    return idm_fail(opt_error, IDM_USAGE,
                    "the proposition needs an alpha and a lambda above 0; found %g and %g", alpha,
                    lambda);
  idm_proposition *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  *p = *of;
  idm_status status = allocate(problem->setting, p, opt_error);
  if (status == IDM_OK) status = find_both(problem, own, p, opt_error);
  if (status == IDM_OK)
    *ret_proposition = p;
  else
    idm_proposition_destroy(p);
  return status;
}

idm_status idm_proposition_create(const idm_problem *problem, double alpha, double lambda,
                                  idm_proposition **ret_proposition, idm_error *opt_error)
{
  idm_require(problem, ret_proposition);
  const idm_proposition of = {.alpha = alpha, .lambda = lambda};
  return create(problem, &of, true, ret_proposition, opt_error);
}

idm_status idm_proposition_create_with(const idm_problem *problem, double alpha, idm_zeta zeta,
                                       double scale, int units, idm_proposition **ret_proposition,
                                       idm_error *opt_error)
{
  idm_require(problem, ret_proposition);
  *ret_proposition = NULL;
  if ((size_t)zeta >= IDM_ZETA_COUNT || units < 0)
    return idm_fail(opt_error, IDM_USAGE, "there is no regulariser %d, or there are %d units",
                    (int)zeta, units);
  const idm_proposition of = {.alpha = alpha, .zeta = zeta, .lambda = scale, .units = units};
  return create(problem, &of, false, ret_proposition, opt_error);
}

/* --- lines ---------------------------------------------------------------------------------- */

/* A line on a state and an action. */
static void show_entry(const idm_proposition *p, size_t e, char *buffer, size_t size)
{
  const size_t actions = p->action.count;
  snprintf(buffer, size, "%-16.40s  %-16.40s  %14.10f  %14.10f  %14.10f",
           p->state.name[e / actions], p->action.name[e % actions], p->demonstrated[e],
           p->planned[e], p->matched[e]);
}

/* A line under the policies. */
static const char *show_sum(const idm_proposition *p, size_t index, char *buffer, size_t size)
{
  switch (index) {
  case 0:
    buffer[0] = '\0';
    return buffer;
  case 1:
    snprintf(buffer, size, "policies differ by at most %.2g", p->difference);
    return buffer;
  case 2:
    snprintf(buffer, size, "objectives: regularised-margin %.12g (gradient norm %.1g)", p->margin,
             p->slope);
    return buffer;
  case 3:
    snprintf(buffer, size, "            distribution-matching %.12g (duality gap %.1g)",
             p->matching, p->gap);
    return buffer;
  case 4:
    snprintf(buffer, size, "their sum %.12g, -alpha log|U| = %.12g", p->margin + p->matching,
             p->constant);
    return buffer;
  default:
    return NULL;
  }
}

const char *idm_proposition_line(const idm_proposition *proposition, size_t index, char *buffer,
                                 size_t size)
{
  if (!proposition || !buffer || !size) return NULL;
  const size_t entries = proposition->state.count * proposition->action.count;
  if (index == 0)
    snprintf(buffer, size, "alpha %g, lambda %g", proposition->alpha, proposition->lambda);
  else if (index == 1)
    snprintf(buffer, size, "%-16s  %-16s  %14s  %14s  %14s", "state", "action", "demonstrator",
             "margin", "matching");
  else if (index - 2 < entries)
    show_entry(proposition, index - 2, buffer, size);
  else
    return show_sum(proposition, index - 2 - entries, buffer, size);
  return buffer;
}
