/* Constrained form: multipliers at which the complexities equal given capacities (paper, section
 * 4.2; docs/method/control.md, 9). */
#include <math.h>

#include "base/arguments.h"
#include "idm/extension/planner.h"
#include "plan/plan.h"
#include "setting/model.h"

typedef struct multiplier_search {
  idm_theta *theta;
  const idm_solver *solver;
  idm_workspace *workspace;
  idm_plan_report *report;
  idm_block_id block;
  double capacity;
} multiplier_search;

static double complexity_of(const idm_forward *forward, idm_block_id block)
{
  if (block == IDM_ALPHA) return forward->decision;
  if (block == IDM_BETA) return forward->specification;
  return forward->recognition;
}

/* Plans at a multiplier; *ret_violation receives the complexity less the capacity, in nats. */
static idm_status constraint_violation(const multiplier_search *s, double multiplier,
                                       double *ret_violation, idm_error *opt_error)
{
  idm_theta_set_scalar(s->theta, s->block, multiplier);
  idm_status status = idm_plan(s->theta, s->solver, s->workspace, s->report, opt_error);
  idm_forward forward;
  if (status == IDM_OK) status = idm_plan_forward(s->workspace, 0, &forward, NULL, opt_error);
  if (status == IDM_OK) *ret_violation = complexity_of(&forward, s->block) - s->capacity;
  return status;
}

/* Finds a multiplier at which the capacity is not exceeded: the complexity decreases with the
 * multiplier. */
static idm_status bracket(const multiplier_search *s, double *ret_high, idm_error *opt_error)
{
  for (int i = 0; i <= 40; i++) {
    const double high = ldexp(1, i);
    double violation;
    const idm_status status = constraint_violation(s, high, &violation, opt_error);
    if (status != IDM_OK) return status;
    if (violation <= 0) {
      *ret_high = high;
      return IDM_OK;
    }
  }
  return idm_fail(opt_error, IDM_NUMERICAL,
                  "no multiplier up to 2^40 brings the complexity down to %g nats", s->capacity);
}

/* Bisection in the log multiplier. Complexities may jump where a policy switches, so that faster
 * methods are not safe. */
static idm_status bisect(const multiplier_search *s, double high, idm_error *opt_error)
{
  double low = 1e-12;
  idm_status status = IDM_OK;
  for (int i = 0; i < 200 && high / low > 1 + 1e-12 && status == IDM_OK; i++) {
    const double middle = sqrt(low * high);
    double violation;
    status = constraint_violation(s, middle, &violation, opt_error);
    if (status == IDM_OK && violation > 0)
      low = middle;
    else
      high = middle;
  }
  if (status != IDM_OK) return status;
  double violation;
  return constraint_violation(s, high, &violation, opt_error);
}

/* Solves for one multiplier with the others fixed. *ret_binds receives whether the constraint
 * binds. */
static idm_status solve_multiplier(const multiplier_search *s, bool *ret_binds,
                                   idm_error *opt_error)
{
  double violation;
  *ret_binds = false;
  idm_status status = constraint_violation(s, 0, &violation, opt_error);
  if (status != IDM_OK || violation <= 0) return status;
  *ret_binds = true;
  /* Capacity 0: the policy is the prior, which only an infinite multiplier gives. */
  if (s->capacity == 0 && s->block != IDM_ETA)
    return constraint_violation(s, INFINITY, &violation, opt_error);
  double high = 1;
  status = bracket(s, &high, opt_error);
  return status == IDM_OK ? bisect(s, high, opt_error) : status;
}

idm_status idm_plan_capacity(idm_theta *theta, const idm_agent_options *agent,
                             const idm_solver *opt_solver, idm_workspace *workspace,
                             idm_plan_report *opt_report, idm_notes *opt_notes,
                             idm_error *opt_error)
{
  idm_require(theta, agent, workspace);
  enum { max_rounds = 100 };
  const struct {
    idm_block_id block;
    const char *name;
    double capacity;
  } constraints[] = {{IDM_ALPHA, "decision", agent->decision_capacity},
                     {IDM_BETA, "specification", agent->specification_capacity},
                     {IDM_ETA, "recognition", agent->recognition_capacity}};
  bool binds[3] = {false};
  double before[3] = {NAN, NAN, NAN};
  size_t count = 0;
  for (size_t i = 0; i < 3; i++) count += isnan(constraints[i].capacity) ? 0 : 1;
  if (!count) return idm_plan(theta, opt_solver, workspace, opt_report, opt_error);
  if (idm_theta_variants(theta) > 1)
    return idm_fail(opt_error, IDM_USAGE, "a capacity needs one setting, not a family of %zu",
                    idm_theta_variants(theta));
  for (size_t i = 0; i < 3; i++)
    if (!isnan(constraints[i].capacity) &&
        !idm_planner_reads(idm_workspace_planner(workspace), constraints[i].block))
      return idm_fail(opt_error, IDM_USAGE,
                      "planner '%s' has no parameter %s, the multiplier of the %s capacity",
                      idm_workspace_planner(workspace)->name, idm_block_name(constraints[i].block),
                      constraints[i].name);
  idm_status status = IDM_OK;
  bool changed = true;
  /* One constraint at a time until no multiplier changes: the dual is convex, so this converges. */
  for (int round = 0; changed && status == IDM_OK && round < max_rounds; round++) {
    changed = false;
    for (size_t i = 0; i < 3 && status == IDM_OK; i++) {
      if (isnan(constraints[i].capacity)) continue;
      const multiplier_search s = {theta,      opt_solver,           workspace,
                                   opt_report, constraints[i].block, constraints[i].capacity};
      status = solve_multiplier(&s, &binds[i], opt_error);
      const double now = idm_theta_scalar(theta, constraints[i].block);
      changed = changed ||
                (count > 1 && now != before[i] && !(fabs(now - before[i]) <= 1e-9 * fabs(now)));
      before[i] = now;
    }
  }
  if (status == IDM_OK && changed)
    status =
        idm_fail(opt_error, IDM_NUMERICAL,
                 "the multipliers of the capacities did not converge in %d rounds", max_rounds);
  for (size_t i = 0; i < 3 && status == IDM_OK; i++)
    if (!isnan(constraints[i].capacity) && !binds[i])
      idm_notes_add(opt_notes, "the %s capacity of %g nats does not bind: its multiplier is 0",
                    constraints[i].name, constraints[i].capacity);
  return status;
}
