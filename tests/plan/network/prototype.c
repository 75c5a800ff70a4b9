/* Tests prototypes, the choice by the nearest of some beliefs, against hand computations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { STATES = 3, ACTIONS = 3, SHARPNESS = IDM_BLOCK_COUNT, PROTOTYPES };

static idm_problem *make(uint64_t seed, double sharpness)
{
  idm_random random;
  idm_random_init(&random, seed, 0);
  idm_problem *problem = support_problem((support_shape){STATES, ACTIONS, 2, 2, 5}, &random);
  check(idm_problem_set_planner(problem, idm_planner_find("prototype"), &support_error));
  support_redraw(problem->theta, PROTOTYPES, &random);
  idm_theta_set_scalar(problem->theta, SHARPNESS, sharpness);
  return problem;
}

static void distances_by_hand(void **state)
{
  (void)state;
  idm_problem *problem = make(1, 3.5);
  idm_workspace *workspace = support_plan(problem, NULL);
  const double *mu = idm_theta_values(problem->theta, PROTOTYPES, 0);
  idm_random random;
  idm_random_init(&random, 2, 0);
  for (int draw = 0; draw < 20; draw++) {
    double z[STATES], pi[ACTIONS], expected[ACTIONS], total = 0;
    support_distribution(&random, z, STATES);
    for (int u = 0; u < ACTIONS; u++) {
      double distance = 0;
      for (int s = 0; s < STATES; s++) distance += pow(z[s] - mu[u * STATES + s], 2);
      total += expected[u] = exp(-3.5 * distance);
    }
    idm_plan_policy(workspace, 0, z, pi, NULL);
    for (int u = 0; u < ACTIONS; u++) assert_near(pi[u], expected[u] / total, 1e-14);
  }
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* log pi_u - log pi_v is linear in z: the boundary is a hyperplane half-way between the two
 * prototypes. */
static void boundaries_are_hyperplanes(void **state)
{
  (void)state;
  idm_problem *problem = make(3, 6);
  idm_workspace *workspace = support_plan(problem, NULL);
  const double *mu = idm_theta_values(problem->theta, PROTOTYPES, 0);
  idm_random random;
  idm_random_init(&random, 4, 0);
  for (int u = 0; u < ACTIONS; u++)
    for (int v = 0; v < u; v++) {
      double between[STATES], pi[ACTIONS];
      for (int s = 0; s < STATES; s++) between[s] = (mu[u * STATES + s] + mu[v * STATES + s]) / 2;
      idm_plan_policy(workspace, 0, between, pi, NULL);
      assert_near(pi[u], pi[v], 1e-14);
      for (int draw = 0; draw < 10; draw++) {
        double end[2][STATES], middle[STATES], odds[3];
        const double share = idm_random_uniform(&random);
        for (int k = 0; k < 2; k++) {
          support_distribution(&random, end[k], STATES);
          idm_plan_policy(workspace, 0, end[k], pi, NULL);
          odds[k] = log(pi[u] / pi[v]);
        }
        for (int s = 0; s < STATES; s++) middle[s] = share * end[0][s] + (1 - share) * end[1][s];
        idm_plan_policy(workspace, 0, middle, pi, NULL);
        odds[2] = log(pi[u] / pi[v]);
        assert_near(odds[2], share * odds[0] + (1 - share) * odds[1], 1e-12);
      }
    }
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* At kappa = 0 the policy is uniform; a large kappa chooses the nearest prototype. */
static void limits_of_sharpness(void **state)
{
  (void)state;
  for (int sharp = 0; sharp < 2; sharp++) {
    idm_problem *problem = make(5, sharp ? 1e5 : 0);
    idm_workspace *workspace = support_plan(problem, NULL);
    const double *mu = idm_theta_values(problem->theta, PROTOTYPES, 0);
    for (int u = 0; u < ACTIONS; u++) {
      double pi[ACTIONS];
      idm_plan_policy(workspace, 0, mu + u * STATES, pi, NULL);
      assert_near(pi[u], sharp ? 1 : 1.0 / ACTIONS, 1e-12);
    }
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* Every row of the prototypes is a distribution with coordinates of its own. */
static void rows_are_free(void **state)
{
  (void)state;
  idm_problem *problem = make(6, 4);
  idm_parameters *parameters;
  check(idm_problem_set_free(problem, "sharpness, prototypes", &support_error));
  check(idm_parameters_create(problem, &parameters, &support_error));
  assert_int_equal(idm_parameters_dimension(parameters), 1 + ACTIONS * (STATES - 1));
  const idm_labels *names = idm_parameters_quantities(parameters);
  assert_int_equal(names->count, 1 + ACTIONS * STATES);
  assert_string_equal(names->name[1], "prototypes[0,0]");
  assert_string_equal(names->name[9], "prototypes[2,2]");
  double y[7], back[7];
  idm_theta *theta;
  check(idm_theta_copy(problem->theta, &theta, &support_error));
  idm_parameters_get(parameters, theta, y);
  idm_theta_clear(theta);
  idm_parameters_set(parameters, y, theta);
  for (size_t i = 0; i < ACTIONS * STATES; i++)
    assert_near(theta->block[PROTOTYPES].value[i], problem->theta->block[PROTOTYPES].value[i],
                1e-14);
  idm_random random;
  idm_random_init(&random, 7, 0);
  idm_parameters_draw(parameters, &random, y);
  idm_parameters_set(parameters, y, theta);
  check(idm_theta_validate(problem->theta, problem->setting, &support_error));
  idm_parameters_get(parameters, theta, back);
  for (size_t i = 0; i < 7; i++) assert_near(back[i], y[i], 1e-9);
  idm_theta_destroy(theta);
  idm_parameters_destroy(parameters);
  idm_problem_destroy(problem);
}

/* Mean over beliefs and actions of the distance of the policies of two parameters. */
static double distance(idm_problem *problem, const idm_theta *theta)
{
  enum { BELIEFS = 200 };
  idm_workspace *truth = support_plan(problem, NULL), *answer;
  idm_random random;
  double sum = 0;
  check(idm_workspace_create(problem->setting, theta, &problem->agent, &answer, &support_error));
  check(idm_plan(theta, NULL, answer, NULL, &support_error));
  idm_random_init(&random, 10, 0);
  for (int draw = 0; draw < BELIEFS; draw++) {
    double z[STATES], p[ACTIONS], q[ACTIONS];
    support_distribution(&random, z, STATES);
    idm_plan_policy(truth, 0, z, p, NULL);
    idm_plan_policy(answer, 0, z, q, NULL);
    for (int u = 0; u < ACTIONS; u++) sum += fabs(p[u] - q[u]) / (BELIEFS * ACTIONS);
  }
  idm_workspace_destroy(truth);
  idm_workspace_destroy(answer);
  return sum;
}

/* The log-loss of the fitted parameters is below that of the truth, by less than 0.01, and the
 * policy is near the true one at any belief. */
static void prototypes_are_recovered(void **state)
{
  (void)state;
  idm_problem *problem = make(8, 8);
  const idm_simulation simulation = {.trajectories = 400, .steps = 10, .seed = 9};
  idm_data *data = support_simulate(problem, simulation);
  idm_fit_settings settings;
  idm_posterior *posterior;
  idm_parameters *parameters;
  idm_theta *theta;
  idm_fit_settings_default(&settings);
  settings.chains = 1;
  settings.threads = 1;
  check(idm_problem_set_free(problem, "sharpness, prototypes", &support_error));
  check(idm_inverse_fit(idm_inverse_find("map"), problem, data, &settings, NULL, &posterior, NULL,
                        &support_error));
  check(idm_parameters_create(problem, &parameters, &support_error));
  check(idm_theta_copy(problem->theta, &theta, &support_error));
  check(idm_posterior_theta(posterior, parameters, 0, 0, theta, &support_error));
  idm_projection truth, answer;
  check(idm_projection_measure(problem, problem->theta, data, &truth, &support_error));
  check(idm_projection_measure(problem, theta, data, &answer, &support_error));
  const double apart = distance(problem, theta);
  print_message("log-loss: truth %.4f, answer %.4f; policies %.4f apart\n", truth.log_loss,
                answer.log_loss, apart);
  assert_true(apart < 0.02);
  assert_true(answer.log_loss < truth.log_loss && answer.log_loss > truth.log_loss - 0.01);
  idm_theta_destroy(theta);
  idm_parameters_destroy(parameters);
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* The problem is unchanged after writing and reading; a row may be given as weights. */
static void files_hold_prototypes(void **state)
{
  (void)state;
  static const char text[] =
      "states: [calm, storm]\nactions: [sail, stay]\nobservations: [sun, rain]\n"
      "start: [0.5, 0.5]\n"
      "transition: {\"*\": identity}\nobservation: {\"*\": [[0.8, 0.2], [0.3, 0.7]]}\n"
      "utility: {sail: [1, -1], stay: 0}\n"
      "agent: {planner: prototype, sharpness: 5, prototypes: {sail: [3, 1], stay: [0, 2]}}\n";
  idm_problem *problem;
  idm_error error = {0};
  check(idm_problem_parse_yaml(text, strlen(text), "sea", &problem, NULL, &support_error));
  const double expected[] = {0.75, 0.25, 0, 1};
  assert_memory_equal(problem->theta->block[PROTOTYPES].value, expected, sizeof expected);
  assert_int_equal(idm_problem_set(problem, "prototypes={sail: [0, 0]}", &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "positive sum"));
  assert_int_equal(idm_problem_set(problem, "prototypes={sail: [1, -1]}", &error), IDM_USAGE);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances_by_hand),        cmocka_unit_test(boundaries_are_hyperplanes),
      cmocka_unit_test(limits_of_sharpness),      cmocka_unit_test(rows_are_free),
      cmocka_unit_test(prototypes_are_recovered), cmocka_unit_test(files_hold_prototypes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
