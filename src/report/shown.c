/* Quantities of a run that a plot shows: see the header.
 *
 * Contents: choosing · supports · the truth · priors · ranges · figures */
#include "report/shown.h"

#include <math.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/suggest.h"
#include "idm/quantile.h"
#include "invert/parameters.h"
#include "report/titles.h"

/* --- choosing ------------------------------------------------------------------------------- */

static bool is_opaque(const idm_posterior *p, size_t quantity)
{
  return p->quantity_size && p->quantity_size[quantity] > 1;
}

static bool is_personal(const idm_posterior *p, size_t quantity)
{
  return idm_series_is_along(p, idm_posterior_series(p, quantity), "person");
}

static void add(const idm_posterior *p, size_t quantity, idm_shown *shown)
{
  const size_t all = p->chains * p->draws;
  idm_shown_one *one = &shown->one[shown->count++];
  *one = (idm_shown_one){.quantity = quantity,
                         .count = all,
                         .draw = p->value + quantity * all,
                         .support = {-INFINITY, INFINITY},
                         .truth = NAN};
  idm_title_quantity(p, quantity, one->name, sizeof one->name);
}

static bool is_there(const idm_shown *shown, size_t quantity)
{
  for (size_t i = 0; i < shown->count; i++)
    if (shown->one[i].quantity == quantity) return true;
  return false;
}

/* Whether somebody means this quantity: by its name, as it is spoken of, or by its series. */
static bool is_meant(const idm_posterior *p, size_t quantity, const char *name)
{
  char spoken[256], title[256];
  const size_t s = idm_posterior_series(p, quantity);
  return strcmp(p->quantity.name[quantity], name) == 0 ||
         strcmp(idm_quantity_spoken(p->quantity.name[quantity], spoken, sizeof spoken), name) ==
             0 ||
         strcmp(idm_title_quantity(p, quantity, title, sizeof title), name) == 0 ||
         (s < p->series_count && strcmp(p->series[s].name, name) == 0);
}

static idm_status add_named(const idm_posterior *p, const char *name, idm_shown *shown,
                            idm_error *opt_error)
{
  bool found = false;
  for (size_t i = 0; i < p->quantity.count; i++) {
    if (!is_meant(p, i, name)) continue;
    if (is_opaque(p, i))
      return idm_fail(opt_error, IDM_USAGE,
                      "'%s' is a block of %zu numbers without names: there is none to draw", name,
                      p->quantity_size[i]);
    found = true;
    if (!is_there(shown, i)) add(p, i, shown);
  }
  if (found) return IDM_OK;
  const char *near = idm_suggest(name, (const char *const *)p->quantity.name, p->quantity.count);
  if (!near && p->quantity.count) near = p->quantity.name[0];
  return idm_fail(opt_error, IDM_USAGE, "the run has no quantity '%s'; expected one such as '%s'",
                  name, near ? near : "");
}

static bool is_usual(const idm_posterior *p, size_t quantity, bool personal)
{
  return p->summarised[quantity] && !is_opaque(p, quantity) &&
         (personal || !is_personal(p, quantity));
}

static void add_usual(const idm_posterior *p, size_t most, bool everybody, idm_shown *shown,
                      idm_notes *opt_notes)
{
  size_t common = 0, there = 0;
  for (size_t i = 0; i < p->quantity.count; i++) common += is_usual(p, i, false);
  for (size_t i = 0; i < p->quantity.count; i++) {
    if (!is_usual(p, i, everybody || !common)) continue;
    there++;
    if (shown->count < most) add(p, i, shown);
  }
  if (there > shown->count)
    idm_notes_add(opt_notes, "%zu of %zu quantities are drawn; --quantity names others",
                  shown->count, there);
}

/* --- supports ------------------------------------------------------------------------------- */

static bool ends_in(const char *name, const char *ending)
{
  const size_t length = strlen(name), tail = strlen(ending);
  return length >= tail && strcmp(name + length - tail, ending) == 0;
}

/* Of populations and groups by what they are: sds are positive, correlations lie between -1 and 1,
 * shares of variance between 0 and 1.
 */
static idm_span span_of_population(const idm_posterior *p, size_t quantity)
{
  const size_t s = idm_posterior_series(p, quantity);
  const char *name = s < p->series_count ? p->series[s].name : p->quantity.name[quantity];
  if (ends_in(name, "_sd") || ends_in(name, "_spread") || ends_in(name, "_within"))
    return (idm_span){0, INFINITY};
  if (ends_in(name, "_r2")) return (idm_span){0, 1};
  return strcmp(name, "correlation") == 0 ? (idm_span){-1, 1} : (idm_span){-INFINITY, INFINITY};
}

/* Whether the run's quantities are those of the problem's free numbers. */
static bool are_of(const idm_posterior *p, const idm_parameters *parameters)
{
  const idm_labels *names = idm_parameters_quantities(parameters);
  if (p->series_count || names->count != p->quantity.count) return false;
  for (size_t i = 0; i < names->count; i++)
    if (strcmp(names->name[i], p->quantity.name[i]) != 0) return false;
  return true;
}

static void bound(const parameter *item, idm_shown *shown)
{
  for (size_t k = 0; k < shown->count; k++) {
    idm_shown_one *one = &shown->one[k];
    if (item->simplex && one->quantity >= item->quantity &&
        one->quantity < item->quantity + item->size)
      one->support = (idm_span){0, 1};
    if (!idm_parameter_is_scalar(item) || one->quantity != idm_parameter_reported(item)) continue;
    const double end[] = {idm_parameter_reported_at(item, -INFINITY),
                          idm_parameter_reported_at(item, INFINITY)};
    one->support = (idm_span){fmin(end[0], end[1]), fmax(end[0], end[1])};
    one->by_ratio = item->scale == IDM_SCALE_LOG;
  }
}

static idm_status open_parameters(const idm_plot_subject *subject, idm_parameters **ret_parameters,
                                  idm_error *opt_error)
{
  *ret_parameters = NULL;
  if (!subject->problem) return IDM_OK;
  const idm_status status = idm_parameters_create(subject->problem, ret_parameters, opt_error);
  if (status == IDM_INPUT) return IDM_OK; /* nothing of the problem is free: a run of dynamics */
  if (status == IDM_OK && !are_of(subject->posterior, *ret_parameters)) {
    idm_parameters_destroy(*ret_parameters);
    *ret_parameters = NULL;
  }
  return status;
}

static idm_status find_supports(const idm_plot_subject *subject, idm_shown *shown,
                                idm_error *opt_error)
{
  idm_parameters *parameters;
  const idm_status status = open_parameters(subject, &parameters, opt_error);
  if (status != IDM_OK) return status;
  for (size_t k = 0; k < shown->count && subject->posterior->series_count; k++)
    shown->one[k].support = span_of_population(subject->posterior, shown->one[k].quantity);
  for (size_t i = 0; parameters && i < parameters->items; i++) bound(&parameters->item[i], shown);
  idm_parameters_destroy(parameters);
  return IDM_OK;
}

/* --- the truth ------------------------------------------------------------------------------ */

/* "QUANTITY=VALUE", of what is shown; names may hold signs of their own, so that the last counts.
 */
static idm_status take_truth(const idm_posterior *p, const char *text, idm_shown *shown,
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
    if (is_meant(p, shown->one[k].quantity, name)) {
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

idm_status idm_shown_choose(const idm_plot_subject *subject, const idm_plot_settings *settings,
                            size_t most, bool everybody, idm_shown *ret_shown, idm_notes *opt_notes,
                            idm_error *opt_error)
{
  const idm_posterior *p = subject->posterior;
  idm_status status = IDM_OK;
  *ret_shown = (idm_shown){.one = idm_new(p->quantity.count, sizeof *ret_shown->one)};
  if (!ret_shown->one) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < settings->quantities && status == IDM_OK; i++)
    status = add_named(p, settings->quantity[i], ret_shown, opt_error);
  if (!settings->quantities) add_usual(p, most, everybody, ret_shown, opt_notes);
  if (status == IDM_OK && !ret_shown->count)
    status = idm_fail(opt_error, IDM_USAGE, "the run has no quantity that could be drawn");
  for (size_t i = 0; i < settings->truths && status == IDM_OK; i++)
    status = take_truth(p, settings->truth[i], ret_shown, opt_error);
  if (status == IDM_OK) status = find_supports(subject, ret_shown, opt_error);
  if (status != IDM_OK) idm_shown_clear(ret_shown);
  return status;
}

void idm_shown_clear(idm_shown *shown)
{
  free(shown->one);
  free(shown->prior);
  *shown = (idm_shown){0};
}

/* --- priors --------------------------------------------------------------------------------- */

enum { prior_draws = 20000 };

/* Of everything that is free, as the posterior keeps its own. */
static idm_status draw_priors(const idm_parameters *parameters, uint64_t seed, idm_shown *shown,
                              idm_error *opt_error)
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

idm_status idm_shown_draw_priors(const idm_plot_subject *subject, idm_shown *shown,
                                 idm_error *opt_error)
{
  const idm_posterior *p = subject->posterior;
  idm_parameters *parameters;
  for (size_t k = 0; k < shown->count && p->prior_draws; k++) {
    shown->one[k].prior = p->prior + shown->one[k].quantity * p->prior_draws;
    shown->one[k].priors = p->prior_draws;
  }
  /* Programs that find a point or a set have no prior. */
  if (p->prior_draws || (p->finding && p->answer != IDM_POSTERIOR)) return IDM_OK;
  idm_status status = open_parameters(subject, &parameters, opt_error);
  if (status == IDM_OK && parameters && idm_parameters_proper(parameters))
    status = draw_priors(parameters, p->seed, shown, opt_error);
  idm_parameters_destroy(parameters);
  return status;
}

/* --- ranges --------------------------------------------------------------------------------- */

idm_status idm_shown_range(const double *draw, size_t count, double bandwidth, idm_span support,
                           idm_span *ret_range, bool *ret_varies, idm_error *opt_error)
{
  static const double beyond = 3, tails = 3;
  double *kept = idm_new(count, sizeof *kept);
  size_t n = 0;
  *ret_range = (idm_span){NAN, NAN};
  *ret_varies = false;
  if (!kept) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count; i++)
    if (isfinite(draw[i])) kept[n++] = draw[i];
  if (n) {
    const double low = idm_quantile(kept, n, 0.05), high = idm_quantile(kept, n, 0.95);
    const double farthest = high > low ? tails * (high - low) : INFINITY;
    ret_range->low = fmax(kept[0] - beyond * bandwidth, fmax(low - farthest, support.low));
    ret_range->high = fmin(kept[n - 1] + beyond * bandwidth, fmin(high + farthest, support.high));
    *ret_varies = kept[0] < kept[n - 1];
  }
  free(kept);
  return IDM_OK;
}

/* --- figures -------------------------------------------------------------------------------- */

/* How many from `first` on are drawn together. */
static size_t together(const idm_shown_kind *kind, const idm_posterior *p, const idm_shown *shown,
                       size_t first)
{
  const size_t series = idm_posterior_series(p, shown->one[first].quantity);
  size_t count = 1;
  while (kind->series && series < p->series_count && first + count < shown->count &&
         idm_posterior_series(p, shown->one[first + count].quantity) == series)
    count++;
  return count;
}

idm_status idm_shown_make(const idm_shown_kind *kind, const idm_plot_subject *subject,
                          const idm_plot_settings *settings, idm_figure **ret_figure,
                          idm_notes *notes, idm_error *opt_error)
{
  idm_shown shown;
  idm_status status =
      idm_shown_choose(subject, settings, kind->most, kind->everybody, &shown, notes, opt_error);
  if (status != IDM_OK) return status;
  if (kind->priors) status = idm_shown_draw_priors(subject, &shown, opt_error);
  if (status == IDM_OK)
    status = idm_figure_create("", kind->description, kind->columns, ret_figure, opt_error);
  for (size_t i = 0, count; i < shown.count && status == IDM_OK; i += count) {
    count = together(kind, subject->posterior, &shown, i);
    status = kind->draw(subject, &shown.one[i], count, *ret_figure, notes, opt_error);
  }
  idm_shown_clear(&shown);
  return status;
}
