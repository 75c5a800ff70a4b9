/* Expected counts of a hidden Markov model over one trajectory, by the forward-backward recursion.
 */
#include "data/log.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

bool idm_smoother_create(idm_smoother *smoother, size_t steps, size_t states)
{
  smoother->forward = idm_new(idm_times(steps + 1, states), sizeof *smoother->forward);
  smoother->backward = idm_new(2 * states, sizeof *smoother->backward);
  smoother->pair = idm_new(idm_times(states, states), sizeof *smoother->pair);
  return smoother->forward && smoother->backward && smoother->pair;
}

void idm_smoother_clear(idm_smoother *smoother)
{
  free(smoother->forward);
  free(smoother->backward);
  free(smoother->pair);
  *smoother = (idm_smoother){0};
}

/* Count a recorded observation, and add the filter's probabilities of all observations. */
static void count_observation(const idm_action_model *model, const double *emitter, size_t action,
                              int32_t observed, const idm_expected_counts *counts)
{
  const size_t n = model->observations;
  counts->observed[action * n + (size_t)observed]++;
  for (size_t s = 0; s < model->states; s++)
    for (size_t x = 0; x < n; x++)
      counts->expected[action * n + x] += emitter[s] * model->emission[s * n + x];
}

/* With a single state, a missed response without an action changes no belief. */
static bool is_unchanged(const idm_data *data, size_t row)
{
  return idm_data_missed(data, row) && data->action[row] == IDM_MISSING && data->sizes.states == 1;
}

/* Forward filter; the belief after row t is forward[t + 1]. Returns the number of rows filtered. */
static size_t filter_forward(const idm_setting *setting, const idm_data *data, size_t trajectory,
                             const idm_smoother *smoother, const idm_expected_counts *counts)
{
  const size_t k = data->sizes.states;
  const size_t first = data->first[trajectory];
  const size_t rows = data->first[trajectory + 1] - first;
  const int32_t start = data->start[trajectory];
  const double *z = start < 0 ? setting->start : data->start_belief + (size_t)start * k;
  memcpy(smoother->forward, z, k * sizeof *z);
  for (size_t t = 0; t < rows; t++) {
    const int32_t action = data->action[first + t];
    const int32_t observed = data->observation[first + t];
    double *now = smoother->forward + t * k;
    double *next = now + k;
    if (is_unchanged(data, first + t)) {
      memcpy(next, now, k * sizeof *next);
      continue;
    }
    if (action < 0) return t;
    const idm_action_model model = idm_action_model_of(setting, (size_t)action);
    if (setting->terminal[action]) {
      memcpy(next, now, k * sizeof *next);
      continue;
    }
    if (observed < 0) {
      idm_filter_predict(k, model.transition, now, next);
      continue;
    }
    double *emitter = smoother->backward;
    idm_filter_emitter(&model, now, emitter);
    if (!(idm_filter_correct(&model, emitter, (size_t)observed, next) > 0)) return t;
    count_observation(&model, emitter, (size_t)action, observed, counts);
  }
  return rows;
}

/* Joint p(s, s' | all records) of a row into `pair`, and the backward message. */
static void joint_of_pair(const idm_action_model *model, const double *now, int32_t observed,
                          const double *backward_next, double *pair, double *backward)
{
  const size_t k = model->states;
  double total = 0;
  double sum = 0;
  for (size_t s = 0; s < k; s++) {
    backward[s] = 0;
    for (size_t t = 0; t < k; t++) {
      const size_t emitter = model->before ? s : t;
      const double likelihood =
          observed < 0 ? 1 : model->emission[emitter * model->observations + (size_t)observed];
      const double weight = model->transition[s * k + t] * likelihood * backward_next[t];
      backward[s] += weight;
      pair[s * k + t] = now[s] * weight;
      total += pair[s * k + t];
    }
    sum += backward[s];
  }
  for (size_t i = 0; i < k * k; i++) pair[i] /= total;
  for (size_t s = 0; s < k; s++) backward[s] /= sum;
}

static void count_pair(const idm_action_model *model, size_t action, int32_t observed,
                       const double *pair, const idm_expected_counts *counts)
{
  const size_t k = model->states;
  const size_t n = model->observations;
  for (size_t s = 0; s < k; s++)
    for (size_t t = 0; t < k; t++) {
      counts->transition[(action * k + s) * k + t] += pair[s * k + t];
      if (observed >= 0)
        counts->emission[(action * k + (model->before ? s : t)) * n + (size_t)observed] +=
            pair[s * k + t];
    }
}

static void smooth_backward(const idm_setting *setting, const idm_data *data, size_t trajectory,
                            size_t rows, const idm_smoother *smoother,
                            const idm_expected_counts *counts)
{
  const size_t k = data->sizes.states;
  const size_t first = data->first[trajectory];
  double *backward_next = smoother->backward;
  double *backward = smoother->backward + k;
  for (size_t s = 0; s < k; s++) backward_next[s] = 1;
  for (size_t t = rows; t-- > 0;) {
    if (is_unchanged(data, first + t)) continue;
    const size_t action = (size_t)data->action[first + t];
    const int32_t observed = data->observation[first + t];
    if (setting->terminal[action]) continue;
    const idm_action_model model = idm_action_model_of(setting, action);
    joint_of_pair(&model, smoother->forward + t * k, observed, backward_next, smoother->pair,
                  backward);
    count_pair(&model, action, observed, smoother->pair, counts);
    memcpy(backward_next, backward, k * sizeof *backward_next);
  }
  double total = 0;
  for (size_t s = 0; s < k; s++) total += smoother->forward[s] * backward_next[s];
  for (size_t s = 0; s < k; s++)
    counts->opt_start[s] += smoother->forward[s] * backward_next[s] / total;
}

size_t idm_smoother_run(const idm_setting *setting, const idm_data *data, size_t trajectory,
                        const idm_smoother *smoother, const idm_expected_counts *counts)
{
  const size_t rows = filter_forward(setting, data, trajectory, smoother, counts);
  if (counts->opt_start) smooth_backward(setting, data, trajectory, rows, smoother, counts);
  return rows;
}
