/* Writes and reads people in summary.json: the population, and the parameters and verdict of every
 * person. */
#include "io/run/folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void set(json_t **object, const char *key, double value)
{
  idm_json_set(object, key, idm_json_number(value));
}

json_t *idm_json_diagnosis(const idm_diagnosis *d)
{
  json_t *object = json_object();
  set(&object, "mean", d->mean);
  set(&object, "sd", d->sd);
  set(&object, "mcse_mean", d->mcse_mean);
  set(&object, "mcse_sd", d->mcse_sd);
  set(&object, "q5", d->q05);
  set(&object, "q50", d->q50);
  set(&object, "q95", d->q95);
  set(&object, "ess_bulk", d->ess_bulk);
  set(&object, "ess_tail", d->ess_tail);
  set(&object, "r_hat", d->rhat);
  return object;
}

/* --- the population ------------------------------------------------------------------------- */

static bool is_along(const idm_posterior *p, const idm_series *series, const char *axis)
{
  return strncmp(p->axis[series->axis].name, axis, strlen(axis)) == 0;
}

/* Posterior probability that a quantity is positive. */
static double positive(const idm_posterior *p, size_t quantity)
{
  const size_t all = p->chains * p->draws;
  size_t above = 0;
  for (size_t i = 0; i < all; i++) above += p->value[quantity * all + i] > 0;
  return (double)above / (double)all;
}

/* Object of a series whose numbers may have either sign, by label. */
static json_t *signed_series(const idm_posterior *p, const idm_assessment *a,
                             const idm_series *series)
{
  json_t *object = json_object();
  const idm_labels *label = &p->axis[series->axis].label;
  for (size_t i = 0; i < label->count; i++) {
    json_t *one = idm_json_diagnosis(&a->diagnosis[series->first + i]);
    set(&one, "positive", positive(p, series->first + i));
    idm_json_set(&object, label->name[i], one);
  }
  return object;
}

/* Returns true if a name is `effect`, '_' and `what`. */
static bool is_of_effect(const char *name, const char *effect, const char *what)
{
  const size_t length = strlen(effect);
  return strncmp(name, effect, length) == 0 && name[length] == '_' &&
         strcmp(name + length + 1, what) == 0;
}

/* Object of the coefficients, sd and R2 of one effect. */
static json_t *effect_object(const idm_posterior *p, const idm_assessment *a, const char *effect)
{
  static const char *const numbers[] = {"sd", "r2"};
  json_t *object = json_object();
  for (size_t i = 0; i < p->series_count; i++)
    if (is_of_effect(p->series[i].name, effect, "coefficient"))
      idm_json_set(&object, "coefficient", signed_series(p, a, &p->series[i]));
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < p->quantity.count; i++)
      if (is_of_effect(p->quantity.name[i], effect, numbers[k]))
        idm_json_set(&object, numbers[k], idm_json_diagnosis(&a->diagnosis[i]));
  return object;
}

static json_t *population_object(const idm_posterior *p, const idm_assessment *a)
{
  json_t *object = json_object();
  for (size_t i = 0; i < p->series_count; i++)
    if (is_along(p, &p->series[i], "person"))
      idm_json_set(&object, p->series[i].name, effect_object(p, a, p->series[i].name));
  for (size_t i = 0; i < p->series_count; i++)
    if (is_along(p, &p->series[i], "pair"))
      idm_json_set(&object, "correlation", signed_series(p, a, &p->series[i]));
  return object;
}

/* Returns true if people belong to a population, which has coefficients. */
static bool has_population(const idm_posterior *p)
{
  bool found = false;
  for (size_t i = 0; i < p->series_count; i++)
    found = found || is_along(p, &p->series[i], "coefficient");
  return found;
}

/* --- people --------------------------------------------------------------------------------- */

/* Write the share of an effect that the person's own decisions determine: as shrinkage (1 - own) in
 * a population, otherwise as contraction. */
static void put_own_effect(json_t **object, bool population, double own)
{
  if (population)
    set(object, "shrinkage", 1 - own);
  else
    set(object, "contraction", own);
}

/* `index` is the position along the axis; people who could not be fitted have none. */
static json_t *person_object(const idm_posterior *p, const idm_assessment *a, const idm_person *who,
                             size_t index)
{
  json_t *object = json_object();
  const bool population = has_population(p);
  size_t effect = 0;
  for (size_t i = 0; i < p->series_count; i++) {
    if (who->absent || !is_along(p, &p->series[i], "person")) continue;
    json_t *one = idm_json_diagnosis(&a->diagnosis[p->series[i].first + index]);
    put_own_effect(&one, population, who->own ? who->own[effect++] : NAN);
    idm_json_set(&object, p->series[i].name, one);
  }
  idm_json_set(&object, "trajectories", json_integer((json_int_t)who->trajectories));
  idm_json_set(&object, "decisions", json_integer((json_int_t)who->decisions));
  set(&object, "log_loss", who->log_loss);
  set(&object, "uniform_log_loss", who->uniform_log_loss);
  idm_json_set(&object, "verdict", json_string(idm_person_verdict_name(who->verdict)));
  idm_json_set(&object, "reason", idm_json_text(who->reason));
  return object;
}

void idm_people_put(json_t **object, const idm_posterior *posterior,
                    const idm_assessment *assessment)
{
  if (has_population(posterior))
    idm_json_set(object, "population", population_object(posterior, assessment));
  json_t *people = json_object();
  for (size_t i = 0, at = 0; i < assessment->people; i++) {
    const idm_person *who = &assessment->person[i];
    idm_json_set(&people, assessment->person_name.name[i],
                 person_object(posterior, assessment, who, at));
    at += !who->absent;
  }
  idm_json_set(object, "people", people);
}

/* --- reading -------------------------------------------------------------------------------- */

/* An unknown verdict counts as failed. */
static idm_person_verdict verdict_of(const char *opt_word)
{
  for (int v = 0; opt_word && v < IDM_PERSON_VERDICTS; v++)
    if (strcmp(idm_person_verdict_name((idm_person_verdict)v), opt_word) == 0)
      return (idm_person_verdict)v;
  return IDM_PERSON_FAILED;
}

static void read_effect(const json_t *object, const char *key, double *to)
{
  if (!idm_json_read_number(json_object_get(object, key), to)) *to = NAN;
}

static bool read_person(const json_t *object, const idm_posterior *p, idm_person *who)
{
  const bool population = has_population(p);
  size_t effect = 0;
  who->own = idm_new(p->series_count, sizeof *who->own);
  if (!who->own) return false;
  who->absent = true;
  for (size_t i = 0; i < p->series_count; i++) {
    const json_t *one = json_object_get(object, p->series[i].name);
    if (!is_along(p, &p->series[i], "person")) continue;
    if (one) who->absent = false;
    read_effect(one, population ? "shrinkage" : "contraction", &who->own[effect]);
    if (population) who->own[effect] = 1 - who->own[effect];
    effect++;
  }
  who->trajectories = (size_t)json_integer_value(json_object_get(object, "trajectories"));
  who->decisions = (uint64_t)json_integer_value(json_object_get(object, "decisions"));
  read_effect(object, "log_loss", &who->log_loss);
  read_effect(object, "uniform_log_loss", &who->uniform_log_loss);
  who->verdict = verdict_of(json_string_value(json_object_get(object, "verdict")));
  const char *reason = json_string_value(json_object_get(object, "reason"));
  snprintf(who->reason, sizeof who->reason, "%s", reason ? reason : "");
  return true;
}

/* Returns true if the people who were fitted are those along the axis, in that order. */
static bool are_along(const idm_posterior *p, const idm_assessment *a)
{
  const size_t axis = idm_posterior_axis(p, "person");
  if (axis == p->axes) return false;
  const idm_labels *label = &p->axis[axis].label;
  size_t at = 0;
  for (size_t i = 0; i < a->people; i++) {
    if (a->person[i].absent) continue;
    if (at == label->count || strcmp(label->name[at], a->person_name.name[i]) != 0) return false;
    at++;
  }
  return at == label->count;
}

idm_status idm_people_read(const json_t *object, const idm_posterior *posterior, idm_assessment *a,
                           idm_error *opt_error)
{
  json_t *people = json_object_get(object, "people");
  const size_t count = json_object_size(people);
  const char *name;
  json_t *one;
  if (!posterior->series_count || !count) return IDM_OK;
  a->fitted_separately = !has_population(posterior);
  a->person = idm_new(count, sizeof *a->person);
  if (!a->person) return idm_fail_memory(opt_error);
  idm_status status = idm_labels_create(&a->person_name, count, opt_error);
  json_object_foreach(people, name, one)
  {
    if (status != IDM_OK) break;
    status = read_person(one, posterior, &a->person[a->people])
                 ? idm_labels_set(&a->person_name, a->people++, name, strlen(name), opt_error)
                 : idm_fail_memory(opt_error);
  }
  if (status == IDM_OK && !are_along(posterior, a))
    status = idm_fail(opt_error, IDM_INPUT,
                      "summary.json and run.nc have different people; they do not belong together");
  return status;
}
