/* Deep copies of problems. */
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "idm/extension/problem.h"
#include "setting/model.h"

/* --- texts and arrays ----------------------------------------------------------------------- */

/* Replace a borrowed text by a copy. Returns false where memory runs out. */
static bool own_text(char **text)
{
  if (!*text) return true;
  *text = idm_text_copy(*text, strlen(*text));
  return *text != NULL;
}

/* The same for an array of numbers. */
static bool own_numbers(double **value, size_t count)
{
  if (!*value) return true;
  *value = idm_duplicate(*value, count, sizeof **value);
  return *value != NULL;
}

/* --- columns -------------------------------------------------------------------------------- */

static idm_status copy_derived(const idm_derived *from, idm_derived *to, idm_error *opt_error)
{
  *to = *from;
  to->source = to->text = to->label = (idm_labels){0};
  /* All are replaced, so that no copy that fails frees what belongs to the original. */
  bool copied = own_text(&to->name);
  copied = own_text(&to->missing) && copied;
  copied = own_text(&to->other) && copied;
  copied = own_numbers(&to->at, to->cuts) && copied;
  copied = own_numbers(&to->deviation, to->cuts) && copied;
  idm_status status = copied ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&from->source, &to->source, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&from->text, &to->text, opt_error);
  return status == IDM_OK ? idm_labels_copy(&from->label, &to->label, opt_error) : status;
}

static idm_status copy_rule(const idm_rule *from, idm_rule *to, idm_error *opt_error)
{
  *to = *from;
  to->in = (idm_labels){0};
  bool copied = own_text(&to->column);
  copied = own_text(&to->predicate.column) && copied;
  copied = own_text(&to->predicate.value) && copied;
  return copied ? idm_labels_copy(&from->in, &to->in, opt_error) : idm_fail_memory(opt_error);
}

static idm_status copy_codes(const idm_codes *from, idm_codes *to, idm_error *opt_error)
{
  if (!from->count) return IDM_OK;
  idm_status status = idm_codes_create(to, from->count, opt_error);
  for (size_t i = 0; i < from->count && status == IDM_OK; i++) {
    to->code[i].index = from->code[i].index;
    status = idm_labels_copy(&from->code[i].text, &to->code[i].text, opt_error);
    if (status == IDM_OK)
      status = idm_labels_copy(&from->code[i].target_label, &to->code[i].target_label, opt_error);
  }
  return status;
}

static idm_status copy_rules(const idm_columns *from, idm_columns *to, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  to->derived = from->derived ? idm_new(from->derived_count, sizeof *to->derived) : NULL;
  to->rule = from->rule ? idm_new(from->rules, sizeof *to->rule) : NULL;
  if ((from->derived && !to->derived) || (from->rule && !to->rule))
    return idm_fail_memory(opt_error);
  for (; to->derived_count < from->derived_count && status == IDM_OK; to->derived_count++)
    status =
        copy_derived(&from->derived[to->derived_count], &to->derived[to->derived_count], opt_error);
  for (; to->rules < from->rules && status == IDM_OK; to->rules++)
    status = copy_rule(&from->rule[to->rules], &to->rule[to->rules], opt_error);
  return status;
}

/* Copy into columns that are empty. */
static idm_status copy_columns(const idm_columns *from, idm_columns *to, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  to->missed_action = from->missed_action;
  for (size_t i = 0; i < IDM_COLUMN_COUNT && status == IDM_OK; i++) {
    status = idm_labels_copy(&from->role[i], &to->role[i], opt_error);
    if (status == IDM_OK) status = copy_codes(&from->codes[i], &to->codes[i], opt_error);
  }
  if (status == IDM_OK) status = idm_labels_copy(&from->utility, &to->utility, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&from->missing, &to->missing, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&from->missed, &to->missed, opt_error);
  return status == IDM_OK ? copy_rules(from, to, opt_error) : status;
}

/* --- problems ------------------------------------------------------------------------------- */

static idm_status copy_environments(const idm_problem *from, idm_problem *to, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  if (!from->environment) return IDM_OK;
  to->environment = idm_new(from->environments, sizeof *to->environment);
  if (!to->environment) return idm_fail_memory(opt_error);
  for (; to->environments < from->environments && status == IDM_OK; to->environments++) {
    idm_environment *one = &to->environment[to->environments];
    one->name = from->environment[to->environments].name;
    status = own_text(&one->name) ? idm_setting_copy(from->environment[to->environments].setting,
                                                     &one->setting, opt_error)
                                  : idm_fail_memory(opt_error);
  }
  return status;
}

static idm_status copy_parts(const idm_problem *from, idm_problem *to, idm_error *opt_error)
{
  to->models = from->models;
  to->agent = from->agent;
  to->correlation = from->correlation;
  to->current_environment = from->current_environment;
  to->utility_sources = from->utility_sources;
  to->utility_source =
      idm_duplicate(from->utility_source, from->utility_sources, sizeof *to->utility_source);
  if (from->utility_source && !to->utility_source) return idm_fail_memory(opt_error);
  idm_status status = idm_setting_copy(from->setting, &to->setting, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(from->theta, &to->theta, opt_error);
  if (status == IDM_OK) status = copy_columns(&from->columns, &to->columns, opt_error);
  return status == IDM_OK ? copy_environments(from, to, opt_error) : status;
}

idm_status idm_problem_copy(const idm_problem *problem, idm_problem **ret_problem,
                            idm_error *opt_error)
{
  idm_require(problem, ret_problem);
  *ret_problem = NULL;
  idm_problem *copy = idm_new(1, sizeof *copy);
  if (!copy) return idm_fail_memory(opt_error);
  const idm_status status = copy_parts(problem, copy, opt_error);
  if (status == IDM_OK)
    *ret_problem = copy;
  else
    idm_problem_destroy(copy);
  return status;
}
