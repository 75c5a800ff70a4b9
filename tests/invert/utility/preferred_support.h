/* A walk whose trajectories are preferred by a utility that is known, and plain sums of it. */
#ifndef IDM_TESTS_PREFERRED_SUPPORT_H
#define IDM_TESTS_PREFERRED_SUPPORT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static const char walk_text[] =
    "states: [a, b, c]\nactions: [left, right]\nobservations: states\ndiscount: 0.9\nstart: a\n"
    "transition:\n  left: {a: {a: 1}, b: {a: 0.8, b: 0.2}, c: {b: 1}}\n"
    "  right: {a: {b: 0.8, a: 0.2}, b: {c: 1}, c: {c: 1}}\n"
    "utility:\n  left: [0.5, -1, 2]\n  right: [1, -0.25, 1]\n"
    "agent: {planner: maximum-entropy, alpha: 1}\n";

static const char tiger_text[] =
    "states: [l, r]\nactions: [listen, openl, openr]\nobservations: [hl, hr]\ndiscount: 0.9\n"
    "start: [0.7, 0.3]\ntransition: {listen: [[0.9, 0.1], [0.2, 0.8]], openl: uniform, openr: "
    "uniform}\n"
    "observation: {listen: [[0.8, 0.2], [0.3, 0.7]], openl: uniform, openr: [[0.6, 0.4], [0.5, "
    "0.5]]}\n"
    "utility: {listen: -1, openl: [-3, 2], openr: [2, -3]}\n"
    "agent: {planner: maximum-entropy, alpha: 1}\n";

/* sum_t discount^t utility, by the states of the log or by beliefs filtered here. */
static inline double plain_sum(const idm_problem *problem, const double *utility,
                               const idm_data *data, size_t t)
{
  const idm_setting *setting = problem->setting;
  const size_t n = setting->states.count, m = setting->observations.count;
  double belief[8], next[8], sum = 0, weight = 1;
  memcpy(belief, setting->start, n * sizeof *belief);
  for (size_t r = data->first[t]; r < data->first[t + 1]; r++, weight *= 0.9) {
    const size_t u = (size_t)data->action[r], x = (size_t)data->observation[r];
    for (size_t s = 0; s < n; s++) sum += weight * belief[s] * utility[u * n + s];
    double all = 0;
    for (size_t k = 0; k < n; k++) {
      next[k] = 0;
      for (size_t s = 0; s < n && !setting->fully_observed; s++)
        next[k] += belief[s] * setting->transition[(u * n + s) * n + k];
      if (setting->fully_observed)
        next[k] = k == x;
      else
        next[k] *= setting->emission[(u * n + k) * m + x];
      all += next[k];
    }
    for (size_t k = 0; k < n; k++) belief[k] = next[k] / all;
  }
  return sum;
}

/* Preferences of somebody who has this utility, with weights where asked for. */
static inline void prefer(const idm_problem *problem, const double *utility, idm_data *data,
                          size_t count, bool weights, uint64_t seed)
{
  idm_random random;
  idm_random_init(&random, seed, 0);
  idm_preferences_destroy(data->preferences);
  check(idm_preferences_create(count, &data->preferences, &support_error));
  for (size_t i = 0; i < count; i++) {
    const size_t n = data->trajectories;
    const size_t a = (size_t)(idm_random_uniform(&random) * (double)n) % n;
    const size_t b =
        (a + 1 + (size_t)(idm_random_uniform(&random) * (double)(n - 1)) % (n - 1)) % n;
    const double odds = plain_sum(problem, utility, data, b) - plain_sum(problem, utility, data, a);
    const bool right = idm_random_uniform(&random) < 1 / (1 + exp(-odds));
    data->preferences->worse[i] = (uint32_t)(right ? a : b);
    data->preferences->better[i] = (uint32_t)(right ? b : a);
    if (weights) data->preferences->weight[i] = 0.25 + 2 * idm_random_uniform(&random);
  }
}

/* sum w log logistic, as it is written. */
static inline double plain_log_likelihood(const idm_problem *problem, const double *utility,
                                          const idm_data *data)
{
  const idm_preferences *p = data->preferences;
  double sum = 0;
  for (size_t i = 0; i < p->count; i++)
    sum -= p->weight[i] * log(1 + exp(plain_sum(problem, utility, data, p->worse[i]) -
                                      plain_sum(problem, utility, data, p->better[i])));
  return sum;
}

static inline idm_problem *make_problem(const char *text, const char *what_is_free)
{
  idm_problem *problem = support_yaml(text);
  check(idm_problem_free(problem, what_is_free, &support_error));
  return problem;
}

/* A log of that problem's agent, with its preferences. */
static inline idm_data *make_preferred(const idm_problem *problem, size_t trajectories,
                                       size_t preferences, bool weights, uint64_t seed)
{
  const idm_simulation simulation = {.trajectories = trajectories, .steps = 6, .seed = seed};
  idm_data *data = support_simulate(problem, simulation);
  prefer(problem, problem->theta->block[IDM_UTILITY].value, data, preferences, weights, seed);
  return data;
}

#endif
