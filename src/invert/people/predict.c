/* Predicts the decisions of people, each by their own draws. */
#include "invert/predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/system.h"
#include "base/text.h"
#include "data/log.h"
#include "infer/distribution.h"
#include "invert/parameters.h"
#include "invert/people/people.h"

/* --- one person ----------------------------------------------------------------------------- */

/* Find the series of an item by name, along `person`. IDM_INPUT if the people do not have exactly
 * one number for it. */
static idm_status find_series(const idm_posterior *p, const idm_parameters *parameters,
                              const parameter *item, const idm_series **ret_series,
                              idm_error *opt_error)
{
  char name[IDM_ENTRY_SIZE + 200];
  const size_t axis = idm_posterior_axis(p, "person");
  size_t axis_series = 0;
  *ret_series = NULL;
  idm_parameter_name(parameters, item, name, sizeof name);
  for (size_t i = 0; i < p->series_count; i++) {
    axis_series += p->series[i].axis == axis;
    if (p->series[i].axis == axis && strcmp(p->series[i].name, name) == 0)
      *ret_series = &p->series[i];
  }
  if (*ret_series && idm_parameter_is_scalar(item) && axis_series == parameters->items)
    return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "these people do not have one number '%.60s' each: it varies within people, or "
                  "it is a distribution; see `idm summary RUN`",
                  name);
}

static idm_status fill_person(const idm_posterior *p, const idm_parameters *parameters,
                              size_t person, idm_posterior *own, idm_error *opt_error)
{
  const size_t all = p->chains * p->draws;
  const size_t d = parameters->dimension;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < parameters->items && status == IDM_OK; i++) {
    const parameter *item = &parameters->item[i];
    const idm_series *series;
    status = find_series(p, parameters, item, &series, opt_error);
    for (size_t k = 0; k < all && status == IDM_OK; k++)
      own->unconstrained[item->first * all + k] =
          idm_unconstrain(item->lower, item->upper, p->value[(series->first + person) * all + k]);
  }
  double *y = idm_new(d, sizeof *y);
  double *number = idm_new(parameters->numbers, sizeof *number);
  if (status == IDM_OK && (!y || !number)) status = idm_fail_memory(opt_error);
  for (size_t k = 0; k < all && status == IDM_OK; k++) {
    for (size_t i = 0; i < d; i++) y[i] = own->unconstrained[i * all + k];
    idm_parameters_report(parameters, y, number);
    for (size_t i = 0; i < parameters->numbers; i++) own->value[i * all + k] = number[i];
  }
  free(y);
  free(number);
  return status;
}

static idm_status make_person(const idm_posterior *p, const idm_parameters *parameters,
                              size_t person, idm_posterior *own, idm_error *opt_error)
{
  const size_t all = p->chains * p->draws;
  own->answer = p->answer;
  memcpy(own->inverse, p->inverse, sizeof own->inverse);
  memcpy(own->sampler, p->sampler, sizeof own->sampler);
  own->seed = p->seed;
  own->resolution = p->resolution;
  own->warmup = p->warmup;
  own->chains = p->chains;
  own->draws = p->draws;
  own->value = idm_new(idm_times(parameters->numbers, all), sizeof *own->value);
  own->unconstrained = idm_new(idm_times(parameters->dimension, all), sizeof *own->unconstrained);
  own->statistics = idm_duplicate(p->statistics, all, sizeof *own->statistics);
  own->summarised =
      idm_duplicate(parameters->summarised, parameters->quantity.count, sizeof *own->summarised);
  if (!own->value || !own->unconstrained || !own->statistics || !own->summarised)
    return idm_fail_memory(opt_error);
  idm_status status = idm_labels_copy(&parameters->quantity, &own->quantity, opt_error);
  if (status == IDM_OK)
    status = idm_labels_copy(&parameters->coordinate, &own->coordinate, opt_error);
  return status == IDM_OK ? fill_person(p, parameters, person, own, opt_error) : status;
}

idm_status idm_posterior_person(const idm_problem *problem, const idm_posterior *posterior,
                                size_t person, idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_require(problem, posterior, ret_posterior);
  *ret_posterior = NULL;
  const size_t axis = idm_posterior_axis(posterior, "person");
  if (axis == posterior->axes || person >= posterior->axis[axis].label.count)
    return idm_fail(opt_error, IDM_USAGE, "the answer has no person %zu", person);
  idm_parameters *parameters = NULL;
  idm_posterior *own = idm_new(1, sizeof *own);
  idm_status status =
      own ? idm_parameters_create(problem, &parameters, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = make_person(posterior, parameters, person, own, opt_error);
  idm_parameters_destroy(parameters);
  if (status == IDM_OK)
    *ret_posterior = own;
  else
    idm_posterior_destroy(own);
  return status;
}

/* --- all people ------------------------------------------------------------------------------ */

typedef struct prediction_task {
  const idm_problem *problem;
  const idm_posterior *posterior;
  const idm_data *data;
  idm_person_map person_map;
  size_t *axis_index; /* [person of the log]: index along the axis */
  idm_score *score;   /* [person] */
  idm_status *status;
  idm_error *error;
  double *log_likelihood; /* [trajectory] */
} prediction_task;

/* Copy the file name of an impossible decision from the whole log; that of the subset is freed. */
static void set_file_name(const idm_data *data, idm_score *score)
{
  const char *file = "";
  for (size_t i = 0; score->impossible_line && i < data->file_name.count; i++)
    if (strcmp(data->file_name.name[i], score->impossible_file) == 0)
      file = data->file_name.name[i];
  score->impossible_file = file;
}

static idm_status predict_person(const prediction_task *p, size_t person, idm_error *error)
{
  const size_t trajectories = p->data->trajectories;
  uint32_t *trajectory = idm_new(trajectories, sizeof *trajectory);
  double *log_likelihoods = idm_new(trajectories, sizeof *log_likelihoods);
  idm_data *subset = NULL;
  idm_posterior *own = NULL;
  size_t count = 0;
  for (size_t t = 0; trajectory && t < trajectories; t++)
    if (p->person_map.of_trajectory[t] == person) trajectory[count++] = (uint32_t)t;
  idm_status status = trajectory && log_likelihoods
                          ? idm_data_subset(p->data, trajectory, count, &subset, error)
                          : idm_fail_memory(error);
  if (status == IDM_OK)
    status = idm_posterior_person(p->problem, p->posterior, p->axis_index[person], &own, error);
  if (status == IDM_OK)
    status =
        idm_posterior_predict(p->problem, own, subset, log_likelihoods, &p->score[person], error);
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    p->log_likelihood[trajectory[i]] = log_likelihoods[i];
  if (status == IDM_OK) set_file_name(p->data, &p->score[person]);
  idm_posterior_destroy(own);
  idm_data_destroy(subset);
  free(trajectory);
  free(log_likelihoods);
  return status;
}

static void run_person(void *context, size_t person)
{
  const prediction_task *p = context;
  p->status[person] = predict_person(p, person, &p->error[person]);
}

/* Match the people of the log to those of the posterior. IDM_INPUT if one is missing. */
static idm_status match_people(prediction_task *p, const char *by, idm_error *opt_error)
{
  const size_t axis = idm_posterior_axis(p->posterior, "person");
  if (axis == p->posterior->axes) return idm_fail(opt_error, IDM_USAGE, "the answer has no people");
  const idm_labels *label = &p->posterior->axis[axis].label;
  for (size_t i = 0; i < p->person_map.people; i++) {
    const char *name = p->person_map.name.name[i];
    size_t at = 0;
    while (at < label->count && strcmp(label->name[at], name) != 0) at++;
    p->axis_index[i] = at;
    if (at < label->count) continue;
    const char *nearest = idm_suggest(name, (const char *const *)label->name, label->count);
    return idm_fail(opt_error, IDM_INPUT,
                    "the run has no person '%.60s' (by '%.60s');%s%.60s%s leave such rows "
                    "out by --where",
                    name, by, nearest ? " did you mean '" : "", nearest ? nearest : "",
                    nearest ? "'?" : "");
  }
  return IDM_OK;
}

static idm_status sum_scores(const prediction_task *p, idm_score *score, idm_error *opt_error)
{
  for (size_t i = 0; i < p->person_map.people; i++) {
    const idm_score *one = &p->score[i];
    if (p->status[i] != IDM_OK) {
      if (opt_error) *opt_error = p->error[i];
      return p->status[i];
    }
    score->log_likelihood += one->log_likelihood;
    score->brier += one->brier;
    score->decisions += one->decisions;
    score->forced += one->forced;
    score->missed += one->missed;
    score->unrecorded += one->unrecorded;
    if (!one->impossible_line || score->impossible_line) continue;
    score->impossible_line = one->impossible_line;
    score->impossible_file = one->impossible_file;
  }
  return IDM_OK;
}

idm_status idm_people_predict(const idm_problem *problem, const idm_posterior *posterior,
                              const idm_data *data, const char *by, int threads,
                              double *log_likelihood, idm_score *score, idm_error *opt_error)
{
  idm_require(problem, posterior, data, by, log_likelihood, score);
  *score = (idm_score){0};
  prediction_task p = {
      .problem = problem, .posterior = posterior, .data = data, .log_likelihood = log_likelihood};
  idm_status status = idm_person_map_create(problem, data, by, &p.person_map, opt_error);
  if (status != IDM_OK) return status;
  const size_t people = p.person_map.people;
  p.axis_index = idm_new(people, sizeof *p.axis_index);
  p.score = idm_new(people, sizeof *p.score);
  p.status = idm_new(people, sizeof *p.status);
  p.error = idm_new(people, sizeof *p.error);
  if (!p.axis_index || !p.score || !p.status || !p.error) status = idm_fail_memory(opt_error);
  if (status == IDM_OK) status = match_people(&p, by, opt_error);
  if (status == IDM_OK)
    status = idm_parallel(people, threads > 0 ? threads : 1, run_person, NULL, &p, opt_error);
  if (status == IDM_OK) status = sum_scores(&p, score, opt_error);
  free(p.axis_index);
  free(p.score);
  free(p.status);
  free(p.error);
  idm_person_map_clear(&p.person_map);
  return status;
}
