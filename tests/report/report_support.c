/* Makes posteriors, studies and figures for tests of plots, and reads paths back from drawings. */
#include "report/report_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "invert/posterior.h"

idm_posterior *report_posterior(size_t chains, size_t draws, const char *const *names, size_t count)
{
  idm_posterior *p;
  idm_random random;
  check(idm_posterior_allocate("bayes", "metropolis", chains, draws, count, &p, &support_error));
  idm_labels_destroy(&p->quantity);
  support_names(&p->quantity, names, count);
  idm_random_init(&random, 11, 1);
  for (size_t i = 0; i < count; i++) {
    p->summarised[i] = true;
    for (size_t k = 0; k < chains * draws; k++)
      p->value[i * chains * draws + k] = (double)i + (1 + (double)i) * idm_random_normal(&random);
  }
  p->answer = IDM_POSTERIOR;
  return p;
}

void report_series(idm_posterior *p, const char *name, const char *axis, const char *const *labels,
                   size_t count, size_t first)
{
  idm_labels label = {0};
  size_t at = idm_posterior_axis(p, axis);
  support_names(&label, labels, count);
  if (at == p->axes) check(idm_posterior_add_axis(p, axis, &label, &support_error));
  check(idm_posterior_add_series(p, name, at, first, &support_error));
  idm_labels_destroy(&label);
}

idm_calibration *report_study(const char *const *names, size_t count, size_t replications)
{
  idm_calibration *c = idm_new(1, sizeof *c);
  assert_non_null(c);
  c->settings.replications = replications;
  support_names(&c->quantity, names, count);
  c->recovery = idm_new(replications * count, sizeof *c->recovery);
  c->done = idm_new(replications, sizeof *c->done);
  c->rhat = idm_new(replications, sizeof *c->rhat);
  c->draws = idm_new(replications, sizeof *c->draws);
  for (size_t i = 0; i < replications; i++) {
    c->done[i] = true;
    c->rhat[i] = 1;
    c->draws[i] = 100;
    for (size_t q = 0; q < count; q++) {
      const double truth = sin((double)(i + 7 * q));
      c->recovery[i * count + q] = (idm_recovery){.truth = truth,
                                                  .mean = truth + 0.5,
                                                  .sd = 0.6,
                                                  .low = truth - 0.5,
                                                  .high = truth + 1.5,
                                                  .rank = (int)(37 * i % (IDM_RANKS + 1))};
    }
  }
  return c;
}

idm_figure *report_make(const char *kind, const idm_plot_subject *subject,
                        const idm_plot_settings *opt_settings)
{
  idm_figure *figure;
  const idm_plot *plot = idm_plot_find(kind);
  assert_non_null(plot);
  check(idm_plot_make(plot, subject, opt_settings, &figure, NULL, &support_error));
  return figure;
}

const char *report_refusal(const char *kind, const idm_plot_subject *subject,
                           const idm_plot_settings *opt_settings, idm_status expected)
{
  static idm_error error;
  idm_figure *figure;
  error = (idm_error){0};
  assert_int_equal(idm_plot_make(idm_plot_find(kind), subject, opt_settings, &figure, NULL, &error),
                   expected);
  assert_null(figure);
  return error.message;
}

void report_refuse_people(const char *kind)
{
  static const char *const names[] = {"1"};
  static const char *const people[] = {REPORT_HOSTILE};
  idm_problem *problem = support_diag(3, 1.25, 0.3);
  idm_data *data = support_data(
      problem, "trajectory,action,observation\n1,monitor,negative\n1,declare_healthy,\n");
  idm_posterior *p = report_posterior(2, 5, names, 1);
  report_series(p, "log_alpha", "person", people, 1, 0);
  const idm_plot_subject subject = {.problem = problem, .posterior = p, .data = data};
  assert_non_null(strstr(report_refusal(kind, &subject, NULL, IDM_USAGE), "one per person"));
  const idm_plot_subject less = {.problem = problem, .posterior = p};
  assert_non_null(strstr(report_refusal(kind, &less, NULL, IDM_USAGE), "needs a log"));
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

const idm_mark *report_mark(const idm_panel *panel, idm_mark_kind kind, size_t k)
{
  for (size_t i = 0; i < panel->marks; i++)
    if (panel->mark[i]->kind == kind && k-- == 0) return panel->mark[i];
  return NULL;
}

void report_draw(const idm_figure *figure)
{
  static const double widths[] = {IDM_FIGURE_NARROW, IDM_FIGURE_WIDE};
  char *text;
  size_t items = 0, lines = 0;
  for (size_t i = 0; i < 2; i++) {
    const idm_figure_options options = {.width = widths[i], .id = "t"};
    check(idm_figure_svg(figure, &options, &text, &support_error));
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    assert_non_null(strstr(text, "</svg>"));
    free(text);
  }
  for (size_t p = 0; p < figure->panels; p++)
    for (size_t k = 0; k < figure->panel[p]->marks; k++) items += figure->panel[p]->mark[k]->count;
  check(idm_figure_csv(figure, &text, &support_error));
  for (const char *c = text; *c; c++) lines += *c == '\n';
  assert_int_equal(lines, items + 1);
  free(text);
}

/* Reads the attribute "low high from to linear|log" after `at`. */
static void read_scale(const char *at, const char *attribute, double scale[4], bool *logarithmic)
{
  at = strstr(at, attribute);
  assert_non_null(at);
  char *next;
  at += strlen(attribute) + 2; /* skip =" */
  for (int i = 0; i < 4; i++) {
    scale[i] = strtod(at, &next);
    assert_true(next > at);
    at = next;
  }
  *logarithmic = strncmp(at, " log", 4) == 0;
}

static double number_at(const double scale[4], bool logarithmic, double place)
{
  const double part = (place - scale[2]) / (scale[3] - scale[2]);
  return logarithmic ? scale[0] * pow(scale[1] / scale[0], part)
                     : scale[0] + part * (scale[1] - scale[0]);
}

size_t report_path(const idm_figure *figure, size_t panel, const char *kind, const char *name,
                   double (*point)[2], size_t most)
{
  const idm_figure_options options = {.width = IDM_FIGURE_WIDE, .id = "t"};
  char *text, wanted[400];
  double x[4], y[4];
  bool log_x, log_y;
  size_t count = 0;
  check(idm_figure_svg(figure, &options, &text, &support_error));
  const char *at = text;
  for (size_t i = 0; i <= panel; i++) {
    at = strstr(at + 1, "data-x=");
    assert_non_null(at);
  }
  read_scale(at, "data-x", x, &log_x);
  read_scale(at, "data-y", y, &log_y);
  snprintf(wanted, sizeof wanted, "data-kind=\"%s\" data-name=\"%s\"", kind, name);
  at = strstr(at, wanted);
  assert_non_null(at);
  at = strstr(at, " d=\"");
  assert_non_null(at);
  at += 4;
  while (count < most && (*at == 'M' || *at == 'L')) {
    char *next;
    point[count][0] = number_at(x, log_x, strtod(at + 1, &next));
    point[count++][1] = number_at(y, log_y, strtod(next, &next));
    at = next;
  }
  free(text);
  return count;
}
