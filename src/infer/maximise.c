/* Climbing to a mode: L-BFGS (Nocedal 1980) with the weak Wolfe search of Lewis and Overton (2013),
 * which asks no smoothness along the line and so survives kinks and ends of the support. */
#include "idm/maximise.h"

#include <math.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "infer/sampler.h"

enum { memory = 8, most_trials = 60, patience = 5 };
/* Wolfe's constants. */
static const double rise = 1e-4, flattening = 0.9;

typedef struct climb {
  const idm_target *target;
  size_t n;
  double tolerance; /* a gain that is not worth a step */
  double density;   /* at x */
  double *x;        /* [n], as all below */
  double *gradient; /* at x */
  double *trial;    /* the point tried, and */
  double *trial_gradient;
  double trial_density;
  double *best; /* the highest point seen */
  double best_density;
  double *direction;
  double *moves;        /* [memory][n]: differences of x, */
  double *turns;        /* [memory][n]: of minus the gradient, */
  double inner[memory]; /* and 1 / their inner products */
  double *spread;       /* guess of the inverse curvature, coordinate by coordinate */
  int kept;
  int newest;
} climb;

static double dot(size_t n, const double *x, const double *y)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

static double largest(size_t n, const double *x)
{
  double most = 0;
  for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

/* Differences of log densities below this are rounding. */
static double noise(double density)
{
  return 1e-9 + 1e-13 * fabs(density);
}

/* --- evaluation ----------------------------------------------------------------------------- */

/* Central differences, for a target without a gradient; one-sided at an end of the support. */
static idm_status difference(const idm_target *target, double *x, double density, double *gradient,
                             idm_error *opt_error)
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

/* Density and gradient at the trial point; a gradient that is no number makes the density -inf. */
static idm_status try_point(climb *c, idm_error *opt_error)
{
  double *gradient = c->trial_gradient;
  idm_status status = idm_target_evaluate(c->target, c->trial, &c->trial_density,
                                          c->target->gradient ? gradient : NULL, opt_error);
  if (status != IDM_OK || c->trial_density == -INFINITY) return status;
  if (!c->target->gradient)
    status = difference(c->target, c->trial, c->trial_density, gradient, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < c->n; i++)
    if (!isfinite(gradient[i])) c->trial_density = -INFINITY;
  if (c->trial_density > c->best_density) {
    c->best_density = c->trial_density;
    memcpy(c->best, c->trial, c->n * sizeof(double));
  }
  return IDM_OK;
}

static idm_status try_length(climb *c, double length, idm_error *opt_error)
{
  for (size_t i = 0; i < c->n; i++) c->trial[i] = c->x[i] + length * c->direction[i];
  return try_point(c, opt_error);
}

/* --- directions ----------------------------------------------------------------------------- */

/* direction = H gradient by the two loops of Nocedal (1980). */
static void find_direction(climb *c)
{
  const size_t n = c->n;
  double *d = c->direction, weight[memory];
  memcpy(d, c->gradient, n * sizeof(double));
  for (int k = 0; k < c->kept; k++) {
    const size_t at = (size_t)((c->newest - k + memory) % memory);
    weight[at] = c->inner[at] * dot(n, c->moves + at * n, d);
    for (size_t i = 0; i < n; i++) d[i] -= weight[at] * c->turns[at * n + i];
  }
  for (size_t i = 0; c->kept && i < n; i++) d[i] *= c->spread[i];
  for (int k = c->kept; k-- > 0;) {
    const size_t at = (size_t)((c->newest - k + memory) % memory);
    const double back = c->inner[at] * dot(n, c->turns + at * n, d);
    for (size_t i = 0; i < n; i++) d[i] += (weight[at] - back) * c->moves[at * n + i];
  }
}

/* Update the diagonal from which the two loops start, by the diagonal of a BFGS update of it
 * (Gilbert and Lemarechal 1989): coordinates of unlike scales are told apart. */
static void spread_out(climb *c, const double *move, const double *turn, double product)
{
  const size_t n = c->n;
  double turned = 0, moved = 0;
  for (size_t i = 0; !c->kept && i < n; i++) c->spread[i] = product / dot(n, turn, turn);
  for (size_t i = 0; i < n; i++) {
    turned += c->spread[i] * turn[i] * turn[i];
    moved += move[i] * move[i] / c->spread[i];
  }
  for (size_t i = 0; i < n; i++) {
    const double share = move[i] * move[i] / (c->spread[i] * moved);
    const double bend = (turned / c->spread[i] * fmax(1 - share, 0) + turn[i] * turn[i]) / product;
    if (bend > 1e-300 && bend < 1e300) c->spread[i] = 1 / bend;
  }
}

/* Go to the trial point, and remember the curvature met on the way where there is some. */
static void accept(climb *c)
{
  const size_t n = c->n, at = (size_t)((c->newest + 1) % memory);
  double *move = c->moves + at * n, *turn = c->turns + at * n;
  for (size_t i = 0; i < n; i++) {
    move[i] = c->trial[i] - c->x[i];
    turn[i] = c->gradient[i] - c->trial_gradient[i];
  }
  const double product = dot(n, move, turn);
  if (product > 1e-12 * sqrt(dot(n, move, move) * dot(n, turn, turn))) {
    spread_out(c, move, turn, product);
    c->inner[at] = 1 / product;
    c->newest = (int)at;
    if (c->kept < memory) c->kept++;
  }
  memcpy(c->x, c->trial, n * sizeof(double));
  memcpy(c->gradient, c->trial_gradient, n * sizeof(double));
  c->density = c->trial_density;
}

/* --- line search ---------------------------------------------------------------------------- */

/* A shorter length after one that did not rise: the top of the parabola through what is known, kept
 * off the ends; the middle once the bracket has a lower end. */
static double shorter(const climb *c, double slope, double low, double high)
{
  if (low > 0) return 0.5 * (low + high);
  if (c->trial_density == -INFINITY) return 0.2 * high;
  const double bend = c->density + slope * high - c->trial_density;
  return fmin(fmax(0.5 * slope * high / bend, 0.1), 0.5) * high;
}

/* Find a length that rises enough and passes most of the slope, and leave it in trial; *found tells
 * whether any length rose. */
static idm_status search(climb *c, double length, double slope, bool *found, idm_error *opt_error)
{
  double low = 0, high = INFINITY;
  idm_status status = IDM_OK;
  for (int k = 0; k < most_trials; k++) {
    status = try_length(c, length, opt_error);
    if (status != IDM_OK) return status;
    const double asked = c->density + rise * length * slope - noise(c->density);
    if (!(c->trial_density >= asked)) {
      high = length;
    } else if (dot(c->n, c->trial_gradient, c->direction) > flattening * slope) {
      low = length;
    } else {
      *found = true;
      return IDM_OK;
    }
    const double next = high < INFINITY ? shorter(c, slope, low, high) : 3 * length;
    if (!(next > low && next < high)) break; /* no number between */
    /* At a kink the bracket shrinks for ever: the slope bounds what is left to gain in it. */
    if (slope * (high - low) < 0.1 * c->tolerance) break;
    length = next;
  }
  *found = low > 0; /* a kink: no length flattens the slope */
  return *found ? try_length(c, low, opt_error) : IDM_OK;
}

/* One step; *moved is false where no direction leads up. */
static idm_status advance(climb *c, bool *moved, idm_error *opt_error)
{
  find_direction(c);
  double slope = dot(c->n, c->direction, c->gradient);
  if (!(slope > 0 && isfinite(slope))) {
    c->kept = 0;
    find_direction(c);
    slope = dot(c->n, c->direction, c->gradient);
  }
  /* Without curvature the first length is one unit of x. */
  const double length = c->kept ? 1 : 1 / sqrt(slope);
  *moved = false;
  const idm_status status = search(c, length, slope, moved, opt_error);
  if (status == IDM_OK && *moved) accept(c);
  return status;
}

/* --- the climb ------------------------------------------------------------------------------ */

static idm_status climb_on(climb *c, double tolerance, int limit, idm_error *opt_error)
{
  double before[patience]; /* heights of the points last stood on: a search may glimpse a higher */
  double highest = c->density;
  for (int k = 0; k < limit; k++) {
    if (largest(c->n, c->gradient) == 0) break;
    /* A ridge is climbed in many small steps: only several together tell that it is over. */
    if (k >= patience && highest - before[k % patience] <= fmax(tolerance, 1e-3 * noise(highest)))
      break;
    before[k % patience] = highest;
    const bool curved = c->kept > 0;
    bool moved;
    const idm_status status = advance(c, &moved, opt_error);
    if (status != IDM_OK) return status;
    if (!moved && !curved) break;
    if (!moved) c->kept = 0; /* once more, straight up */
    highest = fmax(highest, c->density);
  }
  return IDM_OK;
}

static idm_status begin(climb *c, const double *x, idm_error *opt_error)
{
  memcpy(c->trial, x, c->n * sizeof *x);
  memcpy(c->best, x, c->n * sizeof *x);
  c->best_density = -INFINITY;
  c->newest = memory - 1;
  const idm_status status = try_point(c, opt_error);
  if (status != IDM_OK) return status;
  if (c->trial_density == -INFINITY)
    return idm_fail(opt_error, IDM_NUMERICAL, "a climb cannot start where the density is 0");
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
  climb c = {.target = target, .n = n, .tolerance = tolerance};
  double **const part[] = {&c.x,    &c.gradient,  &c.trial, &c.trial_gradient,
                           &c.best, &c.direction, &c.spread};
  for (size_t i = 0; i < 7; i++) *part[i] = work + i * n;
  c.moves = work + 7 * n;
  c.turns = c.moves + memory * n;
  idm_status status = begin(&c, x, opt_error);
  if (status == IDM_OK) status = climb_on(&c, tolerance, limit, opt_error);
  if (status == IDM_OK) {
    memcpy(x, c.best, n * sizeof *x);
    *log_density = c.best_density;
  }
  free(work);
  return status;
}

/* --- without a gradient --------------------------------------------------------------------- */

/* One coordinate of x: by `step` up or down as long as it gains, in steps that double. */
static idm_status try_coordinate(const idm_target *target, size_t i, double step, double tolerance,
                                 int *left, double *x, double *log_density, bool *gained,
                                 idm_error *opt_error)
{
  for (int side = 0; side < 2; side++) {
    bool rose = false;
    for (double by = side ? -step : step; *left > 0; by *= 2) {
      const double from = x[i];
      double here;
      x[i] = from + by;
      const idm_status status = idm_target_evaluate(target, x, &here, NULL, opt_error);
      if (status != IDM_OK) return status;
      --*left;
      if (!(here > *log_density + fmax(tolerance, noise(*log_density)))) {
        x[i] = from;
        break;
      }
      *log_density = here;
      rose = *gained = true;
    }
    if (rose) break;
  }
  return IDM_OK;
}

idm_status idm_maximise_by_steps(const idm_target *target, const double *step, double tolerance,
                                 int limit, double *x, double *log_density, idm_error *opt_error)
{
  idm_require(target, step, x, log_density);
  static const double least = 1e-3;
  double scale = 1;
  while (scale > least && limit > 0) {
    bool gained = false;
    for (size_t i = 0; i < target->dimension; i++) {
      const idm_status status = try_coordinate(target, i, scale * step[i], tolerance, &limit, x,
                                               log_density, &gained, opt_error);
      if (status != IDM_OK) return status;
    }
    if (!gained) scale /= 4;
  }
  return IDM_OK;
}
