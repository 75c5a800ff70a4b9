/* Logs of decisions in memory: validation, names, designs, and counts of rows read.
 *
 * Contents: data · log counts */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "data/log.h"
#include "idm/extension/data.h"
#include "setting/model.h"

/* === data =================================================================================== */

/* Evidence: memory, names, designs and validation. */

void idm_data_destroy(idm_data *data)
{
  if (!data) return;
  idm_log_counts_destroy(data->log_counts);
  idm_preferences_destroy(data->preferences);
  void *const arrays[] = {
      data->action,        data->observation,  data->available,     data->line,
      data->first,         data->agent,        data->variant,       data->start,
      data->available_set, data->start_belief, data->variant_value, data->covariate,
      data->state,         data->file,         data->history,       data->missed};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
  idm_labels_destroy(&data->file_name);
  idm_labels_destroy(&data->trajectory_name);
  idm_labels_destroy(&data->agent_name);
  idm_labels_destroy(&data->covariate_name);
  if (data->covariate_level)
    for (size_t i = 0; i < data->covariates; i++) idm_labels_destroy(&data->covariate_level[i]);
  free(data->covariate_level);
  for (size_t i = 0; i < IDM_COLUMN_COUNT; i++) {
    free(data->number[i]);
    free(data->label[i]);
    idm_labels_destroy(&data->label_name[i]);
  }
  free(data);
}

/* Copy an array that may be NULL; false where memory runs out. */
static bool copy(const void *from, size_t count, size_t size, void **to)
{
  *to = idm_duplicate(from, count, size);
  return *to || !from;
}

/* Copy the evidence by trajectory. */
static idm_status copy_evidence(const idm_data *design_log, idm_data *data, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t c = 0; c < IDM_COLUMN_COUNT && status == IDM_OK; c++) {
    if (!idm_column_describe((idm_column)c)->by_trajectory) continue;
    void *number;
    void *label;
    const bool copied =
        copy(design_log->number[c], design_log->trajectories, sizeof(double), &number);
    data->number[c] = number;
    if (!copied || !copy(design_log->label[c], design_log->trajectories, sizeof(int32_t), &label))
      return idm_fail_memory(opt_error);
    data->label[c] = label;
    if (label)
      status = idm_labels_copy(&design_log->label_name[c], &data->label_name[c], opt_error);
  }
  return status;
}

idm_status idm_data_design(const idm_data *design_log, idm_data **ret_data, idm_error *opt_error)
{
  idm_require(design_log, ret_data);
  *ret_data = NULL;
  idm_data *data = idm_new(1, sizeof *data);
  if (!data) return idm_fail_memory(opt_error);
  const size_t n = design_log->trajectories;
  data->sizes = design_log->sizes;
  data->trajectories = n;
  data->available_sets = design_log->available_sets;
  data->starts = design_log->starts;
  data->variants = design_log->variants;
  data->columns = design_log->columns;
  data->first = idm_new(n + 1, sizeof *data->first);
  data->agent = idm_duplicate(design_log->agent, n, sizeof *data->agent);
  data->variant = idm_duplicate(design_log->variant, n, sizeof *data->variant);
  data->start = idm_duplicate(design_log->start, n, sizeof *data->start);
  data->available_set = idm_duplicate(design_log->available_set,
                                      design_log->available_sets * design_log->sizes.actions,
                                      sizeof *data->available_set);
  data->start_belief =
      idm_duplicate(design_log->start_belief, design_log->starts * design_log->sizes.states,
                    sizeof *data->start_belief);
  data->variant_value =
      idm_duplicate(design_log->variant_value, design_log->variants * design_log->columns,
                    sizeof *data->variant_value);
  idm_status status = data->first && data->agent && data->variant && data->start &&
                              data->available_set && data->start_belief && data->variant_value
                          ? copy_evidence(design_log, data, opt_error)
                          : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_labels_copy(&design_log->agent_name, &data->agent_name, opt_error);
  if (status == IDM_OK)
    status = idm_labels_copy(&design_log->trajectory_name, &data->trajectory_name, opt_error);
  if (status == IDM_OK)
    *ret_data = data;
  else
    idm_data_destroy(data);
  return status;
}

const char *idm_data_file(const idm_data *data, size_t row)
{
  if (!data || row >= data->rows) return "";
  const size_t file = data->file ? data->file[row] : 0;
  return file < data->file_name.count ? data->file_name.name[file] : "";
}

const char *idm_data_trajectory_name(const idm_data *data, size_t trajectory, char *buffer,
                                     size_t size)
{
  if (!data || trajectory >= data->trajectories) return "";
  if (trajectory < data->trajectory_name.count) return data->trajectory_name.name[trajectory];
  if (!buffer || !size) return "";
  snprintf(buffer, size, "%zu", trajectory + 1);
  return buffer;
}

idm_status idm_data_find_trajectory(const idm_data *data, const char *name, size_t *ret_trajectory,
                                    idm_error *opt_error)
{
  idm_require(data, name, ret_trajectory);
  char number[24];
  const size_t count = data->trajectories;
  *ret_trajectory = count;
  for (size_t t = 0; t < count; t++) {
    if (strcmp(name, idm_data_trajectory_name(data, t, number, sizeof number)) != 0) continue;
    if (*ret_trajectory < count)
      return idm_fail(opt_error, IDM_USAGE,
                      "there are several trajectories '%s', of agents '%s' and '%s'; choose one "
                      "with --where",
                      name, data->agent_name.name[data->agent[*ret_trajectory]],
                      data->agent_name.name[data->agent[t]]);
    *ret_trajectory = t;
  }
  if (*ret_trajectory < count) return IDM_OK;
  return idm_fail(opt_error, IDM_USAGE, "there is no trajectory '%s'; the log has %zu%s%s%s", name,
                  count, count ? ", the first is '" : "",
                  count ? idm_data_trajectory_name(data, 0, number, sizeof number) : "",
                  count ? "'" : "");
}

bool idm_data_is_multi_env(const idm_data *data)
{
  const int32_t *of = data ? data->label[IDM_COLUMN_ENVIRONMENT] : NULL;
  for (size_t t = 1; of && t < data->trajectories; t++)
    if (of[t] != of[0]) return true;
  return false;
}

void idm_data_locate(const idm_data *data, size_t row, idm_error *opt_error)
{
  if (!data || row >= data->rows || !opt_error || !data->line || opt_error->file[0]) return;
  opt_error->line = (long)data->line[row];
  snprintf(opt_error->file, sizeof opt_error->file, "%s", idm_data_file(data, row));
}

size_t idm_data_available_count(const idm_data *data, uint32_t set)
{
  if (!data || set >= data->available_sets) return 0;
  size_t open = 0;
  for (size_t u = 0; u < data->sizes.actions; u++)
    open += data->available_set[set * data->sizes.actions + u];
  return open;
}

bool idm_data_missed(const idm_data *data, size_t row)
{
  return data && data->missed && row < data->rows && data->missed[row] >= 0;
}

/* Check sizes, availability sets, start beliefs, and values of variants. */
static idm_status check_tables(const idm_data *data, const idm_setting *setting,
                               idm_error *opt_error)
{
  const idm_sizes sizes = idm_setting_sizes(setting);
  if (!idm_sizes_same(data->sizes, sizes))
    return idm_fail(opt_error, IDM_INPUT,
                    "the data have %zu states, %zu actions and %zu observations; the setting has "
                    "%zu, %zu and %zu",
                    data->sizes.states, data->sizes.actions, data->sizes.observations, sizes.states,
                    sizes.actions, sizes.observations);
  if (!data->available_sets || !data->variants)
    return idm_fail(opt_error, IDM_INPUT,
                    "the data need at least one availability set and one variant");
  for (size_t i = 0; i < data->available_sets; i++) {
    size_t open = 0;
    for (size_t u = 0; u < sizes.actions; u++) open += data->available_set[i * sizes.actions + u];
    if (!open || (i == 0 && open < sizes.actions))
      return idm_fail(opt_error, IDM_INPUT, "availability set %zu %s", i,
                      open ? "must hold all actions" : "is empty");
  }
  for (size_t i = 0; i < data->starts; i++) {
    double sum = 0;
    bool legal = true;
    for (size_t s = 0; s < sizes.states; s++) {
      const double belief = data->start_belief[i * sizes.states + s];
      legal = legal && belief >= 0;
      sum += belief;
    }
    if (!legal || !(fabs(sum - 1) <= 1e-4))
      return idm_fail(opt_error, IDM_INPUT, "start belief %zu is no distribution", i);
  }
  for (size_t i = 0; i < data->variants * data->columns; i++)
    if (!isfinite(data->variant_value[i]))
      return idm_fail(opt_error, IDM_INPUT, "utility %zu of variant %zu is not finite",
                      i % data->columns, i / data->columns);
  return IDM_OK;
}

static idm_status check_trajectories(const idm_data *data, idm_error *opt_error)
{
  if (data->trajectory_name.count && data->trajectory_name.count != data->trajectories)
    return idm_fail(opt_error, IDM_INPUT, "%zu trajectories have %zu names", data->trajectories,
                    data->trajectory_name.count);
  if (data->first[0] != 0 || data->first[data->trajectories] != data->rows)
    return idm_fail(opt_error, IDM_INPUT, "the trajectories do not span the %zu rows", data->rows);
  for (size_t i = 0; i < data->trajectories; i++) {
    if (data->first[i] >= data->first[i + 1])
      return idm_fail(opt_error, IDM_INPUT, "trajectory %zu has no rows", i + 1);
    if (data->agent[i] >= data->agent_name.count)
      return idm_fail(opt_error, IDM_INPUT, "trajectory %zu is of agent %lu, and there are %zu",
                      i + 1, (unsigned long)data->agent[i], data->agent_name.count);
    if (data->variant[i] >= data->variants)
      return idm_fail(opt_error, IDM_INPUT, "trajectory %zu is of variant %lu, and there are %zu",
                      i + 1, (unsigned long)data->variant[i], data->variants);
    if (data->start[i] < -1 || data->start[i] >= (int64_t)data->starts)
      return idm_fail(opt_error, IDM_INPUT,
                      "trajectory %zu has start belief %ld, and there are %zu", i + 1,
                      (long)data->start[i], data->starts);
  }
  return IDM_OK;
}

/* Whether an index is in range or IDM_MISSING. */
static bool in_range(int32_t index, size_t count)
{
  return index == IDM_MISSING || (index >= 0 && (size_t)index < count);
}

static idm_status check_row(const idm_data *data, const idm_setting *setting, size_t row,
                            idm_error *opt_error)
{
  const int32_t action = data->action[row];
  const unsigned long line = data->line ? data->line[row] : 0;
  if (!in_range(action, data->sizes.actions))
    return idm_fail(opt_error, IDM_INPUT, "row %zu (line %lu) has action %ld, and there are %zu",
                    row, line, (long)action, data->sizes.actions);
  if (!in_range(data->observation[row], data->sizes.observations))
    return idm_fail(opt_error, IDM_INPUT,
                    "row %zu (line %lu) has observation %ld, and there are %zu", row, line,
                    (long)data->observation[row], data->sizes.observations);
  const uint32_t set = data->available[row];
  if (set >= data->available_sets)
    return idm_fail(opt_error, IDM_INPUT,
                    "row %zu (line %lu) has availability set %lu, and there are %zu", row, line,
                    (unsigned long)set, data->available_sets);
  if (action >= 0 && !data->available_set[set * data->sizes.actions + (size_t)action])
    return idm_fail(opt_error, IDM_INPUT,
                    "row %zu (line %lu): the action taken, '%s', is not among those available", row,
                    line, setting->actions.name[action]);
  if (data->missed && data->missed[row] < IDM_MISSING)
    return idm_fail(opt_error, IDM_INPUT, "row %zu (line %lu) has missed response %ld", row, line,
                    (long)data->missed[row]);
  if (idm_data_missed(data, row) && action >= 0 && idm_data_available_count(data, set) != 1)
    return idm_fail(opt_error, IDM_INPUT,
                    "row %zu (line %lu) is a missed response with %zu actions available; expected "
                    "'%s' alone",
                    row, line, idm_data_available_count(data, set), setting->actions.name[action]);
  return IDM_OK;
}

/* Check evidence by column: numbers are finite and in range, labels exist. */
static idm_status check_evidence(const idm_data *data, idm_error *opt_error)
{
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    const idm_column_info *info = idm_column_describe((idm_column)c);
    const size_t count = info->by_trajectory ? data->trajectories : data->rows;
    for (size_t i = 0; data->number[c] && i < count; i++) {
      const double x = data->number[c][i];
      if (!isfinite(x) || x < info->least || (info->whole && x != floor(x)))
        return idm_fail(opt_error, IDM_INPUT, "%s %zu is %g", info->what, i + 1, x);
    }
    for (size_t i = 0; data->label[c] && i < count; i++)
      if (!in_range(data->label[c][i], data->label_name[c].count))
        return idm_fail(opt_error, IDM_INPUT, "%s %zu is number %ld, and there are %zu", info->what,
                        i + 1, (long)data->label[c][i], data->label_name[c].count);
  }
  return IDM_OK;
}

idm_status idm_data_validate(const idm_data *data, const idm_setting *setting, idm_error *opt_error)
{
  idm_require(data, setting);
  idm_status status = check_tables(data, setting, opt_error);
  if (status == IDM_OK) status = check_trajectories(data, opt_error);
  for (size_t row = 0; row < data->rows && status == IDM_OK; row++)
    status = check_row(data, setting, row, opt_error);
  if (status == IDM_OK) status = check_evidence(data, opt_error);
  if (status == IDM_OK && data->preferences)
    status = idm_preferences_check(data->preferences, data->trajectories, opt_error);
  for (size_t c = 0; c < data->covariates && status == IDM_OK; c++)
    for (size_t row = 0; row < data->rows && status == IDM_OK; row++)
      if (!in_range(data->covariate[c * data->rows + row], data->covariate_level[c].count))
        status =
            idm_fail(opt_error, IDM_INPUT, "row %zu has level %ld of covariate '%s'", row,
                     (long)data->covariate[c * data->rows + row], data->covariate_name.name[c]);
  return status;
}

/* === log counts ============================================================================= */

/* Counts of the rows of a log by outcome of reading. */

idm_status idm_log_counts_create(size_t reasons, size_t cuts, idm_log_counts **ret_counts,
                                 idm_error *opt_error)
{
  idm_require(ret_counts);
  *ret_counts = NULL;
  idm_log_counts *log_counts = idm_new(1, sizeof *log_counts);
  if (!log_counts) return idm_fail_memory(opt_error);
  log_counts->dropped = idm_new(reasons, sizeof *log_counts->dropped);
  log_counts->cut = idm_new(cuts, sizeof *log_counts->cut);
  if (!log_counts->dropped || !log_counts->cut) {
    idm_log_counts_destroy(log_counts);
    return idm_fail_memory(opt_error);
  }
  log_counts->reasons = reasons;
  log_counts->cuts = cuts;
  *ret_counts = log_counts;
  return IDM_OK;
}

void idm_log_counts_destroy(idm_log_counts *log_counts)
{
  if (!log_counts) return;
  for (size_t i = 0; i < log_counts->reasons; i++) free(log_counts->dropped[i].reason);
  for (size_t i = 0; i < log_counts->cuts; i++) free(log_counts->cut[i].at);
  free(log_counts->dropped);
  free(log_counts->cut);
  free(log_counts);
}

idm_status idm_problem_set_breaks(idm_problem *problem, const idm_log_counts *log_counts,
                                  idm_error *opt_error)
{
  idm_require(problem, log_counts);
  for (size_t i = 0; i < log_counts->cuts; i++) {
    const idm_breakpoints *cut = &log_counts->cut[i];
    if (cut->derived >= problem->columns.derived_count ||
        problem->columns.derived[cut->derived].cuts != cut->count)
      return idm_fail(opt_error, IDM_USAGE, "these cut points are of another problem's columns");
    idm_derived *derived = &problem->columns.derived[cut->derived];
    double *at = idm_duplicate(cut->at, cut->count, sizeof *at);
    if (!at) return idm_fail_memory(opt_error);
    free(derived->at);
    derived->at = at;
  }
  return IDM_OK;
}
