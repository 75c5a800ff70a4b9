/* Convergence diagnostics of chains after Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021),
 * "Rank-normalization, folding, and localization: an improved R-hat". Results agree with ArviZ
 * 0.23.4; reference results are in tests/golden_arviz. See docs/method/inference.md, 6.
 *
 * Contents: ess · diagnostics */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "infer/chains.h"
#include "infer/distribution.h"

/* === ess ====================================================================================== */

/* Effective sample size: autocovariances by a fast Fourier transform, truncated by Geyer's initial
 * monotone sequence (Geyer 1992; Vehtari et al. 2021, section 3.2). Where the papers leave a choice
 * (the terms of the last pair, the upper bound), ArviZ 0.23 is followed. */

struct idm_ess {
  size_t chains;
  size_t draws;
  size_t size;       /* transform length: a power of two, at least twice `draws`, to avoid circular
                        overlap */
  double *cosine;    /* [size / 2] of 2 pi k / size */
  double *sine;      /* [size / 2] */
  double *real;      /* [size] */
  double *imaginary; /* [size] */
  double *power;     /* [size], in the bit-reversed order of the forward transform */
  double *rho;       /* [draws] autocorrelations */
};

/* --- allocation ------------------------------------------------------------------------------ */

static size_t transform_size(size_t draws)
{
  size_t size = 4;
  while (size < 2 * draws) size *= 2;
  return size;
}

static void fill_twiddles(idm_ess *ess)
{
  const double angle = 6.283185307179586477 / (double)ess->size;
  for (size_t k = 0; k < ess->size / 2; k++) {
    ess->cosine[k] = cos(angle * (double)k);
    ess->sine[k] = sin(angle * (double)k);
  }
}

idm_status idm_ess_create(size_t chains, size_t draws, idm_ess **ret_ess, idm_error *opt_error)
{
  *ret_ess = NULL;
  idm_ess *ess = draws < (size_t)-1 / 64 ? idm_new(1, sizeof *ess) : NULL;
  if (!ess) goto failed;
  ess->chains = chains;
  ess->draws = draws;
  ess->size = transform_size(draws);
  ess->cosine = idm_new(ess->size / 2, sizeof(double));
  ess->sine = idm_new(ess->size / 2, sizeof(double));
  ess->real = idm_new(ess->size, sizeof(double));
  ess->imaginary = idm_new(ess->size, sizeof(double));
  ess->power = idm_new(ess->size, sizeof(double));
  ess->rho = idm_new(draws, sizeof(double));
  if (!ess->cosine || !ess->sine || !ess->real || !ess->imaginary || !ess->power || !ess->rho)
    goto failed;
  fill_twiddles(ess);
  *ret_ess = ess;
  return IDM_OK;
failed:
  idm_ess_destroy(ess);
  return idm_fail(opt_error, IDM_MEMORY, "no memory for the diagnostics of %zu draws", draws);
}

void idm_ess_destroy(idm_ess *ess)
{
  if (!ess) return;
  free(ess->cosine);
  free(ess->sine);
  free(ess->real);
  free(ess->imaginary);
  free(ess->power);
  free(ess->rho);
  free(ess);
}

/* --- half chains ----------------------------------------------------------------------------- */

void idm_split_chains(const double *x, size_t chains, size_t draws, double *halves)
{
  const size_t half = draws / 2;
  for (size_t c = 0; c < chains; c++) {
    memcpy(halves + 2 * c * half, x + c * draws, half * sizeof *x);
    memcpy(halves + (2 * c + 1) * half, x + (c + 1) * draws - half, half * sizeof *x);
  }
}

/* --- Fourier transforms --------------------------------------------------------------------- */

/* Forward transform from natural to bit-reversed order (Gentleman and Sande 1966). */
static void transform_forward(idm_ess *ess)
{
  double *re = ess->real, *im = ess->imaginary;
  for (size_t half = ess->size / 2; half > 0; half /= 2) {
    const size_t stride = ess->size / 2 / half;
    for (size_t start = 0; start < ess->size; start += 2 * half) {
      for (size_t i = start, k = 0; i < start + half; i++, k += stride) {
        const double x = re[i] - re[i + half], y = im[i] - im[i + half];
        re[i] += re[i + half];
        im[i] += im[i + half];
        re[i + half] = x * ess->cosine[k] - y * ess->sine[k];
        im[i + half] = x * ess->sine[k] + y * ess->cosine[k];
      }
    }
  }
}

/* Inverse transform from bit-reversed to natural order (Cooley and Tukey 1965). */
static void transform_inverse(idm_ess *ess)
{
  double *re = ess->real, *im = ess->imaginary;
  for (size_t half = 1; half < ess->size; half *= 2) {
    const size_t stride = ess->size / 2 / half;
    for (size_t start = 0; start < ess->size; start += 2 * half) {
      for (size_t i = start, k = 0; i < start + half; i++, k += stride) {
        const double a = re[i + half], b = im[i + half];
        const double x = a * ess->cosine[k] - b * ess->sine[k];
        const double y = a * ess->sine[k] + b * ess->cosine[k];
        re[i + half] = re[i] - x;
        im[i + half] = im[i] - y;
        re[i] += x;
        im[i] += y;
      }
    }
  }
}

/* Deviations from the mean of the chain, padded with zeros. */
static void load_chain(const idm_ess *ess, const double *x, double *target)
{
  const double mean = idm_mean(x, ess->draws);
  for (size_t i = 0; i < ess->draws; i++) target[i] = x[i] - mean;
  memset(target + ess->draws, 0, (ess->size - ess->draws) * sizeof *target);
}

/* real[t] = autocovariance at lag t, averaged over chains. Two chains are transformed as the real
 * and imaginary parts of one series: the real part of its autocovariance is the sum of theirs.
 * Power spectra are summed before the inverse transform. The autocovariance of a real series is
 * even, so the direction of the transform does not matter. */
static void autocovariances(idm_ess *ess, const double *x)
{
  memset(ess->power, 0, ess->size * sizeof *ess->power);
  for (size_t c = 0; c < ess->chains; c += 2) {
    load_chain(ess, x + c * ess->draws, ess->real);
    memset(ess->imaginary, 0, ess->size * sizeof *ess->imaginary);
    if (c + 1 < ess->chains) load_chain(ess, x + (c + 1) * ess->draws, ess->imaginary);
    transform_forward(ess);
    for (size_t k = 0; k < ess->size; k++)
      ess->power[k] += ess->real[k] * ess->real[k] + ess->imaginary[k] * ess->imaginary[k];
  }
  const double norm = (double)ess->size * (double)ess->draws * (double)ess->chains;
  for (size_t k = 0; k < ess->size; k++) ess->real[k] = ess->power[k] / norm;
  memset(ess->imaginary, 0, ess->size * sizeof *ess->imaginary);
  transform_inverse(ess);
}

/* --- Geyer's sequence ----------------------------------------------------------------------- */

/* Variance of the chain means (Vehtari et al. 2021, equation 3.1, over the draws per chain). */
static double between_variance(const idm_ess *ess, const double *x)
{
  if (ess->chains < 2) return 0;
  const double centre = idm_mean(x, ess->chains * ess->draws);
  double squares = 0;
  for (size_t c = 0; c < ess->chains; c++) {
    const double distance = idm_mean(x + c * ess->draws, ess->draws) - centre;
    squares += distance * distance;
  }
  return squares / (double)(ess->chains - 1);
}

/* Fill rho until the sum of an even and the next odd lag is no longer positive. Returns the first
 * lag of the last pair examined; that lag counts half if it is positive by itself. */
static size_t positive_sequence(idm_ess *ess, double within, double total)
{
  double *rho = ess->rho;
  const double *covariance = ess->real;
  double even = 1, odd = 1 - (within - covariance[1]) / total;
  memset(rho, 0, ess->draws * sizeof *rho);
  rho[0] = even;
  rho[1] = odd;
  size_t last = 0;
  while (last + 4 < ess->draws && even + odd > 0) {
    last += 2;
    even = 1 - (within - covariance[last]) / total;
    odd = 1 - (within - covariance[last + 1]) / total;
    if (even + odd < 0) continue;
    rho[last] = even;
    rho[last + 1] = odd;
  }
  if (even > 0) rho[last] = even;
  return last;
}

/* Make pair sums before `last` non-increasing: a larger one is replaced by its predecessor. */
static void make_monotone(double *rho, size_t last)
{
  for (size_t t = 2; t + 2 <= last; t += 2) {
    const double before = rho[t - 2] + rho[t - 1];
    if (rho[t] + rho[t + 1] > before) rho[t] = rho[t + 1] = 0.5 * before;
  }
}

static bool is_constant(const double *x, size_t count)
{
  const double resolution = 1e-15; /* absolute, as in ArviZ */
  double min_value = x[0], max_value = x[0];
  for (size_t i = 0; i < count; i++) {
    min_value = fmin(min_value, x[i]);
    max_value = fmax(max_value, x[i]);
  }
  return max_value - min_value < resolution;
}

double idm_ess_of(idm_ess *ess, const double *x)
{
  const size_t count = ess->chains * ess->draws;
  for (size_t i = 0; i < count; i++)
    if (!isfinite(x[i])) return NAN;
  if (is_constant(x, count)) return (double)count;
  autocovariances(ess, x);
  const double n = (double)ess->draws;
  const double within = ess->real[0] * n / (n - 1);
  const size_t last = positive_sequence(ess, within, ess->real[0] + between_variance(ess, x));
  make_monotone(ess->rho, last);
  double tau = -1 + ess->rho[last];
  for (size_t t = 0; t < last; t++) tau += 2 * ess->rho[t];
  /* Antithetic chains may exceed the effective sample size of independent draws, but boundedly. */
  tau = fmax(tau, 1 / log10((double)count));
  return isnan(ess->rho[1]) ? NAN : (double)count / tau;
}

/* === diagnostics ============================================================================== */

/* --- allocation ------------------------------------------------------------------------------ */

/* All draws of a quantity [chain][draw], the half chains [chain][half][draw] (an odd chain omits
 * its middle draw), and scratch memory. Draws are sorted once; rankings follow in one pass. */
typedef struct diagnosis_workspace {
  size_t chains;
  size_t draws;
  size_t half; /* draws per half chain */
  double *all;
  double *scratch;
  double *split;
  idm_indexed *order;  /* ascending: first all draws, then those that belong to a half chain */
  idm_indexed *folded; /* distances from the median, ascending */
  idm_ess *ess;
} diagnosis_workspace;

static void diagnosis_workspace_clear(diagnosis_workspace *workspace)
{
  free(workspace->all);
  free(workspace->scratch);
  free(workspace->split);
  free(workspace->order);
  free(workspace->folded);
  idm_ess_destroy(workspace->ess);
}

static idm_status diagnosis_workspace_init(diagnosis_workspace *workspace, size_t chains,
                                           size_t draws, idm_error *opt_error)
{
  const size_t count = idm_times(chains, draws);
  workspace->chains = chains;
  workspace->draws = draws;
  workspace->half = draws / 2;
  if (count > SIZE_MAX / sizeof(idm_indexed)) goto failed;
  workspace->all = idm_new(count, sizeof *workspace->all);
  workspace->scratch = idm_new(count, sizeof *workspace->scratch);
  workspace->split = idm_new(count, sizeof *workspace->split);
  workspace->order = idm_new(count, sizeof *workspace->order);
  workspace->folded = idm_new(count, sizeof *workspace->folded);
  if (!workspace->all || !workspace->scratch || !workspace->split || !workspace->order ||
      !workspace->folded)
    goto failed;
  return idm_ess_create(2 * chains, workspace->half, &workspace->ess, opt_error);
failed:
  return idm_fail(opt_error, IDM_MEMORY, "no memory for the diagnostics of %zu draws", draws);
}

static size_t split_count(const diagnosis_workspace *workspace)
{
  return 2 * workspace->chains * workspace->half;
}

static void split(diagnosis_workspace *workspace, const double *x)
{
  idm_split_chains(x, workspace->chains, workspace->draws, workspace->split);
}

/* --- rank normalisation --------------------------------------------------------------------- */

static void sort_all(diagnosis_workspace *workspace)
{
  const size_t count = workspace->chains * workspace->draws;
  for (size_t i = 0; i < count; i++) workspace->order[i] = (idm_indexed){workspace->all[i], i};
  idm_sort_indexed(workspace->order, count);
}

/* Convert indices of all draws to indices of the half chains; middle draws are dropped. */
static void order_halves(diagnosis_workspace *workspace)
{
  const size_t draws = workspace->draws, half = workspace->half;
  size_t kept = 0;
  for (size_t i = 0; i < workspace->chains * draws; i++) {
    const idm_indexed at = workspace->order[i];
    const size_t chain = at.index / draws, draw = at.index % draws;
    if (draw >= half && draw < draws - half) continue;
    const size_t within = draw < half ? draw : draw - (draws - 2 * half);
    workspace->order[kept++] = (idm_indexed){at.value, 2 * chain * half + within};
  }
}

/* Fold: distances of the split draws from the median of all draws, as in the package posterior and
 * in az.summary (az.rhat uses the median of the split draws, which differs for odd chains). Draws
 * below the median in decreasing order and draws above it are two ascending lists, which are
 * merged. False if the median is infinite. */
static bool fold(diagnosis_workspace *workspace, double median)
{
  const size_t count = split_count(workspace);
  const idm_indexed *order = workspace->order;
  if (!isfinite(median)) return false;
  size_t below = 0;
  while (below < count && order[below].value < median) below++;
  size_t above = below;
  for (size_t i = 0; i < count; i++) {
    const double left = below > 0 ? median - order[below - 1].value : INFINITY;
    const double right = above < count ? order[above].value - median : INFINITY;
    const bool down = below > 0 && (above == count || left < right);
    workspace->folded[i] = down ? (idm_indexed){left, order[--below].index}
                                : (idm_indexed){right, order[above++].index};
  }
  return true;
}

/* Replace the split draws by the normal scores of their ranks; ties get the mean rank (Vehtari et
 * al. 2021, equation 4.1, after Blom 1958). */
static void rank_normalise(diagnosis_workspace *workspace, const idm_indexed *order)
{
  const size_t count = split_count(workspace);
  for (size_t first = 0, next; first < count; first = next) {
    next = first + 1;
    while (next < count && !(order[next].value > order[first].value)) next++;
    const double rank = 0.5 * (double)(first + 1 + next);
    const double score = idm_normal_quantile((rank - 0.375) / ((double)count + 0.25));
    for (size_t i = first; i < next; i++) workspace->split[order[i].index] = score;
  }
}

/* --- R-hat ---------------------------------------------------------------------------------- */

/* sqrt((between / within + n - 1) / n) of the split chains (Gelman and Rubin 1992). */
static double split_rhat(const diagnosis_workspace *workspace)
{
  const size_t chains = 2 * workspace->chains;
  const double n = (double)workspace->half;
  const double centre = idm_mean(workspace->split, split_count(workspace));
  double between = 0, within = 0;
  for (size_t c = 0; c < chains; c++) {
    const double *x = workspace->split + c * workspace->half;
    const double mean = idm_mean(x, workspace->half);
    between += (mean - centre) * (mean - centre) / (double)(chains - 1);
    within += idm_squares_about(x, workspace->half, mean) / (n - 1) / (double)chains;
  }
  return sqrt((n * between / within + n - 1) / n);
}

static double folded_rhat(diagnosis_workspace *workspace, double median)
{
  if (!fold(workspace, median)) return NAN;
  rank_normalise(workspace, workspace->folded);
  return split_rhat(workspace);
}

/* Bulk R-hat and bulk effective sample size share the normal scores. */
static void rank_diagnosis(diagnosis_workspace *workspace, idm_diagnosis *diagnosis)
{
  order_halves(workspace);
  rank_normalise(workspace, workspace->order);
  diagnosis->ess_bulk = idm_ess_of(workspace->ess, workspace->split);
  if (workspace->chains < 2)
    return; /* ArviZ requires two chains, although halves could be compared */
  const double bulk = split_rhat(workspace);
  const double tail = folded_rhat(workspace, diagnosis->q50);
  /* With two distinct values all folded draws may be equal: then only the bulk is used. */
  diagnosis->rhat = tail > bulk ? tail : bulk;
}

/* --- the tail, and errors ------------------------------------------------------------------- */

/* Effective sample size of the indicator of draws up to a bound (Vehtari et al. 2021, section 4.3).
 * With ties the bound is exactly their value, as in R: ArviZ's quantile may be rounded below it,
 * which loses the ties. */
static double indicator_ess(diagnosis_workspace *workspace, double bound)
{
  split(workspace, workspace->all);
  for (size_t i = 0; i < split_count(workspace); i++)
    workspace->split[i] = workspace->split[i] <= bound;
  return idm_ess_of(workspace->ess, workspace->split);
}

static double mean_mcse(diagnosis_workspace *workspace, double sd)
{
  split(workspace, workspace->all);
  return sd / sqrt(idm_ess_of(workspace->ess, workspace->split));
}

/* Monte Carlo standard error of the standard deviation as in ArviZ 0.23, by the delta method: with
 * d = (x - mean)^2, sqrt((mean(d^2) - mean(d)^2) / ESS(d) / mean(d)) / 2. */
static double sd_mcse(diagnosis_workspace *workspace, double mean)
{
  const size_t count = workspace->chains * workspace->draws;
  double *square = workspace->scratch;
  for (size_t i = 0; i < count; i++)
    square[i] = (workspace->all[i] - mean) * (workspace->all[i] - mean);
  split(workspace, square);
  const double size = idm_ess_of(workspace->ess, workspace->split);
  const double variance = idm_squares_about(workspace->all, count, mean) / (double)count;
  const double fourth = idm_squares_about(square, count, 0) / (double)count;
  return 0.5 * sqrt((fourth - variance * variance) / size / variance);
}

/* --- all diagnostics ------------------------------------------------------------------------- */

static void moments(diagnosis_workspace *workspace, idm_diagnosis *diagnosis)
{
  const size_t count = workspace->chains * workspace->draws;
  const double mean = idm_mean(workspace->all, count);
  diagnosis->mean = mean;
  diagnosis->sd = sqrt(idm_squares_about(workspace->all, count, mean) / ((double)count - 1));
}

static void quantiles(diagnosis_workspace *workspace, idm_diagnosis *diagnosis)
{
  const size_t count = workspace->chains * workspace->draws;
  sort_all(workspace);
  for (size_t i = 0; i < count; i++) workspace->scratch[i] = workspace->order[i].value;
  diagnosis->q05 = idm_sorted_quantile(workspace->scratch, count, 0.05);
  diagnosis->q50 = idm_sorted_quantile(workspace->scratch, count, 0.5);
  diagnosis->q95 = idm_sorted_quantile(workspace->scratch, count, 0.95);
}

static bool has_nan(const double *x, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (isnan(x[i])) return true;
  return false;
}

static void fill_diagnosis(diagnosis_workspace *workspace, idm_diagnosis *diagnosis)
{
  moments(workspace, diagnosis);
  if (has_nan(workspace->all, workspace->chains * workspace->draws)) return;
  quantiles(workspace, diagnosis);
  if (workspace->draws < 4) return;
  rank_diagnosis(workspace, diagnosis);
  const double low = indicator_ess(workspace, diagnosis->q05);
  const double high = indicator_ess(workspace, diagnosis->q95);
  diagnosis->ess_tail = high < low ? high : low;
  diagnosis->mcse_mean = mean_mcse(workspace, diagnosis->sd);
  diagnosis->mcse_sd = sd_mcse(workspace, diagnosis->mean);
}

idm_status idm_diagnose(const double *x, size_t chains, size_t draws, size_t chain_stride,
                        size_t draw_stride, idm_diagnosis *diagnosis, idm_error *opt_error)
{
  idm_require(x, diagnosis);
  *diagnosis = (idm_diagnosis){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  if (chains == 0 || draws == 0) return IDM_OK;
  diagnosis_workspace workspace = {0};
  const idm_status status = diagnosis_workspace_init(&workspace, chains, draws, opt_error);
  if (status == IDM_OK) {
    for (size_t c = 0; c < chains; c++)
      for (size_t i = 0; i < draws; i++)
        workspace.all[c * draws + i] = x[c * chain_stride + i * draw_stride];
    fill_diagnosis(&workspace, diagnosis);
  }
  diagnosis_workspace_clear(&workspace);
  return status;
}

/* Betancourt (2016), "Diagnosing suboptimal cotangent disintegrations", equation 2. */
double idm_ebfmi(const double *energy, size_t draws)
{
  if (!energy) return NAN;
  if (draws < 2) return NAN;
  double steps = 0;
  for (size_t i = 1; i < draws; i++)
    steps += (energy[i] - energy[i - 1]) * (energy[i] - energy[i - 1]);
  /* Mean squared difference divided by the variance; both sums have the divisor draws - 1. */
  return steps / idm_squares_about(energy, draws, idm_mean(energy, draws));
}
