/* Tests step-by-step plots of one trajectory against the explanation computed by the library. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure_support.h"

static const char visits[] = "trajectory,action,observation\n"
                             "1,monitor,positive\n1,declare_healthy,\n"
                             "2,monitor,positive\n2,,positive\n2,monitor,\n2,declare_diseased,\n";

static const size_t first = 2, rows = 4; /* of trajectory 2 */

static void expect_case(const idm_figure *figure, const idm_explanation *e, const idm_data *data,
                        const idm_setting *setting)
{
  assert_int_equal(figure->panels, 3);
  for (size_t s = 0; s < 2; s++) {
    const idm_mark *line = figure_mark(figure, 0, IDM_MARK_LINE, setting->states.name[s]);
    assert_int_equal(line->count, rows);
    for (size_t i = 0; i < rows; i++) {
      const idm_interval z = idm_explanation_interval(e, first + i, IDM_EXPLAIN_BELIEF, s);
      assert_near(line->column[IDM_FIGURE_X][i], (double)i + 1, 0);
      assert_near(line->column[IDM_FIGURE_Y][i], z.mean, 1e-12);
      if (!e->trials->low) continue;
      const idm_mark *band = figure_mark(figure, 0, IDM_MARK_BAND, setting->states.name[s]);
      assert_near(band->column[IDM_FIGURE_LOW][i], z.low, 1e-12);
      assert_near(band->column[IDM_FIGURE_HIGH][i], z.high, 1e-12);
    }
  }
  const idm_mark *done = figure_mark(figure, 1, e->trials->low ? IDM_MARK_RANGES : IDM_MARK_POINTS,
                                     setting->actions.name[2]);
  const idm_mark *ours = figure_mark(figure, 2, IDM_MARK_BARS, "of what was done, to us");
  const idm_mark *seen = figure_mark(figure, 2, IDM_MARK_BARS, "of what was seen, to the agent");
  assert_int_equal(done->count, 2);
  for (size_t i = 0, k = 0; i < rows; i++) {
    const double surprise = idm_explanation_surprise(e, data, first + i).mean;
    const double other = idm_explanation_interval(e, first + i, IDM_EXPLAIN_OBS_SURPRISE, 0).mean;
    const double p = idm_explanation_interval(e, first + i, IDM_EXPLAIN_PROBABILITY, 2).mean;
    if (data->action[first + i] == 2) assert_near(done->column[IDM_FIGURE_Y][k++], p, 1e-12);
    assert_true(isnan(surprise) == isnan(ours->column[IDM_FIGURE_Y][i]));
    assert_true(isnan(other) == isnan(seen->column[IDM_FIGURE_Y][i]));
    if (!isnan(surprise)) assert_near(ours->column[IDM_FIGURE_Y][i], surprise, 1e-12);
    if (!isnan(other)) assert_near(seen->column[IDM_FIGURE_Y][i], other, 1e-12);
  }
}

static void what_is_explained(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(3, 2, 0.1);
  check(idm_labels_set(&problem->setting->states, 0, figure_hostile, strlen(figure_hostile),
                       &support_error));
  idm_data *data = support_data(problem, visits);
  idm_posterior *posterior = figure_fit(problem, data);
  for (int of_run = 0; of_run < 2; of_run++) {
    const idm_plot_subject subject = {
        .problem = problem, .data = data, .posterior = of_run ? posterior : NULL};
    idm_explanation *e;
    check(idm_explain_log(problem, subject.posterior, data, NULL, &e, NULL, &support_error));
    idm_figure *figure = figure_make("surprise", &subject, &(idm_plot_settings){.trajectory = "2"});
    assert_string_equal(figure->title, "Trajectory 2");
    expect_case(figure, e, data, problem->setting);
    free(figure_draw(figure, of_run ? IDM_FIGURE_WIDE : IDM_FIGURE_NARROW));
    idm_figure_destroy(figure);
    idm_explanation_destroy(e);
  }
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A row with one available action or with a missed response is not a decision: it has neither a
 * probability nor a surprise. */
static void forced_rows_are_left_out(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(3, 2, 0.1);
  SUPPORT_NAMES(&problem->columns.missed, "late");
  problem->columns.missed_action = 3;
  idm_data *data = support_data(problem, "trajectory,action,observation,available\n"
                                         "1,late,positive,\n1,monitor,positive,\n"
                                         "1,declare_healthy,,declare_healthy\n");
  const idm_plot_subject subject = {.problem = problem, .data = data};
  idm_figure *figure = figure_make("surprise", &subject, &(idm_plot_settings){.trajectory = "1"});
  const idm_panel *panel = figure->panel[1];
  assert_int_equal(panel->marks, 1);
  assert_int_equal(panel->mark[0]->count, 1);
  assert_near(panel->mark[0]->column[IDM_FIGURE_X][0], 2, 0);
  const idm_mark *ours = figure_mark(figure, 2, IDM_MARK_BARS, "of what was done, to us");
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(isnan(ours->column[IDM_FIGURE_Y][i]) != 0, i != 1);
  free(figure_draw(figure, IDM_FIGURE_WIDE));
  idm_figure_destroy(figure);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void what_is_refused(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(3, 2, 0.1);
  idm_data *data = support_data(problem, visits);
  const idm_plot_subject subject = {.problem = problem, .data = data};
  figure_refuse("surprise", &subject, NULL, "name one with --trajectory");
  figure_refuse("surprise", &subject, &(idm_plot_settings){.trajectory = "3"},
                "there is no trajectory '3'");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_explained),
                                     cmocka_unit_test(forced_rows_are_left_out),
                                     cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
