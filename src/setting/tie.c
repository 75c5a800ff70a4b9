/* Ties: entries of distributions by row that share one free number. */
#include "setting/tie.h"

#include <math.h>

#include "base/memory.h"

/* Numbers of a row. */
static size_t width_of(const idm_theta *theta, size_t id)
{
  return idm_block_width(theta->block[id].info, theta->sizes, theta->models);
}

/* Entries of a coordinate in the row that begins at `row`. */
static size_t entries_of(const idm_block *block, size_t row, size_t width, int32_t coordinate)
{
  size_t count = 0;
  for (size_t i = row; i < row + width; i++) count += block->coordinate[i] == coordinate;
  return count;
}

double idm_tie_most(const idm_theta *theta, size_t id, int32_t coordinate)
{
  const idm_block *block = &theta->block[id];
  const size_t width = width_of(theta, id);
  size_t most = 1;
  for (size_t row = 0; row < block->size; row += width) {
    const size_t count = entries_of(block, row, width, coordinate);
    if (count > most) most = count;
  }
  return 1 / (double)most;
}

void idm_tie_write(idm_theta *theta, size_t id, int32_t coordinate, double value)
{
  const idm_block *block = &theta->block[id];
  const size_t width = width_of(theta, id);
  for (size_t row = 0; row < block->size; row += width) {
    const size_t count = entries_of(block, row, width, coordinate);
    const double left = fmax(0, 1 - (double)count * value);
    for (size_t i = row; count && i < row + width; i++)
      block->value[i] = block->coordinate[i] == coordinate ? value : left * block->share[i];
  }
}

double idm_tie_slope(const idm_theta *slope, size_t id, int32_t coordinate)
{
  const idm_block *block = &slope->block[id];
  const size_t width = width_of(slope, id);
  double sum = 0;
  for (size_t row = 0; row < block->size; row += width) {
    const size_t count = entries_of(block, row, width, coordinate);
    for (size_t i = row; count && i < row + width; i++)
      sum += block->coordinate[i] == coordinate
                 ? block->value[i]
                 : -(double)count * block->share[i] * block->value[i];
  }
  return sum;
}

idm_status idm_tie_share(idm_theta *theta, size_t id, int32_t *coordinate, idm_error *opt_error)
{
  idm_block *block = &theta->block[id];
  const size_t width = width_of(theta, id);
  block->coordinate = coordinate;
  block->share = idm_new(block->size, sizeof *block->share);
  if (!block->share) return idm_fail_memory(opt_error);
  for (size_t row = 0; row < block->size; row += width) {
    bool tied = false;
    double left = 0;
    for (size_t i = row; i < row + width; i++) {
      tied = tied || coordinate[i] >= 0;
      if (coordinate[i] < 0) left += block->value[i];
    }
    for (size_t i = row; tied && left > 0 && i < row + width; i++)
      if (coordinate[i] < 0) block->share[i] = block->value[i] / left;
  }
  return IDM_OK;
}
