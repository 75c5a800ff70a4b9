/* Held-out log-likelihood by cross-validation, and its comparison between numbers of states. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/key.h"
#include "base/memory.h"
#include "base/system.h"
#include "learn/learn.h"

/* Cross-validation; each fold of each number of states is an independent task. */
typedef struct validation {
  const idm_problem *problem;
  const idm_data *data;
  const idm_learn_settings *settings;
  const size_t *states; /* [counts] */
  bool own;
  const size_t *fold;     /* [trajectory] */
  double *log_likelihood; /* [count][trajectory]: when it was held out */
  idm_status *status;     /* [count][fold] */
  idm_error *error;       /* [count][fold] */
  atomic_bool stop;
  atomic_size_t done;
  size_t tasks;
  idm_learn_stop opt_stop;
  void *context;
} validation;

/* Whether the learner of a fold should stop. */
static bool is_stopped(void *context, double done)
{
  (void)done;
  return ((const validation *)context)->stop;
}

/* Learn without one fold, and evaluate its log-likelihood. */
static idm_status hold_out(validation *v, size_t count, size_t fold, idm_error *opt_error)
{
  const idm_data *data = v->data;
  const bool own = v->own && count == 0;
  idm_iohmm *learner = NULL;
  idm_learn_result learnt = {0};
  idm_learn_settings settings = *v->settings;
  settings.threads = 1;
  settings.seed += 1 + fold; /* each fold has its own random starts */
  if (!own) settings.start = IDM_LEARN_FROM_RANDOM;
  bool *kept = idm_new(data->trajectories, sizeof *kept);
  double *scores = idm_new(data->trajectories, sizeof *scores);
  double all;
  idm_status status = kept && scores ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_iohmm_create(v->problem, data, own ? 0 : v->states[count], settings.hold, &learner,
                              opt_error);
  for (size_t t = 0; status == IDM_OK && t < data->trajectories; t++) kept[t] = v->fold[t] != fold;
  if (status == IDM_OK) status = idm_iohmm_select(learner, kept, opt_error);
  if (status == IDM_OK)
    status = idm_learn(learner, v->problem, &settings, is_stopped, v, &learnt, opt_error);
  if (status == IDM_OK)
    status = idm_iohmm_log_likelihood(learner, learnt.dynamics, &all, scores, opt_error);
  for (size_t t = 0; status == IDM_OK && t < data->trajectories; t++)
    if (!kept[t]) v->log_likelihood[count * data->trajectories + t] = scores[t];
  idm_learn_result_clear(&learnt);
  idm_iohmm_destroy(learner);
  free(kept);
  free(scores);
  return status;
}

static void run_fold(void *context, size_t index)
{
  validation *v = context;
  const size_t folds = v->settings->folds;
  if (!v->stop) v->status[index] = hold_out(v, index / folds, index % folds, &v->error[index]);
  atomic_fetch_add(&v->done, 1);
}

static void poll_stop(void *context)
{
  validation *v = context;
  if (v->opt_stop(v->context, (double)atomic_load(&v->done) / (double)v->tasks)) v->stop = true;
}

/* Assign units to folds in random order: agents where there are enough, else trajectories. */
static idm_status assign_folds(const idm_data *data, const idm_learn_settings *settings,
                               size_t *unit, size_t *ret_units, size_t *fold, idm_error *opt_error)
{
  const bool agents = data->agent_name.count >= settings->folds;
  *ret_units = agents ? data->agent_name.count : data->trajectories;
  if (*ret_units < settings->folds)
    return idm_fail(opt_error, IDM_INPUT,
                    "%zu folds need as many trajectories, and the log has %zu; use fewer (--folds)",
                    settings->folds, *ret_units);
  size_t *order = idm_new(*ret_units, sizeof *order);
  if (!order) return idm_fail_memory(opt_error);
  idm_random random;
  idm_random_init(&random, settings->seed, learn_stream(LEARN_STREAM_FOLDS, 0, 0, 0));
  for (size_t i = 0; i < *ret_units; i++) {
    const size_t j = (size_t)(idm_random_uniform(&random) * (double)(i + 1));
    order[i] = order[j];
    order[j] = i;
  }
  for (size_t t = 0; t < data->trajectories && settings->folds; t++) {
    unit[t] = agents ? data->agent[t] : t;
    fold[t] = order[unit[t]] % settings->folds;
  }
  free(order);
  return IDM_OK;
}

/* Ratio of the sums of values and rows over units, and its standard error. */
static void ratio_estimate(const double *value, const double *rows, size_t units, double *mean,
                           double *error)
{
  double sum = 0, weight = 0, square = 0;
  for (size_t i = 0; i < units; i++) {
    sum += value[i];
    weight += rows[i];
  }
  *mean = sum / weight;
  for (size_t i = 0; i < units; i++) {
    const double deviation = value[i] - *mean * rows[i];
    square += deviation * deviation;
  }
  *error = units > 1 ? sqrt(square * (double)units / (double)(units - 1)) / weight : NAN;
}

static void add_by_unit(const idm_data *data, const size_t *unit, const double *log_likelihood,
                        double factor, double *sum)
{
  for (size_t t = 0; t < data->trajectories; t++) sum[unit[t]] += factor * log_likelihood[t];
}

/* Means and standard errors, then differences from the best, unit by unit. */
static void summarise(const validation *v, const size_t *unit, size_t units, size_t count,
                      double *rows, double *sum, idm_cross_validation *cv_result)
{
  const idm_data *data = v->data;
  size_t best = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++)
      rows[unit[t]] += data->observation[r] != IDM_MISSING;
  for (size_t i = 0; i < count; i++) {
    memset(sum, 0, units * sizeof *sum);
    add_by_unit(data, unit, v->log_likelihood + i * data->trajectories, 1, sum);
    cv_result[i].states =
        v->own && i == 0 ? idm_setting_sizes(v->problem->setting).states : v->states[i];
    ratio_estimate(sum, rows, units, &cv_result[i].mean, &cv_result[i].error);
    if (cv_result[i].mean > cv_result[best].mean) best = i;
  }
  for (size_t i = 0; i < count; i++) {
    memset(sum, 0, units * sizeof *sum);
    add_by_unit(data, unit, v->log_likelihood + i * data->trajectories, 1, sum);
    add_by_unit(data, unit, v->log_likelihood + best * data->trajectories, -1, sum);
    ratio_estimate(sum, rows, units, &cv_result[i].difference, &cv_result[i].difference_error);
  }
}

static idm_status validate(validation *v, const size_t *unit, size_t units, size_t count,
                           idm_cross_validation *cv_result, idm_error *opt_error)
{
  v->tasks = count * v->settings->folds;
  v->log_likelihood = idm_new(count * v->data->trajectories, sizeof *v->log_likelihood);
  v->status = idm_new(v->tasks, sizeof *v->status);
  v->error = idm_new(v->tasks, sizeof *v->error);
  double *rows = idm_new(2 * units, sizeof *rows);
  idm_status status =
      v->log_likelihood && v->status && v->error && rows ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_parallel(v->tasks, v->settings->threads, run_fold, v->opt_stop ? poll_stop : NULL,
                          v, opt_error);
  for (size_t i = 0; i < v->tasks && status == IDM_OK; i++)
    if (v->status[i] != IDM_OK) {
      status = v->status[i];
      if (opt_error) *opt_error = v->error[i];
    }
  if (status == IDM_OK && v->stop) status = idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
  if (status == IDM_OK) summarise(v, unit, units, count, rows, rows + units, cv_result);
  free(v->log_likelihood);
  free(v->status);
  free(v->error);
  free(rows);
  return status;
}

idm_status idm_learn_cross_validate(const idm_problem *problem, const idm_data *data,
                                    const size_t *states, size_t count, bool own,
                                    const idm_learn_settings *settings, idm_learn_stop opt_stop,
                                    void *context, idm_cross_validation *cv_result,
                                    idm_error *opt_error)
{
  idm_require(problem, data, states, settings, cv_result);
  idm_status status = idm_keys_check(idm_learn_keys(), settings, opt_error);
  if (status == IDM_OK && (settings->folds < 2 || !count))
    status = idm_fail(opt_error, IDM_USAGE, "held-out likelihoods need at least 2 folds");
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    if (!(own && i == 0) && !states[i])
      status = idm_fail(opt_error, IDM_USAGE, "a model needs at least one state");
  if (status != IDM_OK) return status;
  size_t *unit = idm_new(2 * data->trajectories, sizeof *unit);
  if (!unit) return idm_fail_memory(opt_error);
  size_t units = 0;
  validation v = {.problem = problem,
                  .data = data,
                  .settings = settings,
                  .states = states,
                  .own = own,
                  .fold = unit + data->trajectories,
                  .opt_stop = opt_stop,
                  .context = context};
  status = assign_folds(data, settings, unit, &units, unit + data->trajectories, opt_error);
  if (status == IDM_OK) status = validate(&v, unit, units, count, cv_result, opt_error);
  free(unit);
  return status;
}
