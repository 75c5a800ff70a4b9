/* Tests predictions of people against plans and scores of every draw. */
#include "invert/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/posterior.h"
#include "support.h"

enum { PEOPLE = 2, CHAINS = 2, DRAWS = 3, ALL = CHAINS * DRAWS };

static const char log_text[] = "agent,trajectory,action,observation\n"
                               "ann,1,monitor,positive\n"
                               "ann,1,declare_diseased,\n"
                               "bob,2,declare_healthy,\n"
                               "ann,3,monitor,negative\n"
                               "ann,3,monitor,negative\n"
                               "ann,3,declare_healthy,\n";

/* log alpha of bob and ann, in this order, along the axis `person`. */
static idm_posterior *made_up(void)
{
  idm_posterior *p = calloc(1, sizeof *p);
  idm_labels person = {0};
  assert_non_null(p);
  p->answer = IDM_POSTERIOR;
  p->chains = CHAINS;
  p->draws = DRAWS;
  SUPPORT_NAMES(&p->quantity, "", "");
  SUPPORT_NAMES(&person, "bob", "ann");
  p->summarised = calloc(PEOPLE, sizeof *p->summarised);
  p->statistics = calloc(ALL, sizeof *p->statistics);
  p->value = malloc(PEOPLE * ALL * sizeof *p->value);
  assert_true(p->summarised && p->statistics && p->value);
  for (size_t i = 0; i < PEOPLE * ALL; i++) p->value[i] = 0.3 * (double)i - 1;
  check(idm_posterior_add_axis(p, "person", &person, &support_error));
  check(idm_posterior_add_series(p, "log_alpha", 0, 0, &support_error));
  idm_labels_destroy(&person);
  return p;
}

static void everybody_is_predicted_by_their_own_draws(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(1, INFINITY, 0);
  idm_posterior *p = made_up();
  idm_data *data = support_data(problem, log_text);
  double found[3], expected[3] = {0};
  idm_score score;
  for (size_t t = 0; t < 3; t++) {
    const size_t person = t == 1 ? 0 : 1;
    for (size_t k = 0; k < ALL; k++) {
      support_set(problem, exp(p->value[person * ALL + k]), INFINITY, 0);
      idm_workspace *workspace = support_plan(problem, NULL);
      support_scored scored = support_open_score(workspace, data);
      expected[t] += exp(idm_scorer_trajectory(scored.scorer, t)) / ALL;
      support_close_score(&scored);
      idm_workspace_destroy(workspace);
    }
  }
  for (int threads = 1; threads < 3; threads++) {
    check(idm_people_predict(problem, p, data, "agent", threads, found, &score, &support_error));
    for (size_t t = 0; t < 3; t++) assert_near(found[t], log(expected[t]), 1e-9);
    assert_int_equal(score.decisions, 6);
    assert_near(score.log_likelihood, found[0] + found[1] + found[2], 1e-12);
  }
  idm_data_destroy(data);
  idm_posterior_destroy(p);
  idm_problem_destroy(problem);
}

static void strangers_and_other_numbers_are_refused(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(1, INFINITY, 0);
  idm_posterior *p = made_up();
  idm_data *data = support_data(problem, "agent,action,observation\nanne,declare_healthy,\n");
  double found[1];
  idm_score score;
  idm_error error = {0};
  idm_posterior *own = NULL;
  assert_int_equal(idm_people_predict(problem, p, data, "agent", 1, found, &score, &error),
                   IDM_INPUT);
  assert_non_null(strstr(error.message, "the run has no person 'anne' (by 'agent'); did you "
                                        "mean 'ann'?"));
  assert_int_equal(idm_posterior_person(problem, p, 2, &own, &error), IDM_USAGE);
  check(idm_problem_set_free(problem, "beta", &support_error));
  assert_int_equal(idm_posterior_person(problem, p, 0, &own, &error), IDM_INPUT);
  assert_null(own);
  idm_data_destroy(data);
  idm_posterior_destroy(p);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everybody_is_predicted_by_their_own_draws),
      cmocka_unit_test(strangers_and_other_numbers_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
