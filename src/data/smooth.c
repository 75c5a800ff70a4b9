/* Expected counts of a hidden Markov model over one trajectory. */
#include "data/smooth.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

bool idm_smoother_create(idm_smoother *smoother, size_t steps, size_t states)
{
  smoother->forward = idm_new(idm_times(steps + 1, states), sizeof *smoother->forward);
  smoother->back = idm_new(2 * states, sizeof *smoother->back);
  smoother->pair = idm_new(idm_times(states, states), sizeof *smoother->pair);
  return smoother->forward && smoother->back && smoother->pair;
}

void idm_smoother_clear(idm_smoother *smoother)
{
  free(smoother->forward);
  free(smoother->back);
  free(smoother->pair);
  *smoother = (idm_smoother){0};
}

/* Count a recorded observation, and what the filter expected in its place. */
static void compare(const idm_world *world, const double *emitter, size_t action, int32_t seen,
                    const idm_expectation *into)
{
  const size_t n = world->observations;
  into->seen[action * n + (size_t)seen]++;
  for (size_t s = 0; s < world->states; s++)
    for (size_t x = 0; x < n; x++)
      into->expected[action * n + x] += emitter[s] * world->emission[s * n + x];
}

/* A missed response without an action moves nothing where there is one state. */
static bool stays(const idm_data *data, size_t row)
{
  return idm_data_missed(data, row) && data->action[row] == IDM_MISSING && data->sizes.states == 1;
}

/* Filter forwards; what is behind a row goes to the next place of `forward`. */
static size_t go_forward(const idm_setting *setting, const idm_data *data, size_t trajectory,
                         const idm_smoother *smoother, const idm_expectation *into)
{
  const size_t k = data->sizes.states;
  const size_t first = data->first[trajectory];
  const size_t rows = data->first[trajectory + 1] - first;
  const int32_t start = data->start[trajectory];
  const double *z = start < 0 ? setting->start : data->start_belief + (size_t)start * k;
  memcpy(smoother->forward, z, k * sizeof *z);
  for (size_t t = 0; t < rows; t++) {
    const int32_t action = data->action[first + t];
    const int32_t seen = data->observation[first + t];
    double *now = smoother->forward + t * k;
    double *next = now + k;
    if (stays(data, first + t)) {
      memcpy(next, now, k * sizeof *next);
      continue;
    }
    if (action < 0) return t;
    const idm_world world = idm_world_of_setting(setting, (size_t)action);
    if (setting->terminal[action]) {
      memcpy(next, now, k * sizeof *next);
      continue;
    }
    if (seen < 0) {
      idm_filter_predict(k, world.transition, now, next);
      continue;
    }
    double *emitter = smoother->back;
    idm_filter_emitter(&world, now, emitter);
    if (!(idm_filter_correct(&world, emitter, (size_t)seen, next) > 0)) return t;
    compare(&world, emitter, (size_t)action, seen, into);
  }
  return rows;
}

/* Joint p(s, s' | all that was recorded) of a row into `pair`, and what the row says backwards. */
static void join(const idm_world *world, const double *now, int32_t seen, const double *ahead,
                 double *pair, double *back)
{
  const size_t k = world->states;
  double total = 0;
  double sum = 0;
  for (size_t s = 0; s < k; s++) {
    back[s] = 0;
    for (size_t t = 0; t < k; t++) {
      const size_t emitter = world->before ? s : t;
      const double chance =
          seen < 0 ? 1 : world->emission[emitter * world->observations + (size_t)seen];
      const double weight = world->transition[s * k + t] * chance * ahead[t];
      back[s] += weight;
      pair[s * k + t] = now[s] * weight;
      total += pair[s * k + t];
    }
    sum += back[s];
  }
  for (size_t i = 0; i < k * k; i++) pair[i] /= total;
  for (size_t s = 0; s < k; s++) back[s] /= sum;
}

static void count_pair(const idm_world *world, size_t action, int32_t seen, const double *pair,
                       const idm_expectation *into)
{
  const size_t k = world->states;
  const size_t n = world->observations;
  for (size_t s = 0; s < k; s++)
    for (size_t t = 0; t < k; t++) {
      into->transition[(action * k + s) * k + t] += pair[s * k + t];
      if (seen >= 0)
        into->emission[(action * k + (world->before ? s : t)) * n + (size_t)seen] +=
            pair[s * k + t];
    }
}

static void go_back(const idm_setting *setting, const idm_data *data, size_t trajectory,
                    size_t rows, const idm_smoother *smoother, const idm_expectation *into)
{
  const size_t k = data->sizes.states;
  const size_t first = data->first[trajectory];
  double *ahead = smoother->back;
  double *back = smoother->back + k;
  for (size_t s = 0; s < k; s++) ahead[s] = 1;
  for (size_t t = rows; t-- > 0;) {
    if (stays(data, first + t)) continue;
    const size_t action = (size_t)data->action[first + t];
    const int32_t seen = data->observation[first + t];
    if (setting->terminal[action]) continue;
    const idm_world world = idm_world_of_setting(setting, action);
    join(&world, smoother->forward + t * k, seen, ahead, smoother->pair, back);
    count_pair(&world, action, seen, smoother->pair, into);
    memcpy(ahead, back, k * sizeof *ahead);
  }
  double total = 0;
  for (size_t s = 0; s < k; s++) total += smoother->forward[s] * ahead[s];
  for (size_t s = 0; s < k; s++) into->opt_start[s] += smoother->forward[s] * ahead[s] / total;
}

size_t idm_smooth(const idm_setting *setting, const idm_data *data, size_t trajectory,
                  const idm_smoother *smoother, const idm_expectation *into)
{
  const size_t rows = go_forward(setting, data, trajectory, smoother, into);
  if (into->opt_start) go_back(setting, data, trajectory, rows, smoother, into);
  return rows;
}
