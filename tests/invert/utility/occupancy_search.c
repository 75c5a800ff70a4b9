/* Numbers of a planner by distribution matching, against value iteration and sums written out
 * here. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "invert/utility/mdp_support.h"

enum { S = 3, U = 2 };

static const char problem_text[] =
    "states: [a, b, c]\nactions: [x, y]\nobservations: states\nstart: a\ndiscount: 0.8\n"
    "transition: {x: [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]],\n"
    "             y: [[0.2, 0.5, 0.3], [0.4, 0.2, 0.4], [0.6, 0.3, 0.1]]}\n"
    "utility: {x: [1, 0, -0.5], y: [0, 0.7, 0.4]}\n"
    "agent: {planner: bounded-rational, alpha: 0.5, lapse: %g}\n";
static const double leads[U][S][S] = {{{0.7, 0.2, 0.1}, {0.1, 0.6, 0.3}, {0.3, 0.3, 0.4}},
                                      {{0.2, 0.5, 0.3}, {0.4, 0.2, 0.4}, {0.6, 0.3, 0.1}}};
static const double pays[U][S] = {{1, 0, -0.5}, {0, 0.7, 0.4}};

/* --- the slow way --------------------------------------------------------------------------- */

/* Soft value iteration under a uniform action prior, and slips. */
static void plan(double alpha, double lapse, double policy[S][U])
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

static void visit(double policy[S][U], double occupancy[S][U])
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

static void demonstrate(const idm_data *data, double occupancy[S][U])
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
  visit(policy, occupancy);
}

static double objective(idm_divergence divergence, double entropy, double p[S][U], double alpha,
                        double lapse)
{
  double policy[S][U], q[S][U], sum = 0;
  plan(alpha, lapse, policy);
  visit(policy, q);
  for (int s = 0; s < S; s++)
    for (int u = 0; u < U; u++)
      sum += diverge(divergence, p[s][u], q[s][u]) + entropy * q[s][u] * log(policy[s][u]);
  return sum;
}

/* By golden section over log alpha. */
static double find_alpha(idm_divergence divergence, double entropy, double p[S][U])
{
  const double ratio = 0.5 * (sqrt(5) - 1);
  double low = log(0.05), high = log(5);
  for (int k = 0; k < 80; k++) {
    const double a = high - ratio * (high - low), b = low + ratio * (high - low);
    if (objective(divergence, entropy, p, exp(a), 0) < objective(divergence, entropy, p, exp(b), 0))
      high = b;
    else
      low = a;
  }
  return exp((low + high) / 2);
}

/* --- tests ---------------------------------------------------------------------------------- */

static const char name[] = "distribution-matching";

static idm_problem *make(double lapse, const char *free_blocks)
{
  char text[900];
  snprintf(text, sizeof text, problem_text, lapse);
  idm_problem *problem = support_yaml(text);
  check(idm_problem_free(problem, free_blocks, &support_error));
  return problem;
}

static idm_data *simulate(const idm_problem *problem, size_t trajectories)
{
  return support_simulate(problem,
                          (idm_simulation){.trajectories = trajectories, .steps = 20, .seed = 4});
}

static idm_fit_settings settings_of(idm_divergence divergence, double entropy)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.divergence = divergence;
  settings.entropy = entropy;
  settings.lambda = 7;
  return settings;
}

/* One number, by all divergences, with and without a weight of entropy. */
static void test_alpha(void **state)
{
  (void)state;
  double p[S][U];
  idm_problem *problem = make(0, "alpha");
  idm_data *data = simulate(problem, 20);
  demonstrate(data, p);
  for (int d = IDM_DIVERGENCE_KL; d <= IDM_DIVERGENCE_SQUARED; d++)
    for (int k = 0; k < 2; k++) {
      const idm_divergence divergence = (idm_divergence)d;
      const double entropy = k ? 0.01 : 0;
      const idm_fit_settings settings = settings_of(divergence, entropy);
      idm_posterior *found = support_fit(name, problem, data, &settings);
      const double expected = find_alpha(divergence, entropy, p);
      assert_near(found->value[0], expected, 2e-5 * expected);
      assert_near(found->finding->objective, objective(divergence, entropy, p, expected, 0), 1e-9);
      assert_int_equal(idm_finding_holds(found->finding), divergence != IDM_DIVERGENCE_TV);
      assert_int_equal(found->finding->faults.count, 0);
      assert_int_equal(found->finding->open, 0);
      idm_posterior_destroy(found);
    }
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Two numbers: none of a grid of 41 by 41 around them is nearer, and a planner's own occupancy, of
 * 40,000 decisions, leads back to its numbers. */
static void test_two(void **state)
{
  (void)state;
  double p[S][U];
  idm_problem *problem = make(0.2, "alpha,lapse");
  idm_data *data = simulate(problem, 2000);
  demonstrate(data, p);
  const idm_fit_settings settings = settings_of(IDM_DIVERGENCE_KL, 0);
  idm_posterior *found = support_fit(name, problem, data, &settings);
  const bool first = strcmp(found->quantity.name[0], "alpha") == 0;
  const double alpha = found->value[first ? 0 : 1], lapse = found->value[first ? 1 : 0];
  const double here = objective(IDM_DIVERGENCE_KL, 0, p, alpha, lapse);
  assert_near(found->finding->objective, here, 1e-9);
  for (int i = -20; i <= 20; i++)
    for (int k = -20; k <= 20; k++) {
      const double other = 1 / (1 + (1 - lapse) / lapse * exp(-0.05 * k));
      assert_true(objective(IDM_DIVERGENCE_KL, 0, p, alpha * exp(0.03 * i), other) >= here - 1e-12);
    }
  assert_near(alpha, 0.5, 0.1);
  assert_near(lapse, 0.2, 0.1);
  idm_posterior_destroy(found);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Utilities attain every policy that is positive, and leave a potential per state open. */
static void test_utilities(void **state)
{
  (void)state;
  idm_problem *problem = make(0, "utility");
  idm_data *data = simulate(problem, 20);
  const idm_fit_settings settings = settings_of(IDM_DIVERGENCE_JS, 0);
  idm_posterior *found = support_fit(name, problem, data, &settings);
  assert_string_equal(found->finding->certificate, "gap to the bound");
  assert_true(idm_finding_holds(found->finding));
  assert_int_equal(found->finding->open, S);
  idm_posterior_destroy(found);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A demonstrator of one action per state: the smaller alpha, the nearer. */
static void test_unbounded(void **state)
{
  (void)state;
  idm_problem *problem = make(0, "alpha");
  idm_data *data = support_data(problem, "trajectory,action,observation\n1,x,a\n1,x,b\n1,y,c\n"
                                         "1,y,a\n1,x,a\n1,x,b\n1,y,a\n1,x,c\n1,y,b\n1,y,a\n");
  const idm_fit_settings settings = settings_of(IDM_DIVERGENCE_JS, 0);
  idm_posterior *found = support_fit(name, problem, data, &settings);
  assert_true(support_mentions(&found->finding->faults, "nothing bounds log_alpha from below") ||
              support_mentions(&found->finding->faults, "nothing bounds alpha from below"));
  idm_posterior_destroy(found);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void test_refused(void **state)
{
  (void)state;
  const idm_fit_settings settings = settings_of(IDM_DIVERGENCE_KL, 0);
  idm_problem *problem = make(0, "alpha,perseverance");
  idm_data *data = simulate(problem, 20);
  support_refused(name, problem, data, &settings, "with perseverance choices depend on the action");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  problem = support_diag(1, INFINITY, 0);
  check(idm_problem_free(problem, "alpha", &support_error));
  data = support_simulate(problem, (idm_simulation){.trajectories = 5, .steps = 5, .seed = 4});
  support_refused(name, problem, data, &settings, "states are hidden here");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_alpha),     cmocka_unit_test(test_two),
      cmocka_unit_test(test_utilities), cmocka_unit_test(test_unbounded),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
