/* Tests the gradient of `recurrent` over a tree that is divided into several chunks: directional
 * derivatives against differences. (For every number of small networks see tests/plan/behavior.c.)
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { NETWORK = IDM_BLOCK_COUNT };

typedef struct scene {
  idm_problem *problem;
  idm_data *data;
  idm_prefix_tree *tree;
  idm_workspace *workspace;
} scene;

static double moved(const scene *s, const double *direction, double step, idm_theta *theta)
{
  idm_scorer *scorer;
  idm_score score;
  idm_theta_assign(theta, s->problem->theta);
  for (size_t i = 0; i < theta->block[NETWORK].size; i++)
    theta->block[NETWORK].value[i] += step * direction[i];
  check(idm_plan(theta, NULL, s->workspace, NULL, &support_error));
  check(idm_scorer_create(s->data, s->tree, &scorer, &support_error));
  check(idm_scorer_run(scorer, idm_workspace_behavior(s->workspace), &score, &support_error));
  idm_scorer_destroy(scorer);
  return score.log_likelihood;
}

/* At 64 units a chunk has room for about 13,000 nodes. */
static void swaths_add_up(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 1, 0);
  scene s = {.problem = support_problem((support_shape){2, 3, 4, 1, 5}, &random)};
  check(idm_problem_set_planner(s.problem, idm_planner_find("recurrent"), &support_error));
  const idm_simulation simulation = {.trajectories = 3000, .steps = 12, .seed = 2};
  s.data = support_simulate(s.problem, simulation);
  check(idm_evidence_tree(s.problem, s.data, &s.tree, &support_error));
  assert_true(s.tree->nodes > 25000);
  s.workspace = support_plan(s.problem, NULL);
  idm_gradient *gradient;
  idm_theta *derivative, *theta;
  double log_likelihood, again, along = 0;
  check(idm_theta_copy(s.problem->theta, &derivative, &support_error));
  check(idm_theta_copy(s.problem->theta, &theta, &support_error));
  check(idm_gradient_create(s.data, s.tree, s.workspace, &gradient, &support_error));
  check(idm_gradient_run(gradient, &again, derivative, &support_error));
  check(idm_gradient_run(gradient, &log_likelihood, derivative, &support_error));
  assert_true(again == log_likelihood);
  const size_t count = derivative->block[NETWORK].size;
  double *direction = calloc(count, sizeof *direction);
  assert_non_null(direction);
  for (size_t i = 0; i < count; i++) {
    direction[i] = idm_random_normal(&random) / sqrt((double)count);
    along += direction[i] * derivative->block[NETWORK].value[i];
  }
  assert_near(moved(&s, direction, 0, theta), log_likelihood, 1e-12);
  const double h = 1e-4;
  const double by_differences =
      (moved(&s, direction, h, theta) - moved(&s, direction, -h, theta)) / (2 * h);
  print_message("along a direction: %.9g; by differences %.9g\n", along, by_differences);
  assert_near(along, by_differences, 1e-6);
  free(direction);
  idm_gradient_destroy(gradient);
  idm_theta_destroy(theta);
  idm_theta_destroy(derivative);
  idm_workspace_destroy(s.workspace);
  idm_prefix_tree_destroy(s.tree);
  idm_data_destroy(s.data);
  idm_problem_destroy(s.problem);
}

static bool stop(void *context)
{
  (void)context;
  return true;
}

static void it_can_be_interrupted(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 3, 0);
  idm_problem *problem = support_problem((support_shape){2, 3, 4, 1, 5}, &random);
  problem->agent.hidden = problem->agent.layer = 4;
  check(idm_problem_set_planner(problem, idm_planner_find("recurrent"), &support_error));
  const idm_simulation simulation = {.trajectories = 5, .steps = 5, .seed = 2};
  idm_data *data = support_simulate(problem, simulation);
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_prefix_tree *tree;
  idm_gradient *gradient;
  idm_theta *derivative;
  double log_likelihood;
  check(idm_evidence_tree(problem, data, &tree, &support_error));
  check(idm_theta_copy(problem->theta, &derivative, &support_error));
  check(idm_gradient_create(data, tree, workspace, &gradient, &support_error));
  idm_gradient_interrupt(gradient, stop, NULL);
  assert_int_equal(idm_gradient_run(gradient, &log_likelihood, derivative, &support_error),
                   IDM_UNTRUSTED);
  idm_gradient_destroy(gradient);
  idm_theta_destroy(derivative);
  idm_prefix_tree_destroy(tree);
  idm_workspace_destroy(workspace);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(swaths_add_up),
                                     cmocka_unit_test(it_can_be_interrupted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
