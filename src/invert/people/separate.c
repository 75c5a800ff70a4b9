/* Fits people separately, in parallel, with a verdict per person and tests over all people.
 *
 * Contents: one person · all people · checkpoints · results · verdicts */
#include "invert/people/people.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/record.h"
#include "base/statistics.h"
#include "base/system.h"
#include "data/log.h"
#include "infer/distribution.h"
#include "invert/assess.h"
#include "invert/assess/context.h"
#include "invert/assess/extension.h"
#include "invert/parameters.h"
#include "invert/posterior.h"
#include "invert/predict.h"

typedef struct individual_fits {
  const idm_problem *problem;
  const idm_data *data;
  const idm_inverse *inverse;
  idm_fit_settings settings; /* of one person */
  const idm_fit_monitor *opt_monitor;
  idm_parameters *parameters;
  idm_person_map person_map;
  idm_person *person;    /* [person] */
  double **draws;        /* [person]: [number][chain][draw]; NULL without draws */
  size_t *draw_count;    /* [person]: draws per chain */
  pool *pool;            /* [person]: scores of extensions; none for a point estimate */
  atomic_bool *finished; /* [person]: fitted, or failed permanently */
  atomic_bool sampler_claimed, sampler_set; /* the sampler's name: claimed, and set */
  char sampler[32];                         /* of the first person fitted; the same for all */
  atomic_size_t done;
  atomic_bool stop;
  atomic_bool out_of_memory; /* an allocation failed */
  pthread_mutex_t mutex;     /* protects the following members */
  idm_checks checks;         /* worst result of each check over people */
  double fit_seconds;        /* seconds of all fits, over people and threads */
  double check_seconds;      /* seconds of all checks */
} individual_fits;

/* --- one person ----------------------------------------------------------------------------- */

/* Progress callback of one person; returns whether to stop. */
static bool is_stopped(void *context, const idm_progress_state *work)
{
  (void)work;
  individual_fits *e = context;
  return atomic_load(&e->stop);
}

static idm_status select_data(const individual_fits *e, size_t person, idm_data **ret_data,
                              idm_error *error)
{
  uint32_t *trajectory = idm_new(e->data->trajectories, sizeof *trajectory);
  size_t count = 0;
  if (!trajectory) return idm_fail_memory(error);
  for (size_t t = 0; t < e->data->trajectories; t++)
    if (e->person_map.of_trajectory[t] == person) trajectory[count++] = (uint32_t)t;
  const idm_status status = idm_data_subset(e->data, trajectory, count, ret_data, error);
  free(trajectory);
  return status;
}

/* Number of reported numbers of a person: scaled free numbers, and entries of distributions. */
static size_t count_numbers(const idm_parameters *parameters)
{
  size_t count = 0;
  for (size_t i = 0; i < parameters->items; i++)
    count += idm_parameter_is_scalar(&parameters->item[i]) ? 1 : parameters->item[i].size;
  return count;
}

/* Store the draws of a posterior as draws[number][chain][draw]. Returns false if out of memory. */
static bool store_draws(individual_fits *e, size_t person, const idm_posterior *p)
{
  const size_t all = p->chains * p->draws;
  const size_t dimension = e->parameters->dimension;
  double *output = e->draws[person] =
      idm_new(idm_times(count_numbers(e->parameters), all), sizeof *output);
  double *y = idm_new(dimension, sizeof *y);
  e->draw_count[person] = p->draws;
  for (size_t i = 0; output && y && i < e->parameters->items; i++) {
    const parameter *item = &e->parameters->item[i];
    const size_t size = idm_parameter_is_scalar(item) ? 1 : item->size;
    for (size_t k = 0; k < all; k++) {
      y[item->first] = p->unconstrained[item->first * all + k];
      if (idm_parameter_is_scalar(item)) output[k] = idm_parameter_coordinate(item, y, NULL);
    }
    if (!idm_parameter_is_scalar(item))
      memcpy(output, p->value + item->quantity * all, size * all * sizeof *output);
    output += size * all;
  }
  free(y);
  return e->draws[person] && y;
}

/* 1 - posterior variance / prior variance of every number; NaN if the prior has none. */
static void measure_contraction(const individual_fits *e, size_t person, size_t chains)
{
  const size_t all = chains * e->draw_count[person];
  size_t at = 0;
  for (size_t i = 0; i < e->parameters->items; i++) {
    const parameter *item = &e->parameters->item[i];
    const bool scalar = idm_parameter_is_scalar(item);
    const double sd = scalar ? idm_prior_sd(item->prior) : NAN;
    for (size_t k = 0; k < (scalar ? 1 : item->size); k++, at++)
      e->person[person].own[at] = 1 - idm_moments_of(e->draws[person] + at * all, all).variance /
                                          (isfinite(sd) ? sd * sd : NAN);
  }
}

static void set_verdict(idm_person *one, idm_person_verdict verdict, const char *reason)
{
  one->verdict = verdict;
  snprintf(one->reason, sizeof one->reason, "%s", reason);
}

/* Largest contraction of a person's numbers; 1 if a prior has no variance. */
static double max_contraction(const individual_fits *e, const idm_person *one)
{
  double maximum = -INFINITY;
  for (size_t i = 0; i < count_numbers(e->parameters); i++)
    maximum = fmax(maximum, isnan(one->own[i]) ? 1 : one->own[i]);
  return maximum;
}

/* Whether the posterior of a number has no finite mean. */
static bool lacks_mean(const idm_assessment *a, size_t quantity)
{
  return a->diagnosis[quantity].tail >= idm_check_threshold(IDM_CHECK_MEAN);
}

/* Whether only this check fails, and only for numbers that are reported by their logarithms. */
static bool only_mean_fails(const individual_fits *e, const idm_assessment *a)
{
  size_t lacking = 0, logarithmic = 0;
  for (int id = 0; id < IDM_CHECK_COUNT; id++)
    if ((a->checks.of[id].outcome == IDM_CHECK_FAILED) != (id == IDM_CHECK_MEAN)) return false;
  for (size_t i = 0; i < a->quantities; i++) lacking += lacks_mean(a, i);
  for (size_t i = 0; i < e->parameters->items; i++) {
    const parameter *item = &e->parameters->item[i];
    logarithmic += idm_parameter_is_scalar(item) && item->scale == IDM_SCALE_LOG &&
                   lacks_mean(a, idm_parameter_reported(item));
  }
  return lacking == logarithmic;
}

/* Numbers are reported on their scales: a missing mean of alpha does not fail log_alpha, unless the
 * sd of log_alpha depends on few draws too and importance sampling does not confirm it. */
static idm_status downgrade_mean_check(const individual_fits *e, size_t person,
                                       const idm_posterior *p, idm_assessment *a, idm_error *error)
{
  const size_t all = p->chains * p->draws;
  const double *draws = e->draws[person];
  idm_status status = IDM_OK;
  if (!only_mean_fails(e, a)) return IDM_OK;
  idm_notes_clear(&a->failures);
  for (size_t i = 0; i < e->parameters->items && status == IDM_OK; i++) {
    const parameter *item = &e->parameters->item[i];
    const bool scalar = idm_parameter_is_scalar(item);
    char name[128], spoken[128];
    double shape = NAN;
    if (scalar && !a->importance.checked && lacks_mean(a, idm_parameter_reported(item)))
      status = idm_draws_shape(draws, all, &shape, error);
    if (shape > idm_check_threshold(IDM_CHECK_SD))
      idm_notes_add(&a->failures,
                    "the sd of %s depends on few extreme draws (Pareto k %.2f), and an "
                    "importance sample is too uncertain to confirm it; use a narrower prior",
                    idm_quantity_label(idm_parameter_name(e->parameters, item, name, sizeof name),
                                       spoken, sizeof spoken),
                    shape);
    draws += (scalar ? 1 : item->size) * all;
  }
  if (!a->failures.count) a->checks.of[IDM_CHECK_MEAN].outcome = IDM_CHECK_REMARK;
  return status;
}

/* Whether the decisions contradict the model as random decisions do. */
static bool is_chance_level(const idm_checks *checks)
{
  return checks->of[IDM_CHECK_CHANCE].outcome == IDM_CHECK_MISFIT ||
         checks->of[IDM_CHECK_BEHAVIOR].outcome == IDM_CHECK_MISFIT;
}

/* Set the verdict by the most severe reason. */
static void classify_person(const individual_fits *e, idm_person *one, const idm_assessment *a)
{
  if (a->failures.count)
    set_verdict(one, IDM_PERSON_FAILED, a->failures.text[0]);
  else if (is_chance_level(&a->checks))
    set_verdict(one, IDM_PERSON_CHANCE, "predicted no better than by chance");
  else if (a->misfits.count)
    set_verdict(one, IDM_PERSON_MISFIT, a->misfits.text[0]);
  else if (!idm_check_passes(IDM_CHECK_CONTRACTION, max_contraction(e, one)))
    set_verdict(one, IDM_PERSON_PRIOR_DRIVEN,
                "the prior has more information on this person than the decisions");
  else if (idm_checks_left_out(&a->checks))
    set_verdict(one, IDM_PERSON_UNCHECKED, "checks were left out");
  else
    set_verdict(one, a->answer == IDM_POINT ? IDM_PERSON_POINT : IDM_PERSON_IDENTIFIED, "");
}

/* Merge a person's checks, once or repeatedly. A misfit for one person does not reject the model:
 * see test_misfit_counts. */
static void record_person(individual_fits *e, const idm_person *one, const idm_assessment *a)
{
  pthread_mutex_lock(&e->mutex);
  idm_checks_merge(&e->checks, &a->checks, IDM_CHECK_REMARK);
  if (a->answer == IDM_POSTERIOR)
    idm_check_test(&e->checks, IDM_CHECK_CONTRACTION, max_contraction(e, one));
  pthread_mutex_unlock(&e->mutex);
}

/* Time limit of the checks of a person whose fit took `fitted` seconds: the unused check time of
 * all fits so far, or `fitted`, whichever is larger. */
static double person_check_seconds(individual_fits *e, double fitted)
{
  pthread_mutex_lock(&e->mutex);
  e->fit_seconds += fitted;
  const double all = idm_check_effort_seconds(e->settings.checks, e->fit_seconds);
  const double share = all > 0 ? fmax(all - e->check_seconds, fitted) : all;
  pthread_mutex_unlock(&e->mutex);
  return share;
}

/* Assess the draws of a person whose fit took `fitted` seconds. */
static idm_status check_person(individual_fits *e, const idm_data *own_data, double fitted,
                               const idm_fit_monitor *monitor, const idm_posterior *posterior,
                               idm_assessment **assessment, idm_error *error)
{
  idm_fit_monitor limited = *monitor;
  const idm_timestamp began = idm_timestamp_now();
  limited.check_seconds = person_check_seconds(e, fitted);
  const idm_status status =
      idm_assess_monitored(e->problem, own_data, posterior, 1, &limited, assessment, error);
  pthread_mutex_lock(&e->mutex);
  e->check_seconds += idm_seconds_worked(began);
  pthread_mutex_unlock(&e->mutex);
  return status;
}

/* Sample and assess a person; sample again with more steps if the draws are too uncertain. */
static idm_status draw_person(individual_fits *e, const idm_data *own_data,
                              const idm_fit_monitor *monitor, idm_posterior **posterior,
                              idm_projection *projection, idm_assessment **assessment,
                              idm_error *error)
{
  idm_fit_settings settings = e->settings;
  idm_status status = IDM_OK;
  do {
    idm_assessment_destroy(*assessment);
    idm_posterior_destroy(*posterior);
    *assessment = NULL;
    const idm_timestamp began = idm_timestamp_now();
    status = idm_project(e->problem, own_data, e->inverse, &settings, monitor, posterior,
                         projection, NULL, error);
    if (status == IDM_OK && (*posterior)->answer == IDM_POSTERIOR &&
        (*posterior)->draws < (size_t)settings.draws)
      status = idm_fail(error, IDM_UNTRUSTED, "interrupted");
    if (status == IDM_OK)
      status = check_person(e, own_data, idm_seconds_worked(began), monitor, *posterior, assessment,
                            error);
    settings.again =
        status == IDM_OK ? idm_assess_redraw_thin(&e->settings, *posterior, *assessment) : 0;
  } while (settings.again);
  return status;
}

static idm_status fit_person(individual_fits *e, size_t person, idm_error *error)
{
  idm_data *own_data = NULL;
  idm_posterior *posterior = NULL;
  idm_assessment *assessment = NULL;
  idm_projection projection = {0};
  idm_person *one = &e->person[person];
  const idm_fit_monitor monitor = {.progress = is_stopped, .context = e};
  one->own = idm_new(count_numbers(e->parameters), sizeof *one->own);
  idm_status status = one->own ? select_data(e, person, &own_data, error) : idm_fail_memory(error);
  if (status == IDM_OK && !one->decisions)
    status =
        idm_fail(error, IDM_INPUT, "there are no decisions: no row has an action out of several");
  if (status == IDM_OK)
    status = draw_person(e, own_data, &monitor, &posterior, &projection, &assessment, error);
  /* Scores are pooled only if no check of any person was left out. */
  if (status == IDM_OK && posterior->answer == IDM_POSTERIOR && !posterior->coordinate_size &&
      !idm_checks_left_out(&assessment->checks))
    status = idm_pool_open(&e->pool[person], e->problem, own_data, posterior, &monitor, error);
  if (status == IDM_OK && !store_draws(e, person, posterior)) status = idm_fail_memory(error);
  if (status == IDM_OK) status = downgrade_mean_check(e, person, posterior, assessment, error);
  if (status == IDM_OK && !atomic_exchange(&e->sampler_claimed, true)) {
    memcpy(e->sampler, posterior->sampler, sizeof e->sampler);
    atomic_store(&e->sampler_set, true);
  }
  if (status == IDM_OK) {
    one->log_loss = projection.log_loss;
    one->unchecked = posterior->answer == IDM_POSTERIOR && !assessment->importance.checked &&
                     !idm_check_is_left_out(&assessment->checks, IDM_CHECK_IMPORTANCE);
    measure_contraction(e, person, posterior->chains);
    classify_person(e, one, assessment);
    record_person(e, one, assessment);
  }
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  idm_data_destroy(own_data);
  return status;
}

/* --- all people ------------------------------------------------------------------------------ */

static void run_person(void *context, size_t person)
{
  individual_fits *e = context;
  idm_person *one = &e->person[person];
  idm_error error = {0};
  char text[sizeof one->reason];
  if (atomic_load(&e->finished[person])) return;
  idm_status status = atomic_load(&e->stop)
                          ? idm_fail(&error, IDM_UNTRUSTED, "interrupted before it began")
                          : fit_person(e, person, &error);
  if (status != IDM_OK) {
    if (status == IDM_MEMORY) atomic_store(&e->out_of_memory, true);
    one->absent = true;
    one->log_loss = NAN;
    set_verdict(one, IDM_PERSON_FAILED, idm_error_text(&error, text, sizeof text));
  }
  if (status != IDM_UNTRUSTED && status != IDM_MEMORY && status != IDM_SYSTEM)
    atomic_store(&e->finished[person], true);
  atomic_fetch_add(&e->done, 1);
}

/* --- checkpoints ---------------------------------------------------------------------------- */

static const char kind[] = "idmech7";

/* Transfer a finished person: the verdict, and the draws. Returns whether they match. */
static bool transfer_person(individual_fits *e, size_t person, idm_record *r)
{
  idm_person *one = &e->person[person];
  const size_t numbers = count_numbers(e->parameters);
  const bool point = e->inverse->answer == IDM_POINT;
  if (!one->own) one->own = idm_new(numbers, sizeof *one->own);
  if (!one->own) return false;
  idm_record_transfer_flag(r, &one->absent);
  idm_record_transfer_flag(r, &one->unchecked);
  uint32_t verdict = one->verdict;
  idm_record_transfer(r, &verdict, sizeof verdict);
  if (verdict >= IDM_PERSON_VERDICTS) return false;
  one->verdict = (idm_person_verdict)verdict;
  idm_record_transfer(r, one->reason, sizeof one->reason);
  one->reason[sizeof one->reason - 1] = '\0';
  idm_record_transfer(r, &one->log_loss, sizeof one->log_loss);
  idm_record_transfer(r, one->own, numbers * sizeof *one->own);
  if (one->absent || r->truncated) return true;
  const size_t chains = point ? 1 : e->settings.chains;
  idm_record_transfer(r, &e->draw_count[person], sizeof e->draw_count[person]);
  if (!point && e->draw_count[person] != (size_t)e->settings.draws) return false;
  const size_t count = idm_times(numbers, chains * e->draw_count[person]);
  if (!e->draws[person]) e->draws[person] = idm_new(count, sizeof(double));
  if (!e->draws[person]) return false;
  idm_record_transfer(r, e->draws[person], count * sizeof(double));
  return idm_pool_pass(&e->pool[person], r);
}

/* Validate check results read from a file. */
static bool valid_results(const idm_checks *checks)
{
  bool valid = checks->kind == IDM_CHECK_SEPARATE;
  for (int id = 0; id < IDM_CHECK_COUNT; id++) {
    const idm_check_result *result = &checks->of[id];
    valid = valid && (unsigned)result->outcome < IDM_CHECK_OUTCOMES &&
            memchr(result->why, '\0', sizeof result->why);
  }
  return valid;
}

/* Transfer all finished people. Returns whether they match. */
static bool transfer_all(individual_fits *e, idm_record *r)
{
  bool valid = idm_record_match(r, e->person_map.people);
  valid = idm_record_match(r, count_numbers(e->parameters)) && valid;
  for (size_t i = 0; i < e->person_map.people && valid && !r->truncated; i++) {
    bool finished = atomic_load(&e->finished[i]);
    idm_record_transfer_flag(r, &finished);
    if (finished && !r->truncated) valid = transfer_person(e, i, r);
    if (!r->reading || !finished) continue;
    atomic_store(&e->finished[i], true);
    atomic_fetch_add(&e->done, 1);
  }
  pthread_mutex_lock(&e->mutex);
  idm_record_transfer(r, &e->checks, sizeof e->checks);
  valid = valid && valid_results(&e->checks);
  pthread_mutex_unlock(&e->mutex);
  bool sampler_set = atomic_load(&e->sampler_set);
  idm_record_transfer_flag(r, &sampler_set);
  if (sampler_set) idm_record_transfer(r, e->sampler, sizeof e->sampler);
  if (r->reading && sampler_set) {
    e->sampler[sizeof e->sampler - 1] = '\0';
    atomic_store(&e->sampler_claimed, true);
    atomic_store(&e->sampler_set, true);
  }
  return valid;
}

static idm_status load(individual_fits *e, idm_error *opt_error)
{
  const idm_fit_monitor *monitor = e->opt_monitor;
  idm_record r;
  idm_status status = idm_record_resume(&r, kind, monitor, opt_error);
  if (status == IDM_OK) status = idm_record_close(&r, transfer_all(e, &r), opt_error);
  return idm_record_name_file(monitor, status, opt_error);
}

/* Progress of all fits. */
typedef struct progress {
  size_t done;
  size_t people;
  individual_fits *e;
} progress;

static idm_status save(const void *content, char **ret_bytes, size_t *ret_length,
                       idm_error *opt_error)
{
  individual_fits *e = ((const progress *)content)->e;
  idm_record r;
  idm_record_begin(&r, kind, e->opt_monitor->label);
  transfer_all(e, &r);
  return idm_record_finish(&r, ret_bytes, ret_length, opt_error);
}

static void describe(const void *content, char *buffer, size_t size)
{
  const progress *p = content;
  snprintf(buffer, size, "%zu of %zu people", p->done, p->people);
}

static void monitor(void *context)
{
  individual_fits *e = context;
  if (!e->opt_monitor || !e->opt_monitor->progress) return;
  const progress now = {atomic_load(&e->done), e->person_map.people, e};
  const idm_progress_state work = {.done = (double)now.done / (double)now.people,
                                   .content = &now,
                                   .describe = describe,
                                   .save = save};
  if (e->opt_monitor->progress(e->opt_monitor->context, &work)) atomic_store(&e->stop, true);
}

/* --- results --------------------------------------------------------------------------------- */

static idm_status name_people(const individual_fits *e, idm_labels *ret_names, idm_error *opt_error)
{
  size_t count = 0;
  for (size_t i = 0; i < e->person_map.people; i++) count += !e->person[i].absent;
  idm_status status = idm_labels_create(ret_names, count, opt_error);
  for (size_t i = 0, at = 0; i < e->person_map.people && status == IDM_OK; i++)
    if (!e->person[i].absent)
      status = idm_labels_set(ret_names, at++, e->person_map.name.name[i],
                              strlen(e->person_map.name.name[i]), opt_error);
  return status;
}

/* Name of a number: "log_alpha", or the entry of a distribution. */
static void name_number(const individual_fits *e, size_t number, char *name, size_t size)
{
  size_t at = 0;
  for (size_t i = 0; i < e->parameters->items; i++) {
    const parameter *item = &e->parameters->item[i];
    const size_t count = idm_parameter_is_scalar(item) ? 1 : item->size;
    if (number < at + count) {
      if (idm_parameter_is_scalar(item))
        idm_parameter_name(e->parameters, item, name, size);
      else
        snprintf(name, size, "%s", e->parameters->quantity.name[item->quantity + number - at]);
      return;
    }
    at += count;
  }
}

/* Copy the draws of all people into the posterior. */
static idm_status put_draws(const individual_fits *e, idm_posterior *p, idm_error *opt_error)
{
  const size_t numbers = count_numbers(e->parameters);
  const size_t people = p->axis[0].label.count;
  const size_t all = p->chains * p->draws;
  idm_status status = IDM_OK;
  for (size_t n = 0; n < numbers && status == IDM_OK; n++) {
    char name[2 * IDM_ENTRY_SIZE];
    double *output = p->value + n * people * all;
    name_number(e, n, name, sizeof name);
    status = idm_posterior_add_series(p, name, 0, n * people, opt_error);
    for (size_t i = 0; i < e->person_map.people; i++) {
      if (e->person[i].absent) continue;
      memcpy(output, e->draws[i] + n * all, all * sizeof *output);
      output += all;
    }
  }
  return status;
}

static idm_status make_posterior(const individual_fits *e, idm_posterior *p, idm_error *opt_error)
{
  const size_t numbers = count_numbers(e->parameters);
  idm_labels names = {0};
  const bool point = e->inverse->answer == IDM_POINT;
  idm_status status = name_people(e, &names, opt_error);
  const size_t quantities = idm_times(numbers, names.count);
  p->answer = e->inverse->answer;
  snprintf(p->inverse, sizeof p->inverse, "%s", e->inverse->name);
  snprintf(p->sampler, sizeof p->sampler, "%s", e->sampler);
  p->seed = e->settings.seed;
  p->warmup = e->settings.warmup;
  p->chains = point ? 1 : e->settings.chains;
  p->draws = point ? 1 : (size_t)e->settings.draws;
  p->summarised = idm_new(quantities, sizeof *p->summarised);
  p->value = idm_new(idm_times(quantities, p->chains * p->draws), sizeof *p->value);
  p->statistics = idm_new(p->chains * p->draws, sizeof *p->statistics);
  for (size_t i = 0; p->statistics && i < p->chains * p->draws; i++)
    p->statistics[i] = (idm_statistics){NAN, NAN, NAN, NAN, -1, -1, false};
  if (status == IDM_OK && (!p->summarised || !p->value || !p->statistics))
    status = idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_labels_create(&p->quantity, quantities, opt_error);
  if (status == IDM_OK) status = idm_posterior_add_axis(p, "person", &names, opt_error);
  if (status == IDM_OK) status = put_draws(e, p, opt_error);
  idm_labels_destroy(&names);
  return status;
}

/* --- verdicts ------------------------------------------------------------------------------- */

static size_t count_verdict(const idm_assessment *a, idm_person_verdict verdict)
{
  size_t count = 0;
  for (size_t i = 0; i < a->people; i++) count += a->person[i].verdict == verdict;
  return count;
}

/* Test whether more people are counted than expected under a correct model, at the check's
 * threshold as rate; one person's result decides alone (1e-9 covers rounding of 1 - 0.99). */
static bool test_count(idm_assessment *a, idm_check_id row, size_t count, size_t fitted)
{
  const double rate = idm_check_threshold(row), p = idm_binomial_tail(fitted, rate, count);
  const bool rejected = count && p <= rate + 1e-9;
  idm_check_record(&a->checks, row, rejected ? IDM_CHECK_MISFIT : IDM_CHECK_PASSED, p);
  return rejected;
}

/* Test the counts of misfits and of people at chance level. Agents drawn from the prior that follow
 * the model are at chance level more often than they are misfits: see chance-evidence. */
static void test_misfit_counts(idm_assessment *a)
{
  const size_t chance = count_verdict(a, IDM_PERSON_CHANCE);
  const size_t misfits = count_verdict(a, IDM_PERSON_MISFIT);
  const size_t fitted = a->people - count_verdict(a, IDM_PERSON_FAILED);
  const bool too_many_misfits = test_count(a, IDM_CHECK_PERSON_MISFITS, misfits, fitted);
  const bool too_many_random = test_count(a, IDM_CHECK_PERSON_GUESSES, chance, fitted);
  if (misfits)
    idm_notes_add(too_many_misfits ? &a->misfits : &a->remarks,
                  "the model does not fit %zu of %zu people, against 1 in 100 expected under a "
                  "correct model; see their reasons",
                  misfits, fitted);
  if (chance)
    idm_notes_add(too_many_random ? &a->misfits : &a->remarks,
                  "%zu of %zu people are predicted no better than by chance, against up to 1 in 20 "
                  "under a correct model: it does not fit them",
                  chance, fitted);
}

/* Test the pooled scores of all people. */
static void test_pooled_scores(const individual_fits *e, idm_assessment *a, const pool *all,
                               size_t people)
{
  const double level = idm_check_threshold(IDM_CHECK_PERSON_EXTENSIONS), p = idm_pool_min_p(all);
  char text[1600];
  if (!all->count || people < 2) {
    idm_check_skip(&a->checks, IDM_CHECK_PERSON_EXTENSIONS,
                   "fewer than two people have scores to pool");
    return;
  }
  idm_check_record(&a->checks, IDM_CHECK_PERSON_EXTENSIONS,
                   p <= level ? IDM_CHECK_MISFIT : IDM_CHECK_PASSED, p);
  if (p > level) return;
  idm_pool_describe(all, e->problem->theta, level, text, sizeof text);
  idm_notes_add(&a->misfits,
                "over all %zu people together the model lacks a parameter that they share "
                "(p <= %.2g): %s. Begin with the first of them, or try another planner",
                people, p, text);
}

/* Pool the scores of people whose draws are trusted. */
static idm_status pool_people(const individual_fits *e, idm_assessment *a, idm_error *opt_error)
{
  pool all = {0};
  size_t people = 0;
  idm_status status = IDM_OK;
  if (idm_checks_left_out(&a->checks)) {
    idm_check_leave_out(&a->checks, IDM_CHECK_PERSON_EXTENSIONS,
                        idm_check_effort_seconds(e->settings.checks, e->fit_seconds));
    return IDM_OK;
  }
  for (size_t i = 0; i < a->people && status == IDM_OK; i++) {
    if (a->person[i].verdict == IDM_PERSON_FAILED || !e->pool[i].count) continue;
    status = idm_pool_add(&all, &e->pool[i], opt_error);
    people++;
  }
  if (status == IDM_OK) test_pooled_scores(e, a, &all, people);
  idm_pool_close(&all);
  return status;
}

/* Note people whose draws were not compared with an importance sample. */
static void remark_unchecked(idm_assessment *a)
{
  size_t unchecked = 0, first = 0;
  for (size_t i = a->people; i-- > 0;)
    if (a->person[i].unchecked) {
      unchecked++;
      first = i;
    }
  if (unchecked)
    idm_notes_add(&a->remarks,
                  "unchecked: the importance samples of the posteriors of %zu of %zu people are "
                  "too uncertain to compare with means and sds of the draws ('%s'%s)",
                  unchecked, a->people, a->person_name.name[first],
                  unchecked > 1 ? " is the first" : "");
}

/* If checks of some people were left out, counts that pass are incomplete. */
static void skip_count_tests(idm_assessment *a, double seconds)
{
  static const idm_check_id rows[] = {IDM_CHECK_PERSON_MISFITS, IDM_CHECK_PERSON_GUESSES};
  if (!idm_checks_left_out(&a->checks)) return;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (a->checks.of[rows[i]].outcome < IDM_CHECK_MISFIT)
      idm_check_leave_out(&a->checks, rows[i], seconds);
}

/* Judge all people. Failures of draws are reported per person. */
static void classify_all(const individual_fits *e, idm_assessment *a)
{
  idm_check_test(&a->checks, IDM_CHECK_PERSON_FITS, (double)count_verdict(a, IDM_PERSON_FAILED));
  const size_t prior_driven = count_verdict(a, IDM_PERSON_PRIOR_DRIVEN);
  idm_notes_clear(&a->failures);
  for (size_t i = 0; i < a->people; i++)
    if (a->person[i].verdict == IDM_PERSON_FAILED)
      idm_notes_add(&a->failures, "'%s' %s: %s", a->person_name.name[i],
                    a->person[i].absent ? "could not be fitted" : "is not trusted",
                    a->person[i].reason);
  test_misfit_counts(a);
  remark_unchecked(a);
  if (prior_driven)
    idm_notes_add(&a->remarks,
                  "the prior has more information than the decisions on %zu of %zu people; `idm "
                  "fit --by` shares information between people",
                  prior_driven, a->people);
  skip_count_tests(a, idm_check_effort_seconds(e->settings.checks, e->fit_seconds));
  idm_assessment_conclude(a);
  idm_checks_remark_left_out(&a->checks, &a->remarks);
}

/* Fit to the log over all people who were fitted. */
static void measure_fit(const individual_fits *e, idm_projection *projection)
{
  *projection = (idm_projection){
      .brier = NAN, .divergence = NAN, .rates_log_loss = NAN, .pseudo_r2_rates = NAN};
  for (size_t i = 0; i < e->person_map.people; i++) {
    const idm_person *one = &e->person[i];
    if (one->absent || !one->decisions) continue;
    projection->decisions += one->decisions;
    projection->log_loss += one->log_loss * (double)one->decisions;
    projection->uniform_log_loss += one->uniform_log_loss * (double)one->decisions;
  }
  const double decisions = projection->decisions ? (double)projection->decisions : NAN;
  projection->log_loss /= decisions;
  projection->uniform_log_loss /= decisions;
  projection->pseudo_r2 = idm_share_explained(projection->log_loss, projection->uniform_log_loss);
}

static idm_status assess(individual_fits *e, const idm_posterior *p,
                         idm_assessment **ret_assessment, idm_error *opt_error)
{
  idm_status status = idm_assess_draws(p, ret_assessment, opt_error);
  if (status != IDM_OK) return status;
  idm_assessment *a = *ret_assessment;
  a->fitted_separately = true;
  idm_checks_merge(&a->checks, &e->checks, IDM_CHECK_REMARK);
  a->people = e->person_map.people;
  a->person = e->person;
  e->person = NULL;
  status = idm_labels_copy(&e->person_map.name, &a->person_name, opt_error);
  if (status == IDM_OK) status = pool_people(e, a, opt_error);
  if (status == IDM_OK) classify_all(e, a);
  return status;
}

static idm_status individual_fits_init(individual_fits *e, const char *by, idm_error *opt_error)
{
  idm_status status = idm_parameters_create(e->problem, &e->parameters, opt_error);
  if (status == IDM_OK)
    status = idm_person_map_create(e->problem, e->data, by, &e->person_map, opt_error);
  if (status != IDM_OK) return status;
  e->person = idm_new(e->person_map.people, sizeof *e->person);
  e->draws = idm_new(e->person_map.people, sizeof *e->draws);
  e->draw_count = idm_new(e->person_map.people, sizeof *e->draw_count);
  e->finished = idm_new(e->person_map.people, sizeof *e->finished);
  e->pool = idm_new(e->person_map.people, sizeof *e->pool);
  if (!e->person || !e->draws || !e->draw_count || !e->finished || !e->pool)
    return idm_fail_memory(opt_error);
  idm_count_decisions(e->data, e->person_map.of_trajectory, e->person_map.people, e->person);
  return IDM_OK;
}

static void individual_fits_clear(individual_fits *e)
{
  for (size_t i = 0; e->draws && i < e->person_map.people; i++) free(e->draws[i]);
  for (size_t i = 0; e->person && i < e->person_map.people; i++) free(e->person[i].own);
  for (size_t i = 0; e->pool && i < e->person_map.people; i++) idm_pool_close(&e->pool[i]);
  free(e->pool);
  free(e->draws);
  free(e->draw_count);
  free(e->finished);
  free(e->person);
  idm_person_map_clear(&e->person_map);
  idm_parameters_destroy(e->parameters);
  pthread_mutex_destroy(&e->mutex);
}

/* IDM_OK if at least one person was fitted. */
static idm_status check_any_fitted(const individual_fits *e, idm_error *opt_error)
{
  if (atomic_load(&e->out_of_memory)) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < e->person_map.people; i++)
    if (!e->person[i].absent) return IDM_OK;
  return idm_fail(opt_error, atomic_load(&e->stop) ? IDM_UNTRUSTED : IDM_INPUT,
                  "none of %zu people could be fitted; the first, '%s': %s", e->person_map.people,
                  e->person_map.name.name[0], e->person[0].reason);
}

idm_status idm_individuals_fit(const idm_problem *problem, const idm_data *data, const char *by,
                               const idm_inverse *inverse, const idm_fit_settings *settings,
                               const idm_fit_monitor *opt_monitor, idm_posterior **ret_posterior,
                               idm_assessment **ret_assessment, idm_projection *projection,
                               idm_error *opt_error)
{
  *ret_posterior = NULL;
  *ret_assessment = NULL;
  individual_fits e = {.problem = problem,
                       .data = data,
                       .inverse = inverse,
                       .settings = *settings,
                       .opt_monitor = opt_monitor};
  e.checks.kind = IDM_CHECK_SEPARATE;
  pthread_mutex_init(&e.mutex, NULL);
  e.settings.threads = 1;
  e.settings.keep = IDM_KEEP_NOTHING;
  e.settings.prior_draws = 0;
  idm_posterior *posterior = idm_new(1, sizeof *posterior);
  idm_status status =
      posterior ? individual_fits_init(&e, by, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK && opt_monitor && opt_monitor->checkpoint) status = load(&e, opt_error);
  if (status == IDM_OK)
    status =
        idm_parallel(e.person_map.people, settings->threads, run_person, monitor, &e, opt_error);
  if (status == IDM_OK) status = check_any_fitted(&e, opt_error);
  if (status == IDM_OK) status = make_posterior(&e, posterior, opt_error);
  if (status == IDM_OK) {
    measure_fit(&e, projection);
    status = assess(&e, posterior, ret_assessment, opt_error);
    for (size_t i = 0; status == IDM_OK && i < e.person_map.people; i++)
      if (!atomic_load(&e.finished[i])) (*ret_assessment)->interrupted = true;
  }
  individual_fits_clear(&e);
  if (status == IDM_OK) {
    *ret_posterior = posterior;
    return IDM_OK;
  }
  idm_assessment_destroy(*ret_assessment);
  *ret_assessment = NULL;
  idm_posterior_destroy(posterior);
  return status;
}
