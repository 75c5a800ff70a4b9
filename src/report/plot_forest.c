/* Plot of points and intervals. There is one panel per quantity or per series of quantities along
 * people, groups, contrasts or coefficients, in the order of the summary; very many people are in
 * the order of their means.
 *
 * Contents: rows · many · panels */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "invert/posterior.h"
#include "report/panels.h"
#include "report/report.h"

extern const idm_plot idm_plot_forest; /* registered in plots.c */

/* Largest number of quantities drawn without a selection, and of people with names on the axis. */
enum { max_quantities = 100000, max_named = 60 };

/* --- rows ----------------------------------------------------------------------------------- */

/* Colours of the verdicts on people. */
static const int colour_of[IDM_PERSON_VERDICTS] = {
    0, 2, 1, 3, 4, IDM_COLOUR_NEUTRAL, 0, IDM_COLOUR_NEUTRAL};

/* Person whose quantity is at a position along the axis; NULL if there is none. */
static const idm_person *person_at(const idm_assessment *opt_a, size_t place)
{
  for (size_t i = 0, at = 0; opt_a && i < opt_a->people; i++)
    if (!opt_a->person[i].absent && at++ == place) return &opt_a->person[i];
  return NULL;
}

/* Rows of a panel: single quantities, or a series of them. */
typedef struct rows {
  const idm_plot_subject *subject;
  const idm_plot_quantity *one; /* [count] */
  size_t count;
  size_t series;           /* their series; the number of series: none */
  size_t *place;           /* [count]: vertical position of each; NULL: in their order */
  size_t medians;          /* rows with the median in place of the mean */
  size_t without_interval; /* rows that depend on dynamics: no interval is drawn */
  double low;              /* smallest 5 % quantile and largest 95 % quantile of all rows */
  double high;
} rows;

/* Returns true if a number depends on dynamics, of which there are `cuts` draws. */
static bool has_no_interval(const idm_plot_quantity *one, size_t cuts)
{
  return cuts > 1 && idm_depends_on_dynamics(idm_between_share(one->draw, cuts, one->count / cuts));
}

/* Returns true if tables omit the mean of a number because of its heavy tail. */
static bool is_heavy_tailed(const rows *r, const idm_plot_quantity *one)
{
  const idm_assessment *a = r->subject->assessment;
  return a && a->diagnosis && one->quantity < a->quantities &&
         idm_diagnosis_heavy_tailed(&a->diagnosis[one->quantity]);
}

static size_t item_of(const rows *r, size_t row)
{
  return r->one[row].quantity - r->subject->posterior->series[r->series].first;
}

static const char *name_of(const rows *r, size_t row, char *buffer, size_t size)
{
  const idm_posterior *p = r->subject->posterior;
  return r->series < p->series_count ? idm_title_item(p, r->series, item_of(r, row), buffer, size)
                                     : r->one[row].name;
}

/* Verdict on a row of people; IDM_PERSON_VERDICTS if there is none, or if it is a point estimate.
 */
static idm_person_verdict verdict_of(const rows *r, size_t row)
{
  if (!idm_series_is_along(r->subject->posterior, r->series, "person")) return IDM_PERSON_VERDICTS;
  const idm_person *who = person_at(r->subject->assessment, item_of(r, row));
  return who && who->verdict != IDM_PERSON_POINT ? who->verdict : IDM_PERSON_VERDICTS;
}

/* Write row i to item `at` of a mark: the mean, and intervals by quantiles. If the tail is heavy,
 * or the mean is outside its interval, the median replaces the mean. A number that depends on
 * dynamics has no interval. `work` is scratch for a sorted copy of its draws. */
static void put_row(rows *r, size_t i, idm_mark *mark, size_t at, double *work)
{
  static const struct {
    idm_figure_column column;
    double share;
  } ends[] = {{IDM_FIGURE_LOW, 0.05},
              {IDM_FIGURE_INNER_LOW, 0.25},
              {IDM_FIGURE_INNER_HIGH, 0.75},
              {IDM_FIGURE_HIGH, 0.95}};
  const idm_plot_quantity *one = &r->one[i];
  const bool without_interval = has_no_interval(one, r->subject->posterior->cuts);
  const double mean = idm_mean(one->draw, one->count);
  double end[sizeof ends / sizeof *ends];
  memcpy(work, one->draw, one->count * sizeof *work);
  for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
    end[k] = isnan(mean) ? NAN : idm_quantile(work, one->count, ends[k].share);
    mark->column[ends[k].column][at] = without_interval ? NAN : end[k];
  }
  const bool outside = !without_interval && (mean < end[0] || mean > end[3]);
  const bool median = one->count > 1 && !isnan(mean) && (outside || is_heavy_tailed(r, one));
  mark->column[IDM_FIGURE_X][at] = median ? idm_quantile(work, one->count, 0.5) : mean;
  mark->column[IDM_FIGURE_Y][at] = (double)(r->place ? r->place[i] : i);
  r->medians += median;
  r->low = fmin(r->low, end[0]);
  r->high = fmax(r->high, end[3]);
}

/* Add the rows of one verdict as one mark. */
static idm_status add_rows(idm_panel *panel, rows *r, idm_person_verdict verdict, double *work,
                           idm_error *opt_error)
{
  const bool known = verdict < IDM_PERSON_VERDICTS;
  size_t count = 0;
  idm_mark *mark;
  for (size_t i = 0; i < r->count; i++) count += verdict_of(r, i) == verdict;
  if (!count) return IDM_OK;
  idm_status status =
      idm_panel_add(panel, IDM_MARK_FOREST, known ? idm_person_verdict_name(verdict) : "",
                    known ? colour_of[verdict] : 0, count, &mark, opt_error);
  if (status == IDM_OK) status = idm_labels_create(&mark->label, count, opt_error);
  for (size_t i = 0, at = 0; i < r->count && status == IDM_OK; i++) {
    char buffer[256];
    if (verdict_of(r, i) != verdict) continue;
    const char *name = name_of(r, i, buffer, sizeof buffer);
    put_row(r, i, mark, at, work);
    status = idm_labels_set(&mark->label, at++, name, strlen(name), opt_error);
  }
  return status;
}

/* Add a rule at 0, the absence of differences and effects. */
static idm_status add_zero(idm_panel *panel, idm_error *opt_error)
{
  idm_mark *rule;
  return idm_panel_add(panel, IDM_MARK_RULES, "", IDM_COLOUR_NEUTRAL, 1, &rule, opt_error);
}

static idm_status name_rows(idm_panel *panel, const rows *r, idm_error *opt_error)
{
  idm_status status = idm_labels_create(&panel->y.category, r->count, opt_error);
  for (size_t i = 0; i < r->count && status == IDM_OK; i++) {
    char buffer[256];
    const char *name = name_of(r, i, buffer, sizeof buffer);
    status = idm_labels_set(&panel->y.category, i, name, strlen(name), opt_error);
  }
  return status;
}

/* --- many ----------------------------------------------------------------------------------- */

typedef struct ranked {
  double mean;
  size_t row;
} ranked;

/* Order by mean; rows without a mean come last. */
static int by_mean(const void *a, const void *b)
{
  const ranked *x = a, *y = b;
  const double left = isnan(x->mean) ? INFINITY : x->mean;
  const double right = isnan(y->mean) ? INFINITY : y->mean;
  if (left < right) return -1;
  if (left > right) return 1;
  return (x->row > y->row) - (x->row < y->row);
}

/* With more people than a page has lines, rows are in the order of their means, which shows how
 * they differ; names are in tooltips. */
static idm_status rank_rows(idm_panel *panel, rows *r, idm_error *opt_error)
{
  ranked *order = idm_new(r->count, sizeof *order);
  r->place = idm_new(r->count, sizeof *r->place);
  idm_status status = order && r->place ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < r->count && status == IDM_OK; i++)
    order[i] = (ranked){idm_mean(r->one[i].draw, r->one[i].count), i};
  if (status == IDM_OK) qsort(order, r->count, sizeof *order, by_mean);
  for (size_t i = 0; i < r->count && status == IDM_OK; i++) r->place[order[i].row] = i + 1;
  free(order);
  panel->y.low = 0.5;
  panel->y.high = (double)r->count + 0.5;
  panel->y.whole = true;
  panel->aspect = 0.75;
  return status;
}

/* --- panels --------------------------------------------------------------------------------- */

static idm_status fill_panel(idm_panel *panel, rows *r, bool many, bool zero, idm_error *opt_error)
{
  double *work = idm_new(r->one[0].count, sizeof *work);
  idm_status status = work ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = many ? rank_rows(panel, r, opt_error) : name_rows(panel, r, opt_error);
  if (status == IDM_OK && zero) status = add_zero(panel, opt_error);
  for (int v = 0; v <= IDM_PERSON_VERDICTS && status == IDM_OK; v++)
    status = add_rows(panel, r, (idm_person_verdict)v, work, opt_error);
  free(work);
  free(r->place);
  return status;
}

static idm_status add_panel(const idm_plot_subject *subject, const idm_plot_quantity *one,
                            size_t count, idm_figure *figure, idm_notes *notes,
                            idm_error *opt_error)
{
  const idm_posterior *p = subject->posterior;
  rows r = {.subject = subject,
            .one = one,
            .count = count,
            .series = idm_posterior_series(p, one->quantity),
            .low = INFINITY,
            .high = -INFINITY};
  const bool people = idm_series_is_along(p, r.series, "person");
  const bool zero =
      r.series < p->series_count && !people && !idm_series_is_along(p, r.series, "group");
  const bool many = people && count > max_named;
  char title[256] = "", words[128] = "";
  idm_panel *panel = NULL;
  if (r.series < p->series_count) idm_title_series(p, r.series, title, sizeof title);
  const size_t used = strlen(title);
  if (many) idm_print(title + used, sizeof title - used, " of %zu people, by their means", count);
  for (size_t i = 0; i < count; i++) r.without_interval += has_no_interval(&one[i], p->cuts);
  if (r.without_interval)
    idm_print(words, sizeof words, "%s without interval: depends on dynamics",
              r.without_interval < count || count == 1 ? "a dot" : "dots");
  idm_status status = idm_figure_add(figure, title, words, "", &panel, opt_error);
  if (status == IDM_OK) status = fill_panel(panel, &r, many, zero, opt_error);
  /* The axis spans the range of the draws of all dynamics. Otherwise the differences between dots
   * alone would fill the panel, however small they are. */
  if (status == IDM_OK && r.without_interval && r.low < r.high) {
    panel->x.low = zero ? fmin(r.low, 0) : r.low;
    panel->x.high = zero ? fmax(r.high, 0) : r.high;
  }
  if (status == IDM_OK && r.medians)
    idm_notes_add(notes,
                  "forest: %zu of %zu rows (%s) show the median: the tail is heavy, or the mean is "
                  "outside of its 90 %% interval",
                  r.medians, count, title[0] ? title : one->name);
  return status;
}

static idm_status make_forest(const idm_plot_subject *subject, const idm_plot_settings *settings,
                              idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  static const idm_quantity_plot kind = {
      .description =
          "Means of the draws with intervals that hold 50 % and 90 % of them; medians where a tail "
          "is heavy or a mean is outside of its interval; no interval where a number depends on "
          "dynamics.",
      .columns = 1,
      .most = max_quantities,
      .people = true,
      .series = true,
      .draw = add_panel,
  };
  return idm_quantity_plot_make(&kind, subject, settings, ret_figure, notes, opt_error);
}

const idm_plot idm_plot_forest = {
    .name = "forest",
    .summary = "means and intervals of quantities, people, groups or coefficients",
    .needs = IDM_PLOT_POSTERIOR,
    .make = make_forest,
};
