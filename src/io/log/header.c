/* Maps the columns of a log to roles, and evaluates the conditions of --where.
 *
 * Contents: header · where */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "idm/extension/planner.h"
#include "io/log/log.h"
#include "io/log_file.h"
#include "setting/model.h"

/* === header ================================================================================= */

/* Roles of the columns of a log. */

static const char belief_prefix[] = "belief.";

idm_status idm_log_header_create(idm_log_header *header, const char *file,
                                 const idm_csv_field *field, size_t count, idm_error *opt_error)
{
  header->file = file;
  idm_status status = idm_labels_create(&header->name, count, opt_error);
  if (status != IDM_OK) return status;
  header->place = idm_duplicate(field, count, sizeof *field);
  if (!header->place) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    const idm_csv_field cell = idm_cell_trim(field[i]);
    status = idm_labels_set(&header->name, i, cell.text, cell.length, opt_error);
    header->place[i].text = NULL;
  }
  return status;
}

void idm_log_header_destroy(idm_log_header *header)
{
  idm_labels_destroy(&header->name);
  free(header->place);
  for (int i = 0; i < IDM_ROLE_COUNT; i++) free(header->role[i].column);
  *header = (idm_log_header){0};
}

char *idm_labels_list(const idm_labels *labels, char *buffer, size_t size)
{
  enum { shown = 8 };
  size_t used = 0;
  buffer[0] = '\0';
  for (size_t i = 0; i < labels->count && i < shown && used < size; i++)
    used += (size_t)snprintf(buffer + used, size - used, "%s%.40s", i ? ", " : "", labels->name[i]);
  if (labels->count > shown && used < size) snprintf(buffer + used, size - used, ", ...");
  return buffer;
}

/* Index of the column with that name; the number of columns if there is none. IDM_INPUT if several
 * columns have the name. */
static idm_status find_column(const idm_log_header *header, const char *name, size_t *ret_column,
                              idm_error *opt_error)
{
  const size_t count = header->name.count;
  *ret_column = count;
  for (size_t i = 0; i < count; i++) {
    if (strcmp(header->name.name[i], name) != 0) continue;
    if (*ret_column < count)
      return idm_fail_at(opt_error, header->file, (long)header->place[i].line,
                         (long)header->place[i].column, "a second column named '%s'", name);
    *ret_column = i;
  }
  return IDM_OK;
}

static idm_status create_role(idm_log_role *role, size_t count, idm_error *opt_error)
{
  role->column = idm_new(count, sizeof *role->column);
  if (!role->column) return idm_fail_memory(opt_error);
  role->count = count;
  return IDM_OK;
}

static idm_status fail_absent(const idm_log_header *header, const char *what, const char *name,
                              idm_error *opt_error)
{
  char list[400];
  char suggestion[100] = "";
  const char *nearest =
      idm_suggest(name, (const char *const *)header->name.name, header->name.count);
  if (nearest) snprintf(suggestion, sizeof suggestion, " did you mean '%.60s'?", nearest);
  return idm_fail_at(opt_error, header->file, (long)header->place[0].line,
                     (long)header->place[0].column, "no column '%s' (%s);%s the header has: %s",
                     name, what, suggestion, idm_labels_list(&header->name, list, sizeof list));
}

bool idm_log_header_has(const idm_log_header *header, const char *name)
{
  for (size_t i = 0; i < header->name.count; i++)
    if (strcmp(header->name.name[i], name) == 0) return true;
  return false;
}

idm_status idm_log_header_find(const idm_log_header *header, const char *name, const char *what,
                               size_t *ret_column, idm_error *opt_error)
{
  const idm_status status = find_column(header, name, ret_column, opt_error);
  if (status != IDM_OK || *ret_column < header->name.count) return status;
  return fail_absent(header, what, name, opt_error);
}

idm_status idm_log_header_append(idm_log_header *header, const char *name, size_t place,
                                 idm_error *opt_error)
{
  const size_t count = header->name.count;
  char **names = realloc(header->name.name, (count + 1) * sizeof *names);
  if (!names) return idm_fail_memory(opt_error);
  header->name.name = names;
  idm_csv_field *places = realloc(header->place, (count + 1) * sizeof *places);
  if (!places) return idm_fail_memory(opt_error);
  header->place = places;
  places[count] = places[place];
  names[count] = idm_text_copy(name, strlen(name));
  if (!names[count]) return idm_fail_memory(opt_error);
  header->name.count++;
  return IDM_OK;
}

/* Map a role to named columns, all of which must exist. */
static idm_status map_names(idm_log_header *header, size_t id, const char *const *names,
                            size_t count, const char *what, idm_error *opt_error)
{
  idm_log_role *role = &header->role[id];
  idm_status status = create_role(role, count, opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    status = idm_log_header_find(header, names[i], what, &role->column[i], opt_error);
  return status;
}

idm_status idm_log_header_default(idm_log_header *header, size_t id, const char *const *names,
                                  size_t count, idm_error *opt_error)
{
  size_t column = header->name.count;
  for (size_t i = 0; i < count && column == header->name.count; i++) {
    const idm_status status = find_column(header, names[i], &column, opt_error);
    if (status != IDM_OK) return status;
  }
  if (column == header->name.count) return IDM_OK;
  const idm_status status = create_role(&header->role[id], 1, opt_error);
  if (status == IDM_OK) header->role[id].column[0] = column;
  return status;
}

/* Default id of a trajectory: the columns of the agent, so that each agent has one trajectory.
 * IDM_INPUT if no column identifies agents either. */
static idm_status default_trajectory(idm_log_header *header, idm_error *opt_error)
{
  const idm_log_role *agent = &header->role[IDM_COLUMN_AGENT];
  idm_log_role *trajectory = &header->role[IDM_COLUMN_TRAJECTORY];
  if (trajectory->count) return IDM_OK;
  if (!agent->count) {
    char list[400];
    return idm_fail_at(
        opt_error, header->file, (long)header->place[0].line, (long)header->place[0].column,
        "no column assigns rows to trajectories; name one 'agent', 'subject' or 'trajectory', or "
        "map it in the problem file, as in data: {trajectory: COLUMN}; the header has: %s",
        idm_labels_list(&header->name, list, sizeof list));
  }
  const idm_status status = create_role(trajectory, agent->count, opt_error);
  if (status != IDM_OK) return status;
  memcpy(trajectory->column, agent->column, agent->count * sizeof *agent->column);
  return IDM_OK;
}

static bool ends_in_blank(const char *name)
{
  const size_t length = strlen(name);
  return !length || name[length - 1] == ' ' || name[length - 1] == '\t';
}

/* Map belief.STATE columns: none, or one per state. */
static idm_status map_beliefs(idm_log_header *header, const idm_labels *states,
                              idm_error *opt_error)
{
  const size_t prefix = sizeof belief_prefix - 1;
  const size_t column_count = header->name.count;
  idm_log_role *role = &header->role[IDM_ROLE_BELIEF];
  for (size_t i = 0; i < column_count; i++) {
    const char *name = header->name.name[i];
    if (strncmp(name, belief_prefix, prefix) != 0) continue;
    if (!role->count) {
      const idm_status status = create_role(role, states->count, opt_error);
      if (status != IDM_OK) return status;
      for (size_t s = 0; s < states->count; s++) role->column[s] = column_count;
    }
    long state = idm_labels_find(states, name + prefix, strlen(name + prefix));
    /* An index is accepted only for a state whose name cannot be in a header. */
    if (state >= 0 && strcmp(states->name[state], name + prefix) != 0 &&
        !ends_in_blank(states->name[state]))
      state = -1;
    const long line = (long)header->place[i].line;
    const long column = (long)header->place[i].column;
    char list[400];
    if (state < 0)
      return idm_fail_at(opt_error, header->file, line, column,
                         "'%.60s' is no state; expected one of: %s", name + prefix,
                         idm_labels_list(states, list, sizeof list));
    if (role->column[state] < column_count)
      return idm_fail_at(opt_error, header->file, line, column,
                         "a second column for the belief in '%s'", states->name[state]);
    role->column[state] = i;
  }
  for (size_t s = 0; s < role->count; s++)
    if (role->column[s] == column_count)
      return idm_fail_at(opt_error, header->file, (long)header->place[0].line,
                         (long)header->place[0].column,
                         "there are belief columns but no '%s%s'; expected one for every state",
                         belief_prefix, states->name[s]);
  return IDM_OK;
}

/* Returns true for evidence that is read without being mapped: what the planner or the environments
 * of the problem need, and what the caller requests. */
static bool is_evidence_needed(const idm_problem *problem, const idm_csv_options *opt_options,
                               size_t c)
{
  const unsigned needs = idm_agent_planner(&problem->agent)->needs;
  return (c == IDM_COLUMN_REWARD && needs & IDM_NEEDS_REWARDS) ||
         (c == IDM_COLUMN_ENVIRONMENT && problem->environments) ||
         (opt_options && opt_options->columns & 1u << c);
}

/* Returns true if every log must have the column. Observations are optional if the state on the
 * next row gives them, or if there is only one state. */
static bool is_required(const idm_log_header *header, const idm_problem *problem, size_t c)
{
  const bool has_state =
      header->role[IDM_COLUMN_STATE].count || problem->setting->states.count == 1;
  return idm_column_describe((idm_column)c)->required &&
         !(c == IDM_COLUMN_OBSERVATION && has_state);
}

static idm_status map_columns(idm_log_header *header, const idm_problem *problem,
                              const idm_csv_options *opt_options, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t c = 0; c < IDM_COLUMN_COUNT && status == IDM_OK; c++) {
    const idm_column_info *info = idm_column_describe((idm_column)c);
    const idm_labels *requested = &problem->columns.role[c];
    if (!idm_column_applies((idm_column)c, problem->setting)) continue;
    if (requested->count)
      status = map_names(header, c, (const char *const *)requested->name, requested->count,
                         info->what, opt_error);
    else if (!info->evidence || is_evidence_needed(problem, opt_options, c))
      status = idm_log_header_default(header, c, info->names, info->defaults, opt_error);
    if (status == IDM_OK && is_required(header, problem, c) && !header->role[c].count)
      status = fail_absent(header, info->what, info->names[0], opt_error);
    if (status == IDM_OK && info->evidence && header->role[c].count > 1)
      status = idm_fail(opt_error, IDM_INPUT, "data.%s names %zu columns; expected one", info->key,
                        requested->count);
  }
  return status;
}

idm_status idm_log_header_map(idm_log_header *header, const idm_problem *problem,
                              const idm_csv_options *opt_options, idm_error *opt_error)
{
  const idm_labels *utility = &problem->columns.utility;
  idm_status status = map_columns(header, problem, opt_options, opt_error);
  if (status == IDM_OK)
    status = map_names(header, IDM_ROLE_UTILITY, (const char *const *)utility->name, utility->count,
                       "a utility", opt_error);
  if (status == IDM_OK && opt_options && opt_options->keep_count)
    status = map_names(header, IDM_ROLE_KEEP, opt_options->keep, opt_options->keep_count,
                       "a covariate", opt_error);
  if (status == IDM_OK) status = default_trajectory(header, opt_error);
  if (status == IDM_OK) status = map_beliefs(header, &problem->setting->states, opt_error);
  return status;
}

/* === where ================================================================================== */

/* Conditions of --where on rows. */

void idm_where_clear(idm_where *where)
{
  for (size_t i = 0; where->condition && i < where->count; i++)
    idm_predicate_clear(&where->condition[i].predicate);
  free(where->condition);
  *where = (idm_where){0};
}

static idm_status map_one(idm_condition *condition, const char *text, const idm_log_header *header,
                          idm_error *opt_error)
{
  idm_error error = {0};
  idm_predicate_clear(&condition->predicate);
  const idm_status status = idm_predicate_parse(text, &header->name, &condition->predicate, &error);
  if (status == IDM_USAGE) return idm_fail(opt_error, IDM_USAGE, "--where: %s", error.message);
  if (status != IDM_OK) return idm_fail_memory(opt_error);
  return idm_log_header_find(header, condition->predicate.column, "--where", &condition->column,
                             opt_error);
}

idm_status idm_where_map(idm_where *where, const idm_log_header *header, idm_error *opt_error)
{
  if (!where->condition) where->condition = idm_new(where->count, sizeof *where->condition);
  if (!where->condition) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < where->count && status == IDM_OK; i++)
    status = map_one(&where->condition[i], where->text[i], header, opt_error);
  return status;
}

idm_status idm_cell_matches(const idm_predicate *predicate, const char *option, const char *file,
                            const idm_csv_field *cell, idm_predicate_result *ret_match,
                            idm_error *opt_error)
{
  *ret_match = idm_predicate_evaluate(predicate, cell->text, cell->length);
  if (*ret_match != IDM_PREDICATE_INVALID) return IDM_OK;
  char text[200];
  return idm_fail_at(opt_error, file, (long)cell->line, (long)cell->column,
                     "'%.*s' is no number, and %s %s compares numbers; correct the cell%s, or list "
                     "its text under data.missing",
                     IDM_CELL_FORMAT(*cell), option,
                     idm_predicate_text(predicate, text, sizeof text),
                     memchr(cell->text, ',', cell->length) ? " (with a decimal point)" : "");
}

static idm_status meets(const idm_condition *condition, const idm_intern *missing,
                        const idm_log_header *header, const idm_csv_field *field,
                        idm_predicate_result *ret_match, idm_error *opt_error)
{
  idm_csv_field cell = idm_cell_trim(field[condition->column]);
  if (idm_intern_find(missing, cell.text, cell.length) != IDM_INTERN_NONE) cell.length = 0;
  return idm_cell_matches(&condition->predicate, "--where", header->file, &cell, ret_match,
                          opt_error);
}

idm_status idm_where_fails(const idm_where *where, const idm_intern *missing,
                           const idm_log_header *header, const idm_csv_field *field,
                           size_t *ret_condition, bool *ret_missing, idm_error *opt_error)
{
  for (size_t i = 0; i < where->count; i++) {
    const idm_condition *one = &where->condition[i];
    idm_predicate_result match;
    idm_status status = meets(one, missing, header, field, &match, opt_error);
    const bool is_missing = match == IDM_PREDICATE_MISSING;
    const bool equal = one->predicate.comparison == IDM_EQUAL;
    for (size_t k = 0; k < where->count && status == IDM_OK && match != IDM_PREDICATE_TRUE && equal;
         k++) {
      const idm_condition *other = &where->condition[k];
      if (other->predicate.comparison == IDM_EQUAL && other->column == one->column)
        status = meets(other, missing, header, field, &match, opt_error);
    }
    if (status != IDM_OK) return status;
    if (match == IDM_PREDICATE_TRUE) continue;
    *ret_condition = i;
    *ret_missing = is_missing;
    return IDM_OK;
  }
  *ret_condition = where->count;
  return IDM_OK;
}
