/* A first problem file from a table: labels found, blanks to fill. */
#include <errno.h>
#include <string.h>

#include "io/log/survey.h"

#include "base/utf8.h"

/* --- yaml ----------------------------------------------------------------------------------- */

/* Words that some reader of YAML takes for a truth value, a null or a number. */
static bool is_reserved(const char *text)
{
  static const char *const words[] = {"y",     "n",    "yes", "no",  "on",       "off",    "true",
                                      "false", "null", "inf", "nan", "identity", "uniform"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (idm_same_word(text, words[i])) return true;
  return false;
}

static bool is_plain(const char *text)
{
  const char *const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  if (!strchr(letters, text[0]) || is_reserved(text)) return false;
  return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.-")] ==
         '\0';
}

/* Characters that YAML lets stand as they are between double quotes. */
static bool is_printable(unsigned long code)
{
  if (code < 0x80) return code >= 0x20 && code < 0x7f && code != '"' && code != '\\';
  return code >= 0xa0 && code != 0x2028 && code != 0x2029 && code != 0xfeff && code != 0xfffe &&
         code != 0xffff;
}

static void put_scalar(idm_file *file, const char *text)
{
  if (text[0] && is_plain(text)) {
    idm_file_printf(file, "%s", text);
    return;
  }
  idm_file_printf(file, "\"");
  for (size_t left = strlen(text); left;) {
    unsigned long code = 0;
    const size_t bytes = idm_utf8_decode(text, left, &code);
    if (!bytes) break;
    if (is_printable(code))
      idm_file_write(file, text, bytes);
    else
      idm_file_printf(file, "\\u%04lX", code);
    text += bytes;
    left -= bytes;
  }
  idm_file_printf(file, "\"");
}

static void put_list(idm_file *file, const char *const *text, size_t count)
{
  idm_file_printf(file, "[");
  for (size_t i = 0; i < count; i++) {
    if (i) idm_file_printf(file, ", ");
    put_scalar(file, text[i]);
  }
  idm_file_printf(file, "]");
}

/* --- file ----------------------------------------------------------------------------------- */

static const char *const no_actions[] = {"action_a", "action_b"};
static const char *const no_observations[] = {"nothing"};

/* The name of the table without its folder and its ending. */
static void put_name(idm_file *file, const char *path)
{
  const char *slash = strrchr(path, '/');
  const char *name = strcmp(path, "-") == 0 ? "data" : slash ? slash + 1 : path;
  const char *dot = strrchr(name, '.');
  const size_t length = dot && dot > name ? (size_t)(dot - name) : strlen(name);
  idm_file_printf(file, "name: \"");
  for (size_t i = 0; i < length; i++) {
    const char c = name[i];
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    idm_file_write(file, kept || c == '-' ? &c : "_", 1);
  }
  idm_file_printf(file, "\"\n");
}

static void put_spaces(idm_file *file, const idm_survey *s)
{
  idm_file_printf(
      file,
      "\n# FILL IN: what the agent cannot see and tries to find out, and its names. These two are "
      "placeholders.\n"
      "states: [state_a, state_b]\n\n");
  if (!s->actions.count)
    idm_file_printf(file, "# FILL IN: what can be done. No column of actions was found.\n");
  idm_file_printf(file, "actions: ");
  if (s->actions.count)
    put_list(file, (const char *const *)s->actions.sorted, s->actions.count);
  else
    put_list(file, no_actions, 2);
  idm_file_printf(file, "\n");
  if (!s->observations.count)
    idm_file_printf(file,
                    "\n# FILL IN: what can be seen after an action. No column of observations was "
                    "found.\n");
  idm_file_printf(file, "observations: ");
  if (s->observations.count)
    put_list(file, (const char *const *)s->observations.sorted, s->observations.count);
  else
    put_list(file, no_observations, 1);
  idm_file_printf(file, "\n");
}

static void put_episode(idm_file *file, const idm_survey *s)
{
  const char *endings[idm_label_limit];
  const size_t count = idm_survey_endings(s, endings);
  idm_file_printf(
      file,
      "\n# FILL IN: what the agent believes before its first action, one number a state.\n"
      "start: [0.5, 0.5]\n"
      "\n# FILL IN: how much the next step counts beside this one, from 0 to below 1.\n"
      "discount: 0.95\n"
      "\n# FILL IN: actions after which a trajectory stops. Listed are those that stand on last "
      "rows only.\n"
      "# Where such an action also ends the decision problem itself, say 'terminal' in place of "
      "'ends'.\n"
      "ends: ");
  put_list(file, endings, count);
  idm_file_printf(file, "\n");
}

static void put_dynamics(idm_file *file, const idm_survey *s)
{
  const char *const *actions =
      s->actions.count ? (const char *const *)s->actions.sorted : no_actions;
  const size_t count = s->actions.count ? s->actions.count : 2;
  idm_file_printf(
      file, "\n# FILL IN: how an action moves the state: a matrix an action, rows the state acted "
            "from, columns the\n"
            "# state after; 'identity' where nothing moves. \"*\" is every action not named.\n"
            "transition: {\"*\": uniform}\n"
            "\n# FILL IN: what is seen after an action: a matrix an action, rows the state after "
            "it, columns the\n"
            "# observations in the order above; each row sums to 1.\n"
            "observation: {\"*\": uniform}\n"
            "\n# FILL IN: what an action is worth: one number, or a list with one a state.\n"
            "utility:\n");
  for (size_t i = 0; i < count; i++) {
    idm_file_printf(file, "  ");
    put_scalar(file, actions[i]);
    idm_file_printf(file, ": 0\n");
  }
}

static void put_columns(idm_file *file, const idm_survey *s)
{
  idm_file_printf(file, "\n# Which column is what; a list joins several columns.\n");
  const bool grouped =
      s->header.role[IDM_ROLE_AGENT].count || s->header.role[IDM_ROLE_TRAJECTORY].count;
  if (!grouped)
    idm_file_printf(file,
                    "# FILL IN: no column says which rows belong together: add 'agent: COLUMN' or "
                    "'trajectory: COLUMN'.\n");
  size_t found = 0;
  for (size_t r = 0; r < idm_survey_role_count; r++)
    found += s->header.role[idm_survey_roles[r].id].count;
  idm_file_printf(file, found ? "data:\n" : "# data: {trajectory: COLUMN}\n");
  for (size_t r = 0; r < idm_survey_role_count; r++) {
    const idm_log_role *role = &s->header.role[idm_survey_roles[r].id];
    if (!role->count) continue;
    idm_file_printf(file, "  %s: %s", idm_survey_roles[r].key, role->count > 1 ? "[" : "");
    for (size_t i = 0; i < role->count; i++) {
      if (i) idm_file_printf(file, ", ");
      put_scalar(file, s->header.name.name[role->column[i]]);
    }
    idm_file_printf(file, role->count > 1 ? "]\n" : "\n");
  }
}

static void put_problem(idm_file *file, const idm_survey *s, const char *path)
{
  idm_file_printf(
      file, "# A first problem file. The labels are those of the table; every comment that begins "
            "with\n"
            "# \"FILL IN:\" marks what a table cannot tell, and what stands under it holds the "
            "place.\n");
  put_name(file, path);
  put_spaces(file, s);
  put_episode(file, s);
  put_dynamics(file, s);
  idm_file_printf(
      file,
      "\n# FILL IN: the agent to begin with. alpha: how freely it departs from the best action; "
      "beta: its trust\n"
      "# in its models (inf: neutral); eta: its dislike of surprise.\n"
      "agent: {planner: bounded-rational, alpha: 1, beta: inf, eta: 0}\n"
      "\n# FILL IN: what a fit learns, and what is believed of it beforehand.\n"
      "free: {alpha: {scale: log, prior: {normal: [0, 2]}}}\n");
  put_columns(file, s);
}

static void add_notes(const idm_survey *s, idm_notes *opt_notes)
{
  const bool agents = s->header.role[IDM_ROLE_AGENT].count;
  const bool trajectories = s->header.role[IDM_ROLE_TRAJECTORY].count;
  idm_notes_add(opt_notes,
                "%zu rows, %lu trajectories, %lu agents; %zu actions and %zu observations are "
                "empty cells",
                s->rows, (unsigned long)s->trajectories.count, (unsigned long)s->agents.count,
                s->actions.missing, s->observations.missing);
  for (size_t r = 0; r < idm_survey_role_count; r++) {
    const idm_log_role *role = &s->header.role[idm_survey_roles[r].id];
    for (size_t i = 0; i < role->count; i++) {
      const char *name = s->header.name.name[role->column[i]];
      bool guess = true;
      for (size_t d = 0; d < idm_survey_roles[r].defaults; d++)
        guess = guess && strcmp(name, idm_survey_roles[r].names[d]) != 0;
      idm_notes_add(opt_notes, "column '%.200s' is taken for the %s%s", name,
                    idm_survey_roles[r].what, guess ? " (a guess: check it)" : "");
    }
    const bool needed =
        idm_survey_roles[r].id == IDM_ROLE_ACTION || idm_survey_roles[r].id == IDM_ROLE_OBSERVATION;
    if (!role->count && needed)
      idm_notes_add(opt_notes,
                    "no column looks like the %s; name it under data: in the problem file",
                    idm_survey_roles[r].what);
  }
  if (!agents && !trajectories)
    idm_notes_add(opt_notes, "no column says which rows belong together; name one under data: in "
                             "the problem file");
  else if (!agents)
    idm_notes_add(opt_notes, "no column looks like the agent; all trajectories are one agent's");
  else if (!trajectories)
    idm_notes_add(opt_notes,
                  "no column looks like the trajectory; each agent's rows are one trajectory");
}

idm_status idm_init_write(const char *data_path, const char *problem_path, idm_notes *opt_notes,
                          idm_error *opt_error)
{
  const bool standard = strcmp(data_path, "-") == 0;
  FILE *stream = standard ? stdin : fopen(data_path, "rb");
  if (!stream)
    return idm_fail(opt_error, IDM_INPUT, "cannot open '%s': %s", data_path, strerror(errno));
  idm_survey s = {.file = standard ? "standard input" : data_path};
  idm_csv *csv;
  idm_file *file = NULL;
  idm_status status = idm_csv_open_stream(stream, s.file, &csv, opt_error);
  if (status == IDM_OK) status = idm_survey_take(&s, csv, opt_error);
  if (status == IDM_OK) status = idm_file_create(problem_path, &file, opt_error);
  if (status == IDM_OK) {
    put_problem(file, &s, data_path);
    status = idm_file_commit(file, opt_error);
  }
  if (status == IDM_OK) add_notes(&s, opt_notes);
  idm_csv_close(csv);
  idm_survey_clear(&s);
  if (!standard) fclose(stream);
  return status;
}
