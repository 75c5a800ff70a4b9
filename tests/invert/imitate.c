/* Imitation: a value iteration network is trained on some problems and tested on others, by the
 * mean KL divergence from the teacher's policy. */
#include "invert/project.h"

#include <math.h>
#include <string.h>

#include "support.h"

enum { STATES = 10, ACTIONS = 3, LEARNT = 200, HELD_OUT = 100, SWEEPS = 10 };

/* A walk on a ring with mostly successful moves back, stay or forward; a few states have high
 * utility, so that distant goals matter. */
static idm_problem *draw(idm_random *random)
{
  idm_problem *problem = support_problem((support_shape){STATES, ACTIONS, STATES, 1, 1}, random);
  idm_theta *theta = problem->theta;
  double *transition = theta->block[IDM_TRANSITION].value;
  problem->setting->fully_observed = true;
  for (size_t i = 0; i < ACTIONS * STATES * STATES; i++)
    problem->setting->emission[i] = theta->block[IDM_EMISSION].value[i] =
        i % STATES == i / STATES % STATES;
  memset(transition, 0, ACTIONS * STATES * STATES * sizeof *transition);
  for (size_t s = 0; s < STATES; s++) {
    const double worth = idm_random_uniform(random) < 0.3 ? 2 * idm_random_uniform(random) : 0;
    for (size_t u = 0; u < ACTIONS; u++) {
      double *row = transition + (u * STATES + s) * STATES;
      const double success = 0.6 + 0.4 * idm_random_uniform(random);
      row[(s + STATES + u - 1) % STATES] += success;
      row[s] += 1 - success;
      theta->block[IDM_UTILITY].value[u * STATES + s] = worth - 0.1 * (u != 1);
    }
  }
  memcpy(problem->setting->transition, transition, ACTIONS * STATES * STATES * sizeof *transition);
  for (size_t u = 0; u < ACTIONS; u++) theta->block[IDM_ACTION_PRIOR].value[u] = 1.0 / ACTIONS;
  support_set(problem, 0.5, INFINITY, 0);
  problem->agent.sweeps = SWEEPS;
  check(idm_problem_set_planner(problem, idm_planner_find("value-iteration-network"),
                                &support_error));
  return problem;
}

static void it_imitates_maximum_entropy(void **state)
{
  (void)state;
  const idm_planner *teacher = idm_planner_find("maximum-entropy");
  idm_problem *problem[LEARNT + HELD_OUT];
  double before, first, reached, after;
  idm_random random;
  idm_random_init(&random, 1, 0);
  for (size_t i = 0; i < LEARNT + HELD_OUT; i++) problem[i] = draw(&random);
  check(idm_imitation_divergence(teacher, problem + LEARNT, HELD_OUT, &before, &support_error));
  check(idm_imitation_divergence(teacher, problem, LEARNT, &first, &support_error));
  check(idm_problem_set_free(problem[0], "sweep_weights", &support_error));
  check(idm_imitate(teacher, problem, LEARNT, 200, &reached, &support_error));
  for (size_t i = LEARNT; i < LEARNT + HELD_OUT; i++)
    memcpy(problem[i]->theta->block[IDM_BLOCK_COUNT].value,
           problem[0]->theta->block[IDM_BLOCK_COUNT].value,
           problem[0]->theta->block[IDM_BLOCK_COUNT].size * sizeof(double));
  check(idm_imitation_divergence(teacher, problem + LEARNT, HELD_OUT, &after, &support_error));
  print_message("mean KL: on problems learnt from %.5f, before %.5f; on others %.5f, before %.5f\n",
                reached, first, after, before);
  assert_true(after <= 0.01 && after < before / 4);
  for (size_t i = 0; i < LEARNT + HELD_OUT; i++) idm_problem_destroy(problem[i]);
}

/* The divergence of a planner from itself is 0; one step towards another planner reduces it. */
static void steps_lead_downhill(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 2, 0);
  idm_problem *problem[2] = {draw(&random), draw(&random)};
  const idm_planner *itself = idm_agent_planner(&problem[0]->agent);
  double divergence;
  check(idm_imitation_divergence(itself, problem, 2, &divergence, &support_error));
  assert_near(divergence, 0, 1e-14);
  /* Far from the teacher the gradient is not 0, and one step of the climb reduces the divergence.
   */
  const idm_planner *teacher = idm_planner_find("maximum-entropy");
  double here, there;
  check(idm_problem_set_free(problem[0], "sweep_weights", &support_error));
  check(idm_imitation_divergence(teacher, problem, 2, &here, &support_error));
  check(idm_imitate(teacher, problem, 2, 1, &there, &support_error));
  assert_true(there < here);
  check(idm_imitation_divergence(teacher, problem, 2, &divergence, &support_error));
  assert_near(divergence, there, 1e-12); /* all problems share the weights */
  idm_problem_destroy(problem[0]);
  idm_problem_destroy(problem[1]);
}

static void what_it_refuses(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 3, 0);
  const idm_planner *teacher = idm_planner_find("maximum-entropy");
  idm_problem *problem[2] = {draw(&random),
                             support_problem((support_shape){3, 2, 2, 1, 5}, &random)};
  double divergence;
  assert_int_equal(idm_imitation_divergence(teacher, problem, 2, &divergence, &support_error),
                   IDM_INPUT);
  assert_non_null(strstr(support_error.message, "another form"));
  assert_int_equal(idm_imitation_divergence(teacher, problem + 1, 1, &divergence, &support_error),
                   IDM_INPUT);
  assert_non_null(strstr(support_error.message, "fully observed"));
  assert_int_equal(idm_imitation_divergence(teacher, problem, 0, &divergence, &support_error),
                   IDM_USAGE);
  assert_int_equal(idm_imitation_divergence(idm_planner_find("td-learner"), problem, 1, &divergence,
                                            &support_error),
                   IDM_INPUT);
  assert_non_null(strstr(support_error.message, "td-learner"));
  idm_problem_destroy(problem[0]);
  idm_problem_destroy(problem[1]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_imitates_maximum_entropy),
      cmocka_unit_test(steps_lead_downhill),
      cmocka_unit_test(what_it_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
