/* Tests policy plots: lines and cells against the policy of the plan, steps against the beliefs
 * along a path, choice frequencies against a simulation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure_support.h"

static void lines_are_the_policy(void **state)
{
  (void)state;
  static const char *const panel[] = {"one: alpha=0.5", "two: alpha=3, beta=1.25"};
  idm_problem *problem = support_diag(1, INFINITY, 0.001);
  const idm_plot_subject subject = {.problem = problem};
  const idm_plot_settings settings = {.panels = 2, .panel = panel, .path = "monitor:positive"};
  check(idm_labels_set(&problem->setting->actions, 0, figure_hostile, strlen(figure_hostile),
                       &support_error));
  idm_figure *figure = figure_make("policy", &subject, &settings);
  assert_int_equal(figure->panels, 2);
  assert_string_equal(figure->panel[1]->title, "two");
  support_set(problem, 3, 1.25, 0.001);
  idm_workspace *workspace = support_plan(problem, NULL);
  for (size_t u = 0; u < 3; u++) {
    const idm_mark *line = figure_mark(figure, 1, IDM_MARK_LINE, problem->setting->actions.name[u]);
    assert_true(line->count > 100);
    assert_near(line->column[IDM_FIGURE_X][0], 0, 0);
    assert_near(line->column[IDM_FIGURE_X][line->count - 1], 1, 0);
    for (size_t i = 0; i < line->count; i++) {
      const double p = line->column[IDM_FIGURE_X][i], z[2] = {1 - p, p};
      double policy[3];
      idm_plan_policy(workspace, 0, z, policy, NULL);
      assert_near(line->column[IDM_FIGURE_Y][i], policy[u], 1e-9);
    }
  }
  idm_path_trace *f;
  check(idm_path_trace_create(problem->setting, workspace, "monitor:positive", &f, &support_error));
  const idm_mark *steps = figure_mark(figure, 1, IDM_MARK_STEPS, "belief along the path");
  assert_int_equal(steps->count, 2);
  for (size_t i = 0; i < 2; i++)
    assert_near(steps->column[IDM_FIGURE_X][i], f->belief[2 * i + 1], 1e-9);
  assert_string_equal(steps->label.name[1], "1");
  char *text = figure_draw(figure, IDM_FIGURE_NARROW);
  free(text);
  idm_path_trace_destroy(f);
  idm_workspace_destroy(workspace);
  idm_figure_destroy(figure);
  idm_problem_destroy(problem);
}

/* Observed states: one cell per state and action. */
static void cells_are_the_policy(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_read("example:maintenance", &problem, NULL, &support_error));
  const idm_plot_subject subject = {.problem = problem};
  idm_figure *figure = figure_make("policy", &subject, NULL);
  idm_workspace *workspace = support_plan(problem, NULL);
  const idm_mark *cells = figure_mark(figure, 0, IDM_MARK_CELLS, "");
  assert_int_equal(cells->count, 9);
  for (size_t i = 0; i < 9; i++) {
    double z[3] = {0}, policy[3];
    z[i / 3] = 1;
    idm_plan_policy(workspace, 0, z, policy, NULL);
    assert_near(cells->column[IDM_FIGURE_VALUE][i], policy[i % 3], 1e-9);
    assert_near(cells->column[IDM_FIGURE_Y][i], (double)(i / 3) - 0.5, 0);
    assert_near(cells->column[IDM_FIGURE_RIGHT][i], (double)(i % 3) + 0.5, 0);
  }
  assert_string_equal(figure->panel[0]->y.category.name[2], "broken");
  free(figure_draw(figure, IDM_FIGURE_WIDE));
  idm_workspace_destroy(workspace);
  idm_figure_destroy(figure);
  idm_problem_destroy(problem);
}

/* Counts of each action in each state after each previous action, in simulated trajectories. */
typedef struct counted {
  double taken[4][3][3]; /* [previous action, 3: none][state][action] */
} counted;

static void count_choices(const idm_data *data, counted *c)
{
  *c = (counted){0};
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      const size_t last = row > data->first[t] ? (size_t)data->action[row - 1] : 3;
      c->taken[last][data->state[row]][data->action[row]]++;
    }
}

/* Checks that each binomial count is within five standard deviations of its expectation by the
 * figure. Returns the number of states with more than 200 decisions, enough to show a difference.
 */
static size_t check_frequencies(const idm_mark *cells, double (*taken)[3])
{
  size_t frequent = 0;
  for (size_t s = 0; s < 3; s++) {
    const double *p = cells->column[IDM_FIGURE_VALUE] + 3 * s;
    const double all = taken[s][0] + taken[s][1] + taken[s][2];
    assert_near(p[0] + p[1] + p[2], 1, 1e-12);
    frequent += all > 200;
    for (size_t u = 0; u < 3; u++)
      assert_near(taken[s][u], all * p[u], 5 * sqrt(all * p[u] * (1 - p[u])));
  }
  return frequent;
}

/* With perseverance and lapse, the panels show the policy at choice time, as simulated, and the
 * last panel the planned policy. */
static void the_policy_is_what_is_simulated(void **state)
{
  (void)state;
  static const char *const title[] = {"after run", "after repair", "after replace",
                                      "first decision"};
  idm_problem *problem;
  check(idm_problem_read("example:maintenance", &problem, NULL, &support_error));
  for (size_t s = 0; s < 3; s++) problem->setting->start[s] = 1.0 / 3;
  support_assign(problem, "alpha=20");
  support_assign(problem, "lapse=0.3");
  support_assign(problem, "perseverance=1.5");
  const idm_plot_subject subject = {.problem = problem};
  idm_figure *figure = figure_make("policy", &subject, NULL);
  assert_int_equal(figure->panels, 5);
  idm_data *data = support_simulate(
      problem, (idm_simulation){.trajectories = 2000, .steps = 10, .seed = 7, .states = true});
  counted c;
  size_t frequent = 0;
  count_choices(data, &c);
  for (size_t i = 0; i < 4; i++) {
    const size_t panel = i < 3 ? i + 1 : 0;
    assert_string_equal(figure->panel[panel]->title, title[i]);
    frequent += check_frequencies(figure_mark(figure, panel, IDM_MARK_CELLS, ""), c.taken[i]);
  }
  assert_true(frequent >= 9);
  idm_workspace *workspace = support_plan(problem, NULL);
  double planned[3];
  idm_plan_policy(workspace, 0, (const double[]){1, 0, 0}, planned, NULL);
  assert_string_equal(figure->panel[4]->title, "planned");
  const idm_mark *cells = figure_mark(figure, 4, IDM_MARK_CELLS, "");
  for (size_t u = 0; u < 3; u++) assert_near(cells->column[IDM_FIGURE_VALUE][u], planned[u], 1e-12);
  idm_workspace_destroy(workspace);
  idm_data_destroy(data);
  idm_figure_destroy(figure);
  idm_problem_destroy(problem);
}

static void what_is_refused(void **state)
{
  (void)state;
  idm_problem *problem = figure_clinic();
  const idm_plot_subject subject = {.problem = problem};
  figure_refuse("policy", &subject, NULL, "see the kind 'simplex'");
  idm_problem_destroy(problem);
  problem = support_diag(1, 1, 0);
  const idm_plot_subject diag = {.problem = problem};
  figure_refuse("policy", &diag, &(idm_plot_settings){.path = "nothing"},
                "expected ACTION:OBSERVATION");
  static const char *const panel[] = {"a: planner=recurrent"};
  figure_refuse("policy", &diag, &(idm_plot_settings){.panels = 1, .panel = panel},
                "does not decide by a belief");
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_are_the_policy), cmocka_unit_test(cells_are_the_policy),
      cmocka_unit_test(the_policy_is_what_is_simulated), cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
