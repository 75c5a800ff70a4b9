/* Tests the softmax of scores of a planner in the test tree: policies by hand, limits, and
 * derivatives against differences. */
#include "plan/network/network.h"

#include <math.h>
#include <string.h>

#include "support.h"

enum { STATES = 2, ACTIONS = 3, MODELS = 2, WEIGHTS = 2 * ACTIONS };

/* score(u) = w(u, 0) + w(u, 1) h, h = z(1)^2: nonlinear in z, through a hidden number. */
static void score(const softmax *s, const double *z, double *hidden, double *scores)
{
  hidden[0] = z[1] * z[1];
  for (size_t u = 0; u < ACTIONS; u++)
    scores[u] = s->number[2 * u] + s->number[2 * u + 1] * hidden[0];
}

static void backward(const softmax *s, const double *z, double *hidden, const double *by_score,
                     double *by_number, double *opt_by_belief)
{
  for (size_t u = 0; u < ACTIONS; u++) {
    by_number[2 * u] += by_score[u];
    by_number[2 * u + 1] += by_score[u] * hidden[0];
    if (opt_by_belief) opt_by_belief[1] += by_score[u] * s->number[2 * u + 1] * 2 * z[1];
  }
}

static const size_t blocks[] = {IDM_WEIGHTS};
static const softmax_scores by_prior = {blocks, 1, true, score, backward};
static const softmax_scores by_scores = {blocks, 1, false, score, backward};

static idm_problem *make(const double *weights, const double *prior)
{
  idm_random random;
  idm_random_init(&random, 61, 0);
  idm_problem *problem = support_problem((support_shape){STATES, ACTIONS, 2, MODELS, 5}, &random);
  check(idm_theta_resize(problem->theta, IDM_WEIGHTS, WEIGHTS, 1, &support_error));
  memcpy(problem->theta->block[IDM_WEIGHTS].value, weights, WEIGHTS * sizeof *weights);
  memcpy(problem->theta->block[IDM_ACTION_PRIOR].value, prior, ACTIONS * sizeof *prior);
  return problem;
}

static softmax *open_content(const idm_problem *problem, const softmax_scores *scores)
{
  void *content;
  idm_plan_report report;
  check(idm_softmax_create(scores, problem->theta, 1, 0, &content, &support_error));
  check(idm_softmax_plan(content, problem->theta, NULL, &report, &support_error));
  assert_true(isnan(report.bound) && report.stop == IDM_STOP_UNPLANNED);
  return content;
}

/* pi, sigma and log pi at (1 - p, p). */
static void ask(const softmax *s, double p, double *pi, double *opt_sigma, double *log_pi)
{
  const double z[STATES] = {1 - p, p};
  double scratch[ACTIONS + 1];
  assert_int_equal(idm_softmax_belief.scratch(s), ACTIONS + 1);
  idm_softmax_belief.policy(s, 0, 0, z, pi, opt_sigma, scratch);
  idm_softmax_belief.log_policy(s, 0, 0, z, log_pi, scratch);
}

static void policies_are_those_of_the_formula(void **state)
{
  (void)state;
  const double weights[WEIGHTS] = {0.4, 1, -0.3, 2, 0.1, -1}, prior[ACTIONS] = {0.2, 0.3, 0.5};
  idm_problem *problem = make(weights, prior);
  for (int prior_counts = 0; prior_counts < 2; prior_counts++) {
    softmax *s = open_content(problem, prior_counts ? &by_prior : &by_scores);
    double pi[ACTIONS], log_pi[ACTIONS], sigma[ACTIONS][MODELS], expected[ACTIONS], total = 0;
    ask(s, 0.7, pi, sigma[0], log_pi);
    for (size_t u = 0; u < ACTIONS; u++)
      total += expected[u] =
          (prior_counts ? prior[u] : 1) * exp(weights[2 * u] + weights[2 * u + 1] * 0.7 * 0.7);
    for (size_t u = 0; u < ACTIONS; u++) {
      assert_near(pi[u], expected[u] / total, 1e-14);
      assert_near(log_pi[u], log(expected[u] / total), 1e-14);
      assert_memory_equal(sigma[u], problem->theta->block[IDM_MODEL_PRIOR].value, sizeof sigma[u]);
    }
    idm_softmax_destroy(s);
  }
  idm_problem_destroy(problem);
}

/* A prior of 0 excludes an action whatever its score; other logarithms are finite. */
static void a_prior_of_zero_excludes_an_action(void **state)
{
  (void)state;
  const double weights[WEIGHTS] = {1e6, 0, 1, 0, 0, 0};
  idm_problem *problem = make(weights, (double[]){0, 0.5, 0.5});
  softmax *s = open_content(problem, &by_prior);
  double pi[ACTIONS], log_pi[ACTIONS];
  ask(s, 0.3, pi, NULL, log_pi);
  assert_true(pi[0] == 0 && log_pi[0] == -INFINITY);
  assert_near(pi[1], 1 / (1 + exp(-1)), 1e-14);
  assert_near(log_pi[2], -log1p(exp(1)), 1e-14);
  idm_softmax_destroy(s);
  idm_problem_destroy(problem);
}

static void huge_scores_neither_overflow_nor_lose_their_logs(void **state)
{
  (void)state;
  const double weights[WEIGHTS] = {1e5, -2e5, 1e3, 0, -2e5, 0};
  idm_problem *problem = make(weights, (double[]){0.25, 0.25, 0.5});
  softmax *s = open_content(problem, &by_prior);
  double pi[ACTIONS], log_pi[ACTIONS];
  ask(s, 0, pi, NULL, log_pi); /* scores 1e5, 1e3, -2e5 */
  assert_near(pi[0], 1, 0);
  assert_true(pi[1] == 0 && pi[2] == 0);
  assert_near(log_pi[0], 0, 1e-15);
  assert_near(log_pi[1], 1e3 - 1e5, 1e-14);
  assert_near(log_pi[2], log(2) - 3e5, 1e-14);
  ask(s, 1, pi, NULL, log_pi); /* scores -1e5, 1e3, -2e5 */
  assert_near(pi[1], 1, 0);
  assert_near(log_pi[0], -1e5 - 1e3, 1e-14);
  idm_softmax_destroy(s);
  idm_problem_destroy(problem);
}

static void numbers_beyond_all_range_are_refused(void **state)
{
  (void)state;
  const double weights[WEIGHTS] = {1e308, 1e308, 0, 0, 0, 0};
  idm_problem *problem = make(weights, (double[]){0.2, 0.3, 0.5});
  void *content;
  idm_plan_report report;
  check(idm_softmax_create(&by_prior, problem->theta, 1, 0, &content, &support_error));
  assert_int_equal(idm_softmax_plan(content, problem->theta, NULL, &report, &support_error),
                   IDM_NUMERICAL);
  assert_non_null(strstr(support_error.message, "the numbers of weights are too large"));
  idm_softmax_destroy(content);
  idm_softmax_destroy(NULL);
  idm_problem_destroy(problem);
}

/* --- derivatives ---------------------------------------------------------------------------- */

static const double by_log[ACTIONS] = {0.7, -0.4, 1.1};
static const double by_model[ACTIONS * MODELS] = {0.3, 0.1, -0.2, 0.6, 0.5, -0.9};

/* The sum of by_log log pi and by_model sigma. */
static double whole(const idm_problem *problem, const double *z)
{
  softmax *s = open_content(problem, &by_prior);
  double pi[ACTIONS], log_pi[ACTIONS], sigma[ACTIONS * MODELS], scratch[ACTIONS + 1], sum = 0;
  idm_softmax_belief.policy(s, 0, 0, z, pi, sigma, scratch);
  idm_softmax_belief.log_policy(s, 0, 0, z, log_pi, scratch);
  for (size_t u = 0; u < ACTIONS; u++) sum += by_log[u] * log_pi[u];
  for (size_t i = 0; i < ACTIONS * MODELS; i++) sum += by_model[i] * sigma[i];
  idm_softmax_destroy(s);
  return sum;
}

/* Derivatives of that sum at a temperature, in *ret_gradient and by_belief. */
static void go_back(const idm_problem *problem, double temperature, const double *derivatives,
                    const double *z, idm_theta **ret_gradient, double *by_belief)
{
  softmax *s = open_content(problem, &by_prior);
  const idm_adjoint_ops *ops = idm_softmax_belief.adjoint;
  double pi[ACTIONS], log_pi[ACTIONS];
  void *adjoint;
  s->temperature = temperature;
  ask(s, z[1], pi, NULL, log_pi);
  check(idm_theta_copy(problem->theta, ret_gradient, &support_error));
  check(ops->create(s, &adjoint, &support_error));
  for (int round = 0; round < 2; round++) { /* the second pass is independent of the first */
    for (size_t b = 0; b < (*ret_gradient)->blocks; b++)
      for (size_t i = 0; i < (*ret_gradient)->block[b].size; i++)
        (*ret_gradient)->block[b].value[i] = 0;
    memset(by_belief, 0, STATES * sizeof *by_belief);
    ops->begin(adjoint);
    ops->point(adjoint, &(idm_policy_adjoint){.belief = z,
                                              .decision = pi,
                                              .log_decision_gradient = derivatives,
                                              .specification_gradient = by_model,
                                              .opt_belief_gradient = by_belief});
    check(ops->finish(adjoint, *ret_gradient, &support_error));
  }
  ops->destroy(adjoint);
  idm_softmax_destroy(s);
}

static void slopes_are_those_of_differences(void **state)
{
  (void)state;
  static const size_t ids[] = {IDM_WEIGHTS, IDM_ACTION_PRIOR, IDM_MODEL_PRIOR};
  const double weights[WEIGHTS] = {0.4, 1, -0.3, 2, 0.1, -1}, h = 1e-5;
  double z[STATES] = {0.3, 0.7}, by_belief[STATES];
  idm_problem *problem = make(weights, (double[]){0.2, 0.3, 0.5});
  idm_theta *derivative;
  go_back(problem, 1, by_log, z, &derivative, by_belief);
  for (size_t b = 0; b < 3; b++)
    for (size_t i = 0; i < derivative->block[ids[b]].size; i++) {
      double *number = &problem->theta->block[ids[b]].value[i];
      const double kept = *number;
      *number = kept + h;
      const double above = whole(problem, z);
      *number = kept - h;
      const double below = whole(problem, z);
      *number = kept;
      assert_near(derivative->block[ids[b]].value[i], (above - below) / (2 * h), 1e-8);
    }
  for (size_t k = 0; k < STATES; k++) {
    const double kept = z[k];
    z[k] = kept + h;
    const double above = whole(problem, z);
    z[k] = kept - h;
    const double below = whole(problem, z);
    z[k] = kept;
    assert_near(by_belief[k], (above - below) / (2 * h), 1e-8);
  }
  idm_theta_destroy(derivative);
  idm_problem_destroy(problem);
}

/* With choice of the best action a tie depends on the prior alone: log pi_0 = log(p_0 / (p_0 +
 * p_2)) for two equal scores. */
static void ties_have_the_slope_of_the_prior(void **state)
{
  (void)state;
  const double weights[WEIGHTS] = {1, 0, 0, 0, 1, 0}, z[STATES] = {0.4, 0.6};
  idm_problem *problem = make(weights, (double[]){0.2, 0.3, 0.5});
  idm_theta *derivative;
  double by_belief[STATES];
  go_back(problem, 0, (const double[]){1, 0, 0}, z, &derivative, by_belief);
  const double *prior = derivative->block[IDM_ACTION_PRIOR].value;
  assert_near(prior[0], 1 / 0.2 - 1 / 0.7, 1e-12);
  assert_true(prior[1] == 0);
  assert_near(prior[2], -1 / 0.7, 1e-12);
  for (size_t i = 0; i < WEIGHTS; i++) assert_true(derivative->block[IDM_WEIGHTS].value[i] == 0);
  assert_true(by_belief[0] == 0 && by_belief[1] == 0);
  idm_theta_destroy(derivative);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(policies_are_those_of_the_formula),
      cmocka_unit_test(a_prior_of_zero_excludes_an_action),
      cmocka_unit_test(huge_scores_neither_overflow_nor_lose_their_logs),
      cmocka_unit_test(numbers_beyond_all_range_are_refused),
      cmocka_unit_test(slopes_are_those_of_differences),
      cmocka_unit_test(ties_have_the_slope_of_the_prior),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
