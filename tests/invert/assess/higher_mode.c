/* Tests the check higher-mode on a log with two modes, of which one start finds the lower, and on
 * few data, where draws do not reach the mode. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/assess/context.h"
#include "learn/bits_support.h"
#include "support.h"

typedef struct scene {
  idm_problem *problem;
  idm_data *data;
  idm_iohmm *learner;
  idm_learn_settings settings;
} scene;

static scene open_scene(const char *yaml, idm_data *data)
{
  scene s = {.problem = support_yaml(yaml), .data = data};
  data->sizes.states = s.problem->setting->states.count; /* states are hidden */
  idm_learn_settings_default(&s.settings);
  s.settings.chains = 2;
  s.settings.warmup = 200;
  s.settings.draws = 500;
  check(idm_iohmm_create(s.problem, data, 0, s.settings.hold, &s.learner, &support_error));
  return s;
}

static void close_scene(scene *s)
{
  idm_iohmm_destroy(s->learner);
  idm_data_destroy(s->data);
  idm_problem_destroy(s->problem);
}

static idm_learn_result search(scene *s, size_t starts, size_t repeats)
{
  idm_learn_result learnt;
  s->settings.starts = starts;
  s->settings.repeats = repeats;
  check(idm_learn(s->learner, s->problem, &s->settings, NULL, NULL, &learnt, &support_error));
  return learnt;
}

/* The result of the check for draws around the learnt mode, given the log-likelihood `highest` of a
 * search. */
static idm_check_result judge(const scene *s, const idm_learn_result *learnt, double highest)
{
  idm_dynamics_draws draws;
  idm_posterior *posterior;
  idm_assessment *assessment;
  check(idm_learn_draw(s->learner, s->problem, &learnt->modes, &s->settings, NULL, NULL, &draws,
                       &support_error));
  assert_near(draws.highest, learnt->log_likelihood, 1e-9);
  draws.highest = highest;
  check(idm_dynamics_posterior(&draws, &s->settings, &posterior, &support_error));
  check(idm_assess_draws(posterior, &assessment, &support_error));
  const idm_check_result result = assessment->checks.of[IDM_CHECK_HIGHER_MODE];
  bool named = false;
  for (size_t i = 0; i < assessment->failures.count; i++)
    named |= strstr(assessment->failures.text[i], "they are of a lower mode") != NULL;
  assert_int_equal(named, result.outcome == IDM_CHECK_FAILED);
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  idm_dynamics_draws_clear(&draws);
  return result;
}

/* One start ends at the lower mode, and its draws fail; dispersed starts find the higher mode. */
static void test_two_modes(void **state)
{
  (void)state;
  scene s = open_scene(bits_second, bits_simulate(0.8, 0.75, 75, 20, 3));
  idm_learn_result one = search(&s, 1, 0);
  idm_learn_result best = search(&s, 10, 3);
  const double apart = best.log_likelihood - one.log_likelihood;
  assert_true(apart > 70);
  assert_true(best.met >= 3);
  /* State a emits ll and hl in the lower mode, ll and lh in the higher one. */
  assert_true(one.dynamics->emission[0] + one.dynamics->emission[2] > 0.9);
  assert_true(best.dynamics->emission[0] + best.dynamics->emission[1] > 0.9);
  const idm_check_result lower = judge(&s, &one, best.log_likelihood);
  const idm_check_result higher = judge(&s, &best, best.log_likelihood);
  assert_int_equal(lower.outcome, IDM_CHECK_FAILED);
  assert_near(lower.value, apart, 5);
  assert_int_equal(higher.outcome, IDM_CHECK_PASSED);
  idm_learn_result_clear(&one);
  idm_learn_result_clear(&best);
  close_scene(&s);
}

/* Twelve observations of four kinds: draws do not reach the likelihood of the mode, which is not a
 * failure. */
static void test_few_data(void **state)
{
  (void)state;
  char *yaml = bits_problem(0.8, 0.75);
  scene s = open_scene(yaml, bits_simulate(0.8, 0.75, 4, 3, 5));
  free(yaml);
  idm_learn_result best = search(&s, 10, 3);
  const idm_check_result result = judge(&s, &best, best.log_likelihood);
  assert_int_equal(result.outcome, IDM_CHECK_PASSED);
  idm_learn_result_clear(&best);
  close_scene(&s);
}

/* A run without the recorded log-likelihood. */
static void test_no_record(void **state)
{
  (void)state;
  scene s = open_scene(bits_second, bits_simulate(0.8, 0.75, 20, 5, 4));
  idm_learn_result one = search(&s, 1, 0);
  assert_int_equal(judge(&s, &one, NAN).outcome, IDM_CHECK_NOT_RUN);
  idm_learn_result_clear(&one);
  close_scene(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_modes),
                                     cmocka_unit_test(test_few_data),
                                     cmocka_unit_test(test_no_record)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
