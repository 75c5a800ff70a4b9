/* Tests panels of policies: marks against the policy of the plan, and the titles of the views. */
#include "report/panels.h"

#include "idm/extension/data.h"
#include "support.h"

static const idm_policy_view at_first = {.last = IDM_MISSING};

static void lines_are_the_policy(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(2, 1.25, 0.001);
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_path_trace *f;
  idm_figure *figure;
  check(idm_path_trace_create(problem->setting, workspace, "monitor:positive", &f, &support_error));
  check(idm_figure_create("", "", 1, &figure, &support_error));
  check(idm_policy_add(figure, problem->setting, workspace, at_first, "one", f, &support_error));
  const idm_panel *panel = figure->panel[0];
  assert_int_equal(panel->marks, 4);
  assert_string_equal(panel->x.title, "belief in diseased");
  for (size_t u = 0; u < 3; u++) {
    const idm_mark *line = panel->mark[u];
    assert_int_equal(line->kind, IDM_MARK_LINE);
    assert_string_equal(line->name, problem->setting->actions.name[u]);
    for (size_t i = 0; i < line->count; i++) {
      const double p = line->column[IDM_FIGURE_X][i], z[2] = {1 - p, p};
      double policy[3];
      idm_plan_policy(workspace, 0, z, policy, NULL);
      assert_true(line->column[IDM_FIGURE_Y][i] == policy[u]);
    }
  }
  assert_true(panel->mark[3]->column[IDM_FIGURE_X][1] == f->belief[3]);
  assert_string_equal(panel->mark[3]->label.name[1], "1");
  idm_figure_destroy(figure);
  idm_path_trace_destroy(f);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void cells_are_the_policy_of_states_that_are_seen(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml("states: [good, worn]\nactions: [run, repair, wait]\n"
                                      "observations: states\n"
                                      "transition: {run: [[0.7, 0.3], [0, 1]], repair: [[1, 0], "
                                      "[0.9, 0.1]], wait: identity}\n"
                                      "utility: {run: [5, 1], repair: -1, wait: 0}\n"
                                      "agent: {alpha: 3}\n");
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_figure *figure;
  check(idm_figure_create("", "", 1, &figure, &support_error));
  check(idm_policy_add(figure, problem->setting, workspace, at_first, "", NULL, &support_error));
  const idm_mark *cells = figure->panel[0]->mark[0];
  assert_int_equal(cells->count, 6);
  for (size_t s = 0; s < 2; s++) {
    const double z[2] = {s == 0, s == 1};
    double policy[3];
    idm_plan_policy(workspace, 0, z, policy, NULL);
    for (size_t u = 0; u < 3; u++)
      assert_true(cells->column[IDM_FIGURE_VALUE][3 * s + u] == policy[u]);
  }
  idm_figure_destroy(figure);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* One view without perseverance and lapse, two with lapse; with perseverance, one more for each
 * action that does not end a trajectory. */
static void views_follow_the_habits(void **state)
{
  (void)state;
  static const char *const title[] = {"a, first decision", "a, after monitor", "a, planned"};
  idm_problem *problem = support_diag(2, 1.25, 0.001);
  char found[64];
  for (size_t choice_biases = 0; choice_biases < 3; choice_biases++) {
    if (choice_biases == 1) support_assign(problem, "lapse=0.2");
    if (choice_biases == 2) support_assign(problem, "perseverance=1");
    idm_workspace *workspace = support_plan(problem, NULL);
    assert_int_equal(idm_policy_views(problem->setting, workspace), choice_biases + 1);
    for (size_t i = 0; i <= choice_biases; i++) {
      const idm_policy_view view =
          idm_policy_view_at(problem->setting, workspace, i, "a", found, sizeof found);
      assert_int_equal(view.planned, i && i == choice_biases);
      assert_int_equal(view.last, choice_biases == 2 && i == 1 ? 2 : IDM_MISSING);
      if (choice_biases == 2) assert_string_equal(found, title[i]);
    }
    idm_workspace_destroy(workspace);
  }
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_are_the_policy),
      cmocka_unit_test(cells_are_the_policy_of_states_that_are_seen),
      cmocka_unit_test(views_follow_the_habits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
