/* Preferences between trajectories of a log, and discounted sums written out. */
#include "invert/utility/preference_support.h"

double plain_sum(const idm_problem *problem, const double *utility, const idm_data *data, size_t t)
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

void prefer(const idm_problem *problem, const double *utility, idm_data *data, size_t count,
            bool weights, uint64_t seed)
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

double plain_log_likelihood(const idm_problem *problem, const double *utility, const idm_data *data)
{
  const idm_preferences *p = data->preferences;
  double sum = 0;
  for (size_t i = 0; i < p->count; i++)
    sum -= p->weight[i] * log(1 + exp(plain_sum(problem, utility, data, p->worse[i]) -
                                      plain_sum(problem, utility, data, p->better[i])));
  return sum;
}

idm_problem *make_problem(const char *text, const char *what_is_free)
{
  idm_problem *problem = support_yaml(text);
  check(idm_problem_set_free(problem, what_is_free, &support_error));
  return problem;
}

idm_data *make_preferred(const idm_problem *problem, size_t trajectories, size_t preferences,
                         bool weights, uint64_t seed)
{
  const idm_simulation simulation = {.trajectories = trajectories, .steps = 6, .seed = seed};
  idm_data *data = support_simulate(problem, simulation);
  prefer(problem, problem->theta->block[IDM_UTILITY].value, data, preferences, weights, seed);
  return data;
}
