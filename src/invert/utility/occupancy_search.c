/* Searching for the numbers whose occupancy comes nearest.
 *
 * Contents: starts · what is open · words */
#include "invert/utility/occupancy_loss.h"

#include <math.h>
#include <stdio.h>

#include "base/dense.h"
#include "base/memory.h"
#include "idm/maximise.h"
#include "idm/random.h"

/* Streams of starts. */
static const uint64_t start_stream = (uint64_t)1 << 33;
enum { starts = 8, max_steps = 500 };
/* Objectives that differ by less than this share of 1 plus their size are the same. */
static const double tolerance = 1e-8;
/* A certificate by the gradient is closed below this, per usual change of a number. */
static const double gradient_tolerance = 1e-6;
static const double gap_tolerance = 1e-9;
/* Numbers are searched for within so many usual changes of the problem's own. */
static const double window = 12;
/* Singular values below this share of the largest are those of open directions: differences have
 * errors of about 1e-8. */
static const double eigenvalue_tolerance = 1e-6;

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

typedef struct search_result {
  double *y; /* [dimension]: the best */
  double objective;
  size_t tied_starts; /* starts that end as near */
  double derivative;  /* largest derivative there, per usual change */
  double *end;        /* [starts][dimension]: where each start ends */
  double *height;     /* [starts]: the objective there */
  bool *at_end; /* [dimension]: the number is at an end of its range, where coordinates move it
                  by nothing, and is not open for that */
} search_result;

/* The problem's own numbers, then draws of the prior or, where it is improper, two usual changes
 * around those. */
static void draw_start(const idm_occupancy_loss *s, size_t start, double *y)
{
  idm_random random;
  idm_random_init(&random, s->task->settings->seed, start_stream + start);
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
static idm_status minimise_nonsmooth(idm_occupancy_loss *s, const idm_target *target, double *y,
                                     double *height, idm_error *opt_error)
{
  enum { rounds = 3 };
  const int limit = max_steps * (int)(s->dimension + 1);
  double *step = idm_duplicate(s->unit, s->dimension, sizeof *step);
  idm_status status = step ? IDM_OK : idm_fail_memory(opt_error);
  for (int k = 0; k < rounds && status == IDM_OK; k++) {
    status = idm_pattern_search(target, step, 0, limit, y, height, opt_error);
    for (size_t j = 0; j < s->dimension; j++) step[j] /= 1000;
  }
  free(step);
  return status;
}

/* Climb by slopes; where the divergence has kinks, by those of a smooth one, and then by steps.
 * Where choices move by leaps there are no slopes. */
static idm_status minimise_local(idm_occupancy_loss *s, double *y, double *ret_objective,
                                 idm_error *opt_error)
{
  const idm_target target = {
      .dimension = s->dimension, .gradient = true, .context = s, .evaluate = evaluate};
  const bool nonsmooth = s->task->settings->divergence == IDM_DIVERGENCE_TV || s->discontinuous;
  double height;
  s->divergence = nonsmooth ? IDM_DIVERGENCE_JS : s->task->settings->divergence;
  idm_status status = evaluate(s, y, &height, NULL, opt_error);
  const bool feasible_start = status == IDM_OK && isfinite(height);
  if (feasible_start && !s->discontinuous)
    status = idm_maximise(&target, 0, max_steps, y, &height, opt_error);
  /* J is finite there, and its gradient is not: the start leads nowhere. */
  if (feasible_start && status == IDM_NUMERICAL) status = IDM_OK;
  s->divergence = s->task->settings->divergence;
  if (nonsmooth && status == IDM_OK) status = evaluate(s, y, &height, NULL, opt_error);
  if (nonsmooth && feasible_start && status == IDM_OK)
    status = minimise_nonsmooth(s, &target, y, &height, opt_error);
  *ret_objective = -height;
  return status;
}

static idm_status minimise_all(idm_occupancy_loss *s, search_result *best, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  best->objective = INFINITY;
  for (size_t i = 0; i < starts && status == IDM_OK; i++) {
    double found = INFINITY, *y = best->end + i * s->dimension;
    draw_start(s, i, y);
    status = minimise_local(s, y, &found, opt_error);
    const double margin = tolerance * (1 + fabs(found));
    best->height[i] = found;
    if (!(found < INFINITY) || found > best->objective + margin) continue;
    best->tied_starts = found < best->objective - margin ? 1 : best->tied_starts + 1;
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
static idm_status refine(idm_occupancy_loss *s, double *y, double *objective, idm_error *opt_error)
{
  enum { step_factor = 10 };
  const idm_target target = {
      .dimension = s->dimension, .gradient = true, .context = s, .evaluate = evaluate};
  double height = -*objective;
  if (s->divergence == IDM_DIVERGENCE_TV || s->discontinuous) return IDM_OK;
  const idm_status status =
      idm_maximise(&target, 0, step_factor * max_steps, y, &height, opt_error);
  *objective = -height;
  return status;
}

static idm_status find_gradient(idm_occupancy_loss *s, search_result *best, idm_error *opt_error)
{
  double *gradient = idm_new(s->dimension, sizeof *gradient);
  double height;
  if (!gradient) return idm_fail_memory(opt_error);
  const idm_status status = evaluate(s, best->y, &height, gradient, opt_error);
  best->derivative = 0;
  for (size_t j = 0; j < s->dimension; j++) {
    const double own = fabs(gradient[j] * s->unit[j]);
    if (!(own <= best->derivative)) best->derivative = own;
  }
  free(gradient);
  return status;
}

/* --- what is open --------------------------------------------------------------------------- */

/* Q'Q[dimension][dimension], Q = dq/dy per usual change. */
static idm_status gram_matrix(idm_occupancy_loss *s, const double *y, double *gram,
                              idm_error *opt_error)
{
  const size_t d = s->dimension;
  double *derivative = idm_new(idm_times(d, s->entries), sizeof *derivative);
  idm_status status = derivative ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t j = 0; j < d && status == IDM_OK; j++) {
    memcpy(s->shifted, y, d * sizeof *y);
    for (int k = 0; k < 2 && status == IDM_OK; k++) {
      s->shifted[j] = y[j] + (k ? 1 : -1) * idm_occupancy_step * s->unit[j];
      status = idm_occupancy_compute(s, s->shifted, opt_error);
      for (size_t e = 0; e < s->entries && status == IDM_OK; e++)
        derivative[j * s->entries + e] += (k ? 1 : -1) * s->occupancy[e] / (2 * idm_occupancy_step);
    }
  }
  for (size_t i = 0; i < d && status == IDM_OK; i++)
    for (size_t j = 0; j < d; j++) {
      gram[i * d + j] = 0;
      for (size_t e = 0; e < s->entries; e++)
        gram[i * d + j] += derivative[i * s->entries + e] * derivative[j * s->entries + e];
    }
  free(derivative);
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
    if (fabs(direction[j]) < eigenvalue_tolerance) direction[j] = 0;
  }
}

/* Give numbers at an end of their range as much effect as all others have. */
static void fix_at_ends(const search_result *best, size_t d, double *gram)
{
  double trace = 0;
  for (size_t j = 0; j < d; j++) trace += gram[j * (d + 1)];
  for (size_t j = 0; j < d; j++) {
    if (!best->at_end[j]) continue;
    for (size_t k = 0; k < d; k++) gram[j * d + k] = gram[k * d + j] = 0;
    gram[j * (d + 1)] = trace;
  }
}

static idm_status find_nullspace(idm_occupancy_loss *s, const search_result *best,
                                 idm_optimality *f, idm_error *opt_error)
{
  const size_t d = s->dimension;
  double *gram = idm_new(idm_times(d, d), sizeof *gram);
  double *values = idm_new(d, sizeof *values);
  double *vectors = idm_new(idm_times(d, d), sizeof *vectors);
  f->direction = idm_new(idm_times(d, d), sizeof *f->direction);
  const bool made = gram && values && vectors && f->direction;
  idm_status status = made ? gram_matrix(s, best->y, gram, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    fix_at_ends(best, d, gram);
    idm_symmetric_eigen(d, gram, values, vectors);
    const double lower_bound = eigenvalue_tolerance * eigenvalue_tolerance * values[d - 1];
    for (size_t j = 0; j < d && values[j] <= lower_bound; j++)
      put_direction(s, vectors + j * d, f->direction + f->open++ * d);
    f->evaluated = true;
  }
  if (!f->open) {
    free(f->direction);
    f->direction = NULL;
  }
  free(gram);
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
static idm_status attains_at(idm_occupancy_loss *s, const search_result *best, size_t j, double end,
                             bool *ret_low, idm_error *opt_error)
{
  double objective;
  double *y = idm_duplicate(best->y, s->dimension, sizeof *y);
  if (!y) return idm_fail_memory(opt_error);
  y[j] = s->own[j] + end * s->unit[j];
  const idm_status status = idm_occupancy_loss_at(s, y, &objective, NULL, opt_error);
  *ret_low = objective <= best->objective + gap_tolerance * (1 + fabs(best->objective));
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
static idm_status find_unbounded(idm_occupancy_loss *s, const search_result *best,
                                 idm_optimality *f, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t j = 0; j < s->dimension && status == IDM_OK; j++) {
    bool below = false, above = false;
    status = attains_at(s, best, j, -window, &below, opt_error);
    if (status == IDM_OK) status = attains_at(s, best, j, window, &above, opt_error);
    if (status != IDM_OK || below == above) continue;
    best->at_end[j] = has_ends(s->parameters, j);
    const parameter *item = scalar_at(s->parameters, j);
    if (best->at_end[j] && above && item && item->block == IDM_DISCOUNT)
      idm_notes_add(&f->faults,
                    "%.100s is at the upper end of its range: the objective falls towards 1, at "
                    "which occupancies are not defined, and the log does not bound it",
                    s->parameters->coordinate.name[j]);
    else if (best->at_end[j])
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
static double distance(const idm_occupancy_loss *s, const double *y, const search_result *best,
                       size_t *at)
{
  double most = 0;
  for (size_t j = 0; j < s->dimension; j++) {
    const double own = fabs(y[j] - best->y[j]) / s->unit[j];
    if (own <= most || best->at_end[j]) continue;
    most = own;
    *at = j;
  }
  return most;
}

/* Other numbers that are as near, though no direction leads to them: a start that ends there, and
 * stays there when its search goes on. */
static idm_status find_other_optima(idm_occupancy_loss *s, const search_result *best,
                                    idm_optimality *f, idm_error *opt_error)
{
  static const double min_distance = 0.1;
  for (size_t i = 0; i < starts; i++) {
    double *y = best->end + i * s->dimension, objective = best->height[i];
    size_t at = 0;
    const double margin = tolerance * (1 + fabs(best->objective));
    if (!(objective <= best->objective + margin) || distance(s, y, best, &at) < min_distance)
      continue;
    const idm_status status = refine(s, y, &objective, opt_error);
    if (status != IDM_OK) return status;
    if (objective > best->objective + margin || distance(s, y, best, &at) < min_distance) continue;
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

static idm_status check_identified(idm_occupancy_loss *s, const search_result *best,
                                   idm_optimality *f, idm_error *opt_error)
{
  if (has_network(s->parameters)) {
    idm_notes_add(&f->words,
                  "unchecked: which numbers of the network the occupancy leaves open was not "
                  "looked for; networks with other numbers have the same policy");
    return IDM_OK;
  }
  idm_status status = find_unbounded(s, best, f, opt_error);
  if (status == IDM_OK && !f->faults.count) status = find_nullspace(s, best, f, opt_error);
  if (status == IDM_OK && f->evaluated && !f->open)
    status = find_other_optima(s, best, f, opt_error);
  return status;
}

/* --- words ---------------------------------------------------------------------------------- */

static void certify(const idm_occupancy_loss *s, const search_result *best, double lower_bound,
                    idm_optimality *f)
{
  const double gap = best->objective - lower_bound;
  f->objective = best->objective;
  if (!has_network(s->parameters) && !s->discontinuous)
    idm_notes_add(&f->words,
                  "unchecked: how far the log bounds these numbers; `distribution-matching-bayes` "
                  "gives intervals");
  if (gap <= gap_tolerance) {
    snprintf(f->certificate, sizeof f->certificate, "gap to the bound");
    f->attained = fmax(0, gap);
    f->closed = gap_tolerance;
    return;
  }
  snprintf(f->certificate, sizeof f->certificate, "gradient norm");
  f->attained = s->discontinuous ? INFINITY : best->derivative;
  f->closed = gradient_tolerance;
  if (s->discontinuous)
    idm_notes_add(&f->words,
                  "the agent takes its best action, so that the objective moves by leaps: no "
                  "gradient shows where it is least, and the certificate stays open");
  if (best->tied_starts == 1)
    idm_notes_add(&f->faults, "one of %d starts of the search ends here, the others above", starts);
  if (isfinite(lower_bound))
    idm_notes_add(&f->words,
                  "no policy of any planner has an objective below %.6g; at these numbers it is "
                  "%.6g",
                  lower_bound, best->objective);
  idm_notes_add(&f->words,
                "%zu of %d starts of the search end as near and none nearer; that no other numbers "
                "are nearer is not proved",
                best->tied_starts, starts);
  if (s->task->settings->divergence == IDM_DIVERGENCE_TV)
    idm_notes_add(&f->words, "tv has kinks, at which no gradient is 0: the certificate stays open");
}

idm_status idm_occupancy_search(idm_task *task, const idm_parameters *parameters,
                                const double *target, double lower_bound, idm_theta *theta,
                                idm_optimality *finding, idm_error *opt_error)
{
  idm_occupancy_loss s;
  const size_t d = parameters->dimension;
  search_result best = {.y = idm_new(idm_times(d, 1 + starts) + starts, sizeof *best.y),
                        .at_end = idm_new(d, sizeof *best.at_end)};
  idm_status status = idm_occupancy_loss_open(&s, task, parameters, target, opt_error);
  if (status == IDM_OK && !(best.y && best.at_end)) status = idm_fail_memory(opt_error);
  s.window = window;
  if (status == IDM_OK) {
    best.end = best.y + d;
    best.height = best.end + starts * d;
    status = minimise_all(&s, &best, opt_error);
  }
  if (status == IDM_OK) status = refine(&s, best.y, &best.objective, opt_error);
  if (status == IDM_OK) status = find_gradient(&s, &best, opt_error);
  if (status == IDM_OK) status = check_identified(&s, &best, finding, opt_error);
  if (status == IDM_OK) {
    certify(&s, &best, lower_bound, finding);
    idm_parameters_set(parameters, best.y, theta);
  }
  idm_occupancy_loss_close(&s);
  free(best.y);
  free(best.at_end);
  return status;
}

idm_status idm_occupancy_minimise(idm_task *task, const idm_parameters *parameters,
                                  const double *target, double *y, idm_error *opt_error)
{
  idm_occupancy_loss s;
  double objective;
  idm_status status = idm_occupancy_loss_open(&s, task, parameters, target, opt_error);
  s.window = window;
  if (status == IDM_OK) status = minimise_local(&s, y, &objective, opt_error);
  idm_occupancy_loss_close(&s);
  return status;
}
