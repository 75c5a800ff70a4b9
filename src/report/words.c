/* What a report says in sentences: see the header. */
#include "report/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "idm/diagnostics.h"
#include "idm/planner.h"
#include "invert/between.h"
#include "report/titles.h"

/* Quantities that a sentence names; more of them are in the table. */
enum { most_named = 4 };

/* 12345 as 12,345. */
static void add_count(idm_markup *to, size_t count)
{
  char digits[32];
  const int length = snprintf(digits, sizeof digits, "%zu", count);
  for (int i = 0; i < length; i++) {
    if (i && (length - i) % 3 == 0) idm_markup_raw(to, ",", 1);
    idm_markup_raw(to, &digits[i], 1);
  }
}

void idm_words_plural(idm_markup *to, size_t count, const char *noun, const char *nouns)
{
  add_count(to, count);
  idm_markup_add(to, " %s", count == 1 ? noun : nouns);
}

/* What stands between item i of `count` and the one before. */
static const char *joint(size_t i, size_t count)
{
  return i == 0 ? "" : i + 1 < count ? ", " : " and ";
}

size_t idm_words_decisions(const idm_data *data)
{
  size_t decisions = 0;
  for (size_t r = 0; r < data->rows; r++)
    decisions += data->action[r] != IDM_MISSING && idm_data_open(data, data->available[r]) > 1;
  return decisions;
}

static const char *name_of(const idm_problem *problem)
{
  return problem->setting->name[0] ? problem->setting->name : "the problem";
}

/* Quantities that stand by themselves: the population's, or all. */
static bool is_told(const idm_posterior *p, size_t i)
{
  return p->summarised[i] && idm_posterior_series(p, i) == p->series_count;
}

static size_t count_told(const idm_posterior *p)
{
  size_t told = 0;
  for (size_t i = 0; i < p->quantity.count; i++) told += is_told(p, i);
  return told;
}

/* "5,000 decisions in 1,000 trajectories of 20 agents in diag, if ... the planner rational" */
static void add_evidence(const idm_plot_subject *subject, idm_markup *to)
{
  const idm_data *data = subject->data;
  if (data) {
    idm_words_plural(to, idm_words_decisions(data), "decision", "decisions");
    idm_markup_add(to, " in ");
    idm_words_plural(to, data->trajectories, "trajectory", "trajectories");
    if (data->agent_name.count > 1) {
      idm_markup_add(to, " of ");
      idm_words_plural(to, data->agent_name.count, "agent", "agents");
    }
  } else {
    idm_markup_add(to, "the decisions");
  }
  idm_markup_add(to, " in %s, if they were made by the planner %s", name_of(subject->problem),
                 idm_agent_planner(&subject->problem->agent)->name);
}

/* Series along an axis, by their names: "log alpha and 1/beta". */
static void add_series(const idm_posterior *p, const char *axis, idm_markup *to)
{
  size_t count = 0, named = 0;
  char buffer[256];
  for (size_t s = 0; s < p->series_count; s++) count += idm_series_is_along(p, s, axis);
  for (size_t s = 0; s < p->series_count; s++)
    if (idm_series_is_along(p, s, axis))
      idm_markup_add(to, "%s%s", joint(named++, count),
                     idm_title_series(p, s, buffer, sizeof buffer));
}

static bool has_axis(const idm_posterior *p, const char *axis)
{
  return idm_posterior_axis(p, axis) < p->axes;
}

void idm_words_question(const idm_plot_subject *subject, idm_markup *to)
{
  const idm_posterior *p = subject->posterior;
  const size_t told = count_told(p);
  size_t named = 0;
  char buffer[256];
  if (has_axis(p, "contrast") || has_axis(p, "person")) {
    idm_markup_add(to, has_axis(p, "person") ? "How do people differ in " : "Do groups differ in ");
    add_series(p, has_axis(p, "person") ? "person" : "group", to);
    idm_markup_add(to, ", judging by ");
    add_evidence(subject, to);
    idm_markup_add(to, "?");
    return;
  }
  idm_markup_add(to, told == 1                    ? "Which value of "
                     : told && told <= most_named ? "Which values of "
                                                  : "Which ");
  for (size_t i = 0; i < p->quantity.count && told && told <= most_named; i++)
    if (is_told(p, i)) {
      idm_markup_add(to, "%s%s", joint(named, told),
                     idm_title_quantity(p, i, buffer, sizeof buffer));
      named++;
    }
  if (!named) idm_markup_add(to, "parameters");
  idm_markup_add(to, told == 1 ? " explains " : " explain ");
  add_evidence(subject, to);
  idm_markup_add(to, "?");
}

/* --- groups and people ---------------------------------------------------------------------- */

/* The clearest difference of a series, and how many of them are clear: 0 is outside of the middle
 * 95 % of their draws. */
static void count_clear(const idm_posterior *p, const idm_assessment *a, const idm_series *s,
                        double *work, size_t *ret_clear, size_t *ret_clearest)
{
  const size_t all = p->chains * p->draws, count = p->axis[s->axis].label.count;
  double best = -1;
  *ret_clear = *ret_clearest = 0;
  for (size_t i = 0; i < count; i++) {
    const idm_diagnosis *d = &a->diagnosis[s->first + i];
    if (isnan(d->q05)) continue; /* no interval, so that nothing is clear */
    memcpy(work, p->value + (s->first + i) * all, all * sizeof *work);
    *ret_clear += idm_quantile(work, all, 0.025) > 0 || idm_quantile(work, all, 0.975) < 0;
    if (!(fabs(d->mean) > best * d->sd)) continue;
    best = fabs(d->mean) / d->sd;
    *ret_clearest = i;
  }
}

/* "Of 20 differences in log alpha 17 are clear, most of all b - a (0.5)" */
static void add_differences(const idm_plot_subject *subject, size_t series, double *work,
                            bool first, idm_markup *to)
{
  const idm_posterior *p = subject->posterior;
  const idm_series *s = &p->series[series];
  size_t clear, clearest;
  char title[256];
  count_clear(p, subject->assessment, s, work, &clear, &clearest);
  idm_markup_add(to, "%s ", first ? "Of" : "; of");
  add_count(to, p->axis[s->axis].label.count);
  idm_markup_add(to, " %s ", idm_title_series(p, series, title, sizeof title));
  if (clear)
    add_count(to, clear);
  else
    idm_markup_add(to, "none");
  idm_markup_add(to, " %s clear%s", clear > 1 ? "are" : "is",
                 first ? " (0 lies outside of their 95 % intervals)" : "");
  if (clear)
    idm_markup_add(to, ", most of all %s (%.3g)", p->axis[s->axis].label.name[clearest],
                   subject->assessment->diagnosis[s->first + clearest].mean);
}

static void add_contrasts(const idm_plot_subject *subject, idm_markup *to)
{
  const idm_posterior *p = subject->posterior;
  double *work = idm_new(p->chains * p->draws, sizeof *work);
  bool first = true;
  for (size_t s = 0; work && s < p->series_count; s++)
    if (idm_series_is_along(p, s, "contrast")) {
      add_differences(subject, s, work, first, to);
      first = false;
    }
  const idm_assessment *a = subject->assessment;
  if (!a->trusted)
    idm_markup_add(to, "; the verdict does not trust all of them");
  else if (idm_checks_left_out(&a->checks))
    idm_markup_add(to, "; checks of the groups were left out");
  to->failed = to->failed || !work;
  free(work);
}

/* "Nine in ten of 1,000 people have a log alpha between ... and a 1/beta between ..."; the range of
 * all means where there are fewer than 20 people. */
static void add_people(const idm_plot_subject *subject, idm_markup *to)
{
  const idm_posterior *p = subject->posterior;
  const size_t count = p->axis[idm_posterior_axis(p, "person")].label.count;
  double *work = idm_new(count, sizeof *work);
  size_t named = 0;
  char title[256];
  const bool few = count < 20;
  if (!few) idm_markup_add(to, "Nine in ten of ");
  idm_words_plural(to, count, "person", "people");
  idm_markup_add(to, count == 1 ? " has " : " have ");
  for (size_t s = 0; work && s < p->series_count; s++) {
    if (!idm_series_is_along(p, s, "person")) continue;
    for (size_t i = 0; i < count; i++)
      work[i] = subject->assessment->diagnosis[p->series[s].first + i].mean;
    idm_markup_add(to, "%sa mean of %s between %.3g and %.3g", named++ ? ", " : "",
                   idm_title_series(p, s, title, sizeof title),
                   idm_quantile(work, count, few ? 0 : 0.05),
                   idm_quantile(work, count, few ? 1 : 0.95));
  }
  to->failed = to->failed || !work;
  free(work);
}

static void add_posterior(idm_markup *to, const char *name, const idm_diagnosis *d, bool open,
                          bool first)
{
  idm_markup_add(to, "%s%s is %.3g", first ? "" : "; ", name, d->mean);
  if (isfinite(d->q05) && isfinite(d->q95))
    idm_markup_add(to, ", between %.3g and %.3g%s", d->q05, d->q95,
                   first ? " with a probability of 90 %" : "");
  else if (open)
    idm_markup_add(to, ", which depends on dynamics");
}

void idm_words_answer(const idm_plot_subject *subject, idm_markup *to)
{
  const idm_posterior *p = subject->posterior;
  const idm_assessment *a = subject->assessment;
  size_t named = 0;
  char buffer[256];
  if (has_axis(p, "contrast") || has_axis(p, "person")) {
    if (has_axis(p, "person"))
      add_people(subject, to);
    else
      add_contrasts(subject, to);
    idm_markup_add(to, ".");
    return;
  }
  for (size_t i = 0; i < p->quantity.count && named < most_named; i++) {
    if (!is_told(p, i)) continue;
    const char *name = idm_title_quantity(p, i, buffer, sizeof buffer);
    if (p->answer == IDM_POSTERIOR)
      add_posterior(to, name, &a->diagnosis[i],
                    a->between && idm_depends_on_dynamics(a->between[i]), named == 0);
    else
      idm_markup_add(to, "%s%s is %.4g", named ? "; " : "", name,
                     p->value[i * p->chains * p->draws]);
    named++;
  }
  const size_t told = count_told(p);
  if (told > named) {
    idm_markup_add(to, "; ");
    idm_words_plural(to, told - named, "number more is", "numbers more are");
    idm_markup_add(to, " in the table");
  }
  idm_markup_add(to, ".");
}
