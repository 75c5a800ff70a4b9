/* Search for the parameters of a planner whose occupancy has the least divergence from a target:
 * local minimisation from several starts, and identifiability of the result.
 *
 * Contents: starts · what is open · words */
#include "invert/utility/occupancy_loss.h"

#include <math.h>
#include <stdio.h>

#include "base/dense.h"
#include "base/memory.h"
#include "idm/extension/random.h"
#include "infer/approximation.h"

/* Base of the random streams of starts. */
static const uint64_t start_stream = (uint64_t)1 << 33;
enum { starts = 8, max_steps = 500 };
/* Relative tolerance, as a share of 1 + |objective|, for equal objectives. */
static const double tolerance = 1e-8;
/* Tolerance of the gradient certificate, per typical change of a number. */
static const double gradient_tolerance = 1e-6;
static const double gap_tolerance = 1e-9;
/* The search is limited to this many typical changes around the problem's own values. */
static const double window = 12;
/* Singular values below this share of the largest belong to unidentified directions; finite
 * differences have errors of about 1e-8. */
static const double eigenvalue_tolerance = 1e-6;

/* Minus the loss, as a log density to maximise. */
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
  double *y; /* [dimension]: best point */
  double objective;
  size_t tied_starts; /* number of starts that attain the best objective */
  double derivative;  /* largest derivative there, per typical change */
  double *end;        /* [starts][dimension]: local minimiser of each start */
  double *height;     /* [starts]: the objective there */
  bool *at_end; /* [dimension]: the number is at an end of its range, where its coordinate has no
                   effect; it does not count as unidentified */
} search_result;

/* The first start is the problem's own values; others are draws of the prior or, if it is improper,
 * normal deviates of two typical changes around those values. */
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

/* Pattern search, restarted with smaller initial steps. */
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

/* Local minimisation by L-BFGS; for a divergence with kinks, of a smooth divergence first, followed
 * by a pattern search. If choices are discontinuous, by pattern search alone. */
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
  /* J is finite there but its gradient is not: the start is skipped. */
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

/* Continues a local minimisation with more steps. */
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

/* Gram matrix Q'Q[dimension][dimension], Q = dq/dy per typical change. */
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

/* Stores an unidentified direction, scaled to a largest number of 1. */
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

/* Gives numbers at an end of their range a large diagonal entry, so that they do not count as
 * unidentified. */
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
  /* If points next to the answer cannot be planned for, directions stay uncomputed. */
  return status == IDM_NUMERICAL || status == IDM_INPUT ? IDM_OK : status;
}

/* true if some numbers are those of a network: its units can be permuted and its layers rescaled,
 * so unidentified directions are not listed. */
static bool has_network(const idm_parameters *parameters)
{
  return parameters->items && parameters->item[parameters->items - 1].opaque;
}

/* Sets *ret_low to true if J is as small with number j at one end of the window. */
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

/* Scalar item with this coordinate; NULL if there is none. */
static const parameter *scalar_at(const idm_parameters *parameters, size_t coordinate)
{
  for (size_t i = 0; i < parameters->items; i++)
    if (parameters->item[i].first == coordinate && idm_parameter_is_scalar(&parameters->item[i]))
      return &parameters->item[i];
  return NULL;
}

/* true if the number has two finite ends: a share of 0 is a valid answer, although no coordinate
 * attains it. */
static bool has_ends(const idm_parameters *parameters, size_t coordinate)
{
  const parameter *item = scalar_at(parameters, coordinate);
  return item && isfinite(idm_parameter_reported_at(item, -INFINITY)) &&
         isfinite(idm_parameter_reported_at(item, INFINITY));
}

/* Notes numbers that J bounds on one side only. A number that is bounded on neither side is
 * unidentified. */
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
                    "%.100s is at the upper end of its range: the objective decreases towards 1, "
                    "at which occupancies are not defined, and the log does not bound it",
                    s->parameters->coordinate.name[j]);
    else if (best->at_end[j])
      idm_notes_add(&f->words,
                    "%.100s is at the %s end of its range: the objective decreases towards it",
                    s->parameters->coordinate.name[j], below ? "lower" : "upper");
    else
      idm_notes_add(&f->faults,
                    "%.100s is not bounded from %s: the objective is no larger %g typical changes "
                    "from the value in the problem",
                    s->parameters->coordinate.name[j], below ? "below" : "above", window);
  }
  return status;
}

/* Largest distance of a point from the best in a number, in typical changes; *at is the index of
 * the number. */
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

/* Notes other optima that are not connected by an unidentified direction: a start that ends there
 * and stays there when its search continues. */
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
    idm_notes_add(
        &f->faults,
        "other numbers fit as well: a start of the search ends at %.100s = %.4g instead of %.4g, "
        "and the log does not decide between them; use --inverse bayes, or a narrower prior",
        s->parameters->coordinate.name[at], item ? idm_parameter_reported_at(item, y[at]) : y[at],
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
                  "determined; networks with other numbers have the same policy");
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
    idm_notes_add(&f->words, "unchecked: how precisely the log determines these numbers; "
                             "`distribution-matching-bayes` gives intervals");
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
                  "the agent takes its best action, so that the objective is discontinuous: no "
                  "gradient certifies the minimum, and the certificate stays open");
  if (best->tied_starts == 1)
    idm_notes_add(
        &f->faults,
        "only one of %d starts of the search ends here; the others end at larger objectives",
        starts);
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
                                idm_optimality *optimality, idm_error *opt_error)
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
  if (status == IDM_OK) status = check_identified(&s, &best, optimality, opt_error);
  if (status == IDM_OK) {
    certify(&s, &best, lower_bound, optimality);
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
