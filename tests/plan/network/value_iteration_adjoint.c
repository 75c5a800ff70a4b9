/* Tests derivatives of value iteration networks by the parameters of beliefs and dynamics against
 * differences. (For all others see tests/plan/behavior.c.) */
#include <math.h>
#include <string.h>

#include "support.h"

enum { STATES = 3, ACTIONS = 2, MODELS = 2, STEPS = 6 };

typedef struct scene {
  idm_problem *problem;
  idm_data *data;
  idm_prefix_tree *tree;
  idm_workspace *workspace;
  idm_scorer *scorer;
} scene;

static double moved(const scene *s, idm_theta *theta, size_t block, size_t i, double step)
{
  idm_score score;
  idm_theta_assign(theta, s->problem->theta);
  theta->block[block].value[i] += step;
  if (block == IDM_TRANSITION) theta->block[block].value[i - i % STATES] -= step;
  check(idm_plan(theta, NULL, s->workspace, NULL, &support_error));
  check(idm_scorer_run(s->scorer, idm_workspace_behavior(s->workspace), &score, &support_error));
  return score.log_likelihood;
}

static double difference(const scene *s, idm_theta *theta, size_t block, size_t i)
{
  const double h = 1e-5;
  return (moved(s, theta, block, i, h) - moved(s, theta, block, i, -h)) / (2 * h);
}

static void compare(const scene *s)
{
  idm_gradient *gradient;
  idm_theta *derivative, *theta;
  double log_likelihood;
  check(idm_theta_copy(s->problem->theta, &derivative, &support_error));
  check(idm_theta_copy(s->problem->theta, &theta, &support_error));
  check(idm_gradient_create(s->data, s->tree, s->workspace, &gradient, &support_error));
  check(idm_gradient_run(gradient, &log_likelihood, derivative, &support_error));
  const double *found = derivative->block[IDM_TRANSITION].value;
  for (size_t i = 0; i < derivative->block[IDM_TRANSITION].size; i++) {
    if (i % STATES == 0) continue;
    assert_near(found[i] - found[i - i % STATES], difference(s, theta, IDM_TRANSITION, i), 1e-6);
  }
  for (size_t id = IDM_PRIOR_WEIGHT; id <= IDM_EVIDENCE_WEIGHT; id++)
    assert_near(derivative->block[id].value[0], difference(s, theta, id, 0), 1e-6);
  idm_gradient_destroy(gradient);
  idm_theta_destroy(theta);
  idm_theta_destroy(derivative);
}

/* Hidden and observed states, and a terminal action, which has no successors. */
static void slopes_by_transitions(void **state)
{
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    const bool observed = kind % 2;
    idm_random random;
    idm_random_init(&random, 1, (uint64_t)kind);
    scene s = {.problem = support_problem(
                   (support_shape){STATES, ACTIONS, observed ? STATES : 2, MODELS, 5}, &random)};
    idm_theta *theta = s.problem->theta;
    idm_block *transition = &theta->block[IDM_TRANSITION];
    for (size_t i = 0; i < transition->size; i++) /* away from the boundary of the simplex */
      transition->value[i] = 0.9 * transition->value[i] + 0.1 / STATES;
    support_set(s.problem, 0.7, INFINITY, 0);
    s.problem->agent.sweeps = 4;
    if (observed) {
      s.problem->setting->fully_observed = true;
      for (size_t i = 0; i < MODELS * ACTIONS * STATES * STATES; i++)
        theta->block[IDM_EMISSION].value[i] = i % STATES == i / STATES % STATES;
      memcpy(s.problem->setting->emission, theta->block[IDM_EMISSION].value,
             ACTIONS * STATES * STATES * sizeof(double));
      memcpy(s.problem->setting->start, (double[]){0, 1, 0}, STATES * sizeof(double));
    }
    if (kind / 2) s.problem->setting->terminal[0] = s.problem->setting->ends[0] = true;
    transition->role = IDM_DESCRIPTIVE;
    idm_theta_set_scalar(theta, IDM_PRIOR_WEIGHT, 0.8);
    idm_theta_set_scalar(theta, IDM_EVIDENCE_WEIGHT, 1.3);
    check(idm_problem_set_planner(s.problem, idm_planner_find("value-iteration-network"),
                                  &support_error));
    support_redraw(theta, IDM_BLOCK_COUNT, &random);
    const idm_simulation simulation = {.trajectories = 30, .steps = STEPS, .seed = 2};
    s.data = support_simulate(s.problem, simulation);
    s.workspace = support_plan(s.problem, NULL);
    check(idm_evidence_tree(s.problem, s.data, &s.tree, &support_error));
    check(idm_scorer_create(s.data, s.tree, &s.scorer, &support_error));
    compare(&s);
    idm_scorer_destroy(s.scorer);
    idm_prefix_tree_destroy(s.tree);
    idm_workspace_destroy(s.workspace);
    idm_data_destroy(s.data);
    idm_problem_destroy(s.problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(slopes_by_transitions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
