/* A log of which some rows are scored and the others are history: see the header. */
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "data/part.h"
#include "idm/log_file.h"

/* --- rows ----------------------------------------------------------------------------------- */

/* A row by its place in the files. */
static uint64_t place_of(const idm_data *data, size_t row)
{
  return (uint64_t)(data->file ? data->file[row] : 0) << 32 | data->line[row];
}

static int compare_places(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Mark the rows of the whole log that are not among the scored ones. */
static idm_status mark(const idm_data *scored, idm_data *whole, idm_error *opt_error)
{
  uint64_t *place = idm_new(scored->rows, sizeof *place);
  whole->history = idm_new(whole->rows, sizeof *whole->history);
  size_t found = 0;
  if (!place || !whole->history) {
    free(place);
    return idm_fail_memory(opt_error);
  }
  for (size_t r = 0; r < scored->rows; r++) place[r] = place_of(scored, r);
  qsort(place, scored->rows, sizeof *place, compare_places);
  for (size_t r = 0; r < whole->rows; r++) {
    const uint64_t at = place_of(whole, r);
    whole->history[r] = !bsearch(&at, place, scored->rows, sizeof at, compare_places);
    found += !whole->history[r];
  }
  free(place);
  if (found == scored->rows) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "of %zu rows that --where leaves in, %zu are left in the whole log: a rule drops "
                  "the others there, so that they cannot be scored with their history",
                  scored->rows, found);
}

/* --- agents --------------------------------------------------------------------------------- */

/* Leave out the trajectories of agents without a row that is scored. */
static idm_status keep_agents(idm_data **data, idm_error *opt_error)
{
  idm_data *all = *data, *part = NULL;
  bool *kept = idm_new(all->agent_name.count, sizeof *kept);
  uint32_t *trajectory = idm_new(all->trajectories, sizeof *trajectory);
  idm_status status = kept && trajectory ? IDM_OK : idm_fail_memory(opt_error);
  size_t count = 0;
  for (size_t t = 0; t < all->trajectories && status == IDM_OK; t++)
    for (size_t r = all->first[t]; r < all->first[t + 1]; r++)
      kept[all->agent[t]] |= !all->history[r];
  for (size_t t = 0; t < all->trajectories && status == IDM_OK; t++)
    if (kept[all->agent[t]]) trajectory[count++] = (uint32_t)t;
  if (status == IDM_OK && count < all->trajectories)
    status = idm_data_part(all, trajectory, count, &part, opt_error);
  free(kept);
  free(trajectory);
  if (!part) return status;
  part->intake = all->intake;
  all->intake = NULL;
  idm_data_destroy(all);
  *data = part;
  return IDM_OK;
}

/* --- the whole ------------------------------------------------------------------------------ */

static void note(const idm_data *data, idm_notes *opt_notes)
{
  size_t history = 0;
  for (size_t r = 0; r < data->rows; r++) history += data->history[r];
  idm_notes_add(opt_notes,
                "--history keep: %zu rows are scored; %zu rows of the same agents that --where "
                "leaves out are read and not scored",
                data->rows - history, history);
}

idm_status idm_data_read_history(const char *const *paths, size_t count, const idm_problem *problem,
                                 const idm_csv_options *options, idm_data **ret_data,
                                 idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(paths, problem, options, ret_data);
  idm_csv_options everything = *options;
  idm_data *scored = NULL, *whole = NULL;
  *ret_data = NULL;
  everything.where_count = 0;
  for (size_t i = 0; i < count; i++)
    if (strcmp(paths[i], "-") == 0)
      return idm_fail(opt_error, IDM_USAGE,
                      "a history is read in a second pass; expected files, not standard input");
  idm_status status = idm_data_read_files(paths, count, problem, options, &scored, NULL, opt_error);
  if (status == IDM_OK)
    status = idm_data_read_files(paths, count, problem, &everything, &whole, opt_notes, opt_error);
  if (status == IDM_OK) status = mark(scored, whole, opt_error);
  if (status == IDM_OK) status = keep_agents(&whole, opt_error);
  idm_data_destroy(scored);
  if (status != IDM_OK) {
    idm_data_destroy(whole);
    return status;
  }
  note(whole, opt_notes);
  *ret_data = whole;
  return IDM_OK;
}
