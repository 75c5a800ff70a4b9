/* Decisions beside what was predicted of them: against the trials. */
#include "report/decisions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure_support.h"

/* Rows that were forced, or not recorded, are none. */
static const char visits[] = "trajectory,step,action,observation,available\n"
                             "a,1,monitor,positive,\na,2,monitor,negative,monitor\n"
                             "a,3,,negative,\na,4,declare_healthy,,declare_healthy|monitor\n"
                             "b,1,declare_diseased,,\n";

static void by_a_parameter(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(2, INFINITY, 0);
  idm_data *data = support_data(problem, visits);
  idm_workspace *workspace = support_plan(problem, NULL);
  const idm_plot_subject subject = {.problem = problem, .data = data, .fitted = true};
  idm_trials *trials;
  idm_decisions d;
  idm_notes notes = {0};
  check(idm_trials_create(workspace, data, &trials, &support_error));
  check(idm_decisions_open(&subject, &d, &notes, &support_error));
  static const size_t rows[] = {0, 3, 4}, taken[] = {2, 0, 1};
  assert_int_equal(d.count, 3);
  for (size_t i = 0; i < 3; i++) {
    const double *p = trials->mean + trials->node[rows[i]] * trials->width + 2;
    double sum = 0;
    assert_int_equal(d.taken[i], taken[i]);
    for (size_t u = 0; u < 3; u++) {
      assert_near(d.probability[3 * i + u], p[u], 1e-12);
      assert_true(d.open[3 * i + u] == (i != 1 || u != 1));
      sum += d.probability[3 * i + u];
    }
    assert_near(sum, 1, 1e-9);
  }
  assert_int_equal(notes.count, 1); /* they are not held out */
  idm_notes_clear(&notes);
  idm_decisions_close(&d);
  idm_trials_destroy(trials);
  idm_workspace_destroy(workspace);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void by_draws(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(2, INFINITY, 0);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 10, .steps = 5, .seed = 3});
  idm_posterior *posterior = figure_fit(problem, data);
  const idm_plot_subject subject = {.problem = problem, .data = data, .posterior = posterior};
  idm_trials *trials;
  idm_decisions d;
  idm_notes notes = {0};
  check(idm_posterior_trials(problem, posterior, data, &trials, &support_error));
  check(idm_decisions_open(&subject, &d, &notes, &support_error));
  assert_int_equal(d.count, data->rows);
  for (size_t i = 0; i < d.count; i++)
    for (size_t u = 0; u < 3; u++)
      assert_near(d.probability[3 * i + u], trials->mean[trials->node[i] * trials->width + 2 + u],
                  1e-12);
  assert_int_equal(notes.count, 0);
  idm_decisions_close(&d);
  idm_trials_destroy(trials);
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void none(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(2, INFINITY, 0);
  idm_data *data =
      support_data(problem, "agent,action,observation,available\n1,monitor,,monitor\n");
  const idm_plot_subject subject = {.problem = problem, .data = data};
  idm_decisions d;
  idm_notes notes = {0};
  assert_int_equal(idm_decisions_open(&subject, &d, &notes, NULL), IDM_INPUT);
  assert_null(d.taken);
  figure_refuse("calibration", &subject, NULL, "no decision");
  figure_refuse("prc", &subject, NULL, "no decision");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_a_parameter), cmocka_unit_test(by_draws),
                                     cmocka_unit_test(none)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
