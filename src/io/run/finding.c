/* Findings in summary.json: objective, certificate, what is left open, ranges, policy. */
#include "io/run/finding.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* What the objective of an answer by the likelihood is. */
static const char matched[] = "-log-likelihood";

/* --- writing -------------------------------------------------------------------------------- */

static json_t *directions(const idm_labels *name, const idm_finding *f)
{
  json_t *list = json_array();
  for (size_t i = 0; i < f->open; i++) {
    json_t *one = json_object();
    for (size_t k = 0; k < f->free; k++) {
      const double weight = f->direction[i * f->free + k];
      if (weight != 0) idm_json_set(&one, name->name[k], idm_json_number(weight));
    }
    idm_json_append(&list, one);
  }
  return list;
}

static json_t *ranges(const idm_labels *name, const idm_finding *f)
{
  json_t *object = json_object();
  for (size_t k = 0; k < f->free; k++)
    idm_json_set(&object, name->name[k], idm_json_numbers(f->range + 2 * k, 2));
  return object;
}

static json_t *at_box(const idm_labels *name, const idm_finding *f)
{
  json_t *object = json_object();
  for (size_t k = 0; k < f->free; k++) {
    json_t *ends = json_array();
    for (size_t end = 0; end < 2; end++)
      idm_json_append(&ends, json_boolean(f->at_box[2 * k + end]));
    idm_json_set(&object, name->name[k], ends);
  }
  return object;
}

static json_t *policy(const idm_finding *f)
{
  json_t *object = json_object();
  for (size_t s = 0; s < f->state.count; s++) {
    json_t *row = json_object();
    for (size_t u = 0; u < f->action.count; u++)
      idm_json_set(&row, f->action.name[u], idm_json_number(f->policy[s * f->action.count + u]));
    idm_json_set(&object, f->state.name[s], row);
  }
  return object;
}

void idm_finding_put(json_t **object, const idm_labels *name, const idm_finding *f)
{
  idm_json_set(object, "objective", idm_json_number(f->objective));
  idm_json_set(object, "certificate", idm_json_number(f->attained));
  idm_json_set(object, "certificate_kind", json_string(f->certificate));
  idm_json_set(object, "certificate_limit", idm_json_number(f->closed));
  if (f->looked) idm_json_set(object, "open_directions", directions(name, f));
  if (f->range) idm_json_set(object, "ranges", ranges(name, f));
  if (f->at_box) idm_json_set(object, "ranges_at_box", at_box(name, f));
  if (f->policy) idm_json_set(object, "policy", policy(f));
}

void idm_matched_put(json_t **object, const idm_finding *f)
{
  idm_json_set(object, "objective", idm_json_number(f->objective));
  idm_json_set(object, "objective_kind", json_string(matched));
  if (f->certificate[0]) {
    idm_json_set(object, "certificate", idm_json_number(f->attained));
    idm_json_set(object, "certificate_kind", json_string(f->certificate));
    idm_json_set(object, "certificate_limit", idm_json_number(f->closed));
  }
  if (f->policy) idm_json_set(object, "policy", policy(f));
}

/* --- reading -------------------------------------------------------------------------------- */

static double number_at(const json_t *object, const char *key)
{
  double value = NAN;
  return idm_json_read_number(json_object_get(object, key), &value) ? value : NAN;
}

static bool take_directions(const json_t *list, const idm_labels *name, idm_finding *f)
{
  f->looked = json_is_array(list);
  f->open = json_array_size(list);
  f->direction = idm_new(idm_times(f->open, f->free), sizeof *f->direction);
  if (!f->direction) return false;
  for (size_t i = 0; i < f->open; i++)
    for (size_t k = 0; k < f->free; k++) {
      const double weight = number_at(json_array_get(list, i), name->name[k]);
      f->direction[i * f->free + k] = isnan(weight) ? 0 : weight;
    }
  return true;
}

static bool take_ranges(const json_t *object, const json_t *box, const idm_labels *name,
                        idm_finding *f)
{
  if (!json_is_object(object)) return true;
  f->range = idm_new(2 * f->free, sizeof *f->range);
  f->at_box = idm_new(2 * f->free, sizeof *f->at_box);
  if (!f->range || !f->at_box) return false;
  for (size_t i = 0; i < 2 * f->free; i++) {
    const json_t *ends = json_object_get(object, name->name[i / 2]);
    f->range[i] = NAN;
    idm_json_read_number(json_array_get(ends, i % 2), &f->range[i]);
    f->at_box[i] = json_is_true(json_array_get(json_object_get(box, name->name[i / 2]), i % 2));
  }
  return true;
}

/* Names of an object's keys, in their order. */
static idm_status take_names(json_t *object, idm_labels *labels, idm_error *opt_error)
{
  idm_status status = idm_labels_create(labels, json_object_size(object), opt_error);
  const char *key;
  json_t *value;
  size_t i = 0;
  json_object_foreach(object, key, value)
  {
    if (status == IDM_OK) status = idm_labels_set(labels, i++, key, strlen(key), opt_error);
  }
  return status;
}

static idm_status take_policy(json_t *object, idm_finding *f, idm_error *opt_error)
{
  if (!json_object_size(object)) return IDM_OK;
  json_t *first = json_object_iter_value(json_object_iter(object));
  idm_status status = take_names(object, &f->state, opt_error);
  if (status == IDM_OK) status = take_names(first, &f->action, opt_error);
  if (status != IDM_OK) return status;
  f->policy = idm_new(idm_times(f->state.count, f->action.count), sizeof *f->policy);
  if (!f->policy) return idm_fail_memory(opt_error);
  for (size_t s = 0; s < f->state.count; s++)
    for (size_t u = 0; u < f->action.count; u++)
      f->policy[s * f->action.count + u] =
          number_at(json_object_get(object, f->state.name[s]), f->action.name[u]);
  return IDM_OK;
}

/* What both kinds have. */
static idm_status take_common(const json_t *object, const char *opt_kind, idm_finding *f,
                              idm_error *opt_error)
{
  snprintf(f->certificate, sizeof f->certificate, "%s", opt_kind ? opt_kind : "");
  f->objective = number_at(object, "objective");
  f->attained = number_at(object, "certificate");
  f->closed = number_at(object, "certificate_limit");
  return take_policy(json_object_get(object, "policy"), f, opt_error);
}

/* Whether a summary is of an answer by the likelihood. */
static bool is_matched(const json_t *object)
{
  const char *kind = json_string_value(json_object_get(object, "objective_kind"));
  return kind && strcmp(kind, matched) == 0;
}

idm_status idm_finding_take(const json_t *object, const idm_labels *name, idm_finding **ret_finding,
                            idm_error *opt_error)
{
  *ret_finding = NULL;
  const char *kind = json_string_value(json_object_get(object, "certificate_kind"));
  if (!kind || is_matched(object)) return IDM_OK;
  idm_finding *f = NULL;
  idm_status status = idm_finding_create(name->count, &f, opt_error);
  if (status != IDM_OK) return status;
  if (!take_directions(json_object_get(object, "open_directions"), name, f) ||
      !take_ranges(json_object_get(object, "ranges"), json_object_get(object, "ranges_at_box"),
                   name, f))
    status = idm_fail_memory(opt_error);
  if (status == IDM_OK) status = take_common(object, kind, f, opt_error);
  if (status == IDM_OK)
    *ret_finding = f;
  else
    idm_finding_destroy(f);
  return status;
}

idm_status idm_matched_take(const json_t *object, idm_finding **ret_matched, idm_error *opt_error)
{
  *ret_matched = NULL;
  if (!is_matched(object)) return IDM_OK;
  idm_finding *f = NULL;
  idm_status status = idm_finding_create(0, &f, opt_error);
  if (status != IDM_OK) return status;
  const char *kind = json_string_value(json_object_get(object, "certificate_kind"));
  status = take_common(object, kind, f, opt_error);
  if (status == IDM_OK)
    *ret_matched = f;
  else
    idm_finding_destroy(f);
  return status;
}
