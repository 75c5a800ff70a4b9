/* Solution of V = B*V with a certified bound, by Newton's method (soft policy iteration) with
 * sweeps as fallback (docs/method/control.md, 8).
 *
 * GMRES solves (I - gamma P) d = B*V - V to 1e-3 (a quarter fewer products than BiCGStab). A step
 * is accepted if the certified bound decreases; else the decision policy is held fixed (Hoffman and
 * Karp), then shifted sweeps follow. With terminal actions B* is not shift-equivariant: the
 * interval around V* is widened to contain 0. Values within a relative 1e-12 are ties.
 *
 * Contents: shortest paths · solve */
#include "plan/control/control.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/soft.h"

/* === shortest paths ========================================================================= */

/* A discount of 1 without a horizon: stochastic shortest paths (Bertsekas and Tsitsiklis 1991). */

static const idm_successor_block *block_of(const control *c, size_t u)
{
  return &c->successors->block[u * c->models];
}

/* Whether an action has a positive prior probability. */
static bool is_open(const control *c, size_t u)
{
  return c->numbers.action_prior[u] > 0;
}

static double reward_of(const control *c, size_t s, size_t u)
{
  return c->reward[u * c->padded + s];
}

/* Whether some successor of s is marked; if `all`, whether all of them are. */
static bool leads_to(const idm_successor_block *block, size_t s, const bool *mark, bool all)
{
  const size_t slice = s / IDM_LANES;
  const size_t lane = s % IDM_LANES;
  for (size_t at = block->offset[slice]; at < block->offset[slice + 1]; at += IDM_LANES)
    if (block->value[at + lane] > 0 && mark[block->column[at + lane]] != all) return !all;
  return all;
}

/* --- existence of a value -------------------------------------------------------------------- */

/* Whether a state is absorbing: every open action stays in it, at utility 0. `only` is scratch,
 * [state], all false. */
static bool is_absorbing_state(const control *c, size_t s, bool *only)
{
  bool over = true;
  only[s] = true;
  for (size_t u = 0; u < c->sizes.actions && over; u++)
    over = !is_open(c, u) || (!c->setting->terminal[u] && reward_of(c, s, u) == 0 &&
                              leads_to(block_of(c, u), s, only, true));
  only[s] = false;
  return over;
}

static bool can_stop(const control *c, size_t s)
{
  if (c->absorbing[s]) return true;
  for (size_t u = 0; u < c->sizes.actions; u++)
    if (is_open(c, u) && c->setting->terminal[u]) return true;
  return false;
}

/* Marks the states from which some policy terminates. Returns a state from which none does, or the
 * number of states. If all states are marked, a policy that takes every action with positive
 * probability terminates with probability 1. */
static size_t mark_terminating(const control *c, bool *terminating)
{
  const size_t states = c->sizes.states;
  bool more = true;
  for (size_t s = 0; s < states; s++) terminating[s] = can_stop(c, s);
  while (more) {
    more = false;
    for (size_t s = 0; s < states; s++)
      for (size_t u = 0; u < c->sizes.actions && !terminating[s]; u++)
        if (is_open(c, u) && !c->setting->terminal[u] &&
            leads_to(block_of(c, u), s, terminating, false))
          more = terminating[s] = true;
  }
  size_t s = 0;
  while (s < states && terminating[s]) s++;
  return s;
}

/* Whether an action is open and stays within the marked states. */
static bool keeps_within(const control *c, size_t s, size_t u, const bool *mark)
{
  return is_open(c, u) && !c->setting->terminal[u] && leads_to(block_of(c, u), s, mark, true);
}

/* Marks the states in which a policy may continue for ever: the largest set such that some action
 * of every state stays in it. Returns whether it is not empty. */
static bool mark_nonterminating(const control *c, bool *nonterminating)
{
  const size_t states = c->sizes.states;
  bool any = false;
  bool fewer = true;
  for (size_t s = 0; s < states; s++) nonterminating[s] = !c->absorbing[s];
  while (fewer) {
    fewer = any = false;
    for (size_t s = 0; s < states; s++) {
      if (!nonterminating[s]) continue;
      bool can_stay = false;
      for (size_t u = 0; u < c->sizes.actions && !can_stay; u++)
        can_stay = keeps_within(c, s, u, nonterminating);
      nonterminating[s] = can_stay;
      fewer = fewer || !can_stay;
      any = any || can_stay;
    }
  }
  return any;
}

/* One sweep of value iteration over the marked states, with step 1/2. Returns the largest
 * difference of backup and v. */
static double halfstep_sweep(const control *c, const bool *nonterminating, double *v, double *next)
{
  double max_value = -INFINITY;
  for (size_t s = 0; s < c->sizes.states; s++) {
    if (!nonterminating[s]) continue;
    double best = -INFINITY;
    for (size_t u = 0; u < c->sizes.actions; u++)
      if (keeps_within(c, s, u, nonterminating))
        best = fmax(best, reward_of(c, s, u) + idm_successor_row(block_of(c, u), s, v));
    max_value = fmax(max_value, best - v[s]);
    next[s] = (best + v[s]) / 2;
  }
  memcpy(v, next, c->sizes.states * sizeof *v);
  return max_value;
}

/* Whether every policy that continues for ever has a negative mean utility: the largest mean is at
 * most max(B v - v), for any function v. */
static bool mean_is_negative(const control *c, const bool *nonterminating, double *v, double *next)
{
  enum { max_sweeps = 20000 };
  memset(v, 0, c->sizes.states * sizeof *v);
  memset(next, 0, c->sizes.states * sizeof *next);
  for (int i = 0; i < max_sweeps; i++)
    if (halfstep_sweep(c, nonterminating, v, next) < 0) return true;
  return false;
}

static idm_status check(control *c, bool *mark, double *room, idm_error *opt_error)
{
  const size_t states = c->sizes.states;
  const char *const *name = (const char *const *)c->setting->states.name;
  memset(mark, 0, states * sizeof *mark);
  for (size_t s = 0; s < states; s++) c->absorbing[s] = is_absorbing_state(c, s, mark);
  const size_t nonterminating_state = mark_terminating(c, mark);
  if (nonterminating_state < states)
    return idm_fail(opt_error, IDM_INPUT,
                    "the discount is 1 without a horizon, but from '%s' no policy terminates; "
                    "expected a terminal action, or an absorbing state of utility 0",
                    name[nonterminating_state]);
  if (!mark_nonterminating(c, mark) || mean_is_negative(c, mark, room, room + states))
    return IDM_OK;
  size_t s = 0;
  while (!mark[s]) s++;
  return idm_fail(opt_error, IDM_INPUT,
                  "the discount is 1 without a horizon, but a policy that never terminates, as in "
                  "'%s', was not shown to have a negative mean utility: values may not exist",
                  name[s]);
}

/* Marks the absorbing states (control->absorbing), and checks that the selected variant has a
 * value: from every state some policy terminates, and a policy that does not has unbounded cost.
 * IDM_INPUT with the reason if it has none, or if the check is inconclusive. */
static idm_status idm_control_check_ssp(control *c, idm_error *opt_error)
{
  const size_t states = c->sizes.states;
  if (!c->lattice->corners || c->models > 1 || signbit(c->numbers.alpha) || c->numbers.eta != 0)
    return idm_fail(opt_error, IDM_INPUT,
                    "a discount of 1 without a horizon requires observed states, one model, alpha "
                    "of at least 0 and eta 0");
  if (!c->absorbing) c->absorbing = idm_new(states, sizeof *c->absorbing);
  bool *mark = idm_new(states, sizeof *mark);
  double *room = idm_new(2 * states, sizeof *room);
  const idm_status status =
      c->absorbing && mark && room ? check(c, mark, room, opt_error) : idm_fail_memory(opt_error);
  free(mark);
  free(room);
  return status;
}

/* --- solution -------------------------------------------------------------------------------- */

static double size_of(const backup_output *out)
{
  return fmax(fabs(out->lowest), fabs(out->highest));
}

/* Largest expected number of steps under the policy in control->mix: (I - P) n = 1. */
static double max_expected_steps(control *c, double *n, double *one, double *work)
{
  for (size_t i = 0; i < c->padded; i++) one[i] = i < c->sizes.states && !c->absorbing[i] ? 1 : 0;
  idm_gmres(c->padded, idm_control_derivative, c, one, n, 1e-3, c->basis, 4000, work, NULL);
  double max_value = 1;
  for (size_t s = 0; s < c->sizes.states; s++) max_value = fmax(max_value, n[s]);
  return max_value;
}

/* Bound on |V - V*|, with d = max |B*V - V|. The policy of B*V takes at most `steps` steps on
 * average, so V* is at most steps d below V. If every step before the end costs at least `cost` and
 * the last one earns at most `end_reward`, an optimal policy takes at most (end_reward - V) / cost
 * steps, which bounds V* from above. Infinite if a step before the end may cost nothing. */
static double bound_of(const control *c, double d, double steps, const double *v)
{
  double cost = INFINITY, end_reward = 0, lowest = 0;
  for (size_t s = 0; s < c->sizes.states; s++) {
    if (c->absorbing[s]) continue;
    lowest = fmin(lowest, v[s]);
    for (size_t u = 0; u < c->sizes.actions; u++) {
      const bool last = c->setting->terminal[u] || leads_to(block_of(c, u), s, c->absorbing, true);
      if (!is_open(c, u)) continue;
      if (last)
        end_reward = fmax(end_reward, reward_of(c, s, u));
      else
        cost = fmin(cost, -reward_of(c, s, u));
    }
  }
  const double rounding = 8 * DBL_EPSILON * (fabs(lowest) + end_reward + c->largest);
  const double worst = isinf(cost) ? 1 : (end_reward - lowest + steps * d) / cost + 1;
  return cost > 0 ? fmax(steps, worst) * (d + rounding) : INFINITY;
}

/* Scratch in control->vector. */
typedef struct ssp_vectors {
  double *backup;
  double *step;
  double *gap;
  double *v;
  double *work; /* of GMRES */
} ssp_vectors;

static ssp_vectors ssp_vectors_of(const control *c)
{
  double *first = c->vector;
  const size_t n = c->padded;
  return (ssp_vectors){first, first + n, first + 2 * n, first + 3 * n, first + 4 * n};
}

/* step = v + (I - P)^-1 (backup - v), the value of the policy in control->mix, if that terminates.
 */
static void evaluate(control *c, const ssp_vectors *w, idm_plan_report *report)
{
  enum { max_products = 4000 };
  for (size_t i = 0; i < c->padded; i++) w->gap[i] = w->backup[i] - w->v[i];
  idm_gmres(c->padded, idm_control_derivative, c, w->gap, w->step, 1e-12, c->basis, max_products,
            w->work, &report->sweeps);
  for (size_t i = 0; i < c->padded; i++) w->step[i] += w->v[i];
}

/* Initial value: that of the action prior as policy, which terminates. */
static void start(control *c, const ssp_vectors *w, idm_plan_report *report)
{
  for (size_t u = 0; u < c->sizes.actions; u++)
    for (size_t i = 0; i < c->padded; i++)
      c->fixed_policy[u * c->padded + i] = c->numbers.action_prior[u];
  memset(c->penalty, 0, c->padded * sizeof *c->penalty);
  memset(w->v, 0, c->padded * sizeof *w->v);
  backup_output out = {.value = w->backup, .mix = true};
  idm_control_backup(c, w->v, true, &out);
  evaluate(c, w, report);
  memcpy(w->v, w->step, c->padded * sizeof *w->v);
}

/* Solves V = B*V for the selected variant, in scratch of the control, by policy iteration: a policy
 * that improves on a terminating one terminates too. If the linear solve is inaccurate the result
 * may not be the value of a policy; then B*V < V somewhere, and a sweep replaces the step. The
 * bound is infinite unless every step before the end has a positive cost. */
static const double *idm_control_solve_ssp(control *c, const idm_solver *solver,
                                           idm_plan_report *report)
{
  static const double slack =
      1e-8; /* accepted error of the linear solve, relative to the size of the values */
  const ssp_vectors w = ssp_vectors_of(c);
  backup_output out = {.value = w.backup, .mix = true};
  start(c, &w, report);
  report->stop = IDM_STOP_LIMIT;
  for (long i = 0; i < solver->limit; i++) {
    idm_control_backup(c, w.v, false, &out);
    report->sweeps++;
    if (size_of(&out) <= 4 * DBL_EPSILON * (out.size + c->largest)) {
      report->stop = IDM_STOP_ROUNDING;
      break;
    }
    evaluate(c, &w, report);
    memcpy(w.v, w.backup, c->padded * sizeof *w.v);
    backup_output next = {.value = w.gap};
    idm_control_backup(c, w.step, false, &next);
    report->sweeps++;
    report->iterations++;
    if (isfinite(next.size) && next.lowest >= -slack * (next.size + c->largest))
      memcpy(w.v, w.step, c->padded * sizeof *w.v);
  }
  idm_control_backup(c, w.v, false, &out);
  const double steps = max_expected_steps(c, w.step, w.gap, w.work);
  report->bound = bound_of(c, size_of(&out), steps, w.v);
  return w.v;
}

/* === solve ==================================================================================== */

/* Relative residual of the linear solve in a Newton step. Measured on DIAG and at 5,000 points:
 * 1e-3 minimises the total cost of steps and products. The last step needs only the accuracy that
 * the tolerance requires. */
static const double forcing = 1e-3;
/* The same with preconditioned products, of which few are needed. */
static const double preconditioned_forcing = 1e-5;
/* Shifted sweeps before the first Newton step of a cold start. */
enum { first_sweeps = 2 };
/* Maximum products with the derivative per Newton step. */
enum { max_products = 400 };

/* Vectors in control->vector. */
typedef struct vectors {
  double *v;      /* the iterate */
  double *backup; /* B*V */
  double *trial;
  double *trial_backup;
  double *step;
  double *work; /* of GMRES; the vector before it is scratch of preconditioned products */
} vectors;

static vectors vectors_of(const control *c)
{
  double *first = c->vector;
  const size_t n = c->padded;
  return (vectors){first,         first + n,     first + 2 * n,
                   first + 3 * n, first + 4 * n, first + CONTROL_VECTORS * n};
}

/* --- bounds --------------------------------------------------------------------------------- */

/* Result of one backup: V* lies in B*V + centre +- radius. */
typedef struct certificate {
  double centre;
  double radius;
  double rounding; /* bound on rounding errors, from the size of the terms of a value */
} certificate;

/* V* lies in B*V + gamma/(1-gamma) [min d, max d], d = B*V - V. With a terminal action B* is not
 * shift-equivariant but still sub-homogeneous, and the interval must contain 0. */
static certificate certify(const control *c, const backup_output *out)
{
  const double gamma = c->numbers.discount;
  const double factor = gamma / (1 - gamma);
  const double low = c->any_terminal ? fmin(out->lowest, 0) : out->lowest;
  const double high = c->any_terminal ? fmax(out->highest, 0) : out->highest;
  return (certificate){factor * (low + high) / 2, factor * (high - low) / 2,
                       8 * DBL_EPSILON * (out->size + c->largest) / (1 - gamma)};
}

/* Accepted error in V, relative to the temperatures: the policies are functions of V/alpha and
 * V/beta. */
static const double policy_error = 1e-7;

static double target(const control *c, const idm_solver *solver, const backup_output *out)
{
  if (solver->tolerance > 0) return solver->tolerance;
  double tolerance_target = c->agent.tolerance * fmax(c->largest, out->size);
  const double temperatures[] = {c->numbers.alpha, c->numbers.beta, c->numbers.temperature};
  for (size_t i = 0; i < sizeof temperatures / sizeof temperatures[0]; i++)
    if (temperatures[i] != 0)
      tolerance_target = fmin(tolerance_target, policy_error * fabs(temperatures[i]));
  return tolerance_target;
}

/* Whether to stop; bound and reason go into the report. */
static bool has_converged(const control *c, const idm_solver *solver, const backup_output *out,
                          idm_plan_report *report)
{
  const certificate at = certify(c, out);
  report->bound = at.radius + at.rounding;
  if (report->bound <= target(c, solver, out)) {
    report->stop = IDM_STOP_BOUND;
    return true;
  }
  report->stop = IDM_STOP_ROUNDING;
  return at.radius <= at.rounding;
}

/* --- sweeps --------------------------------------------------------------------------------- */

/* v = B*V + shift. */
static void shift_values(const control *c, const double *backup, double shift, double *v)
{
  for (size_t i = 0; i < c->lattice->points; i++) v[i] = backup[i] + shift;
}

/* Plain or shifted sweeps from w.v until certified, or `limit` sweeps. The result is left in w.v.
 * The plain iteration returns B*V, certified by gamma/(1-gamma) max|d|. */
static bool sweep(control *c, const idm_solver *solver, bool shifted, long limit, vectors w,
                  backup_output *out, idm_plan_report *report)
{
  out->value = w.backup;
  out->mix = false;
  for (long i = 0; i < limit; i++) {
    idm_control_backup(c, w.v, false, out);
    report->sweeps++;
    certificate at = certify(c, out);
    bool done;
    if (shifted) {
      done = has_converged(c, solver, out, report);
    } else {
      at.centre = 0;
      report->bound = c->numbers.discount / (1 - c->numbers.discount) *
                          fmax(fabs(out->lowest), fabs(out->highest)) +
                      at.rounding;
      report->stop = IDM_STOP_BOUND;
      done = report->bound <= target(c, solver, out);
    }
    /* With terminal actions a shift is valid only at the end; repeated shifts may overshoot for
     * ever. */
    shift_values(c, w.backup, done || !c->any_terminal ? at.centre : 0, w.v);
    if (done) return true;
  }
  return false;
}

static void solve_by_sweeps(control *c, const idm_solver *solver, vectors w, backup_output *out,
                            idm_plan_report *report)
{
  const long before = report->sweeps;
  const bool done =
      sweep(c, solver, solver->method == IDM_METHOD_SHIFTED, solver->limit, w, out, report);
  report->iterations += report->sweeps - before;
  if (!done) report->stop = IDM_STOP_LIMIT;
}

/* --- Newton --------------------------------------------------------------------------------- */

/* trial = v + (I - gamma P)^-1 (B*V - V), with P as left in control->mix by the last backup at v.
 */
static void newton_step(control *c, double radius, double tolerance_target, const vectors *w,
                        idm_plan_report *report)
{
  double *d = w->trial_backup;
  for (size_t i = 0; i < c->padded; i++) d[i] = w->backup[i] - w->v[i];
  idm_control_fold(c);
  const double forcing_term = c->preconditioner ? preconditioned_forcing : forcing;
  const double tolerance = fmin(0.1, fmax(forcing_term, 0.1 * tolerance_target / radius));
  idm_gmres(c->padded, c->preconditioner ? idm_control_preconditioned : idm_control_derivative, c,
            d, w->step, tolerance, c->basis, max_products, w->work, &report->sweeps);
  if (c->preconditioner) {
    idm_control_apply_inverse(c, w->step, d);
    memcpy(w->step, d, c->padded * sizeof *d);
  }
  for (size_t i = 0; i < c->padded; i++) w->trial[i] = w->v[i] + w->step[i];
  report->iterations++;
}

static void accept(vectors *w)
{
  double *v = w->v;
  double *backup = w->backup;
  w->v = w->trial;
  w->backup = w->trial_backup;
  w->trial = v;
  w->trial_backup = backup;
}

/* --- fixed decision policy ------------------------------------------------------------------- */

/* With pi fixed the operator is convex or concave, so that Newton's method in sigma alone converges
 * monotonically to its fixed point; then pi is updated. This is policy iteration for a game
 * (Hoffman and Karp 1966), required if alpha and beta have opposite signs. */
static void solve_fixed_policy(control *c, const idm_solver *solver, vectors *w, backup_output *out,
                               idm_plan_report *report)
{
  enum { max_steps = 30 };
  idm_control_fix_policy(c, w->v);
  backup_output fixed_policy = {.mix = true};
  for (int i = 0; i < max_steps; i++) {
    fixed_policy.value = w->backup;
    idm_control_backup(c, w->v, true, &fixed_policy);
    report->sweeps++;
    const certificate at = certify(c, &fixed_policy);
    if (at.radius + at.rounding <= 0.1 * target(c, solver, &fixed_policy) ||
        at.radius <= at.rounding)
      break;
    newton_step(c, at.radius, 0.1 * target(c, solver, &fixed_policy), w, report);
    memcpy(w->v, w->trial, c->padded * sizeof *w->v);
  }
  out->value = w->backup;
  idm_control_backup(c, w->v, false, out);
  report->sweeps++;
}

/* Alternates solves with a fixed policy and updates of it until the certificate holds; then shifted
 * sweeps. */
static bool solve_alternating(control *c, const idm_solver *solver, vectors *w, backup_output *out,
                              idm_plan_report *report)
{
  enum { max_rounds = 40, max_sweeps = 1000000 };
  for (int i = 0; i < max_rounds; i++) {
    solve_fixed_policy(c, solver, w, out, report);
    if (has_converged(c, solver, out, report)) return true;
  }
  const bool done = sweep(c, solver, true, max_sweeps, *w, out, report);
  out->mix = true;
  out->value = w->backup;
  idm_control_backup(c, w->v, false, out);
  return done;
}

/* --- stationary problem ---------------------------------------------------------------------- */

/* Newton's method from w->v. Policy tables are written with a trial that may be the last; returns
 * whether they are those of the result. */
static bool solve_by_newton(control *c, size_t variant, const idm_solver *solver, vectors *w,
                            backup_output *out, idm_plan_report *report)
{
  out->mix = true;
  out->value = w->backup;
  idm_control_backup(c, w->v, false, out);
  report->sweeps++;
  bool done = has_converged(c, solver, out, report);
  bool tables_current = false;
  for (long i = 0; !done && i < solver->limit; i++) {
    newton_step(c, certify(c, out).radius, target(c, solver, out), w, report);
    backup_output trial = {.value = w->trial_backup, .mix = true};
    /* A step reduces the bound by the residual of the linear solve, or more near the end: this
     * trial may be the last. */
    tables_current = certify(c, out).radius * forcing <= 10 * target(c, solver, out);
    if (tables_current) idm_control_tables(c, variant, 0, &trial);
    idm_control_backup(c, w->trial, false, &trial);
    report->sweeps++;
    /* Accept a step only if the bound decreases. */
    if (isfinite(trial.size) && trial.lowest <= trial.highest &&
        certify(c, &trial).radius < certify(c, out).radius) {
      accept(w);
      *out = trial;
      done = has_converged(c, solver, out, report);
      continue;
    }
    tables_current = false;
    done = certify(c, out).radius <= 64 * certify(c, out).rounding;
    if (!done) done = solve_alternating(c, solver, w, out, report);
    break;
  }
  if (!done) report->stop = IDM_STOP_LIMIT;
  shift_values(c, w->backup, certify(c, out).centre, w->v);
  return tables_current && c->quality;
}

/* Stores the solution in the variant's layer, and the tables of its policies unless they are
 * present. */
static void store(control *c, size_t variant, const double *v, bool tables)
{
  double *layer = c->value + ((size_t)(c->layers + 1) * variant + 1) * c->padded;
  c->solved[variant] = true;
  memcpy(layer, v, c->padded * sizeof *v);
  if (tables || !c->quality) return;
  backup_output out = {.value = layer};
  idm_control_tables(c, variant, 0, &out);
  idm_control_backup(c, v, false, &out);
}

/* Linear combination of stored solutions. */
static void combine_stored(const control *c, size_t variant, const idm_solver *solver, double *v)
{
  const size_t one = c->variants * c->padded;
  const double *stored = c->stored + variant * c->padded;
  for (size_t i = 0; i < c->padded; i++) v[i] = solver->weights[0] * stored[i];
  for (int k = 1; k < solver->slots; k++) {
    stored += one;
    if (solver->weights[k] == 0) continue;
    for (size_t i = 0; i < c->padded; i++) v[i] += solver->weights[k] * stored[i];
  }
}

static void solve_stationary(control *c, size_t variant, const idm_solver *solver,
                             idm_plan_report *report)
{
  vectors w = vectors_of(c);
  backup_output out = {0};
  bool tables = false;
  /* If all rewards are 0 V* is 0: no error is small relative to it, so that only a start at 0
   * converges. */
  const bool cold_start =
      c->largest == 0 || (solver->slots < 0 ? !c->solved[variant] : solver->slots == 0);
  if (cold_start)
    memset(w.v, 0, c->padded * sizeof *w.v);
  else if (solver->slots > 0)
    combine_stored(c, variant, solver, w.v);
  else
    memcpy(w.v, control_layer(c, variant, 1), c->padded * sizeof *w.v);
  /* From a cold start, a few shifted sweeps cost less than the Newton step that they replace. */
  if (cold_start && solver->method == IDM_METHOD_NEWTON)
    sweep(c, solver, true, first_sweeps, w, &out, report);
  if (solver->method == IDM_METHOD_NEWTON)
    tables = solve_by_newton(c, variant, solver, &w, &out, report);
  else
    solve_by_sweeps(c, solver, w, &out, report);
  store(c, variant, w.v, tables);
}

/* --- backward induction --------------------------------------------------------------------- */

static void solve_horizon(control *c, size_t variant, idm_plan_report *report)
{
  report->stop = IDM_STOP_HORIZON;
  c->solved[variant] = true;
  if (c->continuation) {
    report->bound = 8 * DBL_EPSILON * idm_control_solve_delayed(c, variant, report) * c->layers;
    return;
  }
  double *first = c->value + (size_t)(c->layers + 1) * variant * c->padded;
  memset(first, 0, c->padded * sizeof *first);
  double size = 0;
  for (int t = 0; t < c->layers; t++) {
    backup_output out = {.value = first + (size_t)(t + 1) * c->padded};
    idm_control_tables(c, variant, t, &out);
    c->numbers.arrival = idm_control_arrival(c, t + 1);
    idm_control_backup(c, first + (size_t)t * c->padded, false, &out);
    size = fmax(size, out.size);
    report->iterations++;
    report->sweeps++;
  }
  report->bound = 8 * DBL_EPSILON * size * c->layers;
}

/* --- shortest paths -------------------------------------------------------------------------- */

static idm_status solve_ssp(control *c, size_t variant, const idm_solver *solver,
                            idm_plan_report *report, idm_error *opt_error)
{
  const idm_status status = idm_control_check_ssp(c, opt_error);
  if (status != IDM_OK) return status;
  store(c, variant, idm_control_solve_ssp(c, solver, report), false);
  return IDM_OK;
}

/* --- all variants --------------------------------------------------------------------------- */

static bool finite_values(const control *c, size_t variant)
{
  const double *v = control_layer(c, variant, c->layers);
  for (size_t i = 0; i < c->lattice->points; i++)
    if (!isfinite(v[i])) return false;
  return true;
}

idm_status idm_control_solve(control *c, const idm_solver *solver, idm_plan_report *report,
                             idm_error *opt_error)
{
  *report = (idm_plan_report){0};
  if (solver->slots > (long)c->slots && c->setting->horizon <= 0)
    return idm_fail(opt_error, IDM_USAGE, "%d solutions to start from, but %zu are stored",
                    solver->slots, c->slots);
  for (size_t variant = 0; variant < c->variants; variant++) {
    idm_plan_report one = {0};
    idm_control_select(c, variant);
    c->numbers.arrival = idm_control_arrival(c, 1);
    if (c->setting->horizon > 0) {
      solve_horizon(c, variant, &one);
    } else if (c->numbers.discount == 1) {
      const idm_status status = solve_ssp(c, variant, solver, &one, opt_error);
      if (status != IDM_OK) return status;
    } else
      solve_stationary(c, variant, solver, &one);
    report->iterations += one.iterations;
    report->sweeps += one.sweeps;
    if (variant == 0 || one.bound > report->bound) {
      report->bound = one.bound;
      report->stop = one.stop;
    }
    if (!finite_values(c, variant)) {
      c->solved[variant] = false;
      return idm_fail(opt_error, IDM_NUMERICAL,
                      "the value function is not finite: utilities, multipliers or concentrations "
                      "of beliefs are too large");
    }
  }
  return IDM_OK;
}
