/* What the data bound: profile likelihoods of each free number, and the likelihood at its limits.
 *
 * Contents: profiles · limits · intervals · sentences */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "invert/assess.h"

/* A 95 % interval ends where the profile has fallen this far (half a chi-square quantile). */
static const double drop = 1.92;
enum { most_steps = 60 };

/* --- profiles ------------------------------------------------------------------------------ */

/* The log-likelihood as a function of all free numbers but one. */
typedef struct profile {
  idm_matching *matching;
  size_t dimension; /* of the whole */
  size_t fixed;     /* the coordinate left out; dimension: none is */
  double *y;        /* [dimension] */
  double *gradient; /* [dimension] */
  double *others;   /* [dimension]: where the last climb ended */
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

static idm_status profile_at(profile *p, double value, double *log_likelihood, idm_error *opt_error)
{
  p->y[p->fixed] = value;
  return climb(p, log_likelihood, opt_error);
}

/* --- limits -------------------------------------------------------------------------------- */

/* The natural value at an end of the scale (side 0: below, 1: above). A number without a limit that
 * can be computed gets one far beyond the unit of the utility. */
static double limit_of(const parameter *item, int side, double range)
{
  const double far = 1e6 * fmax(1, range);
  const double end = side ? item->upper : item->lower;
  if (isfinite(end)) return idm_scale_from(item->scale, end);
  const bool multiplier = item->block == IDM_ALPHA || item->block == IDM_BETA;
  switch (item->scale) {
  case IDM_SCALE_LOG:
    return side ? (multiplier ? INFINITY : far) : 0;
  case IDM_SCALE_INVERSE:
    return side ? 0.0 : -0.0;
  default:
    return (side ? 1 : -1) * (multiplier ? INFINITY : far);
  }
}

double idm_utility_range(const idm_theta *theta)
{
  const idm_block *utility = &theta->block[IDM_UTILITY];
  double low = INFINITY;
  double high = -INFINITY;
  for (size_t i = 0; i < utility->size * utility->variants; i++) {
    low = fmin(low, utility->value[i]);
    high = fmax(high, utility->value[i]);
  }
  return high > low ? high - low : 1;
}

static bool bounded_by_prior(const parameter *item, int side)
{
  return item->prior->kind != IDM_PRIOR_FLAT || isfinite(side ? item->upper : item->lower);
}

static idm_status measure_limits(const inquiry *q, const parameter *item, profile *p,
                                 const double *best, idm_identification *id, idm_error *opt_error)
{
  const double range = idm_utility_range(q->f->problem->theta);
  idm_status status = IDM_OK;
  for (int side = 0; side < 2 && status == IDM_OK; side++) {
    double at_limit = -INFINITY;
    id->limit[side] = limit_of(item, side, range);
    id->proper[side] = bounded_by_prior(item, side);
    fix(p, item->first, best);
    idm_matching_hold(p->matching, item, id->limit[side]);
    status = climb(p, &at_limit, opt_error);
    id->gap[side] = fmax(0, q->assessment->log_likelihood - at_limit);
  }
  idm_matching_hold(p->matching, NULL, 0);
  return status;
}

/* --- intervals ----------------------------------------------------------------------------- */

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
  enum { most_doublings = 24, most_halvings = 12 };
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

/* --- sentences ----------------------------------------------------------------------------- */

/* "1/beta" for a reader, where the quantity is called inverse_beta. */
static void spoken_name(const inquiry *q, const parameter *item, char *name, size_t size)
{
  const char *quantity = q->posterior->quantity.name[item->quantity];
  snprintf(name, size, item->scale == IDM_SCALE_INVERSE ? "1/%.100s" : "%.100s", quantity);
}

/* Sides that the data leave open, as a clause. */
static void open_clause(const idm_identification *id, const char *name, char *text, size_t size)
{
  const bool open[2] = {id->gap[0] <= drop, id->gap[1] <= drop};
  text[0] = '\0';
  if (!open[0] && !open[1]) return;
  const int side = open[1];
  snprintf(text, size,
           "; %s is not bounded %s by the data (the log-likelihood at the limit is within %.2f of "
           "its maximum): there it is %s",
           name,
           open[0] && open[1] ? "on either side"
           : open[1]          ? "above"
                              : "below",
           fmin(open[0] ? id->gap[0] : INFINITY, open[1] ? id->gap[1] : INFINITY),
           id->proper[side] ? "bounded by the prior" : "not bounded at all");
}

static void write_sentence(const inquiry *q, const parameter *item, idm_identification *id)
{
  char name[128];
  char open[300];
  char inverse[200] = "";
  spoken_name(q, item, name, sizeof name);
  open_clause(id, name, open, sizeof open);
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
    snprintf(id->sentence, sizeof id->sentence, "the data bound %s within [%.3g, %.3g]%s%s", name,
             id->low, id->high, inverse, open);
}

/* --- all of it ----------------------------------------------------------------------------- */

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

/* The maximum of the likelihood, from the draw with the highest density. */
static idm_status find_best(const inquiry *q, profile *p, double *best, idm_error *opt_error)
{
  const size_t count = q->posterior->chains * q->posterior->draws;
  size_t at = 0;
  for (size_t i = 1; i < count; i++)
    if (q->posterior->statistics[i].log_density > q->posterior->statistics[at].log_density) at = i;
  idm_inquiry_draw(q, at, best);
  idm_matching_wander(p->matching);
  fix(p, p->dimension, best);
  const idm_status status = climb(p, &q->assessment->log_likelihood, opt_error);
  memcpy(best, p->others, p->dimension * sizeof *best);
  return status;
}

idm_status idm_identify(const inquiry *q, idm_error *opt_error)
{
  const idm_parameters *parameters = q->f->parameters;
  const size_t d = parameters->dimension;
  double *scratch = idm_new(4 * d, sizeof *scratch);
  idm_assessment *a = q->assessment;
  a->parameter = idm_new(parameters->items, sizeof *a->parameter);
  idm_status status = scratch && a->parameter ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    profile p = {.matching = q->f->matching[0], .dimension = d, .fixed = d};
    p.y = scratch;
    p.gradient = scratch + d;
    p.others = scratch + 2 * d;
    double *best = scratch + 3 * d;
    status = find_best(q, &p, best, opt_error);
    for (size_t i = 0; i < parameters->items && status == IDM_OK; i++)
      if (!parameters->item[i].simplex)
        status = identify_item(q, &parameters->item[i], &p, best, &a->parameter[a->parameters++],
                               opt_error);
  }
  free(scratch);
  return status;
}
