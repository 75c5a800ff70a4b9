#include "learn/textbook_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "idm/extension/random.h"

static double log_add(double a, double b)
{
  if (a == -INFINITY) return b;
  if (b == -INFINITY) return a;
  const double most = fmax(a, b);
  return most + log(exp(a - most) + exp(b - most));
}

static double tau(const idm_dynamics *d, int u, size_t s, size_t t)
{
  return d->transition[((size_t)u * d->sizes.states + s) * d->sizes.states + t];
}

/* Log probability of a row given the states before and after: the transition and the observation.
 */
static double log_row(const idm_dynamics *d, bool before, int u, int x, size_t s, size_t t)
{
  const size_t emitter = before ? s : t;
  const size_t k = d->sizes.states;
  const double seen =
      x < 0 ? 1 : d->emission[((size_t)u * k + emitter) * d->sizes.observations + (size_t)x];
  return log(tau(d, u, s, t)) + log(seen);
}

/* Forward: log alpha[row][state], with row 0 the start. Returns the log-likelihood of the
 * trajectory. */
static double forward(const idm_data *data, const idm_dynamics *d, bool before, size_t i,
                      double *alpha)
{
  const size_t k = d->sizes.states, first = data->first[i], rows = data->first[i + 1] - first;
  const double *start =
      data->start[i] < 0 ? d->start : data->start_belief + (size_t)data->start[i] * k;
  for (size_t s = 0; s < k; s++) alpha[s] = log(start[s]);
  for (size_t r = 0; r < rows; r++)
    for (size_t t = 0; t < k; t++) {
      double sum = -INFINITY;
      for (size_t s = 0; s < k; s++)
        sum = log_add(sum, alpha[r * k + s] + log_row(d, before, data->action[first + r],
                                                      data->observation[first + r], s, t));
      alpha[(r + 1) * k + t] = sum;
    }
  double all = -INFINITY;
  for (size_t s = 0; s < k; s++) all = log_add(all, alpha[rows * k + s]);
  return all;
}

static void backward(const idm_data *data, const idm_dynamics *d, bool before, size_t i,
                     double *beta)
{
  const size_t k = d->sizes.states, first = data->first[i], rows = data->first[i + 1] - first;
  for (size_t s = 0; s < k; s++) beta[rows * k + s] = 0;
  for (size_t r = rows; r-- > 0;)
    for (size_t s = 0; s < k; s++) {
      double sum = -INFINITY;
      for (size_t t = 0; t < k; t++) /* over the next state */
        sum = log_add(sum, beta[(r + 1) * k + t] + log_row(d, before, data->action[first + r],
                                                           data->observation[first + r], s, t));
      beta[r * k + s] = sum;
    }
}

double textbook_expect(const idm_data *data, const idm_dynamics *d, bool emits_before,
                       double *opt_counts)
{
  const size_t k = d->sizes.states;
  double total = 0;
  if (opt_counts) memset(opt_counts, 0, d->numbers * sizeof *opt_counts);
  for (size_t i = 0; i < data->trajectories; i++) {
    const size_t first = data->first[i], rows = data->first[i + 1] - first;
    double *alpha = calloc((rows + 1) * k, sizeof *alpha);
    double *beta = calloc((rows + 1) * k, sizeof *beta);
    const double all = forward(data, d, emits_before, i, alpha);
    backward(data, d, emits_before, i, beta);
    total += all;
    for (size_t s = 0; opt_counts && data->start[i] < 0 && s < k; s++)
      opt_counts[s] += exp(alpha[s] + beta[s] - all);
    for (size_t r = 0; opt_counts && r < rows; r++) {
      const int u = data->action[first + r], x = data->observation[first + r];
      for (size_t s = 0; s < k; s++)
        for (size_t t = 0; t < k; t++) {
          const double p = exp(alpha[r * k + s] + log_row(d, emits_before, u, x, s, t) +
                               beta[(r + 1) * k + t] - all);
          opt_counts[k + ((size_t)u * k + s) * k + t] += p;
          if (x >= 0)
            opt_counts[(size_t)(d->emission - d->start) +
                       ((size_t)u * k + (emits_before ? s : t)) * d->sizes.observations +
                       (size_t)x] += p;
        }
    }
    free(alpha);
    free(beta);
  }
  return total;
}

static void mode_of(double *p, const double *counts, size_t width, double prior)
{
  double sum = 0;
  for (size_t i = 0; i < width; i++) sum += p[i] > 0 ? counts[i] + prior - 1 : 0;
  for (size_t i = 0; i < width; i++) p[i] = p[i] > 0 ? (counts[i] + prior - 1) / sum : 0;
}

void textbook_step(const idm_data *data, idm_dynamics *d, bool emits_before, double prior,
                   const int *tie)
{
  const idm_sizes n = d->sizes;
  double *counts = calloc(d->numbers, sizeof *counts);
  double *all = calloc(n.states * (n.states + n.observations), sizeof *all);
  textbook_expect(data, d, emits_before, counts);
  mode_of(d->start, counts, n.states, prior);
  for (int emits = 0; emits < 2; emits++) {
    const size_t width = emits ? n.observations : n.states;
    double *numbers = emits ? d->emission : d->transition;
    const double *of = counts + (numbers - d->start);
    for (size_t u = 0; u < n.actions; u++) {
      for (size_t i = 0; i < n.states * width; i++) {
        all[i] = 0;
        for (size_t v = 0; v < n.actions; v++)
          if (tie[(size_t)emits * n.actions + v] == tie[(size_t)emits * n.actions + u])
            all[i] += of[v * n.states * width + i];
      }
      for (size_t s = 0; s < n.states; s++)
        mode_of(numbers + (u * n.states + s) * width, all + s * width, width, prior);
    }
  }
  free(all);
  free(counts);
}

idm_data *textbook_simulate(const idm_dynamics *d, bool emits_before, size_t trajectories,
                            size_t rows, double blank, uint64_t seed)
{
  const idm_sizes n = d->sizes;
  idm_data *data = calloc(1, sizeof *data);
  idm_random random;
  idm_random_init(&random, seed, 77);
  data->sizes = n;
  data->rows = trajectories * rows;
  data->trajectories = trajectories;
  data->action = calloc(data->rows, sizeof *data->action);
  data->observation = calloc(data->rows, sizeof *data->observation);
  data->available = calloc(data->rows, sizeof *data->available);
  data->line = calloc(data->rows, sizeof *data->line);
  data->first = calloc(trajectories + 1, sizeof *data->first);
  data->agent = calloc(trajectories, sizeof *data->agent);
  data->variant = calloc(trajectories, sizeof *data->variant);
  data->start = calloc(trajectories, sizeof *data->start);
  data->available_sets = data->variants = 1;
  data->available_set = calloc(n.actions, sizeof *data->available_set);
  for (size_t u = 0; u < n.actions; u++) data->available_set[u] = true;
  idm_labels_create(&data->agent_name, 1, NULL);
  idm_labels_set(&data->agent_name, 0, "one", 3, NULL);
  for (size_t i = 0; i < trajectories; i++) {
    size_t s = idm_random_choice(&random, d->start, n.states);
    data->first[i + 1] = (i + 1) * rows;
    data->start[i] = -1;
    for (size_t r = i * rows; r < (i + 1) * rows; r++) {
      const size_t u = (size_t)(idm_random_uniform(&random) * (double)n.actions);
      const size_t t =
          idm_random_choice(&random, d->transition + (u * n.states + s) * n.states, n.states);
      const size_t emitter = emits_before ? s : t;
      data->action[r] = (int32_t)u;
      data->line[r] = (uint32_t)r + 2;
      data->observation[r] = (int32_t)idm_random_choice(
          &random, d->emission + (u * n.states + emitter) * n.observations, n.observations);
      if (idm_random_uniform(&random) < blank) data->observation[r] = IDM_MISSING;
      s = t;
    }
  }
  return data;
}
