/* Whether YAML can hold a problem: checked before a file is touched. */
#include "io/problem/write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "io/problem/spaces.h"
#include "io/problem/writable.h"

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

/* A utility by column reads back as such: no number, and one minus at most. */
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
    bool usual = true;
    const idm_field *field, *illegal = NULL;
    double number = NAN;
    for (size_t k = 0; (field = idm_block_field(info, problem->theta->sizes, k)); k++) {
      usual = usual && block->value[k] == field->standard;
      if (illegal || (block->value[k] >= field->least && block->value[k] < field->below)) continue;
      illegal = field;
      number = block->value[k];
    }
    if (!usual && illegal)
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

/* In an MDP the file does not speak of observations, so they must be what it implies. */
static idm_status check_observed(const idm_problem *problem, idm_error *opt_error)
{
  const idm_setting *setting = problem->setting;
  if (!setting->fully_observed) return IDM_OK;
  const size_t states = setting->states.count;
  const size_t own = setting->actions.count;
  const double *models = problem->theta->block[IDM_EMISSION].value;
  bool same = setting->moves || setting->emission;
  for (size_t u = 0; same && !setting->moves && u < own; u++)
    same = idm_yaml_is_identity(setting->emission + u * states * states, states, states);
  for (size_t i = 0; same && !setting->moves && i < own * problem->theta->models; i++)
    same = idm_yaml_is_identity(models + i * states * states, states, states);
  for (size_t s = 0; same && s < states; s++)
    same = strcmp(setting->states.name[s], setting->observations.name[s]) == 0;
  if (same) return IDM_OK;
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
               {&problem->columns.missing, "a text for what is missing"}};
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
