/* Writes a problem as YAML that is read back bit for bit.
 *
 * Contents: writable · write */
#include "io/problem/yaml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/key.h"
#include "base/memory.h"
#include "base/text.h"
#include "idm/extension/planner.h"
#include "io/problem/reader.h"
#include "io/problem_file.h"
#include "setting/model.h"

/* === writable ================================================================================= */

/* Checks, before a file is opened, that YAML can express a problem. */

static idm_status check_text(const char *text, const char *what, idm_error *opt_error)
{
  if (strlen(text) > IDM_YAML_LABEL)
    return idm_fail(opt_error, IDM_INPUT, "%s '%.60s...' has %zu bytes; YAML problems hold %d",
                    what, text, strlen(text), IDM_YAML_LABEL);
  if (!idm_utf8_valid(text, strlen(text)))
    return idm_fail(opt_error, IDM_INPUT, "%s is not UTF-8 text, which YAML needs", what);
  return IDM_OK;
}

static idm_status check_texts(const idm_labels *labels, const char *what, bool action,
                              idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < labels->count && status == IDM_OK; i++) {
    status = check_text(labels->name[i], what, opt_error);
    const char *fault = status == IDM_OK ? idm_yaml_label_fault(labels->name[i], action) : NULL;
    if (fault)
      status = idm_fail(opt_error, IDM_INPUT, "%s is '%.60s'; expected %s", what, labels->name[i],
                        fault);
  }
  return status;
}

/* IDM_INPUT if a utility by column would not be read back: a name that is a number, or more than
 * one minus. */
static idm_status check_sources(const idm_problem *problem, idm_error *opt_error)
{
  for (size_t i = 0; i < problem->utility_sources; i++) {
    const idm_utility_source *source = &problem->utility_source[i];
    const char *name = problem->columns.utility.name[source->column];
    char text[IDM_YAML_LABEL + 2];
    double value = 0;
    snprintf(text, sizeof text, "%s%s", source->scale < 0 ? "-" : "", name);
    if (!name[0] || fabs(source->scale) != 1 || (source->scale > 0 && name[0] == '-') ||
        idm_yaml_parse_number(text, &value) != IDM_YAML_TEXT)
      return idm_fail(opt_error, IDM_INPUT,
                      "a utility of %g times the column '%.60s' has no form in YAML", source->scale,
                      name);
  }
  return IDM_OK;
}

static idm_status check_blocks(const idm_problem *problem, idm_error *opt_error)
{
  for (size_t i = 0; i < problem->theta->blocks; i++) {
    const idm_block *block = &problem->theta->block[i];
    const idm_block_info *info = block->info;
    if (block->role == IDM_DESCRIPTIVE && (!info->scales || (info->field && !block->coordinate)))
      return idm_fail(opt_error, IDM_INPUT, "a free %s has no form in YAML", info->name);
    if (block->variants > 1 && !(i == IDM_UTILITY && problem->utility_sources))
      return idm_fail(opt_error, IDM_INPUT, "%s that varies by trial has no form in YAML",
                      info->name);
    bool default_value = true;
    const idm_field *field, *illegal = NULL;
    double number = NAN;
    for (size_t k = 0; (field = idm_block_field(info, problem->theta->sizes, k)); k++) {
      default_value = default_value && block->value[k] == field->default_number;
      if (illegal || (block->value[k] >= field->least && block->value[k] < field->below)) continue;
      illegal = field;
      number = block->value[k];
    }
    if (!default_value && illegal)
      return idm_fail(opt_error, IDM_INPUT, "a %s %s %g has no form in YAML", info->name,
                      illegal->name, number);
  }
  return IDM_OK;
}

bool idm_yaml_is_identity(const double *matrix, size_t rows, size_t columns)
{
  if (rows != columns) return false;
  for (size_t i = 0; i < rows * columns; i++)
    if (matrix[i] != (i / columns == i % columns ? 1.0 : 0.0) || signbit(matrix[i])) return false;
  return true;
}

/* The file of an MDP has no observations, so they must be the states. */
static idm_status check_observed(const idm_problem *problem, idm_error *opt_error)
{
  const idm_setting *setting = problem->setting;
  if (!setting->fully_observed) return IDM_OK;
  const size_t states = setting->states.count;
  const size_t own = setting->actions.count;
  const double *models = problem->theta->block[IDM_EMISSION].value;
  bool same_numbers = setting->moves || setting->emission;
  for (size_t u = 0; same_numbers && !setting->moves && u < own; u++)
    same_numbers = idm_yaml_is_identity(setting->emission + u * states * states, states, states);
  for (size_t i = 0; same_numbers && !setting->moves && i < own * problem->theta->models; i++)
    same_numbers = idm_yaml_is_identity(models + i * states * states, states, states);
  for (size_t s = 0; same_numbers && s < states; s++)
    same_numbers = strcmp(setting->states.name[s], setting->observations.name[s]) == 0;
  if (same_numbers) return IDM_OK;
  return idm_fail(
      opt_error, IDM_INPUT,
      "a fully observed problem whose observations are not its states has no form in YAML");
}

idm_status idm_yaml_check_writable(const idm_problem *problem, idm_error *opt_error)
{
  const idm_setting *setting = problem->setting;
  const struct {
    const idm_labels *labels;
    const char *what;
  } texts[] = {{&setting->states, "a state"},
               {&setting->actions, "an action"},
               {&setting->observations, "an observation"},
               {&problem->columns.utility, "a column"},
               {&problem->columns.missing, "a text for missing values"}};
  idm_status status = idm_problem_validate(problem, opt_error);
  if (status == IDM_OK) status = check_text(setting->name, "the name", opt_error);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0] && status == IDM_OK; i++)
    status = check_texts(texts[i].labels, texts[i].what, texts[i].labels == &setting->actions,
                         opt_error);
  for (size_t i = 0; i < IDM_COLUMN_COUNT && status == IDM_OK; i++) {
    const idm_codes *codes = &problem->columns.codes[i];
    status = check_texts(&problem->columns.role[i], "a column", false, opt_error);
    for (size_t k = 0; k < codes->count && status == IDM_OK; k++)
      status = check_texts(&codes->code[k].text, "a code", false, opt_error);
  }
  for (size_t u = 0; u < setting->actions.count && status == IDM_OK; u++)
    if (strcmp(setting->actions.name[u], "*") == 0)
      status = idm_fail(opt_error, IDM_INPUT, "an action called '*' has no form in YAML");
  if (status == IDM_OK) status = check_sources(problem, opt_error);
  if (status == IDM_OK) status = check_blocks(problem, opt_error);
  if (status == IDM_OK) status = check_observed(problem, opt_error);
  return status;
}

/* === write ==================================================================================== */

static void put_labels(idm_emitter *out, const char *key, const idm_labels *labels)
{
  idm_emit_texts(out, key, (const char *const *)labels->name, labels->count);
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

static void put_space(idm_emitter *out, const char *key, const idm_labels *labels)
{
  if (is_numbered(labels))
    idm_emit_integer(out, key, labels->count);
  else
    put_labels(out, key, labels);
}

static void put_endings(idm_emitter *out, const char *key, const idm_setting *setting,
                        bool terminal)
{
  bool any = false;
  for (size_t u = 0; u < setting->actions.count; u++) {
    if (terminal ? !setting->terminal[u] : setting->terminal[u] || !setting->ends[u]) continue;
    if (!any) idm_emit_list(out, key, IDM_EMIT_FLOW);
    any = true;
    idm_emit_text(out, NULL, setting->actions.name[u]);
  }
  for (size_t s = 0; terminal && s < setting->states.count; s++) {
    if (!setting->terminal_state[s]) continue;
    if (!any) idm_emit_list(out, key, IDM_EMIT_FLOW);
    any = true;
    idm_emit_text(out, NULL, setting->states.name[s]);
  }
  if (any) idm_emit_list_end(out);
}

static void put_spaces(idm_emitter *out, const idm_problem *problem)
{
  const idm_setting *setting = problem->setting;
  if (setting->name[0]) idm_emit_text(out, "name", setting->name);
  put_space(out, "states", &setting->states);
  put_space(out, "actions", &setting->actions);
  if (setting->fully_observed)
    idm_emit_word(out, "observations", "states");
  else
    put_space(out, "observations", &setting->observations);
  idm_emit_numbers(out, "start", setting->start, setting->states.count);
  idm_emit_number(out, "discount", idm_theta_scalar(problem->theta, IDM_DISCOUNT));
  if (setting->horizon) idm_emit_integer(out, "horizon", (size_t)setting->horizon);
  put_endings(out, "ends", setting, false);
  put_endings(out, "terminal", setting, true);
}

/* --- dynamics and models -------------------------------------------------------------------- */

static bool is_uniform(const double *matrix, size_t rows, size_t columns)
{
  for (size_t i = 0; i < rows * columns; i++)
    if (matrix[i] != 1.0 / (double)columns) return false;
  return true;
}

static void put_matrix(idm_emitter *out, const char *key, const double *matrix, size_t rows,
                       size_t columns)
{
  if (idm_yaml_is_identity(matrix, rows, columns)) {
    idm_emit_word(out, key, "identity");
  } else if (is_uniform(matrix, rows, columns)) {
    idm_emit_word(out, key, "uniform");
  } else {
    idm_emit_list(out, key, IDM_EMIT_BLOCK);
    for (size_t s = 0; s < rows; s++) idm_emit_numbers(out, NULL, matrix + s * columns, columns);
    idm_emit_list_end(out);
  }
}

static bool same_numbers(const double *a, const double *b, size_t count)
{
  return memcmp(a, b, count * sizeof *a) == 0;
}

/* Write the matrices of a model [action][state][column] that differ from opt_base; no key if none
 * differs. */
static void put_model_matrices(idm_emitter *out, const char *key, const idm_setting *setting,
                               const double *matrices, const double *opt_base, size_t columns)
{
  const size_t rows = setting->states.count;
  const size_t actions = setting->actions.count;
  const size_t size = rows * columns;
  size_t changed = 0;
  bool all_equal = true;
  for (size_t u = 0; u < actions; u++) {
    changed += !opt_base || !same_numbers(matrices + u * size, opt_base + u * size, size);
    all_equal = all_equal && same_numbers(matrices + u * size, matrices, size);
  }
  if (!changed) return;
  const bool every = all_equal && changed == actions;
  idm_emit_mapping(out, key, IDM_EMIT_BLOCK);
  for (size_t u = 0; u < (every ? 1 : actions); u++) {
    if (opt_base && same_numbers(matrices + u * size, opt_base + u * size, size)) continue;
    put_matrix(out, every ? "*" : setting->actions.name[u], matrices + u * size, rows, columns);
  }
  idm_emit_mapping_end(out);
}

/* Write the matrices of the environment. A matrix that is shared by several actions is written
 * under "*", so that the mark is read back. If the marked matrices differ, or only one is marked,
 * each is written under its name. */
static void put_matrices(idm_emitter *out, const char *key, const idm_setting *setting,
                         const double *matrices, const bool *shared, size_t columns)
{
  const size_t rows = setting->states.count;
  const size_t actions = setting->actions.count;
  const size_t size = rows * columns;
  size_t first = 0;
  size_t count = 0;
  bool all_equal = true;
  while (first < actions && !shared[first]) first++;
  for (size_t u = first; u < actions; u++) {
    count += shared[u];
    all_equal = all_equal &&
                (!shared[u] || same_numbers(matrices + u * size, matrices + first * size, size));
  }
  const bool is_shared = all_equal && (count > 1 || actions == 1);
  idm_emit_mapping(out, key, IDM_EMIT_BLOCK);
  for (size_t u = 0; u < actions; u++)
    if (!is_shared || !shared[u] || u == first)
      put_matrix(out, is_shared && shared[u] ? "*" : setting->actions.name[u], matrices + u * size,
                 rows, columns);
  idm_emit_mapping_end(out);
}

/* {action: {from: {to: probability}}} */
static void put_moves(idm_emitter *out, const idm_setting *s)
{
  const idm_sparse_rows *moves = s->moves;
  const size_t states = s->states.count;
  idm_emit_mapping(out, "transition", IDM_EMIT_BLOCK);
  for (size_t u = 0; u < s->actions.count; u++) {
    idm_emit_mapping(out, s->actions.name[u], IDM_EMIT_BLOCK);
    for (size_t from = 0; from < states; from++) {
      const size_t *first = moves->first + u * states + from;
      idm_emit_mapping(out, s->states.name[from], IDM_EMIT_FLOW);
      for (size_t i = first[0]; i < first[1]; i++)
        idm_emit_number(out, s->states.name[moves->next[i]], moves->probability[i]);
      idm_emit_mapping_end(out);
    }
    idm_emit_mapping_end(out);
  }
  idm_emit_mapping_end(out);
}

static void put_dynamics(idm_emitter *out, const idm_setting *s)
{
  if (s->moves) put_moves(out, s);
  if (s->transition)
    put_matrices(out, "transition", s, s->transition, s->transition_shared, s->states.count);
  if (s->emission && !s->fully_observed)
    put_matrices(out, "observation", s, s->emission, s->emission_shared, s->observations.count);
}

/* {NAME: {transition: ..., observation: ..., start: ...}} */
static void put_environments(idm_emitter *out, const idm_problem *problem)
{
  if (!problem->environments) return;
  idm_emit_mapping(out, "environments", IDM_EMIT_BLOCK);
  for (size_t i = 0; i < problem->environments; i++) {
    const idm_setting *s = problem->environment[i].setting;
    idm_emit_mapping(out, problem->environment[i].name, IDM_EMIT_BLOCK);
    put_dynamics(out, s);
    idm_emit_numbers(out, "start", s->start, s->states.count);
    idm_emit_mapping_end(out);
  }
  idm_emit_mapping_end(out);
  if (problem->current_environment)
    idm_emit_text(out, "environment", problem->environment[problem->current_environment - 1].name);
}

/* {perturb: {transition: ..., observation: ...}, independent: true} or {uniform: ...} */
static void put_rule(idm_emitter *out, const idm_model_rule *rule)
{
  static const char *const kinds[] = {"transition", "observation"};
  idm_emit_mapping(out, "models", IDM_EMIT_FLOW);
  if (rule->uniform > 0) {
    idm_emit_number(out, "uniform", rule->uniform);
  } else {
    idm_emit_mapping(out, "perturb", IDM_EMIT_FLOW);
    for (size_t k = 0; k < 2; k++)
      if (rule->perturb[k] > 0) idm_emit_number(out, kinds[k], rule->perturb[k]);
    idm_emit_mapping_end(out);
    if (rule->independent) idm_emit_word(out, "independent", "true");
  }
  idm_emit_mapping_end(out);
}

static bool models_environment(const idm_setting *setting, const idm_block *transition,
                               const idm_block *emission)
{
  return setting->transition && setting->emission &&
         same_numbers(setting->transition, transition->value, transition->size) &&
         same_numbers(setting->emission, emission->value, emission->size);
}

static void put_models(idm_emitter *out, const idm_problem *problem)
{
  const idm_setting *s = problem->setting;
  const idm_theta *theta = problem->theta;
  const idm_block *transition = &theta->block[IDM_TRANSITION];
  const idm_block *emission = &theta->block[IDM_EMISSION];
  const idm_model_rule *rule = &problem->models;
  if (rule->uniform > 0 || rule->perturb[0] > 0 || rule->perturb[1] > 0) {
    put_rule(out, rule);
    return;
  }
  if (s->moves || (theta->models == 1 && models_environment(s, transition, emission))) return;
  idm_emit_list(out, "models", IDM_EMIT_BLOCK);
  for (size_t m = 0; m < theta->models; m++) {
    const double *transitions = transition->value + m * transition->size / theta->models;
    const double *emissions = emission->value + m * emission->size / theta->models;
    idm_emit_mapping(out, NULL, IDM_EMIT_BLOCK);
    idm_emit_number(out, "weight", theta->block[IDM_MODEL_PRIOR].value[m]);
    put_model_matrices(out, "transition", s, transitions, s->transition, s->states.count);
    put_model_matrices(out, "observation", s, emissions, s->emission, s->observations.count);
    idm_emit_mapping_end(out);
  }
  idm_emit_list_end(out);
}

/* --- utility -------------------------------------------------------------------------------- */

static void put_utility_entry(idm_emitter *out, const char *opt_key, const idm_problem *problem,
                              const idm_utility_source *opt_source, double value)
{
  if (!opt_source) {
    idm_emit_number(out, opt_key, value);
    return;
  }
  char text[IDM_YAML_LABEL + 2];
  snprintf(text, sizeof text, "%s%s", opt_source->scale < 0 ? "-" : "",
           problem->columns.utility.name[opt_source->column]);
  idm_emit_text(out, opt_key, text);
}

static bool same_entry(const idm_utility_source *a, const idm_utility_source *b, double x, double y)
{
  if (!a || !b) return !a && !b && idm_number_same(x, y, 0);
  return a->column == b->column && a->scale == b->scale;
}

/* Write one entry if it is the same for every state, otherwise a list. */
static void put_utility_row(idm_emitter *out, const char *key, const idm_problem *problem,
                            const idm_utility_source *const *source, const double *utility)
{
  const size_t states = problem->setting->states.count;
  size_t all_equal = 1;
  while (all_equal < states &&
         same_entry(source[0], source[all_equal], utility[0], utility[all_equal]))
    all_equal++;
  if (all_equal == states) {
    put_utility_entry(out, key, problem, source[0], utility[0]);
    return;
  }
  idm_emit_list(out, key, IDM_EMIT_FLOW);
  for (size_t s = 0; s < states; s++) put_utility_entry(out, NULL, problem, source[s], utility[s]);
  idm_emit_list_end(out);
}

static void put_utility(idm_emitter *out, const idm_problem *problem)
{
  const idm_labels *actions = &problem->setting->actions;
  const size_t states = problem->setting->states.count;
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  const idm_utility_source **source = idm_new(actions->count * states, sizeof *source);
  if (!source) {
    (void)idm_fail_memory(&out->error);
    return;
  }
  for (size_t i = 0; i < problem->utility_sources; i++) {
    const idm_utility_source *from = &problem->utility_source[i];
    source[from->action * states + from->state] = from;
  }
  idm_emit_mapping(out, "utility", IDM_EMIT_BLOCK);
  for (size_t u = 0; u < actions->count; u++)
    put_utility_row(out, actions->name[u], problem, source + u * states, utility + u * states);
  idm_emit_mapping_end(out);
  free(source);
}

/* --- agent and blocks ----------------------------------------------------------------------- */

/* {NAME: [...]} */
static void put_distribution(idm_emitter *out, const char *key, const char *name,
                             const double *arguments, size_t count)
{
  idm_emit_mapping(out, key, IDM_EMIT_FLOW);
  idm_emit_numbers(out, name, arguments, count);
  idm_emit_mapping_end(out);
}

static void put_rows(idm_emitter *out, const idm_block *block, const idm_labels *actions)
{
  const size_t width = block->size / actions->count;
  idm_emit_mapping(out, block->info->name, IDM_EMIT_BLOCK);
  for (size_t u = 0; u < actions->count; u++)
    idm_emit_numbers(out, actions->name[u], block->value + u * width, width);
  idm_emit_mapping_end(out);
}

/* Write a block in the form of its descriptor. */
static void put_block(idm_emitter *out, const idm_block *block, const idm_setting *setting)
{
  const char *name = block->info->name;
  if (!block->size) return;
  switch (block->info->form) {
  case IDM_FORM_NUMBER:
    idm_emit_number(out, name, block->value[0]);
    break;
  case IDM_FORM_WEIGHTS:
  case IDM_FORM_NUMBERS:
    idm_emit_numbers(out, name, block->value, block->size);
    break;
  case IDM_FORM_FIELDS:
    idm_yaml_put_fields(out, setting, block);
    break;
  case IDM_FORM_DIRICHLET:
    if (setting->fully_observed)
      idm_emit_numbers(out, name, block->value, block->size);
    else
      put_distribution(out, name, "dirichlet", block->value, block->size);
    break;
  case IDM_FORM_ROWS:
    put_rows(out, block, &setting->actions);
    break;
  default:
    break; /* utility and models are written separately */
  }
}

/* Write the blocks of the agent, or those at the top level of the file. */
static void put_blocks(idm_emitter *out, const idm_problem *problem, bool of_agent)
{
  for (size_t i = 0; i < problem->theta->blocks; i++) {
    const idm_block *block = &problem->theta->block[i];
    if (block->info->of_agent == of_agent && i != IDM_DISCOUNT)
      put_block(out, block, problem->setting);
  }
}

static void put_agent(idm_emitter *out, const idm_problem *problem)
{
  idm_emit_mapping(out, "agent", IDM_EMIT_BLOCK);
  idm_emit_text(out, "planner", idm_agent_planner(&problem->agent)->name);
  for (const idm_key *key = idm_agent_option_keys(); key->name; key++) {
    char text[64];
    idm_key_text(key, &problem->agent, text, sizeof text);
    if (text[0]) idm_emit_word(out, key->name, text);
  }
  put_blocks(out, problem, true);
  idm_emit_mapping_end(out);
}

/* --- free blocks and columns ----------------------------------------------------------------- */

/* Returns true if every coordinate is a single entry with its default name, in order. */
static bool separate_entries(const idm_setting *setting, const idm_block *block)
{
  char name[IDM_ENTRY_SIZE];
  int32_t next = 0;
  for (size_t i = 0; i < block->size; i++) {
    if (block->coordinate[i] < 0) continue;
    if (block->coordinate[i] != next) return false;
    idm_yaml_entry_name(setting, i, name, sizeof name);
    if (strcmp(name, block->coordinate_name.name[next++]) != 0) return false;
  }
  return true;
}

/* Write the entries of coordinate `at`, or with -1 all free ones. Each is a pair [ACTION, STATE],
 * so that dots in labels are not ambiguous. */
static void put_entry_list(idm_emitter *out, const char *key, const idm_setting *setting,
                           const idm_block *block, int32_t at)
{
  const size_t states = setting->states.count;
  idm_emit_list(out, key, IDM_EMIT_FLOW);
  for (size_t i = 0; i < block->size; i++) {
    if (at < 0 ? block->coordinate[i] < 0 : block->coordinate[i] != at) continue;
    const char *action = setting->actions.name[i / states];
    idm_emit_texts(out, NULL, (const char *const[]){action, setting->states.name[i % states]}, 2);
  }
  idm_emit_list_end(out);
}

/* Write entries: [[ACTION, STATE], ...], or, with ties, {NAME: [...], ...}. */
static void put_entries(idm_emitter *out, const idm_setting *setting, const idm_block *block)
{
  if (separate_entries(setting, block)) {
    put_entry_list(out, "entries", setting, block, -1);
    return;
  }
  idm_emit_mapping(out, "entries", IDM_EMIT_FLOW);
  for (size_t c = 0; c < block->coordinate_name.count; c++)
    put_entry_list(out, block->coordinate_name.name[c], setting, block, (int32_t)c);
  idm_emit_mapping_end(out);
}

/* Write reference: ACTION, or an empty list if all numbers are free, since an action may have the
 * name `none`. */
static void put_reference(idm_emitter *out, const idm_setting *setting, const idm_block *block)
{
  const size_t terms = setting->states.count + 1;
  for (size_t u = 0; block->coordinate && u < setting->actions.count; u++)
    if (block->coordinate[u * terms + 1] < 0) {
      idm_emit_text(out, "reference", setting->actions.name[u]);
      return;
    }
  idm_emit_list(out, "reference", IDM_EMIT_FLOW);
  idm_emit_list_end(out);
}

/* Write reference: STATE, whose weight is fixed. */
static void put_reference_state(idm_emitter *out, const idm_setting *setting,
                                const idm_block *block)
{
  for (size_t s = 0; s < block->size; s++)
    if (block->coordinate[s] < 0) idm_emit_text(out, "reference", setting->states.name[s]);
}

static void put_free(idm_emitter *out, const idm_setting *setting, const idm_theta *theta)
{
  bool any = false;
  for (size_t i = 0; i < theta->blocks; i++) {
    const idm_block *block = &theta->block[i];
    if (block->role != IDM_DESCRIPTIVE) continue;
    if (!any) idm_emit_mapping(out, "free", IDM_EMIT_BLOCK);
    any = true;
    idm_emit_mapping(out, block->info->name, IDM_EMIT_FLOW);
    idm_emit_word(out, "scale", idm_scale_name(block->scale));
    if (block->prior.kind == IDM_PRIOR_FLAT)
      idm_emit_word(out, "prior", "flat");
    else
      put_distribution(out, "prior", idm_prior_name(block->prior.kind), block->prior.argument,
                       block->prior.count);
    if (block->share)
      idm_yaml_put_ties(out, setting, block);
    else if (block->info->contrast)
      put_reference(out, setting, block);
    else if (i == IDM_BELIEF_PRIOR && block->coordinate)
      put_reference_state(out, setting, block);
    else if (block->coordinate && block->info->field)
      idm_yaml_put_field_entries(out, setting, block);
    else if (block->features)
      idm_yaml_put_free_features(out, block);
    else if (block->coordinate)
      put_entries(out, setting, block);
    idm_emit_mapping_end(out);
  }
  if (any) idm_emit_mapping_end(out);
}

/* Write one prior of the population by block, for blocks that have it. */
static void put_by_block(idm_emitter *out, const char *key, const idm_theta *theta,
                         double (*of)(const idm_population *population))
{
  bool any = false;
  for (size_t i = 0; i < theta->blocks; i++) {
    const double value = of(&theta->block[i].population);
    if (value == 0) continue;
    if (!any) idm_emit_mapping(out, key, IDM_EMIT_FLOW);
    any = true;
    idm_emit_number(out, theta->block[i].info->name, value);
  }
  if (any) idm_emit_mapping_end(out);
}

static double sd_of(const idm_population *population)
{
  return population->sd;
}

static double coefficient_of(const idm_population *population)
{
  return population->coefficient;
}

static void put_population(idm_emitter *out, const idm_problem *problem)
{
  bool any = problem->correlation != 0;
  for (size_t i = 0; i < problem->theta->blocks; i++) {
    const idm_population *population = &problem->theta->block[i].population;
    any = any || population->sd != 0 || population->coefficient != 0;
  }
  if (!any) return;
  idm_emit_mapping(out, "population", IDM_EMIT_BLOCK);
  put_by_block(out, "sd", problem->theta, sd_of);
  put_by_block(out, "coefficient", problem->theta, coefficient_of);
  if (problem->correlation != 0) idm_emit_number(out, "correlation", problem->correlation);
  idm_emit_mapping_end(out);
}

static void put_code(idm_emitter *out, const char *opt_key, const idm_code *code)
{
  if (!code->text.count) {
    idm_emit_word(out, opt_key, code->index ? "index" : "labels");
    return;
  }
  idm_emit_mapping(out, opt_key, IDM_EMIT_FLOW);
  for (size_t i = 0; i < code->text.count; i++)
    idm_emit_text(out, code->text.name[i], code->target_label.name[i]);
  idm_emit_mapping_end(out);
}

static void put_codes(idm_emitter *out, const idm_columns *columns)
{
  bool any = false;
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    const idm_codes *codes = &columns->codes[c];
    const char *key = idm_column_describe((idm_column)c)->key;
    if (!codes->count) continue;
    if (!any) idm_emit_mapping(out, "codes", IDM_EMIT_BLOCK);
    any = true;
    if (codes->count == 1) {
      put_code(out, key, &codes->code[0]);
      continue;
    }
    idm_emit_list(out, key, IDM_EMIT_FLOW);
    for (size_t i = 0; i < codes->count; i++) put_code(out, NULL, &codes->code[i]);
    idm_emit_list_end(out);
  }
  if (any) idm_emit_mapping_end(out);
}

static bool maps_columns(const idm_columns *columns)
{
  bool any =
      columns->missing.count || columns->missed.count || columns->derived_count || columns->rules;
  for (size_t i = 0; i < IDM_COLUMN_COUNT; i++)
    any = any || columns->role[i].count || columns->codes[i].count;
  return any;
}

static void put_missed(idm_emitter *out, const idm_columns *columns, const idm_labels *actions)
{
  if (!columns->missed.count) return;
  if (!columns->missed_action) {
    put_labels(out, "missed", &columns->missed);
    return;
  }
  idm_emit_mapping(out, "missed", IDM_EMIT_FLOW);
  put_labels(out, "values", &columns->missed);
  idm_emit_text(out, "action", actions->name[columns->missed_action - 1]);
  idm_emit_mapping_end(out);
}

static void put_columns(idm_emitter *out, const idm_columns *columns, const idm_labels *actions)
{
  if (!maps_columns(columns)) return;
  idm_emit_mapping(out, "data", IDM_EMIT_BLOCK);
  for (size_t i = 0; i < IDM_COLUMN_COUNT; i++) {
    const idm_labels *names = &columns->role[i];
    const char *key = idm_column_describe((idm_column)i)->key;
    if (names->count == 1)
      idm_emit_text(out, key, names->name[0]);
    else if (names->count)
      put_labels(out, key, names);
  }
  put_codes(out, columns);
  if (columns->missing.count) put_labels(out, "missing", &columns->missing);
  put_missed(out, columns, actions);
  idm_yaml_put_coding(out, columns);
  idm_emit_mapping_end(out);
}

void idm_problem_put_yaml(idm_emitter *out, const idm_problem *problem)
{
  if (out->error.status != IDM_OK || idm_yaml_check_writable(problem, &out->error) != IDM_OK)
    return;
  put_spaces(out, problem);
  if (problem->setting->emits_before) idm_emit_word(out, "observation_from", "before");
  put_dynamics(out, problem->setting);
  put_environments(out, problem);
  if (problem->theta->block[IDM_UTILITY].features)
    idm_yaml_put_features(out, problem);
  else
    put_utility(out, problem);
  put_models(out, problem);
  put_agent(out, problem);
  put_blocks(out, problem, false);
  put_free(out, problem->setting, problem->theta);
  put_population(out, problem);
  put_columns(out, &problem->columns, &problem->setting->actions);
}

idm_status idm_problem_write_yaml(const idm_problem *problem, const char *path,
                                  idm_notes *opt_notes, idm_error *opt_error)
{
  (void)opt_notes; /* a problem that YAML cannot express is an error, so there are no remarks */
  return idm_problem_write_yaml_headed(problem, "", path, opt_error);
}

idm_status idm_problem_write_yaml_headed(const idm_problem *problem, const char *head,
                                         const char *path, idm_error *opt_error)
{
  idm_require(problem, head, path);
  idm_emitter out;
  idm_emit_begin(&out, path);
  idm_emit_head(&out, head);
  idm_problem_put_yaml(&out, problem);
  return idm_emit_end(&out, opt_error);
}
