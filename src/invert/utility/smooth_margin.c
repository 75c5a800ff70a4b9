/* Newton's method for a convex program whose second derivative is known by its products: conjugate
 * gradients find the step. */
#include "invert/utility/smooth_margin.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"

enum { most_steps = 300, most_halvings = 50, patience = 4 };

/* Entries of a gradient below this are rounding: occupancies sum to 1. */
static const double floor_of_slope = 1e-14;
/* What is left of the slope when steps that no longer lower it are taken as the end. */
static const double good_slope = 1e-9;

/* Curvature below this share of the largest is rounding. */
static const double least_curvature = 1e-12;

typedef struct descent {
  const idm_smooth_margin *margin;
  size_t n;
  double *x; /* [n], as all below but the last two */
  double *gradient;
  double *step;
  double *trial;
  double *trial_gradient;
  double *best;
  double *residual;
  double *direction;
  double *product;
  double *ease;   /* about the inverse of the diagonal of the second derivative */
  double noise;   /* what of a gradient is rounding */
  double *entry;  /* [entry]: of a direction, */
  double *change; /* [entry]: and of what it changes */
} descent;

static double dot(size_t n, const double *a, const double *b)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static double largest(size_t n, const double *x)
{
  double most = 0;
  for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

/* --- derivatives ---------------------------------------------------------------------------- */

static idm_status evaluate(const idm_smooth_margin *m, const double *x, double *objective,
                           double *gradient, double *utility, double *slope, idm_error *opt_error)
{
  const idm_sought *sought = m->sought;
  idm_sought_fill(sought, x, utility);
  const idm_status status = idm_soft_plan_solve(m->plan, utility, objective, opt_error);
  if (status != IDM_OK) return status;
  idm_soft_plan_occupancy(m->plan, slope);
  for (size_t e = 0; e < sought->entries; e++) {
    *objective -= m->demonstrated[e] * utility[e];
    slope[e] -= m->demonstrated[e];
  }
  *objective += dot(sought->count, x, x) / (2 * m->lambda);
  idm_sought_pull(sought, slope, gradient);
  for (size_t i = 0; i < sought->count; i++) gradient[i] += x[i] / m->lambda;
  return IDM_OK;
}

idm_status idm_smooth_margin_evaluate(const idm_smooth_margin *margin, const double *x,
                                      double *objective, double *gradient, idm_error *opt_error)
{
  const size_t entries = margin->sought->entries;
  double *work = idm_new(2 * entries, sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  const idm_status status =
      evaluate(margin, x, objective, gradient, work, work + entries, opt_error);
  free(work);
  return status;
}

/* product = (d mu / d x + 1 / lambda) direction. */
static void multiply(const descent *d)
{
  const idm_sought *sought = d->margin->sought;
  idm_sought_push(sought, d->direction, d->entry);
  idm_soft_plan_bend(d->margin->plan, d->entry, d->change);
  idm_sought_pull(sought, d->change, d->product);
  for (size_t i = 0; i < d->n; i++) d->product[i] += d->direction[i] / d->margin->lambda;
}

/* --- steps ---------------------------------------------------------------------------------- */

/* A number weighs as much as the states are visited that it is the utility of. Without a price all
 * are taken alike: steps must stay where gradients are. */
static void set_ease(const descent *d)
{
  const idm_smooth_margin *m = d->margin;
  idm_soft_plan_occupancy(m->plan, d->change);
  idm_sought_pull(m->sought, d->change, d->ease);
  /* Features may have either sign, and sums of them say nothing of curvature. */
  const bool alike = isinf(m->lambda) || m->sought->features;
  for (size_t i = 0; i < d->n; i++)
    d->ease[i] = alike ? 1 : 1 / (1 / m->lambda + d->ease[i] / m->plan->alpha);
}

/* step = -H^-1 gradient by conjugate gradients, as exactly as is worth it so far from the end.
 * Without a price H may be singular; gradients have no part in its null space, so that neither have
 * steps, and the numbers found are the least ones. What rounding puts there must not be followed:
 * hence the two ends of the search beside the one asked for. */
static idm_status find_step(const descent *d, double tolerance, idm_error *opt_error)
{
  const size_t n = d->n;
  memset(d->step, 0, n * sizeof *d->step);
  for (size_t i = 0; i < n; i++) {
    d->residual[i] = -d->gradient[i];
    d->direction[i] = d->ease[i] * d->residual[i];
  }
  double square = dot(n, d->residual, d->direction);
  double left = dot(n, d->residual, d->residual);
  const double asked = fmax(tolerance * tolerance * left, d->noise * d->noise);
  const size_t limit = 4 * n + 50;
  double stiffest = 0;
  for (size_t k = 0; k < limit && left > asked; k++) {
    const idm_status status = idm_halt_check(d->margin->opt_halt, opt_error);
    if (status != IDM_OK) return status;
    multiply(d);
    const double curvature = dot(n, d->direction, d->product);
    double length = 0; /* in the scale of `ease` */
    for (size_t i = 0; i < n; i++) length += d->direction[i] * d->direction[i] / d->ease[i];
    stiffest = fmax(stiffest, curvature / length);
    if (!(curvature > least_curvature * stiffest * length)) break;
    const double by = square / curvature;
    for (size_t i = 0; i < n; i++) {
      d->step[i] += by * d->direction[i];
      d->residual[i] -= by * d->product[i];
    }
    double next = 0;
    for (size_t i = 0; i < n; i++) next += d->ease[i] * d->residual[i] * d->residual[i];
    for (size_t i = 0; i < n; i++)
      d->direction[i] = d->ease[i] * d->residual[i] + next / square * d->direction[i];
    square = next;
    left = dot(n, d->residual, d->residual);
  }
  return IDM_OK;
}

/* Go along the step as far as the objective falls, or where that is below rounding as the slope
 * does. *moved is false where neither happens. */
static idm_status walk(descent *d, double *objective, bool *moved, idm_error *opt_error)
{
  const double slope = dot(d->n, d->gradient, d->step);
  const double before = largest(d->n, d->gradient);
  const double noise = 1e-13 * (1 + fabs(*objective));
  double length = 1;
  *moved = false;
  for (int k = 0; k < most_halvings && slope < 0; k++, length /= 2) {
    double value;
    for (size_t i = 0; i < d->n; i++) d->trial[i] = d->x[i] + length * d->step[i];
    const idm_status status =
        evaluate(d->margin, d->trial, &value, d->trial_gradient, d->entry, d->change, opt_error);
    if (status != IDM_OK) return status;
    const bool lower = value <= *objective + 1e-4 * length * slope;
    const bool flatter = value <= *objective + noise && largest(d->n, d->trial_gradient) < before;
    if (!lower && !flatter) continue;
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
  double mark = INFINITY; /* where it was when it last had become half */
  int stale = 0;
  bool moved = true;
  idm_status status =
      evaluate(d->margin, d->x, &objective, d->gradient, d->entry, d->change, opt_error);
  const double first = largest(d->n, d->gradient);
  for (int k = 0; k < most_steps && status == IDM_OK; k++) {
    const double now = largest(d->n, d->gradient);
    stale++;
    if (now < 0.5 * mark) {
      mark = now;
      stale = 0;
    }
    if (now < least) {
      least = now;
      memcpy(d->best, d->x, d->n * sizeof *d->x);
    }
    if (!moved || now <= floor_of_slope || (stale >= patience && least <= good_slope)) break;
    set_ease(d);
    status = find_step(d, fmax(1e-10, fmin(0.1, now / first)), opt_error);
    if (status == IDM_OK) status = walk(d, &objective, &moved, opt_error);
  }
  return status;
}

/* The least x among those that differ by what changes nothing: H y = H x, by conjugate gradients
 * from 0, stays where H leads. Steps near the end are mostly rounding, some of it along what H does
 * not see, and they add up. */
static idm_status shorten(descent *d, double *x, idm_error *opt_error)
{
  double objective;
  idm_status status =
      evaluate(d->margin, x, &objective, d->gradient, d->entry, d->change, opt_error);
  if (status != IDM_OK) return status;
  memcpy(d->direction, x, d->n * sizeof *x);
  multiply(d);
  for (size_t i = 0; i < d->n; i++) d->gradient[i] = -d->product[i];
  set_ease(d);
  status = find_step(d, 1e-13, opt_error);
  if (status == IDM_OK) memcpy(x, d->step, d->n * sizeof *x);
  return status;
}

idm_status idm_smooth_margin_minimise(const idm_smooth_margin *margin, double *x, double *objective,
                                      double *slope, idm_error *opt_error)
{
  const size_t n = margin->sought->count;
  const size_t entries = margin->sought->entries;
  double *work = idm_new(idm_times(10, n) + 2 * entries, sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  descent d = {.margin = margin, .n = n};
  double **const part[] = {&d.x,    &d.gradient, &d.step,      &d.trial,   &d.trial_gradient,
                           &d.best, &d.residual, &d.direction, &d.product, &d.ease};
  for (size_t i = 0; i < 10; i++) *part[i] = work + i * n;
  d.entry = work + 10 * n;
  d.change = d.entry + entries;
  idm_sought_pull(margin->sought, margin->demonstrated, d.step);
  d.noise = 16 * DBL_EPSILON * sqrt(dot(n, d.step, d.step));
  idm_status status = descend(&d, opt_error);
  if (status == IDM_OK) {
    memcpy(x, d.best, n * sizeof *x);
    if (isinf(margin->lambda)) status = shorten(&d, x, opt_error);
  }
  if (status == IDM_OK) {
    status = evaluate(margin, x, objective, d.gradient, d.entry, d.change, opt_error);
    *slope = largest(n, d.gradient);
  }
  free(work);
  return status;
}
