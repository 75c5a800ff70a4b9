/* Newton's method for the smooth program of regularised-margin; steps by conjugate gradients on
 * Hessian-vector products (Newton-CG). */
#include "invert/utility/soft_plan.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"

enum { max_steps = 300, max_halvings = 50, patience = 4 };

/* Smaller entries of a gradient, in units of the number's largest coefficient, are rounding errors:
 * occupancies sum to 1. */
static const double gradient_floor = 1e-14;
/* Gradient below which stalled progress counts as convergence. */
static const double gradient_tolerance = 1e-9;

/* Smaller curvature, as a share of the largest, is rounding error. */
static const double min_curvature = 1e-12;

typedef struct descent {
  const idm_smooth_margin *margin;
  size_t n;
  double *x; /* [n], as all below except the last three */
  double *gradient;
  double *step;
  double *trial;
  double *trial_gradient;
  double *best;
  double *residual;
  double *direction;
  double *product;
  double *preconditioner; /* approximate inverse of the Hessian's diagonal */
  double *unit;           /* unit of the gradient's entries: largest coefficient of the number */
  double gradient_noise;  /* rounding error of a gradient */
  double *entry;          /* [entry]: a direction, */
  double *change;         /* [entry]: and its Hessian product */
} descent;

static double dot(size_t n, const double *a, const double *b)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Sum of squares of the entries of a gradient, each in its unit. */
static double scaled_square(const descent *d, const double *gradient)
{
  double sum = 0;
  for (size_t i = 0; i < d->n; i++) sum += pow(gradient[i] / d->unit[i], 2);
  return sum;
}

/* Largest entry of a gradient, each in its unit. */
static double scaled_norm(const descent *d, const double *gradient)
{
  double most = 0;
  for (size_t i = 0; i < d->n; i++) most = fmax(most, fabs(gradient[i]) / d->unit[i]);
  return most;
}

/* --- derivatives ---------------------------------------------------------------------------- */

static idm_status evaluate(const idm_smooth_margin *m, const double *x, double *objective,
                           double *gradient, double *utility, double *derivative,
                           idm_error *opt_error)
{
  const idm_free_utility *free_utility = m->free_utility;
  idm_free_utility_fill(free_utility, x, utility);
  const idm_status status = idm_soft_plan_solve(m->plan, utility, objective, opt_error);
  if (status != IDM_OK) return status;
  idm_soft_plan_occupancy(m->plan, derivative);
  for (size_t e = 0; e < free_utility->entries; e++) {
    *objective -= m->demonstrated[e] * utility[e];
    derivative[e] -= m->demonstrated[e];
  }
  *objective += dot(free_utility->count, x, x) / (2 * m->lambda);
  idm_free_utility_backward(free_utility, derivative, gradient);
  for (size_t i = 0; i < free_utility->count; i++) gradient[i] += x[i] / m->lambda;
  return IDM_OK;
}

idm_status idm_smooth_margin_evaluate(const idm_smooth_margin *margin, const double *x,
                                      double *objective, double *gradient, idm_error *opt_error)
{
  const size_t entries = margin->free_utility->entries;
  double *work = idm_new(2 * entries, sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  const idm_status status =
      evaluate(margin, x, objective, gradient, work, work + entries, opt_error);
  free(work);
  return status;
}

/* product = (d mu / d x + 1 / lambda) direction. */
static void hessian_product(const descent *d)
{
  const idm_free_utility *free_utility = d->margin->free_utility;
  idm_free_utility_apply(free_utility, d->direction, d->entry);
  idm_soft_plan_hessian_product(d->margin->plan, d->entry, d->change);
  idm_free_utility_backward(free_utility, d->change, d->product);
  for (size_t i = 0; i < d->n; i++) d->product[i] += d->direction[i] / d->margin->lambda;
}

/* --- steps ---------------------------------------------------------------------------------- */

/* Diagonal preconditioner by the occupancy of the number's entries. Without a penalty it is that of
 * weights in units of their features (the identity without features), so that steps stay in the
 * range of the Hessian in these units. */
static void set_preconditioner(const descent *d)
{
  const idm_smooth_margin *m = d->margin;
  idm_soft_plan_occupancy(m->plan, d->change);
  idm_free_utility_backward(m->free_utility, d->change, d->preconditioner);
  /* Features can have either sign, so their sums do not estimate curvature. */
  for (size_t i = 0; i < d->n; i++)
    if (isinf(m->lambda))
      d->preconditioner[i] = 1 / (d->unit[i] * d->unit[i]);
    else if (m->free_utility->features)
      d->preconditioner[i] = 1;
    else
      d->preconditioner[i] = 1 / (1 / m->lambda + d->preconditioner[i] / m->plan->alpha);
}

/* step = -H^-1 gradient by conjugate gradients, to a tolerance that tightens towards convergence.
 * Without a penalty H can be singular; gradients are orthogonal to its null space, so steps are
 * too, and the solution has least norm. Rounding errors in the null space must not be amplified:
 * hence the two stopping rules besides the tolerance. */
static idm_status find_step(const descent *d, double tolerance, idm_error *opt_error)
{
  const size_t n = d->n;
  memset(d->step, 0, n * sizeof *d->step);
  for (size_t i = 0; i < n; i++) {
    d->residual[i] = -d->gradient[i];
    d->direction[i] = d->preconditioner[i] * d->residual[i];
  }
  double preconditioned_square = dot(n, d->residual, d->direction);
  double squared_residual = scaled_square(d, d->residual);
  const double residual_goal =
      fmax(tolerance * tolerance * squared_residual, d->gradient_noise * d->gradient_noise);
  const size_t limit = 4 * n + 50;
  double max_curvature = 0;
  for (size_t k = 0; k < limit && squared_residual > residual_goal; k++) {
    const idm_status status = idm_cancel_check(d->margin->opt_cancel, opt_error);
    if (status != IDM_OK) return status;
    hessian_product(d);
    const double curvature = dot(n, d->direction, d->product);
    double length = 0; /* in the norm of the preconditioner */
    for (size_t i = 0; i < n; i++)
      length += d->direction[i] * d->direction[i] / d->preconditioner[i];
    max_curvature = fmax(max_curvature, curvature / length);
    if (!(curvature > min_curvature * max_curvature * length)) break;
    const double by = preconditioned_square / curvature;
    for (size_t i = 0; i < n; i++) {
      d->step[i] += by * d->direction[i];
      d->residual[i] -= by * d->product[i];
    }
    double next = 0;
    for (size_t i = 0; i < n; i++) next += d->preconditioner[i] * d->residual[i] * d->residual[i];
    for (size_t i = 0; i < n; i++)
      d->direction[i] =
          d->preconditioner[i] * d->residual[i] + next / preconditioned_square * d->direction[i];
    preconditioned_square = next;
    squared_residual = scaled_square(d, d->residual);
  }
  return IDM_OK;
}

/* Backtracks along the step until the objective decreases sufficiently or, if its change is below
 * rounding, the gradient decreases. *moved is false if neither happens. */
static idm_status line_search(descent *d, double *objective, bool *moved, idm_error *opt_error)
{
  const double derivative = dot(d->n, d->gradient, d->step);
  const double before = scaled_norm(d, d->gradient);
  const double gradient_noise = 1e-13 * (1 + fabs(*objective));
  double length = 1;
  *moved = false;
  for (int k = 0; k < max_halvings && derivative < 0; k++, length /= 2) {
    double value;
    for (size_t i = 0; i < d->n; i++) d->trial[i] = d->x[i] + length * d->step[i];
    const idm_status status =
        evaluate(d->margin, d->trial, &value, d->trial_gradient, d->entry, d->change, opt_error);
    if (status != IDM_OK) return status;
    const bool lower = value <= *objective + 1e-4 * length * derivative;
    const bool gradient_falls =
        value <= *objective + gradient_noise && scaled_norm(d, d->trial_gradient) < before;
    if (!lower && !gradient_falls) continue;
    memcpy(d->x, d->trial, d->n * sizeof *d->x);
    memcpy(d->gradient, d->trial_gradient, d->n * sizeof *d->x);
    *objective = value;
    *moved = true;
    break;
  }
  return IDM_OK;
}

static idm_status descend(descent *d, idm_error *opt_error)
{
  double objective;
  double least = INFINITY;
  double halving_mark = INFINITY; /* gradient at which progress was last recorded */
  int stalled = 0;
  bool moved = true;
  idm_status status =
      evaluate(d->margin, d->x, &objective, d->gradient, d->entry, d->change, opt_error);
  const double first = scaled_norm(d, d->gradient);
  for (int k = 0; k < max_steps && status == IDM_OK; k++) {
    const double now = scaled_norm(d, d->gradient);
    stalled++;
    if (now < 0.5 * halving_mark) {
      halving_mark = now;
      stalled = 0;
    }
    if (now < least) {
      least = now;
      memcpy(d->best, d->x, d->n * sizeof *d->x);
    }
    if (!moved || now <= gradient_floor || (stalled >= patience && least <= gradient_tolerance))
      break;
    set_preconditioner(d);
    status = find_step(d, fmax(1e-10, fmin(0.1, now / first)), opt_error);
    if (status == IDM_OK) status = line_search(d, &objective, &moved, opt_error);
  }
  return status;
}

/* Minimum-norm solution: solves H y = H x by conjugate gradients from 0, which stay in the range of
 * H. This removes rounding errors in the null space of H that accumulate over Newton steps. */
static idm_status minimum_norm(descent *d, double *x, idm_error *opt_error)
{
  double objective;
  idm_status status =
      evaluate(d->margin, x, &objective, d->gradient, d->entry, d->change, opt_error);
  if (status != IDM_OK) return status;
  memcpy(d->direction, x, d->n * sizeof *x);
  hessian_product(d);
  for (size_t i = 0; i < d->n; i++) d->gradient[i] = -d->product[i];
  set_preconditioner(d);
  status = find_step(d, 1e-13, opt_error);
  if (status == IDM_OK) memcpy(x, d->step, d->n * sizeof *x);
  return status;
}

idm_status idm_smooth_margin_minimise(const idm_smooth_margin *margin, double *x, double *objective,
                                      double *derivative, idm_error *opt_error)
{
  const size_t n = margin->free_utility->count;
  const size_t entries = margin->free_utility->entries;
  double *work = idm_new(idm_times(11, n) + 2 * entries, sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  descent d = {.margin = margin, .n = n};
  double **const part[] = {&d.x,    &d.gradient, &d.step,      &d.trial,   &d.trial_gradient,
                           &d.best, &d.residual, &d.direction, &d.product, &d.preconditioner,
                           &d.unit};
  for (size_t i = 0; i < 11; i++) *part[i] = work + i * n;
  d.entry = work + 11 * n;
  d.change = d.entry + entries;
  idm_free_utility_sizes(margin->free_utility, d.unit);
  idm_free_utility_backward(margin->free_utility, margin->demonstrated, d.step);
  d.gradient_noise = 16 * DBL_EPSILON * sqrt(scaled_square(&d, d.step));
  idm_status status = descend(&d, opt_error);
  if (status == IDM_OK) {
    memcpy(x, d.best, n * sizeof *x);
    if (isinf(margin->lambda)) status = minimum_norm(&d, x, opt_error);
  }
  if (status == IDM_OK) {
    status = evaluate(margin, x, objective, d.gradient, d.entry, d.change, opt_error);
    *derivative = scaled_norm(&d, d.gradient);
  }
  free(work);
  return status;
}
