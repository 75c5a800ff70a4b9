/* Tests which logs dynamics can be drawn jointly with. */
#include "invert/joint/joint.h"

#include "invert/joint/joint_support.h"

/* The log must be the one the dynamics were learnt from. */
static void test_learner(void **state)
{
  (void)state;
  joint_scene s = joint_open(40);
  idm_data *other = joint_other_log(&s);
  idm_iohmm *learner;
  idm_cut_draws cut = {s.problem, &s.draws, 10};
  check(idm_joint_learner(s.problem, &cut, other, &learner, &support_error));
  assert_null(learner);
  s.draws.place[0]++; /* draws of other probabilities */
  check(idm_joint_learner(s.problem, &cut, s.data, &learner, &support_error));
  assert_null(learner);
  s.draws.place[0]--;
  s.draws.log_likelihood[0] += 0.01;
  check(idm_joint_learner(s.problem, &cut, s.data, &learner, &support_error));
  assert_null(learner);
  s.draws.log_likelihood[0] -= 0.01;
  check(idm_joint_learner(s.problem, &cut, s.data, &learner, &support_error));
  assert_non_null(learner);
  idm_iohmm_destroy(learner);
  idm_data_destroy(other);
  joint_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_learner)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
