/* Reads a log from CSV in one pass over the rows, then groups them by trajectory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "data/log.h"
#include "io/log/log.h"

/* Row indices have 32 bits. */
static const size_t row_limit = (size_t)1 << 31;

/* --- the log -------------------------------------------------------------------------------- */

static idm_status intern_texts(idm_intern *intern, const idm_labels *texts, idm_error *opt_error)
{
  for (size_t i = 0; i < texts->count; i++) {
    uint32_t index;
    if (!idm_intern_add(intern, texts->name[i], strlen(texts->name[i]), &index))
      return idm_fail_memory(opt_error);
  }
  return IDM_OK;
}

static idm_status prepare_meanings(idm_log *log, idm_error *opt_error)
{
  const idm_columns *columns = &log->problem->columns;
  const idm_setting *setting = log->problem->setting;
  const idm_log_role *role = log->header.role;
  idm_status status =
      idm_label_decoder_create(&log->actions, &setting->actions, &columns->codes[IDM_COLUMN_ACTION],
                               role[IDM_COLUMN_ACTION].count, opt_error);
  /* If states are observed, observations are states: both columns use the same labels and codes. */
  if (status == IDM_OK && role[IDM_COLUMN_STATE].count)
    status = idm_label_decoder_create(&log->states, &setting->states,
                                      &columns->codes[IDM_COLUMN_OBSERVATION],
                                      role[IDM_COLUMN_STATE].count, opt_error);
  if (status == IDM_OK)
    status = idm_label_decoder_create(&log->observations, &setting->observations,
                                      &columns->codes[IDM_COLUMN_OBSERVATION],
                                      role[IDM_COLUMN_OBSERVATION].count, opt_error);
  if (status == IDM_OK) status = intern_texts(&log->missing, &columns->missing, opt_error);
  if (status == IDM_OK) status = intern_texts(&log->missed_text, &columns->missed, opt_error);
  return status;
}

/* Intern the sets of available actions: all actions (index 0), and the action of a missed response
 * alone. */
static bool prepare_sets(idm_log *log, size_t actions)
{
  const size_t alone = log->problem->columns.missed_action;
  uint32_t all;
  for (size_t u = 0; u < actions; u++) log->open[u] = true;
  if (!idm_intern_add(&log->available_sets, (const char *)log->open, actions, &all)) return false;
  /* The analyser loses the fields of a log when the address of one is passed to another file. */
  /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): clear() frees log->open with the log */
  if (!alone) return true;
  for (size_t u = 0; u < actions; u++) log->open[u] = u == alone - 1;
  return idm_intern_add(&log->available_sets, (const char *)log->open, actions, &log->missed_set);
}

/* Allocate everything whose size depends on the header and the problem. */
static idm_status prepare(idm_log *log, idm_error *opt_error)
{
  const idm_setting *setting = log->problem->setting;
  const idm_sizes sizes = idm_setting_sizes(setting);
  const size_t utilities = log->header.role[IDM_ROLE_UTILITY].count;
  const size_t rules = log->coding ? log->problem->columns.rules : 0;
  idm_status status = prepare_meanings(log, opt_error);
  if (status == IDM_OK)
    status = idm_row_counts_create(&log->ledger, log->where.count + rules, opt_error);
  if (status != IDM_OK) return status;
  log->number = idm_new(sizes.states > utilities ? sizes.states : utilities, sizeof *log->number);
  log->open = idm_new(sizes.actions, sizeof *log->open);
  log->levels = idm_new(log->header.role[IDM_ROLE_KEEP].count, sizeof *log->levels);
  if (!log->number || !log->open || !log->levels) return idm_fail_memory(opt_error);
  log->last_agent = log->last_trajectory = IDM_INTERN_NONE;
  uint32_t all;
  if (!prepare_sets(log, sizes.actions) ||
      /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what the log holds is freed by its owner */
      (!log->header.role[IDM_COLUMN_AGENT].count && !idm_intern_add(&log->agents, "all", 3, &all)))
    return idm_fail_memory(opt_error);
  return IDM_OK;
}

static void clear(idm_log *log)
{
  if (log->levels)
    for (size_t i = 0; i < log->header.role[IDM_ROLE_KEEP].count; i++)
      idm_intern_clear(&log->levels[i]);
  idm_label_decoder_clear(&log->actions);
  idm_label_decoder_clear(&log->states);
  idm_label_decoder_clear(&log->observations);
  idm_where_clear(&log->where);
  idm_row_counts_clear(&log->ledger);
  idm_coding_destroy(log->coding);
  idm_intern *const interns[] = {&log->missing,        &log->agents,         &log->joined,
                                 &log->trajectories,   &log->available_text, &log->starts,
                                 &log->available_sets, &log->variants,       &log->missed_text};
  for (size_t i = 0; i < sizeof interns / sizeof interns[0]; i++) idm_intern_clear(interns[i]);
  void *const arrays[] = {log->levels,      log->available_of, log->trajectory, log->action,
                          log->observation, log->available,    log->line,       log->action_column,
                          log->time_line,   log->time_column,  log->time,       log->covariate,
                          log->known,       log->scratch,      log->number,     log->open,
                          log->row_file,    log->state,        log->missed};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
  idm_log_clear_evidence(log);
  idm_log_header_destroy(&log->header);
}

/* Enlarge an array of rows. If memory is exhausted, returns the old array and clears *grown. An
 * array of width 0 stays NULL. */
static void *grow(void *old, size_t size, size_t width, size_t capacity, bool *grown)
{
  if (!width) return old;
  void *larger = realloc(old, idm_times(capacity, size * width));
  if (larger) return larger;
  *grown = false;
  return old;
}

static idm_status make_room(idm_log *log, const idm_csv_field *field, idm_error *opt_error)
{
  if (log->rows < log->row_capacity) return IDM_OK;
  if (log->rows >= row_limit)
    return idm_fail_at(opt_error, log->file, (long)field->line, (long)field->column,
                       "more than %zu rows", row_limit);
  const size_t capacity = log->row_capacity ? 2 * log->row_capacity : 1024;
  const size_t times = log->header.role[IDM_COLUMN_TIME].count;
  const size_t kept = log->header.role[IDM_ROLE_KEEP].count;
  const bool states = log->header.role[IDM_COLUMN_STATE].count > 0;
  bool grown = true;
  log->trajectory = grow(log->trajectory, sizeof *log->trajectory, 1, capacity, &grown);
  log->action = grow(log->action, sizeof *log->action, 1, capacity, &grown);
  log->missed =
      grow(log->missed, sizeof *log->missed, log->missed_text.count > 0, capacity, &grown);
  log->state = grow(log->state, sizeof *log->state, states, capacity, &grown);
  log->observation = grow(log->observation, sizeof *log->observation, 1, capacity, &grown);
  log->available = grow(log->available, sizeof *log->available, 1, capacity, &grown);
  log->line = grow(log->line, sizeof *log->line, 1, capacity, &grown);
  log->row_file = grow(log->row_file, sizeof *log->row_file, log->file_count > 1, capacity, &grown);
  log->action_column = grow(log->action_column, sizeof *log->action_column, 1, capacity, &grown);
  log->time_line = grow(log->time_line, sizeof *log->time_line, times > 0, capacity, &grown);
  log->time_column = grow(log->time_column, sizeof *log->time_column, times > 0, capacity, &grown);
  log->time = grow(log->time, sizeof *log->time, times, capacity, &grown);
  log->covariate = grow(log->covariate, sizeof *log->covariate, kept, capacity, &grown);
  if (!grown || !idm_log_grow_evidence(log, capacity)) return idm_fail_memory(opt_error);
  log->row_capacity = capacity;
  return IDM_OK;
}

/* --- rows ----------------------------------------------------------------------------------- */

/* Append the cells of an id to the scratch at *used, with a separator between them. */
static idm_status join_id(idm_log *log, size_t id, const idm_csv_field *field, char separator,
                          size_t *used, idm_error *opt_error)
{
  const idm_log_role *role = &log->header.role[id];
  for (size_t i = 0; i < role->count; i++) {
    const idm_csv_field cell = idm_log_cell(log, &field[role->column[i]]);
    if (!cell.length)
      return idm_fail_at(opt_error, log->file, (long)cell.line, (long)cell.column,
                         "%s in column '%s'; expected the id of %s",
                         idm_cell_trim(field[role->column[i]]).length
                             ? "a cell marked as missing (data.missing)"
                             : "an empty cell",
                         log->header.name.name[role->column[i]],
                         id == IDM_COLUMN_AGENT ? "an agent" : "a trajectory");
    if (role->count > 1 && separator == '/' && memchr(cell.text, '/', cell.length))
      return idm_fail_at(opt_error, log->file, (long)cell.line, (long)cell.column,
                         "'%.*s' holds a '/', which joins the columns of an agent's id",
                         IDM_CELL_FORMAT(cell));
    idm_status status = idm_log_check_name(
        log, &cell, id == IDM_COLUMN_AGENT ? "the id of an agent" : "the id of a trajectory",
        opt_error);
    if (status == IDM_OK) status = idm_log_scratch(log, *used + cell.length + 1, opt_error);
    if (status != IDM_OK) return status;
    if (i) log->scratch[(*used)++] = separator;
    memcpy(log->scratch + *used, cell.text, cell.length);
    *used += cell.length;
  }
  return IDM_OK;
}

static idm_status read_agent(idm_log *log, const idm_csv_field *field, uint32_t *ret_agent,
                             idm_error *opt_error)
{
  *ret_agent = 0;
  if (!log->header.role[IDM_COLUMN_AGENT].count) return IDM_OK;
  size_t length = 0;
  const idm_status status = join_id(log, IDM_COLUMN_AGENT, field, '/', &length, opt_error);
  if (status != IDM_OK) return status;
  if (idm_intern_is(&log->agents, log->last_agent, log->scratch, length)) {
    *ret_agent = log->last_agent;
    return IDM_OK;
  }
  if (!idm_intern_add(&log->agents, log->scratch, length, &log->last_agent))
    return idm_fail_memory(opt_error);
  *ret_agent = log->last_agent;
  return IDM_OK;
}

static idm_status add_trajectory(idm_log *log, uint32_t agent, idm_error *opt_error)
{
  const size_t index = log->trajectories.count - 1;
  if (index == log->trajectory_info_capacity) {
    const size_t capacity = 2 * log->trajectory_info_capacity + 64;
    bool grown = true;
    log->known = grow(log->known, sizeof *log->known, 1, capacity, &grown);
    if (!grown) return idm_fail_memory(opt_error);
    log->trajectory_info_capacity = capacity;
  }
  log->known[index] = (idm_log_trajectory){.agent = agent,
                                           .file = (uint32_t)log->at,
                                           .start = -1,
                                           .first_row = (uint32_t)log->rows,
                                           .earliest = (uint32_t)log->rows};
  return IDM_OK;
}

/* IDM_INPUT if two ids are equal once their cells are joined by '/', as they are in outputs. */
static idm_status check_joined(idm_log *log, const idm_csv_field *field, size_t length,
                               idm_error *opt_error)
{
  const idm_log_role *role = &log->header.role[IDM_COLUMN_TRAJECTORY];
  const uint32_t before = log->joined.count;
  uint32_t index;
  if (role->count < 2) return IDM_OK;
  for (size_t i = sizeof(uint32_t); i < length; i++)
    if (!log->scratch[i]) log->scratch[i] = '/';
  if (!idm_intern_add(&log->joined, log->scratch, length, &index))
    return idm_fail_memory(opt_error);
  if (index == before) return IDM_OK;
  const idm_csv_field *cell = &field[role->column[0]];
  return idm_fail_at(opt_error, log->file, (long)cell->line, (long)cell->column,
                     "the id of this trajectory, '%.*s', is that of another as well: its cells are "
                     "joined by '/', which they hold themselves",
                     (int)(length - sizeof(uint32_t)), log->scratch + sizeof(uint32_t));
}

/* Fail with IDM_INPUT because a trajectory has rows in two files. Files that number their
 * trajectories alike, without a column that distinguishes them, must not be merged. */
static idm_status fail_spread(const idm_log *log, const idm_csv_field *field,
                              const idm_log_trajectory *known, idm_error *opt_error)
{
  const idm_csv_field cell =
      idm_cell_trim(field[log->header.role[IDM_COLUMN_TRAJECTORY].column[0]]);
  return idm_fail_at(
      opt_error, log->file, (long)cell.line, (long)cell.column,
      "the trajectory '%.*s' begins in %s (line %lu); all rows of a trajectory must be in one "
      "file: give its rows an agent or a trajectory of their own, or join the files",
      IDM_CELL_FORMAT(cell), log->files[known->file], (unsigned long)log->line[known->first_row]);
}

/* Read the ids of a row. The pair of agent and own id identifies a trajectory. */
static idm_status read_ids(idm_log *log, const idm_csv_field *field, idm_error *opt_error)
{
  uint32_t agent;
  idm_status status = read_agent(log, field, &agent, opt_error);
  size_t length = sizeof agent;
  if (status == IDM_OK) status = idm_log_scratch(log, length, opt_error);
  if (status != IDM_OK) return status;
  memcpy(log->scratch, &agent, sizeof agent);
  status = join_id(log, IDM_COLUMN_TRAJECTORY, field, '\0', &length, opt_error);
  if (status != IDM_OK) return status;
  if (!idm_intern_is(&log->trajectories, log->last_trajectory, log->scratch, length)) {
    const uint32_t before = log->trajectories.count;
    if (!idm_intern_add(&log->trajectories, log->scratch, length, &log->last_trajectory))
      return idm_fail_memory(opt_error);
    if (log->trajectories.count > before) {
      status = check_joined(log, field, length, opt_error);
      if (status == IDM_OK) status = add_trajectory(log, agent, opt_error);
    }
  }
  log->trajectory[log->rows] = log->last_trajectory;
  if (log->row_file) log->row_file[log->rows] = (uint32_t)log->at;
  if (status != IDM_OK) return status;
  const idm_log_trajectory *known = &log->known[log->last_trajectory];
  return known->file == log->at ? IDM_OK : fail_spread(log, field, known, opt_error);
}

static idm_status read_row(idm_log *log, const idm_csv_field *field, idm_error *opt_error)
{
  static idm_status (*const readers[])(idm_log *, const idm_csv_field *, idm_error *) = {
      make_room,
      read_ids,
      idm_log_read_time,
      idm_log_read_action,
      idm_log_read_state,
      idm_log_read_observation,
      idm_log_read_available,
      idm_log_read_utility,
      idm_log_read_belief,
      idm_log_read_covariates,
      idm_log_read_evidence,
  };
  for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
    const idm_status status = readers[i](log, field, opt_error);
    if (status != IDM_OK) return status;
  }
  log->rows++;
  return IDM_OK;
}

/* --- the whole file ------------------------------------------------------------------------- */

/* Add remarks about a file that has been read. */
static void add_notes(idm_log *log)
{
  if (log->rounded_beliefs)
    idm_notes_add(log->opt_notes,
                  "%s: %zu start belief%s did not sum to 1 exactly and %s renormalised (first on "
                  "line %lu)",
                  log->file, log->rounded_beliefs, log->rounded_beliefs == 1 ? "" : "s",
                  log->rounded_beliefs == 1 ? "was" : "were", (unsigned long)log->rounded_line);
  if (log->later_beliefs)
    idm_notes_add(
        log->opt_notes,
        "%s: %zu row%s after the first of a trajectory give%s a belief, which is ignored: "
        "only a start can be given (first on line %lu)",
        log->file, log->later_beliefs, log->later_beliefs == 1 ? "" : "s",
        log->later_beliefs == 1 ? "s" : "", (unsigned long)log->later_line);
  if (log->unknown_observations)
    idm_notes_add(
        log->opt_notes,
        "%s: %zu row%s of terminal actions name%s an observation that the problem does not "
        "have; nothing is seen there, so it is left out (first on line %lu)",
        log->file, log->unknown_observations, log->unknown_observations == 1 ? "" : "s",
        log->unknown_observations == 1 ? "s" : "", (unsigned long)log->unknown_observation_line);
  log->rounded_beliefs = log->later_beliefs = log->unknown_observations = 0;
}

/* Add remarks about the rows that --where drops. */
static void note_where(const idm_log *log, const idm_log_counts *log_counts)
{
  char conditions[200] = "";
  size_t used = 0;
  size_t dropped = 0;
  size_t missing = 0;
  if (!log->where.count) return;
  for (size_t i = 0; i < log->where.count && used < sizeof conditions; i++)
    used += (size_t)snprintf(conditions + used, sizeof conditions - used, "%s%s", i ? ", " : "",
                             log->where.text[i]);
  for (size_t i = 0; i < log->where.count; i++) {
    dropped += log_counts->dropped[i].lost.rows;
    missing += log_counts->dropped[i].missing;
  }
  idm_notes_add(log->opt_notes, "--where %s: %zu of %zu rows are read, %zu are left out",
                conditions, log_counts->read.rows - dropped, log_counts->read.rows, dropped);
  if (missing)
    idm_notes_add(log->opt_notes,
                  "%zu of these rows have no value there: a missing cell meets no condition",
                  missing);
}

/* Add remarks about dropped rows and about their reasons. */
static void note_log_counts(const idm_log *log, const idm_log_counts *log_counts)
{
  note_where(log, log_counts);
  for (size_t i = log->where.count; i < log_counts->reasons; i++) {
    const idm_dropped *dropped = &log_counts->dropped[i];
    if (dropped->lost.rows)
      idm_notes_add(log->opt_notes, "rule %s: %zu row%s left out, with them %zu trajector%s",
                    dropped->reason, dropped->lost.rows, dropped->lost.rows == 1 ? "" : "s",
                    dropped->lost.trajectories, dropped->lost.trajectories == 1 ? "y" : "ies");
  }
  if (log_counts->truncated_by_where)
    idm_notes_add(log->opt_notes,
                  "--where leaves %zu trajector%s in part: what was done and seen on the rows left "
                  "out is no part of the agent's history",
                  log_counts->truncated_by_where,
                  log_counts->truncated_by_where == 1 ? "y" : "ies");
  if (log_counts->coded)
    idm_notes_add(log->opt_notes,
                  "%s already has the columns that data.derive computes, and none of their "
                  "sources: they are read unchanged, and no rule applies",
                  log->file);
}

/* Fail with IDM_INPUT because no row is left; the message lists the reasons. */
static idm_status fail_empty(const idm_log *log, const idm_log_counts *log_counts,
                             idm_error *opt_error)
{
  char list[400] = "";
  size_t used = 0;
  for (size_t i = 0; i < log_counts->reasons && used < sizeof list; i++)
    if (log_counts->dropped[i].lost.rows)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%s (%zu)", used ? ", " : "",
                               log_counts->dropped[i].reason, log_counts->dropped[i].lost.rows);
  return idm_log_header_fail(&log->header, 0, opt_error, "none of the %zu rows is left by %s",
                             log_counts->read.rows, list);
}

/* --- files ---------------------------------------------------------------------------------- */

/* IDM_INPUT unless every role has columns with the same names in both headers. */
static idm_status check_same_columns(const idm_log_header *a, const idm_log_header *b,
                                     idm_error *opt_error)
{
  for (size_t r = 0; r < IDM_ROLE_COUNT; r++) {
    const idm_log_role *x = &a->role[r];
    const idm_log_role *y = &b->role[r];
    for (size_t i = 0; i < x->count || i < y->count; i++) {
      const char *first = i < x->count ? a->name.name[x->column[i]] : NULL;
      const char *second = i < y->count ? b->name.name[y->column[i]] : NULL;
      if (first && second && strcmp(first, second) == 0) continue;
      return idm_fail_at(opt_error, b->file, (long)b->place[0].line, (long)b->place[0].column,
                         "%s '%s' is read from one of %s and this file only; files that are read "
                         "together have the same columns",
                         "the column", first ? first : second, a->file);
    }
  }
  return IDM_OK;
}

/* Read the header of a file. Later files must have the same columns as the first. */
static idm_status read_header(idm_csv *csv, idm_log *log, const idm_csv_options *opt_options,
                              idm_error *opt_error)
{
  const idm_csv_field *field;
  size_t count;
  idm_log_header header = {0};
  idm_status status = idm_csv_next(csv, &field, &count, opt_error);
  if (status == IDM_OK && !count)
    status = idm_fail_at(opt_error, log->file, 1, 1,
                         "the file is empty; expected a header and a row for every step");
  if (status == IDM_OK) status = idm_log_header_create(&header, log->file, field, count, opt_error);
  if (status == IDM_OK) status = idm_coding_extend(log, &header, opt_error);
  if (status == IDM_OK) status = idm_log_header_map(&header, log->problem, opt_options, opt_error);
  if (status == IDM_OK && log->at) status = check_same_columns(&log->header, &header, opt_error);
  if (status == IDM_OK) status = idm_where_map(&log->where, &header, opt_error);
  if (status != IDM_OK) {
    idm_log_header_destroy(&header);
    return status;
  }
  idm_log_header_destroy(&log->header);
  log->header = header;
  if (!log->at) status = prepare(log, opt_error);
  return status == IDM_OK ? idm_coding_map(log, opt_error) : status;
}

/* Add a record to the log; with derived columns or rules, to the coding. */
static idm_status add_record(idm_log *log, const idm_csv_field *field, idm_error *opt_error)
{
  if (log->coding) return idm_coding_take(log, field, opt_error);
  if (!log->where.count) return read_row(log, field, opt_error);
  uint32_t trajectory;
  size_t condition;
  bool missing = false;
  idm_status status = idm_where_fails(&log->where, &log->missing, &log->header, field, &condition,
                                      &missing, opt_error);
  if (status == IDM_OK) status = idm_row_counts_add(log, field, &trajectory, opt_error);
  if (status == IDM_OK && condition == log->where.count) status = read_row(log, field, opt_error);
  if (status == IDM_OK) idm_row_counts_record(log, trajectory, condition, missing);
  return status;
}

/* Store a read error if the caller collects them, and continue; otherwise fail with it. */
static idm_status record_fault(const idm_log *log, idm_status status, const idm_error *error,
                               idm_error *opt_error)
{
  idm_read_errors *faults = log->opt_faults;
  if (status == IDM_OK) return IDM_OK;
  if (status != IDM_INPUT || !faults) {
    if (opt_error) *opt_error = *error;
    return status;
  }
  if (faults->count < faults->room) faults->shown[faults->count] = *error;
  if (!faults->count++ && opt_error) *opt_error = *error;
  return IDM_OK;
}

static idm_status read_rows(idm_csv *csv, idm_log *log, const idm_csv_options *opt_options,
                            idm_error *opt_error)
{
  const idm_csv_field *field;
  size_t count;
  idm_status status = read_header(csv, log, opt_options, opt_error);
  while (status == IDM_OK) {
    status = idm_csv_next(csv, &field, &count, opt_error);
    if (status != IDM_OK || !count) break;
    idm_error error; /* large: filled only on failure */
    status = record_fault(log, add_record(log, field, &error), &error, opt_error);
  }
  if (status == IDM_OK) add_notes(log);
  const idm_csv_form form = idm_csv_describe(csv);
  log->compressed += form.compressed;
  log->marked += form.mark;
  log->mixed += (form.feed > 0) + (form.pair > 0) + (form.carriage > 0) > 1;
  return status;
}

/* Add a coded row; errors are collected as in read_rows. */
static idm_status add_coded_record(idm_log *log, const idm_csv_field *field, idm_error *opt_error)
{
  idm_error error;
  return record_fault(log, read_row(log, field, &error), &error, opt_error);
}

static idm_status finish(idm_log *log, idm_data **ret_data, idm_error *opt_error)
{
  idm_log_counts *log_counts = NULL;
  const size_t faults = log->opt_faults ? log->opt_faults->count : 0;
  idm_status status = faults ? IDM_INPUT : idm_coding_finish(log, add_coded_record, opt_error);
  if (status == IDM_OK && log->opt_faults && log->opt_faults->count) status = IDM_INPUT;
  const size_t cuts = log->coding ? idm_coding_cuts(log->coding) : 0;
  if (status == IDM_OK) status = idm_row_counts_summarise(log, cuts, &log_counts, opt_error);
  if (status == IDM_OK && cuts) status = idm_coding_report(log->coding, log_counts, opt_error);
  if (status == IDM_OK && !log->rows && log_counts->read.rows)
    status = fail_empty(log, log_counts, opt_error);
  if (status == IDM_OK) note_log_counts(log, log_counts);
  if (status == IDM_OK) status = idm_log_build(log, ret_data, &log_counts->final_rows, opt_error);
  if (status != IDM_OK) {
    idm_log_counts_destroy(log_counts);
    return status;
  }
  log_counts->unsorted = log->unsorted;
  log_counts->compressed = log->compressed;
  log_counts->marked = log->marked;
  log_counts->mixed = log->mixed;
  (*ret_data)->log_counts = log_counts;
  return IDM_OK;
}

static idm_log begin(const idm_problem *problem, const char *const *files, size_t count,
                     const idm_csv_options *opt_options, idm_notes *opt_notes)
{
  idm_log log = {.problem = problem,
                 .files = files,
                 .file_count = count,
                 .file = files[0],
                 .opt_notes = opt_notes};
  if (opt_options) log.where.text = opt_options->where;
  if (opt_options) log.where.count = opt_options->where_count;
  if (opt_options) log.opt_faults = opt_options->opt_faults;
  return log;
}

static idm_status read_file(idm_log *log, const idm_csv_options *opt_options, idm_error *opt_error)
{
  const char *path = log->files[log->at];
  const bool standard = strcmp(path, "-") == 0;
  FILE *stream = standard ? stdin : fopen(path, "rb");
  if (!stream) return idm_fail(opt_error, IDM_INPUT, "cannot open '%s': %s", path, strerror(errno));
  log->file = standard ? "standard input" : path;
  idm_csv *csv;
  idm_status status = idm_csv_open_stream(stream, log->file, &csv, opt_error);
  if (status == IDM_OK) status = read_rows(csv, log, opt_options, opt_error);
  idm_csv_close(csv);
  if (!standard) fclose(stream);
  return status;
}

idm_status idm_data_read_files(const char *const *paths, size_t count, const idm_problem *problem,
                               const idm_csv_options *opt_options, idm_data **ret_data,
                               idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(paths, problem, ret_data);
  *ret_data = NULL;
  if (!count) return idm_fail(opt_error, IDM_USAGE, "no file to read");
  idm_log log = begin(problem, paths, count, opt_options, opt_notes);
  idm_status status = IDM_OK;
  for (; log.at < count && status == IDM_OK; log.at++)
    status = read_file(&log, opt_options, opt_error);
  if (status == IDM_OK) status = finish(&log, ret_data, opt_error);
  clear(&log);
  return status;
}

idm_status idm_data_read_csv(const char *path, const idm_problem *problem,
                             const idm_csv_options *opt_options, idm_data **ret_data,
                             idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(path, problem, ret_data);
  return idm_data_read_files(&path, 1, problem, opt_options, ret_data, opt_notes, opt_error);
}

idm_status idm_data_parse_csv(const char *text, size_t length, const char *opt_file,
                              const idm_problem *problem, const idm_csv_options *opt_options,
                              idm_data **ret_data, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(text, problem, ret_data);
  *ret_data = NULL;
  const char *file = opt_file ? opt_file : "";
  idm_log log = begin(problem, &file, 1, opt_options, opt_notes);
  idm_csv *csv;
  idm_status status = idm_csv_open_memory(text, length, file, &csv, opt_error);
  if (status == IDM_OK) status = read_rows(csv, &log, opt_options, opt_error);
  if (status == IDM_OK) status = finish(&log, ret_data, opt_error);
  idm_csv_close(csv);
  clear(&log);
  return status;
}
