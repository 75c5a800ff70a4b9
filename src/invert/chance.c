/* What somebody reaches who knows nothing of what was seen: chance, and the actions' own rates. */
#include "invert/chance.h"

#include <math.h>

#include "base/memory.h"

/* taken[set][action]: decisions by what was open and what was done. */
static void count_decisions(const idm_data *data, double *taken)
{
  for (size_t row = 0; row < data->rows; row++)
    if (data->action[row] != IDM_MISSING && idm_data_open(data, data->available[row]) > 1)
      taken[data->available[row] * data->sizes.actions + (size_t)data->action[row]]++;
}

static double open_weight(const idm_data *data, size_t set, const double *weight)
{
  const bool *open = data->available_set + set * data->sizes.actions;
  double sum = 0;
  for (size_t u = 0; u < data->sizes.actions; u++) sum += open[u] ? weight[u] : 0;
  return sum;
}

/* One step of Hunter's (2004) MM algorithm for choices among sets (Luce): weight_u = n_u over the
 * sum of 1 / (weight of the open set) over the decisions where u was open. Where every action is
 * always open the first step gives the rates. */
static void improve(const idm_data *data, const double *taken, double *weight, double *better)
{
  const size_t actions = data->sizes.actions;
  double total = 0;
  for (size_t u = 0; u < actions; u++) {
    double chosen = 0;
    double exposure = 0;
    for (size_t set = 0; set < data->available_sets; set++) {
      double decisions = 0;
      for (size_t v = 0; v < actions; v++) decisions += taken[set * actions + v];
      chosen += taken[set * actions + u];
      if (decisions > 0 && data->available_set[set * actions + u])
        exposure += decisions / open_weight(data, set, weight);
    }
    better[u] = chosen > 0 ? chosen / exposure : 0;
    total += better[u];
  }
  for (size_t u = 0; u < actions; u++) weight[u] = better[u] / total;
}

static double log_likelihood(const idm_data *data, const double *taken, const double *weight)
{
  const size_t actions = data->sizes.actions;
  double sum = 0;
  for (size_t set = 0; set < data->available_sets; set++) {
    const double open = open_weight(data, set, weight);
    for (size_t u = 0; u < actions; u++) {
      const double n = taken[set * actions + u];
      if (n > 0) sum += n * log(weight[u] / open);
    }
  }
  return sum;
}

double idm_log_loss(double log_likelihood, double decisions)
{
  const double loss = -log_likelihood / decisions;
  return loss <= 0 ? 0 : loss;
}

double idm_share_explained(double log_loss, double of)
{
  return of > 0 ? 1 - log_loss / of : NAN;
}

idm_status idm_chance_measure(const idm_data *data, idm_chance *chance, idm_error *opt_error)
{
  enum { most_steps = 1000 };
  const size_t actions = data->sizes.actions;
  double *taken = idm_new(data->available_sets * actions, sizeof *taken);
  double *weight = idm_new(2 * actions, sizeof *weight);
  idm_status status = taken && weight ? IDM_OK : idm_fail_memory(opt_error);
  double decisions = 0;
  if (status == IDM_OK) {
    count_decisions(data, taken);
    for (size_t i = 0; i < data->available_sets * actions; i++) decisions += taken[i];
    for (size_t u = 0; u < actions; u++) weight[u] = 1;
    chance->decisions = (uint64_t)decisions;
    chance->uniform = chance->rates = log_likelihood(data, taken, weight);
  }
  bool better = decisions > 0;
  for (int i = 0; status == IDM_OK && i < most_steps && better; i++) {
    improve(data, taken, weight, weight + actions);
    const double now = log_likelihood(data, taken, weight);
    better = now > chance->rates + 1e-12 * decisions;
    chance->rates = fmax(chance->rates, now);
  }
  free(taken);
  free(weight);
  return status;
}
