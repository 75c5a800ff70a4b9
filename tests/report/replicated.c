/* Tests the selection of the quantities of a study for a plot, and whether an interval contains the
 * truth. */
#include <string.h>

#include "report/panels.h"
#include "report/report_support.h"

static void test_choosing(void **state)
{
  (void)state;
  static const char *const names[] = {"log_alpha", "inverse_beta", "log_likelihood"};
  idm_calibration *c = report_study(names, 3, 4);
  idm_study_quantities shown;
  idm_notes notes = {0};
  idm_plot_settings settings = {0};
  check(idm_study_quantities_select(c, &settings, false, &shown, &notes, &support_error));
  assert_int_equal(shown.count, 2);
  idm_study_quantities_clear(&shown);
  check(idm_study_quantities_select(c, &settings, true, &shown, &notes, &support_error));
  assert_int_equal(shown.count, 3);
  idm_study_quantities_clear(&shown);
  static const char *const requested[] = {"log_likelihood", "1/beta"};
  settings = (idm_plot_settings){.quantities = 2, .quantity = requested};
  check(idm_study_quantities_select(c, &settings, false, &shown, &notes, &support_error));
  assert_int_equal(shown.quantity[0], 2);
  assert_int_equal(shown.quantity[1], 1);
  idm_study_quantities_clear(&shown);
  static const char *const wrong[] = {"log_alhpa"};
  settings = (idm_plot_settings){.quantities = 1, .quantity = wrong};
  idm_error error = {0};
  assert_int_equal(idm_study_quantities_select(c, &settings, false, &shown, &notes, &error),
                   IDM_USAGE);
  assert_non_null(strstr(error.message, "'log_alpha'"));
  settings = (idm_plot_settings){0};
  for (size_t i = 0; i < 4; i++) c->done[i] = false;
  assert_int_equal(idm_study_quantities_select(c, &settings, false, &shown, &notes, &error),
                   IDM_INPUT);
  assert_int_equal(notes.count, 0);
  idm_calibration_destroy(c);
}

static void test_covering(void **state)
{
  (void)state;
  static const char *const names[] = {"a", "b"};
  idm_calibration *c = report_study(names, 2, 3);
  assert_true(idm_study_covers(c, 2, 1));
  c->recovery[2 * 2 + 1].truth = 9;
  assert_false(idm_study_covers(c, 2, 1));
  assert_true(idm_study_covers(c, 2, 0));
  idm_calibration_destroy(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_choosing),
                                     cmocka_unit_test(test_covering)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
