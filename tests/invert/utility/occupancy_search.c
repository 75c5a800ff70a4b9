/* Distribution matching of planner parameters, against value iteration and sums written out in
 * occupancy_support.c. */
#include "invert/utility/occupancy_loss.h"

#include <math.h>
#include <string.h>

#include "invert/utility/occupancy_support.h"

static const char name[] = "distribution-matching";

/* One parameter, for every divergence, with and without entropy. */
static void test_alpha(void **state)
{
  (void)state;
  double p[S][U];
  idm_problem *problem = occupancy_problem(0, "alpha");
  idm_data *data = occupancy_log(problem, 20);
  occupancy_demonstrate(data, p);
  for (int d = IDM_DIVERGENCE_KL; d <= IDM_DIVERGENCE_SQUARED; d++)
    for (int k = 0; k < 2; k++) {
      const idm_divergence divergence = (idm_divergence)d;
      const double entropy = k ? 0.01 : 0;
      const idm_fit_settings settings = occupancy_settings(divergence, entropy);
      idm_posterior *found = support_fit(name, problem, data, &settings);
      const double expected = occupancy_alpha(divergence, entropy, p);
      assert_near(found->value[0], expected, 2e-5 * expected);
      assert_near(found->optimality->objective,
                  occupancy_objective(divergence, entropy, p, expected, 0), 1e-9);
      assert_int_equal(idm_optimality_certified(found->optimality),
                       divergence != IDM_DIVERGENCE_TV);
      assert_int_equal(found->optimality->faults.count, 0);
      assert_int_equal(found->optimality->open, 0);
      idm_posterior_destroy(found);
    }
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Two parameters: no point of a 41 x 41 grid around the estimate is better, and the occupancy of a
 * planner, from 40,000 decisions, gives its parameters. */
static void test_two(void **state)
{
  (void)state;
  double p[S][U];
  idm_problem *problem = occupancy_problem(0.2, "alpha,lapse");
  idm_data *data = occupancy_log(problem, 2000);
  occupancy_demonstrate(data, p);
  const idm_fit_settings settings = occupancy_settings(IDM_DIVERGENCE_KL, 0);
  idm_posterior *found = support_fit(name, problem, data, &settings);
  const bool first = strcmp(found->quantity.name[0], "alpha") == 0;
  const double alpha = found->value[first ? 0 : 1], lapse = found->value[first ? 1 : 0];
  const double here = occupancy_objective(IDM_DIVERGENCE_KL, 0, p, alpha, lapse);
  assert_near(found->optimality->objective, here, 1e-9);
  for (int i = -20; i <= 20; i++)
    for (int k = -20; k <= 20; k++) {
      const double other = 1 / (1 + (1 - lapse) / lapse * exp(-0.05 * k));
      assert_true(occupancy_objective(IDM_DIVERGENCE_KL, 0, p, alpha * exp(0.03 * i), other) >=
                  here - 1e-12);
    }
  assert_near(alpha, 0.5, 0.1);
  assert_near(lapse, 0.2, 0.1);
  idm_posterior_destroy(found);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Utilities realise every positive policy and leave one potential per state undetermined. */
static void test_utilities(void **state)
{
  (void)state;
  idm_problem *problem = occupancy_problem(0, "utility");
  idm_data *data = occupancy_log(problem, 20);
  const idm_fit_settings settings = occupancy_settings(IDM_DIVERGENCE_JS, 0);
  idm_posterior *found = support_fit(name, problem, data, &settings);
  assert_string_equal(found->optimality->certificate, "gap to the bound");
  assert_true(idm_optimality_certified(found->optimality));
  assert_int_equal(found->optimality->open, S);
  idm_posterior_destroy(found);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A deterministic demonstrator: the loss decreases as alpha decreases, without a minimum. */
static void test_unbounded(void **state)
{
  (void)state;
  idm_problem *problem = occupancy_problem(0, "alpha");
  idm_data *data = support_data(problem, "trajectory,action,observation\n1,x,a\n1,x,b\n1,y,c\n"
                                         "1,y,a\n1,x,a\n1,x,b\n1,y,a\n1,x,c\n1,y,b\n1,y,a\n");
  const idm_fit_settings settings = occupancy_settings(IDM_DIVERGENCE_JS, 0);
  idm_posterior *found = support_fit(name, problem, data, &settings);
  assert_true(support_mentions(&found->optimality->faults, "log_alpha is not bounded from below") ||
              support_mentions(&found->optimality->faults, "alpha is not bounded from below"));
  idm_posterior_destroy(found);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A lapse of 0 is a valid estimate: of eight logs of an agent without lapses some end there, and
 * none is refused or reports the lapse as undetermined. */
static void test_ends(void **state)
{
  (void)state;
  size_t ended = 0;
  for (size_t k = 0; k < 8; k++) {
    idm_problem *problem = occupancy_problem(0, "alpha,lapse");
    idm_data *data = occupancy_log(problem, 20 + 5 * k);
    const idm_fit_settings settings = occupancy_settings(IDM_DIVERGENCE_KL, 0);
    idm_posterior *found = support_fit(name, problem, data, &settings);
    const bool lapses = strcmp(found->quantity.name[0], "lapse") == 0;
    assert_int_equal(found->optimality->faults.count, 0);
    assert_int_equal(found->optimality->open, 0);
    if (support_mentions(&found->optimality->words, "is at the lower end of its range")) {
      assert_true(found->value[lapses ? 0 : 1] < 1e-6);
      ended++;
    }
    idm_posterior_destroy(found);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
  assert_in_range(ended, 1, 7);
}

/* A gain soon and a loss for long afterwards: going has its largest value at an intermediate
 * discount, so every rate of going below the maximum has two discounts. */
static void test_two_optima(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(
      "states: [start, gain, loss, out]\nactions: [go, stay]\nobservations: states\n"
      "start: [1, 0, 0, 0]\ndiscount: 0.6\nterminal: [out]\n"
      "transition: {go: {start: gain, gain: loss, loss: {loss: 0.75, out: 0.25}, out: out}, "
      "stay: {start: out, gain: loss, loss: {loss: 0.75, out: 0.25}, out: out}}\n"
      "utility: {go: [0, 3, -2, 0], stay: [0, 3, -2, 0]}\n"
      "agent: {planner: bounded-rational, alpha: 0.5}\nfree: [discount]\n");
  const idm_simulation simulation = {.trajectories = 300, .seed = 3};
  idm_data *data = support_simulate(problem, simulation);
  const idm_fit_settings settings = occupancy_settings(IDM_DIVERGENCE_KL, 0);
  idm_posterior *found = support_fit(name, problem, data, &settings);
  assert_true(support_mentions(&found->optimality->faults, "other numbers fit as well"));
  idm_posterior_destroy(found);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void test_refused(void **state)
{
  (void)state;
  const idm_fit_settings settings = occupancy_settings(IDM_DIVERGENCE_KL, 0);
  idm_problem *problem = occupancy_problem(0, "alpha,perseverance");
  idm_data *data = occupancy_log(problem, 20);
  support_refused(name, problem, data, &settings,
                  "with perseverance choices depend on the previous action");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  problem = occupancy_problem(0, "{alpha: {prior: flat}}");
  data = occupancy_log(problem, 5);
  idm_fit_settings other = occupancy_settings(IDM_DIVERGENCE_KL, 0);
  other.loss_scale = 0;
  support_refused("distribution-matching-bayes", problem, data, &other, "--loss-scale is 0");
  other.loss_scale = 1;
  other.draws = other.warmup = 50;
  idm_posterior *flat = support_fit("distribution-matching-bayes", problem, data, &other);
  assert_true(support_mentions(&flat->optimality->faults, "the prior is flat"));
  idm_posterior_destroy(flat);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  problem = support_diag(1, INFINITY, 0);
  check(idm_problem_set_free(problem, "alpha", &support_error));
  data = support_simulate(problem, (idm_simulation){.trajectories = 5, .steps = 5, .seed = 4});
  support_refused(name, problem, data, &settings, "which with 3 models are not on the lattice");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A network represents every policy of three states, including the demonstrator's. */
static void test_network(void **state)
{
  (void)state;
  idm_problem *problem = occupancy_problem(0, "alpha");
  idm_data *data = occupancy_log(problem, 20);
  idm_problem_destroy(problem);
  problem = occupancy_problem_of("planner: decision-network, hidden: 4, seed: 1", "network");
  const idm_fit_settings settings = occupancy_settings(IDM_DIVERGENCE_JS, 0);
  idm_posterior *found = support_fit(name, problem, data, &settings);
  double p[S][U], q[S][U], policy[S][U];
  occupancy_demonstrate(data, p);
  memcpy(policy, found->optimality->policy, sizeof policy);
  occupancy_visit(policy, q);
  for (int e = 0; e < S * U; e++) assert_near(q[e / U][e % U], p[e / U][e % U], 1e-4);
  assert_string_equal(found->optimality->certificate, "gap to the bound");
  assert_true(idm_optimality_certified(found->optimality));
  assert_int_equal(found->optimality->faults.count, 0);
  assert_int_equal(found->quantity_size[0], problem->theta->block[IDM_BLOCK_COUNT].size);
  support_refused("distribution-matching-bayes", problem, data, &settings,
                  "numbers without names, too many");
  idm_posterior_destroy(found);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* An agent with deterministic best actions: without a gradient, nothing certifies the optimum away
 * from the bound. */
static void test_leaps(void **state)
{
  (void)state;
  idm_problem *problem = occupancy_problem(0, "alpha");
  idm_data *data = occupancy_log(problem, 20);
  idm_problem_destroy(problem);
  problem = occupancy_problem_of("planner: rational", "utility");
  const idm_fit_settings settings = occupancy_settings(IDM_DIVERGENCE_JS, 0);
  idm_posterior *found = support_fit(name, problem, data, &settings);
  assert_false(idm_optimality_certified(found->optimality));
  assert_true(support_mentions(&found->optimality->words, "is discontinuous"));
  support_refused("distribution-matching-bayes", problem, data, &settings,
                  "takes its best action has no density to draw from");
  idm_posterior_destroy(found);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* 200 decisions that hardly depend on the discount: an estimate at 1 fails, an estimate at 0 is
 * reported. */
static void test_discount_ends(void **state)
{
  (void)state;
  static const char text[] =
      "states: [a, b]\nactions: [x, y]\nobservations: [o, p]\nstart: uniform\ndiscount: 0.5\n"
      "transition: {x: [[0.1452, 0.8548], [0.0457, 0.9543]], y: [[0.2589, 0.7411], [0.1545, "
      "0.8455]]}\n"
      "observation: {x: [[0.3316, 0.6684], [0.2552, 0.7448]], y: [[0.2817, 0.7183], [0.5268, "
      "0.4732]]}\n"
      "utility: {x: [-754, 136], y: [-285, -1076]}\n"
      "agent: {planner: bounded-rational, alpha: 251.28, resolution: 10}\nfree: [discount]\n";
  const idm_fit_settings settings = occupancy_settings(IDM_DIVERGENCE_KL, 0);
  size_t above = 0, below = 0;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    idm_problem *problem = support_yaml(text);
    idm_data *data =
        support_simulate(problem, (idm_simulation){.trajectories = 10, .steps = 20, .seed = seed});
    idm_posterior *found = support_fit("distribution-matching", problem, data, &settings);
    const bool high = found->value[0] > 0.999, low = found->value[0] < 0.001;
    assert_int_equal(support_mentions(&found->optimality->faults, "at the upper end"), high);
    assert_int_equal(support_mentions(&found->optimality->words, "at the lower end"), low);
    above += high;
    below += low;
    idm_posterior_destroy(found);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
  assert_true(above > 0 && below > 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_discount_ends), cmocka_unit_test(test_alpha),
      cmocka_unit_test(test_two),           cmocka_unit_test(test_utilities),
      cmocka_unit_test(test_unbounded),     cmocka_unit_test(test_refused),
      cmocka_unit_test(test_network),       cmocka_unit_test(test_leaps),
      cmocka_unit_test(test_ends),          cmocka_unit_test(test_two_optima),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
