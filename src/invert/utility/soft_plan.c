/* Soft plans for observed states: values, occupancies, Hessian products and unidentified
 * directions.
 *
 * Contents: soft plan · soft agent */
#include <assert.h>
#include <float.h>
#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/soft.h"
#include "idm/extension/planner.h"
#include "invert/utility/soft_plan.h"
#include "plan/workspace.h"

/* === soft plan ============================================================================== */

/* Soft plans: values by Newton's method (soft policy iteration) or backward induction, occupancies,
 * and their derivatives with respect to the utility. */

enum { max_iterations = 200 };

/* --- memory --------------------------------------------------------------------------------- */

void idm_soft_plan_destroy(idm_soft_plan *plan)
{
  if (!plan) return;
  free(plan->v);
  free(plan->policy);
  free(plan->mass);
  free(plan->system);
  free(plan->edge);
  free(plan->advantage);
  free(plan->work);
  free(plan);
}

static bool allocate(idm_soft_plan *p)
{
  const idm_sizes n = p->mdp->n;
  const size_t system = p->mdp->horizon ? 0 : idm_times(n.states, n.states);
  p->v = idm_new(idm_times(p->stages, n.states), sizeof *p->v);
  p->policy = idm_new(idm_times(p->stages, n.states * n.actions), sizeof *p->policy);
  p->mass = idm_new(idm_times(p->stages, n.states), sizeof *p->mass);
  p->system = idm_new(system, sizeof *p->system);
  p->edge = idm_new(n.states, sizeof *p->edge);
  p->advantage = idm_new(idm_times(p->stages, n.states * n.actions), sizeof *p->advantage);
  p->work = idm_new(n.actions + 2 * n.states, sizeof *p->work);
  return p->v && p->policy && p->mass && p->system && p->edge && p->advantage && p->work;
}

idm_status idm_soft_plan_create(const idm_mdp *mdp, double alpha, const double *prior,
                                idm_soft_plan **ret_plan, idm_error *opt_error)
{
  *ret_plan = NULL;
  if (!(mdp->discount < 1) && !mdp->horizon)
    return idm_fail(opt_error, IDM_INPUT,
                    "with a discount of 1 occupancies need a horizon; expected `horizon`, or a "
                    "discount below 1");
  idm_soft_plan *plan = idm_new(1, sizeof *plan);
  if (!plan) return idm_fail_memory(opt_error);
  *plan = (idm_soft_plan){
      .mdp = mdp, .alpha = alpha, .prior = prior, .stages = mdp->horizon ? mdp->horizon : 1};
  if (!allocate(plan)) {
    idm_soft_plan_destroy(plan);
    return idm_fail_memory(opt_error);
  }
  *ret_plan = plan;
  return IDM_OK;
}

/* Scratch: an array by action, and two by state. */
static double *by_action(const idm_soft_plan *p)
{
  return p->work;
}

static double *by_state(const idm_soft_plan *p, size_t which)
{
  return p->work + p->mdp->n.actions + which * p->mdp->n.states;
}

/* --- values --------------------------------------------------------------------------------- */

/* Policy and values of a stage from the successor's values (NULL: last step). */
static void soft_backup(idm_soft_plan *p, const double *utility, const double *opt_next,
                        size_t stage, double *value)
{
  const idm_sizes n = p->mdp->n;
  double *quality = by_action(p);
  for (size_t s = 0; s < n.states; s++) {
    for (size_t u = 0; u < n.actions; u++)
      quality[u] =
          utility[u * n.states + s] + (opt_next ? idm_mdp_next_value(p->mdp, u, s, opt_next) : 0);
    value[s] = idm_soft(p->alpha, n.actions, p->prior, quality,
                        p->policy + (stage * n.states + s) * n.actions);
  }
}

/* Factorises I - discount P of the policy. */
static bool factor_system(idm_soft_plan *p)
{
  const idm_sizes n = p->mdp->n;
  const idm_sparse_rows *moves = p->mdp->moves;
  memset(p->system, 0, n.states * n.states * sizeof *p->system);
  for (size_t s = 0; s < n.states; s++) {
    double *row = p->system + s * n.states;
    row[s] = 1;
    for (size_t u = 0; u < n.actions; u++) {
      const double weight = p->mdp->discount * p->policy[s * n.actions + u];
      const size_t at = u * n.states + s;
      for (size_t i = moves->first[at]; weight > 0 && i < moves->first[at + 1]; i++)
        row[moves->next[i]] -= weight * moves->probability[i];
    }
  }
  return idm_envelope_factor(n.states, p->system, p->edge);
}

/* Newton's method for V = B V: the Markov chain of the soft policy propagates the residual. After
 * the first step values increase monotonically; the iteration ends when the residual is at rounding
 * level, relative to the values or to alpha, the scale of the terms of the soft maximum. */
static bool policy_iteration(idm_soft_plan *p, const double *utility)
{
  const size_t states = p->mdp->n.states;
  double *change = by_state(p, 0);
  double last = INFINITY;
  for (int k = 0; k < max_iterations; k++) {
    double worst = 0;
    double size = p->alpha;
    soft_backup(p, utility, p->v, 0, change);
    for (size_t s = 0; s < states; s++) {
      size = fmax(size, fabs(change[s]));
      change[s] -= p->v[s];
      worst = fmax(worst, fabs(change[s]));
    }
    if (!isfinite(size) || !factor_system(p)) return false;
    if (worst <= 2 * DBL_EPSILON * size || (worst <= 1e-13 * size && worst >= last)) return true;
    last = worst;
    idm_envelope_solve(states, p->system, p->edge, change);
    for (size_t s = 0; s < states; s++) p->v[s] += change[s];
  }
  return false;
}

/* --- occupancy ------------------------------------------------------------------------------ */

/* Adds to `to` the discounted flow from a state that is left with mass[action]. */
static void propagate(const idm_mdp *mdp, size_t state, const double *mass, double *to)
{
  const idm_sizes n = mdp->n;
  const idm_sparse_rows *moves = mdp->moves;
  for (size_t u = 0; u < n.actions; u++) {
    const double weight = mdp->discount * mass[u];
    const size_t row = u * n.states + state;
    for (size_t i = moves->first[row]; weight != 0 && i < moves->first[row + 1]; i++)
      to[moves->next[i]] += weight * moves->probability[i];
  }
}

/* Mass of the next stage from that of the current one. */
static void propagate_stage(const idm_soft_plan *p, size_t stage)
{
  const idm_sizes n = p->mdp->n;
  const double *mass = p->mass + stage * n.states;
  double *next = p->mass + (stage + 1) * n.states;
  double *outflow = by_action(p);
  memset(next, 0, n.states * sizeof *next);
  for (size_t s = 0; s < n.states; s++) {
    for (size_t u = 0; u < n.actions; u++)
      outflow[u] = mass[s] * p->policy[(stage * n.states + s) * n.actions + u];
    propagate(p->mdp, s, outflow, next);
  }
}

idm_status idm_soft_plan_solve(idm_soft_plan *p, const double *utility, double *value,
                               idm_error *opt_error)
{
  const size_t states = p->mdp->n.states;
  const double share = idm_mdp_step_weight(p->mdp);
  const bool infinite_horizon = p->mdp->horizon == 0;
  bool converged = true;
  for (size_t t = p->stages; t-- > 0 && !infinite_horizon;)
    soft_backup(p, utility, t + 1 < p->stages ? p->v + (t + 1) * states : NULL, t,
                p->v + t * states);
  if (infinite_horizon) converged = policy_iteration(p, utility);
  if (!converged)
    return idm_fail(opt_error, IDM_NUMERICAL, "values of the soft plan do not converge");
  *value = 0;
  for (size_t s = 0; s < states; s++) {
    p->mass[s] = share * p->mdp->start[s];
    *value += p->mass[s] * p->v[s];
  }
  if (infinite_horizon) idm_envelope_solve_transposed(states, p->system, p->edge, p->mass);
  for (size_t t = 0; t + 1 < p->stages; t++) propagate_stage(p, t);
  return IDM_OK;
}

void idm_soft_plan_occupancy(const idm_soft_plan *p, double *occupancy)
{
  const idm_sizes n = p->mdp->n;
  memset(occupancy, 0, n.states * n.actions * sizeof *occupancy);
  for (size_t t = 0; t < p->stages; t++)
    for (size_t s = 0; s < n.states; s++)
      for (size_t u = 0; u < n.actions; u++)
        occupancy[u * n.states + s] +=
            p->mass[t * n.states + s] * p->policy[(t * n.states + s) * n.actions + u];
}

/* --- how it bends --------------------------------------------------------------------------- */

/* advantage[action] of a direction at a state: d + discount P w minus its mean under the policy,
 * which is returned; w is the derivative of the successor's values (NULL: last step). */
static double differentiate_value(const idm_soft_plan *p, const double *direction,
                                  const double *opt_next, size_t stage, size_t state)
{
  const idm_sizes n = p->mdp->n;
  const idm_sparse_rows *moves = p->mdp->moves;
  const double *policy = p->policy + (stage * n.states + state) * n.actions;
  double *advantage = p->advantage + (stage * n.states + state) * n.actions;
  double mean = 0;
  for (size_t u = 0; u < n.actions; u++) {
    const size_t row = u * n.states + state;
    double next = 0;
    for (size_t i = moves->first[row]; opt_next && i < moves->first[row + 1]; i++)
      next += moves->probability[i] * opt_next[moves->next[i]];
    advantage[u] = direction[row] + p->mdp->discount * next;
    mean += policy[u] * advantage[u];
  }
  for (size_t u = 0; u < n.actions; u++) advantage[u] -= mean;
  return mean;
}

/* Advantages of a direction, stage by stage. */
static void differentiate_values(const idm_soft_plan *p, const double *direction)
{
  const size_t states = p->mdp->n.states;
  double *now = by_state(p, 0);
  double *after = by_state(p, 1);
  for (size_t t = p->stages; t-- > 0;) {
    for (size_t s = 0; s < states; s++)
      now[s] = differentiate_value(p, direction, t + 1 < p->stages ? after : NULL, t, s);
    memcpy(after, now, states * sizeof *after);
  }
  if (p->mdp->horizon) return;
  /* With an infinite horizon the only stage is its own successor. */
  idm_envelope_solve(states, p->system, p->edge, after);
  for (size_t s = 0; s < states; s++) differentiate_value(p, direction, after, 0, s);
}

/* Change by[action] of a stage's occupancy at a state, whose mass changes by `mass` and whose
 * policy changes by pi A / alpha. */
static void differentiate_occupancy(const idm_soft_plan *p, size_t stage, size_t state, double mass,
                                    double *by)
{
  const idm_sizes n = p->mdp->n;
  const size_t at = stage * n.states + state;
  const double weight = p->mass[at] / p->alpha;
  for (size_t u = 0; u < n.actions; u++)
    by[u] = p->policy[at * n.actions + u] * (mass + weight * p->advantage[at * n.actions + u]);
}

void idm_soft_plan_hessian_product(idm_soft_plan *p, const double *direction, double *change)
{
  const idm_sizes n = p->mdp->n;
  const bool infinite_horizon = p->mdp->horizon == 0;
  double *by = by_action(p);
  double *mass = by_state(p, 0);
  double *next = by_state(p, 1);
  differentiate_values(p, direction);
  memset(change, 0, n.states * n.actions * sizeof *change);
  memset(mass, 0, n.states * sizeof *mass);
  if (infinite_horizon) { /* flow redirected by the change of the policy, and its consequences */
    for (size_t s = 0; s < n.states; s++) {
      differentiate_occupancy(p, 0, s, 0, by);
      propagate(p->mdp, s, by, mass);
    }
    idm_envelope_solve_transposed(n.states, p->system, p->edge, mass);
  }
  for (size_t t = 0; t < p->stages; t++) {
    memset(next, 0, n.states * sizeof *next);
    for (size_t s = 0; s < n.states; s++) {
      differentiate_occupancy(p, t, s, mass[s], by);
      for (size_t u = 0; u < n.actions; u++) change[u * n.states + s] += by[u];
      if (t + 1 < p->stages) propagate(p->mdp, s, by, next);
    }
    memcpy(mass, next, n.states * sizeof *mass);
  }
}

/* === soft agent ============================================================================= */

/* Common parts of inverse planners with soft plans. */

/* --- the agent ------------------------------------------------------------------------------ */

static idm_status check(const idm_problem *problem, const idm_theta *theta, const char *caller,
                        idm_error *opt_error)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  const double alpha = idm_theta_scalar(theta, IDM_ALPHA);
  if (!(alpha > 0 && isfinite(alpha)))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' inverts soft plans, and those of '%s' have alpha = %g; expected an alpha "
                    "above 0, as of 'maximum-entropy'",
                    caller, planner->name, alpha);
  if (problem->agent.alpha_unit == IDM_ALPHA_RANGE)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' cannot use alpha in units of the range of a utility that it estimates; "
                    "expected alpha_unit: absolute",
                    caller);
  if (idm_theta_scalar(theta, IDM_ETA) != 0 || theta->models > 1 ||
      problem->agent.discounting != IDM_EXPONENTIAL)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' inverts plans of one model, with a discount and at eta = 0; those of "
                    "this agent differ",
                    caller);
  const double lapse = idm_theta_scalar(theta, IDM_LAPSE);
  const double perseverance = idm_theta_scalar(theta, IDM_PERSEVERANCE);
  if (lapse != 0 || perseverance != 0)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' assumes that the choices of the log are those of the plan, and this "
                    "agent has lapse = %g and perseverance = %g; expected 0 for both, or --inverse "
                    "map or distribution-matching",
                    caller, lapse, perseverance);
  return IDM_OK;
}

idm_status idm_soft_agent_create(const idm_problem *problem, const char *caller,
                                 idm_soft_agent **ret_agent, idm_error *opt_error)
{
  idm_theta *theta = NULL;
  idm_soft_agent *agent = NULL;
  *ret_agent = NULL;
  idm_status status = idm_theta_copy(problem->theta, &theta, opt_error);
  if (status == IDM_OK)
    status =
        idm_clamp_apply(idm_agent_planner(&problem->agent), problem->setting, theta, opt_error);
  if (status == IDM_OK) status = check(problem, theta, caller, opt_error);
  if (status == IDM_OK) {
    agent = idm_new(1, sizeof *agent);
    if (agent)
      agent->prior = idm_duplicate(idm_theta_values(theta, IDM_ACTION_PRIOR, 0),
                                   theta->sizes.actions, sizeof *agent->prior);
    if (!agent || !agent->prior) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) {
    agent->alpha = idm_theta_scalar(theta, IDM_ALPHA);
    *ret_agent = agent;
  } else {
    idm_soft_agent_destroy(agent);
  }
  idm_theta_destroy(theta);
  return status;
}

void idm_soft_agent_destroy(idm_soft_agent *agent)
{
  if (!agent) return;
  free(agent->prior);
  free(agent);
}

/* --- the demonstrator ----------------------------------------------------------------------- */

idm_status idm_soft_agent_demonstrated(const idm_demonstrator *demonstrator, const idm_mdp *mdp,
                                       const idm_data *data, const idm_setting *setting,
                                       bool empirical, double *occupancy, idm_notes *opt_notes,
                                       idm_error *opt_error)
{
  const idm_sizes n = mdp->n;
  double *by_state = occupancy + n.states * n.actions;
  const idm_status status = idm_demonstrator_occupancy(demonstrator, mdp, data, setting, empirical,
                                                       by_state, opt_notes, opt_error);
  for (size_t s = 0; s < n.states && status == IDM_OK; s++)
    for (size_t u = 0; u < n.actions; u++)
      occupancy[u * n.states + s] = by_state[s * n.actions + u];
  return status;
}

/* --- what is open --------------------------------------------------------------------------- */

/* Largest number of states that are eliminated over a horizon, and of elements of rows. */
enum { max_states = 100, max_numbers = 2000000 };
static const double tolerance = 1e-10;

/* With a horizon, a utility change d is unidentified if d + discount P phi_{t+1} = phi_t with phi_T
 * = 0 for all steps: then d is a function f of the state, and so is P^k f for any actions. Rows on
 * f: P(.|s,u) P^k f - P(.|s,0) P^k f = 0, for k below the remaining steps and the number of states;
 * none if later steps have no weight. power[state][state] is P^k of the first action. */
static size_t put_rows(const idm_mdp *mdp, size_t powers, double *power, double *next, double *rows)
{
  const idm_sizes n = mdp->n;
  const idm_sparse_rows *moves = mdp->moves;
  size_t count = 0;
  for (size_t s = 0; s < n.states * n.states; s++) power[s] = s % (n.states + 1) == 0;
  for (size_t k = 0; k < powers; k++) {
    memset(next, 0, n.states * n.states * sizeof *next);
    for (size_t s = 0; s < n.states; s++)
      for (size_t u = 0; u < n.actions; u++) {
        double *row = u ? rows + count * n.states : next + s * n.states;
        const size_t at = u * n.states + s;
        for (size_t i = moves->first[at]; i < moves->first[at + 1]; i++)
          for (size_t j = 0; j < n.states; j++)
            row[j] += moves->probability[i] * power[moves->next[i] * n.states + j];
        for (size_t j = 0; j < n.states && u; j++) row[j] -= next[s * n.states + j];
        count += u > 0;
      }
    memcpy(power, next, n.states * n.states * sizeof *power);
  }
  return count;
}

/* Rows on the free numbers: entries of a state are equal for all actions, and functions of the
 * state satisfy rows[count][state]. The entry of the first action represents the state; fixed
 * entries are 0. */
static size_t map_rows(const idm_mdp *mdp, const idm_free_utility *free_utility, size_t count,
                       const double *rows, double *design)
{
  const size_t states = mdp->n.states;
  size_t made = 0;
  assert(states > 0);
  for (size_t e = states; e < free_utility->entries; e++, made++) {
    double *row = design + made * free_utility->count;
    (void)idm_free_utility_add(free_utility, e, 1, row);
    (void)idm_free_utility_add(free_utility, e % states, -1, row);
  }
  for (size_t i = 0; i < count; i++, made++)
    for (size_t s = 0; s < states; s++)
      (void)idm_free_utility_add(free_utility, s, rows[i * states + s],
                                 design + made * free_utility->count);
  return made;
}

static idm_status nullspace_horizon(const idm_mdp *mdp, const idm_free_utility *free_utility,
                                    idm_optimality *f, idm_error *opt_error)
{
  const idm_sizes n = mdp->n;
  const size_t steps_left =
      mdp->discount > 0 ? mdp->horizon - 1 : 0; /* steps after the first that have weight */
  const size_t powers = steps_left < n.states ? steps_left : n.states;
  if (n.states > max_states) {
    idm_notes_add(&f->words,
                  "unchecked: with %zu states over a horizon, the directions of the utility that "
                  "no behaviour identifies were not determined",
                  n.states);
    return IDM_OK;
  }
  const size_t most = powers * n.states * (n.actions - 1);
  double *rows = idm_new(idm_times(most, n.states), sizeof *rows);
  double *power = idm_new(2 * n.states * n.states, sizeof *power);
  size_t *pivot = idm_new(n.states, sizeof *pivot);
  double *design =
      idm_new(idm_times(free_utility->entries + n.states, free_utility->count), sizeof *design);
  idm_status status = rows && power && pivot && design ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    const size_t count = put_rows(mdp, powers, power, power + n.states * n.states, rows);
    const size_t rank = idm_row_reduce(count, n.states, rows, tolerance, pivot);
    status =
        idm_nullspace_design(map_rows(mdp, free_utility, rank, rows, design), design, f, opt_error);
  }
  free(rows);
  free(power);
  free(pivot);
  free(design);
  return status;
}

static size_t count_unvisited(const idm_demonstrator *demonstrator)
{
  size_t unvisited = 0;
  for (size_t s = 0; s < demonstrator->n.states; s++)
    unvisited += demonstrator->visits[s] > 0 ? 0 : 1;
  return unvisited;
}

/* Advantage over the policy, per unit of number k, of every action in visited states with a given
 * number of steps left: column k of rows, one row per action and visited state. v[state] is the
 * derivative of the values, with one step less on entry and with this number of steps on return;
 * `next_value` is scratch. Returns the number of rows. */
static size_t put_advantage_rows(const idm_mdp *mdp, const idm_demonstrator *demonstrator,
                                 const idm_free_utility *free_utility, size_t k, double *v,
                                 double *next_value, double *rows)
{
  const idm_sizes n = mdp->n;
  size_t count = 0;
  memcpy(next_value, v, n.states * sizeof *next_value);
  for (size_t s = 0; s < n.states; s++) {
    v[s] = 0;
    for (size_t u = 0; u < n.actions; u++)
      v[s] += demonstrator->policy[s * n.actions + u] *
              (idm_free_utility_coefficient(free_utility, u * n.states + s, k) +
               idm_mdp_next_value(mdp, u, s, next_value));
    for (size_t u = 0; u < n.actions && demonstrator->visits[s] > 0; u++)
      rows[count++ * free_utility->count + k] =
          idm_free_utility_coefficient(free_utility, u * n.states + s, k) +
          idm_mdp_next_value(mdp, u, s, next_value) - v[s];
  }
  return count;
}

/* With a horizon and unvisited states: directions that change no advantage in visited states with
 * any number of steps left. An additional step multiplies the change of values by the policy's
 * transition matrix, so by the Cayley-Hamilton theorem at most one step per state and one more give
 * independent rows. */
static idm_status nullspace_visited(const idm_mdp *mdp, const idm_demonstrator *demonstrator,
                                    const idm_free_utility *free_utility, idm_optimality *f,
                                    idm_error *opt_error)
{
  const idm_sizes n = mdp->n;
  const size_t steps = mdp->horizon < n.states + 1 ? mdp->horizon : n.states + 1;
  const size_t most = steps * n.states * n.actions;
  if (idm_times(most, free_utility->count) > max_numbers) {
    idm_notes_add(
        &f->words,
        "unchecked: with %zu states over a horizon, what the data leave open was not determined",
        n.states);
    return IDM_OK;
  }
  double *rows = idm_new(idm_times(most, free_utility->count), sizeof *rows);
  double *v = idm_new(2 * n.states, sizeof *v);
  size_t count = 0;
  idm_status status = rows && v ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t k = 0; k < free_utility->count && status == IDM_OK; k++) {
    memset(v, 0, n.states * sizeof *v);
    count = 0;
    for (size_t t = 0; t < steps; t++)
      count += put_advantage_rows(mdp, demonstrator, free_utility, k, v, v + n.states,
                                  rows + count * free_utility->count);
  }
  if (status == IDM_OK) status = idm_nullspace_design(count, rows, f, opt_error);
  if (status == IDM_OK) idm_nullspace_note_unvisited(count_unvisited(demonstrator), n.states, f);
  free(rows);
  free(v);
  return status;
}

idm_status idm_soft_agent_nullspace(const idm_mdp *mdp, const idm_demonstrator *opt_demonstrator,
                                    const idm_free_utility *free_utility,
                                    idm_optimality *optimality, idm_error *opt_error)
{
  if (!mdp->horizon)
    return idm_nullspace_shaping(mdp, opt_demonstrator, free_utility, optimality, opt_error);
  return opt_demonstrator && count_unvisited(opt_demonstrator)
             ? nullspace_visited(mdp, opt_demonstrator, free_utility, optimality, opt_error)
             : nullspace_horizon(mdp, free_utility, optimality, opt_error);
}
