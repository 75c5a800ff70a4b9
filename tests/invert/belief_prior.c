/* Free priors of successor beliefs: surprise against its formula, gradients against central
 * differences, estimates against the parameters of simulated logs. */
#include <math.h>

#include "invert/matching.h"
#include "support.h"

/* Hidden states, and a test with informative observations. */
static const char hidden[] =
    "states: [p, q]\nactions: [test, wait, rest]\nobservations: [x, y]\nstart: [0.5, 0.5]\n"
    "discount: 0.8\ntransition: {'*': [[0.9, 0.1], [0.1, 0.9]]}\n"
    "observation: {test: [[0.85, 0.15], [0.15, 0.85]], rest: [[0.7, 0.3], [0.4, 0.6]], "
    "'*': uniform}\nutility: {test: -0.3, wait: 0, rest: [0.5, -0.5]}\n"
    "belief_prior: {dirichlet: [3, 0.6]}\n"
    "agent: {planner: bounded-rational, alpha: 0.5, eta: 0.4, resolution: 30}\n";

/* Observed states: the prior is a distribution over the next state. */
static const char seen[] =
    "states: [a, b, c]\nactions: [go, stay, jump]\nobservations: states\nstart: uniform\n"
    "discount: 0.7\ntransition: {go: [[0.1, 0.6, 0.3], [0.2, 0.2, 0.6], [0.7, 0.2, 0.1]], "
    "stay: [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], jump: uniform}\n"
    "utility: {go: [1, 0, 0.5], stay: [0, 0.5, 0], jump: 0.2}\n"
    "belief_prior: {c: 5, '*': 1.5}\n"
    "agent: {planner: bounded-rational, alpha: 0.5, eta: 0.4}\n";

/* One step: Q = utility + eta sum_s' p (log prior - log p). */
static void surprise_is_by_the_share_of_a_state(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(seen);
  support_assign(problem, "horizon=1");
  idm_workspace *w = support_plan(problem, NULL);
  static const double share[] = {1.5 / 8, 1.5 / 8, 5.0 / 8};
  for (size_t s = 0; s < 3; s++) {
    const double z[] = {s == 0, s == 1, s == 2};
    double q[3], pi[3];
    for (size_t u = 0; u < 3; u++) {
      q[u] = problem->theta->block[IDM_UTILITY].value[3 * u + s];
      for (size_t t = 0; t < 3; t++) {
        const double p = problem->theta->block[IDM_TRANSITION].value[9 * u + 3 * s + t];
        q[u] += 0.4 * p * (log(share[t]) - log(p));
      }
    }
    idm_plan_policy(w, 0, z, pi, NULL);
    for (size_t u = 1; u < 3; u++) assert_near(log(pi[u] / pi[0]), (q[u] - q[0]) / 0.5, 1e-12);
  }
  idm_workspace_destroy(w);
  idm_problem_destroy(problem);
}

static void gradients_are_differences(void **state)
{
  (void)state;
  for (int k = 0; k < 4; k++) {
    idm_problem *problem = support_yaml(k % 2 ? seen : hidden);
    if (k > 1) support_assign(problem, "horizon=6");
    idm_data *data =
        support_simulate(problem, (idm_simulation){.trajectories = 5, .steps = 6, .seed = 2});
    check(idm_problem_set_free(problem, "belief_prior, eta", &support_error));
    idm_prefix_tree *tree;
    idm_parameters *parameters;
    idm_matching *m;
    check(idm_parameters_create(problem, &parameters, &support_error));
    check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &support_error));
    check(idm_matching_create(problem, data, tree, parameters, &m, &support_error));
    double y[3], gradient[3], value;
    assert_int_equal(idm_parameters_dimension(parameters), 3);
    idm_parameters_get(parameters, problem->theta, y);
    check(idm_matching_log_likelihood(m, y, &value, gradient, &support_error));
    assert_non_null(
        idm_matching_theta_grad(m)); /* analytic gradient of the planner, not finite differences */
    for (size_t i = 0; i < 3; i++) {
      const double h = 1e-4, at = y[i];
      double up, down;
      y[i] = at + h;
      check(idm_matching_log_likelihood(m, y, &up, NULL, &support_error));
      y[i] = at - h;
      check(idm_matching_log_likelihood(m, y, &down, NULL, &support_error));
      y[i] = at;
      assert_near(gradient[i], (up - down) / (2 * h), 1e-5 * fmax(1, fabs(gradient[i])));
    }
    idm_matching_destroy(m);
    idm_parameters_destroy(parameters);
    idm_prefix_tree_destroy(tree);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Coordinates are ratios to the weight of the reference state, whatever the sum of the weights;
 * equal weights give the ratio 1, the median of the prior. */
static void weights_are_ratios(void **state)
{
  (void)state;
  static const struct {
    const char *free;
    double ratio[2];
  } cases[] = {{"belief_prior", {1, 5 / 1.5}},
               {"{belief_prior: {reference: c}}", {1.5 / 5, 1.5 / 5}}};
  for (size_t k = 0; k < 2; k++) {
    idm_problem *problem = support_yaml(seen);
    check(idm_problem_set_free(problem, cases[k].free, &support_error));
    idm_parameters *parameters;
    double y[2];
    check(idm_parameters_create(problem, &parameters, &support_error));
    assert_int_equal(idm_parameters_dimension(parameters), 2);
    idm_parameters_get(parameters, problem->theta, y);
    for (size_t i = 0; i < 2; i++) assert_near(exp(y[i]), cases[k].ratio[i], 1e-12);
    idm_parameters_destroy(parameters);
    idm_problem_destroy(problem);
  }
}

/* The mean of the Laplace approximation is within 3.3 posterior sds of the true logarithms (for
 * observed states: of the log ratios to the reference state). By chance one of these four numbers
 * is farther off in 0.4 % of seeds. */
static void recover(const char *text, const double *truth, double widest)
{
  enum { DRAWS = 2000, COUNT = 2 };
  idm_problem *problem = support_yaml(text);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 100, .steps = 25, .seed = 3});
  check(idm_problem_set_free(problem, "belief_prior", &support_error));
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.threads = 1;
  settings.chains = 2;
  settings.draws = DRAWS;
  settings.keep = IDM_KEEP_NOTHING;
  idm_posterior *p;
  check(idm_inverse_fit(idm_inverse_find("laplace"), problem, data, &settings, NULL, &p, NULL,
                        &support_error));
  for (size_t i = 0; i < COUNT; i++) {
    const double *draw = p->unconstrained + i * 2 * DRAWS;
    double sum = 0, squares = 0;
    for (size_t d = 0; d < 2 * DRAWS; d++) sum += draw[d];
    const double mean = sum / (2 * DRAWS);
    for (size_t d = 0; d < 2 * DRAWS; d++) squares += pow(draw[d] - mean, 2);
    const double sd = sqrt(squares / (2 * DRAWS));
    print_message("%.3f (%.3f), truth %.3f\n", mean, sd, truth[i]);
    assert_true(fabs(mean - truth[i]) < 3.3 * sd);
    assert_true(sd < widest); /* the prior sd is 2 */
  }
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void priors_are_recovered(void **state)
{
  (void)state;
  recover(hidden, (const double[]){log(3), log(0.6)}, 0.6);
  recover(seen, (const double[]){0, log(5 / 1.5)}, 0.6);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(surprise_is_by_the_share_of_a_state),
      cmocka_unit_test(gradients_are_differences),
      cmocka_unit_test(weights_are_ratios),
      cmocka_unit_test(priors_are_recovered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
