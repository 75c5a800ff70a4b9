/* Maximisation by L-BFGS (Nocedal 1980) with the weak Wolfe line search of Lewis and Overton
 * (2013), which requires no smoothness along the line and therefore tolerates kinks and ends of the
 * support; and pattern search. */
#include "infer/approximation.h"

#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "infer/chains.h"

enum { memory = 8, max_trials = 60, patience = 5 };
/* Constants of the Wolfe conditions. */
static const double sufficient_increase = 1e-4, curvature_fraction = 0.9;

typedef struct lbfgs {
  const idm_target *target;
  size_t n;
  double tolerance; /* smallest increase of interest */
  double density;   /* at x */
  double *x;        /* [n], like all vectors below */
  double *gradient; /* at x */
  double *trial;    /* trial point */
  double *trial_gradient;
  double trial_density;
  double *best; /* point with the highest density so far */
  double best_density;
  double *direction;
  double *steps;             /* [memory][n]: differences of x */
  double *gradient_changes;  /* [memory][n]: differences of minus the gradient */
  double rho[memory];        /* 1 / inner products of the two */
  double *inverse_curvature; /* diagonal of the initial inverse Hessian */
  int pairs;
  int newest;
} lbfgs;

static double dot(size_t n, const double *x, const double *y)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

static double largest(size_t n, const double *x)
{
  double max_abs = 0;
  for (size_t i = 0; i < n; i++) max_abs = fmax(max_abs, fabs(x[i]));
  return max_abs;
}

/* Rounding error of a difference of log densities. */
static double noise(double density)
{
  return 1e-9 + 1e-13 * fabs(density);
}

/* --- evaluation ----------------------------------------------------------------------------- */

/* Central differences for a target without a gradient; one-sided at an end of the support. */
static idm_status difference_gradient(const idm_target *target, double *x, double density,
                                      double *gradient, idm_error *opt_error)
{
  for (size_t i = 0; i < target->dimension; i++) {
    const double centre = x[i], h = 1e-4 * fmax(1, fabs(centre));
    double at[2];
    idm_status status = IDM_OK;
    for (int side = 0; side < 2 && status == IDM_OK; side++) {
      x[i] = centre + (side ? h : -h);
      status = idm_target_evaluate(target, x, &at[side], NULL, opt_error);
    }
    x[i] = centre;
    if (status != IDM_OK) return status;
    double width = 2 * h;
    for (int side = 0; side < 2; side++) {
      if (isfinite(at[side])) continue;
      at[side] = density;
      width -= h;
    }
    gradient[i] = width > 0 ? (at[1] - at[0]) / width : 0;
  }
  return IDM_OK;
}

/* Density and gradient at the trial point. A non-finite gradient sets the density to -inf. */
static idm_status evaluate_trial(lbfgs *c, idm_error *opt_error)
{
  double *gradient = c->trial_gradient;
  idm_status status = idm_target_evaluate(c->target, c->trial, &c->trial_density,
                                          c->target->gradient ? gradient : NULL, opt_error);
  if (status != IDM_OK || c->trial_density == -INFINITY) return status;
  if (!c->target->gradient)
    status = difference_gradient(c->target, c->trial, c->trial_density, gradient, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < c->n; i++)
    if (!isfinite(gradient[i])) c->trial_density = -INFINITY;
  if (c->trial_density > c->best_density) {
    c->best_density = c->trial_density;
    memcpy(c->best, c->trial, c->n * sizeof(double));
  }
  return IDM_OK;
}

static idm_status try_length(lbfgs *c, double length, idm_error *opt_error)
{
  for (size_t i = 0; i < c->n; i++) c->trial[i] = c->x[i] + length * c->direction[i];
  return evaluate_trial(c, opt_error);
}

/* --- search direction ------------------------------------------------------------------------ */

/* direction = H gradient by the two-loop recursion (Nocedal 1980). */
static void find_direction(lbfgs *c)
{
  const size_t n = c->n;
  double *d = c->direction, weight[memory];
  memcpy(d, c->gradient, n * sizeof(double));
  for (int k = 0; k < c->pairs; k++) {
    const size_t at = (size_t)((c->newest - k + memory) % memory);
    weight[at] = c->rho[at] * dot(n, c->steps + at * n, d);
    for (size_t i = 0; i < n; i++) d[i] -= weight[at] * c->gradient_changes[at * n + i];
  }
  for (size_t i = 0; c->pairs && i < n; i++) d[i] *= c->inverse_curvature[i];
  for (int k = c->pairs; k-- > 0;) {
    const size_t at = (size_t)((c->newest - k + memory) % memory);
    const double beta = c->rho[at] * dot(n, c->gradient_changes + at * n, d);
    for (size_t i = 0; i < n; i++) d[i] += (weight[at] - beta) * c->steps[at * n + i];
  }
}

/* Update the diagonal initial matrix of the recursion by the diagonal of its BFGS update (Gilbert
 * and Lemarechal 1989), which adapts to coordinates of different scales. */
static void update_diagonal(lbfgs *c, const double *displacement, const double *gradient_change,
                            double product)
{
  const size_t n = c->n;
  double change_norm = 0, moved = 0;
  for (size_t i = 0; !c->pairs && i < n; i++)
    c->inverse_curvature[i] = product / dot(n, gradient_change, gradient_change);
  for (size_t i = 0; i < n; i++) {
    change_norm += c->inverse_curvature[i] * gradient_change[i] * gradient_change[i];
    moved += displacement[i] * displacement[i] / c->inverse_curvature[i];
  }
  for (size_t i = 0; i < n; i++) {
    const double share = displacement[i] * displacement[i] / (c->inverse_curvature[i] * moved);
    const double curvature = (change_norm / c->inverse_curvature[i] * fmax(1 - share, 0) +
                              gradient_change[i] * gradient_change[i]) /
                             product;
    if (curvature > 1e-300 && curvature < 1e300) c->inverse_curvature[i] = 1 / curvature;
  }
}

/* Move to the trial point, and store the curvature pair if its curvature is positive. */
static void accept_step(lbfgs *c)
{
  const size_t n = c->n, at = (size_t)((c->newest + 1) % memory);
  double *displacement = c->steps + at * n, *gradient_change = c->gradient_changes + at * n;
  for (size_t i = 0; i < n; i++) {
    displacement[i] = c->trial[i] - c->x[i];
    gradient_change[i] = c->gradient[i] - c->trial_gradient[i];
  }
  const double product = dot(n, displacement, gradient_change);
  if (product >
      1e-12 * sqrt(dot(n, displacement, displacement) * dot(n, gradient_change, gradient_change))) {
    update_diagonal(c, displacement, gradient_change, product);
    c->rho[at] = 1 / product;
    c->newest = (int)at;
    if (c->pairs < memory) c->pairs++;
  }
  memcpy(c->x, c->trial, n * sizeof(double));
  memcpy(c->gradient, c->trial_gradient, n * sizeof(double));
  c->density = c->trial_density;
}

/* --- line search ---------------------------------------------------------------------------- */

/* Reduced step length after an insufficient increase: the maximum of the interpolating parabola,
 * away from the ends; the midpoint once the bracket has a positive lower end. */
static double shorter_length(const lbfgs *c, double derivative, double low, double high)
{
  if (low > 0) return 0.5 * (low + high);
  if (c->trial_density == -INFINITY) return 0.2 * high;
  const double curvature = c->density + derivative * high - c->trial_density;
  return fmin(fmax(0.5 * derivative * high / curvature, 0.1), 0.5) * high;
}

/* Find a step length that satisfies the weak Wolfe conditions; the point is left in trial. *found
 * is true if some length gave a sufficient increase. */
static idm_status line_search(lbfgs *c, double length, double derivative, bool *found,
                              idm_error *opt_error)
{
  double low = 0, high = INFINITY;
  idm_status status = IDM_OK;
  for (int k = 0; k < max_trials; k++) {
    status = try_length(c, length, opt_error);
    if (status != IDM_OK) return status;
    const double required =
        c->density + sufficient_increase * length * derivative - noise(c->density);
    if (!(c->trial_density >= required)) {
      high = length;
    } else if (dot(c->n, c->trial_gradient, c->direction) > curvature_fraction * derivative) {
      low = length;
    } else {
      *found = true;
      return IDM_OK;
    }
    const double next = high < INFINITY ? shorter_length(c, derivative, low, high) : 3 * length;
    if (!(next > low && next < high)) break; /* no representable number in between */
    /* At a kink the bracket shrinks without end: the derivative bounds the possible gain in it. */
    if (derivative * (high - low) < 0.1 * c->tolerance) break;
    length = next;
  }
  *found = low > 0; /* kink: sufficient increase without the curvature condition */
  return *found ? try_length(c, low, opt_error) : IDM_OK;
}

/* One iteration; *moved is false if no ascent step was found. */
static idm_status lbfgs_step(lbfgs *c, bool *moved, idm_error *opt_error)
{
  find_direction(c);
  double derivative = dot(c->n, c->direction, c->gradient);
  if (!(derivative > 0 && isfinite(derivative))) {
    c->pairs = 0;
    find_direction(c);
    derivative = dot(c->n, c->direction, c->gradient);
  }
  /* Without curvature pairs the first step has length one in x. */
  const double length = c->pairs ? 1 : 1 / sqrt(derivative);
  *moved = false;
  const idm_status status = line_search(c, length, derivative, moved, opt_error);
  if (status == IDM_OK && *moved) accept_step(c);
  return status;
}

/* --- iteration ------------------------------------------------------------------------------- */

static idm_status run_lbfgs(lbfgs *c, double tolerance, int limit, idm_error *opt_error)
{
  double past_density[patience]; /* densities of the last iterates; a line search may evaluate a
                                    higher point that is not accepted */
  double highest = c->density;
  for (int k = 0; k < limit; k++) {
    if (largest(c->n, c->gradient) == 0) break;
    /* Progress along a ridge consists of many small steps, so several steps are tested together. */
    if (k >= patience &&
        highest - past_density[k % patience] <= fmax(tolerance, 1e-3 * noise(highest)))
      break;
    past_density[k % patience] = highest;
    const bool had_pairs = c->pairs > 0;
    bool moved;
    const idm_status status = lbfgs_step(c, &moved, opt_error);
    if (status != IDM_OK) return status;
    if (!moved && !had_pairs) break;
    if (!moved) c->pairs = 0; /* restart with the gradient direction */
    highest = fmax(highest, c->density);
  }
  return IDM_OK;
}

static idm_status start_lbfgs(lbfgs *c, const double *x, idm_error *opt_error)
{
  memcpy(c->trial, x, c->n * sizeof *x);
  memcpy(c->best, x, c->n * sizeof *x);
  c->best_density = -INFINITY;
  c->newest = memory - 1;
  const idm_status status = evaluate_trial(c, opt_error);
  if (status != IDM_OK) return status;
  if (c->trial_density == -INFINITY)
    return idm_fail(opt_error, IDM_NUMERICAL, "maximisation cannot start where the density is 0");
  memcpy(c->x, c->trial, c->n * sizeof *x);
  memcpy(c->gradient, c->trial_gradient, c->n * sizeof *x);
  c->density = c->trial_density;
  return IDM_OK;
}

idm_status idm_maximise(const idm_target *target, double tolerance, int limit, double *x,
                        double *log_density, idm_error *opt_error)
{
  idm_require(target, x, log_density);
  const size_t n = target->dimension;
  double *work = idm_new(idm_times(n, 7 + 2 * memory), sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  lbfgs c = {.target = target, .n = n, .tolerance = tolerance};
  double **const section[] = {
      &c.x, &c.gradient, &c.trial, &c.trial_gradient, &c.best, &c.direction, &c.inverse_curvature};
  for (size_t i = 0; i < 7; i++) *section[i] = work + i * n;
  c.steps = work + 7 * n;
  c.gradient_changes = c.steps + memory * n;
  idm_status status = start_lbfgs(&c, x, opt_error);
  if (status == IDM_OK) status = run_lbfgs(&c, tolerance, limit, opt_error);
  if (status == IDM_OK) {
    memcpy(x, c.best, n * sizeof *x);
    *log_density = c.best_density;
  }
  free(work);
  return status;
}

/* --- pattern search -------------------------------------------------------------------------- */

/* Search along one coordinate: by `step` up or down, doubled as long as the density increases. */
static idm_status try_coordinate(const idm_target *target, size_t i, double step, double tolerance,
                                 int *evaluations_left, double *x, double *log_density,
                                 bool *any_improved, idm_error *opt_error)
{
  for (int side = 0; side < 2; side++) {
    bool improved = false;
    for (double change = side ? -step : step; *evaluations_left > 0; change *= 2) {
      const double from = x[i];
      double trial_density;
      x[i] = from + change;
      const idm_status status = idm_target_evaluate(target, x, &trial_density, NULL, opt_error);
      if (status != IDM_OK) return status;
      --*evaluations_left;
      if (!(trial_density > *log_density + fmax(tolerance, noise(*log_density)))) {
        x[i] = from;
        break;
      }
      *log_density = trial_density;
      improved = *any_improved = true;
    }
    if (improved) break;
  }
  return IDM_OK;
}

idm_status idm_pattern_search(const idm_target *target, const double *step, double tolerance,
                              int limit, double *x, double *log_density, idm_error *opt_error)
{
  idm_require(target, step, x, log_density);
  static const double min_scale = 1e-3;
  double scale = 1;
  while (scale > min_scale && limit > 0) {
    bool any_improved = false;
    for (size_t i = 0; i < target->dimension; i++) {
      const idm_status status = try_coordinate(target, i, scale * step[i], tolerance, &limit, x,
                                               log_density, &any_improved, opt_error);
      if (status != IDM_OK) return status;
    }
    if (!any_improved) scale /= 4;
  }
  return IDM_OK;
}
