/* Converts rows in the order of the files to idm_data: groups them by trajectory, orders them by
 * time, and checks them.
 *
 * Contents: states · build */
#include "io/log/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "setting/model.h"

/* === states =================================================================================== */

/* Observed states of a log: the observation after u_t is s_{t+1}. */

static size_t state_row_at(const uint32_t *order, size_t position)
{
  return order ? order[position] : position;
}

#define fail_row(log, row, opt_error, ...)                                                         \
  idm_fail_at(opt_error, idm_log_file(log, row), (long)(log)->line[row],                           \
              (long)(log)->action_column[row], __VA_ARGS__)

/* Set the observation of a row to the state on the next row. IDM_INPUT if both are given and
 * differ. */
static idm_status join_rows(idm_log *log, size_t row, size_t next, idm_error *opt_error)
{
  const char *const *name = (const char *const *)log->problem->setting->states.name;
  const int32_t observed = log->observation[row];
  const int32_t state = log->state[next];
  if (observed >= 0 && state >= 0 && observed != state)
    return fail_row(log, next, opt_error,
                    "the state is '%s' here, and what was seen on line %lu before it is '%s'; "
                    "where both are given they must agree",
                    name[state], (unsigned long)log->line[row], name[observed]);
  if (observed < 0) log->observation[row] = state;
  return IDM_OK;
}

/* Start a trajectory in the state on its first row. IDM_INPUT if the start belief of that row
 * excludes the state. */
static idm_status start_at(idm_log *log, size_t trajectory, size_t row, idm_error *opt_error)
{
  const size_t states = log->problem->setting->states.count;
  const int32_t state = log->state[row];
  idm_log_trajectory *known = &log->known[trajectory];
  if (state < 0) return IDM_OK;
  size_t length;
  if (known->start >= 0) {
    double belief;
    memcpy(&belief,
           idm_intern_text(&log->starts, (uint32_t)known->start, &length) +
               (size_t)state * sizeof belief,
           sizeof belief);
    if (!(belief > 0))
      return fail_row(log, row, opt_error,
                      "the first state is '%s', which the start belief on the same row excludes",
                      log->problem->setting->states.name[state]);
  }
  uint32_t start;
  memset(log->number, 0, states * sizeof *log->number);
  log->number[state] = 1;
  if (!idm_intern_add(&log->starts, (const char *)log->number, states * sizeof *log->number,
                      &start))
    return idm_fail_memory(opt_error);
  known->start = (int32_t)start;
  return IDM_OK;
}

/* IDM_INPUT if a decision lacks a number. Only a row that closes a trajectory may lack numbers. */
static idm_status check_numbers(const idm_log *log, size_t row, idm_error *opt_error)
{
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++)
    if (log->evidence_number[c] && isnan(log->evidence_number[c][row]))
      return fail_row(log, row, opt_error,
                      "an empty cell for %s; expected a number on every row except one that only "
                      "gives the final state of a trajectory",
                      idm_column_describe((idm_column)c)->what);
  return IDM_OK;
}

static bool is_closing(const idm_log *log, size_t row)
{
  return log->action[row] < 0 && !idm_log_is_missed(log, row) && log->state[row] >= 0;
}

static idm_status join_trajectory(idm_log *log, size_t trajectory, const uint32_t *order,
                                  size_t begin, size_t end, bool *ret_closing, idm_error *opt_error)
{
  idm_status status = start_at(log, trajectory, state_row_at(order, begin), opt_error);
  for (size_t t = begin; t + 1 < end && status == IDM_OK; t++)
    status = join_rows(log, state_row_at(order, t), state_row_at(order, t + 1), opt_error);
  const size_t last = state_row_at(order, end - 1);
  *ret_closing = is_closing(log, last);
  for (size_t t = begin; t < end - *ret_closing && status == IDM_OK; t++)
    status = check_numbers(log, state_row_at(order, t), opt_error);
  if (status == IDM_OK && *ret_closing && end - begin == 1)
    status = fail_row(log, last, opt_error,
                      "a state and no action on the only row of a trajectory; expected a decision");
  return status;
}

/* Remove the rows that close trajectories from the order. */
static idm_status drop_closing_rows(const bool *closing, size_t trajectories, size_t *first,
                                    uint32_t **order, idm_error *opt_error)
{
  const size_t rows = first[trajectories];
  uint32_t *kept = *order ? *order : idm_new(rows, sizeof *kept);
  if (!kept) return idm_fail_memory(opt_error);
  size_t used = 0;
  for (size_t i = 0; i < trajectories; i++) {
    const size_t begin = first[i];
    first[i] = used;
    for (size_t t = begin; t < first[i + 1] - closing[i]; t++)
      kept[used++] = (uint32_t)state_row_at(*order, t);
  }
  first[trajectories] = used;
  *order = kept;
  return IDM_OK;
}

/* Take observations from the states on the next rows, and starts from the states on first rows. A
 * last row with a state and no action only gives the last observation: it is removed from `first`
 * and from the order, which is created if it is NULL. *ret_closing counts such rows. */
static idm_status idm_log_join_states(idm_log *log, size_t *first, uint32_t **order,
                                      size_t *ret_closing, idm_error *opt_error)
{
  const size_t trajectories = log->trajectories.count;
  *ret_closing = 0;
  if (!log->state) return IDM_OK;
  bool *closing = idm_new(trajectories, sizeof *closing);
  if (!closing) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < trajectories && status == IDM_OK; i++) {
    status = join_trajectory(log, i, *order, first[i], first[i + 1], &closing[i], opt_error);
    *ret_closing += closing[i];
  }
  if (status == IDM_OK && *ret_closing)
    status = drop_closing_rows(closing, trajectories, first, order, opt_error);
  free(closing);
  return status;
}

/* === build ==================================================================================== */

/* --- order ---------------------------------------------------------------------------------- */

/* Rows of trajectory i are first[i] .. first[i + 1] - 1 of the order. */
static idm_status count_rows(const idm_log *log, size_t **ret_first, idm_error *opt_error)
{
  const size_t trajectories = log->trajectories.count;
  size_t *first = idm_new(trajectories + 1, sizeof *first);
  *ret_first = first;
  if (!first) return idm_fail_memory(opt_error);
  for (size_t row = 0; row < log->rows; row++) first[log->trajectory[row] + 1]++;
  for (size_t i = 0; i < trajectories; i++) first[i + 1] += first[i];
  return IDM_OK;
}

/* Rows by trajectory, in file order within each. */
static idm_status group_rows(const idm_log *log, const size_t *first, uint32_t **ret_order,
                             idm_error *opt_error)
{
  const size_t trajectories = log->trajectories.count;
  uint32_t *order = idm_new(log->rows, sizeof *order);
  size_t *next = idm_duplicate(first, trajectories, sizeof *next);
  *ret_order = order;
  if (order && next)
    for (size_t row = 0; row < log->rows; row++)
      order[next[log->trajectory[row]]++] = (uint32_t)row;
  free(next);
  return order && next ? IDM_OK : idm_fail_memory(opt_error);
}

typedef struct timed {
  const double *time;
  size_t count; /* number of time columns, most significant first */
  uint32_t row;
} timed;

static int compare_times(const void *a, const void *b)
{
  const timed *x = a;
  const timed *y = b;
  for (size_t i = 0; i < x->count; i++)
    if (x->time[i] != y->time[i]) return x->time[i] < y->time[i] ? -1 : 1;
  return 0;
}

idm_status idm_log_fail_duplicate(const char *file, uint32_t earlier, uint32_t later,
                                  uint32_t column, idm_error *opt_error)
{
  return idm_fail_at(opt_error, file, (long)later, (long)column,
                     "lines %lu and %lu of one trajectory have the same time; remove one, let "
                     "data: {time: [...]} name a further column that orders them, or keep one by "
                     "data: {rules: [{duplicates: first}]}",
                     (unsigned long)earlier, (unsigned long)later);
}

/* Order the rows of one trajectory by time. */
static idm_status sort_trajectory(idm_log *log, uint32_t *order, size_t count, timed *scratch,
                                  idm_error *opt_error)
{
  const size_t columns = log->header.role[IDM_COLUMN_TIME].count;
  for (size_t i = 0; i < count; i++)
    scratch[i] = (timed){log->time + order[i] * columns, columns, order[i]};
  bool sorted = true;
  for (size_t i = 1; i < count && sorted; i++)
    sorted = compare_times(&scratch[i - 1], &scratch[i]) < 0;
  if (sorted) return IDM_OK;
  log->unsorted++;
  qsort(scratch, count, sizeof *scratch, compare_times);
  for (size_t i = 1; i < count; i++) {
    if (compare_times(&scratch[i - 1], &scratch[i]) != 0) continue;
    const uint32_t a = scratch[i - 1].row;
    const uint32_t b = scratch[i].row;
    const uint32_t later = a > b ? a : b;
    const uint32_t earlier = a > b ? b : a;
    return idm_log_fail_duplicate(idm_log_file(log, later), log->time_line[earlier],
                                  log->time_line[later], log->time_column[later], opt_error);
  }
  for (size_t i = 0; i < count; i++) order[i] = scratch[i].row;
  return IDM_OK;
}

static idm_status sort_rows(idm_log *log, const size_t *first, uint32_t *order,
                            idm_error *opt_error)
{
  size_t longest = 0;
  for (size_t i = 0; i < log->trajectories.count; i++)
    if (first[i + 1] - first[i] > longest) longest = first[i + 1] - first[i];
  timed *scratch = idm_new(longest, sizeof *scratch);
  idm_status status = scratch ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < log->trajectories.count && status == IDM_OK; i++)
    status = sort_trajectory(log, order + first[i], first[i + 1] - first[i], scratch, opt_error);
  free(scratch);
  return status;
}

/* Order of the rows by trajectory and time; NULL if they are in this order already. */
static idm_status order_rows(idm_log *log, const size_t *first, uint32_t **ret_order,
                             idm_error *opt_error)
{
  *ret_order = NULL;
  bool grouped = true;
  for (size_t row = 1; row < log->rows && grouped; row++)
    grouped = log->trajectory[row - 1] <= log->trajectory[row];
  const bool timed_rows = log->header.role[IDM_COLUMN_TIME].count > 0;
  if (grouped && !timed_rows) return IDM_OK;
  idm_status status = group_rows(log, first, ret_order, opt_error);
  if (status == IDM_OK && timed_rows) status = sort_rows(log, first, *ret_order, opt_error);
  return status;
}

/* --- checks that need the order ------------------------------------------------------------- */

static size_t row_at(const uint32_t *order, size_t position)
{
  return order ? order[position] : position;
}

/* IDM_INPUT if a trajectory continues after a terminal state, or after a state that is not recorded
 * and may be terminal. */
static idm_status check_arrival(const idm_log *log, size_t row, size_t next, idm_error *opt_error)
{
  const idm_setting *setting = log->problem->setting;
  const int32_t observed = log->observation[row];
  if (!idm_setting_has_terminal_states(setting) ||
      (observed >= 0 && !setting->terminal_state[observed]))
    return IDM_OK;
  if (observed >= 0)
    return idm_fail_at(
        opt_error, idm_log_file(log, next), (long)log->line[next], 0,
        "the trajectory goes on after it came to '%s' (line %lu), which is terminal; "
        "expected it to end there",
        setting->states.name[observed], (unsigned long)log->line[row]);
  return idm_fail_at(opt_error, idm_log_file(log, row), (long)log->line[row], 0,
                     "the state after this row is not recorded, and it may be a terminal one; "
                     "expected every state but the last");
}

static idm_status check_ends(const idm_log *log, const size_t *first, const uint32_t *order,
                             idm_error *opt_error)
{
  const idm_setting *setting = log->problem->setting;
  for (size_t i = 0; i < log->trajectories.count; i++)
    for (size_t t = first[i]; t + 1 < first[i + 1]; t++) {
      const size_t row = row_at(order, t);
      const int32_t action = log->action[row];
      const idm_status status = check_arrival(log, row, row_at(order, t + 1), opt_error);
      if (status != IDM_OK) return status;
      if (action < 0 || !(setting->ends[action] || setting->terminal[action])) continue;
      return idm_fail_at(
          opt_error, idm_log_file(log, row), (long)log->line[row], (long)log->action_column[row],
          "the trajectory goes on (line %lu) after '%s', which ends it",
          (unsigned long)log->line[row_at(order, t + 1)], setting->actions.name[action]);
    }
  return IDM_OK;
}

static idm_status check_horizon(const idm_log *log, const size_t *first, const uint32_t *order,
                                idm_error *opt_error)
{
  const int horizon = log->problem->setting->horizon;
  if (horizon <= 0) return IDM_OK;
  for (size_t i = 0; i < log->trajectories.count; i++) {
    if (first[i + 1] - first[i] <= (size_t)horizon) continue;
    const size_t row = row_at(order, first[i] + (size_t)horizon);
    return idm_fail_at(opt_error, idm_log_file(log, row), (long)log->line[row],
                       (long)log->action_column[row],
                       "step %d of a trajectory of %zu steps; the horizon is %d", horizon + 1,
                       first[i + 1] - first[i], horizon);
  }
  return IDM_OK;
}

/* --- evidence ------------------------------------------------------------------------------- */

/* Take an array of 4-byte numbers from the log, in the given order; without an order, the array
 * itself is returned. Sets the pointer at `array` to NULL. Arrays are moved one after the other, so
 * that at most one exists twice. */
static void *reorder_rows(void *array, size_t rows, const uint32_t *order)
{
  uint32_t *source;
  memcpy(&source, array, sizeof source);
  uint32_t *reordered;
  if (order) {
    reordered = idm_new(rows, sizeof *reordered);
    if (!reordered) return NULL;
    for (size_t i = 0; i < rows; i++) reordered[i] = source[order[i]];
    free(source);
  } else {
    reordered = realloc(source, rows * sizeof *reordered);
    if (!reordered) reordered = source;
  }
  memset(array, 0, sizeof source);
  return reordered;
}

/* Returns true if one of the kept rows is a missed response. */
static bool has_missed(const idm_log *log, size_t rows, const uint32_t *order)
{
  for (size_t i = 0; i < rows; i++)
    if (idm_log_is_missed(log, row_at(order, i))) return true;
  return false;
}

static idm_status move_rows(idm_log *log, const uint32_t *order, idm_data *data,
                            idm_error *opt_error)
{
  const bool states = log->state;
  const bool files = log->row_file;
  const bool missed = has_missed(log, data->rows, order);
  data->action = reorder_rows(&log->action, data->rows, order);
  data->observation = reorder_rows(&log->observation, data->rows, order);
  data->available = reorder_rows(&log->available, data->rows, order);
  data->line = reorder_rows(&log->line, data->rows, order);
  if (states) data->state = reorder_rows(&log->state, data->rows, order);
  if (files) data->file = reorder_rows(&log->row_file, data->rows, order);
  if (missed) data->missed = reorder_rows(&log->missed, data->rows, order);
  const bool reordered = data->action && data->observation && data->available && data->line &&
                         (data->state || !states) && (data->file || !files) &&
                         (data->missed || !missed);
  return reordered ? IDM_OK : idm_fail_memory(opt_error);
}

static idm_status name_files(const idm_log *log, idm_data *data, idm_error *opt_error)
{
  idm_status status = idm_labels_create(&data->file_name, log->file_count, opt_error);
  for (size_t i = 0; i < log->file_count && status == IDM_OK; i++) {
    const char *name = log->file_count == 1 ? log->file : log->files[i];
    status = idm_labels_set(&data->file_name, i, name, strlen(name), opt_error);
  }
  return status;
}

static idm_status make_trajectories(const idm_log *log, idm_data *data, idm_error *opt_error)
{
  const size_t count = log->trajectories.count;
  data->trajectories = count;
  data->agent = idm_new(count, sizeof *data->agent);
  data->variant = idm_new(count, sizeof *data->variant);
  data->start = idm_new(count, sizeof *data->start);
  if (!data->agent || !data->variant || !data->start) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count; i++) {
    data->agent[i] = log->known[i].agent;
    data->variant[i] = log->known[i].variant;
    data->start[i] = log->known[i].start;
  }
  return IDM_OK;
}

/* Labels from interned texts without their first `skip` bytes; parts of an id are joined by '/'. */
static idm_status make_labels(const idm_intern *intern, size_t skip, idm_labels *labels,
                              idm_error *opt_error)
{
  idm_status status = idm_labels_create(labels, intern->count, opt_error);
  for (uint32_t i = 0; i < intern->count && status == IDM_OK; i++) {
    size_t length;
    const char *text = idm_intern_text(intern, i, &length);
    status = idm_labels_set(labels, i, text + skip, length - skip, opt_error);
    if (status != IDM_OK) break;
    char *name = labels->name[i];
    char *const end = name + (length - skip);
    while ((name = memchr(name, '\0', (size_t)(end - name)))) *name = '/';
  }
  return status;
}

/* A copy of the bytes of all interned strings. */
static void *copy_bytes(const idm_intern *intern)
{
  if (!intern->count) return idm_new(1, 1);
  return idm_duplicate(intern->text, intern->offset[intern->count], 1);
}

static idm_status make_tables(const idm_log *log, idm_data *data, idm_error *opt_error)
{
  data->sizes = idm_setting_sizes(log->problem->setting);
  data->available_sets = log->available_sets.count;
  data->available_set = copy_bytes(&log->available_sets);
  data->starts = log->starts.count;
  data->start_belief = copy_bytes(&log->starts);
  data->columns = log->header.role[IDM_ROLE_UTILITY].count;
  data->variants = log->variants.count ? log->variants.count : 1;
  data->variant_value = copy_bytes(&log->variants);
  if (data->available_set && data->start_belief && data->variant_value) return IDM_OK;
  return idm_fail_memory(opt_error);
}

/* IDM_INPUT if a trajectory begins in a terminal state, where no action is taken. */
static idm_status check_starts(const idm_data *data, const idm_setting *setting,
                               idm_error *opt_error)
{
  const size_t states = setting->states.count;
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t s = 0; s < states && data->start[t] >= 0; s++) {
      if (!setting->terminal_state[s] ||
          !(data->start_belief[(size_t)data->start[t] * states + s] > 0))
        continue;
      const idm_status status =
          idm_fail(opt_error, IDM_INPUT,
                   "the trajectory begins in '%s', which is terminal; expected another state",
                   setting->states.name[s]);
      idm_data_locate(data, data->first[t], opt_error);
      return status;
    }
  return IDM_OK;
}

static idm_status make_covariates(const idm_log *log, const uint32_t *order, idm_data *data,
                                  idm_error *opt_error)
{
  const idm_log_role *role = &log->header.role[IDM_ROLE_KEEP];
  data->covariate_level = idm_new(role->count, sizeof *data->covariate_level);
  data->covariate = idm_new(idm_times(role->count, data->rows), sizeof *data->covariate);
  if (!data->covariate_level || !data->covariate) return idm_fail_memory(opt_error);
  data->covariates = role->count;
  idm_status status = idm_labels_create(&data->covariate_name, role->count, opt_error);
  for (size_t c = 0; c < role->count && status == IDM_OK; c++) {
    const char *name = log->header.name.name[role->column[c]];
    status = idm_labels_set(&data->covariate_name, c, name, strlen(name), opt_error);
    if (status == IDM_OK)
      status = make_labels(&log->levels[c], 0, &data->covariate_level[c], opt_error);
    for (size_t t = 0; t < data->rows; t++)
      data->covariate[c * data->rows + t] = log->covariate[row_at(order, t) * role->count + c];
  }
  return status;
}

idm_status idm_log_build(idm_log *log, idm_data **ret_data, size_t *ret_closing,
                         idm_error *opt_error)
{
  *ret_data = NULL;
  if (!log->rows)
    return idm_fail_at(opt_error, log->file, (long)log->header.place[0].line, 1,
                       "a header and no rows; expected a row for every step");
  uint32_t *order = NULL;
  idm_data *data = idm_new(1, sizeof *data);
  if (!data) return idm_fail_memory(opt_error);
  idm_status status = count_rows(log, &data->first, opt_error);
  if (status == IDM_OK) status = order_rows(log, data->first, &order, opt_error);
  if (status == IDM_OK)
    status = idm_log_join_states(log, data->first, &order, ret_closing, opt_error);
  if (status == IDM_OK) data->rows = data->first[log->trajectories.count];
  if (status == IDM_OK) status = check_ends(log, data->first, order, opt_error);
  if (status == IDM_OK) status = check_horizon(log, data->first, order, opt_error);
  if (status == IDM_OK) status = make_covariates(log, order, data, opt_error);
  if (status == IDM_OK) status = move_rows(log, order, data, opt_error);
  if (status == IDM_OK) status = name_files(log, data, opt_error);
  if (status == IDM_OK) status = make_trajectories(log, data, opt_error);
  if (status == IDM_OK) status = idm_log_move_evidence(log, order, data, opt_error);
  if (status == IDM_OK) status = make_tables(log, data, opt_error);
  if (status == IDM_OK) status = check_starts(data, log->problem->setting, opt_error);
  if (status == IDM_OK) status = make_labels(&log->agents, 0, &data->agent_name, opt_error);
  if (status == IDM_OK)
    status = make_labels(&log->trajectories, sizeof(uint32_t), &data->trajectory_name, opt_error);
  free(order);
  if (status != IDM_OK) {
    idm_data_destroy(data);
    return status;
  }
  *ret_data = data;
  return IDM_OK;
}
