/* Columns of a log to be written: those that the problem maps, by its names for them. */
#include "io/log/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const char belief_prefix[] = "belief.";

void idm_layout_destroy(idm_layout *layout)
{
  for (size_t i = 0; i < layout->count; i++) free(layout->column[i].name);
  free(layout->column);
  *layout = (idm_layout){0};
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

bool idm_layout_piece(const char *text, size_t count, size_t part, const char **ret_piece,
                      size_t *ret_length)
{
  for (size_t i = 0; i < count; i++) {
    const size_t length = i + 1 < count ? strcspn(text, "/") : strlen(text);
    if (!length || is_blank(text[0]) || is_blank(text[length - 1])) return false;
    if (i + 1 < count && !text[length]) return false;
    if (i == part) {
      *ret_piece = text;
      *ret_length = length;
    }
    text += length + 1;
  }
  return true;
}

/* --- making --------------------------------------------------------------------------------- */

static const char *what_of(size_t role)
{
  return role < IDM_COLUMN_COUNT    ? idm_column_describe((idm_column)role)->what
         : role == IDM_ROLE_UTILITY ? "a utility"
         : role == IDM_ROLE_BELIEF  ? "a start belief"
         : role == IDM_LAYOUT_STATE ? "the hidden state"
                                    : "the step";
}

static const idm_layout_column *find(const idm_layout *layout, const char *name)
{
  for (size_t i = 0; i < layout->count; i++)
    if (strcmp(layout->column[i].name, name) == 0) return &layout->column[i];
  return NULL;
}

static idm_status add(idm_layout *layout, const char *name, size_t role, size_t part,
                      idm_error *opt_error)
{
  const idm_layout_column *taken = find(layout, name);
  if (taken)
    return idm_fail(opt_error, IDM_INPUT,
                    "the column '%s' cannot hold both %s and %s; map one of them to another column "
                    "under `data:`",
                    name, what_of(taken->role), what_of(role));
  idm_layout_column *larger = realloc(layout->column, (layout->count + 1) * sizeof *layout->column);
  if (larger) layout->column = larger;
  char *own = larger ? idm_text_copy(name, strlen(name)) : NULL;
  if (!own) return idm_fail_memory(opt_error);
  layout->column[layout->count++] = (idm_layout_column){own, role, part};
  return IDM_OK;
}

static idm_status add_role(idm_layout *layout, const idm_columns *columns, idm_column role,
                           idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < idm_columns_count(columns, role) && status == IDM_OK; i++) {
    if (role == IDM_COLUMN_TRAJECTORY && idm_columns_shared(columns, role, i, IDM_COLUMN_AGENT))
      continue;
    status = add(layout, idm_columns_name(columns, role, i), role, i, opt_error);
  }
  return status;
}

static bool has_sets(const idm_data *data)
{
  for (size_t row = 0; row < data->rows; row++)
    if (data->available[row] && !idm_data_missed(data, row)) return true;
  return false;
}

/* Whether a trajectory starts elsewhere than the setting says. */
static bool has_beliefs(const idm_data *data, const idm_setting *setting)
{
  const size_t k = data->sizes.states;
  for (size_t i = 0; i < data->trajectories; i++)
    if (data->start[i] >= 0 && memcmp(data->start_belief + (size_t)data->start[i] * k,
                                      setting->start, k * sizeof *setting->start) != 0)
      return true;
  return false;
}

/* Whether states are observed and recorded: they say where trajectories start. */
static bool starts_are_states(const idm_data *data, const idm_setting *setting)
{
  if (!setting->fully_observed || !data->state) return false;
  for (size_t i = 0; i < data->trajectories; i++)
    if (data->state[data->first[i]] < 0) return false;
  return true;
}

static idm_status add_beliefs(idm_layout *layout, const idm_labels *states, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t s = 0; s < states->count && status == IDM_OK; s++) {
    char number[24];
    const char *state = states->name[s];
    /* The reader cuts blanks off the end of a header, and takes a number for a state. */
    snprintf(number, sizeof number, "%zu", s);
    if (!*state || is_blank(state[strlen(state) - 1])) state = number;
    const size_t size = sizeof belief_prefix + strlen(state);
    char *name = idm_new(size, 1);
    if (!name) return idm_fail_memory(opt_error);
    snprintf(name, size, "%s%s", belief_prefix, state);
    status = add(layout, name, IDM_ROLE_BELIEF, s, opt_error);
    free(name);
  }
  return status;
}

/* Evidence that the problem maps, and what the data hold beside. */
static idm_status add_evidence(idm_layout *layout, const idm_data *data, const idm_columns *columns,
                               idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t c = 0; c < IDM_COLUMN_COUNT && status == IDM_OK; c++)
    if (idm_column_describe((idm_column)c)->evidence &&
        (columns->role[c].count || data->number[c] || data->label[c]))
      status = add_role(layout, columns, (idm_column)c, opt_error);
  return status;
}

/* A role that is not written must not be found by its default name. */
static idm_status check_defaults(const idm_layout *layout, const idm_columns *columns,
                                 const idm_setting *setting, idm_error *opt_error)
{
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    const idm_column_info *info = idm_column_describe((idm_column)c);
    bool written =
        info->evidence || columns->role[c].count || !idm_column_applies((idm_column)c, setting);
    for (size_t i = 0; i < layout->count; i++) written = written || layout->column[i].role == c;
    for (size_t i = 0; i < info->defaults && !written; i++) {
      const idm_layout_column *taken = find(layout, info->names[i]);
      if (taken)
        return idm_fail(opt_error, IDM_INPUT,
                        "the column '%s' holds %s and would be read as %s too; map %s under "
                        "`data:`",
                        taken->name, what_of(taken->role), info->what, info->key);
    }
  }
  return IDM_OK;
}

idm_status idm_layout_create(idm_layout *layout, const idm_data *data, const idm_problem *problem,
                             idm_error *opt_error)
{
  const idm_columns *columns = &problem->columns;
  const bool states = starts_are_states(data, problem->setting);
  idm_status status = add_role(layout, columns, IDM_COLUMN_AGENT, opt_error);
  if (status == IDM_OK) status = add_role(layout, columns, IDM_COLUMN_TRAJECTORY, opt_error);
  const size_t ids = layout->count;
  if (status == IDM_OK && columns->role[IDM_COLUMN_TIME].count)
    status = add_role(layout, columns, IDM_COLUMN_TIME, opt_error);
  if (status == IDM_OK && states) status = add_role(layout, columns, IDM_COLUMN_STATE, opt_error);
  if (status == IDM_OK) status = add_role(layout, columns, IDM_COLUMN_ACTION, opt_error);
  if (status == IDM_OK) status = add_role(layout, columns, IDM_COLUMN_OBSERVATION, opt_error);
  if (status == IDM_OK && !states && has_beliefs(data, problem->setting))
    status = add_beliefs(layout, &problem->setting->states, opt_error);
  if (status == IDM_OK && (columns->role[IDM_COLUMN_AVAILABLE].count || has_sets(data)))
    status = add_role(layout, columns, IDM_COLUMN_AVAILABLE, opt_error);
  for (size_t c = 0; c < columns->utility.count && status == IDM_OK; c++)
    status = add(layout, columns->utility.name[c], IDM_ROLE_UTILITY, c, opt_error);
  if (status == IDM_OK) status = add_evidence(layout, data, columns, opt_error);
  if (status == IDM_OK && data->state && !problem->setting->fully_observed)
    status = add(layout, "state", IDM_LAYOUT_STATE, 0, opt_error);
  if (status == IDM_OK) status = check_defaults(layout, columns, problem->setting, opt_error);
  /* The step is for people; it gives way to a column of its name. */
  if (status == IDM_OK && !columns->role[IDM_COLUMN_TIME].count && !find(layout, "step")) {
    status = add(layout, "step", IDM_LAYOUT_STEP, 0, opt_error);
    if (status != IDM_OK) return status;
    const idm_layout_column step = layout->column[layout->count - 1];
    memmove(layout->column + ids + 1, layout->column + ids,
            (layout->count - 1 - ids) * sizeof *layout->column);
    layout->column[ids] = step;
  }
  return status;
}
