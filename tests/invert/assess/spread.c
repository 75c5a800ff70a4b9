/* Tests the check of the prior of sds between people: information against replicates, and the
 * verdict under a narrow and the default prior. */
#include "invert/assess/residual.h"

#include <math.h>
#include <stdlib.h>

#include "invert/assess/context.h"
#include "invert/assess/crowd_support.h"

enum { PEOPLE = 16, TRAJECTORIES = 4, DRAWS = 200 };

/* Learners whose effects have sds of .4 and .5, under half-normal priors of this scale; 0: the
 * default scale. */
static void open_population(population *p, double scale)
{
  idm_problem *problem = population_bandit();
  idm_data *data = population_learners(problem, PEOPLE, TRAJECTORIES, 0, 11);
  for (size_t b = 0; b < problem->theta->blocks; b++)
    problem->theta->block[b].population.sd = scale;
  population_open(p, problem, data, POPULATION_RATES, DRAWS);
}

/* The variance of people's scores over replicates equals the information: with 400 replicates of 16
 * people the sum of squares has an error of 2 %. */
static void test_information(void **state)
{
  (void)state;
  enum { RUNS = 400 };
  population p;
  decision_residuals r;
  spread_check c;
  double squares[2] = {0}, information[2] = {0};
  open_population(&p, 0);
  check(idm_residual_open(&r, &p.q, &support_error));
  check(idm_spread_open(&c, &r, &support_error));
  assert_int_equal(c.effects, 2);
  double *taken = calloc(r.decision_points * r.actions, sizeof *taken);
  assert_non_null(taken);
  for (uint64_t run = 0; run < RUNS; run++) {
    idm_random random;
    idm_random_init(&random, 5, run);
    idm_residual_draw(&r, &random, taken);
    idm_spread_add_run(&c, taken, true);
    for (size_t i = 0; i < 2 * PEOPLE; i++) squares[i % 2] += c.score[i] * c.score[i] / RUNS;
  }
  for (size_t i = 0; i < 2 * PEOPLE; i++) information[i % 2] += c.information[i];
  for (size_t e = 0; e < 2; e++) assert_near(squares[e] / information[e], 1, 0.08);
  free(taken);
  idm_spread_close(&c);
  /* With the population held at the prior there are no sds to check. */
  p.design->held = true;
  check(idm_spread_open(&c, &r, &support_error));
  assert_int_equal(c.effects, 0);
  idm_spread_close(&c);
  idm_residual_close(&r);
  population_close(&p);
}

static void test_verdict(void **state)
{
  (void)state;
  for (int narrow = 0; narrow < 2; narrow++) {
    population p;
    open_population(&p, narrow ? 0.01 : 0);
    check(idm_check_chance(&p.q, &support_error));
    const idm_assessment *a = p.assessment;
    const idm_check_result *pull = &a->checks.of[IDM_CHECK_PRIOR_PULL];
    assert_int_equal(pull->outcome, narrow ? IDM_CHECK_MISFIT : IDM_CHECK_PASSED);
    assert_int_equal(pull->value > 3.2905, narrow);
    assert_int_equal(support_mentions(&a->misfits, "the prior of the sd of log_inverse_temperature "
                                                   "between people, half-normal(0.01), contradicts "
                                                   "them, and keeps it too small"),
                     narrow);
    /* If people differ beyond the prior, their trajectories differ too, and that check is not run.
     */
    assert_int_equal(a->checks.of[IDM_CHECK_TRAJECTORIES].outcome,
                     narrow ? IDM_CHECK_NOT_RUN : IDM_CHECK_PASSED);
    assert_false(support_mentions(&a->misfits, "trajectories are not alike"));
    population_close(&p);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_information),
      cmocka_unit_test(test_verdict),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
