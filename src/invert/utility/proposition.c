/* Both sides of the proposition, by code that has nothing in common but the world. */
#include "idm/proposition.h"

#include <math.h>
#include <stdio.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/workspace.h"
#include "invert/utility/closest.h"
#include "invert/utility/smooth_margin.h"

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
static idm_status find_utility(const idm_world *world, const double *target, const double *uniform,
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
    const idm_sought sought = {all, all, number, work, 1, NULL};
    const idm_smooth_margin margin = {&sought, plan, work, p->lambda, NULL};
    status = idm_smooth_margin_minimise(&margin, work + all, &p->margin, &p->slope, opt_error);
  }
  if (status == IDM_OK) memcpy(p->planned, plan->policy, all * sizeof *p->planned);
  idm_soft_plan_destroy(plan);
  free(number);
  free(work);
  return status;
}

static idm_status find_policy(const idm_world *world, const idm_setting *setting,
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

static void compare(idm_proposition *p)
{
  const size_t actions = p->action.count;
  for (size_t e = 0; e < p->state.count * actions; e++)
    if (p->occupancy[e / actions] > 0)
      p->difference = fmax(p->difference, fabs(p->planned[e] - p->matched[e]));
  p->constant = -p->alpha * log((double)actions);
}

static idm_status find_both(const idm_problem *problem, idm_proposition *p, idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(problem->setting);
  idm_world *world = NULL;
  double *target = idm_new(n.states * n.actions, sizeof *target);
  double *uniform = idm_new(n.actions, sizeof *uniform);
  idm_status status = target && uniform ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_world_create(problem, problem->setting, "proposition", &world, opt_error);
  if (status == IDM_OK && world->horizon)
    status = idm_fail(opt_error, IDM_INPUT,
                      "the proposition is of problems without a horizon, and this one has one");
  if (status == IDM_OK) {
    for (size_t u = 0; u < n.actions; u++) uniform[u] = 1.0 / (double)n.actions;
    world->prior = uniform; /* of both: entropy knows no other */
    status = demonstrate(problem, p->demonstrated, opt_error);
  }
  if (status == IDM_OK) status = idm_world_occupancy(world, p->demonstrated, target, opt_error);
  if (status == IDM_OK) status = find_utility(world, target, uniform, p, opt_error);
  if (status == IDM_OK) status = find_policy(world, problem->setting, target, p, opt_error);
  if (status == IDM_OK) compare(p);
  idm_world_destroy(world);
  free(target);
  free(uniform);
  return status;
}

idm_status idm_proposition_create(const idm_problem *problem, double alpha, double lambda,
                                  idm_proposition **ret_proposition, idm_error *opt_error)
{
  idm_require(problem, ret_proposition);
  *ret_proposition = NULL;
  if (!(alpha > 0 && isfinite(alpha) && lambda > 0 && isfinite(lambda)))
    return idm_fail(opt_error, IDM_USAGE,
                    "the proposition needs an alpha and a lambda above 0; found %g and %g", alpha,
                    lambda);
  idm_proposition *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  p->alpha = alpha;
  p->lambda = lambda;
  idm_status status = allocate(problem->setting, p, opt_error);
  if (status == IDM_OK) status = find_both(problem, p, opt_error);
  if (status == IDM_OK)
    *ret_proposition = p;
  else
    idm_proposition_destroy(p);
  return status;
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
