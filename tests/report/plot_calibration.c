/* Tests calibration plots: frequencies against direct counts, and Wilson intervals against the
 * equation that defines them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure_support.h"
#include "report/panels.h"

/* Compares each bin's mean prediction and frequency with a second pass over all decisions. */
static void expect_bins(const idm_decisions *d, size_t action, const idm_mark *ranges)
{
  size_t at = 0;
  for (int bin = 0; bin < 10; bin++) {
    double n = 0, k = 0, sum = 0;
    for (size_t i = 0; i < d->count; i++) {
      const double p = d->probability[i * d->actions + action];
      if (!d->open[i * d->actions + action] || p * 10 < bin || (p * 10 >= bin + 1 && bin < 9))
        continue;
      n++;
      k += d->taken[i] == action;
      sum += p;
    }
    if (n == 0) continue;
    assert_true(at < ranges->count);
    assert_near(ranges->column[IDM_FIGURE_X][at], sum / n, 1e-9);
    assert_near(ranges->column[IDM_FIGURE_Y][at], k / n, 1e-12);
    /* Wilson: n (k/n - p)^2 = 1.96^2 p (1 - p) at both ends, or 0 or 1 at an extreme frequency. */
    for (int end = 0; end < 2; end++) {
      const double p = ranges->column[end ? IDM_FIGURE_HIGH : IDM_FIGURE_LOW][at];
      assert_true(end ? p >= k / n : p <= k / n);
      if (k == (end ? n : 0))
        assert_near(p, end, 0);
      else
        assert_near(n * pow(k / n - p, 2), 1.959963984540054 * 1.959963984540054 * p * (1 - p),
                    1e-9);
    }
    at++;
  }
  assert_int_equal(at, ranges->count);
}

static void bins_are_counts(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(4, INFINITY, 0);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 300, .steps = 6, .seed = 4});
  const idm_plot_subject subject = {.problem = problem, .data = data};
  idm_decisions d;
  idm_notes notes = {0};
  check(idm_labels_set(&problem->setting->actions, 0, figure_hostile, strlen(figure_hostile),
                       &support_error));
  check(idm_decisions_open(&subject, &d, &notes, &support_error));
  idm_figure *figure = figure_make("calibration", &subject, NULL);
  assert_int_equal(figure->panels, 3);
  for (size_t u = 0; u < 3; u++) {
    const idm_mark *line = figure_mark(figure, u, IDM_MARK_LINE, "as predicted");
    const idm_mark *ranges = figure_mark(figure, u, IDM_MARK_RANGES, "frequency and 95 % interval");
    assert_near(line->column[IDM_FIGURE_Y][1], 1, 0);
    assert_true(ranges->count > 1);
    expect_bins(&d, u, ranges);
  }
  free(figure_draw(figure, IDM_FIGURE_WIDE));
  idm_figure_destroy(figure);
  idm_decisions_close(&d);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* An action that is never available has no panel; one decision is sufficient for the others. */
static void one_decision(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(4, INFINITY, 0);
  idm_data *data = support_data(
      problem, "agent,action,observation,available\n1,monitor,,monitor|declare_healthy\n");
  idm_figure *figure =
      figure_make("calibration", &(idm_plot_subject){.problem = problem, .data = data}, NULL);
  assert_int_equal(figure->panels, 2);
  const idm_mark *ranges = figure_mark(figure, 1, IDM_MARK_RANGES, "frequency and 95 % interval");
  assert_int_equal(ranges->count, 1);
  assert_near(ranges->column[IDM_FIGURE_Y][0], 1, 0);
  assert_string_equal(ranges->label.name[0], "1 of 1 decisions");
  idm_figure_destroy(figure);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(bins_are_counts),
                                     cmocka_unit_test(one_decision)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
