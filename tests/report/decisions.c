/* Tests the predicted probabilities of observed decisions against the trials of the library and,
 * for people, against plans computed here for each draw. */
#include "report/panels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/posterior.h"
#include "report/figure_support.h"

/* Forced rows (one available action) and rows without a recorded action are not decisions. */
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
  assert_int_equal(notes.count, 1); /* note that the predictions are not out of sample */
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
  /* If the subject contains an explanation, its probabilities are used. */
  trials->mean[trials->node[0] * trials->width + 2] = 0.125;
  idm_plot_subject again = subject;
  again.explained = &(idm_explanation){.trials = trials};
  check(idm_decisions_open(&again, &d, &notes, &support_error));
  assert_true(d.probability[0] == 0.125);
  idm_decisions_close(&d);
  idm_trials_destroy(trials);
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Returns a posterior of two draws for each of two people, in the form of a fit by agent. */
static idm_posterior *make_people(void)
{
  static const double log_alpha[] = {0, 1, -1, 2};
  idm_posterior *p = calloc(1, sizeof *p);
  idm_labels who = {0};
  assert_non_null(p);
  p->answer = IDM_POSTERIOR;
  p->chains = 1;
  p->draws = 2;
  p->value = malloc(sizeof log_alpha);
  memcpy(p->value, log_alpha, sizeof log_alpha);
  check(idm_labels_create(&p->quantity, 2, &support_error));
  p->summarised = calloc(2, sizeof *p->summarised);
  p->statistics = calloc(2, sizeof *p->statistics);
  SUPPORT_NAMES(&who, "q", "p");
  check(idm_posterior_add_axis(p, "person", &who, &support_error));
  check(idm_posterior_add_series(p, "log_alpha", 0, 0, &support_error));
  idm_labels_destroy(&who);
  return p;
}

/* Each person is predicted by their own draws; a person who is not in the run is not predicted. */
static void by_people(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(1, INFINITY, 0);
  check(idm_problem_set_free(problem, "alpha", &support_error));
  idm_posterior *people = make_people();
  idm_data *data = support_data(problem, "agent,trajectory,action,observation\n"
                                         "p,1,monitor,positive\np,1,declare_diseased,\n"
                                         "q,2,monitor,positive\nr,3,monitor,positive\n");
  const idm_plot_subject subject = {.problem = problem, .data = data, .posterior = people};
  idm_decisions d;
  idm_notes notes = {0};
  check(idm_decisions_open(&subject, &d, &notes, &support_error));
  static const double log_alpha[3][2] = {{-1, 2}, {-1, 2}, {0, 1}};
  for (size_t i = 0; i < 3; i++) {
    double mean[3] = {0};
    for (int draw = 0; draw < 2; draw++) {
      support_set(problem, exp(log_alpha[i][draw]), INFINITY, 0);
      idm_workspace *workspace = support_plan(problem, NULL);
      idm_trials *trials;
      check(idm_trials_create(workspace, data, &trials, &support_error));
      for (size_t u = 0; u < 3; u++)
        mean[u] += trials->mean[trials->node[i] * trials->width + 2 + u] / 2;
      idm_trials_destroy(trials);
      idm_workspace_destroy(workspace);
    }
    for (size_t u = 0; u < 3; u++) assert_near(d.probability[3 * i + u], mean[u], 1e-7);
  }
  assert_true(isnan(d.probability[9]));
  assert_int_equal(notes.count, 1);
  assert_non_null(strstr(notes.text[0], "1 of 4 decisions are not predicted"));
  idm_notes_clear(&notes);
  idm_decisions_close(&d);
  idm_data_destroy(data);
  idm_posterior_destroy(people);
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
                                     cmocka_unit_test(by_people), cmocka_unit_test(none)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
