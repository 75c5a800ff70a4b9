/* Tests the registry of plot kinds, and the error of each kind if its inputs are missing. */
#include <stdio.h>
#include <string.h>

#include "report/figure_support.h"

static void names(void **state)
{
  (void)state;
  size_t count = 0;
  for (const idm_plot *plot; (plot = idm_plot_at(count)); count++) {
    assert_ptr_equal(idm_plot_find(plot->name), plot);
    assert_true(strlen(plot->summary) > 10);
    assert_true(plot->needs != 0);
    assert_non_null(plot->make);
    for (size_t i = 0; i < count; i++) assert_string_not_equal(idm_plot_at(i)->name, plot->name);
  }
  assert_true(count >= 6);
  assert_null(idm_plot_at(count));
  assert_null(idm_plot_at(count + 1000));
  assert_null(idm_plot_find("no such kind"));
  assert_null(idm_plot_find(NULL));
}

/* Each kind is refused without any input; the kinds that require a log are refused without one. */
static void needs(void **state)
{
  (void)state;
  const idm_plot_subject nothing = {0};
  for (size_t i = 0; idm_plot_at(i); i++) {
    idm_error error = {0};
    idm_figure *figure = (idm_figure *)&error;
    char words[120];
    const idm_plot *plot = idm_plot_at(i);
    assert_int_equal(idm_plot_make(plot, &nothing, NULL, &figure, NULL, &error), IDM_USAGE);
    assert_null(figure);
    snprintf(words, sizeof words, "a plot of kind '%s' needs ", plot->name);
    assert_memory_equal(error.message, words, strlen(words));
  }
  idm_problem *problem = support_diag(1, 1, 0);
  const idm_plot_subject without_log = {.problem = problem};
  figure_refuse("calibration", &without_log, NULL, "'calibration' needs a log");
  figure_refuse("prc", &without_log, NULL, "'prc' needs a log");
  figure_refuse("surprise", &without_log, NULL, "'surprise' needs a log");
  idm_problem_destroy(problem);
}

/* A plot that fails after it has created a figure leaves no figure. */
static idm_status give_up(const idm_plot_subject *subject, const idm_plot_settings *settings,
                          idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  (void)subject;
  assert_int_equal(settings->panels, 0);
  idm_notes_add(notes, "nobody may be there to read this");
  check(idm_figure_create("", "", 1, ret_figure, &support_error));
  return idm_fail(opt_error, IDM_INPUT, "no");
}

static void failures(void **state)
{
  (void)state;
  const idm_plot plot = {.name = "own", .summary = "", .make = give_up};
  const idm_plot_subject nothing = {0};
  idm_figure *figure;
  assert_int_equal(idm_plot_make(&plot, &nothing, NULL, &figure, NULL, NULL), IDM_INPUT);
  assert_null(figure);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(needs),
                                     cmocka_unit_test(failures)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
