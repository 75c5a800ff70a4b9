/* What the data bound: profile likelihoods of each free number, and the likelihood at its limits.
 *
 * Contents: profiles · limits · intervals · sentences · the verdict */
#include <math.h>
#include <stdio.h>

#include "base/dense.h"
#include "base/memory.h"
#include "idm/assess.h"
#include "idm/laplace.h"
#include "idm/matching.h"
#include "idm/maximise.h"
#include "idm/prior.h"
#include "idm/transform.h"
#include "invert/assess/identify.h"
#include "invert/matching/matching.h"
#include "setting/freedom.h"

/* A 95 % interval ends where the profile has fallen this far (half a chi-square quantile). */
static const double drop = 1.92;
enum { most_steps = 60 };

/* --- profiles ------------------------------------------------------------------------------- */

/* The log-likelihood as a function of all free numbers but one. */
typedef struct profile {
  idm_matching *matching;
  size_t dimension; /* of the whole */
  size_t fixed;     /* the coordinate left out; dimension: none is */
  double *y;        /* [dimension] */
  double *gradient; /* [dimension] */
  double *others;   /* [dimension]: where the last climb ended */
  double *best;     /* [dimension]: the maximum */
  double *path;     /* [dimension]: how the others follow the fixed one, a unit of it */
} profile;

static idm_status evaluate(void *context, const double *x, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  profile *p = context;
  for (size_t i = 0, j = 0; i < p->dimension; i++)
    if (i != p->fixed) p->y[i] = x[j++];
  const idm_status status = idm_matching_log_likelihood(
      p->matching, p->y, log_density, opt_gradient ? p->gradient : NULL, opt_error);
  for (size_t i = 0, j = 0; opt_gradient && i < p->dimension; i++)
    if (i != p->fixed) opt_gradient[j++] = p->gradient[i];
  return status;
}

/* Maximise over the others, from where the last climb ended. */
static idm_status climb(profile *p, double *log_likelihood, idm_error *opt_error)
{
  const size_t free_numbers = p->dimension - (p->fixed < p->dimension);
  const idm_target target = {
      .dimension = free_numbers, .gradient = true, .context = p, .evaluate = evaluate};
  const idm_status status = evaluate(p, p->others, log_likelihood, NULL, opt_error);
  if (status != IDM_OK || !free_numbers || !isfinite(*log_likelihood)) return status;
  return idm_maximise(&target, 1e-6, most_steps, p->others, log_likelihood, opt_error);
}

/* Fix coordinate `fixed` of y; the others start from y. */
static void fix(profile *p, size_t fixed, const double *y)
{
  p->fixed = fixed;
  memcpy(p->y, y, p->dimension * sizeof *y);
  for (size_t i = 0, j = 0; i < p->dimension; i++)
    if (i != fixed) p->others[j++] = y[i];
}

/* The others at the end of the straight path that a normal likelihood would have them take; a shift
 * that changes nothing is such a path. */
static void follow_path(const profile *p, double value, double *others)
{
  const double moved = value - p->best[p->fixed];
  for (size_t i = 0, j = 0; i < p->dimension; i++)
    if (i != p->fixed) others[j++] = p->best[i] + moved * p->path[i];
}

/* The profile at a value of the fixed coordinate: climbed from the better of two starts, where the
 * last climb ended and where the path leads. */
static idm_status profile_at(profile *p, double value, double *log_likelihood, idm_error *opt_error)
{
  double last = -INFINITY;
  double ahead = -INFINITY;
  const size_t others = (p->dimension - 1) * sizeof(double);
  p->y[p->fixed] = value;
  idm_status status = evaluate(p, p->others, &last, NULL, opt_error);
  if (status != IDM_OK || p->dimension == 1) {
    *log_likelihood = last;
    return status;
  }
  memcpy(p->gradient, p->others, others);
  follow_path(p, value, p->others);
  status = evaluate(p, p->others, &ahead, NULL, opt_error);
  if (status != IDM_OK) return status;
  if (!(ahead > last)) memcpy(p->others, p->gradient, others);
  return climb(p, log_likelihood, opt_error);
}

/* How the others follow coordinate `fixed` at the maximum: minus P_oo^-1 P_of, P the curvature. */
static void find_path(profile *p, const double *precision)
{
  const size_t d = p->dimension;
  double *matrix = idm_new((d + 1) * d, sizeof *matrix);
  for (size_t i = 0; i < d; i++) p->path[i] = 0;
  if (!matrix || d < 2) {
    free(matrix);
    return;
  }
  double *rhs = matrix + d * d;
  const size_t n = d - 1;
  for (size_t i = 0, k = 0; i < d; i++) {
    if (i == p->fixed) continue;
    rhs[k] = -precision[i * d + p->fixed];
    for (size_t j = 0, l = 0; j < d; j++)
      if (j != p->fixed) matrix[k * n + l++] = precision[i * d + j];
    k++;
  }
  if (idm_cholesky(n, matrix)) {
    idm_lower_solve(n, matrix, rhs);
    idm_lower_solve_transposed(n, matrix, rhs);
    for (size_t i = 0, k = 0; i < d; i++)
      if (i != p->fixed) p->path[i] = rhs[k++];
  }
  free(matrix);
}

/* --- limits --------------------------------------------------------------------------------- */

/* The natural value at an end of the scale (side 0: below, 1: above). A number without a limit that
 * can be computed gets one far beyond the unit of the utility. */
static double limit_of(const idm_block_info *info, const parameter *item, int side, double range)
{
  const double far = 1e6 * fmax(1, range);
  const double end = side ? item->upper : item->lower;
  if (isfinite(end)) return idm_scale_from(item->scale, end);
  switch (item->scale) {
  case IDM_SCALE_LOG:
    return side ? (info->infinite ? INFINITY : far) : 0;
  case IDM_SCALE_INVERSE:
    return side ? 0.0 : -0.0;
  default:
    return (side ? 1 : -1) * (info->infinite ? INFINITY : far);
  }
}

static bool bounded_by_prior(const parameter *item, int side)
{
  return item->prior->kind != IDM_PRIOR_FLAT || isfinite(side ? item->upper : item->lower);
}

static idm_status measure_limits(const inquiry *q, const parameter *item, profile *p,
                                 const double *best, idm_identification *id, idm_error *opt_error)
{
  const double range = idm_theta_range(q->f->problem->theta);
  idm_status status = IDM_OK;
  for (int side = 0; side < 2 && status == IDM_OK; side++) {
    double at_limit = -INFINITY;
    id->limit[side] = limit_of(q->f->parameters->theta->block[item->block].info, item, side, range);
    id->proper[side] = bounded_by_prior(item, side);
    fix(p, item->first, best);
    idm_matching_hold(p->matching, item, id->limit[side]);
    /* A limit that is a number has a place on the path; another is climbed to from the maximum. */
    const bool placed = item->scale == IDM_SCALE_IDENTITY && isfinite(id->limit[side]) &&
                        isinf(item->lower) && isinf(item->upper);
    status = placed ? profile_at(p, id->limit[side], &at_limit, opt_error)
                    : climb(p, &at_limit, opt_error);
    id->gap[side] = fmax(0, q->assessment->log_likelihood - at_limit);
  }
  idm_matching_hold(p->matching, NULL, 0);
  return status;
}

/* --- intervals ------------------------------------------------------------------------------ */

/* Signed distance from the drop, on the scale on which a normal likelihood is a straight line. */
static double depth(const inquiry *q, double log_likelihood)
{
  return sqrt(2 * fmax(0, q->assessment->log_likelihood - log_likelihood)) - sqrt(2 * drop);
}

/* Where the profile has fallen by `drop`, going from best in steps that double. NaN where it never
 * does. */
static idm_status find_end(const inquiry *q, profile *p, size_t at, const double *best, double step,
                           double *ret_end, idm_error *opt_error)
{
  enum { most_doublings = 60, most_halvings = 12 };
  double inner = best[at];
  double outer = inner;
  double inner_depth = -sqrt(2 * drop);
  double outer_depth = inner_depth;
  double reached;
  *ret_end = NAN;
  fix(p, at, best);
  for (int i = 0; i < most_doublings && outer_depth < 0; i++, step *= 2) {
    inner = outer;
    inner_depth = outer_depth;
    outer += step;
    const idm_status status = profile_at(p, outer, &reached, opt_error);
    if (status != IDM_OK) return status;
    outer_depth = isfinite(reached) ? depth(q, reached) : 1e3;
  }
  if (outer_depth < 0) return IDM_OK;
  for (int i = 0; i < most_halvings; i++) {
    /* Regula falsi, kept away from the ends so that a kink cannot stall it. */
    const double part = fmin(fmax(-inner_depth / (outer_depth - inner_depth), 0.05), 0.95);
    const double middle = inner + part * (outer - inner);
    const idm_status status = profile_at(p, middle, &reached, opt_error);
    if (status != IDM_OK) return status;
    const double here = isfinite(reached) ? depth(q, reached) : 1e3;
    *ret_end = middle;
    if (fabs(here) < 5e-3) break;
    if (here < 0) {
      inner = middle;
      inner_depth = here;
    } else {
      outer = middle;
      outer_depth = here;
    }
  }
  return IDM_OK;
}

/* A first step: the posterior's own spread, or a part of a unit. */
static double spread(const inquiry *q, size_t coordinate)
{
  const size_t count = q->posterior->chains * q->posterior->draws;
  const double *x = q->posterior->unconstrained + coordinate * count;
  double mean = 0;
  double square = 0;
  for (size_t i = 0; i < count; i++) mean += x[i] / (double)count;
  for (size_t i = 0; i < count; i++) square += (x[i] - mean) * (x[i] - mean) / (double)count;
  return square > 0 ? sqrt(square) : 0.1;
}

static idm_status measure_interval(const inquiry *q, const parameter *item, profile *p,
                                   const double *best, idm_identification *id, idm_error *opt_error)
{
  const double step = spread(q, item->first);
  double end[2] = {NAN, NAN};
  idm_status status = IDM_OK;
  for (int side = 0; side < 2 && status == IDM_OK; side++)
    if (id->gap[side] > drop)
      status = find_end(q, p, item->first, best, side ? step : -step, &end[side], opt_error);
  if (status != IDM_OK) return status;
  double value[3];
  const double y[3] = {end[0], best[item->first], end[1]};
  for (int i = 0; i < 3; i++)
    value[i] = idm_parameter_reported_at(
        item, idm_constrain(item->lower, item->upper, y[i], NULL, NULL, NULL));
  id->low = isnan(end[0]) ? idm_parameter_reported_at(item, item->lower) : value[0];
  id->maximum = value[1];
  id->high = isnan(end[1]) ? idm_parameter_reported_at(item, item->upper) : value[2];
  return IDM_OK;
}

static double contraction(const inquiry *q, const parameter *item)
{
  const double prior = idm_prior_sd(item->prior);
  const size_t count = q->posterior->chains * q->posterior->draws;
  if (!isfinite(prior) || count < 2) return NAN;
  double mean = 0;
  double square = 0;
  for (size_t i = 0; i < count; i++) mean += idm_inquiry_coordinate(q, item, i) / (double)count;
  for (size_t i = 0; i < count; i++) {
    const double d = idm_inquiry_coordinate(q, item, i) - mean;
    square += d * d / (double)(count - 1);
  }
  return 1 - square / (prior * prior);
}

/* --- sentences ------------------------------------------------------------------------------ */

/* Sides that the data leave open, as clauses. */
static void open_clauses(const idm_identification *id, char *text, size_t size)
{
  size_t length = 0;
  text[0] = '\0';
  for (int side = 0; side < 2; side++)
    if (id->gap[side] <= drop)
      length += (size_t)snprintf(
          text + length, size - length,
          id->proper[side]
              ? "; %s it is bounded by the prior, not by the data (at the limit the "
                "log-likelihood is within %.2f of its maximum)"
              : "; %s it is bounded neither by the data (at the limit the log-likelihood is within "
                "%.2f of its maximum) nor by the prior",
          side ? "above" : "below", id->gap[side]);
}

static void write_sentence(const inquiry *q, const parameter *item, idm_identification *id)
{
  char name[128];
  char open[400];
  char inverse[200] = "";
  idm_quantity_spoken(q->posterior->quantity.name[id->quantity], name, sizeof name);
  open_clauses(id, open, sizeof open);
  if (item->scale == IDM_SCALE_INVERSE) {
    const char *natural = q->posterior->quantity.name[item->quantity];
    if (id->low <= 0 && id->high >= 0)
      snprintf(inverse, sizeof inverse, "; %.60s itself is not bounded above: report 1/%.60s%s",
               natural, natural, item->block == IDM_BETA ? ", optimism, not beta" : "");
    else
      snprintf(inverse, sizeof inverse, " (%.60s between %.3g and %.3g)", natural,
               1 / (id->high != 0 ? id->high : INFINITY), 1 / id->low);
  }
  if (id->gap[0] <= drop && id->gap[1] <= drop)
    snprintf(id->sentence, sizeof id->sentence, "the data do not bound %s%s", name, open);
  else
    snprintf(id->sentence, sizeof id->sentence,
             "the data bound %s within [%.3g, %.3g] (95 %% profile likelihood)%s%s", name, id->low,
             id->high, inverse, open);
}

/* --- all of it ------------------------------------------------------------------------------ */

static idm_status identify_item(const inquiry *q, const parameter *item, profile *p,
                                const double *best, idm_identification *id, idm_error *opt_error)
{
  id->quantity = idm_parameter_reported(item);
  idm_status status = measure_limits(q, item, p, best, id, opt_error);
  if (status == IDM_OK) status = measure_interval(q, item, p, best, id, opt_error);
  if (status != IDM_OK) return status;
  id->contraction = contraction(q, item);
  write_sentence(q, item, id);
  return IDM_OK;
}

/* With every utility free a number added to all of them changes no choice: the path is known. */
static bool shifts_freely(const inquiry *q, const parameter *item)
{
  return item->block == IDM_UTILITY && !q->f->problem->theta->block[IDM_UTILITY].coordinate &&
         item->scale == IDM_SCALE_IDENTITY;
}

static void shift_path(const inquiry *q, profile *p)
{
  const idm_parameters *parameters = q->f->parameters;
  for (size_t i = 0; i < p->dimension; i++) p->path[i] = 0;
  for (size_t i = 0; i < parameters->items; i++)
    if (parameters->item[i].block == IDM_UTILITY) p->path[parameters->item[i].first] = 1;
}

/* Starting points that owe nothing to the priors asked for: the problem's own values, then draws of
 * the default priors. The best of them into y, and its log-likelihood. */
static idm_status look_around(const inquiry *q, profile *p, double *y, double *log_likelihood,
                              idm_error *opt_error)
{
  enum { looks = 9 };
  idm_problem usual = *q->f->problem;
  idm_parameters *parameters = NULL;
  idm_random random;
  *log_likelihood = -INFINITY;
  double *draw = idm_new(2 * p->dimension, sizeof *draw);
  if (!draw) return idm_fail_memory(opt_error);
  idm_status status = idm_theta_copy(q->f->problem->theta, &usual.theta, opt_error);
  for (size_t i = 0; status == IDM_OK && i < usual.theta->blocks; i++)
    if (usual.theta->block[i].role == IDM_DESCRIPTIVE)
      status =
          idm_theta_default_prior(usual.theta, i, idm_theta_range(q->f->problem->theta), opt_error);
  if (status == IDM_OK) status = idm_parameters_create(&usual, &parameters, opt_error);
  idm_random_init(&random, q->posterior->seed, UINT64_MAX);
  for (int k = 0; k < looks && status == IDM_OK; k++) {
    double here = -INFINITY;
    if (k > 0) {
      idm_parameters_draw(parameters, &random, draw);
      idm_parameters_set(parameters, draw, usual.theta);
    }
    idm_parameters_get(q->f->parameters, usual.theta, draw + p->dimension);
    status = evaluate(p, draw + p->dimension, &here, NULL, opt_error);
    if (!(here > *log_likelihood)) continue;
    *log_likelihood = here;
    memcpy(y, draw + p->dimension, p->dimension * sizeof *y);
  }
  idm_parameters_destroy(parameters);
  idm_theta_destroy(usual.theta);
  free(draw);
  return status;
}

/* The maximum of the likelihood: climbed to from the draw with the highest density, and from
 * elsewhere, where the prior may have kept the draws away from it. */
static idm_status find_best(const inquiry *q, profile *p, idm_error *opt_error)
{
  const size_t bytes = p->dimension * sizeof *p->best;
  const size_t count = q->posterior->chains * q->posterior->draws;
  size_t at = 0;
  double elsewhere = -INFINITY;
  for (size_t i = 1; i < count; i++)
    if (q->posterior->statistics[i].log_density > q->posterior->statistics[at].log_density) at = i;
  idm_inquiry_draw(q, at, p->best);
  idm_matching_wander(p->matching);
  fix(p, p->dimension, p->best);
  idm_status status = climb(p, &q->assessment->log_likelihood, opt_error);
  memcpy(p->best, p->others, bytes);
  if (status == IDM_OK) status = look_around(q, p, p->others, &elsewhere, opt_error);
  if (status == IDM_OK && isfinite(elsewhere)) status = climb(p, &elsewhere, opt_error);
  if (status != IDM_OK || !(elsewhere > q->assessment->log_likelihood)) return status;
  q->assessment->log_likelihood = elsewhere;
  memcpy(p->best, p->others, bytes);
  return IDM_OK;
}

static idm_status identify_all(const inquiry *q, profile *p, double *curvature,
                               idm_error *opt_error)
{
  const idm_parameters *parameters = q->f->parameters;
  const size_t d = p->dimension;
  idm_assessment *a = q->assessment;
  bool definite = false;
  idm_status status = find_best(q, p, opt_error);
  p->fixed = d;
  const idm_target target = {.dimension = d, .gradient = true, .context = p, .evaluate = evaluate};
  if (status == IDM_OK)
    status = idm_laplace(&target, p->best, curvature + d * d, curvature, &definite, opt_error);
  for (size_t i = 0; i < parameters->items && status == IDM_OK; i++) {
    if (!idm_parameter_is_scalar(&parameters->item[i])) continue;
    p->fixed = parameters->item[i].first;
    if (shifts_freely(q, &parameters->item[i]))
      shift_path(q, p);
    else
      find_path(p, curvature);
    status = identify_item(q, &parameters->item[i], p, p->best, &a->parameter[a->parameters++],
                           opt_error);
  }
  return status;
}

idm_status idm_identify(const inquiry *q, idm_error *opt_error)
{
  const size_t d = q->f->parameters->dimension;
  idm_assessment *a = q->assessment;
  double *scratch = idm_new((5 + 2 * d) * d, sizeof *scratch);
  a->parameter = idm_new(q->f->parameters->items, sizeof *a->parameter);
  idm_status status = scratch && a->parameter ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    profile p = {.matching = q->f->matching[0], .dimension = d, .fixed = d};
    p.y = scratch;
    p.gradient = scratch + d;
    p.others = scratch + 2 * d;
    p.best = scratch + 3 * d;
    p.path = scratch + 4 * d;
    status = identify_all(q, &p, scratch + 5 * d, opt_error);
  }
  free(scratch);
  return status;
}

/* --- the verdict ---------------------------------------------------------------------------- */

/* A side that neither the data nor the prior bound makes the posterior improper. */
void idm_judge_identification(const inquiry *q)
{
  idm_assessment *a = q->assessment;
  char name[128];
  for (size_t i = 0; i < a->parameters; i++) {
    const idm_identification *id = &a->parameter[i];
    idm_quantity_spoken(q->posterior->quantity.name[id->quantity], name, sizeof name);
    for (int side = 0; side < 2; side++)
      if (id->gap[side] <= drop && !id->proper[side])
        idm_notes_add(&a->failures,
                      "nothing bounds %s %s: the prior is improper and the log-likelihood at the "
                      "limit is within %.2f of its maximum; give it a proper prior",
                      name, side ? "above" : "below", id->gap[side]);
    idm_notes_add(&a->remarks, "%s", id->sentence);
    const double middle = a->diagnosis[id->quantity].q50;
    if (a->answer == IDM_POSTERIOR && (middle < id->low || middle > id->high))
      idm_notes_add(&a->remarks,
                    "prior and data disagree about %s: the posterior median %.3g lies outside what "
                    "the data bound; look at the prior",
                    name, middle);
  }
}
