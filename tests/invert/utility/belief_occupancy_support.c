/* The slow way, over beliefs. */
#include "invert/utility/belief_occupancy_support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char problem_text[] =
    "states: [good, bad]\nactions: [use, mend, look]\nobservations: [fine, odd]\n"
    "start: [0.77, 0.23]\ndiscount: 0.8\n"
    "transition: {use: [[0.85, 0.15], [0, 1]], mend: [[1, 0], [0.9, 0.1]],\n"
    "             look: [[0.95, 0.05], [0, 1]]}\n"
    "observation: {use: [[0.6, 0.4], [0.4, 0.6]], mend: [[0.6, 0.4], [0.4, 0.6]],\n"
    "              look: [[0.85, 0.15], [0.15, 0.85]]}\n"
    "utility: {use: [1, -1], mend: [-0.6, -0.6], look: [-0.1, -0.1]}\n"
    "agent: {resolution: %d, %s}\n";
static const double start = 0.23, discount = 0.8;
static const double moves[BU][BS][BS] = {
    {{0.85, 0.15}, {0, 1}}, {{1, 0}, {0.9, 0.1}}, {{0.95, 0.05}, {0, 1}}};
static const double shows[BU][BS][BX] = {
    {{0.6, 0.4}, {0.4, 0.6}}, {{0.6, 0.4}, {0.4, 0.6}}, {{0.85, 0.15}, {0.15, 0.85}}};
static const double pays[BU][BS] = {{1, -1}, {-0.6, -0.6}, {-0.1, -0.1}};

idm_problem *belief_problem(int resolution, const char *agent, const char *free_blocks)
{
  char text[1200];
  snprintf(text, sizeof text, problem_text, resolution, agent);
  idm_problem *problem = support_yaml(text);
  check(idm_problem_free(problem, free_blocks, &support_error));
  return problem;
}

/* p(x), and what is then believed of the second state. */
static double see(double b, int u, int x, double *next)
{
  const double good = ((1 - b) * moves[u][0][0] + b * moves[u][1][0]) * shows[u][0][x];
  const double bad = ((1 - b) * moves[u][0][1] + b * moves[u][1][1]) * shows[u][1][x];
  *next = bad / (good + bad);
  return good + bad;
}

void belief_chain_make(int resolution, belief_chain *chain)
{
  memset(chain, 0, sizeof *chain);
  chain->resolution = resolution;
  for (int i = 0; i <= resolution; i++)
    for (int u = 0; u < BU; u++)
      for (int x = 0; x < BX; x++)
        chain->p[i][u][x] = see((double)i / resolution, u, x, &chain->next[i][u][x]);
}

/* The neighbour below, and the weight of the one above. */
static int between(const belief_chain *chain, double b, double *above)
{
  int i = (int)floor(b * chain->resolution);
  if (i == chain->resolution) i--;
  *above = b * chain->resolution - i;
  return i;
}

void belief_plan_for(const belief_chain *chain, double utility[BU][BS], double alpha,
                     double policy[][BU])
{
  double v[BMOST + 1] = {0}, q[BMOST + 1][BU], above;
  for (int k = 0; k < 300; k++) {
    for (int i = 0; i <= chain->resolution; i++)
      for (int u = 0; u < BU; u++) {
        const double b = (double)i / chain->resolution;
        q[i][u] = (1 - b) * utility[u][0] + b * utility[u][1];
        for (int x = 0; x < BX; x++) {
          const int below = between(chain, chain->next[i][u][x], &above);
          q[i][u] += discount * chain->p[i][u][x] * ((1 - above) * v[below] + above * v[below + 1]);
        }
      }
    for (int i = 0; i <= chain->resolution; i++) {
      double sum = 0;
      for (int u = 0; u < BU; u++) sum += exp(q[i][u] / alpha) / BU;
      v[i] = alpha * log(sum);
    }
  }
  for (int i = 0; i <= chain->resolution; i++)
    for (int u = 0; u < BU; u++) policy[i][u] = exp((q[i][u] - v[i]) / alpha) / BU;
}

void belief_plan(const belief_chain *chain, double alpha, double lapse, double policy[][BU])
{
  double utility[BU][BS];
  memcpy(utility, pays, sizeof utility);
  belief_plan_for(chain, utility, alpha, policy);
  for (int i = 0; i <= chain->resolution; i++)
    for (int u = 0; u < BU; u++) policy[i][u] = (1 - lapse) * policy[i][u] + lapse / BU;
}

void belief_visit(const belief_chain *chain, double policy[][BU], double occupancy[][BU])
{
  double now[BMOST + 1] = {0}, weight = 1 - discount, above;
  const int first = between(chain, start, &above);
  now[first] = 1 - above;
  now[first + 1] = above;
  memset(occupancy, 0, (size_t)(chain->resolution + 1) * sizeof *occupancy);
  for (int k = 0; k < 300; k++, weight *= discount) {
    double next[BMOST + 1] = {0};
    for (int i = 0; i <= chain->resolution; i++)
      for (int u = 0; u < BU; u++) {
        const double mass = now[i] * policy[i][u];
        occupancy[i][u] += weight * mass;
        for (int x = 0; x < BX; x++) {
          const int below = between(chain, chain->next[i][u][x], &above);
          next[below] += mass * chain->p[i][u][x] * (1 - above);
          next[below + 1] += mass * chain->p[i][u][x] * above;
        }
      }
    memcpy(now, next, sizeof now);
  }
}

void belief_demonstrate(const belief_chain *chain, const idm_data *data, double occupancy[][BU])
{
  double count[BMOST + 1][BU] = {{0}}, policy[BMOST + 1][BU], above;
  for (size_t t = 0; t < data->trajectories; t++) {
    double b = start;
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      const int below = between(chain, b, &above);
      count[below][data->action[row]] += 1 - above;
      count[below + 1][data->action[row]] += above;
      see(b, data->action[row], data->observation[row], &b);
    }
  }
  for (int i = 0; i <= chain->resolution; i++) {
    const double all = count[i][0] + count[i][1] + count[i][2];
    for (int u = 0; u < BU; u++) policy[i][u] = all > 0 ? count[i][u] / all : 1.0 / BU;
  }
  belief_visit(chain, policy, occupancy);
}

double belief_diverge(const belief_chain *chain, double p[][BU], double q[][BU])
{
  double sum = 0;
  for (int i = 0; i <= chain->resolution; i++)
    for (int u = 0; u < BU; u++) {
      const double m = (p[i][u] + q[i][u]) / 2;
      if (p[i][u] > 0) sum += p[i][u] * log(p[i][u] / m) / 2;
      if (q[i][u] > 0) sum += q[i][u] * log(q[i][u] / m) / 2;
    }
  return sum;
}
