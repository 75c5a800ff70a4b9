/* Tests regions of a profile against a grid search: they contain all grid values within the drop,
 * and do not depend on the draws. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "invert/matching.h"
#include "invert/matching/fit.h"
#include "support.h"

static const double drop = 1.92;

/* A log of an agent with random parameters, short enough that likelihoods are not normal. */
static idm_data *make_log(idm_problem *problem, idm_random *random, int k)
{
  support_set(problem, exp(idm_random_normal(random)), support_signed(random, 0.2, 5),
              10 * idm_random_normal(random));
  return support_simulate(
      problem, (idm_simulation){.trajectories = 8 + 4 * (size_t)k, .seed = 40 + (uint64_t)k});
}

static idm_posterior *fit_by(const char *inverse, const idm_problem *problem, const idm_data *data,
                             uint64_t seed)
{
  idm_fit_settings settings;
  idm_posterior *posterior;
  idm_fit_settings_default(&settings);
  settings.threads = 1;
  settings.chains = 2;
  settings.draws = settings.warmup = 60;
  settings.seed = seed;
  check(idm_inverse_fit(idm_inverse_find(inverse), problem, data, &settings, NULL, &posterior, NULL,
                        &support_error));
  return posterior;
}

static bool holds(const idm_identification *id, double value)
{
  for (size_t i = 0; i < id->regions; i++) {
    const double width = id->region[i][1] - id->region[i][0];
    const double slack = isfinite(width) ? 0.02 * width : 0;
    if (value >= id->region[i][0] - slack && value <= id->region[i][1] + slack) return true;
  }
  return false;
}

/* --- brute force ---------------------------------------------------------------------------- */

enum { INVERSES = 61, ETAS = 81 };

/* A grid over (-12, 12) and (-200, 200), denser around 0. */
static double at_inverse(int i)
{
  const double x = (double)(i - INVERSES / 2) / (INVERSES / 2);
  return 12 * x * fabs(x);
}

static double at_eta(int i)
{
  const double x = (double)(i - ETAS / 2) / (ETAS / 2);
  return 200 * x * fabs(x);
}

static void compare(const fit_context *work, const idm_assessment *a)
{
  static double height[INVERSES][ETAS];
  double best = -INFINITY;
  for (int i = 0; i < INVERSES; i++)
    for (int j = 0; j < ETAS; j++) {
      const double y[2] = {at_inverse(i), at_eta(j)};
      check(idm_matching_log_likelihood(work->matching[0], y, &height[i][j], NULL, &support_error));
      best = fmax(best, height[i][j]);
    }
  assert_true(a->log_likelihood > best - 1e-3);
  for (int i = 0; i < INVERSES; i++)
    for (int j = 0; j < ETAS; j++) {
      if (height[i][j] < a->log_likelihood - drop + 0.05) continue;
      if (!holds(&a->parameter[0], at_inverse(i)))
        fail_msg("1/beta %g at eta %g is within the drop: %s", at_inverse(i), at_eta(j),
                 a->parameter[0].sentence);
      if (!holds(&a->parameter[1], at_eta(j)))
        fail_msg("eta %g at 1/beta %g is within the drop: %s", at_eta(j), at_inverse(i),
                 a->parameter[1].sentence);
    }
}

static void test_against_brute_force(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 17, 0);
  for (int k = 0; k < (IDM_LONG ? 6 : 3); k++) {
    idm_problem *problem = support_diag(0.5, 1, 0);
    problem->agent.resolution = 20;
    problem->agent.evaluate = k % 2 ? IDM_INTERPOLATE : IDM_LOOKAHEAD;
    idm_data *data = make_log(problem, &random, k);
    check(idm_problem_set_free(problem, "beta, eta", &support_error));
    idm_posterior *posterior = fit_by("map", problem, data, 1);
    idm_assessment *a;
    fit_context work;
    idm_fit_settings settings;
    idm_fit_settings_default(&settings);
    check(idm_assess_monitored(problem, data, posterior, 1, NULL, &a, &support_error));
    check(idm_fit_open(&work, NULL, problem, data, &settings, 1, &support_error));
    compare(&work, a);
    idm_fit_close(&work);
    idm_assessment_destroy(a);
    idm_posterior_destroy(posterior);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* --- seeds ---------------------------------------------------------------------------------- */

/* Sentences on profile intervals do not depend on the draws or on the number of threads. */
static void test_no_part_of_the_seed(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 23, 0);
  for (int k = 0; k < 2; k++) {
    idm_problem *problem = support_diag(0.5, 1, 0);
    problem->agent.resolution = 20;
    idm_data *data = make_log(problem, &random, k);
    check(idm_problem_set_free(problem, k ? "beta, eta" : "alpha, beta", &support_error));
    char sentence[2][sizeof((idm_identification *)0)->sentence] = {"", ""};
    for (uint64_t seed = 1; seed < 5; seed++) {
      idm_posterior *posterior = fit_by(seed < 4 ? "bayes" : "map", problem, data, seed);
      idm_assessment *a;
      check(idm_assess_monitored(problem, data, posterior, seed < 3 ? 1 : 2, NULL, &a,
                                 &support_error));
      for (size_t i = 0; i < 2; i++) {
        if (seed > 1) assert_string_equal(a->parameter[i].sentence, sentence[i]);
        snprintf(sentence[i], sizeof sentence[i], "%s", a->parameter[i].sentence);
      }
      idm_assessment_destroy(a);
      idm_posterior_destroy(posterior);
    }
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* --- one number, several narrow peaks -------------------------------------------------------- */

/* Choices between u, whose utility is the same in every state, and v, whose utility depends on the
 * state: each state supports a different utility of u, and the lapse rate keeps all of them likely.
 */
typedef struct peaked {
  double alpha;
  double lapse;
  double other[3]; /* utility of v by state */
  int times[2][3]; /* choices of u and of v, by state */
} peaked;

static double peaked_likelihood(const peaked *x, double worth)
{
  double sum = 0;
  for (size_t s = 0; s < 3; s++) {
    const double p = 1 / (1 + exp((x->other[s] - worth) / x->alpha));
    sum += x->times[0][s] * log((1 - x->lapse) * p + x->lapse / 2) +
           x->times[1][s] * log((1 - x->lapse) * (1 - p) + x->lapse / 2);
  }
  return sum;
}

static idm_data *peaked_log(const idm_problem *problem, const peaked *x)
{
  char text[2000] = "trajectory,state,action\n";
  int row = 0;
  for (int u = 0; u < 2; u++)
    for (int s = 0; s < 3; s++)
      for (int k = 0; k < x->times[u][s]; k++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%d,%c,%c\n", row++, "abc"[s], "uv"[u]);
      }
  return support_data(problem, text);
}

/* Regions equal those of a fine grid, although the search starts at one maximum. */
static void compare_peaked(const peaked *x, const idm_identification *id)
{
  enum { POINTS = 160000 };
  double best = -INFINITY, end[8], before = 0;
  size_t ends = 0;
  for (int i = 0; i <= POINTS; i++) best = fmax(best, peaked_likelihood(x, -8 + 1e-4 * i));
  for (int i = 0; i <= POINTS; i++) {
    const double depth = best - drop - peaked_likelihood(x, -8 + 1e-4 * i);
    assert_true(i > 0 || depth > 0);
    if (i && (depth > 0) != (before > 0)) end[ends++] = -8 + 1e-4 * i;
    assert_true(ends < 8);
    before = depth;
  }
  assert_true(ends > 2);
  assert_int_equal(2 * id->regions, ends);
  for (size_t i = 0; i < ends; i++) assert_near(id->region[i / 2][i % 2], end[i], 2e-3);
}

static void test_narrow_peaks(void **state)
{
  (void)state;
  static const peaked all[] = {
      {0.4, 0.3, {3.81, -3.35, 0.86}, {{6, 8, 12}, {14, 12, 6}}},
      {0.05, 0.1, {-1.45, 2.31, 2.96}, {{4, 8, 12}, {10, 8, 8}}},
      {0.05, 0.1, {-3.03, 0.18, 0}, {{6, 8, 0}, {8, 4, 0}}},
      {0.4, 0.3, {2.73, -1.28, 0}, {{6, 8, 0}, {12, 6, 0}}},
  };
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    const peaked *x = &all[k];
    char text[800];
    snprintf(text, sizeof text,
             "states: [a, b, c]\nactions: [u, v]\nobservations: states\ndiscount: 0\n"
             "transition: {'*': uniform}\nutility: {u: 0, v: [%g, %g, %g]}\n"
             "agent: {planner: bounded-rational, alpha: %g, lapse: %g}\n"
             "free: {utility: {entries: {worth: [u]}}}\n",
             x->other[0], x->other[1], x->other[2], x->alpha, x->lapse);
    idm_problem *problem = support_yaml(text);
    idm_data *data = peaked_log(problem, x);
    idm_posterior *posterior = fit_by("map", problem, data, 1);
    idm_assessment *a;
    check(idm_assess_monitored(problem, data, posterior, 1, NULL, &a, &support_error));
    compare_peaked(x, &a->parameter[0]);
    idm_assessment_destroy(a);
    idm_posterior_destroy(posterior);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_brute_force),
      cmocka_unit_test(test_no_part_of_the_seed),
      cmocka_unit_test(test_narrow_peaks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
