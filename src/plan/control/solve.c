/* Solving V = B*V with a certified bound: Newton, and the sweeps it falls back on. Newton is soft
 * policy iteration: GMRES solves (I - gamma P) d = B*V - V to 1e-3 (a quarter fewer products than
 * BiCGStab). A step is kept if the certified bound shrinks; else the decision policy is held
 * (Hoffman and Karp), then shifted sweeps. With terminal actions B* is not shift-equivariant: the
 * interval around V* is widened to hold 0. Ties are within 1e-12.
 *
 * Contents: endless · solve */
#include "plan/control/control.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/soft.h"

/* === endless ================================================================================== */

/* A discount of 1 without a horizon: stochastic shortest paths (Bertsekas and Tsitsiklis 1991). */

static const idm_successor_block *block_of(const control *c, size_t u)
{
  return &c->successors->block[u * c->models];
}

/* Whether the agent may ever take an action. */
static bool is_open(const control *c, size_t u)
{
  return c->numbers.action_prior[u] > 0;
}

static double reward_of(const control *c, size_t s, size_t u)
{
  return c->reward[u * c->padded + s];
}

/* Whether a successor of s is marked, or all of them are. */
static bool leads_to(const idm_successor_block *block, size_t s, const bool *mark, bool all)
{
  const size_t slice = s / IDM_LANES;
  const size_t lane = s % IDM_LANES;
  for (size_t at = block->offset[slice]; at < block->offset[slice + 1]; at += IDM_LANES)
    if (block->value[at + lane] > 0 && mark[block->column[at + lane]] != all) return !all;
  return all;
}

/* --- does it have a value? ------------------------------------------------------------------ */

/* Everything is over where every action stays, at a utility of 0. */
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

/* Mark the states from which some policy may end; returns one from which none does, or the number
 * of states. Where all may end, a policy that takes every action ends for certain. */
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

/* Whether an action keeps to the states marked. */
static bool keeps_within(const control *c, size_t s, size_t u, const bool *mark)
{
  return is_open(c, u) && !c->setting->terminal[u] && leads_to(block_of(c, u), s, mark, true);
}

/* The states in which one may go on for ever: the largest set that some action of each keeps to. */
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

/* The most that a step may add to v among the states in which one goes on, and v one half step on.
 */
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

/* Whether going on for ever loses for ever: the mean of the best policy that does is at most the
 * largest rise of any function. */
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
    return idm_fail(
        opt_error, IDM_INPUT,
        "the discount is 1 without a horizon, and from '%s' no policy comes to an end: a "
        "terminal action, or a state of utility 0 that is never left",
        name[nonterminating_state]);
  if (!mark_nonterminating(c, mark) || mean_is_negative(c, mark, room, room + states))
    return IDM_OK;
  size_t s = 0;
  while (!mark[s]) s++;
  return idm_fail(opt_error, IDM_INPUT,
                  "the discount is 1 without a horizon, and a policy that goes on for ever, as in "
                  "'%s', is not seen to lose for ever: values may not exist",
                  name[s]);
}

/* Mark the states in which everything is over (control->ended), and check that the variant selected
 * has a value: from everywhere some policy ends, and one that does not loses for ever. IDM_INPUT
 * with the reason where it has none, or where that cannot be told. */
static idm_status idm_control_check_ssp(control *c, idm_error *opt_error)
{
  const size_t states = c->sizes.states;
  if (!c->lattice->corners || c->models > 1 || signbit(c->numbers.alpha) || c->numbers.eta != 0)
    return idm_fail(opt_error, IDM_INPUT,
                    "a discount of 1 without a horizon needs states that are observed, one model, "
                    "alpha of at least 0 and eta 0");
  if (!c->absorbing) c->absorbing = idm_new(states, sizeof *c->absorbing);
  bool *mark = idm_new(states, sizeof *mark);
  double *room = idm_new(2 * states, sizeof *room);
  const idm_status status =
      c->absorbing && mark && room ? check(c, mark, room, opt_error) : idm_fail_memory(opt_error);
  free(mark);
  free(room);
  return status;
}

/* --- solving -------------------------------------------------------------------------------- */

static double size_of(const backup_output *out)
{
  return fmax(fabs(out->lowest), fabs(out->highest));
}

/* The most steps that the policy in control->mix takes on average: (I - P) n = 1. */
static double max_expected_steps(control *c, double *n, double *one, double *work)
{
  for (size_t i = 0; i < c->padded; i++) one[i] = i < c->sizes.states && !c->absorbing[i] ? 1 : 0;
  idm_gmres(c->padded, idm_control_derivative, c, one, n, 1e-3, c->basis, 4000, work, NULL);
  double max_value = 1;
  for (size_t s = 0; s < c->sizes.states; s++) max_value = fmax(max_value, n[s]);
  return max_value;
}

/* With d = B*V - V: the policy of B*V takes `steps` steps at most, so that V* is no further below
 * than steps |d|. An optimal one that costs at least `cost` a step, and earns no more than `prize`
 * at its end, takes (prize - V) / cost, which bounds how far V* is above. */
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

/* Scratch, cut from control->vector. */
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

/* step = v + (I - P)^-1 (backup - v), the value of the policy in control->mix where it ends. */
static void evaluate(control *c, const ssp_vectors *w, idm_plan_report *report)
{
  enum { max_products = 4000 };
  for (size_t i = 0; i < c->padded; i++) w->gap[i] = w->backup[i] - w->v[i];
  idm_gmres(c->padded, idm_control_derivative, c, w->gap, w->step, 1e-12, c->basis, max_products,
            w->work, &report->sweeps);
  for (size_t i = 0; i < c->padded; i++) w->step[i] += w->v[i];
}

/* The value of a policy that takes every action as the prior has it, and so ends. */
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

/* Policy iteration: what improves on a policy that ends, ends too. A value that is none of a policy
 * (where the linear solve went astray) shows by B*V < V, and a sweep takes its place. */
/* V = B*V of the variant selected, in scratch of the control. The bound is known where every step
 * before the end costs something, else infinite. */
static const double *idm_control_solve_ssp(control *c, const idm_solver *solver,
                                           idm_plan_report *report)
{
  static const double slack = 1e-8; /* of the linear solve, by the size of values */
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
 * 1e-3 spends the least in steps and products together; the last step needs no more than what the
 * tolerance asks. */
static const double forcing = 1e-3;
/* The same where products are preconditioned, and few. */
static const double preconditioned_forcing = 1e-5;
/* Shifted sweeps before the first Newton step of a cold start. */
enum { first_sweeps = 2 };
/* Products with the derivative that a Newton step may spend. */
enum { max_products = 400 };

/* Vectors in control->vector. */
typedef struct vectors {
  double *v;      /* the iterate */
  double *backup; /* B*V */
  double *trial;
  double *trial_backup;
  double *step;
  double *work; /* of GMRES; before it, control->vector has one of preconditioned products */
} vectors;

static vectors vectors_of(const control *c)
{
  double *first = c->vector;
  const size_t n = c->padded;
  return (vectors){first,         first + n,     first + 2 * n,
                   first + 3 * n, first + 4 * n, first + CONTROL_VECTORS * n};
}

/* --- bounds --------------------------------------------------------------------------------- */

/* What is known after one backup: V* lies in B*V + centre +- radius. */
typedef struct certificate {
  double centre;
  double radius;
  double rounding; /* what the arithmetic may add, by the size of the terms that make up a value */
} certificate;

/* V* in B*V + gamma/(1-gamma) [min d, max d]; where an action is terminal B* is not
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

/* How much of an error in V the policies bear: they are functions of V/alpha and V/beta. */
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

/* Whether to stop; the reason goes into the report. */
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

/* Plain or shifted sweeps from w.v until certified, or `limit` sweeps. The answer is left in w.v.
 * The plain iteration certifies what it returns, B*V itself, by gamma/(1-gamma) max|d|. */
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
    /* With terminal actions a shift is only safe at the end: repeated, it may overshoot for ever.
     */
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

/* --- holding the decision policy ------------------------------------------------------------ */

/* With pi held the operator is convex or concave, so Newton in sigma alone climbs to its fixed
 * point; then pi is renewed. This is policy iteration for a game (Hoffman and Karp 1966), and is
 * what unlike signs need. */
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

/* Alternate held solves and shifted sweeps until the certificate holds. */
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

/* --- the stationary problem ----------------------------------------------------------------- */

/* Newton from w->v. Tables of the policy are written along with the trial that may be the last;
 * returns whether they are those of the answer. */
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
    /* A step gains what the linear solve was asked for, and more near the end: is this the last? */
    tables_current = certify(c, out).radius * forcing <= 10 * target(c, solver, out);
    if (tables_current) idm_control_tables(c, variant, 0, &trial);
    idm_control_backup(c, w->trial, false, &trial);
    report->sweeps++;
    /* Accept a step only if the bound shrinks. */
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

/* Leave the solution in the variant's layer, and the tables of its policies unless they are there.
 */
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

/* A combination of solutions kept. */
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
  /* Where nothing is paid V* is 0: no error is small against that, so that no other start ends. */
  const bool cold_start =
      c->largest == 0 || (solver->slots < 0 ? !c->solved[variant] : solver->slots == 0);
  if (cold_start)
    memset(w.v, 0, c->padded * sizeof *w.v);
  else if (solver->slots > 0)
    combine_stored(c, variant, solver, w.v);
  else
    memcpy(w.v, control_layer(c, variant, 1), c->padded * sizeof *w.v);
  /* From nothing, a shifted sweep or two cost less than the Newton step they save. */
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

/* --- episodes that end by themselves -------------------------------------------------------- */

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
    return idm_fail(opt_error, IDM_USAGE, "%d solutions to start from, and %zu are kept",
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
