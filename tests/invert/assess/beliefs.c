/* Tests groups of decisions by belief against beliefs from the difference of positive and negative
 * tests, and the beliefs check on an agent with a belief utility, fitted without it. */
#include "invert/assess/residual.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/assess/context_support.h"

enum { GROUPS = 2 * BELIEF_BINS };

/* In DIAG the disease does not change and a test is right with probability .7, so that the log odds
 * are those of the start, .5, plus log(7 / 3) per positive test in excess of negative ones. */
typedef struct counted {
  int state;
  int excess; /* tests for the likelier state minus tests against it: the probability of that state
                 rises with it */
  size_t action;
} counted;

static int by_excess(const void *a, const void *b)
{
  return ((const counted *)a)->excess - ((const counted *)b)->excess;
}

/* Counts of each action in each group, and the smallest excess of each third. */
static void count_rows(const idm_data *data, double taken[GROUPS][3], int least[BELIEF_BINS])
{
  counted *all = calloc(data->rows, sizeof *all);
  size_t count = 0, begun = 0;
  assert_non_null(all);
  for (size_t t = 0; t < data->trajectories; t++) {
    int excess = 0;
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      all[count++] = (counted){excess > 0, abs(excess), (size_t)data->action[row]};
      excess += data->observation[row] == 1 ? 1 : -1;
    }
  }
  qsort(all, count, sizeof *all, by_excess);
  for (size_t i = 0; i < count; i++) {
    if (i == 0 || all[i].excess != all[i - 1].excess)
      while (begun < BELIEF_BINS && 3 * i >= begun * count) least[begun++] = all[i].excess;
    taken[all[i].state * BELIEF_BINS + (int)begun - 1][all[i].action]++;
  }
  free(all);
}

static void test_groups(void **state)
{
  (void)state;
  static const double alpha[1] = {3};
  double expected[GROUPS][3] = {{0}}, found[GROUPS][3] = {{0}};
  int least[BELIEF_BINS] = {0};
  assessed_fit a;
  decision_residuals r;
  beliefs b;
  idm_problem *problem = support_diag(3, 1.25, 0.3);
  problem->agent.resolution = 40;
  assessed_fit_open(&a, problem, simulate_agents(problem, alpha, 1, 200, 40, 5), "alpha");
  check(idm_residual_open(&r, &a.q, &support_error));
  check(idm_beliefs_open(&b, &r, &support_error));
  count_rows(a.data, expected, least);
  assert_int_equal(b.groups, GROUPS);
  for (size_t i = 0; i < r.decision_points; i++)
    for (size_t u = 0; u < 3; u++) found[b.group[i]][u] += r.taken[i * r.actions + u];
  for (size_t g = 0; g < GROUPS; g++)
    for (size_t u = 0; u < 3; u++) assert_near(found[g][u], expected[g][u], 0);
  for (size_t k = 0; k < BELIEF_BINS; k++)
    assert_near(b.edge[k], 1 / (1 + pow(3.0 / 7, least[k])), 1e-8);
  assert_true(least[0] < least[1] && least[1] < least[2]);
  idm_beliefs_close(&b);
  idm_residual_close(&r);
  assessed_fit_close(&a);
}

/* The belief is unknown after a row whose action is missing. After a missing observation, the
 * belief is predicted by the file's dynamics. */
static void test_missing(void **state)
{
  (void)state;
  static const double alpha[1] = {3};
  assessed_fit a;
  decision_residuals r;
  beliefs b;
  idm_problem *problem = support_diag(3, 1.25, 0.3);
  problem->agent.resolution = 40;
  idm_data *data = simulate_agents(problem, alpha, 1, 200, 40, 5);
  double after = 0, missing = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    const size_t first = data->first[t];
    if (data->first[t + 1] - first < 2) continue;
    if (t % 2) {
      data->action[first] = IDM_MISSING;
      after += (double)(data->first[t + 1] - first - 1);
    } else {
      data->observation[first] = IDM_MISSING;
    }
  }
  assessed_fit_open(&a, problem, data, "alpha");
  check(idm_residual_open(&r, &a.q, &support_error));
  check(idm_beliefs_open(&b, &r, &support_error));
  for (size_t i = 0; i < r.decision_points; i++)
    if (b.group[i] == IDM_MISSING) missing += r.decision_point[i].decisions;
  assert_true(after > 0);
  assert_near(missing, after, 0);
  idm_beliefs_close(&b);
  idm_residual_close(&r);
  assessed_fit_close(&a);
}

/* With observed states there are no groups. */
static void test_none(void **state)
{
  (void)state;
  static const char text[] =
      "states: [p, q]\nactions: [a, b]\nobservations: states\nstart: [0.5, 0.5]\ndiscount: 0\n"
      "transition: {'*': uniform}\nutility: {a: [1, -1], b: [0, 0]}\n"
      "agent: {planner: bounded-rational, alpha: 1}\n";
  assessed_fit a;
  decision_residuals r;
  beliefs b;
  idm_problem *problem = support_yaml(text);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 5, .steps = 20, .seed = 2});
  assessed_fit_open(&a, problem, data, "alpha");
  check(idm_residual_open(&r, &a.q, &support_error));
  check(idm_beliefs_open(&b, &r, &support_error));
  assert_int_equal(b.groups, 0);
  assert_null(b.group);
  idm_beliefs_close(&b);
  idm_residual_close(&r);
  assessed_fit_close(&a);
}

/* Two states that persist, a test with a cost that is right with probability .8, and an award while
 * the belief is above .8. Without the award, tests have no use, and the agent takes each action at
 * the same rate at all beliefs; with it, rates differ by belief. */
static void test_award(void **state)
{
  (void)state;
  static const char text[] =
      "states: [p, q]\nactions: [test, wait]\nobservations: [x, y]\nstart: [0.5, 0.5]\n"
      "discount: 0.9\ntransition: {'*': [[0.9, 0.1], [0.1, 0.9]]}\n"
      "observation: {test: [[0.8, 0.2], [0.2, 0.8]], wait: [[0.5, 0.5], [0.5, 0.5]]}\n"
      "utility: {test: -0.3, wait: 0}\ncertainty: {above: 0.8, award: %g}\n"
      "agent: {planner: bounded-rational, alpha: 0.5, resolution: 40}\n";
  char one[700];
  snprintf(one, sizeof one, text, 1.0);
  idm_problem *truth = support_yaml(one);
  idm_data *data =
      support_simulate(truth, (idm_simulation){.trajectories = 40, .steps = 25, .seed = 4});
  for (int wrong = 0; wrong < 2; wrong++) {
    idm_assessment *assessment;
    idm_posterior *posterior;
    idm_fit_settings settings;
    snprintf(one, sizeof one, text, wrong ? 0.0 : 1.0);
    idm_problem *problem = support_yaml(one);
    check(idm_problem_set_free(problem, "alpha", &support_error));
    idm_fit_settings_default(&settings);
    check(idm_inverse_fit(idm_inverse_find("map"), problem, data, &settings, NULL, &posterior, NULL,
                          &support_error));
    check(idm_assess_monitored(problem, data, posterior, 1, NULL, &assessment, &support_error));
    assert_int_equal(assessment->checks.of[IDM_CHECK_BELIEFS].outcome,
                     wrong ? IDM_CHECK_MISFIT : IDM_CHECK_PASSED);
    assert_int_equal(support_mentions(&assessment->misfits, "at beliefs in '"), wrong);
    assert_int_equal(support_mentions(&assessment->misfits, "--free belief_utility.entropy,alpha"),
                     wrong);
    idm_assessment_destroy(assessment);
    idm_posterior_destroy(posterior);
    idm_problem_destroy(problem);
  }
  idm_data_destroy(data);
  idm_problem_destroy(truth);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_groups),
      cmocka_unit_test(test_missing),
      cmocka_unit_test(test_none),
      cmocka_unit_test(test_award),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
