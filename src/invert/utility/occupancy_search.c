/* Searching for the numbers whose occupancy comes nearest.
 *
 * Contents: starts · what is open · words */
#include "invert/utility/occupancy_search.h"

#include <math.h>
#include <stdio.h>

#include "base/dense.h"
#include "base/memory.h"
#include "idm/maximise.h"
#include "idm/random.h"

/* Streams of starts. */
static const uint64_t start_stream = (uint64_t)1 << 33;
enum { starts = 8, most_steps = 500 };
/* Objectives that differ by less than this share of 1 plus their size are the same. */
static const double same = 1e-8;
/* A certificate by the gradient is closed below this, per usual change of a number. */
static const double flat = 1e-6;
static const double no_gap = 1e-9;
/* Numbers are searched for within so many usual changes of the problem's own. */
static const double window = 12;
/* Singular values below this share of the largest are those of open directions: differences have
 * errors of about 1e-8. */
static const double no_effect = 1e-6;

/* The loss as a density to climb. */
static idm_status evaluate(void *context, const double *y, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  idm_occupancy_loss *s = context;
  double loss;
  const idm_status status = idm_occupancy_loss_at(s, y, &loss, opt_gradient, opt_error);
  *log_density = -loss;
  for (size_t j = 0; j < s->dimension && opt_gradient; j++) opt_gradient[j] = -opt_gradient[j];
  return status;
}

/* --- starts --------------------------------------------------------------------------------- */

typedef struct reached {
  double *y; /* [dimension]: the best */
  double objective;
  size_t alike;   /* starts that end as near */
  double slope;   /* largest derivative there, per usual change */
  double *end;    /* [starts][dimension]: where each start ends */
  double *height; /* [starts]: the objective there */
  bool *ended;    /* [dimension]: the number is at an end of its range, where coordinates move it
                     by nothing, and is not open for that */
} reached;

/* The problem's own numbers, then draws of the prior or, where it is improper, two usual changes
 * around those. */
static void begin(const idm_occupancy_loss *s, size_t start, double *y)
{
  idm_random random;
  idm_random_init(&random, s->asked->settings->seed, start_stream + start);
  memcpy(y, s->own, s->dimension * sizeof *y);
  if (start && idm_parameters_proper(s->parameters))
    idm_parameters_draw(s->parameters, &random, y);
  else
    for (size_t j = 0; j < s->dimension && start; j++)
      y[j] += 2 * s->unit[j] * idm_random_normal(&random);
  for (size_t j = 0; j < s->dimension; j++) {
    const double most = 0.9 * window * s->unit[j];
    y[j] = s->own[j] + fmax(-most, fmin(y[j] - s->own[j], most));
  }
}

/* Climb by steps, each time from steps as small as the time before ended with. */
static idm_status climb_kinks(idm_occupancy_loss *s, const idm_target *target, double *y,
                              double *height, idm_error *opt_error)
{
  enum { passes = 3 };
  const int limit = most_steps * (int)(s->dimension + 1);
  double *step = idm_duplicate(s->unit, s->dimension, sizeof *step);
  idm_status status = step ? IDM_OK : idm_fail_memory(opt_error);
  for (int k = 0; k < passes && status == IDM_OK; k++) {
    status = idm_maximise_by_steps(target, step, 0, limit, y, height, opt_error);
    for (size_t j = 0; j < s->dimension; j++) step[j] /= 1000;
  }
  free(step);
  return status;
}

/* Climb by slopes; where the divergence has kinks, by those of a smooth one, and then by steps.
 * Where choices move by leaps there are no slopes. */
static idm_status climb(idm_occupancy_loss *s, double *y, double *ret_objective,
                        idm_error *opt_error)
{
  const idm_target target = {
      .dimension = s->dimension, .gradient = true, .context = s, .evaluate = evaluate};
  const bool kinks = s->asked->settings->divergence == IDM_DIVERGENCE_TV || s->leaps;
  double height;
  s->divergence = kinks ? IDM_DIVERGENCE_JS : s->asked->settings->divergence;
  idm_status status = evaluate(s, y, &height, NULL, opt_error);
  const bool begun = status == IDM_OK && isfinite(height);
  if (begun && !s->leaps) status = idm_maximise(&target, 0, most_steps, y, &height, opt_error);
  s->divergence = s->asked->settings->divergence;
  if (kinks && status == IDM_OK) status = evaluate(s, y, &height, NULL, opt_error);
  if (kinks && begun && status == IDM_OK) status = climb_kinks(s, &target, y, &height, opt_error);
  *ret_objective = -height;
  return status;
}

static idm_status climb_all(idm_occupancy_loss *s, reached *best, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  best->objective = INFINITY;
  for (size_t i = 0; i < starts && status == IDM_OK; i++) {
    double found = INFINITY, *y = best->end + i * s->dimension;
    begin(s, i, y);
    status = climb(s, y, &found, opt_error);
    const double margin = same * (1 + fabs(found));
    best->height[i] = found;
    if (!(found < INFINITY) || found > best->objective + margin) continue;
    best->alike = found < best->objective - margin ? 1 : best->alike + 1;
    if (found >= best->objective) continue;
    best->objective = found;
    memcpy(best->y, y, s->dimension * sizeof *y);
  }
  if (status == IDM_OK && !(best->objective < INFINITY))
    return idm_fail(opt_error, IDM_INPUT,
                    "the divergence from the demonstrator's occupancy is infinite from %d starts; "
                    "expected --divergence js, tv or squared",
                    starts);
  return status;
}

/* From a place where a start ended, for longer than it took. */
static idm_status polish(idm_occupancy_loss *s, double *y, double *objective, idm_error *opt_error)
{
  enum { longer = 10 };
  const idm_target target = {
      .dimension = s->dimension, .gradient = true, .context = s, .evaluate = evaluate};
  double height = -*objective;
  if (s->divergence == IDM_DIVERGENCE_TV || s->leaps) return IDM_OK;
  const idm_status status = idm_maximise(&target, 0, longer * most_steps, y, &height, opt_error);
  *objective = -height;
  return status;
}

static idm_status find_slope(idm_occupancy_loss *s, reached *best, idm_error *opt_error)
{
  double *gradient = idm_new(s->dimension, sizeof *gradient);
  double height;
  if (!gradient) return idm_fail_memory(opt_error);
  const idm_status status = evaluate(s, best->y, &height, gradient, opt_error);
  best->slope = 0;
  for (size_t j = 0; j < s->dimension; j++) {
    const double own = fabs(gradient[j] * s->unit[j]);
    if (!(own <= best->slope)) best->slope = own;
  }
  free(gradient);
  return status;
}

/* --- what is open --------------------------------------------------------------------------- */

/* Q'Q[dimension][dimension], Q = dq/dy per usual change. */
static idm_status square_slopes(idm_occupancy_loss *s, const double *y, double *square,
                                idm_error *opt_error)
{
  const size_t d = s->dimension;
  double *slope = idm_new(idm_times(d, s->entries), sizeof *slope);
  idm_status status = slope ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t j = 0; j < d && status == IDM_OK; j++) {
    memcpy(s->moved, y, d * sizeof *y);
    for (int k = 0; k < 2 && status == IDM_OK; k++) {
      s->moved[j] = y[j] + (k ? 1 : -1) * idm_occupancy_step * s->unit[j];
      status = idm_occupancy_visit(s, s->moved, opt_error);
      for (size_t e = 0; e < s->entries && status == IDM_OK; e++)
        slope[j * s->entries + e] += (k ? 1 : -1) * s->occupancy[e] / (2 * idm_occupancy_step);
    }
  }
  for (size_t i = 0; i < d && status == IDM_OK; i++)
    for (size_t j = 0; j < d; j++) {
      square[i * d + j] = 0;
      for (size_t e = 0; e < s->entries; e++)
        square[i * d + j] += slope[i * s->entries + e] * slope[j * s->entries + e];
    }
  free(slope);
  return status;
}

/* An open direction, its largest number 1. */
static void put_direction(const idm_occupancy_loss *s, const double *vector, double *direction)
{
  double largest = 0;
  for (size_t j = 0; j < s->dimension; j++) {
    direction[j] = vector[j] * s->unit[j];
    if (fabs(direction[j]) > fabs(largest)) largest = direction[j];
  }
  for (size_t j = 0; j < s->dimension; j++) {
    direction[j] /= largest;
    if (fabs(direction[j]) < no_effect) direction[j] = 0;
  }
}

/* Give numbers at an end of their range as much effect as all others have. */
static void close_ended(const reached *best, size_t d, double *square)
{
  double trace = 0;
  for (size_t j = 0; j < d; j++) trace += square[j * (d + 1)];
  for (size_t j = 0; j < d; j++) {
    if (!best->ended[j]) continue;
    for (size_t k = 0; k < d; k++) square[j * d + k] = square[k * d + j] = 0;
    square[j * (d + 1)] = trace;
  }
}

static idm_status find_open(idm_occupancy_loss *s, const reached *best, idm_finding *f,
                            idm_error *opt_error)
{
  const size_t d = s->dimension;
  double *square = idm_new(idm_times(d, d), sizeof *square);
  double *values = idm_new(d, sizeof *values);
  double *vectors = idm_new(idm_times(d, d), sizeof *vectors);
  f->direction = idm_new(idm_times(d, d), sizeof *f->direction);
  const bool made = square && values && vectors && f->direction;
  idm_status status =
      made ? square_slopes(s, best->y, square, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    close_ended(best, d, square);
    idm_symmetric_eigen(d, square, values, vectors);
    const double least = no_effect * no_effect * values[d - 1];
    for (size_t j = 0; j < d && values[j] <= least; j++)
      put_direction(s, vectors + j * d, f->direction + f->open++ * d);
    f->looked = true;
  }
  if (!f->open) {
    free(f->direction);
    f->direction = NULL;
  }
  free(square);
  free(values);
  free(vectors);
  /* What cannot be planned for next to the answer is not looked at. */
  return status == IDM_NUMERICAL || status == IDM_INPUT ? IDM_OK : status;
}

/* Whether some numbers are those of a network: its units can be exchanged, and its layers scaled,
 * so that there is nothing to list. */
static bool has_network(const idm_parameters *parameters)
{
  return parameters->items && parameters->item[parameters->items - 1].opaque;
}

/* Whether J is as small with number j at one end of the window. */
static idm_status is_low_at(idm_occupancy_loss *s, const reached *best, size_t j, double end,
                            bool *ret_low, idm_error *opt_error)
{
  double there;
  double *y = idm_duplicate(best->y, s->dimension, sizeof *y);
  if (!y) return idm_fail_memory(opt_error);
  y[j] = s->own[j] + end * s->unit[j];
  const idm_status status = idm_occupancy_loss_at(s, y, &there, NULL, opt_error);
  *ret_low = there <= best->objective + no_gap * (1 + fabs(best->objective));
  free(y);
  return status;
}

/* The item that a coordinate is the only one of; NULL where there is none. */
static const parameter *scalar_at(const idm_parameters *parameters, size_t coordinate)
{
  for (size_t i = 0; i < parameters->items; i++)
    if (parameters->item[i].first == coordinate && idm_parameter_is_scalar(&parameters->item[i]))
      return &parameters->item[i];
  return NULL;
}

/* Whether a number lies between two ends that it can have: a share of 0 is an answer, though no
 * coordinate attains it. */
static bool has_ends(const idm_parameters *parameters, size_t coordinate)
{
  const parameter *item = scalar_at(parameters, coordinate);
  return item && isfinite(idm_parameter_reported_at(item, -INFINITY)) &&
         isfinite(idm_parameter_reported_at(item, INFINITY));
}

/* Numbers that J bounds on one side alone. Where it bounds neither, the number is open. */
static idm_status find_unbounded(idm_occupancy_loss *s, const reached *best, idm_finding *f,
                                 idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t j = 0; j < s->dimension && status == IDM_OK; j++) {
    bool below = false, above = false;
    status = is_low_at(s, best, j, -window, &below, opt_error);
    if (status == IDM_OK) status = is_low_at(s, best, j, window, &above, opt_error);
    if (status != IDM_OK || below == above) continue;
    best->ended[j] = has_ends(s->parameters, j);
    if (best->ended[j])
      idm_notes_add(&f->words,
                    "%.100s is at the %s end of its range: the objective falls towards it",
                    s->parameters->coordinate.name[j], below ? "lower" : "upper");
    else
      idm_notes_add(&f->faults,
                    "nothing bounds %.100s from %s: the objective is no larger %g usual changes "
                    "from the value in the problem",
                    s->parameters->coordinate.name[j], below ? "below" : "above", window);
  }
  return status;
}

/* Largest distance of a place from the best in a number, in usual changes; *at is that number. */
static double distance(const idm_occupancy_loss *s, const double *y, const reached *best,
                       size_t *at)
{
  double most = 0;
  for (size_t j = 0; j < s->dimension; j++) {
    const double own = fabs(y[j] - best->y[j]) / s->unit[j];
    if (own <= most || best->ended[j]) continue;
    most = own;
    *at = j;
  }
  return most;
}

/* Other numbers that are as near, though no direction leads to them: a start that ends there, and
 * stays there when its search goes on. */
static idm_status find_others(idm_occupancy_loss *s, const reached *best, idm_finding *f,
                              idm_error *opt_error)
{
  static const double apart = 0.1;
  for (size_t i = 0; i < starts; i++) {
    double *y = best->end + i * s->dimension, objective = best->height[i];
    size_t at = 0;
    const double margin = same * (1 + fabs(best->objective));
    if (!(objective <= best->objective + margin) || distance(s, y, best, &at) < apart) continue;
    const idm_status status = polish(s, y, &objective, opt_error);
    if (status != IDM_OK) return status;
    if (objective > best->objective + margin || distance(s, y, best, &at) < apart) continue;
    const parameter *item = scalar_at(s->parameters, at);
    idm_notes_add(&f->faults,
                  "other numbers are as near: a start of the search ends at %.100s = %.4g in place "
                  "of %.4g, and the log does not decide between them; use --inverse bayes, or a "
                  "narrower prior",
                  s->parameters->coordinate.name[at],
                  item ? idm_parameter_reported_at(item, y[at]) : y[at],
                  item ? idm_parameter_reported_at(item, best->y[at]) : best->y[at]);
    return IDM_OK;
  }
  return IDM_OK;
}

static idm_status look_around(idm_occupancy_loss *s, const reached *best, idm_finding *f,
                              idm_error *opt_error)
{
  if (has_network(s->parameters)) {
    idm_notes_add(&f->words,
                  "unchecked: which numbers of the network the occupancy leaves open was not "
                  "looked for; networks with other numbers have the same policy");
    return IDM_OK;
  }
  idm_status status = find_unbounded(s, best, f, opt_error);
  if (status == IDM_OK && !f->faults.count) status = find_open(s, best, f, opt_error);
  if (status == IDM_OK && f->looked && !f->open) status = find_others(s, best, f, opt_error);
  return status;
}

/* --- words ---------------------------------------------------------------------------------- */

static void certify(const idm_occupancy_loss *s, const reached *best, double least, idm_finding *f)
{
  const double gap = best->objective - least;
  f->objective = best->objective;
  if (gap <= no_gap) {
    snprintf(f->certificate, sizeof f->certificate, "gap to the bound");
    f->attained = fmax(0, gap);
    f->closed = no_gap;
    return;
  }
  snprintf(f->certificate, sizeof f->certificate, "gradient norm");
  f->attained = s->leaps ? INFINITY : best->slope;
  f->closed = flat;
  if (s->leaps)
    idm_notes_add(&f->words,
                  "the agent takes its best action, so that the objective moves by leaps: no "
                  "gradient shows where it is least, and the certificate stays open");
  if (best->alike == 1)
    idm_notes_add(&f->faults, "one of %d starts of the search ends here, the others above", starts);
  if (isfinite(least))
    idm_notes_add(&f->words,
                  "no policy of any planner has an objective below %.6g; at these numbers it is "
                  "%.6g",
                  least, best->objective);
  idm_notes_add(&f->words,
                "%zu of %d starts of the search end as near and none nearer; that no other numbers "
                "are nearer is not proved",
                best->alike, starts);
  if (s->asked->settings->divergence == IDM_DIVERGENCE_TV)
    idm_notes_add(&f->words, "tv has kinks, at which no gradient is 0: the certificate stays open");
}

idm_status idm_occupancy_search(idm_asked *asked, const idm_parameters *parameters,
                                const double *target, double least, idm_theta *theta,
                                idm_finding *finding, idm_error *opt_error)
{
  idm_occupancy_loss s;
  const size_t d = parameters->dimension;
  reached best = {.y = idm_new(idm_times(d, 1 + starts) + starts, sizeof *best.y),
                  .ended = idm_new(d, sizeof *best.ended)};
  idm_status status = idm_occupancy_loss_open(&s, asked, parameters, target, opt_error);
  if (status == IDM_OK && !(best.y && best.ended)) status = idm_fail_memory(opt_error);
  s.window = window;
  if (status == IDM_OK) {
    best.end = best.y + d;
    best.height = best.end + starts * d;
    status = climb_all(&s, &best, opt_error);
  }
  if (status == IDM_OK) status = polish(&s, best.y, &best.objective, opt_error);
  if (status == IDM_OK) status = find_slope(&s, &best, opt_error);
  if (status == IDM_OK) status = look_around(&s, &best, finding, opt_error);
  if (status == IDM_OK) {
    certify(&s, &best, least, finding);
    idm_parameters_set(parameters, best.y, theta);
  }
  idm_occupancy_loss_close(&s);
  free(best.y);
  free(best.ended);
  return status;
}

idm_status idm_occupancy_climb(idm_asked *asked, const idm_parameters *parameters,
                               const double *target, double *y, idm_error *opt_error)
{
  idm_occupancy_loss s;
  double objective;
  idm_status status = idm_occupancy_loss_open(&s, asked, parameters, target, opt_error);
  s.window = window;
  if (status == IDM_OK) status = climb(&s, y, &objective, opt_error);
  idm_occupancy_loss_close(&s);
  return status;
}
