/* A problem from arrays in memory: the arrays are written as YAML text, which the reader of problem
 * files parses, so that both have the same checks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/text.h"
#include "idm/problem.h"
#include "io/json.h"

static json_t *names_array(const char *const *name, size_t count)
{
  json_t *array = json_array();
  for (size_t i = 0; i < count; i++) idm_json_append(&array, idm_json_text(name[i]));
  return array;
}

static json_t *numbers_array(const double *number, size_t count)
{
  json_t *array = json_array();
  for (size_t i = 0; i < count; i++) idm_json_append(&array, idm_json_number(number[i]));
  return array;
}

static json_t *matrix_array(const double *number, size_t rows, size_t columns)
{
  json_t *array = json_array();
  for (size_t i = 0; i < rows; i++)
    idm_json_append(&array, numbers_array(number + i * columns, columns));
  return array;
}

/* One matrix per action; `columns` 0: one row of `rows` numbers. */
static json_t *by_action(const idm_problem_arrays *a, const double *number, size_t rows,
                         size_t columns)
{
  json_t *object = json_object();
  for (size_t u = 0; u < a->actions; u++)
    idm_json_set(&object, a->action[u],
                 columns ? matrix_array(number + u * rows * columns, rows, columns)
                         : numbers_array(number + u * rows, rows));
  return object;
}

/* Sections of the problem file as one JSON object per line: JSON is YAML. */
static void write_section(FILE *out, const char *name, json_t *value, bool *failed)
{
  char *text = idm_json_dump(value, JSON_ENCODE_ANY);
  if (text) fprintf(out, "%s: %s\n", name, text);
  *failed = *failed || !text;
  free(text);
}

static bool write_sections(const idm_problem_arrays *a, FILE *out)
{
  const size_t states = a->states;
  bool failed = false;
  write_section(out, "states", names_array(a->state, states), &failed);
  write_section(out, "actions", names_array(a->action, a->actions), &failed);
  if (a->observations)
    write_section(out, "observations", names_array(a->observation, a->observations), &failed);
  else
    fputs("observations: states\n", out);
  if (a->opt_start) write_section(out, "start", numbers_array(a->opt_start, states), &failed);
  write_section(out, "discount", idm_json_number(a->discount), &failed);
  write_section(out, "transition", by_action(a, a->transition, states, states), &failed);
  if (a->observations)
    write_section(out, "observation", by_action(a, a->opt_emission, states, a->observations),
                  &failed);
  write_section(out, "utility", by_action(a, a->utility, states, 0), &failed);
  if (a->opt_more) fprintf(out, "%s\n", a->opt_more);
  return !failed;
}

/* IDM_USAGE where a name is NULL; IDM_INPUT where it is not UTF-8, which JSON requires. */
static idm_status check_names(const char *const *name, size_t count, const char *what,
                              idm_error *opt_error)
{
  for (size_t i = 0; i < count; i++) {
    if (!name[i]) return idm_fail(opt_error, IDM_USAGE, "name %zu of the %s is NULL", i, what);
    if (!idm_utf8_valid(name[i], strlen(name[i])))
      return idm_fail(opt_error, IDM_INPUT, "name %zu of the %s is not UTF-8", i, what);
  }
  return IDM_OK;
}

/* IDM_USAGE where an array is missing. */
static idm_status check_arrays(const idm_problem_arrays *a, idm_error *opt_error)
{
  if (!a->states || !a->actions || !a->state || !a->action || !a->transition || !a->utility)
    return idm_fail(opt_error, IDM_USAGE,
                    "a problem needs states, actions, transition and utility");
  if (a->observations && (!a->observation || !a->opt_emission))
    return idm_fail(opt_error, IDM_USAGE, "observations need names and an emission");
  idm_status status = check_names(a->state, a->states, "states", opt_error);
  if (status == IDM_OK) status = check_names(a->action, a->actions, "actions", opt_error);
  if (status == IDM_OK)
    status = check_names(a->observation, a->observations, "observations", opt_error);
  return status;
}

idm_status idm_problem_from_arrays(const idm_problem_arrays *arrays, idm_problem **ret_problem,
                                   idm_error *opt_error)
{
  idm_require(arrays, ret_problem);
  *ret_problem = NULL;
  char *text = NULL;
  size_t length = 0;
  idm_problem_arrays a;
  idm_status status = idm_struct_read(&a, sizeof a, IDM_SIZE_UP_TO(idm_problem_arrays, opt_more),
                                      arrays, "idm_problem_arrays", opt_error);
  if (status == IDM_OK) status = check_arrays(&a, opt_error);
  if (status != IDM_OK) return status;
  FILE *out = open_memstream(&text, &length);
  if (!out) return idm_fail_memory(opt_error);
  const bool complete = write_sections(&a, out);
  if (fclose(out) != 0 || !complete)
    status = idm_fail_memory(opt_error);
  else
    status = idm_problem_parse_yaml(text, length, "arrays", ret_problem, NULL, opt_error);
  free(text);
  return status;
}
