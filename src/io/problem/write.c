/* A problem written as YAML, whole, so that reading it gives the same problem bit for bit.
 *
 * Contents: words and numbers; spaces; dynamics and models; utility; the rest. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "io/problem/write.h"

/* YAML allows a key without `?` up to 1024 characters; an escape takes six. */
enum { longest_plain_key = 160 };

/* --- words and numbers ---------------------------------------------------------------------- */

/* Words that some reader of YAML takes for a truth value, nothing or a number. */
static bool is_reserved(const char *text)
{
  static const char *const words[] = {"yes",  "no",    "on",   "off", "y",  "n",
                                      "true", "false", "null", "inf", "nan"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcasecmp(text, words[i]) == 0) return true;
  return false;
}

static bool is_plain(const char *text)
{
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
  static const char inner[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789-";
  return text[0] && strchr(letters, text[0]) && strspn(text, inner) == strlen(text) &&
         !is_reserved(text);
}

/* Characters that YAML takes as they are between double quotes. */
static bool is_printable(unsigned long code)
{
  if (code < 0xA0) return code >= 0x20 && code < 0x7F && code != '"' && code != '\\';
  return code != 0x2028 && code != 0x2029 && code != 0xFEFF && code != 0xFFFE && code != 0xFFFF;
}

/* A text after a prefix, quoted where YAML needs it. */
static void put_prefixed(idm_file *file, const char *prefix, const char *text)
{
  if (!prefix[0] && is_plain(text)) {
    idm_file_printf(file, "%s", text);
    return;
  }
  idm_file_printf(file, "\"%s", prefix);
  unsigned long code = 0;
  for (size_t step = 1; *text; text += step) {
    step = idm_utf8_decode(text, strlen(text), &code);
    if (is_printable(code))
      idm_file_write(file, text, step);
    else if (code == '"' || code == '\\')
      idm_file_printf(file, "\\%c", (char)code);
    else
      idm_file_printf(file, "\\u%04lX", code);
  }
  idm_file_printf(file, "\"");
}

static void put_text(idm_file *file, const char *text)
{
  put_prefixed(file, "", text);
}

/* "key:" at an indent. */
static void put_key(idm_file *file, int indent, const char *key)
{
  const bool plain = strlen(key) <= longest_plain_key;
  idm_file_printf(file, "%*s%s", indent, "", plain ? "" : "? ");
  put_text(file, key);
  if (plain)
    idm_file_printf(file, ":");
  else
    idm_file_printf(file, "\n%*s:", indent, "");
}

/* The shortest decimal that reads back as the same number. */
static void put_number(idm_file *file, double value)
{
  char text[40];
  if (isinf(value)) {
    snprintf(text, sizeof text, value < 0 ? "-inf" : "inf");
  } else if (value == 0) {
    snprintf(text, sizeof text, signbit(value) ? "-0.0" : "0");
  } else {
    for (int digits = 15; digits <= 17; digits++) {
      snprintf(text, sizeof text, "%.*g", digits, value);
      if (strtod(text, NULL) == value) break;
    }
  }
  idm_file_printf(file, "%s", text);
}

static void put_numbers(idm_file *file, const double *values, size_t count)
{
  idm_file_printf(file, "[");
  for (size_t i = 0; i < count; i++) {
    if (i) idm_file_printf(file, ", ");
    put_number(file, values[i]);
  }
  idm_file_printf(file, "]");
}

static void put_texts(idm_file *file, const idm_labels *labels)
{
  idm_file_printf(file, "[");
  for (size_t i = 0; i < labels->count; i++) {
    if (i) idm_file_printf(file, ", ");
    put_text(file, labels->name[i]);
  }
  idm_file_printf(file, "]");
}

/* --- spaces and episodes -------------------------------------------------------------------- */

static bool is_numbered(const idm_labels *labels)
{
  for (size_t i = 0; i < labels->count; i++) {
    char name[24];
    snprintf(name, sizeof name, "%zu", i);
    if (strcmp(name, labels->name[i]) != 0) return false;
  }
  return true;
}

static void put_space(idm_file *file, const char *key, const idm_labels *labels)
{
  idm_file_printf(file, "%s: ", key);
  if (is_numbered(labels))
    idm_file_printf(file, "%zu", labels->count);
  else
    put_texts(file, labels);
  idm_file_printf(file, "\n");
}

static void put_endings(idm_file *file, const char *key, const idm_setting *setting, bool terminal)
{
  bool any = false;
  for (size_t u = 0; u < setting->actions.count; u++) {
    if (terminal ? !setting->terminal[u] : setting->terminal[u] || !setting->ends[u]) continue;
    idm_file_printf(file, any ? ", " : "%s: [", key);
    put_text(file, setting->actions.name[u]);
    any = true;
  }
  if (any) idm_file_printf(file, "]\n");
}

static void put_spaces(idm_file *file, const idm_problem *problem)
{
  const idm_setting *setting = problem->setting;
  if (setting->name[0]) {
    idm_file_printf(file, "name: ");
    put_text(file, setting->name);
    idm_file_printf(file, "\n");
  }
  put_space(file, "states", &setting->states);
  put_space(file, "actions", &setting->actions);
  if (setting->fully_observed)
    idm_file_printf(file, "observations: states\n");
  else
    put_space(file, "observations", &setting->observations);
  idm_file_printf(file, "start: ");
  put_numbers(file, setting->start, setting->states.count);
  idm_file_printf(file, "\ndiscount: ");
  put_number(file, idm_theta_scalar(problem->theta, IDM_DISCOUNT));
  idm_file_printf(file, "\n");
  if (setting->horizon) idm_file_printf(file, "horizon: %d\n", setting->horizon);
  put_endings(file, "ends", setting, false);
  put_endings(file, "terminal", setting, true);
}

/* --- dynamics and models -------------------------------------------------------------------- */

static bool is_uniform(const double *matrix, size_t rows, size_t columns)
{
  for (size_t i = 0; i < rows * columns; i++)
    if (matrix[i] != 1.0 / (double)columns) return false;
  return true;
}

static void put_matrix(idm_file *file, const double *matrix, size_t rows, size_t columns,
                       int indent)
{
  if (idm_yaml_is_identity(matrix, rows, columns)) {
    idm_file_printf(file, " identity\n");
  } else if (is_uniform(matrix, rows, columns)) {
    idm_file_printf(file, " uniform\n");
  } else {
    for (size_t s = 0; s < rows; s++) {
      idm_file_printf(file, "%s\n%*s%s", s ? "," : "", indent, "", s ? " " : "[");
      put_numbers(file, matrix + s * columns, columns);
    }
    idm_file_printf(file, "]\n");
  }
}

/* Matrices [action][state][column] that differ from opt_base, under their key; nothing where all
 * are the same. */
static void put_matrices(idm_file *file, const idm_setting *setting, const char *key,
                         const double *matrices, const double *opt_base, size_t columns, int indent)
{
  const size_t rows = setting->states.count;
  const size_t actions = setting->actions.count;
  const size_t size = rows * columns;
  size_t changed = 0;
  bool alike = true;
  for (size_t u = 0; u < actions; u++) {
    const double *matrix = matrices + u * size;
    changed += !opt_base || memcmp(matrix, opt_base + u * size, size * sizeof *matrix) != 0;
    alike = alike && memcmp(matrix, matrices, size * sizeof *matrix) == 0;
  }
  if (!changed) return;
  idm_file_printf(file, "%*s%s:\n", indent, "", key);
  if (alike && changed == actions) {
    put_key(file, indent + 2, "*");
    put_matrix(file, matrices, rows, columns, indent + 4);
    return;
  }
  for (size_t u = 0; u < actions; u++) {
    const double *matrix = matrices + u * size;
    if (opt_base && memcmp(matrix, opt_base + u * size, size * sizeof *matrix) == 0) continue;
    put_key(file, indent + 2, setting->actions.name[u]);
    put_matrix(file, matrix, rows, columns, indent + 4);
  }
}

static void put_environment(idm_file *file, const idm_setting *setting)
{
  if (setting->transition)
    put_matrices(file, setting, "transition", setting->transition, NULL, setting->states.count, 0);
  if (setting->emission && !setting->fully_observed)
    put_matrices(file, setting, "observation", setting->emission, NULL, setting->observations.count,
                 0);
}

static bool knows_environment(const idm_problem *problem)
{
  const idm_setting *setting = problem->setting;
  const idm_block *transition = &problem->theta->block[IDM_TRANSITION];
  const idm_block *emission = &problem->theta->block[IDM_EMISSION];
  return problem->theta->models == 1 && setting->transition && setting->emission &&
         memcmp(setting->transition, transition->value,
                transition->size * sizeof *transition->value) == 0 &&
         memcmp(setting->emission, emission->value, emission->size * sizeof *emission->value) == 0;
}

static void put_models(idm_file *file, const idm_problem *problem)
{
  if (knows_environment(problem)) return;
  const idm_setting *setting = problem->setting;
  const idm_theta *theta = problem->theta;
  idm_file_printf(file, "models:\n");
  for (size_t m = 0; m < theta->models; m++) {
    const size_t transitions = theta->block[IDM_TRANSITION].size / theta->models;
    const size_t emissions = theta->block[IDM_EMISSION].size / theta->models;
    idm_file_printf(file, "  - weight: ");
    put_number(file, theta->block[IDM_MODEL_PRIOR].value[m]);
    idm_file_printf(file, "\n");
    put_matrices(file, setting, "transition", theta->block[IDM_TRANSITION].value + m * transitions,
                 setting->transition, setting->states.count, 4);
    put_matrices(file, setting, "observation", theta->block[IDM_EMISSION].value + m * emissions,
                 setting->emission, setting->observations.count, 4);
  }
}

/* --- utility -------------------------------------------------------------------------------- */

static void put_utility_entry(idm_file *file, const idm_problem *problem,
                              const idm_utility_source *opt_source, double value)
{
  if (opt_source)
    put_prefixed(file, opt_source->scale < 0 ? "-" : "",
                 problem->columns.utility.name[opt_source->column]);
  else
    put_number(file, value);
}

static bool same_entry(const idm_utility_source *a, const idm_utility_source *b, double x, double y)
{
  if (!a || !b) return !a && !b && x == y && signbit(x) == signbit(y);
  return a->column == b->column && a->scale == b->scale;
}

static idm_status put_utility(idm_file *file, const idm_problem *problem, idm_error *opt_error)
{
  const idm_setting *setting = problem->setting;
  const size_t states = setting->states.count;
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  const idm_utility_source **source = idm_new(setting->actions.count * states, sizeof *source);
  if (!source) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < problem->utility_sources; i++) {
    const idm_utility_source *from = &problem->utility_source[i];
    source[from->action * states + from->state] = from;
  }
  idm_file_printf(file, "utility:\n");
  for (size_t u = 0; u < setting->actions.count; u++) {
    const size_t first = u * states;
    size_t same = 1;
    while (same < states &&
           same_entry(source[first], source[first + same], utility[first], utility[first + same]))
      same++;
    put_key(file, 2, setting->actions.name[u]);
    idm_file_printf(file, same < states ? " [" : " ");
    for (size_t s = 0; s < (same < states ? states : 1); s++) {
      if (s) idm_file_printf(file, ", ");
      put_utility_entry(file, problem, source[first + s], utility[first + s]);
    }
    idm_file_printf(file, same < states ? "]\n" : "\n");
  }
  free(source);
  return IDM_OK;
}

/* --- the rest ------------------------------------------------------------------------------- */

static void put_field(idm_file *file, const char *key, double value)
{
  if (isnan(value)) return;
  idm_file_printf(file, "  %s: ", key);
  put_number(file, value);
  idm_file_printf(file, "\n");
}

static void put_weights(idm_file *file, const idm_problem *problem)
{
  const idm_block *weights = &problem->theta->block[IDM_WEIGHTS];
  const size_t width = problem->setting->states.count + 1;
  if (!weights->size) return;
  idm_file_printf(file, "  weights:\n");
  for (size_t u = 0; u < problem->setting->actions.count; u++) {
    put_key(file, 4, problem->setting->actions.name[u]);
    idm_file_printf(file, " ");
    put_numbers(file, weights->value + u * width, width);
    idm_file_printf(file, "\n");
  }
}

static void put_agent(idm_file *file, const idm_problem *problem)
{
  const idm_agent *agent = &problem->agent;
  static const idm_block_id scalars[] = {IDM_ALPHA, IDM_BETA, IDM_ETA, IDM_TEMPERATURE};
  idm_file_printf(file, "agent:\n  planner: ");
  put_text(file, agent->planner);
  idm_file_printf(file, "\n");
  for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++)
    put_field(file, idm_block_name(scalars[i]), idm_theta_scalar(problem->theta, scalars[i]));
  if (agent->resolution) idm_file_printf(file, "  resolution: %d\n", agent->resolution);
  idm_file_printf(file, "  evaluate: %s\n",
                  agent->evaluate == IDM_LOOKAHEAD ? "lookahead" : "interpolate");
  idm_file_printf(file, "  surprise: %s\n",
                  agent->surprise == IDM_SURPRISE_BELIEF ? "belief" : "observation");
  idm_file_printf(file, "  recognition: %s\n",
                  agent->recognition == IDM_RECOGNITION_MEAN ? "mean" : "sampled");
  put_field(file, "tolerance", agent->tolerance);
  put_field(file, "decision_capacity", agent->decision_capacity);
  put_field(file, "specification_capacity", agent->specification_capacity);
  put_field(file, "recognition_capacity", agent->recognition_capacity);
  put_weights(file, problem);
}

static void put_priors(idm_file *file, const idm_theta *theta)
{
  const idm_block *action = &theta->block[IDM_ACTION_PRIOR];
  const idm_block *belief = &theta->block[IDM_BELIEF_PRIOR];
  const double *certainty = theta->block[IDM_CERTAINTY].value;
  idm_file_printf(file, "action_prior: ");
  put_numbers(file, action->value, action->size);
  idm_file_printf(file, "\n");
  if (belief->size) {
    idm_file_printf(file, "belief_prior: {dirichlet: ");
    put_numbers(file, belief->value, belief->size);
    idm_file_printf(file, "}\n");
  }
  if (certainty[0] < 1) {
    idm_file_printf(file, "certainty: {above: ");
    put_number(file, certainty[0]);
    idm_file_printf(file, ", award: ");
    put_number(file, certainty[1]);
    idm_file_printf(file, "}\n");
  }
}

/* [ACTION, STATE]: a pair, so that dots in labels cannot mislead. */
static void put_entry(idm_file *file, const idm_setting *setting, size_t entry)
{
  const size_t states = setting->states.count;
  idm_file_printf(file, "[");
  put_text(file, setting->actions.name[entry / states]);
  idm_file_printf(file, ", ");
  put_text(file, setting->states.name[entry % states]);
  idm_file_printf(file, "]");
}

/* Whether every coordinate is one entry that goes by its own name, in their order. */
static bool separate_entries(const idm_setting *setting, const idm_block *block)
{
  char name[2100];
  int32_t next = 0;
  for (size_t i = 0; i < block->size; i++) {
    if (block->coordinate[i] < 0) continue;
    if (block->coordinate[i] != next) return false;
    idm_yaml_entry_name(setting, i, name, sizeof name);
    if (strcmp(name, block->coordinate_name.name[next++]) != 0) return false;
  }
  return true;
}

/* The entries that follow coordinate `at`, or with -1 all that are free. */
static void put_entry_list(idm_file *file, const idm_setting *setting, const idm_block *block,
                           int32_t at)
{
  bool first = true;
  idm_file_printf(file, "[");
  for (size_t i = 0; i < block->size; i++) {
    if (at < 0 ? block->coordinate[i] < 0 : block->coordinate[i] != at) continue;
    if (!first) idm_file_printf(file, ", ");
    first = false;
    put_entry(file, setting, i);
  }
  idm_file_printf(file, "]");
}

/* entries: [[ACTION, STATE], ...], or where some are tied {NAME: [...], ...} */
static void put_entries(idm_file *file, const idm_setting *setting, const idm_block *block)
{
  idm_file_printf(file, ", entries: ");
  if (separate_entries(setting, block)) {
    put_entry_list(file, setting, block, -1);
    return;
  }
  idm_file_printf(file, "{");
  for (size_t c = 0; c < block->coordinate_name.count; c++) {
    if (c) idm_file_printf(file, ", ");
    put_text(file, block->coordinate_name.name[c]);
    idm_file_printf(file, ": ");
    put_entry_list(file, setting, block, (int32_t)c);
  }
  idm_file_printf(file, "}");
}

static void put_free(idm_file *file, const idm_setting *setting, const idm_theta *theta)
{
  bool any = false;
  for (int i = 0; i < IDM_BLOCK_COUNT; i++) {
    const idm_block *block = &theta->block[i];
    if (block->role != IDM_DESCRIPTIVE) continue;
    if (!any) idm_file_printf(file, "free:\n");
    any = true;
    idm_file_printf(file, "  %s: {scale: %s, prior: ", idm_block_name((idm_block_id)i),
                    idm_scale_name(block->scale));
    if (block->prior.kind == IDM_PRIOR_FLAT) {
      idm_file_printf(file, "flat");
    } else {
      idm_file_printf(file, "{%s: ", idm_prior_name(block->prior.kind));
      put_numbers(file, block->prior.argument, block->prior.count);
      idm_file_printf(file, "}");
    }
    if (block->coordinate) put_entries(file, setting, block);
    idm_file_printf(file, "}\n");
  }
}

static void put_columns(idm_file *file, const idm_columns *columns)
{
  const struct {
    const char *key;
    const idm_labels *names;
  } roles[] = {{"agent", &columns->agent},
               {"trajectory", &columns->trajectory},
               {"time", &columns->time},
               {"action", &columns->action},
               {"observation", &columns->observation},
               {"available", &columns->available}};
  bool any = false;
  for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
    if (!roles[i].names->count) continue;
    if (!any) idm_file_printf(file, "data:\n");
    any = true;
    idm_file_printf(file, "  %s: ", roles[i].key);
    if (roles[i].names->count == 1)
      put_text(file, roles[i].names->name[0]);
    else
      put_texts(file, roles[i].names);
    idm_file_printf(file, "\n");
  }
}

idm_status idm_problem_put_yaml(idm_file *file, const idm_problem *problem, idm_error *opt_error)
{
  idm_status status = idm_yaml_check_writable(problem, opt_error);
  if (status != IDM_OK) return status;
  put_spaces(file, problem);
  put_environment(file, problem->setting);
  status = put_utility(file, problem, opt_error);
  if (status != IDM_OK) return status;
  put_models(file, problem);
  put_agent(file, problem);
  put_priors(file, problem->theta);
  put_free(file, problem->setting, problem->theta);
  put_columns(file, &problem->columns);
  return IDM_OK;
}

void idm_yaml_put_text(idm_file *file, const char *text)
{
  put_text(file, text);
}

idm_status idm_problem_write_yaml(const idm_problem *problem, const char *path,
                                  idm_notes *opt_notes, idm_error *opt_error)
{
  (void)opt_notes; /* whatever YAML cannot hold would change the problem, and is an error */
  idm_status status = idm_yaml_check_writable(problem, opt_error);
  idm_file *file = NULL;
  if (status == IDM_OK) status = idm_file_create(path, &file, opt_error);
  if (status == IDM_OK) status = idm_problem_put_yaml(file, problem, opt_error);
  if (status == IDM_OK) return idm_file_commit(file, opt_error);
  idm_file_abandon(file);
  return status;
}
