/* Isotonic regression by the pool adjacent violators algorithm (Ayer, Brunk, Ewing, Reid and
 * Silverman 1955). See docs/method/comparison.md, 5. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "infer/comparison.h"

/* Adjacent points with one fitted value. */
typedef struct block {
  double sum; /* of weight * y */
  double weight;
  size_t end; /* one past its last point in the order of x */
} block;

static double mean_of(const block *b)
{
  return b->sum / b->weight;
}

/* Merge the last block into its predecessor while their means decrease. Returns the number of
 * blocks. */
static size_t pool(block *b, size_t blocks)
{
  while (blocks > 1 && mean_of(&b[blocks - 2]) >= mean_of(&b[blocks - 1])) {
    b[blocks - 2].sum += b[blocks - 1].sum;
    b[blocks - 2].weight += b[blocks - 1].weight;
    b[blocks - 2].end = b[blocks - 1].end;
    blocks--;
  }
  return blocks;
}

static void fit(const idm_indexed *order, const double *y, const double *opt_weight, size_t count,
                block *b, double *fitted)
{
  size_t blocks = 0;
  for (size_t i = 0; i < count;) {
    block *tied = &b[blocks++];
    *tied = (block){0, 0, i};
    do {
      const size_t at = order[tied->end++].index;
      const double weight = opt_weight ? opt_weight[at] : 1;
      tied->sum += weight * y[at];
      tied->weight += weight;
    } while (tied->end < count && !(order[tied->end].value > order[i].value));
    i = tied->end;
    blocks = pool(b, blocks);
  }
  for (size_t k = 0, i = 0; k < blocks; k++)
    for (; i < b[k].end; i++) fitted[order[i].index] = mean_of(&b[k]);
}

static idm_status check_points(const double *x, const double *y, const double *opt_weight,
                               size_t count, idm_error *opt_error)
{
  if (!count) return idm_fail(opt_error, IDM_USAGE, "there is no point to fit");
  for (size_t i = 0; i < count; i++) {
    if (isnan(x[i]) || !isfinite(y[i]))
      return idm_fail(opt_error, IDM_INPUT, "point %zu of the regression is (%g, %g)", i + 1, x[i],
                      y[i]);
    if (opt_weight && !(opt_weight[i] > 0 && isfinite(opt_weight[i])))
      return idm_fail(opt_error, IDM_INPUT, "the weight of point %zu is %g; expected above 0",
                      i + 1, opt_weight[i]);
  }
  return IDM_OK;
}

idm_status idm_isotonic(const double *x, const double *y, const double *opt_weight, size_t count,
                        double *fitted, idm_error *opt_error)
{
  const idm_status status = check_points(x, y, opt_weight, count, opt_error);
  if (status != IDM_OK) return status;
  idm_indexed *order = idm_sort_order(x, count);
  block *blocks = idm_new(count, sizeof *blocks);
  if (order && blocks) fit(order, y, opt_weight, count, blocks, fitted);
  const bool made = order && blocks;
  free(order);
  free(blocks);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}
