/* Solving V = B*V with a certified bound: Newton, and the sweeps it falls back on.
 *
 * Newton is soft policy iteration: GMRES solves (I - gamma P) d = B*V - V to 1e-3 (a quarter fewer
 * products than BiCGStab). A step is kept if the certified bound shrinks; else the decision policy
 * is held (Hoffman and Karp), then shifted sweeps. With terminal actions B* is not
 * shift-equivariant: the interval around V* is widened to hold 0. Ties are within 1e-12.
 *
 * Contents: bounds · sweeps · Newton · holding the decision policy · backward induction · all
 * variants */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/krylov.h"
#include "plan/control/backup.h"
#include "plan/control/delay.h"
#include "plan/control/endless.h"
#include "plan/control/precondition.h"
#include "plan/control/solve.h"

/* Relative residual of the linear solve in a Newton step. Measured on DIAG and at 5,000 points:
 * 1e-3 spends the least in steps and products together; the last step needs no more than what the
 * tolerance asks. */
static const double forcing = 1e-3;
/* The same where products are preconditioned, and few. */
static const double preconditioned_forcing = 1e-5;
/* Shifted sweeps before the first Newton step of a cold start. */
enum { first_sweeps = 2 };
/* Products with the derivative that a Newton step may spend. */
enum { most_products = 400 };

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
  double enough = c->agent.tolerance * fmax(c->largest, out->size);
  const double temperatures[] = {c->numbers.alpha, c->numbers.beta, c->numbers.temperature};
  for (size_t i = 0; i < sizeof temperatures / sizeof temperatures[0]; i++)
    if (temperatures[i] != 0) enough = fmin(enough, policy_error * fabs(temperatures[i]));
  return enough;
}

/* Whether to stop; the reason goes into the report. */
static bool reached(const control *c, const idm_solver *solver, const backup_output *out,
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
static void move(const control *c, const double *backup, double shift, double *v)
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
      done = reached(c, solver, out, report);
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
    move(c, w.backup, done || !c->any_terminal ? at.centre : 0, w.v);
    if (done) return true;
  }
  return false;
}

static void solve_by_sweeps(control *c, const idm_solver *solver, vectors w, backup_output *out,
                            idm_plan_report *report)
{
  const long before = report->sweeps;
  const bool done = sweep(c, solver, solver->method == IDM_SHIFTED, solver->limit, w, out, report);
  report->iterations += report->sweeps - before;
  if (!done) report->stop = IDM_STOP_LIMIT;
}

/* --- Newton --------------------------------------------------------------------------------- */

/* trial = v + (I - gamma P)^-1 (B*V - V), with P as left in control->mix by the last backup at v.
 */
static void newton_step(control *c, double radius, double enough, const vectors *w,
                        idm_plan_report *report)
{
  double *d = w->trial_backup;
  for (size_t i = 0; i < c->padded; i++) d[i] = w->backup[i] - w->v[i];
  idm_control_fold(c);
  const double least = c->preconditioner ? preconditioned_forcing : forcing;
  const double tolerance = fmin(0.1, fmax(least, 0.1 * enough / radius));
  idm_gmres(c->padded, c->preconditioner ? idm_control_preconditioned : idm_control_derivative, c,
            d, w->step, tolerance, c->basis, most_products, w->work, &report->sweeps);
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
static void solve_held(control *c, const idm_solver *solver, vectors *w, backup_output *out,
                       idm_plan_report *report)
{
  enum { most_steps = 30 };
  idm_control_hold(c, w->v);
  backup_output held = {.mix = true};
  for (int i = 0; i < most_steps; i++) {
    held.value = w->backup;
    idm_control_backup(c, w->v, true, &held);
    report->sweeps++;
    const certificate at = certify(c, &held);
    if (at.radius + at.rounding <= 0.1 * target(c, solver, &held) || at.radius <= at.rounding)
      break;
    newton_step(c, at.radius, 0.1 * target(c, solver, &held), w, report);
    memcpy(w->v, w->trial, c->padded * sizeof *w->v);
  }
  out->value = w->backup;
  idm_control_backup(c, w->v, false, out);
  report->sweeps++;
}

/* Alternate held solves and shifted sweeps until the certificate holds. */
static bool solve_stubborn(control *c, const idm_solver *solver, vectors *w, backup_output *out,
                           idm_plan_report *report)
{
  enum { most_rounds = 40, most_sweeps = 1000000 };
  for (int i = 0; i < most_rounds; i++) {
    solve_held(c, solver, w, out, report);
    if (reached(c, solver, out, report)) return true;
  }
  const bool done = sweep(c, solver, true, most_sweeps, *w, out, report);
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
  bool done = reached(c, solver, out, report);
  bool fresh = false;
  for (long i = 0; !done && i < solver->limit; i++) {
    newton_step(c, certify(c, out).radius, target(c, solver, out), w, report);
    backup_output trial = {.value = w->trial_backup, .mix = true};
    /* A step gains what the linear solve was asked for, and more near the end: is this the last? */
    fresh = certify(c, out).radius * forcing <= 10 * target(c, solver, out);
    if (fresh) idm_control_tables(c, variant, 0, &trial);
    idm_control_backup(c, w->trial, false, &trial);
    report->sweeps++;
    /* Accept a step only if the bound shrinks. */
    if (isfinite(trial.size) && trial.lowest <= trial.highest &&
        certify(c, &trial).radius < certify(c, out).radius) {
      accept(w);
      *out = trial;
      done = reached(c, solver, out, report);
      continue;
    }
    fresh = false;
    done = certify(c, out).radius <= 64 * certify(c, out).rounding;
    if (!done) done = solve_stubborn(c, solver, w, out, report);
    break;
  }
  if (!done) report->stop = IDM_STOP_LIMIT;
  move(c, w->backup, certify(c, out).centre, w->v);
  return fresh && c->quality;
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
static void blend(const control *c, size_t variant, const idm_solver *solver, double *v)
{
  const size_t one = c->variants * c->padded;
  const double *kept = c->kept + variant * c->padded;
  for (size_t i = 0; i < c->padded; i++) v[i] = solver->weights[0] * kept[i];
  for (int k = 1; k < solver->slots; k++) {
    kept += one;
    if (solver->weights[k] == 0) continue;
    for (size_t i = 0; i < c->padded; i++) v[i] += solver->weights[k] * kept[i];
  }
}

static void solve_stationary(control *c, size_t variant, const idm_solver *solver,
                             idm_plan_report *report)
{
  vectors w = vectors_of(c);
  backup_output out = {0};
  bool tables = false;
  /* Where nothing is paid V* is 0: no error is small against that, so that no other start ends. */
  const bool cold =
      c->largest == 0 || (solver->slots < 0 ? !c->solved[variant] : solver->slots == 0);
  if (cold)
    memset(w.v, 0, c->padded * sizeof *w.v);
  else if (solver->slots > 0)
    blend(c, variant, solver, w.v);
  else
    memcpy(w.v, control_layer(c, variant, 1), c->padded * sizeof *w.v);
  /* From nothing, a shifted sweep or two cost less than the Newton step they save. */
  if (cold && solver->method == IDM_NEWTON) sweep(c, solver, true, first_sweeps, w, &out, report);
  if (solver->method == IDM_NEWTON)
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
  if (c->follow) {
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

static idm_status solve_endless(control *c, size_t variant, const idm_solver *solver,
                                idm_plan_report *report, idm_error *opt_error)
{
  const idm_status status = idm_control_check_endless(c, opt_error);
  if (status != IDM_OK) return status;
  store(c, variant, idm_control_solve_endless(c, solver, report), false);
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
      const idm_status status = solve_endless(c, variant, solver, &one, opt_error);
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
