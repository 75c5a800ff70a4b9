/* Provides a task that requires a memory of two steps. */
#include "plan/network/parity_support.h"

#include <math.h>

idm_data *support_parity(const idm_problem *problem, size_t trajectories, uint64_t seed,
                         double *opt_truth)
{
  const idm_simulation simulation = {.trajectories = trajectories, .steps = 20, .seed = seed};
  idm_data *data = support_simulate(problem, simulation);
  idm_random random;
  idm_random_init(&random, seed, 1);
  double truth = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t i = data->first[t], k = 0; i < data->first[t + 1]; i++, k++) {
      const bool slip = idm_random_uniform(&random) < (k < 2 ? 0.5 : 0.1);
      const int32_t right = k < 2 ? 0 : data->observation[i - 1] ^ data->observation[i - 2];
      data->action[i] = slip ? 1 - right : right;
      truth += log(k < 2 ? 0.5 : slip ? 0.1 : 0.9);
    }
  if (opt_truth) *opt_truth = truth;
  return data;
}
