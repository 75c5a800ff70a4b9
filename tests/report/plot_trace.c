/* Tests trace plots: each chain's draws in their order. */
#include <math.h>
#include <stdio.h>

#include "report/report_support.h"

static void test_chains(void **state)
{
  (void)state;
  static const char *const names[] = {"alpha", REPORT_HOSTILE};
  idm_posterior *p = report_posterior(3, 40, names, 2);
  p->value[7] = NAN;
  idm_figure *figure = report_make("trace", &(idm_plot_subject){.posterior = p}, NULL);
  assert_int_equal(figure->panels, 2);
  for (size_t q = 0; q < 2; q++)
    for (size_t c = 0; c < 3; c++) {
      const idm_mark *line = report_mark(figure->panel[q], IDM_MARK_LINE, c);
      char name[40];
      snprintf(name, sizeof name, "chain %zu", c + 1);
      assert_string_equal(line->name, name);
      assert_int_equal(line->count, 40);
      for (size_t i = 0; i < 40; i++) {
        const double value = p->value[q * 120 + c * 40 + i];
        assert_true(line->column[IDM_FIGURE_X][i] == (double)i + 1);
        assert_true(isnan(value) || line->column[IDM_FIGURE_Y][i] == value);
      }
    }
  report_draw(figure);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
}

/* Long chains are thinned evenly and draws keep their index; a chain of one draw is a point. */
static void test_lengths(void **state)
{
  (void)state;
  static const char *const names[] = {"alpha"};
  idm_posterior *p = report_posterior(1, 2500, names, 1);
  idm_figure *figure = report_make("trace", &(idm_plot_subject){.posterior = p}, NULL);
  const idm_mark *line = report_mark(figure->panel[0], IDM_MARK_LINE, 0);
  assert_int_equal(line->count, 1000);
  for (size_t i = 0; i < 1000; i++) {
    const double at = line->column[IDM_FIGURE_X][i];
    assert_true(at == floor(2.5 * (double)i) + 1);
    assert_true(line->column[IDM_FIGURE_Y][i] == p->value[(size_t)at - 1]);
  }
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
  p = report_posterior(2, 1, names, 1);
  figure = report_make("trace", &(idm_plot_subject){.posterior = p}, NULL);
  assert_int_equal(report_mark(figure->panel[0], IDM_MARK_POINTS, 1)->count, 1);
  report_draw(figure);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_chains), cmocka_unit_test(test_lengths)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
