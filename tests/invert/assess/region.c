/* Regions of a profile against brute force: whatever a fine grid finds within the drop, they hold;
 * and they do not hang on the draws. */
#include <math.h>
#include <stdio.h>

#include "idm/matching.h"
#include "invert/matching/fit.h"
#include "support.h"

static const double drop = 1.92;

/* A log of an agent drawn at random, few enough that likelihoods are not normal. */
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
  check(idm_inverse_find(inverse)->fit(problem, data, &settings, NULL, &posterior, NULL,
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

/* A grid over (-12, 12) and (-200, 200), closer around 0. */
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

static void compare(const fit *work, const idm_assessment *a)
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
  for (int k = 0; k < 6; k++) {
    idm_problem *problem = support_diag(0.5, 1, 0);
    problem->agent.resolution = 20;
    problem->agent.evaluate = k % 2 ? IDM_INTERPOLATE : IDM_LOOKAHEAD;
    idm_data *data = make_log(problem, &random, k);
    check(idm_problem_free(problem, "beta, eta", &support_error));
    idm_posterior *posterior = fit_by("map", problem, data, 1);
    idm_assessment *a;
    fit work;
    idm_fit_settings settings;
    idm_fit_settings_default(&settings);
    check(idm_assess(problem, data, posterior, 1, &a, &support_error));
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

/* What is said of what the data bound is the same whatever draws it is said beside, and at any
 * number of threads. */
static void test_no_part_of_the_seed(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 23, 0);
  for (int k = 0; k < 2; k++) {
    idm_problem *problem = support_diag(0.5, 1, 0);
    problem->agent.resolution = 20;
    idm_data *data = make_log(problem, &random, k);
    check(idm_problem_free(problem, k ? "beta, eta" : "alpha, beta", &support_error));
    char sentence[2][sizeof((idm_identification *)0)->sentence] = {"", ""};
    for (uint64_t seed = 1; seed < 5; seed++) {
      idm_posterior *posterior = fit_by(seed < 4 ? "bayes" : "map", problem, data, seed);
      idm_assessment *a;
      check(idm_assess(problem, data, posterior, seed < 3 ? 1 : 2, &a, &support_error));
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_brute_force),
      cmocka_unit_test(test_no_part_of_the_seed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
