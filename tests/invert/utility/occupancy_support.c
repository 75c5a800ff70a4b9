/* Occupancies by value iteration and forward sums, independent of the library. */
#include "invert/utility/occupancy_support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char problem_text[] =
    "states: [a, b, c]\nactions: [x, y]\nobservations: states\nstart: a\ndiscount: 0.8\n"
    "transition: {x: [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]],\n"
    "             y: [[0.2, 0.5, 0.3], [0.4, 0.2, 0.4], [0.6, 0.3, 0.1]]}\n"
    "utility: {x: [1, 0, -0.5], y: [0, 0.7, 0.4]}\n"
    "agent: {%s}\n";
static const double leads[U][S][S] = {{{0.7, 0.2, 0.1}, {0.1, 0.6, 0.3}, {0.3, 0.3, 0.4}},
                                      {{0.2, 0.5, 0.3}, {0.4, 0.2, 0.4}, {0.6, 0.3, 0.1}}};
static const double pays[U][S] = {{1, 0, -0.5}, {0, 0.7, 0.4}};

/* Soft value iteration under a uniform action prior, with lapses. */
void occupancy_plan(double alpha, double lapse, double policy[S][U])
{
  double v[S] = {0}, q[S][U];
  for (int k = 0; k < 300; k++) {
    for (int s = 0; s < S; s++)
      for (int u = 0; u < U; u++) {
        q[s][u] = pays[u][s];
        for (int t = 0; t < S; t++) q[s][u] += 0.8 * leads[u][s][t] * v[t];
      }
    for (int s = 0; s < S; s++) {
      const double top = fmax(q[s][0], q[s][1]);
      v[s] = top + alpha * log((exp((q[s][0] - top) / alpha) + exp((q[s][1] - top) / alpha)) / U);
    }
  }
  for (int s = 0; s < S; s++)
    for (int u = 0; u < U; u++)
      policy[s][u] = (1 - lapse) * exp((q[s][u] - v[s]) / alpha) / U + lapse / U;
}

void occupancy_visit(double policy[S][U], double occupancy[S][U])
{
  double now[S] = {1, 0, 0}, weight = 0.2;
  memset(occupancy, 0, S * U * sizeof(double));
  for (int k = 0; k < 300; k++, weight *= 0.8) {
    double next[S] = {0};
    for (int s = 0; s < S; s++)
      for (int u = 0; u < U; u++) {
        occupancy[s][u] += weight * now[s] * policy[s][u];
        for (int t = 0; t < S; t++) next[t] += now[s] * policy[s][u] * leads[u][s][t];
      }
    memcpy(now, next, sizeof now);
  }
}

static double diverge(idm_divergence divergence, double p, double q)
{
  const double m = (p + q) / 2;
  switch (divergence) {
  case IDM_DIVERGENCE_KL:
    return p * log(p / q);
  case IDM_DIVERGENCE_REVERSE_KL:
    return q * log(q / p);
  case IDM_DIVERGENCE_JS:
    return (p * log(p / m) + q * log(q / m)) / 2;
  case IDM_DIVERGENCE_TV:
    return fabs(p - q) / 2;
  case IDM_DIVERGENCE_CHI2:
    return (p - q) * (p - q) / q;
  default:
    return 7.0 / 2 * (p - q) * (p - q);
  }
}

void occupancy_demonstrate(const idm_data *data, double occupancy[S][U])
{
  double count[S][U] = {{0}}, policy[S][U];
  for (size_t t = 0; t < data->trajectories; t++) {
    int32_t at = 0;
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      count[at][data->action[row]]++;
      at = data->observation[row];
    }
  }
  for (int s = 0; s < S; s++)
    for (int u = 0; u < U; u++) policy[s][u] = count[s][u] / (count[s][0] + count[s][1]);
  occupancy_visit(policy, occupancy);
}

double occupancy_objective(idm_divergence divergence, double entropy, double p[S][U], double alpha,
                           double lapse)
{
  double policy[S][U], q[S][U], sum = 0;
  occupancy_plan(alpha, lapse, policy);
  occupancy_visit(policy, q);
  for (int s = 0; s < S; s++)
    for (int u = 0; u < U; u++)
      sum += diverge(divergence, p[s][u], q[s][u]) + entropy * q[s][u] * log(policy[s][u]);
  return sum;
}

/* Golden section search over log alpha. */
double occupancy_alpha(idm_divergence divergence, double entropy, double p[S][U])
{
  const double ratio = 0.5 * (sqrt(5) - 1);
  double low = log(0.05), high = log(5);
  for (int k = 0; k < 80; k++) {
    const double a = high - ratio * (high - low), b = low + ratio * (high - low);
    if (occupancy_objective(divergence, entropy, p, exp(a), 0) <
        occupancy_objective(divergence, entropy, p, exp(b), 0))
      high = b;
    else
      low = a;
  }
  return exp((low + high) / 2);
}

idm_problem *occupancy_problem_of(const char *agent, const char *free_blocks)
{
  char text[900];
  snprintf(text, sizeof text, problem_text, agent);
  idm_problem *problem = support_yaml(text);
  check(idm_problem_set_free(problem, free_blocks, &support_error));
  return problem;
}

idm_problem *occupancy_problem(double lapse, const char *free_blocks)
{
  char agent[100];
  snprintf(agent, sizeof agent, "planner: bounded-rational, alpha: 0.5, lapse: %g", lapse);
  return occupancy_problem_of(agent, free_blocks);
}

idm_data *occupancy_log(const idm_problem *problem, size_t trajectories)
{
  return support_simulate(problem,
                          (idm_simulation){.trajectories = trajectories, .steps = 20, .seed = 4});
}

idm_fit_settings occupancy_settings(idm_divergence divergence, double entropy)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.divergence = divergence;
  settings.entropy = entropy;
  if (divergence == IDM_DIVERGENCE_SQUARED) settings.lambda = 7;
  return settings;
}
