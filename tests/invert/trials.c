/* Quantities by trial (beliefs, action values, policies, surprise) against a Bayes filter written
 * out here, the planner's policies and the scorer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* p(s', x|z,u) under model m. */
static double joint(const idm_problem *p, size_t m, const double *z, size_t u, size_t x,
                    size_t next)
{
  const idm_sizes n = p->theta->sizes;
  const double *transition = idm_theta_values(p->theta, IDM_TRANSITION, 0);
  const double *emission = idm_theta_values(p->theta, IDM_EMISSION, 0);
  double sum = 0;
  for (size_t s = 0; s < n.states; s++)
    sum += z[s] * transition[((m * n.actions + u) * n.states + s) * n.states + next];
  return sum * emission[((m * n.actions + u) * n.states + next) * n.observations + x];
}

/* Updates z by (u, x), with models weighted by sigma; returns p(x|z,u). */
static double filter(const idm_problem *p, const double *sigma, double *z, size_t u, size_t x)
{
  const size_t k = p->theta->sizes.states;
  double next[8] = {0};
  double predicted = 0;
  for (size_t m = 0; m < p->theta->models; m++) {
    double seen = 0;
    for (size_t s = 0; s < k; s++) seen += joint(p, m, z, u, x, s);
    for (size_t s = 0; s < k; s++) next[s] += sigma[m] * joint(p, m, z, u, x, s) / seen;
    predicted += sigma[m] * seen;
  }
  memcpy(z, next, k * sizeof *z);
  return predicted;
}

static const double *row_of(const idm_trials *t, const double *numbers, size_t row)
{
  return numbers + t->node[row] * t->width;
}

/* Every row of a complete log, step by step. */
static void rows_are_those_of_a_plain_filter(void **state)
{
  (void)state;
  for (int evaluate = 0; evaluate < 2; evaluate++) {
    idm_random random;
    idm_random_init(&random, 3, (uint64_t)evaluate);
    idm_problem *problem = support_problem((support_shape){3, 3, 2, 2, 8}, &random);
    support_set(problem, 0.7, 1.5, 0.2);
    problem->agent.evaluate = (idm_evaluate)evaluate;
    const idm_sizes n = problem->theta->sizes;
    idm_workspace *workspace = support_plan(problem, NULL);
    idm_data *data =
        support_simulate(problem, (idm_simulation){.trajectories = 30, .steps = 5, .seed = 2});
    idm_trials *trials;
    check(idm_trials_create(workspace, data, &trials, &support_error));
    assert_int_equal(trials->width, n.states + 2 * n.actions + 2);
    assert_null(trials->low);
    double total = 0;
    for (size_t t = 0; t < data->trajectories; t++) {
      double z[8], pi[8], sigma[32], q[8];
      memcpy(z, problem->setting->start, n.states * sizeof *z);
      for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
        const double *found = row_of(trials, trials->mean, row);
        const size_t u = (size_t)data->action[row];
        idm_plan_policy(workspace, 0, z, pi, sigma);
        idm_plan_quality(workspace, 0, 0, z, q);
        for (size_t s = 0; s < n.states; s++) assert_near(found[s], z[s], 1e-12);
        for (size_t v = 0; v < n.actions; v++) {
          assert_near(found[n.states + v], pi[v], 1e-12);
          assert_near(found[n.states + n.actions + v], q[v], 1e-12);
        }
        total += log(pi[u]);
        assert_near(found[trials->width - 1], log(pi[u]), 1e-9);
        const double seen = filter(problem, sigma + u * problem->theta->models, z, u,
                                   (size_t)data->observation[row]);
        assert_near(found[trials->width - 2], -log(seen), 1e-9);
      }
    }
    assert_near(total, support_score(workspace, data), 1e-9);
    idm_trials_destroy(trials);
    idm_data_destroy(data);
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* pi is the softmax of Q over the action prior at temperature alpha, and V its log-sum-exp. */
static void q_and_policy_agree(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  problem->agent.evaluate = IDM_LOOKAHEAD;
  idm_workspace *workspace = support_plan(problem, NULL);
  for (int i = 0; i <= 10; i++) {
    const double z[] = {i / 10.0, 1 - i / 10.0};
    double q[3], pi[3];
    idm_plan_quality(workspace, 0, 0, z, q);
    idm_plan_policy(workspace, 0, z, pi, NULL);
    const double value = idm_plan_value(workspace, 0, z);
    for (int u = 0; u < 3; u++)
      if (pi[u] > 1e-200) assert_near(q[u], value + 0.5 * log(3 * pi[u]), 1e-9);
  }
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* A row after a missing observation: means over the two possible beliefs. */
static void what_was_not_recorded_is_averaged_over(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(2, 1.25, 0.001);
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *data =
      support_data(problem, "agent,action,observation\na,monitor,\na,monitor,positive\n"
                            "b,,positive\nb,declare_healthy,\n");
  idm_trials *trials;
  check(idm_trials_create(workspace, data, &trials, &support_error));
  const double *blank = row_of(trials, trials->mean, 0);
  const double *after = row_of(trials, trials->mean, 1);
  assert_true(isnan(blank[8])); /* no observation, no surprise */
  /* Both test results have the same probability and lead to mirrored beliefs. */
  assert_near(after[0], 0.5, 1e-12);
  double z[] = {0.5, 0.5}, pi[3], sigma[9], q[3], mirrored[3], expected = 0;
  idm_plan_policy(workspace, 0, z, pi, sigma);
  filter(problem, sigma + 6, z, 2, 0);
  const double other[] = {z[1], z[0]};
  idm_plan_quality(workspace, 0, 0, z, q);
  idm_plan_quality(workspace, 0, 0, other, mirrored);
  for (int u = 0; u < 3; u++) assert_near(after[5 + u], (q[u] + mirrored[u]) / 2, 1e-9);
  expected = (idm_plan_predict(workspace, 0, 0, z, 2, 1) +
              idm_plan_predict(workspace, 0, 0, other, 2, 1)) /
             2;
  assert_near(after[8], -log(expected), 1e-9);
  double sum = 0;
  for (size_t row = 0; row < data->rows; row++) sum += row_of(trials, trials->mean, row)[9];
  assert_near(sum, support_score(workspace, data), 1e-9);
  idm_trials_destroy(trials);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Over draws: mean and type-7 quantiles of the values at each draw. */
static void draws_are_summarised(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  check(idm_problem_set_free(problem, "alpha", &support_error));
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 20, .steps = 5, .seed = 2});
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.chains = 2;
  settings.draws = 20;
  settings.warmup = 50;
  idm_posterior *posterior = NULL;
  check(idm_inverse_fit(idm_inverse_find("bayes"), problem, data, &settings, NULL, &posterior, NULL,
                        &support_error));
  idm_trials *trials, *one;
  check(idm_posterior_trials(problem, posterior, data, &trials, &support_error));
  assert_int_equal(trials->draws, 40);
  double sample[40];
  const size_t row = 3, number = 4; /* the probability of monitoring */
  idm_parameters *parameters;
  check(idm_parameters_create(problem, &parameters, &support_error));
  double sum = 0;
  for (size_t i = 0; i < 40; i++) {
    check(
        idm_posterior_theta(posterior, parameters, i / 20, i % 20, problem->theta, &support_error));
    idm_workspace *workspace = support_plan(problem, NULL);
    check(idm_trials_create(workspace, data, &one, &support_error));
    sample[i] = row_of(one, one->mean, row)[number];
    sum += sample[i];
    idm_trials_destroy(one);
    idm_workspace_destroy(workspace);
  }
  assert_near(row_of(trials, trials->mean, row)[number], sum / 40, 1e-7);
  assert_near(row_of(trials, trials->low, row)[number], idm_quantile(sample, 40, 0.05), 1e-7);
  assert_near(row_of(trials, trials->high, row)[number], idm_quantile(sample, 40, 0.95), 1e-7);
  idm_parameters_destroy(parameters);
  idm_trials_destroy(trials);
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_those_of_a_plain_filter),
      cmocka_unit_test(q_and_policy_agree),
      cmocka_unit_test(what_was_not_recorded_is_averaged_over),
      cmocka_unit_test(draws_are_summarised),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
