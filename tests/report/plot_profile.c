/* Tests plots of profile likelihoods against the assessment of the library. */
#include <string.h>

#include "invert/assess/context_support.h"
#include "report/report_support.h"

static void test_marks(void **state)
{
  (void)state;
  static const double alpha[1] = {3};
  assessed_fit a;
  idm_assessment *assessment;
  idm_problem *problem = support_diag(3, 1.25, 0.3);
  problem->agent.resolution = 20;
  assessed_fit_open(&a, problem, simulate_agents(problem, alpha, 1, 40, 20, 5),
                    "{alpha: {scale: log}, beta: {scale: inverse}}");
  check(idm_assess_monitored(a.problem, a.data, a.posterior, 1, NULL, &assessment, &support_error));
  const idm_plot_subject subject = {.posterior = a.posterior, .assessment = assessment};
  idm_figure *figure = report_make("profile", &subject, NULL);
  assert_int_equal(figure->panels, 2);
  assert_string_equal(figure->panel[1]->x.title, "1/beta");
  for (size_t k = 0; k < 2; k++) {
    const idm_panel *panel = figure->panel[k];
    const idm_identification *id = &assessment->parameter[k];
    const idm_mark *line = report_mark(panel, IDM_MARK_LINE, 0);
    const idm_mark *rules = report_mark(panel, IDM_MARK_RULES, 0);
    assert_int_equal(line->count, id->points);
    for (size_t i = 0; i < line->count; i++) {
      assert_true(line->column[IDM_FIGURE_X][i] == id->value[i]);
      assert_true(line->column[IDM_FIGURE_Y][i] == id->drop[i]);
    }
    assert_true(report_mark(panel, IDM_MARK_LEVELS, 0)->column[IDM_FIGURE_Y][0] == -1.92);
    assert_true(report_mark(panel, IDM_MARK_POINTS, 0)->column[IDM_FIGURE_X][0] == id->maximum);
    for (size_t i = 0; i < rules->count; i++) {
      const double x = rules->column[IDM_FIGURE_X][i];
      assert_true(x == id->low || x == id->high || id->regions > 1);
    }
  }
  report_draw(figure);
  idm_figure_destroy(figure);
  /* A quantity that is not itself a free parameter is skipped. */
  static const char *const natural[] = {"beta", "alpha"};
  figure =
      report_make("profile", &subject, &(idm_plot_settings){.quantities = 2, .quantity = natural});
  assert_int_equal(figure->panels, 1);
  idm_figure_destroy(figure);
  idm_assessment_destroy(assessment);
  assessed_fit_close(&a);
}

static void test_odd(void **state)
{
  (void)state;
  static const char *const names[] = {"1"};
  static const char *const people[] = {"x"};
  idm_posterior *p = report_posterior(2, 5, names, 1);
  const idm_assessment none = {0};
  const idm_plot_subject subject = {.posterior = p, .assessment = &none};
  assert_non_null(strstr(report_refusal("profile", &subject, NULL, IDM_INPUT), "no profiles"));
  report_series(p, "log_alpha", "person", people, 1, 0);
  assert_non_null(strstr(report_refusal("profile", &subject, NULL, IDM_USAGE), "one per person"));
  idm_posterior_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_marks), cmocka_unit_test(test_odd)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
