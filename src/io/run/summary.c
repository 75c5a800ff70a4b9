/* Writes and reads summary.json.
 *
 * Contents: checks · joint · summary */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "invert/assess/context.h"
#include "io/file.h"
#include "io/json.h"
#include "io/run.h"
#include "io/run/folder.h"

/* === checks ================================================================================= */

/* Results of checks in summary.json. */

static json_t *result_object(const idm_check *row, const idm_check_result *result)
{
  json_t *object = json_object();
  idm_json_set(&object, "name", json_string(row->name));
  idm_json_set(&object, "outcome", json_string(idm_check_outcome_name(result->outcome)));
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

/* Entry of that name; NULL if there is none. */
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
    if (strcmp(word, idm_check_outcome_name((idm_check_outcome)i)) == 0)
      return (idm_check_outcome)i;
  return IDM_CHECK_UNRECORDED;
}

static void read_result(const json_t *entry, idm_check_result *result)
{
  const char *why = json_string_value(json_object_get(entry, "why"));
  result->outcome = outcome_of(entry);
  if (!idm_json_read_number(json_object_get(entry, "value"), &result->value)) result->value = NAN;
  if (!idm_json_read_number(json_object_get(entry, "threshold"), &result->threshold))
    result->threshold = NAN;
  snprintf(result->why, sizeof result->why, "%s", why ? why : "");
}

void idm_checks_read(const json_t *opt_array, idm_checks *checks)
{
  for (int id = 0; id < IDM_CHECK_COUNT; id++) {
    idm_check_result *result = &checks->of[id];
    const json_t *entry = find(opt_array, idm_check_at((size_t)id)->name);
    idm_check_result read = {.value = NAN, .threshold = NAN};
    if (!idm_check_applies(checks, (idm_check_id)id)) continue;
    if (entry) read_result(entry, &read);
    const bool later = read.outcome == IDM_CHECK_NOT_RUN && result->outcome >= IDM_CHECK_PASSED;
    const bool fails = result->outcome == IDM_CHECK_FAILED && read.outcome >= IDM_CHECK_PASSED;
    if (!later && !fails) *result = read;
  }
}

void idm_checks_put_depends(json_t **verdict, const idm_checks *checks, bool also)
{
  const idm_check_outcome moved = checks->of[IDM_CHECK_DEPENDS].outcome;
  const idm_check_outcome between = checks->of[IDM_CHECK_BETWEEN_DYNAMICS].outcome;
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

/* === joint ================================================================================== */

/* Dynamics drawn jointly with the decisions. */

static json_t *object_by_name(const idm_labels *name, const double *value)
{
  json_t *object = json_object();
  for (size_t i = 0; i < name->count; i++)
    idm_json_set(&object, name->name[i], idm_json_number(value[i]));
  return object;
}

json_t *idm_json_joint(const idm_joint_dynamics *dynamics)
{
  json_t *object = json_object();
  idm_json_set(&object, "mean", object_by_name(&dynamics->name, dynamics->mean));
  idm_json_set(&object, "sd", object_by_name(&dynamics->name, dynamics->sd));
  idm_json_set(&object, "r_hat", idm_json_number(dynamics->rhat));
  idm_json_set(&object, "ess_bulk", idm_json_number(dynamics->effective));
  idm_json_set(&object, "observations_lost", idm_json_number(dynamics->lost));
  return object;
}

json_t *idm_json_central(const idm_dynamics_sets *drawn)
{
  json_t *object = json_object();
  if (drawn->of) idm_json_set(&object, "draw", json_integer((json_int_t)drawn->of));
  idm_json_set(&object, "probability", idm_json_numbers(drawn->central, drawn->numbers));
  return object;
}

/* === summary ================================================================================ */

/* summary.json: the results of a fit as one JSON object.
 *
 * Contents: optimality · summary */

/* === optimality =============================================================================== */

/* Findings in summary.json: objective, certificate, directions that are not determined, ranges,
 * policy. */

/* Name of the objective of an answer by the likelihood. */
static const char matched[] = "-log-likelihood";

/* --- writing -------------------------------------------------------------------------------- */

static json_t *directions(const idm_labels *name, const idm_optimality *f)
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

static json_t *ranges(const idm_labels *name, const idm_optimality *f)
{
  json_t *object = json_object();
  for (size_t k = 0; k < f->free; k++)
    idm_json_set(&object, name->name[k], idm_json_numbers(f->range + 2 * k, 2));
  return object;
}

static json_t *at_box(const idm_labels *name, const idm_optimality *f)
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

static json_t *policy(const idm_optimality *f)
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

void idm_optimality_put(json_t **object, const idm_labels *name, const idm_optimality *f)
{
  idm_json_set(object, "objective", idm_json_number(f->objective));
  idm_json_set(object, "certificate", idm_json_number(f->attained));
  idm_json_set(object, "certificate_kind", json_string(f->certificate));
  idm_json_set(object, "certificate_limit", idm_json_number(f->closed));
  if (f->evaluated) idm_json_set(object, "open_directions", directions(name, f));
  if (f->range) idm_json_set(object, "ranges", ranges(name, f));
  if (f->at_box) idm_json_set(object, "ranges_at_box", at_box(name, f));
  if (f->policy) idm_json_set(object, "policy", policy(f));
}

void idm_likelihood_optimality_put(json_t **object, const idm_optimality *f)
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

static bool take_directions(const json_t *list, const idm_labels *name, idm_optimality *f)
{
  f->evaluated = json_is_array(list);
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
                        idm_optimality *f)
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

static idm_status take_policy(json_t *object, idm_optimality *f, idm_error *opt_error)
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

/* Read the parts that both kinds have. */
static idm_status take_common(const json_t *object, const char *opt_kind, idm_optimality *f,
                              idm_error *opt_error)
{
  snprintf(f->certificate, sizeof f->certificate, "%s", opt_kind ? opt_kind : "");
  f->objective = number_at(object, "objective");
  f->attained = number_at(object, "certificate");
  f->closed = number_at(object, "certificate_limit");
  return take_policy(json_object_get(object, "policy"), f, opt_error);
}

/* Returns true if a summary is of an answer by the likelihood. */
static bool is_likelihood_kind(const json_t *object)
{
  const char *kind = json_string_value(json_object_get(object, "objective_kind"));
  return kind && strcmp(kind, matched) == 0;
}

idm_status idm_optimality_read(const json_t *object, const idm_labels *name,
                               idm_optimality **ret_optimality, idm_error *opt_error)
{
  *ret_optimality = NULL;
  const char *kind = json_string_value(json_object_get(object, "certificate_kind"));
  if (!kind || is_likelihood_kind(object)) return IDM_OK;
  idm_optimality *f = NULL;
  idm_status status = idm_optimality_create(name->count, &f, opt_error);
  if (status != IDM_OK) return status;
  if (!take_directions(json_object_get(object, "open_directions"), name, f) ||
      !take_ranges(json_object_get(object, "ranges"), json_object_get(object, "ranges_at_box"),
                   name, f))
    status = idm_fail_memory(opt_error);
  if (status == IDM_OK) status = take_common(object, kind, f, opt_error);
  if (status == IDM_OK)
    *ret_optimality = f;
  else
    idm_optimality_destroy(f);
  return status;
}

idm_status idm_likelihood_optimality_read(const json_t *object, idm_optimality **ret_matched,
                                          idm_error *opt_error)
{
  *ret_matched = NULL;
  if (!is_likelihood_kind(object)) return IDM_OK;
  idm_optimality *f = NULL;
  idm_status status = idm_optimality_create(0, &f, opt_error);
  if (status != IDM_OK) return status;
  const char *kind = json_string_value(json_object_get(object, "certificate_kind"));
  status = take_common(object, kind, f, opt_error);
  if (status == IDM_OK)
    *ret_matched = f;
  else
    idm_optimality_destroy(f);
  return status;
}

/* === summary ================================================================================== */

static const size_t max_bytes = (size_t)1 << 28;

/* --- writing -------------------------------------------------------------------------------- */

static void set(json_t **object, const char *key, double value)
{
  idm_json_set(object, key, idm_json_number(value));
}

/* Share of each posterior variance that is between draws of the dynamics. */
static json_t *dynamics_object(const idm_posterior *p, const idm_assessment *a)
{
  json_t *object = json_object();
  json_t *between = json_object();
  for (size_t i = 0; i < p->quantity.count; i++)
    if (p->summarised[i]) set(&between, p->quantity.name[i], a->between[i]);
  idm_json_set(&object, "draws", json_integer((json_int_t)p->cuts));
  idm_json_set(&object, "variance_between", between);
  return object;
}

static json_t *identification(const idm_posterior *p, const idm_assessment *a)
{
  json_t *object = json_object();
  for (size_t i = 0; i < a->parameters; i++) {
    const idm_identification *id = &a->parameter[i];
    json_t *one = json_object();
    set(&one, "contraction", id->contraction);
    set(&one, "maximum_likelihood", id->maximum);
    idm_json_set(&one, "profile_interval",
                 idm_json_numbers((const double[]){id->low, id->high}, 2));
    json_t *regions = json_array();
    for (size_t k = 0; k < id->regions; k++)
      idm_json_append(&regions, idm_json_numbers(id->region[k], 2));
    idm_json_set(&one, "profile_regions", regions);
    json_t *curve = json_object();
    idm_json_set(&curve, "value", idm_json_numbers(id->value, id->points));
    idm_json_set(&curve, "drop", idm_json_numbers(id->drop, id->points));
    idm_json_set(&one, "profile", curve);
    idm_json_set(&one, "limits", idm_json_numbers(id->limit, 2));
    idm_json_set(&one, "drop_at_limits", idm_json_numbers(id->gap, 2));
    json_t *by_prior = json_array();
    for (int side = 0; side < 2; side++) idm_json_append(&by_prior, json_boolean(id->proper[side]));
    idm_json_set(&one, "prior_is_proper", by_prior);
    idm_json_set(&one, "sentence", json_string(id->sentence));
    idm_json_set(&object, p->quantity.name[id->quantity], one);
  }
  return object;
}

/* By quantity; without those of people if there is a population. */
static json_t *by_quantity(const idm_posterior *p, const double *values)
{
  json_t *object = json_object();
  for (size_t i = 0; i < p->quantity.count; i++)
    if (p->summarised[i] && !idm_is_of_person(p, i)) set(&object, p->quantity.name[i], values[i]);
  return object;
}

static json_t *by_coordinate(const idm_posterior *p, const double *values, size_t count)
{
  json_t *object = json_object();
  for (size_t i = 0; i < count; i++) set(&object, p->coordinate.name[i], values[i]);
  return object;
}

/* Importance sample, in the unconstrained coordinates, which have moments. */
static json_t *importance_object(const idm_posterior *p, const idm_importance_check *importance)
{
  json_t *object = json_object();
  idm_json_set(&object, "checked", json_boolean(importance->checked));
  idm_json_set(&object, "points", json_integer((json_int_t)importance->points));
  set(&object, "effective_points", importance->effective);
  idm_json_set(&object, "modes", json_integer((json_int_t)importance->modes));
  set(&object, "missed_share", importance->missed);
  idm_json_set(&object, "mean", by_coordinate(p, importance->mean, importance->numbers));
  idm_json_set(&object, "sd", by_coordinate(p, importance->sd, importance->numbers));
  idm_json_set(&object, "shift_in_sd", by_coordinate(p, importance->shift, importance->numbers));
  idm_json_set(&object, "shift_error",
               by_coordinate(p, importance->shift_error, importance->numbers));
  idm_json_set(&object, "sd_ratio", by_coordinate(p, importance->spread, importance->numbers));
  idm_json_set(&object, "log_sd_ratio_error",
               by_coordinate(p, importance->spread_error, importance->numbers));
  return object;
}

static json_t *sensitivity(const idm_posterior *p, const idm_assessment *a)
{
  json_t *object = json_object();
  for (size_t i = 0; i < a->sensitivities; i++) {
    const idm_sensitivity *s = &a->sensitivity[i];
    json_t *one = json_object();
    set(&one, "value", s->value);
    set(&one, "step", s->step);
    if (s->dynamics) idm_json_set(&one, "dynamics", json_true());
    idm_json_set(&one, "mean_change_per_unit", by_quantity(p, s->derivative));
    idm_json_set(&object, s->name, one);
  }
  return object;
}

static void put_likelihood_part(json_t **object, const idm_posterior *p, const idm_assessment *a)
{
  if (!a->identified) return;
  set(object, "maximum_log_likelihood", a->log_likelihood);
  idm_json_set(object, "identification", identification(p, a));
  json_t *ridge = json_object();
  set(&ridge, "least_eigenvalue", a->ridge);
  idm_json_set(&ridge, "sentence",
               a->ridge_sentence ? json_string(a->ridge_sentence) : json_null());
  idm_json_set(object, "ridge", ridge);
}

/* Lattice: comparison with a finer one, and steps of its refinement. */
static json_t *lattice_object(const idm_posterior *p, const idm_assessment *a)
{
  json_t *lattice = json_object();
  idm_json_set(&lattice, "resolution", json_integer(a->resolution));
  if (a->finer) {
    idm_json_set(&lattice, "finer", json_integer(a->finer));
    set(&lattice, "largest_change", a->finer_change);
    set(&lattice, "effective_share", a->finer_share);
    idm_json_set(&lattice, "shift_in_sd", by_quantity(p, a->finer_shift));
    if (!isnan(a->finer_error)) set(&lattice, "shift_error", a->finer_error);
  }
  if (!a->refinement.steps) return lattice;
  json_t *steps = json_array();
  for (size_t i = 0; i < a->refinement.steps; i++) {
    const idm_refinement_step *step = &a->refinement.step[i];
    json_t *one = json_object();
    idm_json_set(&one, "resolution", json_integer(step->resolution));
    idm_json_set(&one, "finer", json_integer(step->finer));
    set(&one, "largest_shift_in_sd", step->shift);
    set(&one, "effective_share", step->share);
    idm_json_append(&steps, one);
  }
  idm_json_set(&lattice, "refinement", steps);
  return lattice;
}

/* Score tests of extensions of the model, by name. */
static json_t *extensions_object(const idm_model_check *m)
{
  json_t *object = json_object();
  for (size_t i = 0; i < m->extensions; i++) {
    const idm_score_test *e = &m->extension[i];
    json_t *one = json_object();
    set(&one, "held", e->held);
    set(&one, "value", e->value);
    set(&one, "statistic", e->statistic);
    set(&one, "gain", e->gain);
    set(&one, "p", e->p);
    idm_json_set(&object, e->name, one);
  }
  return object;
}

/* Fit of the model: reference likelihoods and tests. */
static json_t *model_object(const idm_posterior *p, const idm_model_check *m)
{
  json_t *object = json_object();
  idm_json_set(&object, "decisions", json_integer((json_int_t)m->decisions));
  set(&object, "best_log_likelihood", m->log_likelihood);
  set(&object, "uniform_log_likelihood", m->uniform);
  set(&object, "rates_log_likelihood", m->rates);
  idm_json_set(&object, "agents", json_integer((json_int_t)m->agents));
  json_t *between = json_object();
  for (size_t i = 0; m->between && i < p->coordinate.count; i++)
    set(&between, p->coordinate.name[i], m->between[i]);
  idm_json_set(&object, "sd_between_agents", between);
  set(&object, "level", m->level);
  json_t *tests = json_object();
  for (size_t i = 0; i < IDM_TEST_COUNT; i++) {
    if (!m->test[i].evaluated) continue;
    json_t *one = json_object();
    set(&one, "statistic", m->test[i].statistic);
    set(&one, "expected", m->test[i].expected);
    set(&one, "p", m->test[i].p);
    idm_json_set(&tests, idm_model_test_name((idm_model_test)i), one);
  }
  idm_json_set(&object, "tests", tests);
  idm_json_set(&object, "extensions", extensions_object(m));
  return object;
}

static json_t *projection_object(const idm_projection *projection)
{
  json_t *object = json_object();
  idm_json_set(&object, "decisions", json_integer((json_int_t)projection->decisions));
  set(&object, "log_loss", projection->log_loss);
  set(&object, "uniform_log_loss", projection->uniform_log_loss);
  set(&object, "rates_log_loss", projection->rates_log_loss);
  set(&object, "pseudo_r2", projection->pseudo_r2);
  set(&object, "pseudo_r2_rates", projection->pseudo_r2_rates);
  set(&object, "brier", projection->brier);
  idm_json_set(&object, "repeated", json_integer((json_int_t)projection->repeated));
  set(&object, "divergence", projection->divergence);
  return object;
}

static void put_quantities(json_t **object, const idm_posterior *p, const idm_assessment *a)
{
  json_t *quantities = json_object();
  for (size_t i = 0; i < p->quantity.count; i++)
    if (p->summarised[i])
      idm_json_set(&quantities, p->quantity.name[i], idm_json_diagnosis(&a->diagnosis[i]));
  idm_json_set(object, "posterior", quantities);
}

static json_t *summary_object(const idm_posterior *p, const idm_assessment *a,
                              const idm_projection *opt_projection)
{
  json_t *object = json_object();
  char request[20];
  snprintf(request, sizeof request, "%016" PRIx64, p->request);
  if (p->request) idm_json_set(&object, "request", json_string(request));
  idm_json_set(&object, "inverse", json_string(p->inverse));
  idm_json_set(&object, "sampler", json_string(p->sampler));
  idm_json_set(&object, "chains", json_integer((json_int_t)p->chains));
  idm_json_set(&object, "draws", json_integer((json_int_t)p->draws));
  idm_json_set(&object, "warmup", json_integer(p->warmup));
  idm_json_set(&object, "seed", json_integer((json_int_t)p->seed));
  if (p->series_count)
    idm_people_put(&object, p, a);
  else
    put_quantities(&object, p, a);
  if (a->between) idm_json_set(&object, "dynamics", dynamics_object(p, a));
  if (p->dynamics) idm_json_set(&object, "joint_dynamics", idm_json_joint(p->dynamics));
  if (p->drawn) idm_json_set(&object, "planned_dynamics", idm_json_central(p->drawn));
  idm_json_set(&object, "divergences", json_integer(a->divergences));
  set(&object, "e_bfmi", a->ebfmi);
  if (a->importance.points)
    idm_json_set(&object, "independent_look", importance_object(p, &a->importance));
  put_likelihood_part(&object, p, a);
  if (a->identified || a->sensitivities) idm_json_set(&object, "sensitivity", sensitivity(p, a));
  if (a->optimality) idm_optimality_put(&object, &p->coordinate, a->optimality);
  if (a->matched) idm_likelihood_optimality_put(&object, a->matched);
  if (a->resolution) idm_json_set(&object, "discretisation", lattice_object(p, a));
  if (a->model.evaluated) idm_json_set(&object, "model", model_object(p, &a->model));
  if (opt_projection) idm_json_set(&object, "projection", projection_object(opt_projection));
  json_t *verdict = json_object();
  idm_checks_put_trust(&verdict, &a->checks, a->trusted);
  idm_checks_put_depends(&verdict, &a->checks, false);
  idm_json_set(&verdict, "failures", idm_json_texts(&a->failures));
  idm_json_set(&verdict, "misfits", idm_json_texts(&a->misfits));
  idm_json_set(&verdict, "remarks", idm_json_texts(&a->remarks));
  idm_json_set(&object, "verdict", verdict);
  idm_json_set(&object, "checks", idm_checks_array(&a->checks));
  return object;
}

idm_status idm_posterior_write_summary(const idm_posterior *posterior,
                                       const idm_assessment *assessment,
                                       const idm_projection *opt_projection, const char *path,
                                       idm_error *opt_error)
{
  idm_require(posterior, assessment, path);
  const idm_location location = idm_location_of(path);
  return idm_summary_write_at(posterior, assessment, opt_projection, &location, opt_error);
}

idm_status idm_summary_write_at(const idm_posterior *posterior, const idm_assessment *assessment,
                                const idm_projection *opt_projection, const idm_location *location,
                                idm_error *opt_error)
{
  json_t *object = summary_object(posterior, assessment, opt_projection);
  char *text = idm_json_dump(object, JSON_INDENT(1));
  if (!text) return idm_fail_memory(opt_error);
  idm_file *file = NULL;
  const idm_status status = idm_file_create_at(location, &file, opt_error);
  if (status == IDM_OK) idm_file_printf(file, "%s\n", text);
  free(text);
  return status == IDM_OK ? idm_file_commit(file, opt_error) : status;
}

/* --- reading -------------------------------------------------------------------------------- */

/* Returns true if a value is a list of texts. */
static bool are_texts(const json_t *list)
{
  for (size_t i = 0; i < json_array_size(list); i++)
    if (!json_is_string(json_array_get(list, i))) return false;
  return json_is_array(list);
}

static void take_texts(const json_t *list, idm_notes *notes)
{
  idm_notes_clear(notes);
  for (size_t i = 0; i < json_array_size(list); i++)
    idm_notes_add(notes, "%s", json_string_value(json_array_get(list, i)));
}

/* IDM_INPUT unless a summary belongs to these draws. A summary without a label belongs to a
 * posterior without one. */
static idm_status check_identity(const char *path, const json_t *object, const idm_posterior *p,
                                 idm_error *opt_error)
{
  char request[20] = "";
  const char *found = json_string_value(json_object_get(object, "request"));
  const json_int_t draws = json_integer_value(json_object_get(object, "draws"));
  if (p->request) snprintf(request, sizeof request, "%016" PRIx64, p->request);
  if (strcmp(found ? found : "", request) != 0)
    return idm_fail_at(opt_error, path, 0, 0,
                       "belongs to another run than run.nc: found request '%.20s', expected '%s'",
                       found ? found : "", request);
  if (draws != (json_int_t)p->draws)
    return idm_fail_at(opt_error, path, 0, 0,
                       "has %lld draws per chain, and run.nc has %zu; `idm fit --resume` continues "
                       "a run that was stopped",
                       (long long)draws, p->draws);
  return IDM_OK;
}

/* Read a list of at most `most` numbers; returns their count, 0 if an item is not a number. */
static size_t take_numbers(const json_t *list, double *to, size_t most)
{
  const size_t count = json_array_size(list);
  if (count > most) return 0;
  for (size_t i = 0; i < count; i++)
    if (!idm_json_read_number(json_array_get(list, i), &to[i])) return 0;
  return count;
}

static void take_profile(const json_t *one, idm_identification *id)
{
  const json_t *regions = json_object_get(one, "profile_regions");
  const json_t *curve = json_object_get(one, "profile");
  double ends[2];
  if (take_numbers(json_object_get(one, "profile_interval"), ends, 2) == 2) {
    id->low = ends[0];
    id->high = ends[1];
  }
  while (id->regions < IDM_MAX_REGIONS &&
         take_numbers(json_array_get(regions, id->regions), id->region[id->regions], 2) == 2)
    id->regions++;
  id->points = take_numbers(json_object_get(curve, "value"), id->value, IDM_PROFILE_POINTS);
  if (take_numbers(json_object_get(curve, "drop"), id->drop, IDM_PROFILE_POINTS) != id->points)
    id->points = 0;
}

/* Read the identification of each free number, as far as tables and figures show it. Entries of an
 * unexpected form are ignored. */
static idm_status take_identification(const json_t *object, const idm_posterior *p,
                                      idm_assessment *a, idm_error *opt_error)
{
  idm_identification *list = calloc(p->quantity.count + 1, sizeof *list);
  if (!list) return idm_fail_memory(opt_error);
  free(a->parameter);
  a->parameter = list;
  a->parameters = 0;
  for (size_t i = 0; i < p->quantity.count; i++) {
    const json_t *one = json_object_get(object, p->quantity.name[i]);
    idm_identification *id = &list[a->parameters];
    if (!idm_json_read_number(json_object_get(one, "contraction"), &id->contraction)) continue;
    id->quantity = i;
    id->maximum = NAN;
    (void)idm_json_read_number(json_object_get(one, "maximum_likelihood"), &id->maximum);
    take_profile(one, id);
    a->parameters++;
  }
  return IDM_OK;
}

idm_status idm_summary_read(const char *path, const idm_posterior *posterior,
                            idm_assessment *assessment, idm_error *opt_error)
{
  idm_require(path, posterior, assessment);
  const idm_location location = idm_location_of(path);
  return idm_summary_read_at(&location, posterior, assessment, opt_error);
}

idm_status idm_summary_read_at(const idm_location *location, const idm_posterior *posterior,
                               idm_assessment *assessment, idm_error *opt_error)
{
  const char *path = location->path;
  char *text = NULL;
  size_t length = 0;
  idm_status status = idm_file_read_at(location, max_bytes, &text, &length, opt_error);
  if (status != IDM_OK) return status;
  json_t *object = NULL;
  status = idm_json_load(text, length, path, &object, opt_error);
  free(text);
  if (status != IDM_OK) return status;
  const json_t *verdict = json_object_get(object, "verdict");
  const json_t *trusted = json_object_get(verdict, "trusted");
  const json_t *failures = json_object_get(verdict, "failures");
  const json_t *misfits = json_object_get(verdict, "misfits");
  const json_t *remarks = json_object_get(verdict, "remarks");
  if ((!json_is_boolean(trusted) && !json_is_null(trusted)) || !are_texts(failures) ||
      !are_texts(misfits) || !are_texts(remarks)) {
    status = idm_fail_at(opt_error, path, 0, 0,
                         "has no verdict; expected trusted, and lists of texts under "
                         "verdict.failures, verdict.misfits and verdict.remarks");
  } else if ((status = check_identity(path, object, posterior, opt_error)) == IDM_OK) {
    /* The draws were assessed before they were written, so their failures are in this list. */
    if (json_array_size(failures)) take_texts(failures, &assessment->failures);
    take_texts(misfits, &assessment->misfits);
    take_texts(remarks, &assessment->remarks);
    idm_checks_read(json_object_get(object, "checks"), &assessment->checks);
    /* Audits of agents within groups by earlier versions only have the test against chance. */
    assessment->model.evaluated =
        json_is_object(json_object_get(object, "model")) &&
        (!json_is_true(json_object_get(object, "people")) ||
         assessment->checks.of[IDM_CHECK_STEPS].outcome >= IDM_CHECK_PASSED);
    assessment->trusted = assessment->trusted && !json_is_false(trusted);
    if (assessment->trusted) idm_assessment_conclude(assessment);
    status = take_identification(json_object_get(object, "identification"), posterior, assessment,
                                 opt_error);
    if (status == IDM_OK) status = idm_people_read(object, posterior, assessment, opt_error);
    if (status == IDM_OK)
      status =
          idm_optimality_read(object, &posterior->coordinate, &assessment->optimality, opt_error);
    if (status == IDM_OK)
      status = idm_likelihood_optimality_read(object, &assessment->matched, opt_error);
  }
  json_decref(object);
  return status;
}
