/* Cross-validated likelihoods: against a leave-one-out loop, with agents kept together, and
 * refusals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { CASES = 8 };

typedef struct fixture {
  idm_problem *problem;
  idm_data *data;
  idm_learn_settings settings;
} fixture;

static fixture open_fixture(size_t agents)
{
  fixture f = {.problem = support_diag(2, INFINITY, 0)};
  f.data = support_simulate(
      f.problem, (idm_simulation){.trajectories = CASES, .steps = 9, .seed = 6, .agents = agents});
  idm_learn_settings_default(&f.settings);
  f.settings.iterations = 20;
  f.settings.threads = 1;
  f.settings.folds = CASES;
  return f;
}

static void close_fixture(fixture *f)
{
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
}

static size_t rows_of(const idm_data *data, size_t trajectory)
{
  size_t rows = 0;
  for (size_t r = data->first[trajectory]; r < data->first[trajectory + 1]; r++)
    rows += data->observation[r] != IDM_MISSING;
  return rows;
}

/* Log-likelihoods of all trajectories, learnt without those whose number is `left_out`. */
static void leave_out(const fixture *f, const uint32_t *number, size_t left_out, double *scores)
{
  idm_iohmm *learner;
  idm_learn_result learnt = {0};
  bool kept[CASES];
  double all;
  for (size_t t = 0; t < CASES; t++) kept[t] = number[t] != left_out;
  check(idm_iohmm_create(f->problem, f->data, 0, f->settings.hold, &learner, &support_error));
  check(idm_iohmm_select(learner, kept, &support_error));
  check(idm_learn(learner, f->problem, &f->settings, NULL, NULL, &learnt, &support_error));
  check(idm_iohmm_log_likelihood(learner, learnt.dynamics, &all, scores, &support_error));
  idm_learn_result_clear(&learnt);
  idm_iohmm_destroy(learner);
}

/* As many folds as trajectories: each trajectory is a fold, in any assignment. The mean is a ratio
 * of sums, with the standard error of a ratio (Cochran 1977, section 6.4). */
static void test_one_at_a_time(void **state)
{
  (void)state;
  fixture f = open_fixture(1);
  const size_t own = 0;
  idm_cross_validation held;
  uint32_t itself[CASES];
  double score[CASES], scores[CASES], sum = 0, rows = 0, square = 0;
  for (uint32_t t = 0; t < CASES; t++) itself[t] = t;
  for (size_t t = 0; t < CASES; t++) {
    leave_out(&f, itself, t, scores);
    score[t] = scores[t];
    sum += score[t];
    rows += (double)rows_of(f.data, t);
  }
  for (size_t t = 0; t < CASES; t++)
    square += pow(score[t] - sum / rows * (double)rows_of(f.data, t), 2);
  check(idm_learn_cross_validate(f.problem, f.data, &own, 1, true, &f.settings, NULL, NULL, &held,
                                 &support_error));
  assert_int_equal(held.states, 2);
  assert_near(held.mean, sum / rows, 1e-12);
  assert_near(held.error, sqrt(square * CASES / (CASES - 1)) / rows, 1e-12);
  assert_true(held.difference == 0 && held.difference_error == 0);
  close_fixture(&f);
}

/* Differences are relative to the best, whose own is 0; results do not depend on the number of
 * threads. */
static void test_numbers_of_states(void **state)
{
  (void)state;
  static const size_t states[] = {1, 2, 3};
  fixture f = open_fixture(1);
  idm_cross_validation held[2][3];
  f.settings.folds = 3;
  for (int k = 0; k < 2; k++) {
    f.settings.threads = 1 + 2 * k;
    check(idm_learn_cross_validate(f.problem, f.data, states, 3, false, &f.settings, NULL, NULL,
                                   held[k], &support_error));
  }
  assert_memory_equal(held[0], held[1], sizeof held[0]);
  double best = -INFINITY;
  for (size_t i = 0; i < 3; i++) best = fmax(best, held[0][i].mean);
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(held[0][i].states, states[i]);
    assert_near(held[0][i].difference, held[0][i].mean - best, 1e-12);
    assert_true(held[0][i].difference <= 0);
  }
  close_fixture(&f);
}

/* Agents are kept together: with as many folds as agents the folds are the agents, which are the
 * units of the error. */
static void test_agents_stay_together(void **state)
{
  (void)state;
  fixture f = open_fixture(4);
  const size_t own = 0;
  idm_cross_validation held;
  double sum = 0, rows = 0;
  f.settings.folds = 4;
  for (size_t a = 0; a < 4; a++) {
    double scores[CASES];
    leave_out(&f, f.data->agent, a, scores);
    for (size_t t = 0; t < CASES; t++) {
      if (f.data->agent[t] != a) continue;
      sum += scores[t];
      rows += (double)rows_of(f.data, t);
    }
  }
  check(idm_learn_cross_validate(f.problem, f.data, &own, 1, true, &f.settings, NULL, NULL, &held,
                                 &support_error));
  assert_near(held.mean, sum / rows, 1e-12);
  close_fixture(&f);
}

static void test_refused(void **state)
{
  (void)state;
  fixture f = open_fixture(1);
  const size_t own = 0;
  idm_cross_validation held;
  idm_error error = {0};
  f.settings.folds = CASES + 1;
  assert_int_equal(idm_learn_cross_validate(f.problem, f.data, &own, 1, true, &f.settings, NULL,
                                            NULL, &held, &error),
                   IDM_INPUT);
  assert_non_null(strstr(error.message, "9 folds need as many trajectories, and the log has 8"));
  f.settings.folds = 0;
  assert_int_equal(idm_learn_cross_validate(f.problem, f.data, &own, 1, true, &f.settings, NULL,
                                            NULL, &held, &error),
                   IDM_USAGE);
  f.settings.folds = 2;
  assert_int_equal(idm_learn_cross_validate(f.problem, f.data, &own, 1, false, &f.settings, NULL,
                                            NULL, &held, &error),
                   IDM_USAGE);
  assert_non_null(strstr(error.message, "at least one state"));
  close_fixture(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_at_a_time),
      cmocka_unit_test(test_numbers_of_states),
      cmocka_unit_test(test_agents_stay_together),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
