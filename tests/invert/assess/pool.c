/* Tests scores summed over people: tail probabilities against normal and gamma distributions, sums,
 * checkpoints, and the scores of a fit. */
#include "invert/assess/extension.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/assess/context_support.h"

static pool_score held(uint32_t block, double sum, double variance)
{
  pool_score s = {.kind = EXTENSION_FIXED,
                  .block = block,
                  .observation = IDM_MISSING,
                  .sum = sum,
                  .variance = variance};
  strcpy(s.name, "lapse");
  return s;
}

/* Tail probabilities against a normal distribution, and against an exponential distribution with
 * skewness 2. */
static void test_tails(void **state)
{
  (void)state;
  pool_score s = held(IDM_LAPSE, 6, 4);
  const pool p = {1, &s};
  assert_near(idm_pool_p(&p, 0), erfc(3 / sqrt(2)), 1e-12);
  s.boundary = 1;
  assert_near(idm_pool_p(&p, 0), erfc(3 / sqrt(2)) / 2, 1e-12);
  s.boundary = -1;
  assert_near(idm_pool_p(&p, 0), 1 - erfc(3 / sqrt(2)) / 2, 1e-12);
  s.boundary = 0;
  s.third_cumulant = 2 * 8;
  assert_near(idm_pool_p(&p, 0), 2 * exp(-4), 1e-9);
  s.sum = -6;
  assert_near(idm_pool_p(&p, 0), erfc(3 / sqrt(2)), 1e-12);
  s.third_cumulant = 0;
  s.spread = 4; /* the spread over draws is subtracted from the sum */
  assert_near(idm_pool_p(&p, 0), erfc(1 / sqrt(2)), 1e-12);
  s.spread = 7;
  assert_near(idm_pool_p(&p, 0), 1, 1e-12);
  assert_near(idm_pool_min_p(&(pool){0}), 1, 0);
}

/* Scores of the same extension are summed, and p is multiplied by the number of its kind and by the
 * number of kinds. */
static void test_sums(void **state)
{
  (void)state;
  pool_score one[] = {held(IDM_LAPSE, 3, 4), held(IDM_PERSEVERANCE, 1, 1)};
  pool_score other[] = {held(IDM_LAPSE, 5, 12),
                        {.kind = EXTENSION_MEMORY_RESET, .sum = 0, .variance = 1}};
  other[0].spread = 1;
  pool all = {0};
  check(idm_pool_add(&all, &(pool){2, one}, &support_error));
  const double alone = idm_pool_p(&all, 0);
  assert_near(alone, 2 * erfc(1.5 / sqrt(2)), 1e-12);
  check(idm_pool_add(&all, &(pool){2, other}, &support_error));
  assert_int_equal(all.count, 3);
  assert_near(all.score[0].sum, 8, 0);
  assert_near(all.score[0].variance, 16, 0);
  assert_near(all.score[0].spread, 1, 0);
  assert_near(idm_pool_p(&all, 0), 4 * erfc(1.75 / sqrt(2)), 1e-12);
  assert_near(idm_pool_min_p(&all), idm_pool_p(&all, 0), 0);
  idm_pool_close(&all);
}

static void test_record(void **state)
{
  (void)state;
  pool_score scores[] = {held(IDM_LAPSE, 3, 4), held(IDM_PERSEVERANCE, 1, 1)};
  pool p = {2, scores}, back = {0};
  idm_record r;
  char *bytes;
  size_t length;
  idm_record_begin(&r, "idmpool", 1);
  assert_true(idm_pool_pass(&p, &r));
  check(idm_record_finish(&r, &bytes, &length, &support_error));
  check(idm_record_open(&r, "idmpool", 1, bytes, length, &support_error));
  assert_true(idm_pool_pass(&back, &r));
  check(idm_record_close(&r, true, &support_error));
  assert_int_equal(back.count, 2);
  assert_memory_equal(back.score, scores, sizeof scores);
  idm_pool_close(&back);
  free(bytes);
}

/* Scores of one posterior. Parameters that can be freed are described with the option. */
static void test_person(void **state)
{
  (void)state;
  static const double alpha = 0.3;
  idm_problem *problem = make_reversal(alpha);
  idm_theta_set_scalar(problem->theta, IDM_LAPSE, 0.3);
  idm_data *data = simulate_agents(problem, &alpha, 1, 20, 50, 1);
  idm_theta_set_scalar(problem->theta, IDM_LAPSE, 0);
  check(idm_problem_set_free(problem, "alpha", &support_error));
  idm_fit_settings settings;
  idm_posterior *posterior;
  pool p;
  char text[1000];
  idm_fit_settings_default(&settings);
  settings.threads = 1;
  settings.chains = 1;
  settings.warmup = 300;
  settings.draws = 40;
  check(idm_inverse_fit(idm_inverse_find("bayes"), problem, data, &settings, NULL, &posterior, NULL,
                        &support_error));
  check(idm_pool_open(&p, problem, data, posterior, NULL, &support_error));
  const pool_score *lapse = NULL;
  for (size_t i = 0; i < p.count; i++) {
    assert_true(p.score[i].variance > 0 && p.score[i].spread > 0);
    if (strcmp(p.score[i].name, "lapse") == 0) lapse = &p.score[i];
  }
  assert_non_null(lapse);
  assert_true(lapse->boundary == 1 && lapse->sum > 0);
  idm_pool_describe(&p, problem->theta, 1, text, sizeof text);
  assert_non_null(strstr(text, "(held at "));
  assert_non_null(strstr(text, ",alpha"));
  idm_pool_describe(&p, problem->theta, -1, text, sizeof text);
  assert_string_equal(text, "");
  idm_pool_close(&p);
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tails),
      cmocka_unit_test(test_sums),
      cmocka_unit_test(test_record),
      cmocka_unit_test(test_person),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
