/* Objective, certificate and policy of answers by the likelihood. */
#include "invert/assess/matched.h"

#include <math.h>
#include <string.h>

#include "idm/inverse.h"
#include "support.h"

#define PROBLEM                                                                                    \
  "states: [a, b]\nactions: [u, v]\nobservations: states\ndiscount: 0.5\n"                         \
  "transition: {u: [[0.9, 0.1], [0.2, 0.8]], v: uniform}\nutility: {u: [1, 0], v: [0, 2]}\n"       \
  "agent: {planner: maximum-entropy, alpha: 1}\nfree: {alpha: {scale: log, prior: {normal: [0, "   \
  "1]}}}\n"

static idm_assessment *fitted(const idm_problem *problem, const idm_data *data, const char *inverse,
                              size_t chains, idm_posterior **ret_posterior)
{
  idm_fit_settings settings;
  idm_assessment *assessment;
  idm_fit_settings_default(&settings);
  settings.chains = chains;
  settings.draws = settings.warmup = 100;
  settings.threads = 1;
  check(idm_inverse_find(inverse)->fit(problem, data, &settings, NULL, ret_posterior, NULL,
                                       &support_error));
  check(idm_assess(problem, data, *ret_posterior, 1, &assessment, &support_error));
  return assessment;
}

/* The policy at the mean of log alpha, and the log-likelihood of the log under it, row by row. */
static void check_centre(const idm_problem *problem, const idm_data *data, const idm_posterior *p,
                         const idm_finding *f)
{
  double mean = 0, sum = 0;
  const size_t all = p->chains * p->draws;
  for (size_t i = 0; i < all; i++) mean += p->unconstrained[i] / (double)all;
  idm_theta_set_scalar(problem->theta, IDM_ALPHA, exp(mean));
  idm_workspace *workspace = support_plan(problem, NULL);
  double policy[4];
  for (size_t s = 0; s < 2; s++)
    idm_plan_policy(workspace, 0, (double[]){s == 0, s == 1}, policy + 2 * s, NULL);
  for (size_t i = 0; i < 4; i++) assert_near(f->policy[i], policy[i], 1e-9);
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++) {
      const size_t s = r == data->first[t] ? 0 : (size_t)data->observation[r - 1];
      sum += log(policy[2 * s + (size_t)data->action[r]]);
    }
  assert_near(f->objective, -sum, 1e-6);
  idm_workspace_destroy(workspace);
}

static void test_answers(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml("start: [1, 0]\n" PROBLEM);
  const idm_simulation simulation = {.trajectories = 20, .steps = 5, .seed = 3};
  idm_data *data = support_simulate(problem, simulation);
  idm_posterior *p;
  idm_assessment *a = fitted(problem, data, "bayes", 2, &p);
  assert_null(a->finding);
  assert_string_equal(a->matched->certificate, "R-hat");
  assert_true(a->matched->attained == fmax(a->diagnosis[0].rhat, 1) && a->matched->closed == 1.01);
  check_centre(problem, data, p, a->matched);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
  /* One chain cannot show it; a point has no such certificate. */
  a = fitted(problem, data, "bayes", 1, &p);
  assert_true(isnan(a->matched->attained));
  assert_false(idm_finding_holds(a->matched));
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
  a = fitted(problem, data, "map", 1, &p);
  assert_string_equal(a->matched->certificate, "");
  check_centre(problem, data, p, a->matched);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Where states are hidden there is no policy by state. */
static void test_hidden(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  check(idm_problem_free(problem, "alpha", &support_error));
  const idm_simulation simulation = {.trajectories = 20, .steps = 5, .seed = 3};
  idm_data *data = support_simulate(problem, simulation);
  idm_posterior *p;
  idm_assessment *a = fitted(problem, data, "bayes", 2, &p);
  assert_true(isfinite(a->matched->objective) && a->matched->objective > 0);
  assert_null(a->matched->policy);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers), cmocka_unit_test(test_hidden)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
