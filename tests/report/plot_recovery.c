/* Tests plots of truth against estimate: each completed replication is drawn once, with the values
 * of the study. */
#include <math.h>

#include "report/report_support.h"

static void test_replications(void **state)
{
  (void)state;
  static const char *const names[] = {"log_alpha", REPORT_HOSTILE, "log_likelihood"};
  idm_calibration *c = report_study(names, 3, 30);
  c->done[4] = false;
  c->recovery[3 * 7].low =
      c->recovery[3 * 7].truth + 0.1; /* one interval does not contain the truth */
  idm_figure *figure = report_make("recovery", &(idm_plot_subject){.calibration = c}, NULL);
  assert_int_equal(figure->panels, 2);
  assert_string_equal(figure->panel[0]->title, "log alpha");
  for (size_t q = 0; q < 2; q++) {
    const idm_panel *panel = figure->panel[q];
    const idm_mark *in = report_mark(panel, IDM_MARK_RANGES, 0);
    const idm_mark *out = report_mark(panel, IDM_MARK_RANGES, 1);
    assert_int_equal(in->count + (out ? out->count : 0), 29);
    assert_int_equal(out ? out->count : 0, q == 0);
    if (out) assert_true(out->column[IDM_FIGURE_X][0] == c->recovery[3 * 7].truth);
    for (size_t i = 0, at = 0; i < 30; i++) {
      const idm_recovery *r = &c->recovery[i * 3 + q];
      if (i == 4 || (q == 0 && i == 7)) continue;
      assert_true(in->column[IDM_FIGURE_X][at] == r->truth);
      assert_true(in->column[IDM_FIGURE_Y][at] == r->mean);
      assert_true(in->column[IDM_FIGURE_LOW][at] == r->low);
      assert_true(in->column[IDM_FIGURE_HIGH][at++] == r->high);
    }
    const idm_mark *line = report_mark(panel, IDM_MARK_LINE, 0);
    for (size_t i = 0; i < 2; i++)
      assert_true(line->column[IDM_FIGURE_X][i] == line->column[IDM_FIGURE_Y][i]);
    assert_true(line->dashed);
  }
  report_draw(figure);
  idm_figure_destroy(figure);
  idm_calibration_destroy(c);
}

static void test_odd(void **state)
{
  (void)state;
  static const char *const names[] = {"a", "log_likelihood"};
  idm_calibration *c = report_study(names, 2, 2);
  c->recovery[0] = (idm_recovery){NAN, NAN, NAN, NAN, NAN, 0};
  c->recovery[2].mean = c->recovery[2].high = INFINITY;
  idm_figure *figure = report_make("recovery", &(idm_plot_subject){.calibration = c}, NULL);
  report_draw(figure);
  idm_figure_destroy(figure);
  c->done[0] = c->done[1] = false;
  report_refusal("recovery", &(idm_plot_subject){.calibration = c}, NULL, IDM_INPUT);
  idm_calibration_destroy(c);
  report_refusal("recovery", &(idm_plot_subject){0}, NULL, IDM_USAGE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_replications),
                                     cmocka_unit_test(test_odd)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
