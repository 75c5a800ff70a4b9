/* A first problem file from a table: labels found, blanks to fill. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "io/log/survey.h"
#include "io/problem/placeholder.h"
#include "io/yaml/emit.h"

/* The file, and what went wrong on the way: it is then abandoned. */
typedef struct sketch {
  idm_file *file;
  idm_error error;
} sketch;

static void put(sketch *out, const char *words)
{
  idm_file_write(out->file, words, strlen(words));
}

static void put_text(sketch *out, const char *text)
{
  char *piece;
  if (idm_emit_text_piece(text, &piece, &out->error) == IDM_OK) put(out, piece);
  free(piece);
}

static void put_list(sketch *out, const char *const *text, size_t count)
{
  char *piece;
  if (idm_emit_texts_piece(text, count, &piece, &out->error) == IDM_OK) put(out, piece);
  free(piece);
}

/* The name of the table without its folder and its ending. */
static void put_name(sketch *out, const char *path)
{
  const char *slash = strrchr(path, '/');
  const char *file = strcmp(path, "-") == 0 ? "data" : slash ? slash + 1 : path;
  const char *dot = strrchr(file, '.');
  char *name = idm_text_copy(file, dot && dot > file ? (size_t)(dot - file) : strlen(file));
  if (!name) {
    (void)idm_fail_memory(&out->error);
    return;
  }
  for (char *c = name; *c; c++) {
    const bool kept = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                      (*c >= '0' && *c <= '9') || *c == '-';
    if (!kept) *c = '_';
  }
  put(out, "name: ");
  put_text(out, name);
  put(out, "\n");
  free(name);
}

/* What a table cannot tell. */
static void put_blank(sketch *out, const char *key)
{
  put(out, key);
  put(out, ": " IDM_PLACEHOLDER "\n");
}

static void put_labels(sketch *out, const char *key, const idm_label_column *column,
                       const char *words)
{
  if (!column->count) {
    put(out, words);
    put_blank(out, key);
    return;
  }
  put(out, key);
  put(out, ": ");
  put_list(out, (const char *const *)column->sorted, column->count);
  put(out, "\n");
}

static void put_spaces(sketch *out, const idm_survey *s)
{
  put(out, "\n# FILL IN: what the agent cannot see and tries to find out: a list of names.\n");
  put_blank(out, "states");
  put(out, "\n");
  put_labels(out, "actions", &s->actions,
             "# FILL IN: what can be done: a list. No column of actions was found.\n");
  put_labels(out, "observations", &s->observations,
             "\n# FILL IN: what can be seen after an action: a list. No column of observations was "
             "found.\n");
}

static void put_episode(sketch *out, const idm_survey *s)
{
  const char *endings[idm_label_limit];
  const size_t count = idm_survey_endings(s, endings);
  put(out, "\n# FILL IN: what the agent believes before its first action: one number a state, or "
           "uniform.\n");
  put_blank(out, "start");
  put(out,
      "\n# FILL IN: how much the next step counts beside this one, from 0 to below 1; or 1, with a "
      "horizon.\n");
  put_blank(out, "discount");
  put(out, "\n# Check: actions after which a trajectory stops. Listed are those that stand on last "
           "rows only.\n"
           "# Where such an action also ends the decision problem itself, say 'terminal' in place "
           "of 'ends'.\n"
           "ends: ");
  put_list(out, endings, count);
  put(out, "\n");
}

static void put_dynamics(sketch *out, const idm_survey *s)
{
  put(out, "\n# FILL IN: how an action moves the state: a matrix an action, rows the state acted "
           "from, columns the\n"
           "# state after; 'identity' where nothing moves. \"*\" is every action not named.\n"
           "transition: {\"*\": " IDM_PLACEHOLDER "}\n"
           "\n# FILL IN: what is seen after an action: a matrix an action, rows the state after "
           "it, columns the\n"
           "# observations in the order above; each row sums to 1. Where it comes from the state "
           "acted in, add\n"
           "# 'observation_from: before'.\n"
           "observation: {\"*\": " IDM_PLACEHOLDER "}\n"
           "\n# FILL IN: what an action is worth: one number, or a list with one a state.\n"
           "utility:\n");
  for (size_t i = 0; i < s->actions.count; i++) {
    put(out, "  ");
    put_text(out, s->actions.sorted[i]);
    put_blank(out, "");
  }
  if (!s->actions.count) put_blank(out, "  \"*\"");
}

static bool is_whole(const char *text)
{
  return text[0] && text[strspn(text, "0123456789")] == '\0';
}

/* Numbers for names are read as names: how to give them better ones. */
static void put_codes(sketch *out, const char *key, const idm_label_column *column)
{
  bool whole = column->count > 0;
  for (size_t i = 0; i < column->count; i++) whole = whole && is_whole(column->sorted[i]);
  if (!whole) return;
  put(out,
      "  # The numbers are names so far. To call them by better ones, list those above and say "
      "which is which:\n  # codes: {");
  put(out, key);
  put(out, ": {");
  for (size_t i = 0; i < column->count; i++) {
    put(out, i ? ", " : "");
    put(out, column->sorted[i]);
    put(out, ": NAME");
  }
  put(out, "}}\n");
}

static void put_missing(sketch *out, const idm_survey *s)
{
  if (!s->missing.count) return;
  const char *texts[64];
  char *owned[64];
  size_t count = 0;
  for (uint32_t i = 0; i < s->missing.count && count < 64; i++) {
    size_t length;
    const char *text = idm_intern_text(&s->missing, i, &length);
    owned[count] = idm_text_copy(text, length);
    if (!owned[count]) (void)idm_fail_memory(&out->error);
    if (owned[count]) texts[count] = owned[count], count++;
  }
  put(out, "  # Check: texts that mean that nothing was recorded (the agent knew, the table does "
           "not). Where one\n"
           "  # means that the agent saw nothing, list it as an observation instead.\n"
           "  missing: ");
  put_list(out, texts, count);
  put(out, "\n");
  for (size_t i = 0; i < count; i++) free(owned[i]);
}

static void put_columns(sketch *out, const idm_survey *s)
{
  put(out, "\n# Which column is what; a list joins several columns.\n");
  const bool grouped =
      s->header.role[IDM_COLUMN_AGENT].count || s->header.role[IDM_COLUMN_TRAJECTORY].count;
  put(out, "data:\n");
  if (!grouped) {
    put(out,
        "  # FILL IN: no column says which rows belong together: name it, as the trajectory or "
        "the agent.\n");
    put_blank(out, "  trajectory");
  }
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    const idm_column_info *info = idm_column_describe((idm_column)c);
    const idm_log_role *role = &s->header.role[c];
    if (!role->count && info->required) {
      put(out, "  # FILL IN: the name of a column.\n  ");
      put_blank(out, info->key);
    }
    if (!role->count) continue;
    put(out, "  ");
    put(out, info->key);
    put(out, ": ");
    /* One column of its names, or of a trajectory up to four. */
    const char *names[sizeof info->names / sizeof info->names[0]];
    for (size_t i = 0; i < role->count; i++) names[i] = s->header.name.name[role->column[i]];
    if (role->count > 1)
      put_list(out, names, role->count);
    else
      put_text(out, names[0]);
    put(out, "\n");
  }
  put_codes(out, "action", &s->actions);
  put_codes(out, "observation", &s->observations);
  put_missing(out, s);
}

static void put_problem(sketch *out, const idm_survey *s, const char *path)
{
  put(out, "# A first problem file. The labels are those of the table; what a table cannot tell is "
           "marked by a\n"
           "# comment that begins with \"FILL IN:\", and " IDM_PLACEHOLDER
           " holds its place until it is.\n");
  put_name(out, path);
  put_spaces(out, s);
  put_episode(out, s);
  put_dynamics(out, s);
  put(out, "\n# Check: the agent to begin with. alpha: how freely it departs from the best action; "
           "beta: its trust\n"
           "# in its models (inf: neutral); eta: its dislike of surprise.\n"
           "agent: {planner: bounded-rational, alpha: 1, beta: inf, eta: 0}\n"
           "\n# Check: what a fit learns, and what is believed of it beforehand.\n"
           "free: {alpha: {scale: log, prior: {normal: [0, 2]}}}\n");
  put_columns(out, s);
}

static void add_notes(const idm_survey *s, idm_notes *opt_notes)
{
  const bool agents = s->header.role[IDM_COLUMN_AGENT].count;
  const bool trajectories = s->header.role[IDM_COLUMN_TRAJECTORY].count;
  idm_notes_add(
      opt_notes,
      "rows: %zu, trajectories: %lu, agents: %lu; empty cells: %zu of the action, %zu of the "
      "observation",
      s->rows, (unsigned long)s->by.trajectories.count, (unsigned long)s->agents.count,
      s->actions.missing, s->observations.missing);
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    const idm_column_info *info = idm_column_describe((idm_column)c);
    const idm_log_role *role = &s->header.role[c];
    for (size_t i = 0; i < role->count; i++) {
      const char *name = s->header.name.name[role->column[i]];
      bool guess = true;
      for (size_t d = 0; d < info->defaults; d++)
        guess = guess && strcmp(name, info->names[d]) != 0;
      idm_notes_add(opt_notes, "column '%.200s' is taken for %s%s", name, info->what,
                    guess ? " (a guess: check it)" : "");
    }
    if (!role->count && info->required)
      idm_notes_add(opt_notes, "no column looks like %s; name it under data: in the problem file",
                    info->what);
  }
  for (uint32_t i = 0; i < s->missing.count; i++) {
    size_t length;
    const char *text = idm_intern_text(&s->missing, i, &length);
    idm_notes_add(opt_notes,
                  "'%.*s' is taken for what was not recorded (data.missing in the problem file: "
                  "check it)",
                  (int)length, text);
  }
  if (s->counts_rows)
    idm_notes_add(opt_notes, "column 'trial' has another value on every row of an agent: it is "
                             "taken for the number of the row, not for the trajectory");
  if (!agents && !trajectories)
    idm_notes_add(opt_notes, "no column says which rows belong together; name one under data: in "
                             "the problem file");
  else if (!agents)
    idm_notes_add(opt_notes, "no column looks like the agent; all trajectories are one agent's");
  else if (!trajectories)
    idm_notes_add(opt_notes,
                  "no column looks like the trajectory; each agent's rows are one trajectory");
}

static idm_status write_problem(const idm_survey *s, const char *data_path,
                                const char *problem_path, idm_error *opt_error)
{
  sketch out = {0};
  const idm_status status = idm_file_create(problem_path, &out.file, opt_error);
  if (status != IDM_OK) return status;
  put_problem(&out, s, data_path);
  if (out.error.status == IDM_OK) return idm_file_commit(out.file, opt_error);
  idm_file_abandon(out.file);
  if (opt_error) *opt_error = out.error;
  return out.error.status;
}

idm_status idm_init_write(const char *data_path, const char *problem_path, idm_notes *opt_notes,
                          idm_error *opt_error)
{
  idm_require(data_path, problem_path);
  const bool standard = strcmp(data_path, "-") == 0;
  FILE *stream = standard ? stdin : fopen(data_path, "rb");
  if (!stream)
    return idm_fail(opt_error, IDM_INPUT, "cannot open '%s': %s", data_path, strerror(errno));
  idm_survey s = {.file = standard ? "standard input" : data_path};
  idm_csv *csv;
  idm_status status = idm_csv_open_stream(stream, s.file, &csv, opt_error);
  if (status == IDM_OK) status = idm_survey_take(&s, csv, opt_error);
  if (status == IDM_OK) status = write_problem(&s, data_path, problem_path, opt_error);
  if (status == IDM_OK) add_notes(&s, opt_notes);
  idm_csv_close(csv);
  idm_survey_clear(&s);
  if (!standard) fclose(stream);
  return status;
}
