/* summary.json: what a fit found, as one JSON object. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "idm/request.h"
#include "invert/assess/draws.h"
#include "io/file.h"
#include "io/json.h"
#include "io/run/checks.h"
#include "io/run/finding.h"
#include "io/run/joint.h"
#include "io/run/people.h"
#include "io/run/summary.h"

static const size_t most_bytes = (size_t)1 << 28;

/* --- writing -------------------------------------------------------------------------------- */

static void set(json_t **object, const char *key, double value)
{
  idm_json_set(object, key, idm_json_number(value));
}

/* How much of each variance lies between draws of the dynamics. */
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
    json_t *profile = json_object();
    idm_json_set(&profile, "value", idm_json_numbers(id->value, id->points));
    idm_json_set(&profile, "drop", idm_json_numbers(id->drop, id->points));
    idm_json_set(&one, "profile", profile);
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

/* Of a population, without the people. */
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

/* In the unconstrained numbers, which have moments. */
static json_t *independent_look(const idm_posterior *p, const idm_look *look)
{
  json_t *object = json_object();
  idm_json_set(&object, "checked", json_boolean(look->checked));
  idm_json_set(&object, "points", json_integer((json_int_t)look->points));
  set(&object, "effective_points", look->effective);
  idm_json_set(&object, "modes", json_integer((json_int_t)look->modes));
  set(&object, "missed_share", look->missed);
  idm_json_set(&object, "mean", by_coordinate(p, look->mean, look->numbers));
  idm_json_set(&object, "sd", by_coordinate(p, look->sd, look->numbers));
  idm_json_set(&object, "shift_in_sd", by_coordinate(p, look->shift, look->numbers));
  idm_json_set(&object, "shift_error", by_coordinate(p, look->shift_error, look->numbers));
  idm_json_set(&object, "sd_ratio", by_coordinate(p, look->spread, look->numbers));
  idm_json_set(&object, "log_sd_ratio_error", by_coordinate(p, look->spread_error, look->numbers));
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
    idm_json_set(&one, "mean_change_per_unit", by_quantity(p, s->slope));
    idm_json_set(&object, s->name, one);
  }
  return object;
}

static void put_data_part(json_t **object, const idm_posterior *p, const idm_assessment *a)
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

/* The lattice: what it was compared with, and how it was chosen. */
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

/* Numbers that the model could have as well, by name. */
static json_t *extensions_object(const idm_model_check *m)
{
  json_t *object = json_object();
  for (size_t i = 0; i < m->extensions; i++) {
    const idm_extended *e = &m->extension[i];
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

/* The model's half: what it is compared with, and its tests. */
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
    if (!m->test[i].looked) continue;
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
  if (a->look.points) idm_json_set(&object, "independent_look", independent_look(p, &a->look));
  put_data_part(&object, p, a);
  if (a->identified || a->sensitivities) idm_json_set(&object, "sensitivity", sensitivity(p, a));
  if (a->finding) idm_finding_put(&object, &p->coordinate, a->finding);
  if (a->matched) idm_matched_put(&object, a->matched);
  if (a->resolution) idm_json_set(&object, "discretisation", lattice_object(p, a));
  if (a->model.looked) idm_json_set(&object, "model", model_object(p, &a->model));
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

idm_status idm_summary_write(const idm_posterior *posterior, const idm_assessment *assessment,
                             const idm_projection *opt_projection, const char *path,
                             idm_error *opt_error)
{
  idm_require(posterior, assessment, path);
  const idm_place place = idm_place_of(path);
  return idm_summary_write_at(posterior, assessment, opt_projection, &place, opt_error);
}

idm_status idm_summary_write_at(const idm_posterior *posterior, const idm_assessment *assessment,
                                const idm_projection *opt_projection, const idm_place *place,
                                idm_error *opt_error)
{
  json_t *object = summary_object(posterior, assessment, opt_projection);
  char *text = idm_json_dump(object, JSON_INDENT(1));
  if (!text) return idm_fail_memory(opt_error);
  idm_file *file = NULL;
  const idm_status status = idm_file_create_at(place, &file, opt_error);
  if (status == IDM_OK) idm_file_printf(file, "%s\n", text);
  free(text);
  return status == IDM_OK ? idm_file_commit(file, opt_error) : status;
}

/* --- reading -------------------------------------------------------------------------------- */

/* Whether a list is one of texts. */
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

/* Whether a summary speaks of these draws. One without a label is of a posterior that has none. */
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
    return idm_fail_at(
        opt_error, path, 0, 0,
        "speaks of %lld draws a chain, and run.nc holds %zu; `idm fit --resume` goes "
        "on with a run that was stopped",
        (long long)draws, p->draws);
  return IDM_OK;
}

/* As many numbers of a list as there are, at most `most`; none where one is not a number. */
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
  const json_t *profile = json_object_get(one, "profile");
  double ends[2];
  if (take_numbers(json_object_get(one, "profile_interval"), ends, 2) == 2) {
    id->low = ends[0];
    id->high = ends[1];
  }
  while (id->regions < IDM_MOST_REGIONS &&
         take_numbers(json_array_get(regions, id->regions), id->region[id->regions], 2) == 2)
    id->regions++;
  id->points = take_numbers(json_object_get(profile, "value"), id->value, IDM_PROFILE_POINTS);
  if (take_numbers(json_object_get(profile, "drop"), id->drop, IDM_PROFILE_POINTS) != id->points)
    id->points = 0;
}

/* What the data said of each free number, as far as a table or a figure shows it. What is not as it
 * was written is passed over. */
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
  const idm_place place = idm_place_of(path);
  return idm_summary_read_at(&place, posterior, assessment, opt_error);
}

idm_status idm_summary_read_at(const idm_place *place, const idm_posterior *posterior,
                               idm_assessment *assessment, idm_error *opt_error)
{
  const char *path = place->path;
  char *text = NULL;
  size_t length = 0;
  idm_status status = idm_file_read_at(place, most_bytes, &text, &length, opt_error);
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
    /* The draws were judged before they were written: what they fail in is among these. */
    if (json_array_size(failures)) take_texts(failures, &assessment->failures);
    take_texts(misfits, &assessment->misfits);
    take_texts(remarks, &assessment->remarks);
    idm_checks_take(json_object_get(object, "checks"), &assessment->checks);
    /* Audits of agents within groups that earlier versions wrote tested chance alone. */
    assessment->model.looked = json_is_object(json_object_get(object, "model")) &&
                               (!json_is_true(json_object_get(object, "people")) ||
                                assessment->checks.of[IDM_CHECK_STEPS].outcome >= IDM_CHECK_PASSED);
    assessment->trusted = assessment->trusted && !json_is_false(trusted);
    status = take_identification(json_object_get(object, "identification"), posterior, assessment,
                                 opt_error);
    if (status == IDM_OK) status = idm_people_take(object, posterior, assessment, opt_error);
    if (status == IDM_OK)
      status = idm_finding_take(object, &posterior->coordinate, &assessment->finding, opt_error);
    if (status == IDM_OK) status = idm_matched_take(object, &assessment->matched, opt_error);
  }
  json_decref(object);
  return status;
}
