/* "slice": univariate slice sampling with stepping out and shrinkage (Neal 2003, sections 4 and 5)
 * along the columns of the covariance's Cholesky factor, which are the axes of the whitened target.
 * No step size to tune; several evaluations per step. See docs/method/inference.md, 4. */
#include "infer/chains.h"

#include <math.h>
#include <string.h>

#include "base/dense.h"

/* A draw is one sweep over all directions; an interval has at most `max_steps` widths. */
enum { default_thin = 1, max_steps = 100 };
/* Approximate width of a slice through a standard normal: mean of 2 sqrt(2 E) for E exponential. */
static const double first_width = 2.5;

typedef struct slice {
  size_t dimension;
  double *log_density;
  double *sweeps; /* sweeps since the last change of the directions */
  double *position;
  double *factor; /* [dimension][dimension]: its columns are the directions */
  double *width;  /* [dimension], in units of the directions */
  double *candidate;
  double *next; /* [dimension][dimension]: a covariance during factorisation */
  idm_scatter history;
} slice;

static size_t map_state(double *opt_state, size_t dimension, slice *view)
{
  size_t used = 0;
  view->dimension = dimension;
  view->log_density = idm_state_take(opt_state, &used, 1);
  view->sweeps = idm_state_take(opt_state, &used, 1);
  view->position = idm_state_take(opt_state, &used, dimension);
  view->factor = idm_state_take(opt_state, &used, dimension * dimension);
  view->width = idm_state_take(opt_state, &used, dimension);
  view->candidate = idm_state_take(opt_state, &used, dimension);
  view->next = idm_state_take(opt_state, &used, dimension * dimension);
  view->history = idm_scatter_take(opt_state, &used, dimension, true);
  return used;
}

static size_t numbers(size_t dimension)
{
  slice view;
  return map_state(NULL, dimension, &view);
}

static idm_status start(double *state, const idm_sampler_settings *settings,
                        const idm_target *target, const double *x, idm_random *random,
                        idm_error *opt_error)
{
  (void)random;
  slice view;
  const size_t n = target->dimension;
  const size_t count = map_state(state, n, &view);
  memset(state, 0, count * sizeof *state);
  memcpy(view.position, x, n * sizeof *x);
  for (size_t i = 0; i < n; i++) view.width[i] = first_width;
  const idm_status status = idm_guess_factor(settings, n, view.factor, opt_error);
  if (status != IDM_OK) return status;
  return idm_target_evaluate_start(target, x, view.log_density, NULL, opt_error);
}

/* --- one direction -------------------------------------------------------------------------- */

/* Line through the position along one direction, and its slice. */
typedef struct line {
  const slice *s;
  const idm_target *target;
  size_t direction;
  double level; /* points with a higher log density are in the slice */
  long *evaluations;
} line;

/* Evaluate the point at `distance` along the line; it is left in candidate. */
static idm_status evaluate_along(const line *line_view, double distance, double *density,
                                 idm_error *opt_error)
{
  const slice *s = line_view->s;
  const size_t n = s->dimension;
  for (size_t i = 0; i < n; i++)
    s->candidate[i] = s->position[i] + distance * s->factor[i * n + line_view->direction];
  ++*line_view->evaluations;
  return idm_target_evaluate(line_view->target, s->candidate, density, NULL, opt_error);
}

/* Stepping out: move one end of the interval by widths until it leaves the slice, at most `steps`
 * times. */
static idm_status step_out(const line *line_view, double width, long steps, double *end,
                           idm_error *opt_error)
{
  for (; steps > 0; steps--) {
    double density;
    const idm_status status = evaluate_along(line_view, *end, &density, opt_error);
    if (status != IDM_OK || !(density > line_view->level)) return status;
    *end += width;
  }
  return IDM_OK;
}

/* Shrinkage (Neal's figure 5): draw from the interval until a point is in the slice; rejected
 * points become ends of the interval. The accepted point is left in candidate. */
static idm_status shrink(const line *line_view, double left, double right, idm_random *random,
                         double *distance, double *density, idm_error *opt_error)
{
  for (;;) {
    *distance = left + idm_random_uniform(random) * (right - left);
    const idm_status status = evaluate_along(line_view, *distance, density, opt_error);
    if (status != IDM_OK || *density > line_view->level) return status;
    *(*distance < 0 ? &left : &right) = *distance;
    /* The current position is in the slice; an interval this short contains only it. */
    if (!(right - left > 1e-300)) {
      *distance = 0;
      return evaluate_along(line_view, 0, density, opt_error);
    }
  }
}

/* Update one direction; *distance receives the move, in units of the direction. */
static idm_status update_direction(const slice *s, const idm_target *target, size_t direction,
                                   idm_random *random, long *evaluations, double *distance,
                                   idm_error *opt_error)
{
  const double width = s->width[direction];
  const line line_view = {s, target, direction, *s->log_density + log(idm_random_uniform(random)),
                          evaluations};
  double left = -width * idm_random_uniform(random), right = left + width, density;
  /* The number of steps is divided at random between the two ends, as reversibility requires. */
  const long steps_left = (long)(max_steps * idm_random_uniform(random));
  idm_status status = step_out(&line_view, -width, steps_left, &left, opt_error);
  if (status == IDM_OK)
    status = step_out(&line_view, width, max_steps - 1 - steps_left, &right, opt_error);
  if (status == IDM_OK)
    status = shrink(&line_view, left, right, random, distance, &density, opt_error);
  if (status != IDM_OK) return status;
  memcpy(s->position, s->candidate, s->dimension * sizeof(double));
  *s->log_density = density;
  return IDM_OK;
}

/* --- warm-up -------------------------------------------------------------------------------- */

/* The mean distance of two uniform points of an interval is a third of its length, so three times
 * the mean move is the mean length of a slice: the width with the fewest evaluations. */
static void adapt_width(const slice *s, size_t direction, double distance)
{
  const double adapt_rate = pow(1 + *s->sweeps, -0.6);
  const double length = fmax(3 * fabs(distance), 0.05 * s->width[direction]);
  s->width[direction] += adapt_rate * (length - s->width[direction]);
}

/* New directions from the window that ends; widths are reset. */
static void refit(const slice *s, const idm_sampler_settings *settings)
{
  const size_t n = s->dimension;
  if (idm_scatter_covariance(&s->history, settings->covariance, s->next) &&
      idm_cholesky(n, s->next)) {
    memcpy(s->factor, s->next, n * n * sizeof(double));
    for (size_t i = 0; i < n; i++) s->width[i] = first_width;
    *s->sweeps = 3; /* widths are already nearly right */
  }
  idm_scatter_restart(&s->history);
}

/* --- the step -------------------------------------------------------------------------------- */

static idm_status sweep(const slice *s, const idm_target *target, bool adapt, idm_random *random,
                        long *evaluations, idm_error *opt_error)
{
  for (size_t i = 0; i < s->dimension; i++) {
    double distance;
    const idm_status status =
        update_direction(s, target, i, random, evaluations, &distance, opt_error);
    if (status != IDM_OK) return status;
    if (adapt) adapt_width(s, i, distance);
  }
  if (adapt) ++*s->sweeps;
  return IDM_OK;
}

static double mean_width(const slice *s)
{
  double sum = 0;
  for (size_t i = 0; i < s->dimension; i++) sum += s->width[i];
  return sum / (double)s->dimension;
}

static idm_status step(double *state, const idm_sampler_settings *settings,
                       const idm_target *target, long iteration, idm_random *random, double *x,
                       idm_statistics *statistics, idm_error *opt_error)
{
  slice s;
  map_state(state, target->dimension, &s);
  const idm_window window = idm_warmup_window(iteration, settings->warmup);
  const long thin = idm_sampler_thin(settings, default_thin);
  idm_statistics_clear(statistics);
  for (long k = 0; k < thin; k++) {
    const idm_status status = sweep(&s, target, iteration < settings->warmup, random,
                                    &statistics->evaluations, opt_error);
    if (status != IDM_OK) return status;
    if (window.collect) idm_scatter_add(&s.history, s.position);
  }
  if (window.at_end) refit(&s, settings);
  memcpy(x, s.position, target->dimension * sizeof *x);
  statistics->log_density = *s.log_density;
  statistics->step_size = mean_width(&s);
  return IDM_OK;
}

const idm_sampler idm_sampler_slice = {
    .name = "slice",
    .summary = "slice sampling along directions fitted in warm-up; no tuning parameters",
    .gradient = false,
    .numbers = numbers,
    .start = start,
    .step = step,
};
