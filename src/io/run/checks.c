/* Results of checks in summary.json. */
#include "io/run/checks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static json_t *result_object(const idm_check *row, const idm_check_result *result)
{
  json_t *object = json_object();
  idm_json_set(&object, "name", json_string(row->name));
  idm_json_set(&object, "outcome", json_string(idm_check_outcome_word(result->outcome)));
  idm_json_set(&object, "value", idm_json_number(result->value));
  idm_json_set(&object, "threshold", idm_json_number(result->threshold));
  idm_json_set(&object, "why", idm_json_text(result->why));
  return object;
}

json_t *idm_checks_array(const idm_checks *checks)
{
  json_t *array = json_array();
  for (int id = 0; id < IDM_CHECK_COUNT; id++)
    if (idm_check_applies(checks, (idm_check_id)id))
      idm_json_append(&array, result_object(idm_check_at((size_t)id), &checks->of[id]));
  return array;
}

/* The entry of that name; NULL where there is none. */
static const json_t *find(const json_t *array, const char *name)
{
  for (size_t i = 0; i < json_array_size(array); i++) {
    const json_t *entry = json_array_get(array, i);
    const char *found = json_string_value(json_object_get(entry, "name"));
    if (found && strcmp(found, name) == 0) return entry;
  }
  return NULL;
}

static idm_check_outcome outcome_of(const json_t *entry)
{
  const char *word = json_string_value(json_object_get(entry, "outcome"));
  for (int i = 0; word && i < IDM_CHECK_OUTCOMES; i++)
    if (strcmp(word, idm_check_outcome_word((idm_check_outcome)i)) == 0)
      return (idm_check_outcome)i;
  return IDM_CHECK_UNRECORDED;
}

static void take(const json_t *entry, idm_check_result *result)
{
  const char *why = json_string_value(json_object_get(entry, "why"));
  result->outcome = outcome_of(entry);
  if (!idm_json_read_number(json_object_get(entry, "value"), &result->value)) result->value = NAN;
  if (!idm_json_read_number(json_object_get(entry, "threshold"), &result->threshold))
    result->threshold = NAN;
  snprintf(result->why, sizeof result->why, "%s", why ? why : "");
}

void idm_checks_take(const json_t *opt_array, idm_checks *checks)
{
  for (int id = 0; id < IDM_CHECK_COUNT; id++) {
    idm_check_result *result = &checks->of[id];
    const json_t *entry = find(opt_array, idm_check_at((size_t)id)->name);
    idm_check_result read = {.value = NAN, .threshold = NAN};
    if (!idm_check_applies(checks, (idm_check_id)id)) continue;
    if (entry) take(entry, &read);
    const bool later = read.outcome == IDM_CHECK_NOT_RUN && result->outcome >= IDM_CHECK_PASSED;
    const bool fails = result->outcome == IDM_CHECK_FAILED && read.outcome >= IDM_CHECK_PASSED;
    if (!later && !fails) *result = read;
  }
}

void idm_checks_put_depends(json_t **verdict, const idm_checks *checks, bool also)
{
  const idm_check_outcome moved = checks->of[IDM_CHECK_DEPENDS].outcome;
  const idm_check_outcome between = checks->of[IDM_CHECK_BETWEEN].outcome;
  if (also || moved >= IDM_CHECK_PASSED || between >= IDM_CHECK_PASSED)
    idm_json_set(verdict, "depends_on_dynamics",
                 json_boolean(also || moved == IDM_CHECK_REMARK || between == IDM_CHECK_REMARK));
}

void idm_checks_put_trust(json_t **verdict, const idm_checks *checks, bool trusted)
{
  json_t *names = json_array();
  for (int id = 0; id < IDM_CHECK_COUNT; id++)
    if (idm_check_is_left_out(checks, (idm_check_id)id))
      idm_json_append(&names, json_string(idm_check_at((size_t)id)->name));
  const bool open = trusted && idm_checks_left_out(checks);
  idm_json_set(verdict, "trusted", open ? json_null() : json_boolean(trusted));
  idm_json_set(verdict, "unchecked", names);
}
