/* Tests the gradient of the log-likelihood against central differences of the scorer, on random
 * problems with every feature of the planners. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/believer/slope_support.h"
#include "plan/workspace.h"

#define BOUNDED "bounded-rational"

static const slope_sample samples[] = {
    {BOUNDED, 0.5, 1.25, 0.1, 0, {2, 3, 2, 3, 37}},
    {BOUNDED, -0.5, 1.25, 0.1, FORGET, {2, 3, 2, 3, 33}},
    {BOUNDED, 0.5, -1.25, -0.3, AVAILABLE, {2, 2, 3, 2, 24}},
    {BOUNDED, -0.8, -0.7, 0.3, STARTS | AVAILABLE, {2, 3, 3, 2, 20}},
    {BOUNDED, 0.5, INFINITY, 0.2, VARIANTS, {2, 2, 2, 2, 31}},
    {BOUNDED, 0.6, -INFINITY, 0, FORGET | TERMINAL, {2, 4, 2, 3, 16}},
    {BOUNDED, INFINITY, 0.8, 0.4, STARTS, {2, 3, 2, 2, 16}},
    {BOUNDED, -INFINITY, INFINITY, 0.4, 0, {2, 2, 2, 3, 16}},
    {BOUNDED, 1, 0.9, 0.2, HORIZON, {2, 3, 2, 2, 17}},
    {BOUNDED, 1, -0.9, 0.2, HORIZON | TERMINAL | AVAILABLE | VARIANTS, {2, 3, 2, 2, 17}},
    {BOUNDED, 0.7, 2, 0.5, CERTAINTY | DIRICHLET, {2, 3, 2, 2, 40}},
    {BOUNDED, 0.7, 2, 0.5, OBSERVATION | BLUR | DIRICHLET, {2, 2, 3, 2, 29}},
    {BOUNDED, 1, 1e6, 0.3, BLUR, {2, 2, 2, 3, 25}},
    {BOUNDED, 1e5, 1.5, 0.3, BLUR | FORGET, {2, 2, 2, 3, 25}},
    {BOUNDED, 0.8, 1.5, 0.3, 0, {3, 2, 2, 2, 9}},
    {BOUNDED, 0.8, -1.5, -0.3, FORGET | STARTS | BLUR, {3, 3, 3, 2, 7}},
    {BOUNDED, -0.8, 1.5, 0.6, DIRICHLET | OBSERVATION | BLUR | CERTAINTY, {3, 2, 3, 3, 6}},
    {BOUNDED, 1.5, INFINITY, 0.6, HORIZON | VARIANTS | TERMINAL, {3, 3, 2, 2, 5}},
    {BOUNDED, 0.9, 1.1, 0.2, AVAILABLE | DIRICHLET, {4, 2, 2, 2, 5}},
    {BOUNDED, 0.9, -1.1, 0.2, HORIZON, {4, 4, 3, 1, 4}},
    {BOUNDED, 1.2, 0, 0.3, 0, {2, 2, 2, 2, 21}},
    {BOUNDED, 0.5, 1.25, 0.1, BEFORE, {2, 3, 2, 3, 37}},
    {BOUNDED, 0.5, -1.25, 0.3, BEFORE | FORGET | DIRICHLET, {2, 3, 3, 2, 24}},
    {BOUNDED, 0.7, 2, 0.5, BEFORE | FORGET | OBSERVATION | BLUR, {2, 3, 3, 2, 29}},
    {BOUNDED, 0.8, -1.5, -0.3, BEFORE | FORGET | STARTS | BLUR, {3, 3, 3, 2, 7}},
    {BOUNDED, 1, 0.9, 0.2, BEFORE | HORIZON | TERMINAL | AVAILABLE, {3, 3, 2, 2, 5}},
    {BOUNDED, 0.2, 1.25, 0.1, RANGE, {2, 3, 2, 3, 37}},
    {BOUNDED, 0.1, -0.9, 0.2, RANGE | VARIANTS, {2, 2, 2, 2, 31}},
    {BOUNDED, 0.3, 0.9, 0.2, RANGE | VARIANTS | HORIZON | TERMINAL | AVAILABLE, {3, 3, 2, 2, 5}},
    {BOUNDED, INFINITY, 0.8, 0.4, RANGE | STARTS, {2, 3, 2, 2, 16}},
    {"maximum-entropy", 0.6, 1, 0.2, RANGE | VARIANTS, {2, 3, 2, 1, 7}},
    {"boltzmann-exploratory", 0.5, 1, 0.2, RANGE | VARIANTS, {2, 3, 2, 2, 30}},
    {"decision-rule", 0.6, 1, 0.2, BEFORE | STARTS, {3, 3, 2, 2, 9}},
    {"boltzmann-exploratory", 0.5, 1, 0.2, 0, {2, 3, 2, 2, 30}},
    {"boltzmann-exploratory", 0.5, 1, 0.2, HORIZON | AVAILABLE, {3, 2, 2, 1, 6}},
    {"minimum-information", 0.5, 1, 0.2, DIRICHLET, {2, 3, 2, 2, 22}},
    {"maximum-entropy", 0.6, 1, 0.2, FORGET, {3, 3, 2, 1, 7}},
    {"kl-regularised", 0.6, 1, 0.2, TERMINAL, {2, 3, 2, 1, 28}},
    {"uniformly-random", 0.6, 1, 0.2, 0, {2, 3, 2, 1, 9}},
    {"decision-rule", 0.6, 1, 0.2, AVAILABLE | STARTS, {2, 3, 2, 3, 9}},
    {"decision-rule", 0.6, 1, 0.2, VARIANTS | HORIZON, {4, 3, 3, 2, 9}},
    {BOUNDED, 0.5, 1.25, 0.1, HABIT, {2, 3, 2, 3, 37}},
    {BOUNDED, -0.8, -0.7, 0.3, HABIT | STARTS | AVAILABLE, {2, 3, 3, 2, 20}},
    {BOUNDED, 0.02, 1.25, 0.1, HABIT | TERMINAL | AVAILABLE, {2, 4, 2, 2, 17}},
    {"maximum-entropy", 0.6, 1, 0.2, HABIT | HORIZON, {3, 3, 2, 1, 7}},
    {"decision-rule", 0.6, 1, 0.2, HABIT | AVAILABLE, {2, 3, 2, 3, 9}},
    {BOUNDED, 0.5, 1.25, 0.1, MISSED | HABIT, {2, 3, 2, 3, 37}},
    {BOUNDED, 1, 0.9, 0.2, MISSED | HABIT | HORIZON | TERMINAL | AVAILABLE, {3, 3, 2, 2, 5}},
    {"decision-rule", 0.6, 1, 0.2, MISSED | HABIT | STARTS, {2, 3, 2, 3, 9}},
};

static void gradient_equals_differences(void **state)
{
  (void)state;
  slope_run_samples(samples, sizeof samples / sizeof samples[0]);
}

static const slope_sample subjective[] = {
    {BOUNDED, 0.5, 1.25, 0.1, DYNAMICS, {2, 3, 2, 2, 11}},
    {BOUNDED, 0.6, -1.1, 0, DYNAMICS | AVAILABLE, {2, 2, 3, 2, 9}},
    {BOUNDED, 0.8, INFINITY, -0.4, DYNAMICS | STARTS | VARIANTS, {2, 2, 2, 1, 12}},
    {BOUNDED, 0.7, 2, 0.5, DYNAMICS | DIRICHLET, {2, 2, 2, 2, 8}},
    {BOUNDED, 0.7, 2, 0.5, DYNAMICS | OBSERVATION | DIRICHLET, {2, 2, 3, 2, 8}},
    {BOUNDED, 0.5, 1.25, 0.3, DYNAMICS | BEFORE, {2, 2, 2, 2, 11}},
    {BOUNDED, 0.5, -1.25, 0.3, DYNAMICS | BEFORE | DIRICHLET, {3, 2, 2, 2, 4}},
    {BOUNDED, 1, 0.9, 0.2, DYNAMICS | HORIZON | TERMINAL, {2, 3, 2, 2, 7}},
    {BOUNDED, 0.8, 1.5, 0.3, DYNAMICS, {3, 2, 2, 2, 4}},
    {BOUNDED, 0.9, -1.1, 0.2, DYNAMICS | HORIZON, {4, 2, 2, 1, 3}},
    {BOUNDED, 0.6, 1.2, 0, DYNAMICS | BLUR | FORGET, {2, 3, 2, 2, 9}},
    {BOUNDED, 0.6, 1.2, 0.3, DYNAMICS | OBSERVATION | BLUR, {2, 2, 3, 2, 9}},
    {BOUNDED, 0.5, 1.25, 0.2, DYNAMICS | HABIT, {2, 2, 2, 2, 10}},
    {"decision-rule", 0.6, 1, 0.2, DYNAMICS | STARTS, {3, 3, 2, 2, 9}},
    {"decision-rule", 0.6, 1, 0.2, DYNAMICS | BEFORE, {2, 3, 3, 2, 9}},
    {"maximum-entropy", 0.6, 1, 0.2, DYNAMICS, {2, 3, 2, 1, 7}},
    {BOUNDED, 0.5, 1.25, 0.1, BENT | DYNAMICS, {2, 3, 2, 2, 11}},
    {BOUNDED, 0.6, -1.1, 0, BENT, {2, 2, 3, 2, 19}},
    {BOUNDED, 0.7, 2, 0.5, BENT | DYNAMICS | OBSERVATION | DIRICHLET, {2, 2, 3, 2, 8}},
    {BOUNDED, 0.5, -1.25, 0.3, BENT | DYNAMICS | BEFORE, {3, 2, 2, 2, 4}},
    {BOUNDED, 1, 0.9, 0.2, BENT | DYNAMICS | HORIZON | TERMINAL, {3, 3, 2, 1, 4}},
    {BOUNDED, 0.6, 1.2, 0.3, BENT | BLUR | FORGET | STARTS, {3, 2, 3, 2, 6}},
    {"decision-rule", 0.6, 1, 0.2, BENT | DYNAMICS | STARTS, {3, 3, 2, 2, 9}},
    {"maximum-entropy", 0.6, 1, 0.2, BENT | DYNAMICS, {2, 3, 2, 1, 7}},
    {"boltzmann-exploratory", 0.5, 1, 0.2, BENT | HABIT, {2, 3, 2, 1, 12}},
};

/* Derivatives by the agent's own dynamics: through the filter, and through the successors of the
 * lattice. */
static void dynamics_equal_differences(void **state)
{
  (void)state;
  slope_run_samples(subjective, sizeof subjective / sizeof subjective[0]);
}

/* --- DIAG ----------------------------------------------------------------------------------- */

static slope_bench diag_bench(double alpha, double beta, double eta, idm_evaluate evaluate,
                              const char *csv)
{
  slope_bench b = {.problem = support_diag(alpha, beta, eta)};
  b.problem->agent.evaluate = evaluate;
  b.workspace = support_plan(b.problem, NULL);
  b.data = support_data(b.problem, csv);
  slope_open(&b);
  return b;
}

static const char *const unlikely_csv = "agent,trajectory,action,observation\n"
                                        "1,1,monitor,positive\n1,1,monitor,negative\n"
                                        "1,1,declare_healthy,\n"
                                        "1,2,monitor,negative\n1,2,declare_diseased,\n"
                                        "1,3,declare_healthy,\n";

/* The same with missing observations or actions. */
static const char *const unlikely_gaps_csv = "agent,trajectory,action,observation\n"
                                             "1,1,monitor,\n1,1,monitor,negative\n"
                                             "1,1,declare_healthy,\n"
                                             "1,2,monitor,\n1,2,declare_diseased,\n"
                                             "1,3,,negative\n1,3,monitor,positive\n"
                                             "1,3,declare_healthy,\n";

/* Probabilities around 1e-6000, which underflow, are computed by logarithms. */
static void unlikely_choices_have_slopes(void **state)
{
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    slope_bench b = diag_bench(2e-3, 1000, 0.001, (idm_evaluate)(kind % 2),
                               kind < 2 ? unlikely_csv : unlikely_gaps_csv);
    double log_likelihood;
    const double expected = slope_score(&b, b.problem->theta);
    assert_true(isfinite(expected) && expected < (kind < 2 ? -1e4 : -1e3));
    check(idm_gradient_run(b.gradient, &log_likelihood, b.derivative, &support_error));
    assert_near(log_likelihood, expected, 1e-10);
    for (size_t i = 0; i < 6; i++)
      assert_near(b.derivative->block[IDM_UTILITY].value[i],
                  slope_central(&b, IDM_UTILITY, i, i, 1e-5), 1e-5);
    slope_close(&b);
  }
}

/* Checks that all derivatives are 0, except by the lapse, which changes the policy of a
 * deterministic agent. */
static void assert_no_slopes(const slope_bench *b)
{
  for (int id = 0; id < IDM_BLOCK_COUNT; id++)
    for (size_t i = 0;
         id != IDM_LAPSE && i < b->derivative->block[id].size * b->derivative->block[id].variants;
         i++)
      assert_true(b->derivative->block[id].value[i] == 0);
}

/* A deterministic agent: other actions are impossible, and the derivatives at its own actions are
 * 0. */
static void hard_choices(void **state)
{
  (void)state;
  for (int evaluate = IDM_LOOKAHEAD; evaluate <= IDM_INTERPOLATE; evaluate++) {
    double log_likelihood;
    slope_bench b = diag_bench(0, 1000, 0.001, (idm_evaluate)evaluate, unlikely_csv);
    check(idm_gradient_run(b.gradient, &log_likelihood, b.derivative, &support_error));
    assert_true(log_likelihood == -INFINITY);
    assert_no_slopes(&b);
    slope_close(&b);
    /* The agent would have declared, so the continuation is impossible. */
    b = diag_bench(0, 1000, 0.001, (idm_evaluate)evaluate,
                   "agent,action,observation\n1,monitor,positive\n1,monitor,positive\n"
                   "1,monitor,positive\n1,monitor,positive\n1,,\n1,monitor,negative\n"
                   "1,monitor,\n");
    assert_true(slope_score(&b, b.problem->theta) == -INFINITY);
    check(idm_gradient_run(b.gradient, &log_likelihood, b.derivative, &support_error));
    assert_true(log_likelihood == -INFINITY);
    assert_no_slopes(&b);
    slope_close(&b);
    b = diag_bench(0, 0, 0.001, (idm_evaluate)evaluate,
                   "agent,action,observation\n1,monitor,positive\n1,monitor,negative\n");
    check(idm_gradient_run(b.gradient, &log_likelihood, b.derivative, &support_error));
    assert_near(log_likelihood, 0, 1e-12);
    assert_no_slopes(&b);
    slope_close(&b);
  }
}

/* New dynamics create new successors; computing the gradient leaves the plan unchanged. */
static void a_gradient_serves_every_theta(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 3, 1);
  slope_bench b = {.problem = slope_problem(&samples[0], IDM_INTERPOLATE, &random)};
  b.workspace = support_plan(b.problem, NULL);
  b.data = slope_data(b.problem, b.workspace, 0, &random);
  slope_open(&b);
  double log_likelihood, before[3], after[3];
  const double z[2] = {0.41, 0.59};
  check(idm_gradient_run(b.gradient, &log_likelihood, b.derivative, &support_error));
  /* The second test becomes uninformative: fewer entries per row. */
  idm_theta *const both[] = {b.problem->theta, b.moved};
  for (size_t i = 0; i < 24; i++)
    both[i % 2]->block[IDM_EMISSION].value[(i / 8 * 3 + 1) * 4 + i % 8 / 2] = 0.5;
  slope_compare_all(&b);
  check(idm_plan(b.problem->theta, NULL, b.workspace, NULL, &support_error));
  idm_plan_policy(b.workspace, 0, z, before, NULL);
  check(idm_gradient_run(b.gradient, &log_likelihood, b.derivative, &support_error));
  idm_plan_policy(b.workspace, 0, z, after, NULL);
  assert_memory_equal(before, after, sizeof before);
  slope_close(&b);
}

/* --- MDPs ----------------------------------------------------------------------------------- */

/* An MDP with n states in a circle, along which the first action moves. The derivative of the
 * values mixes so slowly that the Krylov method stalls, and the direct recursion must complete it.
 */
static idm_problem *circle(size_t n, double discount)
{
  idm_problem *problem;
  check(idm_problem_create((idm_sizes){n, 2, n}, 1, true, true, &problem, &support_error));
  idm_theta *theta = problem->theta;
  problem->setting->fully_observed = true;
  for (size_t u = 0; u < 2; u++)
    for (size_t s = 0; s < n; s++) {
      const size_t next = u == 0 ? (s + 1) % n : s;
      theta->block[IDM_TRANSITION].value[(u * n + s) * n + next] = 1;
      theta->block[IDM_EMISSION].value[(u * n + s) * n + s] = 1;
      problem->setting->transition[(u * n + s) * n + next] = 1;
      problem->setting->emission[(u * n + s) * n + s] = 1;
      theta->block[IDM_UTILITY].value[u * n + s] = u == 0 ? (s % 7 == 0) : -1;
      problem->setting->start[s] = s == 0;
    }
  idm_theta_set_scalar(theta, IDM_DISCOUNT, discount);
  support_set(problem, 0.1, INFINITY, 0);
  return problem;
}

static void an_mdp_that_mixes_slowly(void **state)
{
  (void)state;
  slope_bench b = {.problem = circle(200, 0.9995)};
  b.workspace = support_plan(b.problem, NULL);
  b.data = support_data(b.problem, "agent,action,observation\n1,0,1\n1,1,1\n1,0,2\n1,1,\n");
  slope_open(&b);
  const double expected = slope_score(&b, b.problem->theta);
  double log_likelihood;
  check(idm_gradient_run(b.gradient, &log_likelihood, b.derivative, &support_error));
  assert_near(log_likelihood, expected, 1e-10);
  for (size_t i = 0; i < 400; i += 150)
    assert_near(b.derivative->block[IDM_UTILITY].value[i],
                slope_central(&b, IDM_UTILITY, i, i, 1e-3), 1e-5);
  assert_near(b.derivative->block[IDM_ALPHA].value[0], slope_central(&b, IDM_ALPHA, 0, 0, 1e-4),
              1e-5);
  slope_close(&b);
}

/* --- availability ---------------------------------------------------------------------------- */

static bool possible(idm_problem *problem, const char *csv)
{
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *data = support_data(problem, csv);
  idm_prefix_tree *tree;
  idm_gradient *gradient;
  check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &support_error));
  const bool answer = idm_gradient_possible(data, tree, workspace);
  const idm_status status = idm_gradient_create(data, tree, workspace, &gradient, &support_error);
  assert_int_equal(status, answer ? IDM_OK : IDM_USAGE);
  assert_true((gradient != NULL) == answer);
  idm_gradient_destroy(gradient);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  return answer;
}

static void has_one_whatever_was_recorded(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  assert_true(possible(problem, "agent,action,observation\n1,monitor,positive\n1,monitor,\n"));
  assert_true(possible(problem, "agent,action,observation\n1,monitor,positive\n1,,\n"));
  assert_true(possible(problem, "agent,action,observation\n1,monitor,\n1,monitor,\n"));
  assert_true(possible(problem, "agent,action,observation\n1,,positive\n1,monitor,\n"));
  problem->agent.recognition = IDM_RECOGNITION_SAMPLED;
  assert_true(possible(problem, "agent,action,observation\n1,monitor,positive\n1,monitor,\n"));
  idm_problem_destroy(problem);
  problem = circle(3, 0.9);
  assert_true(possible(problem, "agent,action,observation\n1,0,1\n1,1,\n"));
  problem->setting->start[0] = problem->setting->start[1] = 0.5;
  assert_true(possible(problem, "agent,action,observation\n1,0,1\n1,1,\n"));
  idm_problem_destroy(problem);
}

/* An impossible observation is an error with its line, also for a last observation. */
static void impossible_observations_are_refused(void **state)
{
  (void)state;
  const char *const cases[] = {"agent,action,observation\n1,0,1\n1,0,1\n1,0,\n",
                               "agent,action,observation\n1,0,1\n1,0,1\n"};
  for (size_t i = 0; i < 2; i++) {
    slope_bench b = {.problem = circle(3, 0.9)};
    b.workspace = support_plan(b.problem, NULL);
    b.data = support_data(b.problem, cases[i]);
    slope_open(&b);
    double log_likelihood;
    assert_int_equal(idm_gradient_run(b.gradient, &log_likelihood, b.derivative, &support_error),
                     IDM_INPUT);
    assert_int_equal(support_error.line, 3);
    assert_non_null(strstr(support_error.message, "impossible"));
    slope_close(&b);
  }
}

/* Derivatives by the start of the setting, along the simplex in both directions. */
static void starts_have_slopes(void **state)
{
  (void)state;
  static const slope_sample from[] = {{BOUNDED, 0.5, 1.25, 0, DYNAMICS, {2, 3, 2, 3, 37}},
                                      {BOUNDED, 0.8, -1.5, 0, DYNAMICS, {3, 2, 3, 2, 9}},
                                      {BOUNDED, 0.8, 1.5, 0.3, STARTS, {3, 2, 2, 2, 9}}};
  idm_random random;
  idm_random_init(&random, 77, 0);
  size_t compared = 0;
  for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
    slope_bench b = {.problem = slope_problem(&from[i], IDM_LOOKAHEAD, &random)};
    b.workspace = support_plan(b.problem, NULL);
    b.data = slope_data(b.problem, b.workspace, from[i].features, &random);
    slope_open(&b);
    double by_start[3], log_likelihood, *start = b.problem->setting->start;
    slope_score(&b, b.problem->theta);
    check(idm_gradient_run(b.gradient, &log_likelihood, b.derivative, &support_error));
    assert_true(idm_gradient_by_start(b.gradient, by_start));
    for (size_t s = 1; s < from[i].shape.states; s++) {
      double found[2];
      for (int k = 0; k < 2; k++) {
        const double h = k ? 2e-6 : 1e-6, before[2] = {start[s - 1], start[s]};
        double end[2];
        for (int side = 0; side < 2; side++) {
          start[s] = before[1] + (side ? h : -h);
          start[s - 1] = before[0] - (side ? h : -h);
          end[side] = slope_score(&b, b.problem->theta);
          start[s] = before[1];
          start[s - 1] = before[0];
        }
        found[k] = (end[1] - end[0]) / (2 * h);
      }
      if (fabs(found[0] - found[1]) > 1e-4 * fmax(1, fabs(found[0]))) continue; /* at a kink */
      compared++;
      assert_near(by_start[s] - by_start[s - 1], found[0], 1e-3);
    }
    slope_close(&b);
  }
  assert_true(compared >= 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(starts_have_slopes),
      cmocka_unit_test(gradient_equals_differences),
      cmocka_unit_test(dynamics_equal_differences),
      cmocka_unit_test(unlikely_choices_have_slopes),
      cmocka_unit_test(hard_choices),
      cmocka_unit_test(a_gradient_serves_every_theta),
      cmocka_unit_test(an_mdp_that_mixes_slowly),
      cmocka_unit_test(has_one_whatever_was_recorded),
      cmocka_unit_test(impossible_observations_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
