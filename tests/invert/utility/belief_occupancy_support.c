/* Occupancies over beliefs by value iteration and forward sums, independent of the library. */
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
  check(idm_problem_set_free(problem, free_blocks, &support_error));
  return problem;
}

/* Returns p(x); stores the posterior probability of the second state. */
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

/* Returns the lattice point below b; stores the weight of the point above. */
static int between(const belief_chain *chain, double b, double *above)
{
  int i = (int)floor(b * chain->resolution);
  if (i == chain->resolution) i--;
  *above = b * chain->resolution - i;
  return i;
}

/* Action values at belief b from the values of the points; returns their soft maximum. */
static double look(const belief_chain *chain, double utility[BU][BS], double alpha, const double *v,
                   double b, double q[BU])
{
  double sum = 0, above, next;
  for (int u = 0; u < BU; u++) {
    q[u] = (1 - b) * utility[u][0] + b * utility[u][1];
    for (int x = 0; x < BX; x++) {
      const double p = see(b, u, x, &next);
      const int below = between(chain, next, &above);
      q[u] += discount * p * ((1 - above) * v[below] + above * v[below + 1]);
    }
    sum += exp(q[u] / alpha) / BU;
  }
  return alpha * log(sum);
}

static void find_values(const belief_chain *chain, double utility[BU][BS], double alpha, double *v)
{
  double q[BU], next[BMOST + 1];
  memset(v, 0, (BMOST + 1) * sizeof *v);
  for (int k = 0; k < 300; k++) {
    for (int i = 0; i <= chain->resolution; i++)
      next[i] = look(chain, utility, alpha, v, (double)i / chain->resolution, q);
    memcpy(v, next, sizeof next);
  }
}

static void act(const belief_chain *chain, double utility[BU][BS], double alpha, const double *v,
                double b, double choice[BU])
{
  double q[BU];
  const double value = look(chain, utility, alpha, v, b, q);
  for (int u = 0; u < BU; u++) choice[u] = exp((q[u] - value) / alpha) / BU;
}

void belief_plan_for(const belief_chain *chain, double utility[BU][BS], double alpha,
                     double policy[][BU])
{
  double v[BMOST + 1];
  find_values(chain, utility, alpha, v);
  for (int i = 0; i <= chain->resolution; i++)
    act(chain, utility, alpha, v, (double)i / chain->resolution, policy[i]);
}

static void slip(const belief_chain *chain, double lapse, double policy[][BU])
{
  for (int i = 0; i <= chain->resolution; i++)
    for (int u = 0; u < BU; u++) policy[i][u] = (1 - lapse) * policy[i][u] + lapse / BU;
}

void belief_plan(const belief_chain *chain, double alpha, double lapse, double policy[][BU])
{
  double utility[BU][BS];
  memcpy(utility, pays, sizeof utility);
  belief_plan_for(chain, utility, alpha, policy);
  slip(chain, lapse, policy);
}

/* Sums over the beliefs of a log: decisions shared between lattice points, or (with opt_v) the
 * agent's choice probabilities there. */
static void add_beliefs(const belief_chain *chain, const idm_data *data, double alpha,
                        const double *opt_v, double sum[][BU], double *visits)
{
  double utility[BU][BS], above, choice[BU];
  memcpy(utility, pays, sizeof utility);
  for (size_t t = 0; t < data->trajectories; t++) {
    double b = start;
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      const int below = between(chain, b, &above), taken = data->action[row];
      for (int u = 0; u < BU; u++) choice[u] = u == taken;
      if (opt_v) act(chain, utility, alpha, opt_v, b, choice);
      for (int u = 0; u < BU; u++) {
        sum[below][u] += (1 - above) * choice[u];
        sum[below + 1][u] += above * choice[u];
      }
      visits[below] += 1 - above;
      visits[below + 1] += above;
      see(b, taken, data->observation[row], &b);
    }
  }
}

void belief_compare(const belief_chain *chain, const idm_data *data, double alpha, double lapse,
                    double demonstrated[][BU], double planned[][BU])
{
  double utility[BU][BS], v[BMOST + 1], visits[BMOST + 1] = {0}, again[BMOST + 1] = {0};
  double count[BMOST + 1][BU] = {{0}}, mean[BMOST + 1][BU] = {{0}}, own[BMOST + 1][BU];
  memcpy(utility, pays, sizeof utility);
  find_values(chain, utility, alpha, v);
  belief_plan_for(chain, utility, alpha, own);
  add_beliefs(chain, data, alpha, NULL, count, visits);
  add_beliefs(chain, data, alpha, v, mean, again);
  for (int i = 0; i <= chain->resolution; i++)
    for (int u = 0; u < BU && visits[i] > 0; u++) own[i][u] = mean[i][u] / visits[i];
  slip(chain, lapse, own);
  for (int i = 0; i <= chain->resolution; i++)
    for (int u = 0; u < BU; u++) count[i][u] = visits[i] > 0 ? count[i][u] / visits[i] : own[i][u];
  belief_visit(chain, count, demonstrated);
  belief_visit(chain, own, planned);
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
  double policy[BMOST + 1][BU] = {{0}}, visits[BMOST + 1] = {0};
  add_beliefs(chain, data, 1, NULL, policy, visits);
  for (int i = 0; i <= chain->resolution; i++)
    for (int u = 0; u < BU; u++) policy[i][u] = visits[i] > 0 ? policy[i][u] / visits[i] : 1.0 / BU;
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
