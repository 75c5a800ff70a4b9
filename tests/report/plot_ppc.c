/* Tests plots of posterior predictive checks against the predictions of the library. */
#include "invert/assess/context_support.h"
#include "invert/assess/residual.h"
#include "report/report_support.h"

static void test_marks(void **state)
{
  (void)state;
  static const double alpha[1] = {3};
  assessed_fit a;
  idm_predictions p;
  idm_problem *problem = support_diag(3, 1.25, 0.3);
  problem->agent.resolution = 20;
  assessed_fit_open(&a, problem, simulate_agents(problem, alpha, 1, 40, 20, 5), "alpha");
  check(idm_predictions_find(a.problem, a.data, a.posterior, &p, &support_error));
  const idm_plot_subject subject = {.problem = a.problem, .posterior = a.posterior, .data = a.data};
  idm_figure *figure = report_make("ppc", &subject, NULL);
  assert_int_equal(figure->panels,
                   6); /* all tests except that of conditions: the log has one condition */
  size_t at = 0;
  for (size_t k = 0; k < 6; k++) {
    const idm_panel *panel = figure->panel[k];
    const idm_mark *predicted = report_mark(panel, IDM_MARK_FOREST, 0);
    const idm_mark *observed = report_mark(panel, IDM_MARK_POINTS, 0);
    for (size_t i = 0; i < predicted->count; i++, at++) {
      assert_string_equal(panel->y.category.name[i], p.one[at].label);
      assert_true(predicted->column[IDM_FIGURE_X][i] == p.one[at].expected);
      assert_true(predicted->column[IDM_FIGURE_LOW][i] == p.one[at].low);
      assert_true(predicted->column[IDM_FIGURE_HIGH][i] == p.one[at].high);
      assert_true(predicted->column[IDM_FIGURE_INNER_LOW][i] == p.one[at].inner_low);
      assert_true(predicted->column[IDM_FIGURE_INNER_HIGH][i] == p.one[at].inner_high);
      assert_true(observed->column[IDM_FIGURE_X][i] == p.one[at].observed);
      assert_true(observed->column[IDM_FIGURE_Y][i] == (double)i);
    }
  }
  assert_int_equal(at, p.count);
  report_draw(figure);
  idm_figure_destroy(figure);
  idm_predictions_clear(&p);
  assessed_fit_close(&a);
}

static void test_odd(void **state)
{
  (void)state;
  report_refuse_people("ppc");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_marks), cmocka_unit_test(test_odd)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
