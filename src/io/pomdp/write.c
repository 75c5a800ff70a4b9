/* Writes Cassandra's .POMDP format.
 *
 * A problem that the format cannot express is rejected. If only the agent, the columns of the log
 * or names are lost, a remark lists them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/key.h"
#include "base/memory.h"
#include "base/text.h"
#include "idm/extension/planner.h"
#include "io/file.h"
#include "io/pomdp/pomdp.h"
#include "io/problem_file.h"
#include "setting/model.h"

typedef struct writer {
  idm_file *file;
  const idm_setting *setting;
  idm_sizes n;
  bool named_states; /* write names; otherwise a count, and elements by index */
  bool named_actions;
  bool named_observations;
} writer;

/* --- limits of the format -------------------------------------------------------------------- */

/* Returns true if every row [state] of every action is the unit vector of its state. */
static bool is_identity(const double *value, size_t states, size_t actions)
{
  for (size_t i = 0; i < actions * states; i++)
    for (size_t j = 0; j < states; j++)
      if (value[i * states + j] != (i % states == j ? 1 : 0)) return false;
  return true;
}

static idm_status fail_inexpressible(idm_error *opt_error, const char *what)
{
  return idm_fail(opt_error, IDM_INPUT, "the .POMDP format cannot express %s", what);
}

static idm_status check_expressible(const idm_problem *problem, idm_error *opt_error)
{
  const idm_setting *setting = problem->setting;
  const idm_sizes n = idm_setting_sizes(setting);
  for (size_t u = 0; u < n.actions; u++)
    if (setting->terminal[u])
      return idm_fail(opt_error, IDM_INPUT,
                      "the .POMDP format cannot express a terminal action, as '%s' is",
                      setting->actions.name[u]);
  if (setting->horizon) return fail_inexpressible(opt_error, "a horizon");
  if (setting->emits_before)
    return fail_inexpressible(opt_error, "observations that come from the state acted in");
  if (setting->moves) return fail_inexpressible(opt_error, "transitions that are given row by row");
  if (problem->environments) return fail_inexpressible(opt_error, "a family of environments");
  if (!setting->transition) return fail_inexpressible(opt_error, "unknown transitions");
  if (!setting->emission) return fail_inexpressible(opt_error, "unknown observation probabilities");
  if (problem->utility_sources)
    return fail_inexpressible(opt_error, "utilities by column of the data");
  if (idm_theta_variants(problem->theta) > 1)
    return fail_inexpressible(opt_error, "settings that vary");
  if (setting->fully_observed && !is_identity(setting->emission, n.states, n.actions))
    return fail_inexpressible(opt_error,
                              "a fully observed setting whose observations are not its states");
  return idm_problem_validate(problem, opt_error);
}

/* Returns true if the agent has one model, equal to the environment. */
static bool models_environment(const idm_problem *problem)
{
  const idm_setting *setting = problem->setting;
  const idm_theta *theta = problem->theta;
  const idm_sizes n = idm_setting_sizes(setting);
  const size_t pairs = n.actions * n.states;
  const idm_block *transition = &theta->block[IDM_TRANSITION];
  const idm_block *emission = &theta->block[IDM_EMISSION];
  return theta->models == 1 && transition->size == pairs * n.states &&
         emission->size == pairs * n.observations &&
         memcmp(transition->value, setting->transition, transition->size * sizeof(double)) == 0 &&
         memcmp(emission->value, setting->emission, emission->size * sizeof(double)) == 0;
}

static bool is_constant(const double *value, size_t count, double number)
{
  for (size_t i = 0; i < count; i++)
    if (value[i] != number || signbit(value[i]) != signbit(number)) return false;
  return true;
}

static bool is_default_agent(const idm_agent_options *agent)
{
  idm_agent_options default_agent;
  idm_agent_options_default(&default_agent);
  bool same = idm_agent_planner(agent) == idm_agent_planner(&default_agent);
  for (const idm_key *key = idm_agent_option_keys(); key->name; key++)
    same = same && idm_key_same(key, agent, &default_agent, 0);
  return same;
}

static bool has_columns(const idm_columns *columns)
{
  bool any = columns->utility.count;
  for (size_t i = 0; i < IDM_COLUMN_COUNT; i++) any = any || columns->role[i].count;
  return any;
}

/* Returns true if a block differs from its default values. */
static bool is_changed(const idm_theta *theta, size_t id)
{
  const idm_block *block = &theta->block[id];
  size_t rows = 0;
  (void)idm_theta_rows(theta, id, &rows);
  if (rows) return true;
  const idm_block_info *info = block->info;
  bool same = true;
  for (size_t i = 0; i < block->size * block->variants; i++) {
    const double default_value = info->field
                                     ? idm_block_field(info, theta->sizes, i)->default_number
                                 : info->support == IDM_DISTRIBUTION ? 1.0 / (double)block->size
                                                                     : info->default_number;
    same = same && idm_number_same(block->value[i], default_value, 0);
  }
  return info->optional ? block->size > 0 : !same;
}

/* Add remarks on the blocks that the format cannot express: all except those of the decision
 * problem itself. */
static void note_blocks(const idm_theta *theta, idm_notes *opt_notes)
{
  for (size_t i = 0; i < theta->blocks; i++) {
    const idm_block *block = &theta->block[i];
    const bool written = i == IDM_DISCOUNT || block->info->form == IDM_FORM_UTILITY ||
                         block->info->form == IDM_FORM_MODELS;
    if (!written && is_changed(theta, i))
      idm_notes_add(opt_notes, "left out, as the .POMDP format has no place for it: %s (%s)",
                    block->info->name, block->info->summary);
  }
}

static void note_left_out(const idm_problem *problem, idm_notes *opt_notes)
{
  const idm_theta *theta = problem->theta;
  bool ends = false;
  bool free_blocks = false;
  for (size_t u = 0; u < theta->sizes.actions; u++) ends = ends || problem->setting->ends[u];
  for (size_t i = 0; i < theta->blocks; i++)
    free_blocks = free_blocks || theta->block[i].role == IDM_DESCRIPTIVE;
  note_blocks(theta, opt_notes);
  const struct {
    bool there;
    const char *what;
  } left_out[] = {
      {!models_environment(problem), "the agent's candidate models"},
      {!is_default_agent(&problem->agent), "the agent's planner and its settings"},
      {free_blocks, "which parameters are free, and their priors"},
      {has_columns(&problem->columns), "the columns of the data"},
      {ends, "the actions that end the log"},
      {idm_setting_has_terminal_states(problem->setting),
       "that states are terminal (they are never left and pay nothing)"},
  };
  for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++)
    if (left_out[i].there)
      idm_notes_add(opt_notes, "left out, as the .POMDP format has no place for it: %s",
                    left_out[i].what);
}

/* --- names ---------------------------------------------------------------------------------- */

static bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Reason why a label is not a name in the format; NULL if it is one. */
static const char *name_fault(const char *label)
{
  static const char *const reserved[] = {
      "discount", "values", "states",   "actions", "start", "include", "exclude", "observations",
      "uniform",  "reset",  "identity", "reward",  "cost",  "T",       "O",       "R"};
  if (!label[0]) return "is empty";
  if (idm_pomdp_numeric(label, strlen(label))) return "reads as a number";
  if (!is_letter(label[0])) return "does not start with a letter";
  for (const char *c = label; *c; c++)
    if (!is_letter(*c) && !(*c >= '0' && *c <= '9') && !strchr("_-.", *c))
      return "has a character other than letters, digits, '_', '-' and '.'";
  for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
    if (strcmp(label, reserved[i]) == 0) return "is a word of the format";
  return NULL;
}

/* Returns true if labels are "0", "1", ... in order: a count is equivalent. */
static bool is_numbered(const idm_labels *labels)
{
  for (size_t i = 0; i < labels->count; i++) {
    char number[24];
    idm_print(number, sizeof number, "%zu", i);
    if (strcmp(labels->name[i], number) != 0) return false;
  }
  return true;
}

/* Returns true if names can be written; otherwise a remark gives the reason, unless the names are
 * numbers. */
static bool can_name(const idm_labels *labels, const char *what, idm_notes *opt_notes)
{
  if (is_numbered(labels)) return false;
  for (size_t i = 0; i < labels->count; i++) {
    const char *fault = name_fault(labels->name[i]);
    if (!fault) continue;
    idm_notes_add(opt_notes, "the names of %s are left out and numbers written: '%.80s' %s", what,
                  labels->name[i], fault);
    return false;
  }
  return true;
}

/* --- pieces --------------------------------------------------------------------------------- */

/* The shortest decimal that reads back as the same number. */
static void write_number(idm_file *file, double value)
{
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    idm_print(text, sizeof text, "%.*g", digits, value);
    if (idm_number_read(text, NULL) == value) break;
  }
  /* The format requires a point before an exponent. */
  const char *exponent = strchr(text, 'e');
  if (exponent && !strchr(text, '.'))
    idm_file_printf(file, "%.*s.0%s", (int)(exponent - text), text, exponent);
  else
    idm_file_printf(file, "%s", text);
}

static void write_row(idm_file *file, const double *row, size_t width)
{
  for (size_t i = 0; i < width; i++) {
    if (i) idm_file_printf(file, " ");
    write_number(file, row[i]);
  }
  idm_file_printf(file, "\n");
}

static void write_element(idm_file *file, const idm_labels *labels, bool named, size_t index)
{
  if (named)
    idm_file_printf(file, "%s", labels->name[index]);
  else
    idm_file_printf(file, "%zu", index);
}

static void write_labels(idm_file *file, const char *key, const idm_labels *labels, bool named)
{
  idm_file_printf(file, "%s:", key);
  if (!named) idm_file_printf(file, " %zu", labels->count);
  for (size_t i = 0; named && i < labels->count; i++) idm_file_printf(file, " %s", labels->name[i]);
  idm_file_printf(file, "\n");
}

static void write_matrix(const writer *w, const double *value, size_t width, bool may_be_identity)
{
  if (is_constant(value, w->n.states * width, 1 / (double)width)) {
    idm_file_printf(w->file, "uniform\n");
  } else if (may_be_identity && is_identity(value, width, 1)) {
    idm_file_printf(w->file, "identity\n");
  } else {
    for (size_t s = 0; s < w->n.states; s++) write_row(w->file, value + s * width, width);
  }
}

/* T or O: one matrix per action, or a single one if all are equal. The grammar allows `identity`
 * for T only. */
static void write_table(const writer *w, const char *key, const double *value, size_t width)
{
  const size_t size = w->n.states * width;
  bool same = w->n.actions > 1;
  for (size_t u = 1; same && u < w->n.actions; u++)
    same = memcmp(value, value + u * size, size * sizeof *value) == 0;
  for (size_t u = 0; u < (same ? 1 : w->n.actions); u++) {
    idm_file_printf(w->file, "\n%s: ", key);
    if (same)
      idm_file_printf(w->file, "*");
    else
      write_element(w->file, &w->setting->actions, w->named_actions, u);
    idm_file_printf(w->file, "\n");
    write_matrix(w, value + u * size, width, strcmp(key, "T") == 0);
  }
}

static void write_start(const writer *w)
{
  const double *start = w->setting->start;
  size_t last = 0;
  size_t positive = 0;
  for (size_t s = 0; s < w->n.states; s++)
    if (start[s] > 0) {
      last = s;
      positive++;
    }
  idm_file_printf(w->file, "start: ");
  if (is_constant(start, w->n.states, 1 / (double)w->n.states)) {
    idm_file_printf(w->file, "uniform\n");
  } else if (positive == 1 && start[last] == 1) {
    write_element(w->file, &w->setting->states, w->named_states, last);
    idm_file_printf(w->file, "\n");
  } else {
    write_row(w->file, start, w->n.states);
  }
}

/* Write one reward; `state` equal to the number of states means every state. Rewards of 0 are
 * omitted. */
static void write_reward(const writer *w, size_t action, size_t state, double value)
{
  if (value == 0 && !signbit(value)) return;
  idm_file_printf(w->file, "R: ");
  write_element(w->file, &w->setting->actions, w->named_actions, action);
  idm_file_printf(w->file, " : ");
  if (state == w->n.states)
    idm_file_printf(w->file, "*");
  else
    write_element(w->file, &w->setting->states, w->named_states, state);
  idm_file_printf(w->file, w->setting->fully_observed ? " : * " : " : * : * ");
  write_number(w->file, value);
  idm_file_printf(w->file, "\n");
}

static void write_rewards(const writer *w, const double *utility)
{
  idm_file_printf(w->file, "\n");
  for (size_t u = 0; u < w->n.actions; u++) {
    const double *row = utility + u * w->n.states;
    if (is_constant(row, w->n.states, row[0]))
      write_reward(w, u, w->n.states, row[0]);
    else
      for (size_t s = 0; s < w->n.states; s++) write_reward(w, u, s, row[s]);
  }
}

/* Write the name as a comment; line ends become spaces. */
static void write_name(idm_file *file, const char *name)
{
  if (!name || !name[0]) return;
  idm_file_printf(file, "# ");
  for (const char *c = name; *c; c++)
    idm_file_printf(file, "%c", (unsigned char)*c < 0x20 ? ' ' : *c);
  idm_file_printf(file, "\n");
}

/* --- file ------------------------------------------------------------------------------------ */

static void write_problem(const writer *w, const idm_theta *theta)
{
  const idm_setting *setting = w->setting;
  write_name(w->file, setting->name);
  idm_file_printf(w->file, "discount: ");
  write_number(w->file, idm_theta_scalar(theta, IDM_DISCOUNT));
  idm_file_printf(w->file, "\nvalues: reward\n");
  write_labels(w->file, "states", &setting->states, w->named_states);
  write_labels(w->file, "actions", &setting->actions, w->named_actions);
  if (!setting->fully_observed)
    write_labels(w->file, "observations", &setting->observations, w->named_observations);
  write_start(w);
  write_table(w, "T", setting->transition, w->n.states);
  if (!setting->fully_observed) write_table(w, "O", setting->emission, w->n.observations);
  write_rewards(w, idm_theta_values(theta, IDM_UTILITY, 0));
}

idm_status idm_problem_write_pomdp(const idm_problem *problem, const char *path,
                                   idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(problem, path);
  const idm_setting *setting = problem->setting;
  idm_status status = check_expressible(problem, opt_error);
  if (status != IDM_OK) return status;
  writer w = {.setting = setting, .n = idm_setting_sizes(setting)};
  status = idm_file_create(path, &w.file, opt_error);
  if (status != IDM_OK) return status;

  w.named_states = can_name(&setting->states, "states", opt_notes);
  w.named_actions = can_name(&setting->actions, "actions", opt_notes);
  if (!setting->fully_observed)
    w.named_observations = can_name(&setting->observations, "observations", opt_notes);
  else if (!idm_labels_same(&setting->states, &setting->observations))
    idm_notes_add(opt_notes, "the names of observations are left out: a file of a fully observed "
                             "problem names its states only");
  note_left_out(problem, opt_notes);
  write_problem(&w, problem->theta);
  return idm_file_commit(w.file, opt_error);
}
