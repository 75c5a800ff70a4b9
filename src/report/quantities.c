/* Selects the quantities of a plot, and computes their densities and predictions.
 *
 * Contents: quantities · curve · replicated · decisions */
#include <math.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "idm/extension/parameters.h"
#include "invert/explain.h"
#include "invert/parameters.h"
#include "invert/posterior.h"
#include "invert/predict.h"
#include "io/run.h"
#include "plan/plan.h"
#include "report/panels.h"

/* === quantities ============================================================================= */

/* Quantities of a run in a plot.
 *
 * Contents: selection · supports · the truth · priors · ranges · figures */

/* --- selection ------------------------------------------------------------------------------- */

static bool is_opaque(const idm_posterior *p, size_t quantity)
{
  return p->quantity_size && p->quantity_size[quantity] > 1;
}

static bool is_personal(const idm_posterior *p, size_t quantity)
{
  return idm_series_is_along(p, idm_posterior_series(p, quantity), "person");
}

static void add(const idm_posterior *p, size_t quantity, idm_plot_quantities *shown)
{
  const size_t all = p->chains * p->draws;
  idm_plot_quantity *one = &shown->one[shown->count++];
  *one = (idm_plot_quantity){.quantity = quantity,
                             .count = all,
                             .draw = p->value + quantity * all,
                             .support = {-INFINITY, INFINITY},
                             .truth = NAN};
  idm_title_quantity(p, quantity, one->name, sizeof one->name);
}

static bool is_selected(const idm_plot_quantities *shown, size_t quantity)
{
  for (size_t i = 0; i < shown->count; i++)
    if (shown->one[i].quantity == quantity) return true;
  return false;
}

/* Returns true if `name` selects this quantity: by its name, by its displayed name, or by the name
 * of its series. */
static bool is_named_by(const idm_posterior *p, size_t quantity, const char *name)
{
  char display_name[256], title[256];
  const size_t s = idm_posterior_series(p, quantity);
  return strcmp(p->quantity.name[quantity], name) == 0 ||
         strcmp(idm_quantity_label(p->quantity.name[quantity], display_name, sizeof display_name),
                name) == 0 ||
         strcmp(idm_title_quantity(p, quantity, title, sizeof title), name) == 0 ||
         (s < p->series_count && strcmp(p->series[s].name, name) == 0);
}

static idm_status add_named(const idm_posterior *p, const char *name, idm_plot_quantities *shown,
                            idm_error *opt_error)
{
  bool found = false;
  for (size_t i = 0; i < p->quantity.count; i++) {
    if (!is_named_by(p, i, name)) continue;
    if (is_opaque(p, i))
      return idm_fail(opt_error, IDM_USAGE,
                      "'%s' is a block of %zu numbers without names: there is none to draw", name,
                      p->quantity_size[i]);
    found = true;
    if (!is_selected(shown, i)) add(p, i, shown);
  }
  if (found) return IDM_OK;
  const char *nearest = idm_suggest(name, (const char *const *)p->quantity.name, p->quantity.count);
  if (!nearest && p->quantity.count) nearest = p->quantity.name[0];
  return idm_fail(opt_error, IDM_USAGE, "the run has no quantity '%s'; expected one such as '%s'",
                  name, nearest ? nearest : "");
}

static bool is_default(const idm_posterior *p, size_t quantity, bool personal)
{
  return p->summarised[quantity] && !is_opaque(p, quantity) &&
         (personal || !is_personal(p, quantity));
}

static void add_default(const idm_posterior *p, size_t most, bool people,
                        idm_plot_quantities *shown, idm_notes *opt_notes)
{
  size_t is_population = 0, there = 0;
  for (size_t i = 0; i < p->quantity.count; i++) is_population += is_default(p, i, false);
  for (size_t i = 0; i < p->quantity.count; i++) {
    if (!is_default(p, i, people || !is_population)) continue;
    there++;
    if (shown->count < most) add(p, i, shown);
  }
  if (there > shown->count)
    idm_notes_add(opt_notes, "%zu of %zu quantities are drawn; select others with --quantity",
                  shown->count, there);
}

/* --- supports ------------------------------------------------------------------------------- */

static bool ends_in(const char *name, const char *ending)
{
  const size_t length = strlen(name), tail = strlen(ending);
  return length >= tail && strcmp(name + length - tail, ending) == 0;
}

/* Support of a quantity of a population or of groups, by its kind: sds are positive, correlations
 * are between -1 and 1, shares of variance between 0 and 1. */
static idm_density_support span_of_population(const idm_posterior *p, size_t quantity)
{
  const size_t s = idm_posterior_series(p, quantity);
  const char *name = s < p->series_count ? p->series[s].name : p->quantity.name[quantity];
  if (ends_in(name, "_sd") || ends_in(name, "_spread") || ends_in(name, "_within"))
    return (idm_density_support){0, INFINITY};
  if (ends_in(name, "_r2")) return (idm_density_support){0, 1};
  return strcmp(name, "correlation") == 0 ? (idm_density_support){-1, 1}
                                          : (idm_density_support){-INFINITY, INFINITY};
}

/* Returns true if the run's quantities are those of the problem's free numbers. */
static bool are_of(const idm_posterior *p, const idm_parameters *parameters)
{
  const idm_labels *names = idm_parameters_quantities(parameters);
  if (p->series_count || names->count != p->quantity.count) return false;
  for (size_t i = 0; i < names->count; i++)
    if (strcmp(names->name[i], p->quantity.name[i]) != 0) return false;
  return true;
}

static void set_support(const parameter *item, idm_plot_quantities *shown)
{
  for (size_t k = 0; k < shown->count; k++) {
    idm_plot_quantity *one = &shown->one[k];
    if (item->simplex && one->quantity >= item->quantity &&
        one->quantity < item->quantity + item->size)
      one->support = (idm_density_support){0, 1};
    if (!idm_parameter_is_scalar(item) || one->quantity != idm_parameter_reported(item)) continue;
    const double end[] = {idm_parameter_reported_at(item, -INFINITY),
                          idm_parameter_reported_at(item, INFINITY)};
    one->support = (idm_density_support){fmin(end[0], end[1]), fmax(end[0], end[1])};
    one->by_ratio = item->scale == IDM_SCALE_LOG;
  }
}

static idm_status open_parameters(const idm_plot_subject *subject, idm_parameters **ret_parameters,
                                  idm_error *opt_error)
{
  *ret_parameters = NULL;
  if (!subject->problem) return IDM_OK;
  const idm_status status = idm_parameters_create(subject->problem, ret_parameters, opt_error);
  if (status == IDM_INPUT) return IDM_OK; /* no number of the problem is free: a run of dynamics */
  if (status == IDM_OK && !are_of(subject->posterior, *ret_parameters)) {
    idm_parameters_destroy(*ret_parameters);
    *ret_parameters = NULL;
  }
  return status;
}

static idm_status find_supports(const idm_plot_subject *subject, idm_plot_quantities *shown,
                                idm_error *opt_error)
{
  idm_parameters *parameters;
  const idm_status status = open_parameters(subject, &parameters, opt_error);
  if (status != IDM_OK) return status;
  for (size_t k = 0; k < shown->count && subject->posterior->series_count; k++)
    shown->one[k].support = span_of_population(subject->posterior, shown->one[k].quantity);
  for (size_t i = 0; parameters && i < parameters->items; i++)
    set_support(&parameters->item[i], shown);
  idm_parameters_destroy(parameters);
  return IDM_OK;
}

/* --- the truth ------------------------------------------------------------------------------ */

/* Read "QUANTITY=VALUE" for a quantity that is drawn. Names may contain '=', so the last one
 * separates. */
static idm_status take_truth(const idm_posterior *p, const char *text, idm_plot_quantities *shown,
                             idm_error *opt_error)
{
  const char *sign = strrchr(text, '=');
  char *end = NULL;
  bool found = false;
  const double value = sign ? idm_number_read(sign + 1, &end) : NAN;
  if (!sign || end == sign + 1 || *end || !isfinite(value))
    return idm_fail(opt_error, IDM_USAGE, "the truth is '%s'; expected QUANTITY=NUMBER", text);
  char *name = idm_text_copy(text, (size_t)(sign - text));
  if (!name) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < shown->count; k++)
    if (is_named_by(p, shown->one[k].quantity, name)) {
      shown->one[k].truth = value;
      found = true;
    }
  const idm_status status =
      found ? IDM_OK
            : idm_fail(opt_error, IDM_USAGE,
                       "no quantity '%s' is drawn, whose truth is given; expected one such as '%s'",
                       name, p->quantity.name[shown->one[0].quantity]);
  free(name);
  return status;
}

idm_status idm_plot_quantities_select(const idm_plot_subject *subject,
                                      const idm_plot_settings *settings, size_t most, bool people,
                                      idm_plot_quantities *ret_quantities, idm_notes *opt_notes,
                                      idm_error *opt_error)
{
  const idm_posterior *p = subject->posterior;
  idm_status status = IDM_OK;
  *ret_quantities =
      (idm_plot_quantities){.one = idm_new(p->quantity.count, sizeof *ret_quantities->one)};
  if (!ret_quantities->one) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < settings->quantities && status == IDM_OK; i++)
    status = add_named(p, settings->quantity[i], ret_quantities, opt_error);
  if (!settings->quantities) add_default(p, most, people, ret_quantities, opt_notes);
  if (status == IDM_OK && !ret_quantities->count)
    status = idm_fail(opt_error, IDM_USAGE, "the run has no quantity that could be drawn");
  for (size_t i = 0; i < settings->truths && status == IDM_OK; i++)
    status = take_truth(p, settings->truth[i], ret_quantities, opt_error);
  if (status == IDM_OK) status = find_supports(subject, ret_quantities, opt_error);
  if (status != IDM_OK) idm_plot_quantities_clear(ret_quantities);
  return status;
}

void idm_plot_quantities_clear(idm_plot_quantities *shown)
{
  free(shown->one);
  free(shown->prior);
  *shown = (idm_plot_quantities){0};
}

/* --- priors --------------------------------------------------------------------------------- */

enum { prior_draws = 20000 };

/* Draw all free numbers from their priors, in the layout of the posterior's own prior draws. */
static idm_status draw_priors(const idm_parameters *parameters, uint64_t seed,
                              idm_plot_quantities *shown, idm_error *opt_error)
{
  static const uint64_t stream = (uint64_t)5 << 32;
  const size_t d = parameters->dimension, numbers = parameters->numbers;
  idm_random random;
  double *y = idm_new(d + numbers, sizeof *y);
  shown->prior = idm_new(idm_times(shown->count, prior_draws), sizeof *shown->prior);
  if (!y || !shown->prior) {
    free(y);
    return idm_fail_memory(opt_error);
  }
  idm_random_init(&random, seed, stream);
  for (size_t i = 0; i < prior_draws; i++) {
    idm_parameters_draw(parameters, &random, y);
    idm_parameters_report(parameters, y, y + d);
    for (size_t k = 0; k < shown->count; k++)
      shown->prior[k * prior_draws + i] = y[d + shown->one[k].quantity];
  }
  for (size_t k = 0; k < shown->count; k++) {
    shown->one[k].prior = shown->prior + k * prior_draws;
    shown->one[k].priors = prior_draws;
  }
  free(y);
  return IDM_OK;
}

idm_status idm_plot_quantities_priors(const idm_plot_subject *subject, idm_plot_quantities *shown,
                                      idm_error *opt_error)
{
  const idm_posterior *p = subject->posterior;
  idm_parameters *parameters;
  for (size_t k = 0; k < shown->count && p->prior_draws; k++) {
    shown->one[k].prior = p->prior + shown->one[k].quantity * p->prior_draws;
    shown->one[k].priors = p->prior_draws;
  }
  /* Programs that compute a point or a set have no prior. */
  if (p->prior_draws || (p->optimality && p->answer != IDM_POSTERIOR)) return IDM_OK;
  idm_status status = open_parameters(subject, &parameters, opt_error);
  if (status == IDM_OK && parameters && idm_parameters_proper(parameters))
    status = draw_priors(parameters, p->seed, shown, opt_error);
  idm_parameters_destroy(parameters);
  return status;
}

/* --- ranges --------------------------------------------------------------------------------- */

idm_status idm_plot_range(const double *draw, size_t count, double bandwidth,
                          idm_density_support support, idm_density_support *ret_range,
                          bool *ret_varies, idm_error *opt_error)
{
  static const double beyond = 3, tails = 3;
  double *kept = idm_new(count, sizeof *kept);
  size_t n = 0;
  *ret_range = (idm_density_support){NAN, NAN};
  *ret_varies = false;
  if (!kept) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count; i++)
    if (isfinite(draw[i])) kept[n++] = draw[i];
  if (n) {
    const double low = idm_quantile(kept, n, 0.05), high = idm_quantile(kept, n, 0.95);
    const double limit = high > low ? tails * (high - low) : INFINITY;
    ret_range->low = fmax(kept[0] - beyond * bandwidth, fmax(low - limit, support.low));
    ret_range->high = fmin(kept[n - 1] + beyond * bandwidth, fmin(high + limit, support.high));
    *ret_varies = kept[0] < kept[n - 1];
  }
  free(kept);
  return IDM_OK;
}

/* --- figures -------------------------------------------------------------------------------- */

/* Number of quantities from `first` on that are drawn together. */
static size_t joined_count(const idm_quantity_plot *kind, const idm_posterior *p,
                           const idm_plot_quantities *shown, size_t first)
{
  const size_t series = idm_posterior_series(p, shown->one[first].quantity);
  size_t count = 1;
  while (kind->series && series < p->series_count && first + count < shown->count &&
         idm_posterior_series(p, shown->one[first + count].quantity) == series)
    count++;
  return count;
}

idm_status idm_quantity_plot_make(const idm_quantity_plot *kind, const idm_plot_subject *subject,
                                  const idm_plot_settings *settings, idm_figure **ret_figure,
                                  idm_notes *notes, idm_error *opt_error)
{
  idm_plot_quantities shown;
  idm_status status = idm_plot_quantities_select(subject, settings, kind->most, kind->people,
                                                 &shown, notes, opt_error);
  if (status != IDM_OK) return status;
  if (kind->priors) status = idm_plot_quantities_priors(subject, &shown, opt_error);
  if (status == IDM_OK)
    status = idm_figure_create("", kind->description, kind->columns, ret_figure, opt_error);
  for (size_t i = 0, count; i < shown.count && status == IDM_OK; i += count) {
    count = joined_count(kind, subject->posterior, &shown, i);
    status = kind->draw(subject, &shown.one[i], count, *ret_figure, notes, opt_error);
  }
  idm_plot_quantities_clear(&shown);
  return status;
}

/* === curve ================================================================================== */

/* Density of a quantity along its axis. */

/* Draws that span less than this ratio are drawn on a linear axis. */
static const double tail_factor = 30;

double idm_curve_natural(const idm_curve *curve, double along)
{
  return curve->logarithmic ? exp(along) : along;
}

static double to_axis(bool logarithmic, double x)
{
  return !logarithmic ? x : x > 0 ? log(x) : NAN;
}

static bool spans_powers(const idm_plot_quantity *one)
{
  double low = INFINITY, high = 0;
  for (size_t i = 0; i < one->count; i++) {
    if (!isfinite(one->draw[i])) continue;
    low = fmin(low, one->draw[i]);
    high = fmax(high, one->draw[i]);
  }
  return one->by_ratio && low > 0 && high > tail_factor * low;
}

static double mean_of(const double *draw, size_t count)
{
  double sum = 0, n = 0;
  for (size_t i = 0; i < count; i++)
    if (isfinite(draw[i])) sum += draw[i], n++;
  return n > 0 ? sum / n : NAN;
}

/* Set the grid, and the density on it. */
static void fill(idm_curve *c)
{
  const double step = (c->range.high - c->range.low) / (double)(c->points - 1);
  size_t best = 0;
  for (size_t i = 0; i < c->points; i++) {
    c->along[i] = i + 1 < c->points ? c->range.low + (double)i * step : c->range.high;
    c->at[i] = idm_curve_natural(c, c->along[i]);
  }
  idm_density_at(c->draw, c->count, c->bandwidth, c->support, c->along, c->points, c->height);
  for (size_t i = 1; i < c->points; i++)
    if (c->height[i] > c->height[best]) best = i;
  c->mode = c->at[best];
}

idm_status idm_curve_create(const idm_plot_quantity *one, size_t points, int dimension,
                            idm_curve *ret_curve, idm_error *opt_error)
{
  idm_curve *c = ret_curve;
  *c = (idm_curve){.logarithmic = spans_powers(one), .count = one->count, .points = points};
  c->draw = idm_new(one->count, sizeof *c->draw);
  c->along = idm_new(3 * points, sizeof *c->along);
  if (!c->draw || !c->along) {
    idm_curve_clear(c);
    return idm_fail_memory(opt_error);
  }
  c->at = c->along + points;
  c->height = c->at + points;
  c->mean = c->mode = mean_of(one->draw, one->count);
  for (size_t i = 0; i < one->count; i++) c->draw[i] = to_axis(c->logarithmic, one->draw[i]);
  c->support = one->support;
  if (c->logarithmic)
    c->support = (idm_density_support){one->support.low > 0 ? log(one->support.low) : -INFINITY,
                                       log(one->support.high)};
  idm_status status = idm_density_bandwidth(c->draw, c->count, dimension, &c->bandwidth, opt_error);
  if (status == IDM_OK)
    status = idm_plot_range(c->draw, c->count, c->bandwidth, c->support, &c->range, &c->varies,
                            opt_error);
  c->varies = c->varies && c->bandwidth > 0 && c->range.low < c->range.high;
  if (status == IDM_OK && c->varies)
    fill(c);
  else
    c->points = 0;
  if (status != IDM_OK) idm_curve_clear(c);
  return status;
}

idm_status idm_curve_compare(const idm_curve *curve, const double *draw, size_t count,
                             double *height, idm_error *opt_error)
{
  double bandwidth;
  double *along = idm_new(count, sizeof *along);
  if (!along) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count; i++) along[i] = to_axis(curve->logarithmic, draw[i]);
  const idm_status status = idm_density_bandwidth(along, count, 1, &bandwidth, opt_error);
  for (size_t i = 0; i < curve->points; i++) height[i] = 0;
  if (status == IDM_OK && bandwidth > 0)
    idm_density_at(along, count, bandwidth, curve->support, curve->along, curve->points, height);
  free(along);
  return status;
}

void idm_curve_clear(idm_curve *curve)
{
  free(curve->draw);
  free(curve->along);
  *curve = (idm_curve){0};
}

/* === replicated ============================================================================= */

/* Quantities of a study in a plot. */

enum { max_panels = 12 };

static idm_status replicated_add_named(const idm_labels *names, const char *name,
                                       idm_study_quantities *shown, idm_error *opt_error)
{
  char display_name[256];
  for (size_t i = 0; i < names->count; i++) {
    if (strcmp(names->name[i], name) != 0 &&
        strcmp(idm_quantity_label(names->name[i], display_name, sizeof display_name), name) != 0)
      continue;
    shown->quantity[shown->count++] = i;
    return IDM_OK;
  }
  const char *nearest = idm_suggest(name, (const char *const *)names->name, names->count);
  return idm_fail(opt_error, IDM_USAGE, "the study has no quantity '%s'; expected one such as '%s'",
                  name, nearest ? nearest : names->name[0]);
}

idm_status idm_study_quantities_select(const idm_calibration *calibration,
                                       const idm_plot_settings *settings, bool likelihood,
                                       idm_study_quantities *ret_quantities, idm_notes *notes,
                                       idm_error *opt_error)
{
  const idm_labels *names = &calibration->quantity;
  const size_t all = names->count && !likelihood ? names->count - 1 : names->count;
  const size_t room = settings->quantities > names->count ? settings->quantities : names->count;
  idm_status status = IDM_OK;
  *ret_quantities =
      (idm_study_quantities){.quantity = idm_new(room, sizeof *ret_quantities->quantity)};
  if (!ret_quantities->quantity) return idm_fail_memory(opt_error);
  if (!idm_calibration_done(calibration) || !all)
    status = idm_fail(opt_error, IDM_INPUT, "no replication of the study is done yet");
  for (size_t i = 0; i < settings->quantities && status == IDM_OK; i++)
    status = replicated_add_named(names, settings->quantity[i], ret_quantities, opt_error);
  for (size_t i = 0; i < all && i < max_panels && !settings->quantities; i++)
    ret_quantities->quantity[ret_quantities->count++] = i;
  if (status == IDM_OK && !settings->quantities && all > max_panels)
    idm_notes_add(notes, "%d of %zu quantities are drawn; select others with --quantity",
                  max_panels, all);
  if (status != IDM_OK) idm_study_quantities_clear(ret_quantities);
  return status;
}

void idm_study_quantities_clear(idm_study_quantities *shown)
{
  free(shown->quantity);
  *shown = (idm_study_quantities){0};
}

static idm_status add_panel(const idm_study_plot *kind, const idm_calibration *calibration,
                            size_t quantity, bool alone, idm_figure *figure, idm_error *opt_error)
{
  char name[256];
  idm_panel *panel;
  idm_quantity_label(calibration->quantity.name[quantity], name, sizeof name);
  const idm_status status = idm_figure_add(figure, name, kind->x, kind->y, &panel, opt_error);
  return status == IDM_OK ? kind->draw(calibration, quantity, alone, panel, opt_error) : status;
}

idm_status idm_study_plot_make(const idm_study_plot *kind, const idm_plot_subject *subject,
                               const idm_plot_settings *settings, idm_figure **ret_figure,
                               idm_notes *notes, idm_error *opt_error)
{
  const idm_calibration *calibration = subject->calibration;
  idm_study_quantities shown;
  idm_status status = idm_study_quantities_select(calibration, settings, kind->likelihood, &shown,
                                                  notes, opt_error);
  if (status != IDM_OK) return status;
  status = idm_figure_create("", kind->description, 3, ret_figure, opt_error);
  for (size_t i = 0; i < shown.count && status == IDM_OK; i++)
    status =
        add_panel(kind, calibration, shown.quantity[i], shown.count == 1, *ret_figure, opt_error);
  idm_study_quantities_clear(&shown);
  return status;
}

bool idm_study_covers(const idm_calibration *calibration, size_t replication, size_t quantity)
{
  const idm_recovery *r =
      &calibration->recovery[replication * calibration->quantity.count + quantity];
  return r->low <= r->truth && r->truth <= r->high;
}

/* === decisions ============================================================================== */

/* Decisions of a log and their predicted probabilities. */

void idm_decisions_close(idm_decisions *decisions)
{
  free(decisions->taken);
  free(decisions->probability);
  free(decisions->open);
  *decisions = (idm_decisions){0};
}

const char *idm_decisions_people(const idm_plot_subject *subject)
{
  const idm_request *request = subject->request;
  const char *by = !request ? "" : request->by[0] ? request->by : request->each;
  return by[0] ? by : NULL;
}

/* --- predictions ---------------------------------------------------------------------------- */

static idm_status predict_by_point(const idm_problem *problem, const idm_data *data,
                                   idm_trials **ret_trials, idm_notes *notes, idm_error *opt_error)
{
  idm_workspace *workspace = NULL;
  idm_theta *theta = NULL;
  idm_status status = idm_theta_copy(problem->theta, &theta, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, theta, &problem->agent, &workspace, opt_error);
  if (status == IDM_OK)
    status = idm_plan_capacity(theta, &problem->agent, NULL, workspace, NULL, notes, opt_error);
  if (status == IDM_OK) status = idm_trials_create(workspace, data, ret_trials, opt_error);
  idm_workspace_destroy(workspace);
  idm_theta_destroy(theta);
  return status;
}

/* An explanation uses every person's own draws; only its trials are returned. */
static idm_status predict_people(const idm_plot_subject *subject, idm_trials **ret_trials,
                                 idm_error *opt_error)
{
  idm_explanation *e = NULL;
  idm_explain_settings settings;
  idm_explain_settings_default(&settings);
  settings.by = idm_decisions_people(subject);
  const idm_status status = idm_explain_log(subject->problem, subject->posterior, subject->data,
                                            &settings, &e, NULL, opt_error);
  if (status != IDM_OK) return status;
  *ret_trials = e->trials;
  e->trials = NULL;
  idm_explanation_destroy(e);
  return IDM_OK;
}

static idm_status predict(const idm_plot_subject *subject, idm_trials **ret_trials,
                          idm_notes *notes, idm_error *opt_error)
{
  const idm_posterior *posterior = subject->posterior;
  if (!posterior)
    return predict_by_point(subject->problem, subject->data, ret_trials, notes, opt_error);
  if (idm_posterior_axis(posterior, "person") < posterior->axes)
    return predict_people(subject, ret_trials, opt_error);
  return idm_posterior_trials(subject->problem, posterior, subject->data, ret_trials, opt_error);
}

/* --- decisions ------------------------------------------------------------------------------ */

static bool is_decision(const idm_data *data, size_t row)
{
  return data->action[row] != IDM_MISSING &&
         idm_data_available_count(data, data->available[row]) > 1;
}

static idm_status make_room(const idm_data *data, idm_decisions *d, idm_error *opt_error)
{
  d->actions = data->sizes.actions;
  for (size_t row = 0; row < data->rows; row++) d->count += is_decision(data, row);
  if (!d->count)
    return idm_fail(
        opt_error, IDM_INPUT,
        "the log has no decision: no row has a recorded action and more than one available action");
  d->taken = idm_new(d->count, sizeof *d->taken);
  d->probability = idm_new(idm_times(d->count, d->actions), sizeof *d->probability);
  d->open = idm_new(idm_times(d->count, d->actions), sizeof *d->open);
  return d->taken && d->probability && d->open ? IDM_OK : idm_fail_memory(opt_error);
}

static void decisions_fill(const idm_data *data, const idm_trials *trials, idm_decisions *d)
{
  const size_t n = d->actions;
  size_t at = 0;
  for (size_t row = 0; row < data->rows; row++) {
    if (!is_decision(data, row)) continue;
    const double *numbers = trials->mean + trials->node[row] * trials->width;
    d->taken[at] = (size_t)data->action[row];
    memcpy(d->probability + at * n, numbers + trials->sizes.states, n * sizeof *numbers);
    memcpy(d->open + at * n, data->available_set + data->available[row] * n, n * sizeof *d->open);
    at++;
  }
}

/* Add a remark on decisions without a prediction, such as those of a person who is not in the run.
 */
static void note_unknown(const idm_decisions *d, idm_notes *notes)
{
  size_t unknown = 0;
  for (size_t i = 0; i < d->count; i++)
    unknown += 0 != isnan(d->probability[i * d->actions + d->taken[i]]);
  if (unknown)
    idm_notes_add(notes, "%zu of %zu decisions are not predicted, and left out", unknown, d->count);
}

idm_status idm_decisions_open(const idm_plot_subject *subject, idm_decisions *decisions,
                              idm_notes *notes, idm_error *opt_error)
{
  idm_trials *own = NULL;
  const idm_trials *trials = subject->explained ? subject->explained->trials : NULL;
  *decisions = (idm_decisions){0};
  idm_status status = make_room(subject->data, decisions, opt_error);
  if (status == IDM_OK && !trials) status = predict(subject, &own, notes, opt_error);
  if (status == IDM_OK) decisions_fill(subject->data, trials ? trials : own, decisions);
  if (status == IDM_OK) note_unknown(decisions, notes);
  if (status == IDM_OK && subject->fitted)
    idm_notes_add(notes, "the run was fitted to these decisions: predictions of other decisions "
                         "may be less accurate");
  idm_trials_destroy(own);
  if (status != IDM_OK) idm_decisions_close(decisions);
  return status;
}
