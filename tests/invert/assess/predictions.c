/* Tests predicted summaries of a log: observed shares against counts of rows, and intervals against
 * normal approximations. */
#include "invert/assess/residual.h"

#include <math.h>
#include <string.h>

#include "invert/assess/context_support.h"

static void open_fit(assessed_fit *a, double alpha)
{
  static double both[2];
  idm_problem *problem = support_diag(3, 1.25, 0.3);
  both[0] = both[1] = alpha;
  problem->agent.resolution = 40;
  assessed_fit_open(a, problem, simulate_agents(problem, both, 2, 60, 40, 5), "alpha");
}

static const idm_prediction *find(const idm_predictions *p, idm_model_test test, const char *label)
{
  for (size_t i = 0; i < p->count; i++)
    if (p->one[i].test == test && strcmp(p->one[i].label, label) == 0) return &p->one[i];
  return NULL;
}

/* Observed shares equal counts of rows. */
static void test_observed(void **state)
{
  (void)state;
  assessed_fit a;
  idm_predictions p;
  open_fit(&a, 3);
  check(idm_predictions_find(a.problem, a.data, a.posterior, &p, &support_error));
  const idm_data *data = a.data;
  double second = 0, taken[3] = {0}, ended = 0, stayed = 0, could = 0;
  double returned = 0, shown = 0, declared = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      const size_t step = row - data->first[t];
      if (step == 1) second++, taken[data->action[row]]++;
      if (step == 0) ended += data->action[row] != 2;
      if (step > 1 && data->observation[row - 2] == 1) {
        shown++;
        returned += data->action[row] == data->action[row - 2];
      }
      if (step == 0 || data->observation[row - 1] != 1) continue;
      could++;
      stayed += data->action[row] == data->action[row - 1];
      declared += data->action[row] == 1;
    }
  const idm_prediction *one = find(&p, IDM_TEST_STEPS, "step 2, monitor");
  assert_non_null(one);
  assert_near(one->trials, second, 1e-12);
  assert_near(one->observed, taken[2] / second, 1e-12);
  one = find(&p, IDM_TEST_LENGTHS, "step 1");
  assert_non_null(one);
  assert_near(one->observed, ended / (double)data->trajectories, 1e-12);
  one = find(&p, IDM_TEST_REPETITION, "after positive");
  assert_non_null(one);
  assert_near(one->observed, stayed / could, 1e-12);
  assert_near(one->trials, could, 1e-12);
  one = find(&p, IDM_TEST_ALTERNATION, "after positive");
  assert_non_null(one);
  assert_near(one->observed, returned / shown, 1e-12);
  assert_near(one->trials, shown, 1e-12);
  one = find(&p, IDM_TEST_RESPONSES, "after positive, declare_diseased");
  assert_non_null(one);
  assert_near(one->observed, declared / could, 1e-12);
  assert_near(one->trials, could, 1e-12);
  for (size_t i = 0; i < p.count; i++) assert_true(p.one[i].test != IDM_TEST_CONDITIONS);
  idm_predictions_clear(&p);
  assessed_fit_close(&a);
}

/* Intervals are those of the residual after projection on the scores: by its variance, where counts
 * are large. */
static void test_intervals(void **state)
{
  (void)state;
  assessed_fit a;
  idm_predictions p;
  decision_residuals r;
  predictive by;
  open_fit(&a, 3);
  check(idm_predictions_find(a.problem, a.data, a.posterior, &p, &support_error));
  check(idm_residual_open(&r, &a.q, &support_error));
  check(idm_predictive_open(&by, &r, &support_error));
  size_t at = 0, looked = 0;
  const cell_family families[] = {CELLS_STEP,     CELLS_END,    CELLS_STAY,   CELLS_RETURN,
                                  CELLS_RESPONSE, CELLS_BELIEF, CELLS_VARIANT};
  for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
    const cell_counts *c = &by.family[families[f]];
    for (size_t i = 0; i < c->count; i++) {
      if (!(c->trials[i] > 0)) continue;
      const idm_prediction *one = &p.one[at++];
      const double sd = sqrt(c->variance[i]) / c->trials[i];
      assert_true(one->low <= one->inner_low && one->inner_low <= one->inner_high &&
                  one->inner_high <= one->high && one->low >= 0 && one->high <= 1);
      /* Tolerance: half a count for discreteness and .15 sd for the error of 999 replicates. */
      if (c->variance[i] < 10) continue;
      const double slack = 0.5 / c->trials[i] + 0.15 * sd;
      looked++;
      assert_true(fabs(one->low - (one->expected - 1.96 * sd)) < slack);
      assert_true(fabs(one->high - (one->expected + 1.96 * sd)) < slack);
      assert_true(fabs(one->inner_low - (one->expected - 0.6745 * sd)) < slack);
      assert_true(fabs(one->inner_high - (one->expected + 0.6745 * sd)) < slack);
    }
  }
  assert_int_equal(at, p.count);
  assert_true(looked >= 3);
  idm_predictive_close(&by);
  idm_residual_close(&r);
  idm_predictions_clear(&p);
  assessed_fit_close(&a);
}

/* Every interval contains its expectation, and the observed and expected shares of a step, an
 * observation, a belief or a condition sum to 1. */
static void check_shares(const idm_predictions *p, size_t actions)
{
  double observed = 0, expected = 0;
  size_t steps = 0;
  for (size_t i = 0; i < p->count; i++) {
    const idm_prediction *one = &p->one[i];
    assert_true(0 <= one->low && one->low <= one->inner_low && one->inner_low <= one->expected &&
                one->expected <= one->inner_high && one->inner_high <= one->high && one->high <= 1);
    if (one->test != IDM_TEST_STEPS && one->test != IDM_TEST_RESPONSES &&
        one->test != IDM_TEST_BELIEFS && one->test != IDM_TEST_CONDITIONS)
      continue;
    observed += one->observed;
    expected += one->expected;
    if (++steps % actions) continue;
    assert_near(observed, 1, 1e-9);
    assert_near(expected, 1, 1e-9);
    observed = expected = 0;
  }
  assert_true(steps && steps % actions == 0);
}

/* Most cells of a correct model are within their intervals. */
static void test_right_model(void **state)
{
  (void)state;
  assessed_fit a;
  idm_predictions p;
  open_fit(&a, 3);
  check(idm_predictions_find(a.problem, a.data, a.posterior, &p, &support_error));
  check_shares(&p, 3);
  size_t outside = 0;
  for (size_t i = 0; i < p.count; i++)
    outside += p.one[i].observed < p.one[i].low - 1e-9 || p.one[i].observed > p.one[i].high + 1e-9;
  assert_true(outside * 4 < p.count);
  idm_predictions_clear(&p);
  assessed_fit_close(&a);
}

static idm_problem *read_maintenance(const char *planner)
{
  idm_problem *problem;
  check(idm_problem_read("example:maintenance", &problem, NULL, &support_error));
  support_assign(problem, "alpha=4");
  support_assign(problem, planner);
  check(idm_problem_set_free(problem, "utility", &support_error));
  return problem;
}

/* The expected shares of the second step are the mean of the answer's policy over the states. */
static void check_own(const idm_predictions *p, const idm_data *data, const double *policy)
{
  static const char *const label[] = {"step 2, run", "step 2, repair", "step 2, replace"};
  for (size_t u = 0; u < 3; u++) {
    double sum = 0;
    for (size_t t = 0; t < data->trajectories; t++)
      sum += policy[(size_t)data->state[data->first[t] + 1] * 3 + u];
    assert_near(find(p, IDM_TEST_STEPS, label[u])->expected, sum / (double)data->trajectories,
                1e-9);
  }
}

/* Free utilities leave directions without information, and programs do not make the score of the
 * decisions 0. */
static void test_classes(void **state)
{
  (void)state;
  static const struct {
    const char *planner;
    const char *inverse;
    bool program;
  } class[] = {{"planner=boltzmann-exploratory", "map", false},
               {"planner=maximum-entropy", "regularised-margin", true}};
  for (size_t k = 0; k < sizeof class / sizeof *class; k++) {
    idm_problem *problem = read_maintenance(class[k].planner);
    idm_data *data = support_simulate(
        problem, (idm_simulation){.trajectories = 100, .steps = 10, .seed = 1, .states = true});
    idm_posterior *answer;
    idm_predictions p;
    idm_fit_settings settings;
    idm_fit_settings_default(&settings);
    check(idm_inverse_fit(idm_inverse_find(class[k].inverse), problem, data, &settings, NULL,
                          &answer, NULL, &support_error));
    check(idm_predictions_find(problem, data, answer, &p, &support_error));
    check_shares(&p, problem->setting->actions.count);
    for (size_t i = 0; i < p.count && !class[k].program; i++)
      if (p.one[i].trials > 500) assert_near(p.one[i].expected, p.one[i].observed, 0.01);
    if (class[k].program) check_own(&p, data, answer->optimality->policy);
    idm_predictions_clear(&p);
    idm_posterior_destroy(answer);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* An answer that the prior holds far from the maximum is predicted at itself, as a Newton step
 * along the scores would leave [0, 1]. */
static void test_far(void **state)
{
  (void)state;
  static const double alpha[1] = {0.2};
  assessed_fit a;
  idm_predictions p;
  idm_problem *problem = support_diag(3, 1.25, 0.3);
  problem->agent.resolution = 20;
  assessed_fit_open(&a, problem, simulate_agents(problem, alpha, 1, 60, 40, 5),
                    "{alpha: {prior: {normal: [3, 0.01]}}}");
  check(idm_predictions_find(a.problem, a.data, a.posterior, &p, &support_error));
  check_shares(&p, 3);
  idm_workspace *workspace;
  double pi[3];
  support_set(problem, a.posterior->value[0], 1.25, 0.3);
  workspace = support_plan(problem, NULL);
  idm_plan_policy(workspace, 0, problem->setting->start, pi, NULL);
  assert_near(find(&p, IDM_TEST_STEPS, "step 1, monitor")->expected, pi[2], 1e-9);
  idm_workspace_destroy(workspace);
  idm_predictions_clear(&p);
  assessed_fit_close(&a);
}

/* Draws of other parameters are rejected. */
static void test_others(void **state)
{
  (void)state;
  assessed_fit a;
  idm_predictions p;
  idm_error error = {0};
  open_fit(&a, 3);
  check(idm_problem_set_free(a.problem, "beta,eta", &support_error));
  assert_int_equal(idm_predictions_find(a.problem, a.data, a.posterior, &p, &error), IDM_INPUT);
  assert_int_equal(p.count, 0);
  assessed_fit_close(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_observed),    cmocka_unit_test(test_intervals),
      cmocka_unit_test(test_right_model), cmocka_unit_test(test_classes),
      cmocka_unit_test(test_far),         cmocka_unit_test(test_others)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
