/* Tests the selection of the quantities of a posterior for a plot, their supports, priors and
 * ranges. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/distribution.h"
#include "report/panels.h"
#include "report/report_support.h"

static idm_status choose(const idm_posterior *p, const idm_problem *opt_problem, size_t most,
                         const char *const *names, size_t count, idm_plot_quantities *shown,
                         idm_notes *notes)
{
  const idm_plot_subject subject = {.posterior = p, .problem = opt_problem};
  const idm_plot_settings settings = {.quantities = count, .quantity = names};
  support_error = (idm_error){0};
  return idm_plot_quantities_select(&subject, &settings, most, most == SIZE_MAX, shown, notes,
                                    &support_error);
}

static void test_choosing(void **state)
{
  (void)state;
  static const char *const names[] = {"alpha", "inverse_beta", "beta", "eta"};
  idm_posterior *p = report_posterior(2, 5, names, 4);
  idm_plot_quantities shown;
  idm_notes notes = {0};
  p->summarised[2] = false;
  check(choose(p, NULL, 10, NULL, 0, &shown, &notes));
  assert_int_equal(shown.count, 3);
  assert_int_equal(notes.count, 0);
  assert_string_equal(shown.one[1].name, "1/beta");
  assert_true(shown.one[2].draw == p->value + 3 * 10);
  assert_int_equal(shown.one[2].count, 10);
  idm_plot_quantities_clear(&shown);
  check(choose(p, NULL, 2, NULL, 0, &shown, &notes));
  assert_int_equal(shown.count, 2);
  assert_int_equal(notes.count, 1);
  idm_notes_clear(&notes);
  idm_plot_quantities_clear(&shown);
  /* Under either name, once, in the requested order; quantities that are not summarised are
   * included. */
  static const char *const requested[] = {"beta", "1/beta", "inverse_beta"};
  check(choose(p, NULL, 1, requested, 3, &shown, &notes));
  assert_int_equal(shown.count, 2);
  assert_int_equal(shown.one[0].quantity, 2);
  assert_int_equal(shown.one[1].quantity, 1);
  idm_plot_quantities_clear(&shown);
  static const char *const wrong[] = {"alpah"};
  assert_int_equal(choose(p, NULL, 1, wrong, 1, &shown, &notes), IDM_USAGE);
  assert_non_null(strstr(support_error.message, "'alpha'"));
  /* Quantities of several numbers without names are not shown. */
  size_t sizes[] = {1, 1, 1, 5};
  p->quantity_size = sizes;
  check(choose(p, NULL, 10, NULL, 0, &shown, &notes));
  assert_int_equal(shown.count, 2);
  idm_plot_quantities_clear(&shown);
  static const char *const opaque[] = {"eta"};
  assert_int_equal(choose(p, NULL, 1, opaque, 1, &shown, &notes), IDM_USAGE);
  p->quantity_size = NULL;
  idm_posterior_destroy(p);
}

static void test_people(void **state)
{
  (void)state;
  static const char *const names[] = {"log_alpha_sd", "log_alpha_r2", "a", "b", "c"};
  static const char *const people[] = {"x", "y", "z"};
  idm_posterior *p = report_posterior(2, 5, names, 5);
  idm_plot_quantities shown;
  idm_notes notes = {0};
  report_series(p, "log_alpha", "person", people, 3, 2);
  check(choose(p, NULL, 10, NULL, 0, &shown, &notes));
  assert_int_equal(shown.count, 2);
  assert_true(shown.one[0].support.low == 0 && isinf(shown.one[0].support.high));
  assert_true(shown.one[1].support.high == 1);
  idm_plot_quantities_clear(&shown);
  check(choose(p, NULL, SIZE_MAX, NULL, 0, &shown, &notes)); /* every person */
  assert_int_equal(shown.count, 5);
  idm_plot_quantities_clear(&shown);
  static const char *const titles[] = {"sd of log alpha", "log alpha, z"}; /* names as in figures */
  check(choose(p, NULL, 1, titles, 2, &shown, &notes));
  assert_int_equal(shown.count, 2);
  assert_int_equal(shown.one[1].quantity, 4);
  idm_plot_quantities_clear(&shown);
  static const char *const series[] = {"log_alpha"};
  check(choose(p, NULL, 1, series, 1, &shown, &notes));
  assert_int_equal(shown.count, 3);
  assert_string_equal(shown.one[1].name, "log alpha, y");
  assert_true(isinf(shown.one[1].support.low));
  idm_plot_quantities_clear(&shown);
  idm_posterior_destroy(p);
}

static idm_status count_calls(const idm_plot_subject *subject, const idm_plot_quantity *one,
                              size_t count, idm_figure *figure, idm_notes *notes,
                              idm_error *opt_error)
{
  (void)subject;
  (void)notes;
  idm_panel *panel;
  char title[64];
  if (one->quantity == 1) return idm_fail(opt_error, IDM_INPUT, "not this one");
  snprintf(title, sizeof title, "%zu: %zu", one->quantity, count);
  return idm_figure_add(figure, title, "", "", &panel, opt_error);
}

/* Each quantity by itself, or series together; an error of the drawing callback is returned. */
static void test_making(void **state)
{
  (void)state;
  static const char *const names[] = {"eta", "beta", "a", "b", "c"};
  static const char *const people[] = {"x", "y", "z"};
  idm_posterior *p = report_posterior(2, 5, names, 5);
  report_series(p, "log_alpha", "person", people, 3, 2);
  p->summarised[1] = false;
  const idm_plot_subject subject = {.posterior = p};
  const idm_plot_settings usual = {0};
  idm_quantity_plot kind = {.description = "d", .columns = 3, .most = 9, .draw = count_calls};
  idm_figure *figure = NULL;
  kind.people = true;
  check(idm_quantity_plot_make(&kind, &subject, &usual, &figure, NULL, &support_error));
  assert_int_equal(figure->panels, 4);
  assert_string_equal(figure->panel[3]->title, "4: 1");
  idm_figure_destroy(figure);
  kind.series = true;
  check(idm_quantity_plot_make(&kind, &subject, &usual, &figure, NULL, &support_error));
  assert_int_equal(figure->panels, 2);
  assert_string_equal(figure->panel[0]->title, "0: 1");
  assert_string_equal(figure->panel[1]->title, "2: 3");
  assert_int_equal(figure->columns, 3);
  idm_figure_destroy(figure);
  p->summarised[1] = true;
  assert_int_equal(idm_quantity_plot_make(&kind, &subject, &usual, &figure, NULL, &support_error),
                   IDM_INPUT);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
}

/* Supports and priors of the free parameters of the problem; prior draws of the run have
 * precedence. */
static void test_priors(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  check(idm_problem_set_free(problem, "{alpha: {scale: log, prior: {normal: [0.5, 0.25]}}}",
                             &support_error));
  static const char *const names[] = {"alpha"};
  idm_posterior *p = report_posterior(2, 50, names, 1);
  idm_plot_quantities shown;
  idm_notes notes = {0};
  const idm_plot_subject subject = {.posterior = p, .problem = problem};
  check(choose(p, problem, 10, NULL, 0, &shown, &notes));
  assert_true(shown.one[0].support.low == 0 && isinf(shown.one[0].support.high));
  assert_true(shown.one[0].by_ratio);
  check(idm_plot_quantities_priors(&subject, &shown, &support_error));
  double mean = 0, square = 0;
  const double n = (double)shown.one[0].priors;
  for (size_t i = 0; i < shown.one[0].priors; i++) mean += log(shown.one[0].prior[i]) / n;
  for (size_t i = 0; i < shown.one[0].priors; i++)
    square += pow(log(shown.one[0].prior[i]) - mean, 2) / n;
  assert_near(mean, 0.5, 5 * 0.25 / sqrt(n));
  assert_near(sqrt(square), 0.25, 0.02);
  idm_plot_quantities_clear(&shown);
  double own[] = {1, 2, 3};
  p->prior_draws = 3;
  p->prior = own;
  check(choose(p, problem, 10, NULL, 0, &shown, &notes));
  check(idm_plot_quantities_priors(&subject, &shown, &support_error));
  assert_true(shown.one[0].prior == own);
  idm_plot_quantities_clear(&shown);
  p->prior = NULL;
  p->prior_draws = 0;
  /* A flat prior cannot be sampled. */
  check(idm_problem_set_free(problem, "{alpha: {scale: log, prior: flat}}", &support_error));
  check(choose(p, problem, 10, NULL, 0, &shown, &notes));
  check(idm_plot_quantities_priors(&subject, &shown, &support_error));
  assert_null(shown.one[0].prior);
  idm_plot_quantities_clear(&shown);
  idm_posterior_destroy(p);
  idm_problem_destroy(problem);
}

static void test_range(void **state)
{
  (void)state;
  double x[101];
  idm_density_support range;
  bool varies;
  const idm_density_support positive = {0, INFINITY};
  for (size_t i = 0; i < 101; i++) x[i] = 0.01 * (double)i;
  check(idm_plot_range(x, 101, 0.1, positive, &range, &varies, &support_error));
  assert_true(varies);
  assert_true(range.low == 0);
  assert_near(range.high, 1.3, 1e-12);
  /* One outlier does not set the scale. */
  x[100] = 1e6;
  check(idm_plot_range(x, 101, 0.1, positive, &range, &varies, &support_error));
  assert_near(range.high, 0.95 + 3 * 0.9, 1e-9);
  const double alike[] = {2, 2, NAN, INFINITY};
  check(idm_plot_range(alike, 4, 0, positive, &range, &varies, &support_error));
  assert_false(varies);
  assert_true(range.low == 2 && range.high == 2);
  check(idm_plot_range(alike + 2, 2, 0, positive, &range, &varies, &support_error));
  assert_true(isnan(range.low) && !varies);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_choosing), cmocka_unit_test(test_people),
                                     cmocka_unit_test(test_making), cmocka_unit_test(test_priors),
                                     cmocka_unit_test(test_range)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
