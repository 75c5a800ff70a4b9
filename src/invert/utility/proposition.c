/* Numerical verification of the paper's proposition: both sides of the duality of margins and
 * occupancy matching, by independent code (`docs/method/inverse.md, 9`).
 *
 * Contents: conjugate matching · convex margin · proposition */
#include <math.h>
#include <stdio.h>

#include "base/arguments.h"
#include "base/dense.h"
#include "base/memory.h"
#include "idm/extension/planner.h"
#include "infer/approximation.h"
#include "invert/predict.h"
#include "invert/proposition.h"
#include "invert/utility/mdp.h"
#include "invert/utility/soft_plan.h"
#include "plan/plan.h"
#include "plan/workspace.h"

/* === conjugate matching ======================================================================= */

/* Matching by gradients through the policy. If zeta* is nonsmooth, by the method of multipliers
 * (Rockafellar 1976): zeta* is replaced by its Moreau envelope around a centre utility, and the
 * gradient at the minimiser becomes the next centre. */

enum { max_rounds = 400, max_steps = 4000 };
/* Convergence: largest change of the centre between rounds. */
static const double centre_tolerance = 1e-9;

typedef struct conjugate_problem {
  idm_problem problem; /* a copy with its own theta and planner */
  idm_block *block;    /* the block of the policy's parameters */
  const idm_mdp *mdp;
  const idm_regulariser *zeta;
  double alpha;
  double prox_weight;
  const double *p;
  idm_conjugate_matching *found;
  idm_workspace *workspace;
  idm_choice_adjoint *slope;
  idm_theta *theta_gradient;
  double *centre;          /* [entry]: centre utility, by [state][action] */
  double *v;               /* [entry]: gradient of the smoothed zeta* */
  double *reward;          /* [action][state] */
  double *value;           /* [state] */
  double *policy_gradient; /* [action] */
  double *corner;          /* [state] */
} conjugate_problem;

void idm_conjugate_matching_destroy(idm_conjugate_matching *matching)
{
  if (!matching) return;
  free(matching->policy);
  free(matching->occupancy);
  free(matching);
}

/* --- memory --------------------------------------------------------------------------------- */

static void close_conjugate(conjugate_problem *o)
{
  idm_choice_adjoint_destroy(o->slope);
  idm_workspace_destroy(o->workspace);
  idm_theta_destroy(o->theta_gradient);
  idm_theta_destroy(o->problem.theta);
  free(o->centre);
}

static idm_status open_policy(conjugate_problem *o, const idm_problem *problem, int units,
                              idm_error *opt_error)
{
  o->problem = *problem;
  o->problem.theta = NULL;
  o->problem.agent.hidden = units;
  o->problem.agent.choice = IDM_CHOICE_DRAWN;
  idm_status status = idm_theta_copy(problem->theta, &o->problem.theta, opt_error);
  if (status == IDM_OK)
    status = idm_problem_set_planner(&o->problem, idm_planner_find("decision-network"), opt_error);
  if (status != IDM_OK) return status;
  idm_theta *theta = o->problem.theta;
  o->block =
      &theta->block[IDM_BLOCK_COUNT]; /* without a hidden layer: one weight per state and action */
  theta->block[IDM_LAPSE].value[0] = 0;
  theta->block[IDM_PERSEVERANCE].value[0] = 0;
  for (size_t i = 0; i < theta->blocks; i++) theta->block[i].role = IDM_NORMATIVE;
  status = idm_theta_copy(theta, &o->theta_gradient, opt_error);
  for (size_t i = 0; status == IDM_OK && i < theta->blocks; i++)
    o->theta_gradient->block[i].role = IDM_DESCRIPTIVE;
  if (status == IDM_OK)
    status =
        idm_workspace_create(problem->setting, theta, &o->problem.agent, &o->workspace, opt_error);
  return status == IDM_OK ? idm_choice_adjoint_create(o->workspace, &o->slope, opt_error) : status;
}

static bool allocate_conjugate(conjugate_problem *o)
{
  const idm_sizes n = o->mdp->n;
  const size_t all = n.states * n.actions;
  o->centre = idm_new(3 * all + 2 * n.states + n.actions, sizeof *o->centre);
  o->found = idm_new(1, sizeof *o->found);
  if (!o->centre || !o->found) return false;
  o->v = o->centre + all;
  o->reward = o->v + all;
  o->value = o->reward + all;
  o->corner = o->value + n.states;
  o->policy_gradient = o->corner + n.states;
  o->found->policy = idm_new(all, sizeof *o->found->policy);
  o->found->occupancy = idm_new(all, sizeof *o->found->occupancy);
  return o->found->policy && o->found->occupancy;
}

/* --- the objective -------------------------------------------------------------------------- */

static const double *corner_of(conjugate_problem *o, size_t state)
{
  memset(o->corner, 0, o->mdp->n.states * sizeof *o->corner);
  o->corner[state] = 1;
  return o->corner;
}

static idm_status compute_policy(conjugate_problem *o, const double *x, idm_error *opt_error)
{
  const idm_sizes n = o->mdp->n;
  memcpy(o->block->value, x, o->block->size * sizeof *x);
  const idm_status status = idm_plan(o->problem.theta, NULL, o->workspace, NULL, opt_error);
  if (status != IDM_OK) return status;
  for (size_t s = 0; s < n.states; s++)
    idm_plan_policy(o->workspace, 0, corner_of(o, s), o->found->policy + s * n.actions, NULL);
  return idm_mdp_occupancy(o->mdp, o->found->policy, o->found->occupancy, opt_error);
}

/* Smoothed zeta* minus the weighted entropy; also sets the reward dJ/dq. */
static double total_loss(conjugate_problem *o)
{
  const idm_sizes n = o->mdp->n;
  double sum = 0;
  for (size_t e = 0; e < n.states * n.actions; e++) {
    const double q = o->found->occupancy[e];
    double *reward = &o->reward[e % n.actions * n.states + e / n.actions];
    *reward = 0;
    if (!(q > 0)) continue;
    const double log_pi = log(o->found->policy[e]);
    sum += idm_regulariser_proximal(o->zeta, o->p[e], q, o->centre[e], o->prox_weight, &o->v[e]) +
           o->alpha * q * log_pi;
    *reward = o->alpha * log_pi - o->v[e];
  }
  return sum;
}

static idm_status backpropagate(conjugate_problem *o, double *gradient, idm_error *opt_error)
{
  const idm_sizes n = o->mdp->n;
  idm_status status = idm_mdp_evaluate(o->mdp, o->found->policy, o->reward, o->value, opt_error);
  if (status != IDM_OK) return status;
  idm_choice_adjoint_begin(o->slope);
  for (size_t s = 0; s < n.states; s++) {
    double mass = 0;
    for (size_t u = 0; u < n.actions; u++) mass += o->found->occupancy[s * n.actions + u];
    for (size_t u = 0; u < n.actions; u++)
      o->policy_gradient[u] = mass * (o->reward[u * n.states + s] +
                                      idm_mdp_next_value(o->mdp, u, s, o->value) - o->value[s]);
    idm_choice_adjoint_point(o->slope, corner_of(o, s), o->policy_gradient);
  }
  status = idm_choice_adjoint_finish(o->slope, o->theta_gradient, opt_error);
  const double *by = o->theta_gradient->block[o->block - o->problem.theta->block].value;
  for (size_t i = 0; i < o->block->size && status == IDM_OK; i++) gradient[i] = -by[i];
  return status;
}

/* Minus the objective, as a log density to maximise. */
static idm_status evaluate(void *context, const double *x, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  conjugate_problem *o = context;
  const idm_status status = compute_policy(o, x, opt_error);
  if (status != IDM_OK) return status;
  *log_density = -total_loss(o);
  return opt_gradient ? backpropagate(o, opt_gradient, opt_error) : IDM_OK;
}

/* --- rounds --------------------------------------------------------------------------------- */

/* Updates the centre; returns its largest change. */
static double update_centre(conjugate_problem *o)
{
  double most = 0;
  for (size_t e = 0; e < o->mdp->n.states * o->mdp->n.actions; e++) {
    if (!(o->found->occupancy[e] > 0)) continue;
    most = fmax(most, fabs(o->v[e] - o->centre[e]));
    o->centre[e] = o->v[e];
  }
  return most;
}

static idm_status ascend(conjugate_problem *o, double *x, double *gradient, idm_error *opt_error)
{
  const idm_target target = {
      .dimension = o->block->size, .gradient = true, .context = o, .evaluate = evaluate};
  double log_density, movement = INFINITY;
  idm_status status = IDM_OK;
  for (int k = 0; k < max_rounds && movement > centre_tolerance && status == IDM_OK; k++) {
    status = idm_maximise(&target, 0, max_steps, x, &log_density, opt_error);
    if (status == IDM_OK) status = evaluate(o, x, &log_density, gradient, opt_error);
    movement = idm_regulariser_is_nonsmooth(o->zeta) && status == IDM_OK ? update_centre(o) : 0;
  }
  return status;
}

/* Evaluates the result with the exact zeta*. */
static void evaluate_result(conjugate_problem *o, const double *gradient)
{
  const idm_sizes n = o->mdp->n;
  idm_conjugate_matching *f = o->found;
  for (size_t i = 0; i < o->block->size; i++) f->slope = fmax(f->slope, fabs(gradient[i]));
  for (size_t e = 0; e < n.states * n.actions; e++) {
    const double q = f->occupancy[e];
    if (!(q > 0)) continue;
    f->objective += o->alpha * q * log(f->policy[e]);
    if (o->zeta->zeta == IDM_ZETA_ABSOLUTE)
      f->infeasibility = fmax(f->infeasibility, fabs(o->p[e] - q) - o->zeta->scale);
    else
      f->objective += idm_regulariser_conjugate(o->zeta, o->p[e], q);
  }
}

idm_status idm_conjugate_match(const idm_problem *problem, const idm_mdp *mdp,
                               const idm_regulariser *regulariser, double alpha, int units,
                               const double *p, idm_conjugate_matching **ret_matching,
                               idm_error *opt_error)
{
  static const double prox_weight = 0.0005;
  conjugate_problem o = {
      .mdp = mdp, .zeta = regulariser, .alpha = alpha, .prox_weight = prox_weight, .p = p};
  *ret_matching = NULL;
  double *x = NULL;
  idm_status status = allocate_conjugate(&o) ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = open_policy(&o, problem, units, opt_error);
  if (status == IDM_OK) {
    x = idm_new(2 * o.block->size, sizeof *x);
    status = x ? IDM_OK : idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) {
    for (size_t i = 0; i < o.block->size; i++) x[i] = o.block->value[i];
    status = ascend(&o, x, x + o.block->size, opt_error);
  }
  if (status == IDM_OK) {
    evaluate_result(&o, x + o.block->size);
    *ret_matching = o.found;
  } else {
    idm_conjugate_matching_destroy(o.found);
  }
  close_conjugate(&o);
  free(x);
  return status;
}

/* === convex margin ============================================================================ */

/* Newton's method for a margin with a regulariser, with barriers whose weight decreases from round
 * to round. */

enum { max_newton_steps = 200, max_halvings = 60 };
static const double first_barrier = 1e-1;
/* The last barrier adds about this much per entry. */
static const double last_barrier = 1e-11;
/* Smaller entries of a gradient are rounding errors: occupancies sum to 1. */
static const double gradient_floor = 1e-13;

typedef struct descent {
  idm_soft_plan *plan;
  const idm_regulariser *zeta;
  const double *p; /* [entry], as all arrays below */
  size_t entries;
  bool *moves; /* entries of reachable states */
  double mu;
  double *gradient;
  double *curvature;
  double *step;
  double *trial;
  double *unit;
  double *change;
  double *matrix; /* [entry][entry] */
} descent;

static bool open_descent(descent *d, idm_soft_plan *plan, const idm_regulariser *zeta,
                         const double *p)
{
  const idm_sizes n = plan->mdp->n;
  const size_t entries = n.states * n.actions;
  *d = (descent){.plan = plan, .zeta = zeta, .p = p, .entries = entries};
  d->moves = idm_new(entries, sizeof *d->moves);
  d->gradient = idm_new(6 * entries, sizeof *d->gradient);
  d->matrix = idm_new(idm_times(entries, entries), sizeof *d->matrix);
  if (!d->moves || !d->gradient || !d->matrix) return false;
  double **const part[] = {&d->curvature, &d->step, &d->trial, &d->unit, &d->change};
  for (size_t i = 0; i < 5; i++) *part[i] = d->gradient + (i + 1) * entries;
  for (size_t s = 0; s < n.states; s++) {
    double mass = 0;
    for (size_t u = 0; u < n.actions; u++) mass += p[u * n.states + s];
    for (size_t u = 0; u < n.actions; u++) d->moves[u * n.states + s] = mass > 0;
  }
  return true;
}

static void close_descent(descent *d)
{
  free(d->moves);
  free(d->gradient);
  free(d->matrix);
}

/* Objective with barriers and its gradient; infinite outside the domain. */
static idm_status evaluate_margin(descent *d, const double *v, double *objective,
                                  idm_error *opt_error)
{
  double linear_part = 0;
  for (size_t e = 0; e < d->entries; e++) {
    double value = 0, slope = 0;
    d->curvature[e] = 1;
    if (d->moves[e] &&
        !idm_regulariser_barrier(d->zeta, d->p[e], v[e], d->mu, &value, &slope, &d->curvature[e])) {
      *objective = INFINITY;
      return IDM_OK;
    }
    linear_part += value - d->p[e] * v[e];
    d->gradient[e] = slope - d->p[e];
  }
  const idm_status status = idm_soft_plan_solve(d->plan, v, objective, opt_error);
  if (status != IDM_OK) return status;
  *objective += linear_part;
  idm_soft_plan_occupancy(d->plan, d->change);
  for (size_t e = 0; e < d->entries; e++)
    d->gradient[e] = d->moves[e] ? d->gradient[e] + d->change[e] : 0;
  return IDM_OK;
}

static double largest(const descent *d)
{
  double most = 0;
  for (size_t e = 0; e < d->entries; e++) most = fmax(most, fabs(d->gradient[e]));
  return most;
}

/* step = -H^-1 gradient, H = d occupancy / d utility + diag(curvature). */
static bool find_step(descent *d)
{
  const size_t n = d->entries;
  for (size_t i = 0; i < n; i++) {
    memset(d->unit, 0, n * sizeof *d->unit);
    d->unit[i] = d->moves[i];
    idm_soft_plan_hessian_product(d->plan, d->unit, d->change);
    for (size_t j = 0; j < n; j++) d->matrix[i * n + j] = d->moves[j] ? d->change[j] : 0;
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++)
      d->matrix[i * n + j] = 0.5 * (d->matrix[i * n + j] + d->matrix[j * n + i]);
    d->matrix[i * n + i] += d->curvature[i] + 1e-15;
    d->step[i] = -d->gradient[i];
  }
  if (!idm_cholesky(n, d->matrix)) return false;
  idm_lower_solve(n, d->matrix, d->step);
  idm_lower_solve_transposed(n, d->matrix, d->step);
  return true;
}

/* Backtracks until the objective decreases sufficiently or, if its change is rounding, the gradient
 * decreases. */
static idm_status line_search(descent *d, double *v, double *objective, bool *movement,
                              idm_error *opt_error)
{
  const double before = largest(d);
  double directional_derivative = 0, length = 1;
  *movement = false;
  for (size_t e = 0; e < d->entries; e++) directional_derivative += d->gradient[e] * d->step[e];
  for (int k = 0; k < max_halvings && !*movement; k++, length /= 2) {
    double value;
    for (size_t e = 0; e < d->entries; e++) d->trial[e] = v[e] + length * d->step[e];
    const idm_status status = evaluate_margin(d, d->trial, &value, opt_error);
    if (status != IDM_OK) return status;
    const double noise = 1e-13 * (1 + fabs(*objective));
    if (!(value <= *objective + 1e-4 * length * directional_derivative) &&
        !(value <= *objective + noise && largest(d) < before))
      continue;
    memcpy(v, d->trial, d->entries * sizeof *v);
    *objective = value;
    *movement = true;
  }
  return *movement ? IDM_OK : evaluate_margin(d, v, objective, opt_error);
}

/* Minimises with one barrier weight. */
static idm_status descend(descent *d, double *v, idm_error *opt_error)
{
  double objective;
  bool movement = true;
  idm_status status = evaluate_margin(d, v, &objective, opt_error);
  for (int k = 0;
       k < max_newton_steps && status == IDM_OK && movement && largest(d) > gradient_floor; k++) {
    if (!find_step(d))
      return idm_fail(opt_error, IDM_NUMERICAL, "the least margin could not be found");
    status = line_search(d, v, &objective, &movement, opt_error);
  }
  return status;
}

idm_status idm_convex_margin(idm_soft_plan *plan, const idm_regulariser *regulariser,
                             const double *p, double *utility, double *objective, double *slope,
                             idm_error *opt_error)
{
  descent d;
  idm_status status = open_descent(&d, plan, regulariser, p) ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t e = 0; e < d.entries && status == IDM_OK; e++)
    utility[e] = d.moves[e] ? idm_regulariser_interior(regulariser) : 0;
  for (d.mu = first_barrier; d.mu >= last_barrier && status == IDM_OK; d.mu /= 10)
    status = descend(&d, utility, opt_error);
  if (status == IDM_OK) {
    *slope = largest(&d);
    status = idm_soft_plan_solve(plan, utility, objective, opt_error);
  }
  for (size_t e = 0; e < d.entries && status == IDM_OK; e++)
    if (d.moves[e])
      *objective += idm_regulariser_value(regulariser, p[e], utility[e]) - p[e] * utility[e];
  close_descent(&d);
  return status;
}

/* === proposition ============================================================================== */

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

/* --- both sides ----------------------------------------------------------------------------- */

/* Margin side with the squared regulariser: every entry of the utility is free. */
static idm_status find_utility(const idm_mdp *mdp, const double *target, const double *uniform,
                               idm_proposition *p, idm_error *opt_error)
{
  const idm_sizes n = mdp->n;
  const size_t all = n.states * n.actions;
  idm_soft_plan *plan = NULL;
  int32_t *number = idm_new(all, sizeof *number);
  double *work = idm_new(2 * all, sizeof *work);
  idm_status status = number && work ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_soft_plan_create(mdp, p->alpha, uniform, &plan, opt_error);
  if (status == IDM_OK) {
    for (size_t e = 0; e < all; e++) {
      number[e] = (int32_t)e;
      work[e] = target[e % n.states * n.actions + e / n.states];
    }
    const idm_free_utility free_utility = {
        .entries = all, .count = all, .number = number, .held = work, .unit = 1};
    const idm_smooth_margin margin = {&free_utility, plan, work, p->lambda, NULL};
    status =
        idm_smooth_margin_minimise(&margin, work + all, &p->margin, &p->gradient_max, opt_error);
  }
  if (status == IDM_OK) memcpy(p->planned, plan->policy, all * sizeof *p->planned);
  idm_soft_plan_destroy(plan);
  free(number);
  free(work);
  return status;
}

static idm_status find_policy(const idm_mdp *mdp, const idm_setting *setting, const double *target,
                              idm_proposition *p, idm_error *opt_error)
{
  const idm_sizes n = mdp->n;
  idm_occupancy_projection *found = NULL;
  const idm_status status = idm_occupancy_projection_create(mdp, setting, target, p->demonstrated,
                                                            NULL, IDM_DIVERGENCE_SQUARED, p->lambda,
                                                            p->alpha, NULL, &found, opt_error);
  if (status != IDM_OK) return status;
  p->matching = found->objective;
  p->gap = found->gap;
  memcpy(p->matched, found->policy, n.states * n.actions * sizeof *p->matched);
  for (size_t e = 0; e < n.states * n.actions; e++)
    p->occupancy[e / n.actions] += found->occupancy[e];
  idm_occupancy_projection_destroy(found);
  return IDM_OK;
}

/* --- both sides, of any regulariser --------------------------------------------------------- */

/* With `gail`, the optimal utility of an action that the demonstrator never takes is infinite. */
static idm_status check_taken(const idm_mdp *mdp, const double *target, const idm_proposition *p,
                              idm_error *opt_error)
{
  const size_t actions = mdp->n.actions;
  for (size_t s = 0; s < mdp->n.states && p->zeta == IDM_ZETA_GAIL; s++) {
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

static idm_status find_margin(const idm_mdp *mdp, const double *target, const double *uniform,
                              idm_proposition *p, idm_error *opt_error)
{
  const idm_sizes n = mdp->n;
  const size_t all = n.states * n.actions;
  const idm_regulariser zeta = {p->zeta, p->lambda};
  idm_soft_plan *plan = NULL;
  double *work = idm_new(2 * all, sizeof *work);
  idm_status status = work ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_soft_plan_create(mdp, p->alpha, uniform, &plan, opt_error);
  if (status == IDM_OK) {
    for (size_t e = 0; e < all; e++) work[e] = target[e % n.states * n.actions + e / n.states];
    status =
        idm_convex_margin(plan, &zeta, work, work + all, &p->margin, &p->gradient_max, opt_error);
  }
  if (status == IDM_OK) memcpy(p->planned, plan->policy, all * sizeof *p->planned);
  idm_soft_plan_destroy(plan);
  free(work);
  return status;
}

static idm_status find_matching(const idm_problem *problem, const idm_mdp *mdp,
                                const double *target, idm_proposition *p, idm_error *opt_error)
{
  const idm_sizes n = mdp->n;
  const idm_regulariser zeta = {p->zeta, p->lambda};
  idm_conjugate_matching *found = NULL;
  const idm_status status =
      idm_conjugate_match(problem, mdp, &zeta, p->alpha, p->units, target, &found, opt_error);
  if (status != IDM_OK) return status;
  p->matching = found->objective;
  p->gap = fmax(found->slope, found->infeasibility);
  memcpy(p->matched, found->policy, n.states * n.actions * sizeof *p->matched);
  for (size_t e = 0; e < n.states * n.actions; e++)
    p->occupancy[e / n.actions] += found->occupancy[e];
  idm_conjugate_matching_destroy(found);
  return IDM_OK;
}

/* --- both sides, and the difference --------------------------------------------------------- */

static idm_status compare(const idm_mdp *mdp, idm_proposition *p, idm_error *opt_error)
{
  const size_t actions = p->action.count;
  const size_t all = p->state.count * actions;
  double *planned = idm_new(all, sizeof *planned);
  if (!planned) return idm_fail_memory(opt_error);
  const idm_status status = idm_mdp_occupancy(mdp, p->planned, planned, opt_error);
  for (size_t e = 0; e < all && status == IDM_OK; e++) {
    const double mass = p->occupancy[e / actions];
    p->occupancy_difference =
        fmax(p->occupancy_difference, fabs(planned[e] - mass * p->matched[e]));
    if (mass > 0) p->difference = fmax(p->difference, fabs(p->planned[e] - p->matched[e]));
  }
  p->constant = -p->alpha * log((double)actions);
  free(planned);
  return status;
}

/* The squared regulariser uses the code of the inverse planners, which returns a duality gap. */
static idm_status solve_both(const idm_problem *problem, const idm_mdp *mdp, const double *target,
                             const double *uniform, bool own, idm_proposition *p,
                             idm_error *opt_error)
{
  idm_status status = own ? find_utility(mdp, target, uniform, p, opt_error)
                          : check_taken(mdp, target, p, opt_error);
  if (status == IDM_OK && !own) status = find_margin(mdp, target, uniform, p, opt_error);
  if (status != IDM_OK) return status;
  return own ? find_policy(mdp, problem->setting, target, p, opt_error)
             : find_matching(problem, mdp, target, p, opt_error);
}

static idm_status prepare_and_solve(const idm_problem *problem, bool own, idm_proposition *p,
                                    idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(problem->setting);
  idm_mdp *mdp = NULL;
  double *target = idm_new(n.states * n.actions, sizeof *target);
  double *uniform = idm_new(n.actions, sizeof *uniform);
  idm_status status = target && uniform ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_mdp_create(problem, problem->setting, "proposition", &mdp, opt_error);
  if (status == IDM_OK && mdp->horizon)
    status = idm_fail(opt_error, IDM_INPUT,
                      "the proposition holds for problems without a horizon, and this one has one");
  if (status == IDM_OK) {
    for (size_t u = 0; u < n.actions; u++) uniform[u] = 1.0 / (double)n.actions;
    mdp->prior = uniform; /* for both sides: the entropy is relative to the uniform prior */
    status = idm_policy_plan(problem, problem->theta, p->demonstrated, opt_error);
  }
  if (status == IDM_OK) status = idm_mdp_occupancy(mdp, p->demonstrated, target, opt_error);
  if (status == IDM_OK) status = solve_both(problem, mdp, target, uniform, own, p, opt_error);
  if (status == IDM_OK) status = compare(mdp, p, opt_error);
  idm_mdp_destroy(mdp);
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
  if (status == IDM_OK) status = prepare_and_solve(problem, own, p, opt_error);
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

/* Line of one state and action. */
static void format_entry(const idm_proposition *p, size_t e, char *buffer, size_t size)
{
  const size_t actions = p->action.count;
  snprintf(buffer, size, "%-16.40s  %-16.40s  %14.10f  %14.10f  %14.10f",
           p->state.name[e / actions], p->action.name[e % actions], p->demonstrated[e],
           p->planned[e], p->matched[e]);
}

/* Line below the policies; NULL after the last. */
static const char *format_summary(const idm_proposition *p, size_t index, char *buffer, size_t size)
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
             p->gradient_max);
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
    format_entry(proposition, index - 2, buffer, size);
  else
    return format_summary(proposition, index - 2 - entries, buffer, size);
  return buffer;
}
