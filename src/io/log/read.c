/* A log from CSV: one pass over the rows, then grouping. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "io/log/build.h"
#include "io/log/cells.h"
#include "io/log/evidence.h"

/* Rows are numbered in 32 bits. */
static const size_t row_limit = (size_t)1 << 31;

/* --- the log -------------------------------------------------------------------------------- */

static idm_status intern_labels(idm_intern *intern, const idm_labels *labels, const char *what,
                                idm_error *opt_error)
{
  for (size_t i = 0; i < labels->count; i++) {
    uint32_t index;
    if (!idm_intern_add(intern, labels->name[i], strlen(labels->name[i]), &index))
      return idm_fail_memory(opt_error);
    if (index != i)
      return idm_fail(opt_error, IDM_INPUT, "%s '%s' is named twice", what, labels->name[i]);
  }
  return IDM_OK;
}

/* Everything whose size the header and the problem tell. */
static idm_status prepare(idm_log *log, idm_error *opt_error)
{
  const idm_setting *setting = log->problem->setting;
  const idm_sizes sizes = idm_setting_sizes(setting);
  const size_t utilities = log->header.role[IDM_ROLE_UTILITY].count;
  idm_status status = intern_labels(&log->actions, &setting->actions, "action", opt_error);
  if (status == IDM_OK)
    status = intern_labels(&log->observations, &setting->observations, "observation", opt_error);
  if (status != IDM_OK) return status;
  log->number = idm_new(sizes.states > utilities ? sizes.states : utilities, sizeof *log->number);
  log->open = idm_new(sizes.actions, sizeof *log->open);
  log->levels = idm_new(log->header.role[IDM_ROLE_KEEP].count, sizeof *log->levels);
  if (!log->number || !log->open || !log->levels) return idm_fail_memory(opt_error);
  log->last_agent = log->last_trajectory = IDM_INTERN_NONE;
  for (size_t u = 0; u < sizes.actions; u++) log->open[u] = true;
  uint32_t all;
  if (!idm_intern_add(&log->available_sets, (const char *)log->open, sizes.actions, &all) ||
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
  idm_intern *const interns[] = {&log->actions,        &log->observations, &log->agents,
                                 &log->joined,         &log->trajectories, &log->available_text,
                                 &log->available_sets, &log->starts,       &log->variants};
  for (size_t i = 0; i < sizeof interns / sizeof interns[0]; i++) idm_intern_clear(interns[i]);
  void *const arrays[] = {log->levels,      log->available_of, log->trajectory, log->action,
                          log->observation, log->available,    log->line,       log->action_column,
                          log->time_line,   log->time_column,  log->time,       log->covariate,
                          log->known,       log->scratch,      log->number,     log->open};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
  idm_log_clear_evidence(log);
  idm_log_header_destroy(&log->header);
}

/* A larger array of rows with the same content; where memory ran out the old one, and *grown is
 * cleared. An array of no width stays absent. */
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
  bool grown = true;
  log->trajectory = grow(log->trajectory, sizeof *log->trajectory, 1, capacity, &grown);
  log->action = grow(log->action, sizeof *log->action, 1, capacity, &grown);
  log->observation = grow(log->observation, sizeof *log->observation, 1, capacity, &grown);
  log->available = grow(log->available, sizeof *log->available, 1, capacity, &grown);
  log->line = grow(log->line, sizeof *log->line, 1, capacity, &grown);
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

/* Put the cells of an id into the scratch from *used on, a separator between them. */
static idm_status join_id(idm_log *log, size_t id, const idm_csv_field *field, char separator,
                          size_t *used, idm_error *opt_error)
{
  const idm_log_role *role = &log->header.role[id];
  for (size_t i = 0; i < role->count; i++) {
    const idm_csv_field cell = idm_cell_trim(field[role->column[i]]);
    if (!cell.length)
      return idm_fail_at(opt_error, log->file, (long)cell.line, (long)cell.column,
                         "an empty cell in column '%s'; expected the id of %s",
                         log->header.name.name[role->column[i]],
                         id == IDM_COLUMN_AGENT ? "an agent" : "a trajectory");
    if (!idm_utf8_plain(cell.text, cell.length))
      return idm_fail_at(opt_error, log->file, (long)cell.line, (long)cell.column,
                         "the id of %s is not UTF-8 without control characters; save the table as "
                         "UTF-8, without tabs and ends of lines in it",
                         id == IDM_COLUMN_AGENT ? "an agent" : "a trajectory");
    if (role->count > 1 && separator == '/' && memchr(cell.text, '/', cell.length))
      return idm_fail_at(opt_error, log->file, (long)cell.line, (long)cell.column,
                         "'%.*s' holds a '/', which joins the columns of an agent's id",
                         IDM_CELL_SHOWN(cell));
    const idm_status status = idm_log_scratch(log, *used + cell.length + 1, opt_error);
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
  if (index == log->known_capacity) {
    const size_t capacity = 2 * log->known_capacity + 64;
    bool grown = true;
    log->known = grow(log->known, sizeof *log->known, 1, capacity, &grown);
    if (!grown) return idm_fail_memory(opt_error);
    log->known_capacity = capacity;
  }
  log->known[index] = (idm_log_trajectory){
      .agent = agent, .start = -1, .seen = (uint32_t)log->rows, .earliest = (uint32_t)log->rows};
  return IDM_OK;
}

/* The cells of an id are joined by '/' where it is written: two must not come to the same there. */
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

/* A trajectory is the pair of its agent and its own id. */
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
  return status;
}

static idm_status read_row(idm_log *log, const idm_csv_field *field, idm_error *opt_error)
{
  static idm_status (*const readers[])(idm_log *, const idm_csv_field *, idm_error *) = {
      make_room,
      read_ids,
      idm_log_read_time,
      idm_log_read_action,
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

static void add_notes(const idm_log *log)
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
  if (log->unseen)
    idm_notes_add(
        log->opt_notes,
        "%s: %zu row%s of terminal actions name%s an observation that the problem does not "
        "have; nothing is seen there, so it is left out (first on line %lu)",
        log->file, log->unseen, log->unseen == 1 ? "" : "s", log->unseen == 1 ? "s" : "",
        (unsigned long)log->unseen_line);
}

static idm_status read_log(idm_csv *csv, idm_log *log, const idm_csv_options *opt_options,
                           idm_data **ret_data, idm_error *opt_error)
{
  const idm_csv_field *field;
  size_t count;
  idm_status status = idm_csv_next(csv, &field, &count, opt_error);
  if (status == IDM_OK && !count)
    status = idm_fail_at(opt_error, log->file, 1, 1,
                         "the file is empty; expected a header and a row for every step");
  if (status == IDM_OK)
    status = idm_log_header_create(&log->header, log->file, field, count, opt_error);
  if (status == IDM_OK)
    status = idm_log_header_map(&log->header, log->problem, opt_options, opt_error);
  if (status == IDM_OK) status = prepare(log, opt_error);
  while (status == IDM_OK) {
    status = idm_csv_next(csv, &field, &count, opt_error);
    if (status != IDM_OK || !count) break;
    status = read_row(log, field, opt_error);
  }
  if (status == IDM_OK) status = idm_log_build(log, ret_data, opt_error);
  if (status == IDM_OK) add_notes(log);
  return status;
}

idm_status idm_data_read_csv(const char *path, const idm_problem *problem,
                             const idm_csv_options *opt_options, idm_data **ret_data,
                             idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(path, problem, ret_data);
  *ret_data = NULL;
  const bool standard = strcmp(path, "-") == 0;
  FILE *stream = standard ? stdin : fopen(path, "rb");
  if (!stream) return idm_fail(opt_error, IDM_INPUT, "cannot open '%s': %s", path, strerror(errno));
  const char *file = standard ? "standard input" : path;
  idm_log log = {.problem = problem, .file = file, .opt_notes = opt_notes};
  idm_csv *csv;
  idm_status status = idm_csv_open_stream(stream, file, &csv, opt_error);
  if (status == IDM_OK) status = read_log(csv, &log, opt_options, ret_data, opt_error);
  idm_csv_close(csv);
  clear(&log);
  if (!standard) fclose(stream);
  return status;
}

idm_status idm_data_parse_csv(const char *text, size_t length, const char *opt_file,
                              const idm_problem *problem, const idm_csv_options *opt_options,
                              idm_data **ret_data, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(text, problem, ret_data);
  *ret_data = NULL;
  idm_log log = {.problem = problem, .file = opt_file ? opt_file : "", .opt_notes = opt_notes};
  idm_csv *csv;
  idm_status status = idm_csv_open_memory(text, length, opt_file ? opt_file : "", &csv, opt_error);
  if (status == IDM_OK) status = read_log(csv, &log, opt_options, ret_data, opt_error);
  idm_csv_close(csv);
  clear(&log);
  return status;
}
