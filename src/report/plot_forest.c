/* Points and intervals: a panel a quantity, or a series of them along people, groups, contrasts or
 * coefficients, in the order of the summary. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "idm/diagnostics.h"
#include "idm/plot.h"
#include "report/shown.h"

extern const idm_plot idm_plot_forest; /* registered in plots.c */

/* What is not named may be many: everybody is drawn. */
enum { most_quantities = 100000 };

/* Verdicts on people, by colour. */
static const struct {
  const char *word;
  int colour;
} verdicts[] = {{"identified", 0}, {"population-driven", 2},    {"prior-driven", 1}, {"chance", 3},
                {"misfit", 4},     {"failed", IDM_COLOUR_QUIET}};
enum { VERDICTS = sizeof verdicts / sizeof *verdicts };

/* The person whose quantity stands at a place along the axis; NULL where nobody is known. */
static const idm_person *person_at(const idm_assessment *opt_a, size_t place)
{
  for (size_t i = 0, at = 0; opt_a && i < opt_a->people; i++)
    if (!opt_a->person[i].absent && at++ == place) return &opt_a->person[i];
  return NULL;
}

/* Some quantities in a panel. */
typedef struct rows {
  const idm_shown_one *one; /* [count] */
  size_t count;
  size_t series; /* theirs; the number of series: none */
} rows;

static bool is_along(const idm_posterior *p, const rows *r, const char *axis)
{
  return r->series < p->series_count && strcmp(p->axis[p->series[r->series].axis].name, axis) == 0;
}

/* The verdict on a row of people, or VERDICTS. */
static size_t verdict_of(const idm_plot_subject *subject, const rows *r, size_t row)
{
  const idm_posterior *p = subject->posterior;
  if (!is_along(p, r, "person")) return VERDICTS;
  const idm_person *who =
      person_at(subject->assessment, r->one[row].quantity - p->series[r->series].first);
  for (size_t v = 0; who && v < VERDICTS; v++)
    if (strcmp(who->verdict, verdicts[v].word) == 0) return v;
  return VERDICTS;
}

/* The mean, and intervals by quantiles; `work` holds a copy to sort. */
static void put_row(idm_mark *mark, size_t at, const idm_shown_one *one, size_t row, double *work)
{
  static const struct {
    idm_figure_column column;
    double share;
  } ends[] = {{IDM_FIGURE_LOW, 0.05},
              {IDM_FIGURE_INNER_LOW, 0.25},
              {IDM_FIGURE_INNER_HIGH, 0.75},
              {IDM_FIGURE_HIGH, 0.95}};
  double mean = 0;
  bool known = true;
  for (size_t i = 0; i < one->count; i++) {
    work[i] = one->draw[i];
    mean += one->draw[i] / (double)one->count;
    known = known && !isnan(one->draw[i]);
  }
  for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
    mark->column[ends[k].column][at] = known ? idm_quantile(work, one->count, ends[k].share) : NAN;
  mark->column[IDM_FIGURE_X][at] = mean;
  mark->column[IDM_FIGURE_Y][at] = (double)row;
}

/* Rows of one verdict, as one mark. */
static idm_status add_rows(idm_panel *panel, const idm_plot_subject *subject, const rows *r,
                           size_t verdict, double *work, idm_error *opt_error)
{
  size_t count = 0;
  idm_mark *mark;
  for (size_t i = 0; i < r->count; i++) count += verdict_of(subject, r, i) == verdict;
  if (!count) return IDM_OK;
  idm_status status =
      idm_panel_add(panel, IDM_MARK_FOREST, verdict < VERDICTS ? verdicts[verdict].word : "",
                    verdict < VERDICTS ? verdicts[verdict].colour : 0, count, &mark, opt_error);
  if (status == IDM_OK) status = idm_labels_create(&mark->label, count, opt_error);
  for (size_t i = 0, at = 0; i < r->count && status == IDM_OK; i++) {
    if (verdict_of(subject, r, i) != verdict) continue;
    const char *name = panel->y.category.name[i];
    put_row(mark, at, &r->one[i], i, work);
    status = idm_labels_set(&mark->label, at++, name, strlen(name), opt_error);
  }
  return status;
}

/* Where differences and effects are none. */
static idm_status add_zero(idm_panel *panel, idm_error *opt_error)
{
  idm_mark *rule;
  return idm_panel_add(panel, IDM_MARK_RULES, "", IDM_COLOUR_QUIET, 1, &rule, opt_error);
}

static idm_status name_rows(idm_panel *panel, const idm_posterior *p, const rows *r,
                            idm_error *opt_error)
{
  idm_status status = idm_labels_create(&panel->y.category, r->count, opt_error);
  for (size_t i = 0; i < r->count && status == IDM_OK; i++) {
    const char *name = r->one[i].name;
    if (r->series < p->series_count) {
      const idm_series *s = &p->series[r->series];
      name = p->axis[s->axis].label.name[r->one[i].quantity - s->first];
    }
    status = idm_labels_set(&panel->y.category, i, name, strlen(name), opt_error);
  }
  return status;
}

static idm_status add_panel(idm_figure *figure, const idm_plot_subject *subject, const rows *r,
                            idm_error *opt_error)
{
  const idm_posterior *p = subject->posterior;
  const bool series = r->series < p->series_count;
  const bool values = is_along(p, r, "person") || is_along(p, r, "group");
  char title[256] = "";
  idm_panel *panel = NULL;
  if (values)
    idm_quantity_spoken(p->series[r->series].name, title, sizeof title);
  else if (series)
    snprintf(title, sizeof title, "%.250s", p->series[r->series].name);
  double *work = idm_new(r->one[0].count, sizeof *work);
  idm_status status = work ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_figure_add(figure, title, "", "", &panel, opt_error);
  if (status == IDM_OK) status = name_rows(panel, p, r, opt_error);
  if (status == IDM_OK && series && !values) status = add_zero(panel, opt_error);
  for (size_t v = 0; v <= VERDICTS && status == IDM_OK; v++)
    status = add_rows(panel, subject, r, v, work, opt_error);
  free(work);
  return status;
}

static idm_status make_forest(const idm_plot_subject *subject, const idm_plot_settings *settings,
                              idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  const idm_posterior *p = subject->posterior;
  idm_shown shown;
  idm_status status =
      idm_shown_choose(subject, settings, most_quantities, true, &shown, notes, opt_error);
  if (status != IDM_OK) return status;
  status =
      idm_figure_create("", "Means of the draws with intervals that hold 50 % and 90 % of them.", 1,
                        ret_figure, opt_error);
  for (size_t first = 0, next; first < shown.count && status == IDM_OK; first = next) {
    const size_t series = idm_posterior_series(p, shown.one[first].quantity);
    for (next = first + 1; next < shown.count && series < p->series_count &&
                           idm_posterior_series(p, shown.one[next].quantity) == series;)
      next++;
    const rows r = {&shown.one[first], next - first, series};
    status = add_panel(*ret_figure, subject, &r, opt_error);
  }
  idm_shown_clear(&shown);
  return status;
}

const idm_plot idm_plot_forest = {
    .name = "forest",
    .summary = "means and intervals of quantities, people, groups or coefficients",
    .needs = IDM_PLOT_POSTERIOR,
    .make = make_forest,
};
