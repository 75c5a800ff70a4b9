/* Logs from arrays in memory, and views of a log. */
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/log.h"
#include "idm/extension/data.h"
#include "idm/extension/problem.h"

/* --- create --------------------------------------------------------------------------------- */

static idm_status check_arrays(const idm_problem *problem, const idm_data_arrays *a,
                               idm_error *opt_error)
{
  if (!a->rows || !a->action || !a->observation || !a->trajectory)
    return idm_fail(opt_error, IDM_USAGE,
                    "a log needs rows, and of each its action, observation and trajectory");
  if (a->covariates && (!a->covariate || !a->level))
    return idm_fail(opt_error, IDM_USAGE, "covariates need names and levels");
  for (size_t c = 0; c < a->covariates; c++)
    if (!a->covariate[c] || !a->level[c])
      return idm_fail(opt_error, IDM_USAGE, "covariate %zu has no name or no levels", c);
  if (problem->utility_sources)
    return idm_fail(opt_error, IDM_USAGE,
                    "the problem has utilities from columns of the log: read it from a file");
  return IDM_OK;
}

static size_t count_trajectories(const idm_data_arrays *a)
{
  size_t count = 1;
  for (size_t row = 1; row < a->rows; row++) count += a->trajectory[row] != a->trajectory[row - 1];
  return count;
}

/* Arrays of the log, and trajectories with their first rows. */
static bool allocate(const idm_data_arrays *a, idm_sizes sizes, idm_data *data)
{
  const size_t rows = a->rows, count = count_trajectories(a);
  data->sizes = sizes;
  data->rows = rows;
  data->trajectories = count;
  data->action = idm_duplicate(a->action, rows, sizeof *data->action);
  data->observation = idm_duplicate(a->observation, rows, sizeof *data->observation);
  data->available = idm_new(rows, sizeof *data->available);
  data->line = idm_new(rows, sizeof *data->line);
  data->first = idm_new(count + 1, sizeof *data->first);
  data->agent = idm_new(count, sizeof *data->agent);
  data->variant = idm_new(count, sizeof *data->variant);
  data->start = idm_new(count, sizeof *data->start);
  data->available_sets = data->variants = 1;
  data->available_set = idm_new(sizes.actions, sizeof *data->available_set);
  data->number[IDM_COLUMN_REWARD] = idm_duplicate(a->opt_reward, rows, sizeof *a->opt_reward);
  if (!data->action || !data->observation || !data->available || !data->line || !data->first ||
      !data->agent || !data->variant || !data->start || !data->available_set ||
      (a->opt_reward && !data->number[IDM_COLUMN_REWARD]))
    return false;
  size_t t = 0;
  for (size_t row = 1; row < rows; row++)
    if (a->trajectory[row] != a->trajectory[row - 1]) data->first[++t] = row;
  data->first[count] = rows;
  for (size_t i = 0; i < count; i++) data->start[i] = -1;
  for (size_t u = 0; u < sizes.actions; u++) data->available_set[u] = true;
  return true;
}

/* The names of interned texts, as labels. */
static idm_status labels_of(const idm_intern *intern, idm_labels *labels, idm_error *opt_error)
{
  idm_status status = idm_labels_create(labels, intern->count, opt_error);
  for (uint32_t i = 0; i < intern->count && status == IDM_OK; i++) {
    size_t length;
    const char *text = idm_intern_text(intern, i, &length);
    status = idm_labels_set(labels, i, text, length, opt_error);
  }
  return status;
}

/* Agents by their numbers; without these, one per trajectory. */
static idm_status name_agents(const idm_data_arrays *a, idm_data *data, idm_error *opt_error)
{
  idm_intern intern = {0};
  char text[32];
  idm_status status = IDM_OK;
  for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++) {
    const long long number =
        a->opt_agent ? (long long)a->opt_agent[data->first[t]] : (long long)t + 1;
    for (size_t row = data->first[t]; a->opt_agent && row < data->first[t + 1]; row++)
      if (a->opt_agent[row] != number)
        status = idm_fail(opt_error, IDM_INPUT,
                          "row %zu has agent %lld, and its trajectory begins with agent %lld", row,
                          (long long)a->opt_agent[row], number);
    if (status != IDM_OK) break;
    const int length = idm_print(text, sizeof text, "%lld", number);
    if (!idm_intern_add(&intern, text, (size_t)length, &data->agent[t]))
      status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) status = labels_of(&intern, &data->agent_name, opt_error);
  idm_intern_clear(&intern);
  return status;
}

/* Covariate `c` of the log by the texts of its rows. */
static idm_status add_covariate(idm_data *data, size_t c, const char *name,
                                const char *const *level, idm_error *opt_error)
{
  idm_intern intern = {0};
  idm_status status = idm_labels_set(&data->covariate_name, c, name, strlen(name), opt_error);
  for (size_t row = 0; row < data->rows && status == IDM_OK; row++)
    if (level[row] && !idm_utf8_is_printable(level[row], strlen(level[row])))
      status = idm_fail(opt_error, IDM_INPUT,
                        "row %zu of the covariate '%.60s' is not printable UTF-8", row, name);
  for (size_t row = 0; row < data->rows && status == IDM_OK; row++) {
    uint32_t index = 0;
    if (level[row] && !idm_intern_add(&intern, level[row], strlen(level[row]), &index))
      status = idm_fail_memory(opt_error);
    data->covariate[c * data->rows + row] = level[row] ? (int32_t)index : IDM_MISSING;
  }
  if (status == IDM_OK) status = labels_of(&intern, &data->covariate_level[c], opt_error);
  idm_intern_clear(&intern);
  return status;
}

static idm_status add_covariates(const idm_data_arrays *a, idm_data *data, idm_error *opt_error)
{
  const size_t count = a->covariates;
  idm_status status = idm_labels_create(&data->covariate_name, count, opt_error);
  data->covariate_level = idm_new(count, sizeof *data->covariate_level);
  data->covariate = idm_new(idm_times(count, data->rows), sizeof *data->covariate);
  if (!data->covariate_level || !data->covariate) return idm_fail_memory(opt_error);
  data->covariates = count;
  for (size_t c = 0; c < count && status == IDM_OK; c++)
    status = add_covariate(data, c, a->covariate[c], a->level[c], opt_error);
  return status;
}

idm_status idm_data_from_arrays(const idm_problem *problem, const idm_data_arrays *arrays,
                                idm_data **ret_data, idm_error *opt_error)
{
  idm_require(problem, arrays, ret_data);
  *ret_data = NULL;
  idm_data_arrays a;
  idm_status status = idm_struct_read(&a, sizeof a, IDM_SIZE_UP_TO(idm_data_arrays, level), arrays,
                                      "idm_data_arrays", opt_error);
  if (status == IDM_OK) status = check_arrays(problem, &a, opt_error);
  if (status != IDM_OK) return status;
  idm_data *data = idm_new(1, sizeof *data);
  if (!data || !allocate(&a, idm_setting_sizes(problem->setting), data))
    status = idm_fail_memory(opt_error);
  if (status == IDM_OK) status = name_agents(&a, data, opt_error);
  if (status == IDM_OK) status = add_covariates(&a, data, opt_error);
  if (status == IDM_OK) status = idm_data_validate(data, problem->setting, opt_error);
  if (status == IDM_OK)
    *ret_data = data;
  else
    idm_data_destroy(data);
  return status;
}

/* --- views ---------------------------------------------------------------------------------- */

size_t idm_data_rows(const idm_data *data)
{
  return data ? data->rows : 0;
}

size_t idm_data_trajectories(const idm_data *data)
{
  return data ? data->trajectories : 0;
}

size_t idm_data_agents(const idm_data *data)
{
  return data ? data->agent_name.count : 0;
}

const int32_t *idm_data_actions(const idm_data *data, size_t *ret_length)
{
  if (ret_length) *ret_length = idm_data_rows(data);
  return data ? data->action : NULL;
}

const int32_t *idm_data_observations(const idm_data *data, size_t *ret_length)
{
  if (ret_length) *ret_length = idm_data_rows(data);
  return data ? data->observation : NULL;
}

const size_t *idm_data_first_rows(const idm_data *data, size_t *ret_length)
{
  if (ret_length) *ret_length = data ? data->trajectories + 1 : 0;
  return data ? data->first : NULL;
}

const uint32_t *idm_data_trajectory_agents(const idm_data *data, size_t *ret_length)
{
  if (ret_length) *ret_length = idm_data_trajectories(data);
  return data ? data->agent : NULL;
}

const char *idm_data_agent_name(const idm_data *data, size_t index)
{
  return index < idm_data_agents(data) ? data->agent_name.name[index] : NULL;
}
