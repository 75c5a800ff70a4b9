/* Leave-one-out cross-validation by Pareto-smoothed importance sampling (Vehtari, Gelman and Gabry
 * 2017; Vehtari, Simpson, Gelman, Yao and Gabry 2024), as in arviz-stats 1.3. See
 * docs/method/comparison.md, 1.
 *
 * Contents: efficiency · importance weights · units · differences */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "infer/approximation.h"
#include "infer/comparison.h"
#include "infer/distribution.h"

/* --- efficiency ------------------------------------------------------------------------------ */

/* Mean effective sample size of the quantities; NaN if no quantity has one. */
static double mean_size(idm_ess *ess, const double *x, size_t quantities, size_t chains,
                        size_t draws, double *halves)
{
  idm_welford size = {0};
  for (size_t q = 0; q < quantities; q++) {
    idm_split_chains(x + q * chains * draws, chains, draws, halves);
    const double one = idm_ess_of(ess, halves);
    if (isfinite(one)) idm_welford_add(&size, one);
  }
  return size.count ? size.mean : NAN;
}

idm_status idm_relative_efficiency(const double *x, size_t quantities, size_t chains, size_t draws,
                                   double *ret_efficiency, idm_error *opt_error)
{
  *ret_efficiency = 1;
  if (chains < 2 || draws < 4) return IDM_OK;
  idm_ess *ess;
  const idm_status status = idm_ess_create(2 * chains, draws / 2, &ess, opt_error);
  if (status != IDM_OK) return status;
  double *halves = idm_new(idm_times(chains, draws), sizeof *halves);
  if (halves) {
    const double size = mean_size(ess, x, quantities, chains, draws, halves);
    if (!isnan(size)) *ret_efficiency = size / ((double)chains * (double)draws);
  }
  free(halves);
  idm_ess_destroy(ess);
  return halves ? IDM_OK : idm_fail_memory(opt_error);
}

/* --- importance weights ---------------------------------------------------------------------- */

/* Quantile of a generalised Pareto distribution above 0. */
static double pareto_quantile(idm_pareto p, double probability)
{
  const double exponent = -log1p(-probability);
  return p.scale * (p.shape == 0 ? exponent : expm1(p.shape * exponent) / p.shape);
}

/* Replace the ratios of the tail, ascending and at most 0, by expected order statistics of the
 * fitted distribution, at most 0. Returns Pareto k. `excess` is scratch memory. */
static idm_status smooth_tail(idm_indexed *ratio, size_t tail, double log_threshold, double *excess,
                              double *ret_shape, idm_error *opt_error)
{
  const double threshold = exp(log_threshold);
  idm_pareto fit;
  for (size_t i = 0; i < tail; i++) excess[i] = exp(ratio[i].value) - threshold;
  const idm_status status = idm_pareto_fit(excess, tail, &fit, opt_error);
  if (status != IDM_OK) return status;
  *ret_shape = isnan(fit.shape) ? INFINITY : fit.shape;
  for (size_t i = 0; isfinite(fit.shape) && i < tail; i++) {
    const double above = pareto_quantile(fit, ((double)i + 0.5) / (double)tail);
    ratio[i].value = fmin(0, log(threshold + above));
  }
  return IDM_OK;
}

/* Smooth the `tail` largest of the ratios in ascending order, relative to the largest. */
static idm_status smooth(idm_indexed *ratio, size_t count, size_t tail, double *ret_shape,
                         idm_error *opt_error)
{
  const double largest = ratio[count - 1].value;
  *ret_shape = INFINITY;
  if (tail >= count || isinf(largest)) return IDM_OK;
  double *excess = idm_new(tail, sizeof *excess);
  if (!excess) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count; i++) ratio[i].value -= largest;
  idm_indexed *first = ratio + count - tail;
  const idm_status status = smooth_tail(first, tail, first[-1].value, excess, ret_shape, opt_error);
  free(excess);
  return status;
}

/* Infinite ratios share the weight. */
static void normalise(const idm_indexed *ratio, size_t count, double *log_weight)
{
  const bool infinite = ratio[count - 1].value == INFINITY;
  for (size_t i = 0; i < count; i++) {
    const double value = ratio[i].value;
    log_weight[ratio[i].index] = !infinite ? value : value == INFINITY ? 0 : -INFINITY;
  }
  const double sum = idm_log_sum_exp(log_weight, count);
  for (size_t i = 0; i < count; i++) log_weight[i] -= sum;
}

static idm_status check_ratios(const double *log_ratio, size_t count, idm_error *opt_error)
{
  double largest = -INFINITY;
  if (!count) return idm_fail(opt_error, IDM_USAGE, "there is no draw to weight");
  for (size_t i = 0; i < count; i++) {
    if (isnan(log_ratio[i]))
      return idm_fail(opt_error, IDM_INPUT, "the importance ratio of draw %zu is NaN", i + 1);
    largest = fmax(largest, log_ratio[i]);
  }
  if (largest == -INFINITY)
    return idm_fail(opt_error, IDM_INPUT, "the importance ratios of all %zu draws are 0", count);
  return IDM_OK;
}

idm_status idm_psis(const double *log_ratio, size_t count, size_t tail, double *log_weight,
                    double *ret_shape, idm_error *opt_error)
{
  idm_status status = check_ratios(log_ratio, count, opt_error);
  if (status != IDM_OK) return status;
  idm_indexed *ratio = idm_sort_order(log_ratio, count);
  if (!ratio) return idm_fail_memory(opt_error);
  status = smooth(ratio, count, tail, ret_shape, opt_error);
  if (status == IDM_OK) normalise(ratio, count, log_weight);
  free(ratio);
  return status;
}

/* --- units ----------------------------------------------------------------------------------- */

static idm_status check_likelihood(double value, size_t draw, idm_error *opt_error)
{
  if (value < INFINITY) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "the log-likelihood at draw %zu is %g; expected a number below infinity",
                  draw + 1, value);
}

idm_status idm_leave_one_out(const double *log_likelihood, size_t draws, size_t stride,
                             double efficiency, idm_left_out *ret_left_out, idm_error *opt_error)
{
  double *term = idm_new(draws, sizeof *term);
  idm_status status = term ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t s = 0; s < draws && status == IDM_OK; s++) {
    term[s] = -log_likelihood[s * stride];
    status = check_likelihood(-term[s], s, opt_error);
  }
  if (status == IDM_OK)
    status = idm_psis(term, draws, idm_pareto_tail(draws, efficiency), term, &ret_left_out->shape,
                      opt_error);
  if (status == IDM_OK) {
    for (size_t s = 0; s < draws; s++) term[s] += log_likelihood[s * stride];
    ret_left_out->elpd = idm_log_sum_exp(term, draws);
  }
  free(term);
  return status;
}

double idm_good_shape(size_t draws)
{
  return draws > 1 ? fmin(1 - 1 / log10((double)draws), 0.7) : 0.7;
}

/* --- differences ----------------------------------------------------------------------------- */

/* Sum of a number per unit, and its standard error. */
static idm_elpd total_of(const idm_welford *w)
{
  const double n = (double)w->count;
  const bool defined = w->count > 1;
  return (idm_elpd){.elpd = n * w->mean,
                    .se = defined ? sqrt(n * idm_welford_variance(w)) : NAN,
                    .reason = defined ? NULL : "a standard error needs at least two units"};
}

static idm_status check_elpd(const double *elpd, size_t units, idm_error *opt_error)
{
  if (!units) return idm_fail(opt_error, IDM_USAGE, "there is no unit to compare");
  for (size_t i = 0; i < units; i++)
    if (!(elpd[i] < INFINITY))
      return idm_fail(opt_error, IDM_INPUT,
                      "the log predictive density of unit %zu is %g; expected a number below "
                      "infinity",
                      i + 1, elpd[i]);
  return IDM_OK;
}

idm_status idm_elpd_total(const double *elpd, size_t units, idm_elpd *ret_total,
                          idm_error *opt_error)
{
  const idm_status status = check_elpd(elpd, units, opt_error);
  if (status != IDM_OK) return status;
  idm_welford sum = {0};
  bool impossible = false;
  for (size_t i = 0; i < units; i++) {
    impossible = impossible || isinf(elpd[i]);
    idm_welford_add(&sum, elpd[i]);
  }
  *ret_total = impossible ? (idm_elpd){-INFINITY, NAN, "a unit has density 0 under the other units"}
                          : total_of(&sum);
  return IDM_OK;
}

/* Differences of which some are infinite: the sum is, unless both signs occur. */
static idm_elpd_difference infinite_difference(bool above, bool below)
{
  const double sign = above ? 1 : -1;
  const bool both = above && below;
  return (idm_elpd_difference){
      .elpd = both ? NAN : sign * INFINITY,
      .se = NAN,
      .better = both ? NAN : above,
      .reason = both ? "each model gives density 0 to a unit to which the other does not"
                     : "one model gives density 0 to a unit to which the other does not"};
}

/* P(a normal variable with this mean and standard error is positive). */
static double probability_positive(double mean, double se)
{
  if (mean == 0) return 0.5;
  return 0.5 * erfc(-mean / se / sqrt(2));
}

static idm_elpd_difference finite_difference(const idm_welford *w)
{
  const idm_elpd total = total_of(w);
  return (idm_elpd_difference){.elpd = total.elpd,
                               .se = total.se,
                               .better =
                                   total.reason ? NAN : probability_positive(total.elpd, total.se),
                               .reason = total.reason};
}

idm_status idm_elpd_compare(const double *elpd_a, const double *elpd_b, size_t units,
                            idm_elpd_difference *ret_difference, idm_error *opt_error)
{
  idm_status status = check_elpd(elpd_a, units, opt_error);
  if (status == IDM_OK) status = check_elpd(elpd_b, units, opt_error);
  if (status != IDM_OK) return status;
  idm_welford sum = {0};
  bool above = false, below = false;
  for (size_t i = 0; i < units; i++) {
    if (elpd_a[i] == elpd_b[i] && isinf(elpd_a[i])) continue;
    above = above || isinf(elpd_b[i]);
    below = below || isinf(elpd_a[i]);
    idm_welford_add(&sum, elpd_a[i] - elpd_b[i]);
  }
  *ret_difference = above || below ? infinite_difference(above, below) : finite_difference(&sum);
  ret_difference->units = sum.count;
  ret_difference->few = sum.count < 100;
  ret_difference->close = fabs(ret_difference->elpd) < 4;
  return IDM_OK;
}
