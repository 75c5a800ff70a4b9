/* Statistics: log-gamma, sums of exponentials, moments, quantiles, saddlepoint tails and
 * conditional value at risk.
 *
 * Contents: gamma · log sum · moments · quantile · saddlepoint · tail */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/soft.h"
#include "base/statistics.h"

/* === gamma ================================================================================== */

/* Log-gamma by Stirling's series, after a shift of small arguments. */

double idm_stirling_correction(double x)
{
  static const double term[] = {1.0 / 12,   -1.0 / 360,        1.0 / 1260, -1.0 / 1680,
                                1.0 / 1188, -691.0 / 360360.0, 1.0 / 156};
  const double inverse_square = 1 / (x * x);
  double sum = 0;
  for (int i = 7; i-- > 0;) sum = sum * inverse_square + term[i];
  return sum / x;
}

double idm_log_gamma(double x)
{
  if (isinf(x)) return x;
  /* Gamma(x) = Gamma(x + k) / (x (x + 1) ... (x + k - 1)) */
  double product = 1;
  while (x < 10) {
    product *= x;
    x++;
  }
  return (x - 0.5) * log(x) - x + idm_half_log_two_pi + idm_stirling_correction(x) - log(product);
}

double idm_digamma(double x)
{
  double below = 0;
  while (x < 8) {
    below += 1 / x;
    x += 1;
  }
  const double r = 1 / (x * x);
  const double series =
      r * (1.0 / 12 - r * (1.0 / 120 -
                           r * (1.0 / 252 -
                                r * (1.0 / 240 - r * (1.0 / 132 - r * (691.0 / 32760 - r / 12))))));
  return log(x) - 0.5 / x - series - below;
}

double idm_trigamma(double x)
{
  double below = 0;
  while (x < 8) {
    below += 1 / (x * x);
    x += 1;
  }
  const double r = 1 / (x * x);
  const double series =
      r * (1.0 / 6 -
           r * (1.0 / 30 -
                r * (1.0 / 42 - r * (1.0 / 30 - r * (5.0 / 66 - r * (691.0 / 2730 - r * 7 / 6))))));
  return (1 + 0.5 / x + series) / x + below;
}

/* === log sum ================================================================================ */

/* Sums of exponentials in logarithms.
 *
 * The soft extrema (soft.c) do not use these functions: they are accurate in every limit of a
 * temperature, process vectors of problems, and share their exponentials with their gradients. */

double idm_log_add_exp(double a, double b)
{
  if (a == b) return a + log(2); /* also for equal infinities, whose difference is NaN */
  const double high = a > b ? a : b;
  const double low = a > b ? b : a;
  return high + log1p(exp(low - high));
}

void idm_log_sum_add(idm_log_sum *sum, double term)
{
  if (term > sum->largest) {
    sum->scale = sum->scale * exp(sum->largest - term) + 1;
    sum->largest = term;
  } else {
    /* The difference of equal infinities is NaN. The scale has no effect where the largest term is
     * -inf. */
    sum->scale += term == sum->largest ? 1 : exp(term - sum->largest);
  }
}

double idm_log_sum_value(idm_log_sum sum)
{
  return sum.largest + log(sum.scale);
}

double idm_log_sum_exp(const double *x, size_t count)
{
  idm_log_sum sum = idm_log_sum_empty;
  for (size_t i = 0; i < count; i++) idm_log_sum_add(&sum, x[i]);
  return idm_log_sum_value(sum);
}

static double largest_of(const double *x, size_t count)
{
  double largest = -INFINITY;
  for (size_t i = 0; i < count; i++) largest = fmax(largest, x[i]);
  return largest;
}

/* Two passes, with one exponential per term, in place of idm_log_sum. */
double idm_softmax(const double *x, size_t count, double *p)
{
  const double largest = largest_of(x, count);
  double scale = 0;
  if (count == 0) return -INFINITY;
  for (size_t i = 0; i < count; i++) scale += p[i] = x[i] == largest ? 1 : exp(x[i] - largest);
  const double sum = largest + log(scale);
  for (size_t i = 0; i < count; i++) p[i] = isfinite(sum) ? p[i] / scale : 0;
  return sum;
}

void idm_softmax_floor(double *x, size_t count, double floor)
{
  const double largest = largest_of(x, count);
  const double lower_value = log(floor);
  for (size_t i = 0; i < count; i++)
    x[i] = fmax(x[i] - largest, lower_value); /* fmax replaces NaN by the floor */
  idm_softmax(x, count, x);
}

/* === moments ================================================================================ */

/* Means, variances and covariances. */

/* --- numbers -------------------------------------------------------------------------------- */

double idm_mean(const double *x, size_t count)
{
  if (count == 0) return NAN;
  const double shift = isfinite(x[0]) ? x[0] : 0;
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += x[i] - shift;
  return shift + sum / (double)count;
}

double idm_squares_about(const double *x, size_t count, double centre)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += (x[i] - centre) * (x[i] - centre);
  return sum;
}

void idm_welford_add(idm_welford *w, double x)
{
  const double step = x - w->mean;
  w->mean += step / (double)++w->count;
  w->squares += step * (x - w->mean);
}

double idm_welford_variance(const idm_welford *w)
{
  return w->count > 1 ? w->squares / (double)(w->count - 1) : NAN;
}

idm_moments idm_moments_of(const double *x, size_t count)
{
  idm_welford w = {0};
  for (size_t i = 0; i < count; i++) idm_welford_add(&w, x[i]);
  return (idm_moments){count ? w.mean : NAN, idm_welford_variance(&w)};
}

/* --- weighted numbers ----------------------------------------------------------------------- */

static double sum_of(const double *x, size_t count)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += x[i];
  return sum;
}

double idm_weighted_mean(const double *x, const double *weight, size_t count)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += weight[i] * x[i];
  return sum / sum_of(weight, count);
}

double idm_effective_size(const double *weight, size_t count)
{
  const double sum = sum_of(weight, count);
  double square = 0;
  if (!(sum > 0 && isfinite(sum))) return 0;
  for (size_t i = 0; i < count; i++) square += weight[i] / sum * (weight[i] / sum);
  return 1 / square;
}

/* --- points --------------------------------------------------------------------------------- */

static double weight_of(const idm_points *p, size_t i)
{
  return p->opt_weight ? p->opt_weight[i] : 1;
}

/* Weighted means into mean[dimension]; returns the sum of the weights. */
static double find_means(const idm_points *p, double *mean)
{
  double total = 0;
  memset(mean, 0, p->dimension * sizeof *mean);
  for (size_t i = 0; i < p->count; i++) {
    const double weight = weight_of(p, i);
    total += weight;
    if (weight == 0) continue;
    for (size_t k = 0; k < p->dimension; k++)
      mean[k] += weight * p->x[i * p->point_stride + k * p->number_stride];
  }
  for (size_t k = 0; k < p->dimension; k++) mean[k] /= total;
  return total;
}

void idm_covariance(const idm_points *points, double ddof, double *mean, double *covariance)
{
  const idm_points *p = points;
  const size_t d = p->dimension;
  const double total = find_means(p, mean);
  memset(covariance, 0, d * d * sizeof *covariance);
  for (size_t i = 0; i < p->count; i++) {
    const double weight = weight_of(p, i);
    const double *x = p->x + i * p->point_stride;
    if (weight == 0) continue;
    for (size_t k = 0; k < d; k++) {
      const double off = weight * (x[k * p->number_stride] - mean[k]);
      for (size_t j = 0; j <= k; j++)
        covariance[k * d + j] += off * (x[j * p->number_stride] - mean[j]);
    }
  }
  for (size_t k = 0; k < d; k++)
    for (size_t j = 0; j <= k; j++)
      covariance[j * d + k] = covariance[k * d + j] = covariance[k * d + j] / (total - ddof);
}

/* === quantile =============================================================================== */

/* Sorted numbers and their quantiles. */

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void idm_sort(double *x, size_t count)
{
  if (count) qsort(x, count, sizeof *x, ascending);
}

static int ascending_indexed(const void *a, const void *b)
{
  const idm_indexed *x = a, *y = b;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

void idm_sort_indexed(idm_indexed *x, size_t count)
{
  if (count) qsort(x, count, sizeof *x, ascending_indexed);
}

idm_indexed *idm_sort_order(const double *x, size_t count)
{
  idm_indexed *order = idm_new(count, sizeof *order);
  for (size_t i = 0; order && i < count; i++) order[i] = (idm_indexed){x[i], i};
  if (order) idm_sort_indexed(order, count);
  return order;
}

/* Hyndman and Fan (1996), definition 7. */
double idm_sorted_quantile(const double *sorted, size_t count, double q)
{
  double position = q * (double)(count - 1);
  /* q such as 0.05 is not exact in binary: a position within rounding of an integer is set to that
   * integer. */
  const double nearest = floor(position + 0.5);
  if (fabs(position - nearest) <= 4 * DBL_EPSILON * (double)count) position = nearest;
  const size_t below = (size_t)position;
  const double fraction = position - (double)below;
  const double low = sorted[below];
  if (!(fraction > 0) || !(low < sorted[below + 1])) return low;
  return low + fraction * (sorted[below + 1] - low);
}

double idm_quantile(double *x, size_t count, double q)
{
  if (!x || count == 0 || !(q >= 0 && q <= 1)) return NAN;
  for (size_t i = 0; i < count; i++)
    if (isnan(x[i])) return NAN;
  idm_sort(x, count);
  return idm_sorted_quantile(x, count, q);
}

/* === saddlepoint ============================================================================ */

/* Tail probability of a sum of independent discrete variables. */

/* The cumulant generating function K(t), its first two derivatives, and the sum over the terms of
 * the tilted variance times the range of the values. */
typedef struct cumulants {
  double value;
  double derivative;
  double curvature;
  double spread;
} cumulants;

static void add_term(const double *probability, const double *value, size_t width, double copies,
                     double t, cumulants *c)
{
  double max_exponent = -INFINITY, low = INFINITY, high = -INFINITY, total = 0, mean = 0,
         variance = 0;
  for (size_t o = 0; o < width; o++) {
    if (!(probability[o] > 0)) continue;
    low = fmin(low, value[o]);
    high = fmax(high, value[o]);
    max_exponent = fmax(max_exponent, t * value[o]);
  }
  for (size_t o = 0; o < width; o++) {
    if (!(probability[o] > 0)) continue;
    const double weight = probability[o] * exp(t * value[o] - max_exponent);
    total += weight;
    mean += weight * value[o];
  }
  if (!(total > 0)) return;
  mean /= total;
  for (size_t o = 0; o < width; o++) {
    if (!(probability[o] > 0)) continue;
    const double weight = probability[o] * exp(t * value[o] - max_exponent) / total;
    variance += weight * (value[o] - mean) * (value[o] - mean);
  }
  c->value += copies * (max_exponent + log(total));
  c->derivative += copies * mean;
  c->curvature += copies * variance;
  c->spread += copies * variance * (high - low);
}

static cumulants cumulants_at(const idm_discrete_sum *sum, double t)
{
  cumulants c = {0};
  for (size_t i = 0; i < sum->terms; i++)
    add_term(sum->probability + i * sum->width, sum->value + i * sum->width, sum->width,
             sum->copies[i], t, &c);
  return c;
}

/* By doubling, a tilt beyond the one at which the tilted mean is x. At an end of the support there
 * is none: *ret_end is then true, at a tilt that leaves hardly any variance. */
static double bracket(const idm_discrete_sum *sum, double x, const cumulants *at_zero,
                      cumulants *at, bool *ret_end)
{
  double t = (x - at_zero->derivative) / at_zero->curvature;
  *ret_end = false;
  for (int i = 0; i < 200; i++, t *= 2) {
    *at = cumulants_at(sum, t);
    if (t > 0 ? at->derivative >= x : at->derivative <= x) return t;
    if (!(at->curvature > 1e-12 * at_zero->curvature)) break;
  }
  *ret_end = true;
  return t;
}

/* Solve K'(t) = x by Newton's method, safeguarded by bisection inside the bracket (near, far]. */
static double solve(const idm_discrete_sum *sum, double x, double near, double far, cumulants *at)
{
  double t = far;
  for (int i = 0; i < 200; i++) {
    const double gap = at->derivative - x;
    if (fabs(gap) <= 1e-9 * sqrt(at->curvature)) break;
    if ((gap > 0) == (far > near))
      far = t;
    else
      near = t;
    const double newton = t - gap / at->curvature;
    const bool inside = (newton - near) * (newton - far) < 0;
    const double next = inside ? newton : 0.5 * (near + far);
    if (next == t) break;
    t = next;
    *at = cumulants_at(sum, t);
  }
  return t;
}

static double normal_tail(double z)
{
  return 0.5 * erfc(fabs(z) / sqrt(2));
}

double idm_saddlepoint_tail(const idm_discrete_sum *sum, double x)
{
  static const double near_mean = 0.1; /* sds from the mean; at the mean the formula is 0 / 0 */
  static const double root_two_pi = 2.506628274631000502;
  const cumulants at_zero = cumulants_at(sum, 0);
  if (!(at_zero.curvature > 0)) return 1;
  const double z = (x - at_zero.derivative) / sqrt(at_zero.curvature);
  if (fabs(z) < near_mean) return normal_tail(z);
  cumulants at;
  bool end;
  double t = bracket(sum, x, &at_zero, &at, &end);
  if (!end) t = solve(sum, x, 0, t, &at);
  const double exponent = fmax(0, t * x - at.value);
  const double chernoff = exp(-exponent);
  if (end || !(at.curvature > 0)) return chernoff;
  const double w = sqrt(2 * exponent), u = fabs(t) * sqrt(at.curvature);
  const double spacing = fabs(t) * at.spread / at.curvature;
  const double lattice = spacing > 1e-9 ? spacing / -expm1(-spacing) : 1;
  const double tail = normal_tail(w) + chernoff / root_two_pi * (lattice / u - 1 / w);
  return fmin(chernoff, fmax(0, tail));
}

double idm_saddlepoint_two_sided(const idm_discrete_sum *sum, double x, double variance)
{
  static const double far = 2; /* sds */
  const double z = x / sqrt(variance);
  if (fabs(z) < far) return erfc(fabs(z) / sqrt(2));
  return fmin(1, 2 * idm_saddlepoint_tail(sum, x));
}

/* === tail =================================================================================== */

/* Conditional value at risk. */

static double next_above(size_t count, const double *weight, const double *x, double floor)
{
  double next = INFINITY;
  for (size_t j = 0; j < count; j++)
    if (weight[j] > 0 && x[j] > floor && x[j] < next) next = x[j];
  return next;
}

/* Fill alternatives in ascending order up to w / level until the mass of 1 is used; the last group
 * of ties shares the remainder. No memory is allocated. The search is quadratic: there are few
 * models. */
static double fill_tail(double level, double tie, size_t count, const double *weight,
                        const double *x, double *opt_p)
{
  double left = 1;
  double value = 0;
  double floor = -INFINITY;
  for (size_t j = 0; opt_p && j < count; j++) opt_p[j] = 0;
  while (left > 0) {
    const double lower_value = next_above(count, weight, x, floor);
    if (!(lower_value < INFINITY)) break;
    const double group_max = lower_value + tie * fmax(1, fabs(lower_value));
    double mass = 0, mean = 0;
    for (size_t j = 0; j < count; j++)
      if (weight[j] > 0 && x[j] > floor && x[j] <= group_max) {
        mass += weight[j];
        mean += weight[j] * x[j];
      }
    const bool is_last_group = !(mass < left * level);
    const double scale = is_last_group ? left / mass : 1 / level;
    for (size_t j = 0; opt_p && j < count; j++)
      if (weight[j] > 0 && x[j] > floor && x[j] <= group_max) opt_p[j] = scale * weight[j];
    value += scale * mean;
    left = is_last_group ? 0 : left - mass / level;
    floor = group_max;
  }
  /* At level 1, rounding may leave a small remainder. */
  if (left > 0 && left < 1) {
    value /= 1 - left;
    for (size_t j = 0; opt_p && j < count; j++) opt_p[j] /= 1 - left;
  }
  return value;
}

/* The value ignores ties: with ties it would jump by their tolerance, and a fixed-point iteration,
 * whose solution usually lies at ties, would cycle. */
double idm_cvar(double level, size_t count, const double *weight, const double *x, double *opt_p)
{
  if (opt_p) fill_tail(level, IDM_TIE, count, weight, x, opt_p);
  return fill_tail(level, 0, count, weight, x, NULL);
}
