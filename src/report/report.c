/* Composes the report of a run, section by section.
 *
 * Contents: page · report */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/log.h"
#include "idm/extension/prefix.h"
#include "invert/clone.h"
#include "invert/explain.h"
#include "invert/explain/explain.h"
#include "io/file.h"
#include "io/run.h"
#include "io/run/folder.h"
#include "plan/plan.h"
#include "report/markup.h"
#include "report/panels.h"
#include "report/report.h"

/* === page ===================================================================================== */

/* Pages in HTML: sections, tables and figures. */

/* --- parts ---------------------------------------------------------------------------------- */

void idm_page_section(idm_page *page, const char *id, const char *heading)
{
  idm_markup_add(&page->contents, "<a href=\"#%s\">", id);
  idm_markup_text(&page->contents, heading);
  idm_markup_add(&page->contents, "</a> ");
  idm_markup_add(&page->body, "<h2 id=\"%s\">", id);
  idm_markup_text(&page->body, heading);
  idm_markup_add(&page->body, "</h2>\n");
}

void idm_page_paragraph(idm_page *page, const char *opt_class, const char *text)
{
  if (opt_class)
    idm_markup_add(&page->body, "<p class=\"%s\">", opt_class);
  else
    idm_markup_add(&page->body, "<p>");
  idm_markup_text(&page->body, text);
  idm_markup_add(&page->body, "</p>\n");
}

void idm_page_list(idm_page *page, const idm_notes *notes)
{
  if (!notes->count) return;
  idm_markup_add(&page->body, "<ul>\n");
  for (size_t i = 0; i < notes->count; i++) {
    idm_markup_add(&page->body, "<li>");
    idm_markup_text(&page->body, notes->text[i]);
    idm_markup_add(&page->body, "</li>\n");
  }
  idm_markup_add(&page->body, "</ul>\n");
}

static void add_cells(idm_page *page, size_t columns, const char *const *cell, const char *tag)
{
  idm_markup_add(&page->body, "<tr>");
  for (size_t i = 0; i < columns; i++) {
    idm_markup_add(&page->body, "<%s>", tag);
    idm_markup_text(&page->body, cell[i]);
    idm_markup_add(&page->body, "</%s>", tag);
  }
  idm_markup_add(&page->body, "</tr>\n");
}

void idm_page_table(idm_page *page, size_t columns, const char *const *head)
{
  /* A table that is wider than the screen is scrolled separately, by the keyboard too. */
  idm_markup_add(&page->body, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                              "aria-label=\"table\"><table>\n<thead>");
  add_cells(page, columns, head, "th");
  idm_markup_add(&page->body, "</thead>\n<tbody>\n");
}

void idm_page_row(idm_page *page, size_t columns, const char *const *cell)
{
  add_cells(page, columns, cell, "td");
}

void idm_page_table_end(idm_page *page)
{
  idm_markup_add(&page->body, "</tbody>\n</table></div>\n");
}

void idm_page_details(idm_page *page, const char *words)
{
  idm_markup_add(&page->body, "<details><summary>");
  idm_markup_text(&page->body, words);
  idm_markup_add(&page->body, "</summary>\n");
}

void idm_page_details_end(idm_page *page)
{
  idm_markup_add(&page->body, "</details>\n");
}

/* --- figures -------------------------------------------------------------------------------- */

/* Append a JSON string that contains nothing that could end the enclosing element. */
static void add_json(idm_markup *m, const char *text)
{
  idm_markup_raw(m, "\"", 1);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c < 0x20 || *c == '<' || *c == '"' || *c == '\\')
      idm_markup_add(m, "\\u%04x", *c);
    else
      idm_markup_raw(m, (const char *)c, 1);
  }
  idm_markup_raw(m, "\"", 1);
}

/* Append the drawing for one width; its class shows or hides it. */
static idm_status add_drawing(idm_page *page, const idm_figure *figure, const char *id, bool wide,
                              idm_error *opt_error)
{
  char name[80];
  char *text;
  const char *class = wide ? "wide" : "narrow";
  snprintf(name, sizeof name, "%s-%s", id, class);
  const idm_figure_options options = {.width = wide ? IDM_FIGURE_WIDE : IDM_FIGURE_NARROW,
                                      .id = name,
                                      .opt_class = class,
                                      .without_style = true};
  const idm_status status = idm_figure_svg(figure, &options, &text, opt_error);
  if (status != IDM_OK) return status;
  idm_markup_raw(&page->body, text, strlen(text));
  free(text);
  return IDM_OK;
}

idm_status idm_page_figure(idm_page *page, const char *id, idm_figure *figure, const char *caption,
                           idm_error *opt_error)
{
  char *csv = NULL;
  idm_status status = idm_figure_csv(figure, &csv, opt_error);
  idm_markup_add(&page->body, "<figure id=\"%s\">\n", id);
  if (status == IDM_OK) status = add_drawing(page, figure, id, true, opt_error);
  if (status == IDM_OK) status = add_drawing(page, figure, id, false, opt_error);
  if (status == IDM_OK) {
    idm_markup_add(&page->body, "<figcaption>");
    idm_markup_text(&page->body, caption);
    idm_markup_add(&page->body, "</figcaption>\n<script type=\"application/json\">");
    add_json(&page->body, csv);
    idm_markup_add(&page->body, "</script>\n</figure>\n");
    page->figures++;
  }
  free(csv);
  idm_figure_destroy(figure);
  return status;
}

/* --- whole page ------------------------------------------------------------------------------ */

static void add_head(idm_markup *m, const char *title, const char *figures)
{
  idm_markup_add(m,
                 "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta " IDM_REPORT_SIGNATURE "%s\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                 "base-uri 'none'; form-action 'none'; style-src ",
                 idm_version());
  idm_markup_digest(m, idm_asset("page.css"));
  idm_markup_raw(m, " ", 1);
  idm_markup_digest(m, figures);
  idm_markup_add(m, "; script-src ");
  idm_markup_digest(m, idm_asset("page.js"));
  idm_markup_add(m, "\">\n<meta name=\"viewport\" content=\"width=device-width, "
                    "initial-scale=1\">\n<title>");
  idm_markup_text(m, title);
  idm_markup_add(m, "</title>\n<style>%s</style>\n", idm_asset("page.css"));
  idm_markup_add(m, "<style id=\"figures\">%s</style>\n</head>\n<body>\n<main>\n<h1>", figures);
  idm_markup_text(m, title);
  idm_markup_add(m, "</h1>\n");
}

idm_status idm_page_take(idm_page *page, const char *title, char **ret_text, idm_error *opt_error)
{
  idm_markup m = {0};
  char *figures;
  *ret_text = NULL;
  idm_status status = idm_figure_style(IDM_THEME_AUTO, &figures, opt_error);
  if (status == IDM_OK) {
    add_head(&m, title, figures);
    if (page->contents.length)
      idm_markup_add(&m, "<nav aria-label=\"sections\">%s</nav>\n", page->contents.text);
    if (page->body.length) idm_markup_raw(&m, page->body.text, page->body.length);
    idm_markup_add(&m, "</main>\n<script>%s</script>\n</body>\n</html>\n", idm_asset("page.js"));
    m.failed = m.failed || page->body.failed || page->contents.failed;
    status = idm_markup_take(&m, ret_text, opt_error);
  }
  free(figures);
  free(page->body.text);
  free(page->contents.text);
  *page = (idm_page){0};
  return status;
}

/* === report =================================================================================== */

typedef struct report {
  const idm_plot_subject *subject;
  idm_page page;
  idm_notes *notes;
  idm_error *opt_error;
} report;

static const size_t max_config_bytes = (size_t)1 << 24;

/* --- answer and verdict --------------------------------------------------------------------- */

/* Append a sentence of `words` as a paragraph. */
static idm_status add_words(report *r, const char *opt_class,
                            void (*words)(const idm_plot_subject *subject, idm_markup *to))
{
  idm_markup m = {0};
  char *text;
  words(r->subject, &m);
  const idm_status status = idm_markup_take(&m, &text, r->opt_error);
  if (status == IDM_OK) idm_page_paragraph(&r->page, opt_class, text);
  free(text);
  return status;
}

static const char *number_of(double value, char *buffer, size_t size)
{
  buffer[0] = '\0';
  if (!isnan(value)) snprintf(buffer, size, "%.4g", value);
  return buffer;
}

/* Append every check that applies to the answer: its result, or the reason why it was not run. */
static void add_results(report *r, const idm_checks *checks)
{
  static const char *const head[] = {"check", "outcome", "value", "threshold",
                                     "reason if not run in full"};
  char value[32], threshold[32];
  idm_page_details(&r->page, "Checks that ran, and those that did not");
  idm_page_table(&r->page, 5, head);
  for (int i = 0; i < IDM_CHECK_COUNT; i++) {
    const idm_check_result *result = &checks->of[i];
    if (!idm_check_applies(checks, (idm_check_id)i)) continue;
    idm_page_row(&r->page, 5,
                 (const char *const[]){
                     idm_check_at((size_t)i)->name, idm_check_outcome_name(result->outcome),
                     number_of(result->value, value, sizeof value),
                     number_of(result->threshold, threshold, sizeof threshold), result->why});
  }
  idm_page_table_end(&r->page);
  idm_page_details_end(&r->page);
}

static void add_verdict(report *r)
{
  const idm_assessment *a = r->subject->assessment;
  idm_page_section(&r->page, "verdict", "Can it be trusted?");
  idm_markup_add(&r->page.body, "<div class=\"verdict %s\"><strong>Verdict: ",
                 !a->trusted                       ? "bad"
                 : idm_checks_left_out(&a->checks) ? "open"
                                                   : "good");
  idm_markup_text(&r->page.body, idm_assessment_verdict(a));
  idm_markup_add(&r->page.body, ".</strong>\n");
  idm_page_list(&r->page, &a->failures);
  idm_page_list(&r->page, &a->misfits);
  idm_markup_add(&r->page.body, "</div>\n");
  add_results(r, &a->checks);
}

/* --- figures -------------------------------------------------------------------------------- */

/* Append a figure of that kind with its notes, if it can be made of this run. A missing input is
 * not an error of the report. */
static idm_status add_plot_as(report *r, const char *id, const char *kind,
                              const idm_plot_settings *opt_settings, const char *caption)
{
  const idm_plot *plot = idm_plot_find(kind);
  idm_figure *figure;
  idm_notes notes = {0};
  idm_error why;
  char words[400], dynamics[160];
  if (!plot) return IDM_OK;
  idm_plot_dynamics(plot, r->subject, dynamics, sizeof dynamics);
  idm_print(words, sizeof words, "%s%s%s", caption, dynamics[0] ? " " : "", dynamics);
  idm_status status = idm_plot_make(plot, r->subject, opt_settings, &figure, &notes, &why);
  if (status == IDM_OK) {
    status = idm_page_figure(&r->page, id, figure, words, r->opt_error);
    if (status == IDM_OK) idm_page_list(&r->page, &notes);
  } else {
    if (status == IDM_MEMORY && r->opt_error) *r->opt_error = why;
    status = status == IDM_MEMORY ? status : IDM_OK;
  }
  idm_notes_clear(&notes);
  return status;
}

static idm_status add_plot(report *r, const char *kind, const idm_plot_settings *opt_settings,
                           const char *caption)
{
  return add_plot_as(r, kind, kind, opt_settings, caption);
}

static void add_number(double value, char *cell, size_t size)
{
  idm_print(cell, size, isnan(value) ? "-" : "%.4g", value);
}

static bool is_personal(const idm_posterior *p, size_t quantity)
{
  return idm_series_is_along(p, idm_posterior_series(p, quantity), "person");
}

/* Append a table of all summarised quantities: those of single people, or all others. A point
 * estimate has neither an sd nor quantiles. */
static void add_table(report *r, bool personal)
{
  static const char *const draws[] = {"", "mean", "sd", "5 %", "50 %", "95 %", "ESS", "R-hat"};
  static const char *const point[] = {"", "value"};
  enum { max_columns = sizeof draws / sizeof draws[0], most = 2000 };
  const idm_posterior *p = r->subject->posterior;
  const bool drawn = p->answer == IDM_POSTERIOR;
  const char *const *head = drawn ? draws : point;
  const size_t columns = drawn ? max_columns : sizeof point / sizeof point[0];
  size_t rows = 0, heavy_rows = 0, open_rows = 0;
  for (size_t i = 0; i < p->quantity.count && rows < most; i++) {
    const idm_diagnosis *d = &r->subject->assessment->diagnosis[i];
    const bool is_heavy_tailed = drawn && idm_diagnosis_heavy_tailed(d);
    const double value[] = {is_heavy_tailed ? NAN : d->mean,
                            is_heavy_tailed ? NAN : d->sd,
                            d->q05,
                            d->q50,
                            d->q95,
                            d->ess_bulk,
                            d->rhat};
    char name[256], cell[max_columns][32];
    const char *row[max_columns];
    if (!p->summarised[i] || is_personal(p, i) != personal) continue;
    if (!rows++) idm_page_table(&r->page, columns, head);
    heavy_rows += is_heavy_tailed;
    open_rows += drawn && isnan(d->q05) && isfinite(d->q50);
    row[0] = idm_title_quantity(p, i, name, sizeof name);
    for (size_t k = 1; k < columns; k++) {
      add_number(value[k - 1], cell[k], sizeof cell[k]);
      row[k] = cell[k];
    }
    idm_page_row(&r->page, columns, row);
  }
  if (rows) idm_page_table_end(&r->page);
  if (heavy_rows)
    idm_page_paragraph(
        &r->page, "soft",
        "A dash in place of mean and sd: a tail is too heavy for a stable estimate of "
        "either. The median (50 %) and the interval describe the number.");
  if (open_rows)
    idm_page_paragraph(&r->page, "soft",
                       "A dash in place of 5 % and 95 %: the number depends on dynamics. More than "
                       "half of its variance lies between draws of the dynamics, and there is no "
                       "interval.");
  if (rows == most) idm_page_paragraph(&r->page, "soft", "More of them are in summary.json.");
}

/* Append densities of the single quantities in addition to people or groups: the population's
 * parameters. */
static idm_status add_population(report *r)
{
  const idm_posterior *p = r->subject->posterior;
  const char *name[12];
  size_t count = 0;
  for (size_t i = 0; i < p->quantity.count && count < sizeof name / sizeof *name; i++)
    if (p->summarised[i] && idm_posterior_series(p, i) == p->series_count)
      name[count++] = p->quantity.name[i];
  const idm_plot_settings settings = {.quantities = count, .quantity = name};
  return count ? add_plot(r, "posterior", &settings,
                          "Population: common parameters, and variation between its members.")
               : IDM_OK;
}

/* Returns true if a quantity is the first of the next number of an audit, which begins with its
 * groups. */
static bool begins_number(const idm_posterior *p, size_t quantity)
{
  const size_t s = idm_posterior_series(p, quantity);
  return idm_series_is_along(p, s, "group") && p->series[s].first == quantity &&
         idm_series_is_along(p, s + 1, "contrast");
}

/* Append groups, differences and population of each number, one figure per number, so that a figure
 * fits a page. */
static idm_status add_groups(report *r)
{
  const idm_posterior *p = r->subject->posterior;
  const char **name = idm_new(p->quantity.count, sizeof *name);
  idm_status status = name ? IDM_OK : idm_fail_memory(r->opt_error);
  size_t figures = 0;
  for (size_t i = 0, next; i < p->quantity.count && status == IDM_OK; i = next) {
    char id[40] = "forest";
    size_t count = 0;
    for (next = i; next < p->quantity.count && (next == i || !begins_number(p, next)); next++)
      if (p->summarised[next]) name[count++] = p->quantity.name[next];
    if (figures++) idm_print(id, sizeof id, "forest-%zu", figures);
    const idm_plot_settings settings = {.quantities = count, .quantity = name};
    if (count)
      status = add_plot_as(r, id, "forest", &settings,
                           "Groups and their differences (dashed line: no difference): means with "
                           "50 % and 90 % intervals.");
  }
  free(name);
  return status;
}

static idm_status add_optimality(report *r)
{
  const idm_posterior *p = r->subject->posterior;
  const bool many = p->series_count > 0, people = idm_posterior_axis(p, "person") < p->axes;
  idm_status status = IDM_OK;
  idm_page_section(&r->page, "found", "What was found");
  if (people)
    status = add_plot(r, "forest", NULL,
                      "All people: means with 90 % intervals, and 50 % (thick) if there is room.");
  else if (many)
    status = add_groups(r);
  if (many && status == IDM_OK) status = add_population(r);
  if (!many)
    status =
        add_plot(r, "posterior", NULL,
                 "Posterior of each number (blue), with its mean and mode, and its prior (grey).");
  if (!many && status == IDM_OK)
    status =
        add_plot(r, "joint", NULL,
                 "Two numbers jointly: values that the data do not distinguish lie along a ridge.");
  if (status != IDM_OK) return status;
  add_table(r, false);
  if (!people) return IDM_OK;
  idm_page_details(&r->page, "Parameters of every person");
  add_table(r, true);
  idm_page_details_end(&r->page);
  return IDM_OK;
}

/* --- behaviour ------------------------------------------------------------------------------ */

/* A figure and its caption. */
typedef struct report_figure {
  const char *kind;
  const idm_plot_settings *opt_settings;
  const char *caption;
} report_figure;

/* Append a section of figures; without any figure the section is omitted. */
static idm_status add_figures(report *r, const char *id, const char *heading,
                              const report_figure *figure, size_t count)
{
  const size_t body = r->page.body.length, contents = r->page.contents.length;
  const size_t figures = r->page.figures;
  idm_status status = IDM_OK;
  idm_page_section(&r->page, id, heading);
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    status = add_plot(r, figure[i].kind, figure[i].opt_settings, figure[i].caption);
  if (r->page.figures == figures) {
    r->page.body.length = body;
    r->page.contents.length = contents;
  }
  return status;
}

static idm_status add_behaviour(report *r)
{
  static const char *const agents[] = {"as fitted:", "rational: planner=rational"};
  const idm_plot_settings both = {.panels = 2, .panel = agents};
  const idm_setting *setting = r->subject->problem->setting;
  const bool three = setting->states.count == 3 && !setting->fully_observed;
  const bool drawn = r->subject->posterior->answer == IDM_POSTERIOR;
  const report_figure policy = {
      three ? "simplex" : "policy", &both,
      drawn ? "Policy of the agent at the posterior's centre, and of a rational agent in the same "
              "problem."
            : "Policy of the agent of the answer, and of a rational agent in the same problem."};
  /* Groups and people are not a single agent. */
  if (r->subject->posterior->series_count || idm_audit_is(r->subject->folder)) return IDM_OK;
  return add_figures(r, "behaviour", "How this agent decides", &policy, 1);
}

/* Of an answer from preferences: decisions are not evidence, and need not be predicted. */
static idm_status add_compared_checks(report *r)
{
  static const report_figure checks[] = {
      {"ppc", NULL,
       "Summaries of the log (points), and what the planner would do with the utilities found (95 "
       "% "
       "intervals). The answer is from preferences between trajectories: the log's decisions are "
       "not evidence, and may differ."}};
  return add_figures(r, "checks", "What would an agent with these utilities do?", checks, 1);
}

static idm_status add_checks(report *r)
{
  static const report_figure checks[] = {
      {"ppc", NULL,
       "Summaries of the log (points), and predictions of the fitted agents (95 % intervals)."},
      {"calibration", NULL, "Observed frequency of actions against their predicted probability."},
  };
  if (idm_words_compared(r->subject->posterior)) return add_compared_checks(r);
  return add_figures(r, "checks", "Does it describe the log?", checks,
                     r->subject->explained ? 2 : 1);
}

/* --- cases ---------------------------------------------------------------------------------- */

static void add_case(report *r, const idm_explanation *e, size_t row, size_t t)
{
  const idm_data *data = r->subject->data;
  const idm_setting *setting = r->subject->problem->setting;
  char id[24], step[24], surprise[32];
  const bool named = e->agents > 1;
  snprintf(id, sizeof id, "%zu", t + 1);
  snprintf(step, sizeof step, "%zu", row - data->first[t] + 1);
  const idm_interval found = idm_explanation_surprise(e, data, row);
  add_number(found.mean, surprise, sizeof surprise);
  const int32_t action = data->action[row];
  const char *const cell[] = {
      e->name.name[e->agent[t]], data->trajectory_name.count ? data->trajectory_name.name[t] : id,
      step, action == IDM_MISSING ? "-" : setting->actions.name[action], surprise};
  idm_page_row(&r->page, 4 + named, cell + !named);
}

static void add_cases(report *r)
{
  const idm_data *data = r->subject->data;
  const idm_explanation *e = r->subject->explained;
  if (!e || !e->surprising || idm_words_compared(r->subject->posterior)) return;
  const bool named = e->agents > 1;
  const bool people =
      idm_posterior_axis(r->subject->posterior, "person") < r->subject->posterior->axes;
  const char *const head[] = {people ? "person" : "agent", "trajectory", "step", "decision",
                              "surprise (nats)"};
  idm_page_section(&r->page, "cases", "The most surprising decisions");
  idm_page_table(&r->page, 4 + named, head + !named);
  for (size_t i = 0; i < e->surprising; i++) {
    size_t t = 0;
    while (data->first[t + 1] <= e->surprising_row[i]) t++;
    add_case(r, e, e->surprising_row[i], t);
  }
  idm_page_table_end(&r->page);
}

/* --- data ----------------------------------------------------------------------------------- */

static void add_counts(report *r, const char *name, idm_log_size count)
{
  char cell[3][24];
  snprintf(cell[0], sizeof cell[0], "%zu", count.rows);
  snprintf(cell[1], sizeof cell[1], "%zu", count.trajectories);
  snprintf(cell[2], sizeof cell[2], "%zu", count.agents);
  idm_page_row(&r->page, 4, (const char *const[]){name, cell[0], cell[1], cell[2]});
}

static void add_data(report *r)
{
  static const char *const head[] = {"", "rows", "trajectories", "agents"};
  const idm_data *data = r->subject->data;
  idm_page_section(&r->page, "data", "The data");
  if (!data) {
    idm_page_paragraph(
        &r->page, NULL,
        "The log was moved or changed after the run: cases and counts are left out.");
    return;
  }
  idm_page_table(&r->page, 4, head);
  if (data->log_counts) {
    add_counts(r, "read", data->log_counts->read);
    for (size_t i = 0; i < data->log_counts->reasons; i++)
      add_counts(r, data->log_counts->dropped[i].reason, data->log_counts->dropped[i].lost);
    add_counts(r, "kept", data->log_counts->kept);
  } else {
    add_counts(r, "kept", (idm_log_size){data->rows, data->trajectories, data->agent_name.count});
  }
  idm_page_table_end(&r->page);
}

/* --- identification -------------------------------------------------------------------------- */

static idm_status add_identification(report *r)
{
  const idm_notes *remarks = &r->subject->assessment->remarks;
  if (!remarks->count) return IDM_OK;
  idm_page_section(&r->page, "hangs", "What the data determine, and what the answer depends on");
  idm_page_list(&r->page, remarks);
  return add_plot(r, "profile", NULL,
                  "Profile log-likelihoods: bounds of each number by the data alone.");
}

/* --- methods and request -------------------------------------------------------------------- */

static idm_status add_methods(report *r)
{
  idm_page_section(&r->page, "methods", "Methods");
  const idm_status status = add_words(r, NULL, idm_methods_write);
  idm_notes works = {0};
  for (size_t i = 0; idm_methods_references[i]; i++)
    idm_notes_add(&works, "%s", idm_methods_references[i]);
  idm_page_list(&r->page, &works);
  idm_notes_clear(&works);
  return status;
}

static idm_status add_request(report *r)
{
  char *text = NULL;
  const idm_status status =
      idm_run_read_config(r->subject->folder, max_config_bytes, &text, r->opt_error);
  if (status != IDM_OK) return status;
  idm_page_section(&r->page, "again", "The complete request, and how to run it again");
  if (!r->subject->calibration)
    idm_markup_add(&r->page.body, "<pre tabindex=\"0\">idm %s config.yaml -o RUN</pre>\n",
                   idm_audit_is(r->subject->folder) ? "audit" : "fit");
  idm_markup_add(&r->page.body, "<pre tabindex=\"0\">");
  idm_markup_text(&r->page.body, text);
  idm_markup_add(&r->page.body, "</pre>\n");
  free(text);
  return IDM_OK;
}

/* --- studies -------------------------------------------------------------------------------- */

/* Count the intervals of all free quantities; the last quantity, the log-likelihood, is not free.
 */
static void count_covered(const idm_calibration *calibration, size_t *ret_covered,
                          size_t *ret_intervals)
{
  *ret_covered = *ret_intervals = 0;
  for (size_t i = 0; i < calibration->settings.replications; i++)
    for (size_t q = 0; calibration->done[i] && q + 1 < calibration->quantity.count; q++) {
      *ret_covered += idm_study_covers(calibration, i, q);
      ++*ret_intervals;
    }
}

/* Compose the report of `idm recover` or `idm sbc`: agents drawn from the prior, and the estimates
 * of each. */
static idm_status compose_study(report *r)
{
  static const report_figure figures[] = {
      {"recovery", NULL,
       "Estimates against true values, with 90 % intervals; on the line they are equal."},
      {"sbc", NULL,
       "Ranks of the truth among the draws: if the computation is correct they are uniform, within "
       "the band."},
  };
  char text[300];
  size_t covered, intervals;
  count_covered(r->subject->calibration, &covered, &intervals);
  idm_print(text, sizeof text,
            "%zu agents were drawn from the prior, simulated and fitted. Of the %zu intervals that "
            "should contain the truth with a probability of 90 %%, %zu do (%.0f %%).",
            idm_calibration_done(r->subject->calibration), intervals, covered,
            intervals ? 100 * (double)covered / (double)intervals : 0);
  idm_page_paragraph(&r->page, "answer", text);
  const idm_status status = add_figures(r, "found", "Are the parameters recovered?", figures,
                                        sizeof figures / sizeof *figures);
  return status == IDM_OK ? add_request(r) : status;
}

/* --- whole report ---------------------------------------------------------------------------- */

static idm_status compose(report *r)
{
  idm_status status = add_words(r, "soft", idm_text_question);
  if (status == IDM_OK) status = add_words(r, "answer", idm_text_result);
  if (status != IDM_OK) return status;
  add_verdict(r);
  status = add_optimality(r);
  if (status == IDM_OK) status = add_behaviour(r);
  if (status == IDM_OK) status = add_checks(r);
  if (status != IDM_OK) return status;
  add_cases(r);
  add_data(r);
  status = add_identification(r);
  if (status == IDM_OK) status = add_methods(r);
  return status == IDM_OK ? add_request(r) : status;
}

/* The problem with its parameters at the answer's centre; NULL if groups or people have parameters
 * of their own. */
static idm_status set_to_centre(const idm_plot_subject *of, idm_problem **ret_centre,
                                idm_error *opt_error)
{
  idm_parameters *parameters = NULL;
  *ret_centre = NULL;
  if (of->posterior->series_count || idm_audit_is(of->folder)) return IDM_OK;
  idm_status status = idm_problem_clone(of->problem, ret_centre, opt_error);
  if (status == IDM_OK) status = idm_parameters_create(of->problem, &parameters, opt_error);
  if (status == IDM_OK)
    status =
        idm_posterior_central_theta(of->posterior, parameters, (*ret_centre)->theta, opt_error);
  idm_parameters_destroy(parameters);
  return status;
}

/* Largest memory for the numbers of all decisions, in bytes. */
static const size_t max_explained = (size_t)1 << 28;

/* Explain every decision by draws of the answer: enough for means and for the quantiles of a table.
 * With very many decisions, or very many states, at the centre of the answer, or not at all. What
 * cannot be explained is omitted. */
static idm_status explain(const idm_plot_subject *of, idm_explanation **ret_explained,
                          idm_notes *notes, idm_error *opt_error)
{
  idm_explain_settings settings;
  idm_prefix_tree *tree = NULL;
  idm_notes ignored = {0};
  idm_error why;
  idm_explain_settings_default(&settings);
  settings.draws = 200;
  settings.by = idm_decisions_people(of);
  *ret_explained = NULL;
  if (of->calibration || !of->data) return IDM_OK;
  idm_status status = idm_evidence_tree(of->problem, of->data, &tree, &why);
  const size_t row = idm_explain_part_offset(of->data->sizes, IDM_EXPLAIN_PARTS) * sizeof(double);
  const size_t bytes = status == IDM_OK ? idm_times(tree->nodes, row) : 0;
  idm_prefix_tree_destroy(tree);
  const bool all = idm_times(bytes, settings.draws) <= max_explained;
  const bool one = !of->posterior->series_count && bytes <= max_explained;
  if (!all)
    idm_notes_add(notes, one ? "the log has very many histories: its report predicts decisions at "
                               "the centre of the answer alone"
                             : "the log has very many histories: its report predicts no decisions");
  if (status == IDM_OK && (all || one))
    status = idm_explain_log(of->problem, all ? of->posterior : NULL, of->data, &settings,
                             ret_explained, &ignored, &why);
  idm_notes_clear(&ignored);
  if (status == IDM_MEMORY && opt_error) *opt_error = why;
  return status == IDM_MEMORY ? status : IDM_OK;
}

idm_status idm_report_make(const idm_plot_subject *subject, char **ret_text, idm_notes *opt_notes,
                           idm_error *opt_error)
{
  idm_require(subject, ret_text);
  *ret_text = NULL;
  idm_require(subject->folder);
  if (!subject->calibration) idm_require(subject->problem, subject->posterior, subject->assessment);
  idm_notes ignored = {0};
  char title[300];
  report r = {.notes = opt_notes ? opt_notes : &ignored, .opt_error = opt_error};
  const char *name = subject->problem ? subject->problem->setting->name : "";
  if (subject->calibration)
    idm_print(title, sizeof title, "Can it be found again?");
  else
    idm_print(title, sizeof title, "%s: how decisions were made", name[0] ? name : "A problem");
  idm_plot_subject settled = *subject;
  idm_problem *centre = NULL;
  idm_status status = subject->calibration ? IDM_OK : set_to_centre(subject, &centre, opt_error);
  if (centre) settled.problem = centre;
  idm_explanation *explained = NULL;
  if (status == IDM_OK) status = explain(&settled, &explained, r.notes, opt_error);
  settled.explained = explained;
  r.subject = &settled;
  if (status == IDM_OK) status = subject->calibration ? compose_study(&r) : compose(&r);
  idm_explanation_destroy(explained);
  idm_clone_destroy(centre);
  idm_notes_clear(&ignored);
  if (status == IDM_OK) return idm_page_take(&r.page, title, ret_text, opt_error);
  free(r.page.body.text);
  free(r.page.contents.text);
  return status;
}

idm_status idm_report_write(const idm_plot_subject *subject, const char *path, idm_notes *opt_notes,
                            idm_error *opt_error)
{
  idm_require(subject, path);
  idm_file *file;
  idm_folder folder = {.descriptor = -1};
  char *text = NULL;
  idm_status status = idm_report_make(subject, &text, opt_notes, opt_error);
  if (status == IDM_OK) status = idm_folder_open(&folder, subject->folder, opt_error);
  if (status == IDM_OK) {
    const idm_location place = idm_folder_output(&folder, path);
    status = idm_file_create_at(&place, &file, opt_error);
  }
  if (status == IDM_OK) {
    idm_file_write(file, text, strlen(text));
    status = idm_file_commit(file, opt_error);
  }
  idm_folder_close(&folder);
  free(text);
  return status;
}
