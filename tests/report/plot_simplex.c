/* Tests simplex plots: cells against the policy of the plan, the decision boundary against the
 * policies around it, paths against the beliefs of a log or an action-observation path. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure_support.h"
#include "report/panels.h"

static void cells_and_boundary(void **state)
{
  (void)state;
  idm_problem *problem = figure_clinic();
  problem->theta->block[IDM_CERTAINTY].value[2] =
      0.1; /* without a discontinuity, so that the policy is nearly linear between corners */
  const idm_plot_subject subject = {.problem = problem};
  idm_figure *figure = figure_make("simplex", &subject, NULL);
  idm_workspace *workspace = support_plan(problem, NULL);
  size_t count = 0;
  double policy[2];
  for (size_t u = 0; u < 2; u++) {
    const idm_mark *cells =
        figure_mark(figure, 0, IDM_MARK_CELLS, problem->setting->actions.name[u]);
    assert_true(cells->count > 0); /* otherwise there is no boundary to test */
    count += cells->count;
    for (size_t i = 0; i < cells->count; i++) {
      const double x = cells->column[IDM_FIGURE_X][i], y = cells->column[IDM_FIGURE_Y][i];
      const double side = cells->column[IDM_FIGURE_RIGHT][i] - x;
      const double z[3] = {x - side * 2 / 3, y + side / 3, 1 - x - y + side / 3};
      idm_plan_policy(workspace, 0, z, policy, NULL);
      assert_true(policy[u] >= policy[1 - u]);
      assert_near(cells->column[IDM_FIGURE_VALUE][i], policy[u], 1e-9);
    }
  }
  assert_int_equal(count, 1600);
  /* On the boundary both probabilities are near one half: the policy is interpolated linearly
   * between corners 1/40 apart, and each action is the more probable at one end of an edge. */
  const idm_mark *line = figure_mark(figure, 0, IDM_MARK_LINE, "decision boundary");
  assert_true(line->count >= 3);
  for (size_t i = 0; i < line->count; i++) {
    const double x = line->column[IDM_FIGURE_X][i], y = line->column[IDM_FIGURE_Y][i];
    if (i % 3 == 2) {
      assert_true(isnan(x) && isnan(y));
      continue;
    }
    bool either[2] = {false, false};
    for (int k = 0; k < 6; k++) {
      const double step = (k % 2 ? 1 : -1) / 40.0;
      double z[3] = {x, y, 1 - x - y};
      z[k / 2] += step;
      z[(k / 2 + 1) % 3] -= step;
      if (z[0] < 0 || z[1] < 0 || z[2] < 0) continue;
      idm_plan_policy(workspace, 0, z, policy, NULL);
      either[policy[1] > policy[0]] = true;
    }
    const double z[3] = {x, y, fmax(1 - x - y, 0)};
    idm_plan_policy(workspace, 0, z, policy, NULL);
    assert_true((either[0] && either[1]) || fabs(policy[0] - 0.5) < 0.1);
  }
  free(figure_draw(figure, IDM_FIGURE_WIDE));
  idm_workspace_destroy(workspace);
  idm_figure_destroy(figure);
  idm_problem_destroy(problem);
}

static const char visits[] =
    "trajectory,step,action,observation\n"
    "a,1,visit,mild/none\na,2,\"<script>alert(\"\"1\"\")&'</script>\",mild/small\n"
    "a,3,visit,questionable/none\nb,1,visit,none/none\n"
    "b,2,,none/none\nb,3,visit,\n";

/* Points are at the beliefs of the trials; arrows connect successive beliefs. */
static void a_trajectory(void **state)
{
  (void)state;
  idm_problem *problem = figure_clinic();
  idm_data *data = support_data(problem, visits);
  const idm_plot_subject subject = {.problem = problem, .data = data};
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_trials *trials;
  check(idm_trials_create(workspace, data, &trials, &support_error));
  idm_figure *figure = figure_make("simplex", &subject, &(idm_plot_settings){.trajectory = "a"});
  const idm_mark *arrows = figure_mark(figure, 0, IDM_MARK_ARROWS, "belief update");
  const idm_mark *visit = figure_mark(figure, 0, IDM_MARK_POINTS, "visit");
  const idm_mark *last = figure_mark(figure, 0, IDM_MARK_POINTS, "final belief");
  assert_int_equal(arrows->count, 3);
  assert_int_equal(visit->count, 2);
  assert_int_equal(last->count, 1);
  for (size_t i = 0; i < 3; i++) {
    const double *z = trials->mean + trials->node[i] * trials->width;
    assert_near(arrows->column[IDM_FIGURE_X][i], z[0], 1e-9);
    assert_near(arrows->column[IDM_FIGURE_Y][i], z[1], 1e-9);
    if (i) assert_near(arrows->column[IDM_FIGURE_RIGHT][i - 1], z[0], 1e-9);
    if (i != 1) assert_near(visit->column[IDM_FIGURE_X][i / 2], z[0], 1e-9);
  }
  assert_string_equal(visit->label.name[1], "step 3: visit");
  /* The final belief equals the belief after the path of all three visits. */
  idm_path_trace *f;
  char path[200];
  snprintf(path, sizeof path, "visit:mild/none,%s:mild/small,visit:questionable/none",
           figure_hostile);
  check(idm_path_trace_create(problem->setting, workspace, path, &f, &support_error));
  assert_near(last->column[IDM_FIGURE_X][0], f->belief[9], 1e-9);
  assert_near(last->column[IDM_FIGURE_Y][0], f->belief[10], 1e-9);
  free(figure_draw(figure, IDM_FIGURE_NARROW));
  idm_figure_destroy(figure);
  /* The same trajectory given as a path. */
  const idm_plot_subject alone = {.problem = problem};
  figure = figure_make("simplex", &alone, &(idm_plot_settings){.path = path});
  const idm_mark *same = figure_mark(figure, 0, IDM_MARK_ARROWS, "belief update");
  assert_int_equal(same->count, 3);
  for (size_t i = 0; i < 3; i++)
    assert_near(same->column[IDM_FIGURE_TOP][i], f->belief[3 * i + 4], 1e-9);
  figure_mark(figure, 0, IDM_MARK_POINTS, "final belief");
  idm_figure_destroy(figure);
  /* Decisions that were not recorded have their own mark; no arrow follows a row without an
   * observation. */
  figure = figure_make("simplex", &subject, &(idm_plot_settings){.trajectory = "b"});
  assert_int_equal(figure_mark(figure, 0, IDM_MARK_POINTS, "not recorded")->count, 1);
  assert_int_equal(figure_mark(figure, 0, IDM_MARK_ARROWS, "belief update")->count, 2);
  idm_figure_destroy(figure);
  idm_path_trace_destroy(f);
  idm_trials_destroy(trials);
  idm_workspace_destroy(workspace);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Without a trajectory name: the mean belief over all trajectories at each step. */
static void a_cohort(void **state)
{
  (void)state;
  idm_problem *problem = figure_clinic();
  idm_data *data = support_simulate(problem, (idm_simulation){.trajectories = 30, .steps = 4});
  const idm_plot_subject subject = {.problem = problem, .data = data};
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_trials *trials;
  check(idm_trials_create(workspace, data, &trials, &support_error));
  idm_figure *figure = figure_make("simplex", &subject, NULL);
  const idm_mark *arrows = figure_mark(figure, 0, IDM_MARK_ARROWS, "belief update");
  assert_int_equal(arrows->count, 3);
  for (size_t step = 0; step < 3; step++) {
    double sum = 0;
    for (size_t t = 0; t < 30; t++)
      sum += trials->mean[trials->node[data->first[t] + step] * trials->width];
    assert_near(arrows->column[IDM_FIGURE_X][step], sum / 30, 1e-9);
  }
  idm_figure_destroy(figure);
  idm_trials_destroy(trials);
  idm_workspace_destroy(workspace);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* With the option `due`: one panel per kind of case, with its path; kinds that do not occur in the
 * log are listed in notes. */
static void cases(void **state)
{
  (void)state;
  idm_problem *problem = figure_clinic();
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 200, .steps = 8, .seed = 1});
  const idm_plot_subject subject = {.problem = problem, .data = data};
  const idm_plot_settings settings = {.due = figure_hostile};
  idm_figure *figure = figure_make("simplex", &subject, &settings);
  idm_case found[IDM_CASES];
  check(idm_cases_choose(problem, data, 1, found, NULL, &support_error));
  assert_int_equal(figure->panels, IDM_CASES);
  for (size_t i = 0; i < IDM_CASES; i++) {
    char name[24];
    idm_data_trajectory_name(data, found[i].trajectory, name, sizeof name);
    idm_figure *one = figure_make("simplex", &subject, &(idm_plot_settings){.trajectory = name});
    const idm_mark *arrows = figure_mark(figure, i, IDM_MARK_ARROWS, "belief update");
    const idm_mark *same = figure_mark(one, 0, IDM_MARK_ARROWS, "belief update");
    assert_string_equal(figure->panel[i]->title, found[i].title);
    assert_int_equal(arrows->count, same->count);
    for (size_t k = 0; k < same->count; k++)
      assert_true(arrows->column[IDM_FIGURE_TOP][k] == same->column[IDM_FIGURE_TOP][k]);
    idm_figure_destroy(one);
  }
  free(figure_draw(figure, IDM_FIGURE_WIDE));
  idm_figure_destroy(figure);
  idm_data_destroy(data);
  data = support_data(problem, visits);
  idm_notes notes = {0};
  const idm_plot_subject few = {.problem = problem, .data = data};
  check(idm_plot_make(idm_plot_find("simplex"), &few, &settings, &figure, &notes, &support_error));
  assert_in_range(figure->panels, 1, IDM_CASES - 1);
  assert_int_equal(notes.count, IDM_CASES - figure->panels);
  assert_true(support_mentions(&notes, "that case is not drawn"));
  idm_notes_clear(&notes);
  idm_figure_destroy(figure);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void what_is_refused(void **state)
{
  (void)state;
  idm_problem *diag = support_diag(1, 1, 0), *clinic = figure_clinic(), *mdp;
  check(idm_problem_read("example:maintenance", &mdp, NULL, &support_error));
  figure_refuse("simplex", &(idm_plot_subject){.problem = diag}, NULL, "the problem has 2");
  figure_refuse("simplex", &(idm_plot_subject){.problem = mdp}, NULL, "which are observed");
  figure_refuse("simplex", &(idm_plot_subject){.problem = clinic},
                &(idm_plot_settings){.trajectory = "a"}, "there is none");
  idm_data *data = support_data(clinic, visits);
  figure_refuse("simplex", &(idm_plot_subject){.problem = clinic, .data = data},
                &(idm_plot_settings){.trajectory = "c"}, "there is no trajectory 'c'");
  figure_refuse("simplex", &(idm_plot_subject){.problem = clinic, .data = data},
                &(idm_plot_settings){.due = "visits"}, "none of the problem");
  figure_refuse("simplex", &(idm_plot_subject){.problem = clinic, .data = data},
                &(idm_plot_settings){.due = "visit", .trajectory = "a"}, "by itself");
  figure_refuse("simplex", &(idm_plot_subject){.problem = clinic},
                &(idm_plot_settings){.due = "visit"}, "there is none");
  figure_refuse("surprise", &(idm_plot_subject){.problem = clinic, .data = data},
                &(idm_plot_settings){.due = "visit"}, "no trajectories");
  idm_data_destroy(data);
  data = support_data(clinic, "trajectory,step,action,observation\na,1,,none/none\n");
  figure_refuse("simplex", &(idm_plot_subject){.problem = clinic, .data = data},
                &(idm_plot_settings){.due = "visit"}, "no case of action");
  idm_data_destroy(data);
  idm_problem_destroy(diag);
  idm_problem_destroy(clinic);
  idm_problem_destroy(mdp);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(cells_and_boundary),
                                     cmocka_unit_test(a_trajectory), cmocka_unit_test(a_cohort),
                                     cmocka_unit_test(cases), cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
