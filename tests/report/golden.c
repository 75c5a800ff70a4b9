/* Compares a drawing of every kind of plot with the one stored in golden_svg/.
 *
 * The problems, logs and draws of all drawings are fixed in this file. After an intended change of
 * a figure, IDM_GOLDEN_SVG=write stores the new drawings instead (CONTRIBUTING.md); inspect them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "invert/assess/context_support.h"
#include "report/drawing_support.h"
#include "report/figure_support.h"
#include "report/report_support.h"

/* --- what is drawn -------------------------------------------------------------------------- */

static const char visits[] =
    "trajectory,action,observation\n"
    "1,monitor,positive\n1,monitor,positive\n1,declare_diseased,\n"
    "2,monitor,negative\n2,monitor,positive\n2,monitor,negative\n2,declare_healthy,\n"
    "3,monitor,negative\n3,declare_healthy,\n"
    "4,monitor,positive\n4,,negative\n4,monitor,\n4,declare_diseased,\n";

static idm_figure *make_policy(void)
{
  static const char *const panels[] = {"flexible: alpha=0.1", "inflexible: alpha=10"};
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  const idm_plot_settings settings = {
      .panels = 2, .panel = panels, .path = "monitor:positive,monitor:positive"};
  idm_figure *figure = figure_make("policy", &(idm_plot_subject){.problem = problem}, &settings);
  idm_problem_destroy(problem);
  return figure;
}

static idm_figure *make_simplex(void)
{
  static const char case_of[] = "trajectory,step,action,observation\n"
                                "a,1,visit,mild/none\na,2,scan,mild/small\n"
                                "a,3,visit,questionable/none\n";
  idm_problem *problem;
  check(idm_problem_read("example:clinic", &problem, NULL, &support_error));
  support_assign(problem, "utility.scan=-0.1");
  support_set(problem, 0.05, 1, 0);
  idm_data *data = support_data(problem, case_of);
  const idm_plot_subject subject = {.problem = problem, .data = data};
  idm_figure *figure = figure_make("simplex", &subject, &(idm_plot_settings){.trajectory = "a"});
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return figure;
}

static idm_figure *make_occupancy(void)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  idm_figure *figure = figure_make("occupancy", &(idm_plot_subject){.problem = problem}, NULL);
  idm_problem_destroy(problem);
  return figure;
}

/* A figure of the log `visits` under the agent of the problem. */
static idm_figure *make_of_log(const char *kind)
{
  idm_problem *problem = support_diag(3, 2, 0.1);
  idm_data *data = support_data(problem, visits);
  idm_figure *figure =
      figure_make(kind, &(idm_plot_subject){.problem = problem, .data = data}, NULL);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return figure;
}

static idm_figure *make_calibration(void)
{
  return make_of_log("calibration");
}

static idm_figure *make_prc(void)
{
  return make_of_log("prc");
}

/* The draws of a run are replaced by fixed values. */
static idm_figure *make_surprise(void)
{
  idm_problem *problem = support_diag(3, 2, 0.1);
  idm_data *data = support_data(problem, visits);
  idm_posterior *p = figure_fit(problem, data);
  assert_int_equal(p->coordinate.count, 1);
  for (size_t i = 0; i < p->chains * p->draws; i++) p->unconstrained[i] = sin((double)i);
  const idm_plot_subject subject = {.problem = problem, .data = data, .posterior = p};
  idm_figure *figure = figure_make("surprise", &subject, &(idm_plot_settings){.trajectory = "4"});
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return figure;
}

/* Predictions of the best fit to a fixed log, and the profile likelihood of its parameter. */
static idm_figure *make_of_fit(const char *kind)
{
  assessed_fit a;
  idm_problem *problem = support_diag(3, 1.25, 0.3);
  problem->agent.resolution = 20;
  assessed_fit_open(&a, problem, support_data(problem, visits), "alpha");
  idm_assessment *assessment;
  check(idm_assess_monitored(a.problem, a.data, a.posterior, 1, NULL, &assessment, &support_error));
  const idm_plot_subject subject = {
      .problem = a.problem, .posterior = a.posterior, .assessment = assessment, .data = a.data};
  idm_figure *figure = figure_make(kind, &subject, NULL);
  idm_assessment_destroy(assessment);
  assessed_fit_close(&a);
  return figure;
}

static idm_figure *make_ppc(void)
{
  return make_of_fit("ppc");
}

static idm_figure *make_profile(void)
{
  return make_of_fit("profile");
}

/* A figure of generated draws in two chains. */
static idm_figure *make_of_draws(const char *kind, size_t quantities)
{
  static const char *const names[] = {"log_alpha", "eta"};
  idm_posterior *p = report_posterior(2, 30, names, quantities);
  /* The second quantity is correlated with the first. */
  for (size_t i = 0; quantities > 1 && i < 60; i++) p->value[60 + i] += p->value[i];
  idm_figure *figure = figure_make(kind, &(idm_plot_subject){.posterior = p}, NULL);
  idm_posterior_destroy(p);
  return figure;
}

/* With the prior, which requires the problem. */
static idm_figure *make_posterior(void)
{
  static const char *const names[] = {"alpha"};
  idm_problem *problem = support_diag(3, 2, 0.1);
  check(idm_problem_set_free(problem, "alpha", &support_error));
  idm_posterior *p = report_posterior(2, 30, names, 1);
  for (size_t i = 0; i < 60; i++) p->value[i] = exp(0.3 * p->value[i]);
  const idm_plot_subject subject = {.problem = problem, .posterior = p};
  idm_figure *figure = figure_make("posterior", &subject, NULL);
  idm_posterior_destroy(p);
  idm_problem_destroy(problem);
  return figure;
}

static idm_figure *make_joint(void)
{
  return make_of_draws("joint", 2);
}

static idm_figure *make_trace(void)
{
  return make_of_draws("trace", 2);
}

static idm_figure *make_rank(void)
{
  return make_of_draws("rank", 1);
}

/* Groups, their contrast, and one quantity without a series. */
static idm_figure *make_forest(void)
{
  static const char *const names[] = {"1", "2", "3", "4", "beta"};
  static const char *const groups[] = {"north", "south", "a clinic with quite a long name"};
  static const char *const contrasts[] = {"south - north"};
  idm_posterior *p = report_posterior(2, 30, names, 5);
  report_series(p, "log_alpha", "group", groups, 3, 0);
  report_series(p, "difference", "contrast", contrasts, 1, 3);
  idm_figure *figure = figure_make("forest", &(idm_plot_subject){.posterior = p}, NULL);
  idm_posterior_destroy(p);
  return figure;
}

static idm_figure *make_of_study(const char *kind)
{
  static const char *const names[] = {"log_alpha", "eta", "log_likelihood"};
  idm_calibration *calibration = report_study(names, 3, 20);
  calibration->recovery[0].high =
      calibration->recovery[0].truth - 0.1; /* one interval does not contain the truth */
  idm_figure *figure = figure_make(kind, &(idm_plot_subject){.calibration = calibration}, NULL);
  idm_calibration_destroy(calibration);
  return figure;
}

static idm_figure *make_recovery(void)
{
  return make_of_study("recovery");
}

static idm_figure *make_sbc(void)
{
  return make_of_study("sbc");
}

static const struct {
  const char *kind;
  idm_figure *(*make)(void);
  double width;
} cases[] = {
    {"policy", make_policy, IDM_FIGURE_WIDE},
    {"posterior", make_posterior, IDM_FIGURE_NARROW},
    {"joint", make_joint, IDM_FIGURE_NARROW},
    {"trace", make_trace, IDM_FIGURE_WIDE},
    {"rank", make_rank, IDM_FIGURE_NARROW},
    {"forest", make_forest, IDM_FIGURE_NARROW},
    {"recovery", make_recovery, IDM_FIGURE_NARROW},
    {"sbc", make_sbc, IDM_FIGURE_WIDE},
    {"ppc", make_ppc, IDM_FIGURE_NARROW},
    {"profile", make_profile, IDM_FIGURE_NARROW},
    {"simplex", make_simplex, IDM_FIGURE_NARROW},
    {"occupancy", make_occupancy, IDM_FIGURE_NARROW},
    {"calibration", make_calibration, IDM_FIGURE_WIDE},
    {"prc", make_prc, IDM_FIGURE_NARROW},
    {"surprise", make_surprise, IDM_FIGURE_NARROW},
};
enum { CASES = sizeof cases / sizeof *cases };

/* --- what is kept --------------------------------------------------------------------------- */

static void golden_path(size_t i, char *path, size_t size)
{
  snprintf(path, size, "golden_svg/%s.svg", cases[i].kind);
}

static char *read_golden(size_t i)
{
  char path[64];
  char *text = NULL;
  size_t length;
  golden_path(i, path, sizeof path);
  check(idm_file_read(path, (size_t)1 << 20, &text, &length, &support_error));
  return text;
}

static void write_golden(size_t i, const char *drawing)
{
  char path[64];
  golden_path(i, path, sizeof path);
  char *lines = drawing_in_lines(drawing);
  FILE *file = fopen(path, "wb");
  assert_non_null(lines);
  assert_non_null(file);
  assert_true(fputs(lines, file) >= 0);
  assert_int_equal(fclose(file), 0);
  free(lines);
}

static void test_drawings(void **state)
{
  (void)state;
  const char *wish = getenv("IDM_GOLDEN_SVG");
  const bool write = wish && strcmp(wish, "write") == 0;
  size_t differ = 0;
  for (size_t i = 0; i < CASES; i++) {
    char room[800];
    idm_figure *figure = cases[i].make();
    char *drawing = figure_draw(figure, cases[i].width);
    if (write) write_golden(i, drawing);
    char *golden = read_golden(i);
    const char *difference = drawing_difference(golden, drawing, room, sizeof room);
    if (difference) print_error("%s: %s\n", cases[i].kind, difference);
    differ += difference != NULL;
    free(golden);
    free(drawing);
    idm_figure_destroy(figure);
  }
  assert_int_equal(differ, 0);
}

static void test_every_kind(void **state)
{
  (void)state;
  for (size_t k = 0; idm_plot_at(k); k++) {
    size_t count = 0;
    for (size_t i = 0; i < CASES; i++) count += strcmp(cases[i].kind, idm_plot_at(k)->name) == 0;
    if (!count) fail_msg("no drawing of kind '%s' is kept", idm_plot_at(k)->name);
  }
}

/* --- what is found -------------------------------------------------------------------------- */

/* Returns a copy of `text` in which occurrence `k` of `words` is replaced by `others`; the caller
 * frees it. */
static char *change(const char *text, const char *words, size_t k, const char *others)
{
  const char *at = strstr(text, words);
  while (at && k--) at = strstr(at + 1, words);
  assert_non_null(at);
  const size_t room = strlen(text) + strlen(others) + 1;
  char *copy = malloc(room);
  assert_non_null(copy);
  snprintf(copy, room, "%.*s%s%s", (int)(at - text), text, others, at + strlen(words));
  return copy;
}

static void expect_found(const char *text, const char *words, const char *others, bool found)
{
  char room[800];
  char *copy = change(text, words, 0, others);
  const bool differs = drawing_difference(text, copy, room, sizeof room) != NULL;
  if (differs != found) fail_msg("'%s' for '%s' is %s", others, words, found ? "missed" : "found");
  assert_int_equal(drawing_difference(copy, text, room, sizeof room) != NULL, found);
  free(copy);
}

static void test_differences(void **state)
{
  (void)state;
  static const char text[] =
      "<svg class=\"idm\" width=\"336\" id=\"f\">\n"
      "<title id=\"f-title\"></title><style>.c0{color:#009e73}</style>"
      "<g class=\"panel\" data-x=\"0 1 20 300 linear\"><line class=\"grid\" x1=\"20.5\"/>"
      "<text class=\"soft\" x=\"40\" y=\"9.25\">0.25</text></g>"
      "<g class=\"mark c1\" data-name=\"step 2\"><path fill-opacity=\"0.22\" d=\"M1.5 2L-3 "
      "40.25Z\"/>"
      "<circle r=\"2\"><title>step 2, x 1.234, y -0.5</title></circle></g></svg>\n";
  static const struct {
    const char *words, *others;
    bool found;
  } changes[] = {
      {"</style><g", "</style>\n<g", false},
      {"x=\"40\"", "x=\"40.04\"", false},
      {"x=\"40\"", "x=\"40.06\"", true},
      {"y=\"9.25\"", "y=\"9.19\"", true},
      {"y=\"9.25\"", "", true},
      {"M1.5 2L-3", "M1.53 2L-3.04", false},
      {"L-3 ", "L-2.9 ", true},
      {"L-3 40.25", "", true},
      {"L-3 40.25", "L-3 40.25L-3 40.25", true},
      {"0.22", "0.23", false},
      {"0.22", "0.24", true},
      {"0 1 20", "0 1.00005 20", false},
      {"0 1 20", "0 1.001 20", true},
      {"300 linear", "300 log", true},
      {">0.25<", ">0.250<", true},
      {">0.25<", ">0.26<", true},
      {">0.25<", "> 0.25<", true},
      {"mark c1", "mark c2", true},
      {"data-name=\"step 2\"", "data-name=\"step 2.01\"", true},
      {"x 1.234", "x 1.235", false},
      {"x 1.234", "x 1.239", true},
      {"y -0.5", "y 0.5", true},
      {"step 2, x", "step 3, x", true},
      {"<line class=\"grid\" x1=\"20.5\"/>", "", true},
      {"<line", "<rect", true},
      {"x1=", "x2=", true},
      {"20.5\"/>", "20.5\"></line>", true},
      {"#009e73", "#009e74", true},
      {"</g></svg>", "</g><g></g></svg>", true},
  };
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
    expect_found(text, changes[i].words, changes[i].others, changes[i].found);
}

/* Changes to each stored drawing are detected: a moved label, changed text, a changed kind, a
 * changed number, a removed element. */
static void test_damage(void **state)
{
  (void)state;
  for (size_t i = 0; i < CASES; i++) {
    char room[800];
    char *golden = read_golden(i);
    expect_found(golden, "<text", "<text dy=\"1\"", true);
    expect_found(golden, "</text>", "!</text>", true);
    expect_found(golden, "data-kind=\"", "data-kind=\"other", true);
    char *copy = strdup(golden);
    assert_non_null(copy);
    char *mark = strstr(copy, "data-kind"), *digit = strstr(mark, " d=\"M");
    if (!digit) digit = strstr(mark, " x=\"");
    assert_non_null(digit);
    digit += strcspn(digit, "0123456789");
    *digit = *digit == '9' ? '8' : (char)(*digit + 1);
    assert_non_null(drawing_difference(golden, copy, room, sizeof room));
    strcpy(copy, golden);
    /* The last self-closing element. */
    char *end = copy + strlen(copy);
    while (strncmp(end, "/>", 2) != 0) end--;
    char *begin = end;
    while (*begin != '<') begin--;
    memmove(begin, end + 2, strlen(end + 2) + 1);
    assert_non_null(drawing_difference(golden, copy, room, sizeof room));
    free(copy);
    free(golden);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_drawings), cmocka_unit_test(test_every_kind),
      cmocka_unit_test(test_differences), cmocka_unit_test(test_damage)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
