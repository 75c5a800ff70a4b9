/* Diagnostics of chains after Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021),
 * "Rank-normalization, folding, and localization: an improved R-hat". Numbers agree with ArviZ
 * 0.23.4; tests/golden_arviz holds its answers. */
#include "idm/diagnostics.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/door.h"
#include "base/memory.h"
#include "base/moments.h"
#include "base/quantile.h"
#include "infer/distribution.h"
#include "infer/ess.h"

/* --- room ----------------------------------------------------------------------------------- */

/* A draw and where it stands. */
typedef struct ranked {
  double value;
  size_t place;
} ranked;

/* All draws of a quantity [chain][draw], the halves of the chains [chain][half][draw], where an odd
 * chain loses its middle draw, and what is computed of them. Draws are sorted once: every ranking
 * asked for follows from that in one pass. */
typedef struct worktable {
  size_t chains;
  size_t draws;
  size_t half; /* draws of a half */
  double *all;
  double *scratch;
  double *split;
  ranked *order;  /* ascending: of all draws, then of those that have a place in a half */
  ranked *folded; /* ascending distances from the median */
  idm_ess *ess;
} worktable;

static void worktable_clear(worktable *table)
{
  free(table->all);
  free(table->scratch);
  free(table->split);
  free(table->order);
  free(table->folded);
  idm_ess_destroy(table->ess);
}

static idm_status worktable_fill(worktable *table, size_t chains, size_t draws,
                                 idm_error *opt_error)
{
  const size_t count = idm_times(chains, draws);
  table->chains = chains;
  table->draws = draws;
  table->half = draws / 2;
  if (count > SIZE_MAX / sizeof(ranked)) goto failed;
  table->all = idm_new(count, sizeof *table->all);
  table->scratch = idm_new(count, sizeof *table->scratch);
  table->split = idm_new(count, sizeof *table->split);
  table->order = idm_new(count, sizeof *table->order);
  table->folded = idm_new(count, sizeof *table->folded);
  if (!table->all || !table->scratch || !table->split || !table->order || !table->folded)
    goto failed;
  return idm_ess_create(2 * chains, table->half, &table->ess, opt_error);
failed:
  return idm_fail(opt_error, IDM_MEMORY, "no memory for the diagnostics of %zu draws", draws);
}

static size_t split_count(const worktable *table)
{
  return 2 * table->chains * table->half;
}

/* Halves of a chain become chains of their own. */
static void split(worktable *table, const double *x)
{
  const size_t half = table->half;
  for (size_t c = 0; c < table->chains; c++) {
    const double *chain = x + c * table->draws;
    double *first = table->split + 2 * c * half;
    for (size_t i = 0; i < half; i++) {
      first[i] = chain[i];
      first[half + i] = chain[table->draws - half + i];
    }
  }
}

/* --- rank normalisation --------------------------------------------------------------------- */

static int compare_ranked(const void *a, const void *b)
{
  const double x = ((const ranked *)a)->value, y = ((const ranked *)b)->value;
  return (x > y) - (x < y);
}

static void sort_all(worktable *table)
{
  const size_t count = table->chains * table->draws;
  for (size_t i = 0; i < count; i++) table->order[i] = (ranked){table->all[i], i};
  qsort(table->order, count, sizeof *table->order, compare_ranked);
}

/* From places among all draws to places among the halves; middle draws fall out. */
static void order_halves(worktable *table)
{
  const size_t draws = table->draws, half = table->half;
  size_t kept = 0;
  for (size_t i = 0; i < table->chains * draws; i++) {
    const ranked at = table->order[i];
    const size_t chain = at.place / draws, draw = at.place % draws;
    if (draw >= half && draw < draws - half) continue;
    const size_t within = draw < half ? draw : draw - (draws - 2 * half);
    table->order[kept++] = (ranked){at.value, 2 * chain * half + within};
  }
}

/* Distances of the split draws from the median of all draws, as the package posterior and
 * az.summary fold (az.rhat takes the median of the split ones, which is another where a chain is
 * odd): draws below it in falling order and draws above it are two ascending lists, to be merged.
 * False where the median is infinite. */
static bool fold(worktable *table, double median)
{
  const size_t count = split_count(table);
  const ranked *order = table->order;
  if (!isfinite(median)) return false;
  size_t below = 0;
  while (below < count && order[below].value < median) below++;
  size_t above = below;
  for (size_t i = 0; i < count; i++) {
    const double left = below > 0 ? median - order[below - 1].value : INFINITY;
    const double right = above < count ? order[above].value - median : INFINITY;
    const bool down = below > 0 && (above == count || left < right);
    table->folded[i] =
        down ? (ranked){left, order[--below].place} : (ranked){right, order[above++].place};
  }
  return true;
}

/* Put in place of the split draws the normal scores of their ranks, of ties that of the mean rank
 * (Vehtari et al. 2021, equation 4.1, after Blom 1958). */
static void rank_normalise(worktable *table, const ranked *order)
{
  const size_t count = split_count(table);
  for (size_t first = 0, next; first < count; first = next) {
    next = first + 1;
    while (next < count && !(order[next].value > order[first].value)) next++;
    const double rank = 0.5 * (double)(first + 1 + next);
    const double score = idm_normal_quantile((rank - 0.375) / ((double)count + 0.25));
    for (size_t i = first; i < next; i++) table->split[order[i].place] = score;
  }
}

/* --- R-hat ---------------------------------------------------------------------------------- */

/* sqrt((between / within + n - 1) / n) of the split chains (Gelman and Rubin 1992). */
static double potential_reduction(const worktable *table)
{
  const size_t chains = 2 * table->chains;
  const double n = (double)table->half;
  const double centre = idm_mean(table->split, split_count(table));
  double between = 0, within = 0;
  for (size_t c = 0; c < chains; c++) {
    const double *x = table->split + c * table->half;
    const double mean = idm_mean(x, table->half);
    between += (mean - centre) * (mean - centre) / (double)(chains - 1);
    within += idm_squares_about(x, table->half, mean) / (n - 1) / (double)chains;
  }
  return sqrt((n * between / within + n - 1) / n);
}

static double folded_reduction(worktable *table, double median)
{
  if (!fold(table, median)) return NAN;
  rank_normalise(table, table->folded);
  return potential_reduction(table);
}

/* R-hat and the effective size of the bulk share the normal scores. */
static void rank_diagnosis(worktable *table, idm_diagnosis *diagnosis)
{
  order_halves(table);
  rank_normalise(table, table->order);
  diagnosis->ess_bulk = idm_ess_of(table->ess, table->split);
  if (table->chains < 2) return; /* ArviZ asks for two chains, though halves could be compared */
  const double bulk = potential_reduction(table);
  const double tail = folded_reduction(table, diagnosis->q50);
  /* Of two values the folded draws may all be alike: then the bulk alone speaks. */
  diagnosis->rhat = tail > bulk ? tail : bulk;
}

/* --- the tail, and errors ------------------------------------------------------------------- */

/* Effective size of the indicator of draws up to a bound (Vehtari et al. 2021, section 4.3). The
 * bound of tied draws is their value exactly, as in R: ArviZ's quantile may round to below it, and
 * then loses the ties. */
static double indicator_size(worktable *table, double bound)
{
  split(table, table->all);
  for (size_t i = 0; i < split_count(table); i++) table->split[i] = table->split[i] <= bound;
  return idm_ess_of(table->ess, table->split);
}

static double mean_error(worktable *table, double sd)
{
  split(table, table->all);
  return sd / sqrt(idm_ess_of(table->ess, table->split));
}

/* ArviZ 0.23's error of the standard deviation, by the delta method: with d = (x - mean)^2,
 * sqrt((mean(d^2) - mean(d)^2) / ESS(d) / mean(d)) / 2. */
static double sd_error(worktable *table, double mean)
{
  const size_t count = table->chains * table->draws;
  double *square = table->scratch;
  for (size_t i = 0; i < count; i++) square[i] = (table->all[i] - mean) * (table->all[i] - mean);
  split(table, square);
  const double size = idm_ess_of(table->ess, table->split);
  const double variance = idm_squares_about(table->all, count, mean) / (double)count;
  const double fourth = idm_squares_about(square, count, 0) / (double)count;
  return 0.5 * sqrt((fourth - variance * variance) / size / variance);
}

/* --- the whole ------------------------------------------------------------------------------ */

static void moments(worktable *table, idm_diagnosis *diagnosis)
{
  const size_t count = table->chains * table->draws;
  const double mean = idm_mean(table->all, count);
  diagnosis->mean = mean;
  diagnosis->sd = sqrt(idm_squares_about(table->all, count, mean) / ((double)count - 1));
}

static void quantiles(worktable *table, idm_diagnosis *diagnosis)
{
  const size_t count = table->chains * table->draws;
  sort_all(table);
  for (size_t i = 0; i < count; i++) table->scratch[i] = table->order[i].value;
  diagnosis->q05 = idm_sorted_quantile(table->scratch, count, 0.05);
  diagnosis->q50 = idm_sorted_quantile(table->scratch, count, 0.5);
  diagnosis->q95 = idm_sorted_quantile(table->scratch, count, 0.95);
}

static bool has_nan(const double *x, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (isnan(x[i])) return true;
  return false;
}

static void fill_diagnosis(worktable *table, idm_diagnosis *diagnosis)
{
  moments(table, diagnosis);
  if (has_nan(table->all, table->chains * table->draws)) return;
  quantiles(table, diagnosis);
  if (table->draws < 4) return;
  rank_diagnosis(table, diagnosis);
  const double low = indicator_size(table, diagnosis->q05);
  const double high = indicator_size(table, diagnosis->q95);
  diagnosis->ess_tail = high < low ? high : low;
  diagnosis->mcse_mean = mean_error(table, diagnosis->sd);
  diagnosis->mcse_sd = sd_error(table, diagnosis->mean);
}

idm_status idm_diagnose(const double *x, size_t chains, size_t draws, size_t chain_stride,
                        size_t draw_stride, idm_diagnosis *diagnosis, idm_error *opt_error)
{
  idm_require(x, diagnosis);
  *diagnosis = (idm_diagnosis){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  if (chains == 0 || draws == 0) return IDM_OK;
  worktable table = {0};
  const idm_status status = worktable_fill(&table, chains, draws, opt_error);
  if (status == IDM_OK) {
    for (size_t c = 0; c < chains; c++)
      for (size_t i = 0; i < draws; i++)
        table.all[c * draws + i] = x[c * chain_stride + i * draw_stride];
    fill_diagnosis(&table, diagnosis);
  }
  worktable_clear(&table);
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
  /* Mean squared step over the variance; both sums are over draws - 1. */
  return steps / idm_squares_about(energy, draws, idm_mean(energy, draws));
}
