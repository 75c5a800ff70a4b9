/* Quantities that are the numbers of one block, side by side: arrays of a run's file. */
#include "io/run/arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void idm_arrays_destroy(idm_array *arrays, size_t count)
{
  for (size_t i = 0; arrays && i < count; i++)
    for (size_t k = 0; k < IDM_ARRAY_RANK; k++) free(arrays[i].place[k]);
  free(arrays);
}

/* Whether a quantity is number `entry` of a block. */
static bool is_entry(const char *name, const idm_problem *problem, const idm_block *block,
                     size_t entry)
{
  char text[2400];
  const size_t length = strlen(block->info->name);
  if (strncmp(name, block->info->name, length) != 0 || name[length] != '[') return false;
  idm_block_entry(block->info, problem->setting, problem->theta->models, entry, text,
                  sizeof text - 1);
  const size_t end = strlen(text);
  text[end] = ']';
  text[end + 1] = '\0';
  return strcmp(name + length + 1, text) == 0;
}

/* The first entry from `from` on that the name is; the block's size where there is none. */
static size_t find_entry(const char *name, const idm_problem *problem, const idm_block *block,
                         size_t from)
{
  while (from < block->size && !is_entry(name, problem, block, from)) from++;
  return from;
}

static const idm_block *block_of(const char *name, const idm_problem *problem)
{
  for (size_t b = 0; b < problem->theta->blocks; b++) {
    const idm_block *block = &problem->theta->block[b];
    if (block->info->axis[0] && !block->info->opaque && block->role == IDM_DESCRIPTIVE &&
        find_entry(name, problem, block, 0) < block->size)
      return block;
  }
  return NULL;
}

/* Places that the entries take along each axis. As entries are distinct and in order, they are all
 * combinations of the places exactly where their numbers multiply to the count. */
static idm_status shape(idm_array *array, const idm_problem *problem, const size_t *entry,
                        bool *ret_whole, idm_error *opt_error)
{
  const idm_block_info *info = array->block->info;
  const idm_sizes sizes = idm_setting_sizes(problem->setting);
  size_t stride = array->block->size;
  size_t product = 1;
  for (size_t k = 0; k < IDM_ARRAY_RANK && info->axis[k]; k++) {
    const size_t length = idm_axis_length(info, info->axis[k], sizes, problem->theta->models);
    stride /= length;
    array->rank = k + 1;
    array->place[k] = idm_new(length, sizeof *array->place[k]);
    if (!array->place[k]) return idm_fail_memory(opt_error);
    for (size_t at = 0; at < length; at++) {
      bool taken = false;
      for (size_t i = 0; i < array->count && !taken; i++) taken = entry[i] / stride % length == at;
      if (taken) array->place[k][array->length[k]++] = at;
    }
    product *= array->length[k];
  }
  *ret_whole = product == array->count;
  return IDM_OK;
}

/* The longest run of names from `first` on that are entries of one block, in their order. */
static size_t run_of(const idm_labels *names, const bool *opt_flag, size_t first,
                     const idm_problem *problem, const idm_block *block, size_t *entry)
{
  size_t count = 0;
  for (size_t i = first, from = 0; i < names->count; i++, count++) {
    if (opt_flag && opt_flag[i] != opt_flag[first]) break;
    entry[count] = find_entry(names->name[i], problem, block, from);
    if (entry[count] == block->size) break;
    from = entry[count] + 1;
  }
  return count;
}

/* The array of a run of names, with its axes where they are whole. */
static idm_status make_array(const idm_labels *names, const size_t *opt_size, const bool *opt_flag,
                             const idm_problem *problem, idm_array *array, bool *ret_whole,
                             idm_error *opt_error)
{
  const size_t first = array->first;
  *ret_whole = false;
  if (opt_size && opt_size[first] > 1) return IDM_OK;
  array->block = block_of(names->name[first], problem);
  if (!array->block) return IDM_OK;
  size_t *entry = idm_new(names->count - first + 1, sizeof *entry);
  if (!entry) return idm_fail_memory(opt_error);
  array->count = run_of(names, opt_flag, first, problem, array->block, entry);
  const idm_status status =
      array->count > 1 ? shape(array, problem, entry, ret_whole, opt_error) : IDM_OK;
  free(entry);
  return status;
}

idm_status idm_arrays_create(const idm_labels *names, const size_t *opt_size, const bool *opt_flag,
                             const idm_problem *problem, idm_array **ret_arrays, size_t *ret_count,
                             idm_error *opt_error)
{
  *ret_count = 0;
  idm_array *arrays = *ret_arrays = idm_new(names->count, sizeof *arrays);
  if (!arrays) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t i = 0, count; i < names->count && status == IDM_OK; i += count) {
    idm_array *array = &arrays[(*ret_count)++];
    bool whole;
    *array = (idm_array){.first = i, .count = 1};
    status = make_array(names, opt_size, opt_flag, problem, array, &whole, opt_error);
    count = array->count;
    if (whole || status != IDM_OK) continue;
    /* All by themselves: parts of a part would need names of their own. */
    for (size_t k = 0; k < IDM_ARRAY_RANK; k++) free(array->place[k]);
    for (size_t k = 0; k < count; k++)
      arrays[*ret_count - 1 + k] = (idm_array){.first = i + k, .count = 1};
    *ret_count += count - 1;
  }
  return status;
}

idm_status idm_arrays_series(const idm_posterior *posterior, idm_array **ret_arrays,
                             size_t *ret_count, idm_error *opt_error)
{
  const size_t quantities = posterior->quantity.count;
  *ret_count = 0;
  idm_array *arrays = *ret_arrays = idm_new(quantities, sizeof *arrays);
  if (!arrays) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < quantities; i += arrays[*ret_count - 1].count) {
    const size_t at = idm_posterior_series(posterior, i);
    const idm_series *series = at < posterior->series_count ? &posterior->series[at] : NULL;
    arrays[(*ret_count)++] =
        (idm_array){.first = i,
                    .count = series ? posterior->axis[series->axis].label.count : 1,
                    .opt_series = series};
  }
  return IDM_OK;
}
