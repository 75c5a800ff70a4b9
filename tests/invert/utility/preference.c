/* The posterior mode of a utility under preferences: against coordinate search and bisection,
 * separable data, and permuted names. */
#include <stdio.h>

#include "invert/utility/preference_support.h"

extern const idm_inverse idm_inverse_preference;

static idm_status fit(const idm_problem *problem, const idm_data *data, idm_posterior **ret_answer)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  return idm_inverse_fit(&idm_inverse_preference, problem, data, &settings, NULL, ret_answer, NULL,
                         &support_error);
}

static idm_posterior *answer(const idm_problem *problem, const idm_data *data)
{
  idm_posterior *p;
  check(fit(problem, data, &p));
  assert_int_equal(p->answer, IDM_POINT);
  assert_string_equal(p->optimality->certificate, "gradient norm");
  assert_true(p->optimality->closed == 1e-9 && idm_optimality_certified(p->optimality));
  return p;
}

/* The objective with every entry of the utility free and the prior normal(m, s). */
static double plain_objective(const idm_problem *problem, const idm_data *data,
                              const double *utility, double m, double s)
{
  double sum = -plain_log_likelihood(problem, utility, data);
  for (size_t i = 0; i < problem->theta->block[IDM_UTILITY].size; i++)
    sum += (utility[i] - m) * (utility[i] - m) / (2 * s * s);
  return sum;
}

/* The mode equals that of a coordinate search without derivatives. */
static void test_mode(void **state)
{
  (void)state;
  const char *const texts[] = {walk_text, tiger_text};
  for (size_t k = 0; k < 2; k++) {
    idm_problem *problem = make_problem(texts[k], "{utility: {prior: {normal: [0.5, 1.5]}}}");
    idm_data *data = make_preferred(problem, 15, 60, true, 2 + k);
    idm_posterior *p = answer(problem, data);
    double x[6] = {0};
    assert_near(p->optimality->objective, plain_objective(problem, data, p->value, 0.5, 1.5),
                1e-12);
    for (double h = 0.5; h > 1e-8; h /= 2)
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = 0; i < 12; i++) {
          const double here = plain_objective(problem, data, x, 0.5, 1.5), at = x[i / 2];
          x[i / 2] += i % 2 ? h : -h;
          if (plain_objective(problem, data, x, 0.5, 1.5) < here - 1e-14)
            moved = true;
          else
            x[i / 2] = at;
        }
      }
    for (size_t i = 0; i < 6; i++) assert_near(p->value[i], x[i], 2e-6);
    assert_true(p->optimality->objective <= plain_objective(problem, data, x, 0.5, 1.5) + 1e-12);
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* One number by bisection on the sign of the derivative. */
static void test_one_number(void **state)
{
  (void)state;
  idm_problem *problem =
      make_problem(walk_text, "{utility: {entries: {win: [left.c, right.c]}, prior: flat}}");
  idm_data *data = make_preferred(problem, 20, 80, true, 4);
  idm_posterior *p = answer(problem, data);
  assert_int_equal(p->quantity.count, 1);
  assert_string_equal(p->quantity.name[0], "utility[win]");
  double utility[6], low = -20, high = 20;
  memcpy(utility, problem->theta->block[IDM_UTILITY].value, sizeof utility);
  while (high - low > 1e-7) {
    const double middle = 0.5 * (low + high);
    utility[2] = utility[5] = middle - 1e-4;
    const double left = plain_log_likelihood(problem, utility, data);
    utility[2] = utility[5] = middle + 1e-4;
    if (plain_log_likelihood(problem, utility, data) > left)
      low = middle;
    else
      high = middle;
  }
  assert_near(p->value[0], low, 1e-6);
  assert_int_equal(p->optimality->open, 0);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Held utilities so large that every logistic function is saturated at the start. */
static void test_far_from_where_it_begins(void **state)
{
  (void)state;
  static const double scale[] = {1e2, 1e4, 1e7};
  static const char *const priors[] = {"flat", "{normal: [0, 1e5]}"};
  for (size_t k = 0; k < 6; k++) {
    char text[200];
    snprintf(text, sizeof text, "{utility: {entries: [left.c, right.c, left.a], prior: %s}}",
             priors[k / 3]);
    idm_problem *problem = make_problem(walk_text, text);
    idm_data *data = make_preferred(problem, 20, 80, true, 4);
    double *utility = problem->theta->block[IDM_UTILITY].value;
    for (size_t e = 0; e < 6; e++) utility[e] *= scale[k % 3];
    idm_posterior_destroy(answer(problem, data));
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Under a flat prior: the solution of minimum norm. */
static void test_flat(void **state)
{
  (void)state;
  idm_problem *problem = make_problem(walk_text, "{utility: {prior: flat}}");
  idm_data *data = make_preferred(problem, 30, 200, false, 6);
  idm_posterior *p = answer(problem, data);
  double sum = 0, utility[6];
  for (size_t i = 0; i < 6; i++) sum += p->value[i];
  assert_near(sum, 0, 1e-9); /* trajectories have equal lengths, so a shift is undetermined */
  assert_int_equal(p->optimality->open, 1);
  assert_near(p->optimality->objective, -plain_log_likelihood(problem, p->value, data), 1e-10);
  for (size_t i = 0; i < 6; i++)
    for (int sign = -1; sign <= 1; sign += 2) {
      memcpy(utility, p->value, sizeof utility);
      utility[i] += sign * 1e-3;
      assert_true(-plain_log_likelihood(problem, utility, data) > p->optimality->objective);
    }
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Wide priors, whose curvature is below rounding errors of the preferences': of the utilities that
 * explain them as under a flat prior, the one nearest to the prior mean. Only their sum is open, so
 * it differs from that under a flat prior by the mean. */
static void test_wide_prior(void **state)
{
  (void)state;
  static const char *const sds[] = {"1e6", "1e7", "1e9", "1e100"};
  idm_problem *problem = make_problem(walk_text, "{utility: {prior: flat}}");
  idm_data *data = make_preferred(problem, 30, 200, false, 6);
  idm_posterior *flat = answer(problem, data);
  for (size_t k = 0; k < 4; k++) {
    char text[100];
    snprintf(text, sizeof text, "{utility: {prior: {normal: [2, %s]}}}", sds[k]);
    check(idm_problem_set_free(problem, text, &support_error));
    idm_posterior *p = answer(problem, data);
    for (size_t i = 0; i < 6; i++) assert_near(p->value[i], flat->value[i] + 2, 1e-9);
    idm_posterior_destroy(p);
  }
  idm_posterior_destroy(flat);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* One number under a wide prior and preferences that all agree: the mode, far out on the logistic,
 * by bisection on the derivative. */
static void test_wide_prior_separable(void **state)
{
  (void)state;
  static const double sds[] = {1e3, 1e7, 1e12};
  for (size_t k = 0; k < 3; k++) {
    char text[120];
    snprintf(text, sizeof text,
             "{utility: {entries: {win: [left.c, right.c]}, prior: {normal: [0, %g]}}}", sds[k]);
    idm_problem *problem = make_problem(walk_text, text);
    for (size_t e = 0; e < 6; e++) problem->theta->block[IDM_UTILITY].value[e] = 0;
    idm_data *data = make_preferred(problem, 12, 30, false, 3);
    double difference[30], low = 0, high = 1e4;
    const double unit[6] = {0, 0, 1, 0, 0, 1};
    idm_preferences *given = data->preferences;
    for (size_t i = 0; i < given->count; i++) {
      difference[i] = plain_sum(problem, unit, data, given->better[i]) -
                      plain_sum(problem, unit, data, given->worse[i]);
      if (difference[i] >= 0) continue;
      const uint32_t other = given->better[i];
      given->better[i] = given->worse[i];
      given->worse[i] = other;
      difference[i] = -difference[i];
    }
    for (int step = 0; step < 200; step++) {
      const double x = 0.5 * (low + high);
      double derivative = -x / (sds[k] * sds[k]);
      for (size_t i = 0; i < given->count; i++)
        derivative += difference[i] / (1 + exp(difference[i] * x));
      if (derivative > 0)
        low = x;
      else
        high = x;
    }
    assert_true(low > 5);
    idm_posterior *p = answer(problem, data);
    assert_near(p->value[0], low, 1e-6 * low);
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Separable preferences: no mode under a flat prior, a remark under a proper one. */
static void test_separable(void **state)
{
  (void)state;
  idm_problem *problem = make_problem(walk_text, "{utility: {prior: flat}}");
  idm_data *data = make_preferred(problem, 12, 30, false, 3);
  const double *truth = problem->theta->block[IDM_UTILITY].value;
  idm_preferences *given = data->preferences;
  for (size_t i = 0; i < given->count; i++)
    if (plain_sum(problem, truth, data, given->better[i]) <
        plain_sum(problem, truth, data, given->worse[i])) {
      const uint32_t other = given->better[i];
      given->better[i] = given->worse[i];
      given->worse[i] = other;
    }
  idm_posterior *p = (idm_posterior *)problem;
  assert_int_equal(fit(problem, data, &p), IDM_INPUT);
  assert_null(p);
  assert_non_null(strstr(support_error.message, "the preferences are separable"));
  assert_non_null(strstr(support_error.message, "give it a proper prior"));
  check(idm_problem_set_free(problem, "{utility: {prior: {normal: [0, 1]}}}", &support_error));
  p = answer(problem, data);
  assert_non_null(strstr(p->optimality->words.text[0], "separable"));
  idm_assessment *a;
  check(idm_assess_monitored(problem, data, p, 1, NULL, &a, &support_error));
  assert_true(a->trusted);
  bool said = false;
  for (size_t i = 0; i < a->remarks.count; i++)
    said |= strstr(a->remarks.text[i], "separable") != 0;
  assert_true(said);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* The log need not be the behaviour of an agent with this utility: the check of behaviour is not
 * applied. */
static void test_behavior_is_not_judged(void **state)
{
  (void)state;
  idm_problem *problem = make_problem(walk_text, "utility");
  idm_data *data = make_preferred(problem, 30, 300, false, 9);
  idm_preferences *given = data->preferences;
  uint32_t *worse = given->worse; /* preferences opposite to the behaviour in the log */
  given->worse = given->better;
  given->better = worse;
  idm_posterior *p = answer(problem, data);
  idm_projection projection;
  idm_assessment *a;
  check(idm_projection_measure_centre(problem, p, data, &projection, &support_error));
  assert_true(projection.log_loss > projection.uniform_log_loss);
  check(idm_assess_monitored(problem, data, p, 1, NULL, &a, &support_error));
  assert_true(a->trusted);
  assert_int_equal(a->misfits.count, 0);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- names in another order ----------------------------------------------------------------- */

static double value_of(const idm_posterior *p, const char *name)
{
  const long at = idm_labels_find(&p->quantity, name, strlen(name));
  assert_true(at >= 0);
  return p->value[at];
}

static void test_relabelling(void **state)
{
  (void)state;
  static const char other_text[] =
      "states: [c, a, b]\nactions: [right, left]\nobservations: states\ndiscount: 0.9\nstart: a\n"
      "transition:\n  left: {a: {a: 1}, b: {a: 0.8, b: 0.2}, c: {b: 1}}\n"
      "  right: {a: {b: 0.8, a: 0.2}, b: {c: 1}, c: {c: 1}}\n"
      "utility:\n  left: [2, 0.5, -1]\n  right: [1, 1, -0.25]\n"
      "agent: {planner: maximum-entropy, alpha: 1}\n";
  static const int32_t state_is[] = {1, 2, 0}, action_is[] = {1, 0};
  static const char *const priors[] = {"{utility: {prior: {normal: [0, 2]}}}",
                                       "{utility: {prior: flat}}"};
  for (size_t k = 0; k < 2; k++) {
    idm_problem *one = make_problem(walk_text, priors[k]);
    idm_problem *two = make_problem(other_text, priors[k]);
    idm_data *data = make_preferred(one, 30, 150, true, 7);
    idm_posterior *p = answer(one, data);
    for (size_t r = 0; r < data->rows; r++) {
      data->action[r] = action_is[data->action[r]];
      data->observation[r] = state_is[data->observation[r]];
    }
    idm_posterior *q = answer(two, data);
    for (size_t i = 0; i < 6; i++) assert_near(p->value[i], value_of(q, p->quantity.name[i]), 1e-8);
    assert_near(p->optimality->objective, q->optimality->objective, 1e-11);
    idm_posterior_destroy(p);
    idm_posterior_destroy(q);
    idm_data_destroy(data);
    idm_problem_destroy(one);
    idm_problem_destroy(two);
  }
}

/* --- refusals ------------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
  (void)state;
  static const struct {
    const char *what_is_free;
    const char *words;
  } cases[] = {
      {"{utility: {prior: {uniform: [-1, 1]}}}", "use --inverse preference-bayes"},
      {"{utility: {scale: signed-log}}", "use --inverse preference-bayes"},
      {"alpha", "comparisons do not depend on how actions are chosen"},
      {"discount", "under a free discount their likelihood is not concave"},
  };
  idm_problem *problem = make_problem(walk_text, "utility");
  idm_data *data = make_preferred(problem, 10, 20, false, 1);
  idm_posterior *p;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check(idm_problem_set_free(problem, cases[i].what_is_free, &support_error));
    assert_int_equal(fit(problem, data, &p), IDM_INPUT);
    assert_null(p);
    if (!strstr(support_error.message, cases[i].words)) fail_msg("%s", support_error.message);
  }
  idm_preferences_destroy(data->preferences);
  data->preferences = NULL;
  assert_int_equal(fit(problem, data, &p), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "--preferences FILE"));
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mode),
      cmocka_unit_test(test_one_number),
      cmocka_unit_test(test_far_from_where_it_begins),
      cmocka_unit_test(test_flat),
      cmocka_unit_test(test_wide_prior),
      cmocka_unit_test(test_wide_prior_separable),
      cmocka_unit_test(test_separable),
      cmocka_unit_test(test_behavior_is_not_judged),
      cmocka_unit_test(test_relabelling),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
