/* Distribution functions, kernel densities, rank counts and tail indices of draws.
 *
 * Contents: distribution · density · uniform · pareto */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "infer/approximation.h"
#include "infer/distribution.h"

/* === distribution =========================================================================== */

/* Normal quantile, interior of intervals, and tail of the chi-square distribution. */

/* --- normal quantile ------------------------------------------------------------------------ */

/* Ratio of two polynomials of degree 7; coefficients in ascending order. */
static double ratio(const double above[8], const double below[8], double x)
{
  double a = above[7], b = below[7];
  for (int i = 7; i-- > 0;) {
    a = a * x + above[i];
    b = b * x + below[i];
  }
  return a / b;
}

/* Wichura (1988), Algorithm AS 241, PPND16: |p - 1/2| <= 0.425. */
static double central_quantile(double distance)
{
  static const double above[8] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                  1.9715909503065514427e3, 1.3731693765509461125e4,
                                  4.5921953931549871457e4, 6.7265770927008700853e4,
                                  3.3430575583588128105e4, 2.5090809287301226727e3};
  static const double below[8] = {1,
                                  4.2313330701600911252e1,
                                  6.8718700749205790830e2,
                                  5.3941960214247511077e3,
                                  2.1213794301586595867e4,
                                  3.9307895800092710610e4,
                                  2.8729085735721942674e4,
                                  5.2264952788528545610e3};
  return distance * ratio(above, below, 0.180625 - distance * distance);
}

/* The same for the tails, with r = sqrt(-log of the tail probability): r <= 5, */
static double outer_quantile(double r)
{
  static const double above[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                  5.76949722146069140550e0,  3.64784832476320460504e0,
                                  1.27045825245236838258e0,  2.41780725177450611770e-1,
                                  2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static const double below[8] = {1,
                                  2.05319162663775882187e0,
                                  1.67638483018380384940e0,
                                  6.89767334985100004550e-1,
                                  1.48103976427480074590e-1,
                                  1.51986665636164571966e-2,
                                  5.47593808499534494600e-4,
                                  1.05075007164441684324e-9};
  return ratio(above, below, r - 1.6);
}

/* and r > 5. */
static double extreme_quantile(double r)
{
  static const double above[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                  1.78482653991729133580e0,  2.96560571828504891230e-1,
                                  2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                  2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static const double below[8] = {1,
                                  5.99832206555887937690e-1,
                                  1.36929880922735805310e-1,
                                  1.48753612908506148525e-2,
                                  7.86869131145613259100e-4,
                                  1.84631831751005468180e-5,
                                  1.42151175831644588870e-7,
                                  2.04426310338993978564e-15};
  return ratio(above, below, r - 5);
}

double idm_normal_quantile(double p)
{
  if (!(p >= 0 && p <= 1)) return NAN;
  const double distance = p - 0.5;
  if (fabs(distance) <= 0.425) return central_quantile(distance);
  const double tail = distance < 0 ? p : 1 - p;
  if (!(tail > 0)) return copysign(INFINITY, distance);
  const double r = sqrt(-log(tail));
  return copysign(r <= 5 ? outer_quantile(r) : extreme_quantile(r), distance);
}

/* --- supports ------------------------------------------------------------------------------- */

double idm_clamp_interior(double lower, double upper, double c)
{
  const double lower_limit = fmax(nextafter(lower, upper), lower + DBL_MIN);
  const double upper_limit = fmin(nextafter(upper, lower), upper - DBL_MIN);
  if (c < lower_limit) return lower_limit;
  return c > upper_limit ? upper_limit : c;
}

/* --- gamma and chi-square ------------------------------------------------------------------- */

/* x^a e^-x / Gamma(a + 1). For large a the three factors cancel; Stirling's formula cancels them
 * analytically. */
static double poisson_term(double a, double x)
{
  if (a < 10) return exp(a * log(x) - x - idm_log_gamma(a + 1));
  const double excess = (x - a) / a;
  const double exponent =
      fabs(excess) < 0.5 ? a * (log1p(excess) - excess) : a * log(x / a) - (x - a);
  return exp(exponent - idm_half_log_two_pi - idm_stirling_correction(a)) / sqrt(a);
}

/* Lower regularised incomplete gamma function by its series, Abramowitz and Stegun 6.5.29; accurate
 * for x < a + 1. */
static double lower_gamma(double a, double x)
{
  double term = 1, sum = 1;
  for (double n = a + 1; term > 0.25 * DBL_EPSILON * sum; n++) sum += term *= x / n;
  return poisson_term(a, x) * sum;
}

/* Upper incomplete gamma function by its continued fraction, ibid. 6.5.31 contracted, by Lentz's
 * method; accurate for x > a + 1, where no denominator vanishes. */
static double upper_gamma(double a, double x)
{
  double b = x + 1 - a;
  double c = DBL_MAX;
  double d = 1 / b;
  double fraction = d;
  for (double i = 1;; i++) {
    const double numerator = -i * (i - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    fraction *= d * c;
    if (!(fabs(d * c - 1) > DBL_EPSILON)) return poisson_term(a, x) * a * fraction;
  }
}

double idm_gamma_probability(double shape, double x)
{
  return x < shape + 1 ? lower_gamma(shape, x) : 1 - upper_gamma(shape, x);
}

double idm_gamma_density_of_log(double shape, double x)
{
  return shape * poisson_term(shape, x);
}

double idm_chi_square_tail(double x, double degrees)
{
  if (isnan(x) || !(degrees >= 0 && isfinite(degrees))) return NAN;
  if (!(x > 0)) return 1;
  if (isinf(x) || !(degrees > 0)) return 0; /* with 0 degrees of freedom all mass is at 0 */
  const double a = 0.5 * degrees, half = 0.5 * x;
  return half < a + 1 ? 1 - lower_gamma(a, half) : upper_gamma(a, half);
}

/* === density ================================================================================ */

/* Kernel density estimates of draws.
 *
 * Contents: bandwidths · univariate · bivariate */

/* A kernel is set to 0 beyond this many bandwidths: less than 1e-17 of its mass lies there. */
static const double kernel_radius = 9;

/* --- bandwidths ----------------------------------------------------------------------------- */

idm_status idm_density_bandwidth(const double *draw, size_t count, int dimension,
                                 double *ret_bandwidth, idm_error *opt_error)
{
  double *kept = idm_new(count, sizeof *kept);
  size_t n = 0;
  *ret_bandwidth = 0;
  if (!kept) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count; i++)
    if (isfinite(draw[i])) kept[n++] = draw[i];
  if (n > 1) {
    const double sd = sqrt(idm_moments_of(kept, n).variance);
    const double quartiles = (idm_quantile(kept, n, 0.75) - idm_quantile(kept, n, 0.25)) / 1.34;
    const double s = quartiles > 0 ? fmin(sd, quartiles) : sd;
    const bool varies = kept[0] < kept[n - 1]; /* idm_quantile has sorted them */
    *ret_bandwidth = !varies          ? 0
                     : dimension == 1 ? 0.9 * s * pow((double)n, -1.0 / 5)
                                      : s * pow((double)n, -1.0 / 6);
  }
  free(kept);
  return IDM_OK;
}

/* --- univariate ------------------------------------------------------------------------------ */

static double kernel(double x, double centre, double bandwidth)
{
  static const double density_at_draw = 0.3989422804014327; /* 1 / sqrt(2 pi) */
  const double z = (x - centre) / bandwidth;
  return fabs(z) < kernel_radius ? density_at_draw * exp(-0.5 * z * z) / bandwidth : 0;
}

/* Kernel of a draw at x, with all its reflections at the ends of the support. */
static double reflected_kernel(double x, double draw, double bandwidth, idm_density_support s)
{
  double sum = kernel(x, draw, bandwidth);
  const double length = s.high - s.low;
  if (!isfinite(length)) {
    if (isfinite(s.low)) sum += kernel(x, 2 * s.low - draw, bandwidth);
    if (isfinite(s.high)) sum += kernel(x, 2 * s.high - draw, bandwidth);
    return sum;
  }
  /* Two ends: reflections at both give draw + 2 k length and its mirror image, for every k in
   * reach. */
  const int upper_limit = (int)fmin(ceil(kernel_radius * bandwidth / (2 * length)) + 1, 10000);
  for (int k = -upper_limit; k <= upper_limit; k++) {
    if (k) sum += kernel(x, draw + 2 * k * length, bandwidth);
    sum += kernel(x, 2 * s.low - draw + 2 * k * length, bandwidth);
  }
  return sum;
}

static bool contains(idm_density_support s, double x)
{
  return x >= s.low && x <= s.high;
}

void idm_density_at(const double *draw, size_t count, double bandwidth, idm_density_support support,
                    const double *at, size_t points, double *density)
{
  size_t n = 0;
  for (size_t i = 0; i < count; i++) n += isfinite(draw[i]) != 0;
  for (size_t k = 0; k < points; k++) {
    double sum = 0;
    for (size_t i = 0; i < count && contains(support, at[k]); i++)
      if (isfinite(draw[i])) sum += reflected_kernel(at[k], draw[i], bandwidth, support);
    density[k] = n ? sum / (double)n : 0;
  }
}

/* --- bivariate ------------------------------------------------------------------------------- */

static bool is_finite_pair(const idm_joint_draws *j, size_t i)
{
  return isfinite(j->draw[0][i]) && isfinite(j->draw[1][i]);
}

idm_status idm_joint_density(const idm_joint_draws *j, double *density, idm_error *opt_error)
{
  const size_t across = j->points[0], up = j->points[1];
  double *kernel_value = idm_new(across + up, sizeof *kernel_value);
  size_t n = 0;
  if (!kernel_value) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < across * up; k++) density[k] = 0;
  for (size_t i = 0; i < j->count; i++) {
    if (!is_finite_pair(j, i)) continue;
    n++;
    for (size_t d = 0; d < 2; d++)
      for (size_t k = 0; k < j->points[d]; k++)
        kernel_value[d * across + k] =
            contains(j->support[d], j->at[d][k])
                ? reflected_kernel(j->at[d][k], j->draw[d][i], j->bandwidth[d], j->support[d])
                : 0;
    for (size_t y = 0; y < up; y++)
      for (size_t x = 0; x < across && kernel_value[across + y] > 0; x++)
        density[y * across + x] += kernel_value[x] * kernel_value[across + y];
  }
  for (size_t k = 0; k < across * up; k++) density[k] /= n ? (double)n : 1;
  free(kernel_value);
  return IDM_OK;
}

/* Grid cell that contains a number, and the fraction of it below; false outside the grid. */
static bool find_cell(const double *at, size_t points, double x, size_t *ret_cell,
                      double *ret_fraction)
{
  size_t low = 0, high = points - 1;
  if (points < 2 || !(x >= at[0] && x <= at[high])) return false;
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if (x >= at[middle])
      low = middle;
    else
      high = middle;
  }
  *ret_cell = low;
  *ret_fraction = (x - at[low]) / (at[high] - at[low]);
  return true;
}

idm_status idm_joint_level(const idm_joint_draws *j, const double *density, double share,
                           double *ret_level, idm_error *opt_error)
{
  const size_t across = j->points[0];
  double *density_at_draw = idm_new(j->count, sizeof *density_at_draw);
  size_t n = 0;
  if (!density_at_draw) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < j->count; i++) {
    size_t x, y;
    double a, b;
    if (!is_finite_pair(j, i)) continue;
    density_at_draw[n] = 0; /* outside the grid the density is taken as lower than anywhere on it */
    if (find_cell(j->at[0], j->points[0], j->draw[0][i], &x, &a) &&
        find_cell(j->at[1], j->points[1], j->draw[1][i], &y, &b)) {
      const double *corner = density + y * across + x;
      density_at_draw[n] = (1 - b) * ((1 - a) * corner[0] + a * corner[1]) +
                           b * ((1 - a) * corner[across] + a * corner[across + 1]);
    }
    n++;
  }
  *ret_level = n ? idm_quantile(density_at_draw, n, 1 - share) : NAN;
  free(density_at_draw);
  return IDM_OK;
}

/* === uniform ================================================================================ */

/* Rank counts and binomial intervals. */

typedef struct chain_value {
  double value;
  size_t chain;
} chain_value;

static int by_value(const void *a, const void *b)
{
  const double x = ((const chain_value *)a)->value, y = ((const chain_value *)b)->value;
  return (x > y) - (x < y);
}

idm_status idm_rank_counts(const double *x, size_t chains, size_t draws, size_t bins, size_t *count,
                           idm_error *opt_error)
{
  chain_value *order = idm_new(idm_times(chains, draws), sizeof *order);
  size_t n = 0;
  if (!order) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < chains * bins; i++) count[i] = 0;
  for (size_t i = 0; i < chains * draws; i++)
    if (!isnan(x[i])) order[n++] = (chain_value){x[i], i / draws};
  qsort(order, n, sizeof *order, by_value);
  for (size_t first = 0, next; first < n; first = next) {
    for (next = first + 1; next < n && order[next].value == order[first].value; next++) {
    }
    /* Ranks from 0.5 to n - 0.5; ties get the mean rank. */
    const double rank = 0.5 * (double)(first + next);
    const size_t bin = (size_t)(rank / (double)n * (double)bins);
    for (size_t i = first; i < next; i++)
      count[order[i].chain * bins + (bin < bins ? bin : bins - 1)]++;
  }
  free(order);
  return IDM_OK;
}

/* By logarithms, because (1 - p)^n may underflow. */
static double binomial_probability(size_t n, double p, size_t k)
{
  if (p <= 0 || p >= 1) return k == (p <= 0 ? 0 : n);
  const double trials = (double)n, successes = (double)k;
  return exp(idm_log_gamma(trials + 1) - idm_log_gamma(successes + 1) -
             idm_log_gamma(trials - successes + 1) + successes * log(p) +
             (trials - successes) * log1p(-p));
}

void idm_binomial_interval(size_t n, double p, double share, size_t *ret_low, size_t *ret_high)
{
  const double tail = (1 - share) / 2;
  double below = 0, above = 0;
  size_t low = 0, high = n;
  while (low < n && below + binomial_probability(n, p, low) <= tail)
    below += binomial_probability(n, p, low++);
  while (high > 0 && above + binomial_probability(n, p, high) <= tail)
    above += binomial_probability(n, p, high--);
  *ret_low = low;
  *ret_high = high;
}

double idm_binomial_tail(size_t n, double p, size_t count)
{
  double below = 0;
  for (size_t k = 0; k < count; k++) below += binomial_probability(n, p, k);
  return fmax(0, 1 - below);
}

/* === pareto ================================================================================= */

/* Tail index: shape of the generalised Pareto distribution fitted to the largest values (Zhang and
 * Stephens 2009, with the prior of Vehtari, Simpson, Gelman, Yao and Gabry 2024). */

/* A shorter tail is not fitted: its lower quartile is its smallest excess. */
enum { min_tail = 6 };

static double lower_quartile(const double *excess, size_t count)
{
  return excess[(size_t)((double)count / 4 + 0.5) - 1];
}

/* Shape for a given theta: mean of log(1 - theta x). */
static double shape_at(double theta, const double *excess, size_t count)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += log1p(-theta * excess[i]);
  return sum / (double)count;
}

/* Posterior mean of theta over a grid of `rates` values, weighted by the profile likelihood. */
static double mean_rate(const double *excess, size_t count, size_t rates, double *rate,
                        double *weight)
{
  const double quartile = lower_quartile(excess, count);
  for (size_t j = 0; j < rates; j++) {
    rate[j] =
        1 / excess[count - 1] + (1 - sqrt((double)rates / ((double)j + 0.5))) / (3 * quartile);
    const double shape = shape_at(rate[j], excess, count);
    const double likelihood = (double)count * (log(-rate[j] / shape) - shape - 1);
    weight[j] = isnan(likelihood) ? -INFINITY : likelihood;
  }
  idm_softmax(weight, rates, weight);
  return idm_weighted_mean(rate, weight, rates);
}

size_t idm_pareto_tail(size_t count, double efficiency)
{
  const double n = (double)count;
  return (size_t)fmin(floor(n / 5), floor(3 * sqrt(n / efficiency)));
}

idm_status idm_pareto_fit(const double *excess, size_t count, idm_pareto *ret_pareto,
                          idm_error *opt_error)
{
  const double prior_count = 10, prior_shape = 0.5, n = (double)count;
  const size_t rates = 30 + (size_t)sqrt(n);
  const bool equal = count && !(excess[count - 1] > excess[0]);
  *ret_pareto = (idm_pareto){equal && count >= min_tail ? -INFINITY : NAN, NAN};
  if (equal || count < min_tail || !(lower_quartile(excess, count) > excess[0])) return IDM_OK;
  double *scratch = idm_new(2 * rates, sizeof *scratch);
  if (!scratch) return idm_fail_memory(opt_error);
  const double rate = mean_rate(excess, count, rates, scratch, scratch + rates);
  const double shape = shape_at(rate, excess, count);
  *ret_pareto =
      (idm_pareto){(shape * n + prior_shape * prior_count) / (n + prior_count), -shape / rate};
  free(scratch);
  return IDM_OK;
}

idm_status idm_pareto_shape(const double *x, size_t count, double *ret_shape, idm_error *opt_error)
{
  idm_require(x, ret_shape);
  const size_t tail = idm_pareto_tail(count, 1);
  *ret_shape = NAN;
  if (tail < min_tail) return IDM_OK;
  for (size_t i = 0; i < count; i++)
    if (!isfinite(x[i])) return IDM_OK;
  double *sorted = idm_duplicate(x, count, sizeof *sorted);
  if (!sorted) return idm_fail_memory(opt_error);
  idm_sort(sorted, count);
  double *excess = sorted + count - tail;
  const double threshold = sorted[count - tail - 1];
  for (size_t i = 0; i < tail; i++) excess[i] -= threshold;
  idm_pareto fit;
  const idm_status status = idm_pareto_fit(excess, tail, &fit, opt_error);
  if (status == IDM_OK) *ret_shape = fit.shape;
  free(sorted);
  return status;
}
