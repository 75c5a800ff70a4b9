/* Tests reports of runs: all sections with and without the log, sentences for points, people,
 * groups and studies, and escaping of names. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "io/folder_support.h"
#include "report/report_support.h"

typedef struct answer {
  idm_problem *problem;
  idm_data *data;
  idm_posterior *posterior;
  idm_assessment *assessment;
} answer;

static answer open_answer(const folder *f)
{
  answer a = {.problem = support_yaml(
                  "name: <script>alert(1)</script>\nstates: [\"<b>well</b>\", ill]\n"
                  "actions: [wait, \"treat & go\"]\nobservations: [no, yes]\ndiscount: 0.9\n"
                  "transition: {\"*\": [[0.9, 0.1], [0.1, 0.9]]}\n"
                  "observation: {\"*\": [[0.8, 0.2], [0.2, 0.8]]}\n"
                  "utility: {wait: [1, -3], \"treat & go\": [-2, 1]}\n"
                  "agent: {alpha: 0.5, resolution: 15}\nfree: [alpha]\n")};
  a.data = support_simulate(a.problem, (idm_simulation){.trajectories = 30, .steps = 5, .seed = 4});
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.chains = 2;
  settings.draws = 50;
  settings.keep = IDM_KEEP_NOTHING;
  check(idm_inverse_fit(idm_inverse_find("laplace"), a.problem, a.data, &settings, NULL,
                        &a.posterior, NULL, &support_error));
  check(idm_assess_draws(a.posterior, &a.assessment, &support_error));
  idm_notes_add(&a.assessment->remarks, "the data bound <i>alpha</i>");
  char path[96];
  snprintf(path, sizeof path, "%s/config.yaml", f->path);
  FILE *config = fopen(path, "w");
  assert_non_null(config);
  fputs("fit: {seed: 1} # </pre><script>alert(2)</script>\n", config);
  fclose(config);
  return a;
}

static void close_answer(answer *a)
{
  idm_assessment_destroy(a->assessment);
  idm_posterior_destroy(a->posterior);
  idm_data_destroy(a->data);
  idm_problem_destroy(a->problem);
}

static idm_plot_subject subject_of(const folder *f, const answer *a, bool with_data)
{
  return (idm_plot_subject){.folder = f->path,
                            .problem = a->problem,
                            .posterior = a->posterior,
                            .assessment = a->assessment,
                            .data = with_data ? a->data : NULL};
}

static void test_parts(void **state)
{
  const folder *f = *state;
  answer a = open_answer(f);
  static const char *const parts[] = {
      "id=\"verdict\"",       "id=\"found\"",
      "id=\"behaviour\"",     "id=\"data\"",
      "id=\"hangs\"",         "id=\"methods\"",
      "id=\"again\"",         "id=\"policy\"",
      "<summary>Checks that", "<td>effective-draws</td>",
      "Which value of alpha", "explains 150 decisions in 30 trajectories"};
  for (int with = 1; with >= 0; with--) {
    idm_plot_subject subject = subject_of(f, &a, with);
    subject.fitted = true;
    idm_notes notes = {0};
    char *text;
    check(idm_report_make(&subject, &text, &notes, &support_error));
    /* Notes of figures are below them, and neither they nor notes on --due are in those of the
     * call. */
    assert_int_equal(strstr(text, "<li>the run was fitted to these decisions") != NULL, with);
    assert_int_equal(notes.count, 0);
    idm_notes_clear(&notes);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] - !with; i++)
      if (!strstr(text, parts[i])) fail_msg("no %s", parts[i]);
    assert_int_equal(strstr(text, "id=\"cases\"") != NULL, with);
    assert_int_equal(strstr(text, "The log was moved or changed") == NULL, with);
    /* No text of the problem or its request becomes markup. */
    assert_null(strstr(text, "alert(1)</script>"));
    assert_null(strstr(text, "alert(2)</script>"));
    assert_null(strstr(text, "<b>"));
    assert_non_null(strstr(text, "the data bound &lt;i&gt;alpha"));
    free(text);
  }
  close_answer(&a);
}

/* A point estimate: its values are shown; figures and columns that require draws are absent. */
static void test_points(void **state)
{
  const folder *f = *state;
  static const char *const absent[] = {"<figure id=\"posterior\">", "<figure id=\"joint\">",
                                       "R-hat</th>", "the posterior&#39;s centre"};
  answer a = open_answer(f);
  idm_posterior_destroy(a.posterior);
  idm_assessment_destroy(a.assessment);
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  check(idm_inverse_fit(idm_inverse_find("map"), a.problem, a.data, &settings, NULL, &a.posterior,
                        NULL, &support_error));
  check(idm_assess_draws(a.posterior, &a.assessment, &support_error));
  const idm_plot_subject subject = subject_of(f, &a, true);
  static const char *const kinds[] = {"posterior", "joint", "trace", "rank"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    idm_figure *figure;
    assert_int_equal(
        idm_plot_make(idm_plot_find(kinds[i]), &subject, NULL, &figure, NULL, &support_error),
        IDM_USAGE);
    assert_non_null(strstr(support_error.message, "needs draws of a posterior"));
  }
  char *text, value[64];
  check(idm_report_make(&subject, &text, NULL, &support_error));
  for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) assert_null(strstr(text, absent[i]));
  snprintf(value, sizeof value, "<td>alpha</td><td>%.4g</td></tr>", a.posterior->value[0]);
  if (!strstr(text, value)) fail_msg("no %s", value);
  free(text);
  close_answer(&a);
}

/* People: the population first, each person's parameters in a folded table; no joint figure. */
static void test_people(void **state)
{
  const folder *f = *state;
  answer a = open_answer(f);
  static const char *const who[] = {"<b>Ann</b>"};
  report_series(a.posterior, "alpha", "person", who, 1, 0);
  idm_assessment_destroy(a.assessment);
  check(idm_assess_draws(a.posterior, &a.assessment, &support_error));
  const idm_plot_subject subject = subject_of(f, &a, true);
  char *text;
  check(idm_report_make(&subject, &text, NULL, &support_error));
  assert_non_null(strstr(text, "How do people differ in alpha, judging by 150 decisions"));
  assert_non_null(strstr(text, "<figure id=\"forest\">"));
  assert_null(strstr(text, "<figure id=\"joint\">"));
  const char *folded = strstr(text, "<summary>Parameters of every person");
  assert_non_null(folded);
  assert_non_null(strstr(folded, "<td>alpha, &lt;b&gt;Ann"));
  assert_null(strstr(text, "<b>"));
  free(text);
  close_answer(&a);
}

/* Groups: one figure per parameter, with its groups and contrasts. */
static void test_groups(void **state)
{
  const folder *f = *state;
  answer a = open_answer(f);
  static const char *const names[] = {"1", "2", "3", "log_alpha_sd", "5", "6", "7"};
  static const char *const groups[] = {"north", "south"};
  static const char *const contrasts[] = {"south - north"};
  idm_posterior_destroy(a.posterior);
  idm_assessment_destroy(a.assessment);
  a.posterior = report_posterior(2, 50, names, 7);
  for (size_t k = 0; k < 2; k++) {
    report_series(a.posterior, k ? "eta" : "log_alpha", "group", groups, 2, 4 * k);
    report_series(a.posterior, k ? "eta_contrast" : "log_alpha_contrast", "contrast", contrasts, 1,
                  4 * k + 2);
  }
  check(idm_assess_draws(a.posterior, &a.assessment, &support_error));
  const idm_plot_subject subject = subject_of(f, &a, false);
  char *text;
  check(idm_report_make(&subject, &text, NULL, &support_error));
  const char *first = strstr(text, "<figure id=\"forest\">");
  assert_non_null(first);
  const char *second = strstr(first, "<figure id=\"forest-2\">");
  assert_non_null(second);
  const char *title = strstr(first, ">differences in log alpha<");
  assert_true(title && title < second);
  assert_true(strstr(first, ">sd of log alpha<") < second);
  assert_non_null(strstr(second, ">differences in eta<"));
  assert_null(strstr(second, ">differences in log alpha<"));
  assert_null(strstr(text, "forest-3"));
  free(text);
  close_answer(&a);
}

/* With very many histories, decisions are predicted at the posterior centre alone, and a note
 * states this. */
static void test_many_histories(void **state)
{
  const folder *f = *state;
  answer a = open_answer(f);
  idm_data_destroy(a.data);
  a.data =
      support_simulate(a.problem, (idm_simulation){.trajectories = 20000, .steps = 12, .seed = 4});
  const idm_plot_subject subject = subject_of(f, &a, true);
  idm_notes notes = {0};
  char *text;
  bool said = false;
  check(idm_report_make(&subject, &text, &notes, &support_error));
  for (size_t i = 0; i < notes.count; i++)
    said = said || strstr(notes.text[i], "at the centre of the answer alone");
  assert_true(said);
  assert_non_null(strstr(text, "id=\"cases\""));
  free(text);
  idm_notes_clear(&notes);
  close_answer(&a);
}

/* The report is drawn at the posterior centre; the problem is not changed. */
static void test_problem_is_left_alone(void **state)
{
  const folder *f = *state;
  answer a = open_answer(f);
  const idm_plot_subject subject = subject_of(f, &a, true);
  const double before = idm_theta_scalar(a.problem->theta, IDM_ALPHA);
  char *text;
  check(idm_report_make(&subject, &text, NULL, &support_error));
  assert_true(idm_theta_scalar(a.problem->theta, IDM_ALPHA) == before);
  free(text);
  close_answer(&a);
}

/* A study: the report states how many intervals contain the truth. */
static void test_study(void **state)
{
  const folder *f = *state;
  answer a = open_answer(f); /* for the request file */
  static const char *const names[] = {"alpha", "eta", "log_likelihood"};
  idm_calibration *calibration = report_study(names, 3, 10);
  calibration->recovery[3].truth = 99;
  calibration->done[7] = false;
  char *text;
  check(idm_report_make(&(idm_plot_subject){.folder = f->path, .calibration = calibration}, &text,
                        NULL, &support_error));
  assert_non_null(strstr(text, "9 agents were drawn"));
  assert_non_null(strstr(text,
                         "Of the 18 intervals that should contain the truth with a probability "
                         "of 90 %, 17 do (94 %)."));
  assert_non_null(strstr(text, "<figure id=\"recovery\">"));
  assert_non_null(strstr(text, "<figure id=\"sbc\">"));
  free(text);
  idm_calibration_destroy(calibration);
  close_answer(&a);
}

static void test_trouble(void **state)
{
  const folder *f = *state;
  answer a = open_answer(f);
  idm_plot_subject subject = subject_of(f, &a, true);
  idm_error error;
  char *text = NULL;
  assert_int_equal(idm_report_write(&subject, "/nowhere/at/all.html", NULL, &error), IDM_SYSTEM);
  subject.folder = "/nowhere";
  assert_int_equal(idm_report_make(&subject, &text, NULL, &error), IDM_INPUT);
  assert_null(text);
  subject.assessment = NULL;
  assert_int_equal(idm_report_make(&subject, &text, NULL, &error), IDM_USAGE);
  close_answer(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_parts, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_points, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_people, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_groups, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_many_histories, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_problem_is_left_alone, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_study, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_trouble, make_folder, remove_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
