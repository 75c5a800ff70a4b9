/* Tests the titles of quantities, series and items against expected texts. */
#include "report/panels.h"

#include <stdio.h>
#include <string.h>

#include "report/report_support.h"

static void test_alone(void **state)
{
  (void)state;
  static const char *const names[] = {"log_alpha", "eta_sd"};
  char buffer[64];
  idm_posterior *p = report_posterior(1, 2, names, 2);
  assert_string_equal(idm_title_quantity(p, 0, buffer, sizeof buffer), "log alpha");
  /* The suffix _sd of a quantity without a series may belong to the name of a block. */
  assert_string_equal(idm_title_quantity(p, 1, buffer, sizeof buffer), "eta_sd");
  idm_posterior_destroy(p);
}

static void test_populations(void **state)
{
  (void)state;
  static const char *const names[] = {"1", "2", "3", "4", "5", "6", "inverse_beta_sd", "_sd"};
  static const char *const groups[] = {"north", "south"};
  static const char *const contrast[] = {"south - north"};
  static const char *const terms[] = {"Intercept"};
  static const char *const pair[] = {"log_alpha,inverse_beta", "a,b,c"};
  static const char *const said[] = {"log alpha, north",
                                     "log alpha, south",
                                     "log alpha, south - north",
                                     "1/beta, Intercept",
                                     "correlation of log alpha and 1/beta",
                                     "correlation of a,b,c",
                                     "sd of 1/beta",
                                     "_sd"};
  char buffer[64];
  idm_posterior *p = report_posterior(1, 2, names, 8);
  report_series(p, "log_alpha", "group", groups, 2, 0);
  report_series(p, "log_alpha_contrast", "contrast", contrast, 1, 2);
  report_series(p, "inverse_beta_coefficient", "coefficient", terms, 1, 3);
  report_series(p, "correlation", "pair", pair, 2, 4);
  for (size_t i = 0; i < 8; i++)
    assert_string_equal(idm_title_quantity(p, i, buffer, sizeof buffer), said[i]);
  assert_string_equal(idm_title_series(p, 0, buffer, sizeof buffer), "log alpha");
  assert_string_equal(idm_title_series(p, 1, buffer, sizeof buffer), "differences in log alpha");
  assert_string_equal(idm_title_series(p, 2, buffer, sizeof buffer), "coefficients of 1/beta");
  assert_string_equal(idm_title_item(p, 3, 0, buffer, sizeof buffer), "log alpha and 1/beta");
  assert_string_equal(idm_title_item(p, 0, 1, buffer, sizeof buffer), "south");
  assert_true(idm_series_is_along(p, 3, "pair"));
  assert_false(idm_series_is_along(p, 3, "group"));
  assert_false(idm_series_is_along(p, 4, "group"));
  idm_posterior_destroy(p);
}

static void test_within(void **state)
{
  (void)state;
  static const char *const names[] = {"1"};
  static const char *const groups[] = {"north"};
  char buffer[64], little[6];
  idm_posterior *p = report_posterior(1, 2, names, 1);
  report_series(p, "log_alpha_within", "group", groups, 1, 0);
  assert_string_equal(idm_title_series(p, 0, buffer, sizeof buffer),
                      "sd of log alpha within groups");
  assert_string_equal(idm_title_quantity(p, 0, buffer, sizeof buffer), "sd of log alpha, north");
  assert_string_equal(idm_title_quantity(p, 0, little, sizeof little), "sd of");
  idm_posterior_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_alone),
                                     cmocka_unit_test(test_populations),
                                     cmocka_unit_test(test_within)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
