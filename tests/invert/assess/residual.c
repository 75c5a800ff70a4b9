/* Tests residuals of decisions: scores against the gradient, information against replicates,
 * decision points against the rows, and scores of people against likelihoods of their own logs. */
#include "invert/assess/residual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/assess/context_support.h"
#include "invert/assess/crowd_support.h"

static void open_both(assessed_fit *a, decision_residuals *r)
{
  idm_problem *problem = support_diag(2, 1.25, 0.3);
  problem->agent.resolution = 40;
  static const double alpha[3] = {2, 2, 2};
  idm_data *data = simulate_agents(problem, alpha, 3, 10, 20, 5);
  assessed_fit_open(a, problem, data, "{alpha: , beta: {scale: inverse}}");
  check(idm_residual_open(r, &a->q, &support_error));
}

/* Scores of the actions taken sum to the gradient; scores weighted by the predicted probabilities
 * sum to 0. */
static void test_scores(void **state)
{
  (void)state;
  assessed_fit a;
  decision_residuals r;
  open_both(&a, &r);
  assert_int_equal(r.dimension, 2);
  double y[2], gradient[2], sum[2] = {0}, log_likelihood;
  idm_context_draw(&a.q, 0, y);
  check(idm_matching_log_likelihood(a.f.matching[0], y, &log_likelihood, gradient, &support_error));
  assert_near(r.log_likelihood, log_likelihood, 1e-9);
  for (size_t i = 0; i < r.decision_points; i++) {
    const double *p = idm_residual_probability(&r, &r.decision_point[i]);
    double mean[2] = {0}, total = 0;
    for (size_t u = 0; u < r.actions; u++) {
      total += p[u];
      for (int j = 0; j < 2; j++)
        mean[j] += p[u] * idm_residual_score(&r, &r.decision_point[i], u)[j];
    }
    assert_near(total, 1, 1e-12);
    for (int j = 0; j < 2; j++) {
      assert_near(mean[j], 0, 1e-12);
      for (size_t u = 0; u < r.actions; u++)
        sum[j] += r.taken[i * r.actions + u] * idm_residual_score(&r, &r.decision_point[i], u)[j];
    }
  }
  for (int j = 0; j < 2; j++) assert_near(sum[j], gradient[j], 1e-2);
  idm_residual_close(&r);
  assessed_fit_close(&a);
}

/* Every decision belongs to one decision point, and decision points differ in agent, history or
 * period. */
static void test_questions(void **state)
{
  (void)state;
  assessed_fit a;
  decision_residuals r;
  open_both(&a, &r);
  double decisions = 0;
  for (size_t i = 0; i < r.decision_points; i++) {
    const decision_point *q = &r.decision_point[i];
    double taken = 0;
    for (size_t u = 0; u < r.actions; u++) taken += r.taken[i * r.actions + u];
    assert_near(taken, q->decisions, 0);
    decisions += taken;
    assert_true(q->agent < 3);
    assert_int_equal(a.f.tree->node[q->node].parent, q->parent);
    assert_int_equal(q->step == 0, q->last_action == IDM_MISSING);
    if (q->step) assert_int_equal(a.f.tree->node[q->parent].action, q->last_action);
    for (size_t k = 0; k < i; k++)
      assert_false(r.decision_point[k].agent == q->agent &&
                   r.decision_point[k].parent == q->parent &&
                   memcmp(&r.decision_point[k].period_of, &q->period_of, sizeof q->period_of) == 0);
  }
  assert_near(decisions, (double)a.data->rows, 0);
  assert_true(r.decision_points < a.data->rows);
  idm_residual_close(&r);
  assessed_fit_close(&a);
}

/* A missed response is no decision, and the decision after it has no last action or observation. */
static void test_missed(void **state)
{
  (void)state;
  assessed_fit a;
  decision_residuals r;
  idm_problem *problem = support_diag(2, 1.25, 0.3);
  problem->agent.resolution = 20;
  static const double alpha[3] = {2, 2, 2};
  idm_random random;
  idm_random_init(&random, 8, 0);
  idm_data *data = simulate_agents(problem, alpha, 3, 10, 20, 5);
  support_miss(data, problem->setting, 2, 0.3, &random);
  double decisions = 0, after = 0;
  for (size_t row = 0; row < data->rows; row++) decisions += !idm_data_missed(data, row);
  assessed_fit_open(&a, problem, data, "{alpha: }");
  check(idm_residual_open(&r, &a.q, &support_error));
  for (size_t i = 0; i < r.decision_points; i++) {
    const decision_point *q = &r.decision_point[i];
    for (size_t u = 0; u < r.actions; u++) decisions -= r.taken[i * r.actions + u];
    if (!a.f.tree->node[q->parent].missed) continue;
    assert_true(q->last_action == IDM_MISSING && q->seen == IDM_MISSING);
    after++;
  }
  assert_near(decisions, 0, 0);
  assert_true(after > 0);
  idm_residual_close(&r);
  assessed_fit_close(&a);
}

/* The variance of the scores of replicates is the information, and the information times the shift
 * is the score. */
static void test_replicates(void **state)
{
  (void)state;
  enum { RUNS = 4000 };
  assessed_fit a;
  decision_residuals r;
  open_both(&a, &r);
  double *taken = calloc(r.decision_points * r.actions, sizeof *taken);
  double *mean = calloc(r.decision_points * r.actions, sizeof *mean);
  assert_true(taken && mean);
  idm_random random;
  idm_random_init(&random, 3, 0);
  double square[2] = {0};
  for (size_t k = 0; k < RUNS; k++) {
    double score[2] = {0}, shift[2];
    idm_residual_draw(&r, &random, taken);
    for (size_t i = 0; i < r.decision_points * r.actions; i++) {
      mean[i] += taken[i] / RUNS;
      for (int j = 0; j < 2; j++)
        score[j] +=
            taken[i] * idm_residual_score(&r, &r.decision_point[i / r.actions], i % r.actions)[j];
    }
    idm_residual_shift(&r, taken, shift);
    for (int j = 0; j < 2; j++) {
      square[j] += score[j] * score[j] / RUNS;
      const double out = r.information[2 * j] * shift[0] + r.information[2 * j + 1] * shift[1];
      assert_near(score[j], out, 1e-6);
    }
  }
  /* Four standard errors of a variance. */
  for (int j = 0; j < 2; j++)
    assert_near(square[j] / r.information[3 * j], 1, 4 * sqrt(3.0 / RUNS));
  /* Frequencies of actions equal their probabilities, at decision points with one decision and with
   * many. */
  for (size_t i = 0; i < r.decision_points * r.actions; i++) {
    const decision_point *q = &r.decision_point[i / r.actions];
    const double p = idm_residual_probability(&r, q)[i % r.actions];
    assert_near(mean[i], q->decisions * p,
                5 * sqrt(q->decisions * p * (1 - p) / RUNS) + 1.0 / RUNS);
  }
  free(taken);
  free(mean);
  idm_residual_close(&r);
  assessed_fit_close(&a);
}

/* In a population every person's score is computed at their own parameters, and the scores sum to
 * that of a common shift. */
static void test_people(void **state)
{
  (void)state;
  enum { PEOPLE = 6 };
  population p;
  decision_residuals r;
  idm_problem *problem = population_bandit();
  population_open(&p, problem, population_learners(problem, PEOPLE, 2, 0, 3), POPULATION_RATES, 50);
  check(idm_residual_open(&r, &p.q, &support_error));
  const size_t d = r.dimension;
  assert_int_equal(d, 2);
  double decisions = 0, sum = 0, total[2] = {0}, shift[2];
  for (size_t c = 0; c < PEOPLE; c++) {
    const stratum *one = &p.strata.one[c];
    idm_matching *matching;
    double gradient[2], score[2] = {0}, log_likelihood;
    check(idm_matching_create(problem, one->data, one->tree, p.f.parameters, &matching,
                              &support_error));
    check(idm_matching_log_likelihood(matching, p.strata.centre + c * d, &log_likelihood, gradient,
                                      &support_error));
    sum += log_likelihood;
    for (size_t i = 0; i < r.decision_points; i++) {
      if (r.decision_point[i].stratum != c) continue;
      assert_int_equal(r.decision_point[i].agent, c);
      decisions += r.decision_point[i].decisions;
      for (size_t u = 0; u < r.actions; u++)
        for (size_t j = 0; j < d; j++)
          score[j] +=
              r.taken[i * r.actions + u] * idm_residual_score(&r, &r.decision_point[i], u)[j];
    }
    for (size_t j = 0; j < d; j++) {
      assert_near(score[j], gradient[j], 1e-2 * fmax(1, fabs(gradient[j])));
      total[j] += score[j];
    }
    idm_matching_destroy(matching);
  }
  idm_residual_shift(&r, r.taken, shift);
  for (size_t j = 0; j < d; j++)
    assert_near(r.information[j * d] * shift[0] + r.information[j * d + 1] * shift[1], total[j],
                1e-6);
  assert_near(r.log_likelihood, sum, 1e-9 * fabs(sum));
  assert_near(decisions, (double)p.data->rows, 0);
  idm_residual_close(&r);
  population_close(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scores), cmocka_unit_test(test_questions),
      cmocka_unit_test(test_missed), cmocka_unit_test(test_replicates),
      cmocka_unit_test(test_people),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
