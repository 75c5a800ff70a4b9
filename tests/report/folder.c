/* Figures by the name of their kind, reports of folders, and explanations, by the public
 * functions.
 *
 * Contents: figures · reports · explanations */
#include "idm/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "idm/calibrate.h"
#include "idm/explain.h"
#include "idm/plan.h"
#include "study/host_support.h"

/* --- support -------------------------------------------------------------------------------- */

/* A log of 30 trajectories, for a fit with two free numbers and all checks that its time allows. */
static host open_pair(const folder *f)
{
  host h = begin_host(f, "alpha, beta");
  check(idm_simulate_log(h.problem, 30, 12, 3, &h.data, &support_error));
  check(idm_data_write_csv(h.data, h.problem, h.log, &support_error));
  read_log(&h);
  return h;
}

static const idm_figure_options wide = {.width = IDM_FIGURE_WIDE, .id = "f"};

static char *svg(const idm_figure *figure)
{
  char *text;
  check(idm_figure_svg(figure, &wide, &text, &support_error));
  assert_memory_equal(text, "<svg", 4);
  return text;
}

static char *contents(const char *path)
{
  char *text;
  size_t length;
  check(idm_file_read(path, 1 << 24, &text, &length, &support_error));
  assert_true(length > 0);
  return text;
}

/* --- figures -------------------------------------------------------------------------------- */

/* Every kind of the registry that needs no calibration, from the objects of a fit: the drawing of
 * the same subject; written, it is that text. */
static void every_kind_of_figure(void **state)
{
  host h = open_pair(*state);
  set(&h, "checks", "full"); /* a profile, however slow the machine is */
  fit_host(&h);
  idm_problem *centre;
  check(idm_problem_from_posterior(h.posterior, IDM_CENTRE, &centre, &support_error));
  const idm_plot_subject subject = {.problem = centre,
                                    .posterior = h.posterior,
                                    .assessment = idm_posterior_assessment(h.posterior),
                                    .data = h.data,
                                    .fitted = true};
  for (size_t i = 0; idm_plot_at(i); i++) {
    const idm_plot *plot = idm_plot_at(i);
    idm_figure *figure, *expected;
    idm_error error = {0};
    if (plot->needs & IDM_PLOT_CALIBRATION) {
      assert_int_equal(
          idm_figure_make(plot->name, NULL, h.posterior, h.data, NULL, &figure, NULL, &error),
          IDM_USAGE);
      assert_null(figure);
      continue;
    }
    const idm_status status = idm_plot_make(plot, &subject, NULL, &expected, NULL, &error);
    assert_int_equal(
        idm_figure_make(plot->name, NULL, h.posterior, h.data, NULL, &figure, NULL, &error),
        status);
    if (status != IDM_OK) { /* three states, or the name of a trajectory, are needed */
      assert_int_equal(status, IDM_USAGE);
      assert_true(strcmp(plot->name, "simplex") == 0 || strcmp(plot->name, "surprise") == 0);
      assert_null(figure);
      continue;
    }
    char *drawn = svg(figure), *wanted = svg(expected);
    assert_string_equal(drawn, wanted);
    check(idm_figure_write(figure, &wide, h.out, &support_error));
    char *written = contents(h.out);
    assert_non_null(strstr(written, "<svg"));
    check(idm_figure_write_csv(figure, h.out, &support_error));
    free(written);
    written = contents(h.out);
    assert_non_null(strchr(written, ','));
    free(written);
    free(drawn);
    free(wanted);
    idm_figure_destroy(figure);
    idm_figure_destroy(expected);
  }
  idm_problem_destroy(centre);
  close_host(&h);
}

/* What a kind needs is named. */
static void missing_inputs_are_refused(void **state)
{
  host h = open_pair(*state);
  fit_host(&h);
  for (size_t i = 0; idm_plot_at(i); i++) {
    const idm_plot *plot = idm_plot_at(i);
    for (unsigned without = 0; without < 3; without++) {
      static const unsigned bits[] = {IDM_PLOT_PROBLEM, IDM_PLOT_POSTERIOR, IDM_PLOT_DATA};
      if (!(plot->needs & bits[without])) continue;
      /* Without its answer, a figure is of the problem; an answer has a problem. */
      const bool answer = plot->needs & IDM_PLOT_POSTERIOR && without == 2;
      idm_figure *figure;
      idm_error error = {0};
      assert_int_equal(idm_figure_make(plot->name, without == 0 || answer ? NULL : h.problem,
                                       answer ? h.posterior : NULL, without == 2 ? NULL : h.data,
                                       NULL, &figure, NULL, &error),
                       IDM_USAGE);
      assert_non_null(strstr(error.message, plot->name));
      assert_null(figure);
    }
  }
  idm_figure *figure;
  idm_error error = {0};
  char *text;
  assert_int_equal(idm_figure_make("none", h.problem, NULL, NULL, NULL, &figure, NULL, &error),
                   IDM_USAGE);
  assert_non_null(strstr(error.message, "no plot 'none'"));
  assert_null(figure);
  assert_int_equal(idm_figure_make(NULL, h.problem, NULL, NULL, NULL, &figure, NULL, &error),
                   IDM_USAGE);
  assert_int_equal(
      idm_figure_make("policy", h.problem, h.posterior, h.data, NULL, &figure, NULL, &error),
      IDM_USAGE);
  assert_int_equal(idm_figure_make("policy", h.problem, NULL, NULL, NULL, NULL, NULL, &error),
                   IDM_USAGE);
  check(idm_figure_make("policy", h.problem, NULL, NULL, NULL, &figure, NULL, &support_error));
  assert_int_equal(idm_figure_svg(figure, &(idm_figure_options){.width = 1}, &text, &error),
                   IDM_USAGE);
  assert_int_equal(idm_figure_svg(NULL, &wide, &text, &error), IDM_USAGE);
  assert_int_equal(idm_figure_write(figure, &wide, "/tmp/figure.gif", &error), IDM_USAGE);
  idm_figure_destroy(figure);
  idm_figure_destroy(NULL);
  close_host(&h);
}

/* --- reports -------------------------------------------------------------------------------- */

/* Of a run: the page of its parts. Without its log, a note. */
static void report_of_a_run(void **state)
{
  host h = open_pair(*state);
  idm_notes notes = {0};
  fit_host(&h);
  check(idm_report(h.run, h.out, &notes, &support_error));
  char *page = contents(h.out);
  assert_non_null(strstr(page, "<html"));
  assert_non_null(strstr(page, "<svg"));
  assert_non_null(strstr(page, idm_posterior_quantity_name(h.posterior, 0)));
  assert_false(support_mentions(&notes, "without the log"));
  free(page);
  spill(h.log, "trajectory,action,observation\n1,monitor,positive\n", 50);
  check(idm_report(h.run, h.out, &notes, &support_error));
  assert_true(support_mentions(&notes, "without the log"));
  page = contents(h.out);
  assert_non_null(strstr(page, "<svg"));
  free(page);
  idm_notes_clear(&notes);
  close_host(&h);
}

/* Of people, whose log is read with their column. */
static void report_of_people(void **state)
{
  host h = open_pair(*state);
  idm_notes notes = {0};
  check(idm_problem_set_free(h.problem, "alpha", &support_error));
  check(idm_problem_write_yaml(h.problem, h.problem_path, NULL, &support_error));
  set(&h, "by", "trajectory");
  set(&h, "checks", "none");
  fit_host(&h);
  check(idm_report(h.run, h.out, &notes, &support_error));
  assert_false(support_mentions(&notes, "without the log"));
  char *page = contents(h.out);
  assert_non_null(strstr(page, "<svg"));
  free(page);
  idm_notes_clear(&notes);
  close_host(&h);
}

/* Of an audit, in its folder. */
static void report_of_an_audit(void **state)
{
  host h = open_pair(*state);
  idm_audit_request *request = malloc(sizeof *request);
  idm_audit *audit;
  idm_notes notes = {0};
  assert_non_null(request);
  idm_audit_request_default(request);
  request->request.settings.chains = 2;
  request->request.settings.draws = 50;
  request->request.settings.warmup = 20;
  request->request.settings.checks = IDM_CHECKS_NONE;
  strcpy(request->by, "site");
  FILE *log = fopen(h.log, "w");
  assert_non_null(log);
  fputs("trajectory,action,observation,site\n", log);
  for (int t = 0; t < 20; t++)
    fprintf(log, "%d,monitor,positive,%d\n%d,declare_%s,,%d\n", t, t % 2, t,
            t % 3 ? "diseased" : "healthy", t % 2);
  assert_int_equal(fclose(log), 0);
  idm_data_destroy(h.data);
  set(&h, "audit.by", "site");
  check(idm_data_read(h.problem, (const char *const[]){h.log}, 1, h.settings, &h.data, NULL,
                      &support_error));
  check(idm_request_set_inputs(&request->request, h.problem_path, h.log, &support_error));
  check(idm_run_audit(h.run, IDM_RUN_NEW, h.problem, h.data, request, NULL, NULL, &audit, NULL,
                      &support_error));
  check(idm_report(h.run, h.out, &notes, &support_error));
  char *page = contents(h.out);
  assert_non_null(strstr(page, "log_alpha"));
  free(page);
  idm_notes_clear(&notes);
  idm_audit_destroy(audit);
  free(request);
  close_host(&h);
}

/* Of a calibration: the page, and the figures that read the folder. */
static void report_of_a_calibration(void **state)
{
  host h = open_pair(*state);
  idm_calibration_settings settings;
  idm_calibration *c;
  idm_calibration_settings_default(&settings);
  settings.replications = 4;
  settings.trajectories = 20;
  settings.steps = 8;
  settings.fit.draws = 60;
  settings.fit.warmup = 50;
  check(idm_problem_set_free(h.problem, "alpha", &support_error));
  check(idm_calibration_create(h.problem, &settings, &c, &support_error));
  check(idm_replications_run(c, h.run, NULL, NULL, &support_error));
  check(idm_report(h.run, h.out, NULL, &support_error));
  char *page = contents(h.out);
  assert_non_null(strstr(page, "<svg"));
  assert_non_null(strstr(page, "alpha"));
  free(page);
  for (size_t i = 0; i < 2; i++) {
    const char *kind = i ? "sbc" : "recovery";
    idm_figure *figure, *expected;
    check(idm_figure_make(kind, NULL, NULL, NULL, h.run, &figure, NULL, &support_error));
    check(idm_plot_make(idm_plot_find(kind), &(idm_plot_subject){.calibration = c}, NULL, &expected,
                        NULL, &support_error));
    char *drawn = svg(figure), *wanted = svg(expected);
    assert_string_equal(drawn, wanted);
    free(drawn);
    free(wanted);
    idm_figure_destroy(figure);
    idm_figure_destroy(expected);
  }
  idm_calibration_destroy(c);
  close_host(&h);
}

static void folders_without_a_report(void **state)
{
  host h = open_pair(*state);
  idm_error error = {0};
  idm_figure *figure;
  assert_int_equal(idm_report(h.run, h.out, NULL, &error), IDM_INPUT);
  assert_int_equal(idm_report(((folder *)*state)->path, h.out, NULL, &error), IDM_INPUT);
  assert_int_equal(idm_report(h.log, h.out, NULL, &error), IDM_INPUT);
  assert_int_equal(idm_report(NULL, h.out, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_report(h.run, NULL, NULL, &error), IDM_USAGE);
  assert_int_not_equal(access(h.out, F_OK), 0);
  fit_host(&h);
  /* A run is no calibration. */
  assert_int_equal(idm_figure_make("recovery", NULL, NULL, NULL, h.run, &figure, NULL, &error),
                   IDM_USAGE);
  assert_null(figure);
  close_host(&h);
}

/* --- explanations --------------------------------------------------------------------------- */

static double number(const idm_explanation *e, size_t row, idm_explain_part part, size_t i)
{
  const idm_interval n = idm_explanation_interval(e, row, part, i);
  assert_true(n.low == n.mean && n.high == n.mean);
  return n.mean;
}

/* By one parameter: beliefs and probabilities are those of an agent that steps through the log, and
 * the rational belief is Bayes' rule in the environment. */
static void explanation_by_the_problem(void **state)
{
  host h = open_pair(*state);
  idm_explanation *e;
  idm_workspace *workspace;
  idm_agent *agent;
  size_t decisions = 0, length;
  double surprise = 0;
  check(idm_explain(h.problem, NULL, h.data, NULL, &e, NULL, &support_error));
  assert_int_equal(idm_explanation_cases(e), idm_data_trajectories(h.data));
  assert_int_equal(idm_explanation_people(e), idm_data_agents(h.data));
  check(idm_solve(h.problem, &workspace, &support_error));
  check(idm_agent_create(workspace, 1, &agent, &support_error));
  const int32_t *action = idm_data_actions(h.data, NULL);
  const int32_t *observation = idm_data_observations(h.data, NULL);
  const size_t *first = idm_data_first_rows(h.data, NULL);
  for (size_t t = 0; t < idm_data_trajectories(h.data); t++) {
    double rational = 0.5, regret = 0; /* probability of the disease */
    check(idm_agent_begin(agent, NULL, &support_error));
    for (size_t row = first[t]; row < first[t + 1]; row++) {
      const double *p, *z;
      const size_t u = (size_t)action[row];
      check(idm_agent_belief(agent, &z, &length, &support_error));
      for (size_t s = 0; s < 2; s++)
        assert_near(number(e, row, IDM_EXPLAIN_BELIEF, s), z[s], 1e-10);
      assert_near(number(e, row, IDM_EXPLAIN_RATIONAL_BELIEF, 1), rational, 1e-10);
      check(idm_agent_probabilities(agent, &p, &length, &support_error));
      for (size_t v = 0; v < 3; v++)
        assert_near(number(e, row, IDM_EXPLAIN_PROBABILITY, v), p[v], 1e-10);
      assert_near(idm_explanation_surprise(e, h.data, row).mean, -log(p[u]), 1e-9);
      surprise -= log(p[u]);
      decisions++;
      assert_true(number(e, row, IDM_EXPLAIN_REGRET, 0) >= -1e-9);
      regret += number(e, row, IDM_EXPLAIN_REGRET, 0);
      if (observation[row] < 0) continue;
      check(idm_agent_observe(agent, u, (size_t)observation[row], 0, &support_error));
      const double odds = rational / (1 - rational) * (observation[row] ? 0.7 / 0.3 : 0.3 / 0.7);
      rational = odds / (1 + odds);
    }
    const idm_case_summary *one = idm_explanation_case(e, t);
    assert_near(one->regret, regret, 1e-9);
    assert_true(one->step >= 1 && one->step <= first[t + 1] - first[t] + 1);
    assert_int_equal(one->delayed, one->due ? (long)one->step - (long)one->due : -1);
  }
  /* One agent in all. */
  const idm_person_summary *person = idm_explanation_person(e, 0);
  assert_int_equal(person->decisions, decisions);
  assert_near(person->surprise, surprise / (double)decisions, 1e-9);
  assert_null(idm_explanation_person(e, idm_explanation_people(e)));
  assert_null(idm_explanation_case(e, idm_explanation_cases(e)));
  idm_agent_destroy(agent);
  idm_workspace_destroy(workspace);
  idm_explanation_destroy(e);
  close_host(&h);
}

static void explanation_by_draws(void **state)
{
  host h = open_pair(*state);
  idm_explanation *e;
  idm_explain_settings settings;
  idm_error error = {0};
  fit_host(&h);
  idm_explain_settings_default(&settings);
  settings.draws = 20;
  check(idm_explain(NULL, h.posterior, h.data, &settings, &e, NULL, &support_error));
  bool varies = false;
  for (size_t row = 0; row < idm_data_rows(h.data); row++) {
    double sum = 0;
    for (size_t u = 0; u < 3; u++) {
      const idm_interval p = idm_explanation_interval(e, row, IDM_EXPLAIN_PROBABILITY, u);
      assert_true(p.low <= p.high);
      varies = varies || p.low < p.high;
      sum += p.mean;
    }
    assert_near(sum, 1, 1e-9);
  }
  assert_true(varies);
  size_t biases = 0;
  for (; idm_explanation_bias_name(biases); biases++) {
    (void)idm_explanation_has_bias(e, 0, biases);
    assert_false(idm_explanation_has_bias(e, idm_explanation_people(e), biases));
    assert_false(idm_explanation_has_bias(NULL, 0, biases));
  }
  assert_int_equal(biases, 4);
  assert_string_equal(idm_explanation_bias_name(0), "base-rate neglect");
  assert_false(idm_explanation_has_bias(e, 0, biases));
  idm_explanation_destroy(e);
  assert_int_equal(idm_explain(NULL, NULL, h.data, NULL, &e, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_explain(h.problem, NULL, NULL, NULL, &e, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_explain(h.problem, NULL, h.data, NULL, NULL, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_explain(h.problem, h.posterior, h.data, NULL, &e, NULL, &error), IDM_USAGE);
  settings.due = 9;
  assert_int_equal(idm_explain(h.problem, NULL, h.data, &settings, &e, NULL, &error), IDM_USAGE);
  assert_null(e);
  assert_int_equal(idm_explanation_cases(NULL) + idm_explanation_people(NULL), 0);
  assert_null(idm_explanation_case(NULL, 0));
  assert_null(idm_explanation_person(NULL, 0));
  idm_explanation_destroy(NULL);
  close_host(&h);
}

/* Who reacts too much to evidence is named so, and Bayes' rule shows no bias. */
static void biases_of_an_agent(void **state)
{
  (void)state;
  for (int over = 0; over < 2; over++) {
    idm_problem *problem = support_diag(2, INFINITY, 0);
    idm_data *data;
    idm_explanation *e;
    support_assign(problem, "resolution=20");
    if (over) support_assign(problem, "evidence_weight=2");
    check(idm_simulate_log(problem, 100, 8, 1, &data, &support_error));
    check(idm_explain(problem, NULL, data, NULL, &e, NULL, &support_error));
    for (size_t i = 0; idm_explanation_bias_name(i); i++) {
      const bool named = strcmp(idm_explanation_bias_name(i), "overreaction") == 0;
      assert_int_equal(idm_explanation_has_bias(e, 0, i), over && named);
    }
    idm_explanation_destroy(e);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(every_kind_of_figure),     IN_FOLDER(missing_inputs_are_refused),
      IN_FOLDER(report_of_a_run),          IN_FOLDER(report_of_people),
      IN_FOLDER(report_of_an_audit),       IN_FOLDER(report_of_a_calibration),
      IN_FOLDER(folders_without_a_report), IN_FOLDER(explanation_by_the_problem),
      IN_FOLDER(explanation_by_draws),     cmocka_unit_test(biases_of_an_agent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
