/* Tests occupancy plots against discounted sums over steps, and their total of 1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure_support.h"

static double total(const double *numbers, size_t count)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += numbers[i];
  return sum;
}

/* Observed states: (1 - gamma) sum_t gamma^t P^t from the start, under the agent's policy. */
static void observed_states(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_read("example:maintenance", &problem, NULL, &support_error));
  const idm_plot_subject subject = {.problem = problem};
  idm_workspace *workspace = support_plan(problem, NULL);
  const idm_setting *setting = problem->setting;
  double now[3], share[3] = {0}, gamma = 1;
  memcpy(now, setting->start, sizeof now);
  for (int t = 0; t < 400; t++) {
    double next[3] = {0};
    for (size_t s = 0; s < 3; s++) {
      double z[3] = {0}, policy[3];
      z[s] = 1;
      idm_plan_policy(workspace, 0, z, policy, NULL);
      share[s] += 0.1 * gamma * now[s];
      for (size_t u = 0; u < 3; u++)
        for (size_t k = 0; k < 3; k++)
          next[k] += now[s] * policy[u] * setting->transition[(u * 3 + s) * 3 + k];
    }
    memcpy(now, next, sizeof now);
    gamma *= 0.9;
  }
  idm_figure *figure = figure_make("occupancy", &subject, NULL);
  const idm_mark *bars = figure_mark(figure, 0, IDM_MARK_BARS, "");
  assert_int_equal(bars->count, 3);
  for (size_t s = 0; s < 3; s++) assert_near(bars->column[IDM_FIGURE_Y][s], share[s], 1e-8);
  assert_string_equal(bars->label.name[1], "worn");
  assert_string_equal(figure->panel[0]->title, "");
  free(figure_draw(figure, IDM_FIGURE_WIDE));
  idm_figure_destroy(figure);
  idm_workspace_destroy(workspace);
  /* The occupancy is computed without perseverance and lapse; the title names this. */
  support_assign(problem, "lapse=0.2");
  figure = figure_make("occupancy", &subject, NULL);
  assert_string_equal(figure->panel[0]->title, "of the planned policy");
  idm_figure_destroy(figure);
  idm_problem_destroy(problem);
}

/* Two states: the bars cover [0, 1] without gaps and sum to 1 on every lattice. */
static void two_states(void **state)
{
  (void)state;
  static const char *const lattices[] = {"resolution=1", "resolution=30", "resolution=99",
                                         "resolution=500", "horizon=6"};
  for (size_t k = 0; k < sizeof lattices / sizeof lattices[0]; k++) {
    idm_problem *problem = support_diag(0.5, INFINITY, 0);
    support_assign(problem, lattices[k]);
    const idm_plot_subject subject = {.problem = problem};
    idm_figure *figure = figure_make("occupancy", &subject, NULL);
    const idm_mark *bars = figure_mark(figure, 0, IDM_MARK_BARS, "");
    assert_in_range(bars->count, 2, 101);
    assert_near(total(bars->column[IDM_FIGURE_Y], bars->count), 1, 1e-9);
    assert_near(bars->column[IDM_FIGURE_X][0], 0, 0);
    assert_near(bars->column[IDM_FIGURE_RIGHT][bars->count - 1], 1, 1e-12);
    for (size_t i = 1; i < bars->count; i++)
      assert_near(bars->column[IDM_FIGURE_X][i], bars->column[IDM_FIGURE_RIGHT][i - 1], 1e-12);
    /* DIAG and its agent are symmetric in the two states. */
    if (k < 3)
      for (size_t i = 0; i < bars->count; i++)
        assert_near(bars->column[IDM_FIGURE_Y][i], bars->column[IDM_FIGURE_Y][bars->count - 1 - i],
                    1e-6);
    free(figure_draw(figure, IDM_FIGURE_NARROW));
    idm_figure_destroy(figure);
    idm_problem_destroy(problem);
  }
}

/* Three states: the opacity of a cell is the square root of its relative share, and labels contain
 * the share. More than three states: bars of mean beliefs. */
static void more_states(void **state)
{
  (void)state;
  idm_problem *problem = figure_clinic();
  const idm_plot_subject subject = {.problem = problem};
  idm_figure *figure = figure_make("occupancy", &subject, NULL);
  assert_int_equal(figure->panel[0]->marks, 1);
  const idm_mark *cells = figure->panel[0]->mark[0];
  double sum = 0, most = 0, darkest = 0;
  for (size_t i = 0; i < cells->count; i++) {
    const double share = strtod(cells->label.name[i], NULL);
    sum += share;
    most = fmax(most, share);
    darkest = fmax(darkest, cells->column[IDM_FIGURE_VALUE][i]);
  }
  assert_near(sum, 1, 0.003); /* labels have three digits */
  assert_near(darkest, 1, 1e-12);
  for (size_t i = 0; i < cells->count; i++)
    assert_near(pow(cells->column[IDM_FIGURE_VALUE][i], 2) * most,
                strtod(cells->label.name[i], NULL), 0.006 * most);
  free(figure_draw(figure, IDM_FIGURE_WIDE));
  idm_figure_destroy(figure);
  idm_problem_destroy(problem);

  idm_random random;
  idm_random_init(&random, 4, 0);
  problem = support_problem((support_shape){4, 2, 2, 1, 6}, &random);
  const idm_plot_subject of_four = {.problem = problem};
  figure = figure_make("occupancy", &of_four, NULL);
  const idm_mark *bars = figure_mark(figure, 0, IDM_MARK_BARS, "");
  assert_int_equal(bars->count, 4);
  assert_near(total(bars->column[IDM_FIGURE_Y], 4), 1, 1e-9);
  idm_figure_destroy(figure);
  idm_problem_destroy(problem);
}

static void what_is_refused(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0, INFINITY, 0);
  support_assign(problem, "planner=point-based");
  figure_refuse("occupancy", &(idm_plot_subject){.problem = problem}, NULL,
                "'point-based' does not plan on a lattice");
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(observed_states),
                                     cmocka_unit_test(two_states), cmocka_unit_test(more_states),
                                     cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
