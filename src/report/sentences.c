/* Writes the sentences and titles of a report.
 *
 * Contents: titles · sentences · methods */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "idm/extension/inverse.h"
#include "idm/extension/planner.h"
#include "infer/chains.h"
#include "invert/parameters.h"
#include "invert/posterior.h"
#include "io/run.h"
#include "plan/plan.h"
#include "report/panels.h"
#include "setting/model.h"

/* === titles ================================================================================= */

/* Displayed names of quantities. */

/* Suffixes of names of populations and groups in files, and their displayed forms. */
static const struct {
  const char *suffix;
  const char *before;
  const char *behind;
  const char *alone; /* before an item of a series and its label */
} suffixes[] = {{"_mean", "mean of ", "", ""},
                {"_sd", "sd of ", "", ""},
                {"_within", "sd of ", " within groups", "sd of "},
                {"_spread", "spread of ", "", ""},
                {"_r2", "variance explained of ", "", ""},
                {"_contrast", "differences in ", "", ""},
                {"_coefficient", "coefficients of ", "", ""}};
enum { SUFFIX_COUNT = sizeof suffixes / sizeof *suffixes };

/* Index of the suffix of a name, or SUFFIX_COUNT; the displayed name of the text before it is
 * written to base. */
static size_t split_suffix(const char *name, char *base, size_t size)
{
  char part[256];
  const size_t length = strlen(name);
  for (size_t i = 0; i < SUFFIX_COUNT; i++) {
    const size_t tail = strlen(suffixes[i].suffix);
    if (length <= tail || strcmp(name + length - tail, suffixes[i].suffix) != 0) continue;
    idm_print(part, sizeof part, "%.*s", (int)(length - tail), name);
    idm_quantity_label(part, base, size);
    return i;
  }
  idm_quantity_label(name, base, size);
  return SUFFIX_COUNT;
}

bool idm_series_is_along(const idm_posterior *p, size_t series, const char *axis)
{
  return series < p->series_count && strcmp(p->axis[p->series[series].axis].name, axis) == 0;
}

static const char *readable_name(const char *name, char *buffer, size_t size)
{
  char base[256];
  const size_t suffix = split_suffix(name, base, sizeof base);
  idm_print(buffer, size, "%s%s%s", suffix < SUFFIX_COUNT ? suffixes[suffix].before : "", base,
            suffix < SUFFIX_COUNT ? suffixes[suffix].behind : "");
  return buffer;
}

const char *idm_title_series(const idm_posterior *p, size_t series, char *buffer, size_t size)
{
  return readable_name(p->series[series].name, buffer, size);
}

const char *idm_title_item(const idm_posterior *p, size_t series, size_t item, char *buffer,
                           size_t size)
{
  const char *label = p->axis[p->series[series].axis].label.name[item];
  const char *comma = strchr(label, ',');
  char first[256], part[2][256];
  if (!idm_series_is_along(p, series, "pair") || !comma || strchr(comma + 1, ',')) {
    idm_print(buffer, size, "%s", label);
    return buffer;
  }
  idm_print(first, sizeof first, "%.*s", (int)(comma - label), label);
  idm_print(buffer, size, "%s and %s", idm_quantity_label(first, part[0], sizeof part[0]),
            idm_quantity_label(comma + 1, part[1], sizeof part[1]));
  return buffer;
}

const char *idm_title_quantity(const idm_posterior *p, size_t quantity, char *buffer, size_t size)
{
  const size_t series = idm_posterior_series(p, quantity);
  char base[256], label[256];
  if (!p->series_count) return idm_quantity_label(p->quantity.name[quantity], buffer, size);
  if (series == p->series_count) return readable_name(p->quantity.name[quantity], buffer, size);
  const size_t suffix = split_suffix(p->series[series].name, base, sizeof base);
  idm_title_item(p, series, quantity - p->series[series].first, label, sizeof label);
  const bool pair = idm_series_is_along(p, series, "pair");
  idm_print(buffer, size, "%s%s%s%s", suffix < SUFFIX_COUNT ? suffixes[suffix].alone : "", base,
            pair ? " of " : ", ", label);
  return buffer;
}

/* === sentences ============================================================================== */

/* Sentences of a report. */

/* Largest number of quantities in a sentence; the others are in the table. */
enum { max_named = 4 };

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

/* "12,345 decisions", "1 decision". */
static void idm_text_count(idm_markup *to, size_t count, const char *noun, const char *nouns)
{
  add_count(to, count);
  idm_markup_add(to, " %s", count == 1 ? noun : nouns);
}

/* Separator between item i of `count` and the one before. */
static const char *joint(size_t i, size_t count)
{
  return i == 0 ? "" : i + 1 < count ? ", " : " and ";
}

/* Number of decisions of a log: rows with a recorded action and more than one available action, as
 * in summary.json. */
static size_t count_text_decisions(const idm_data *data)
{
  size_t decisions = 0;
  for (size_t r = 0; r < data->rows; r++)
    decisions +=
        data->action[r] != IDM_MISSING && idm_data_available_count(data, data->available[r]) > 1;
  return decisions;
}

static const char *name_of(const idm_problem *problem)
{
  return problem->setting->name[0] ? problem->setting->name : "the problem";
}

/* Returns true for a summarised quantity outside series: one of the population, or any. */
static bool is_summarised(const idm_posterior *p, size_t i)
{
  return p->summarised[i] && idm_posterior_series(p, i) == p->series_count;
}

static size_t count_summarised(const idm_posterior *p)
{
  size_t summarised_count = 0;
  for (size_t i = 0; i < p->quantity.count; i++) summarised_count += is_summarised(p, i);
  return summarised_count;
}

bool idm_words_compared(const idm_posterior *posterior)
{
  const idm_inverse *inverse = idm_inverse_find(posterior->inverse);
  return inverse && inverse->preferences;
}

/* "12 preferences", or "preferences" without a log that contains them */
static void add_preferences(const idm_data *data, idm_markup *to)
{
  if (data && data->preferences)
    idm_text_count(to, data->preferences->count, "preference", "preferences");
  else
    idm_markup_add(to, "preferences");
}

/* "5,000 decisions in 1,000 trajectories of 20 agents in diag, if ... the planner rational", or
 * "12 preferences between trajectories in diag" */
static void add_evidence(const idm_plot_subject *subject, idm_markup *to)
{
  const idm_data *data = subject->data;
  if (idm_words_compared(subject->posterior)) {
    add_preferences(data, to);
    idm_markup_add(to, " between trajectories in %s", name_of(subject->problem));
    return;
  }
  if (data) {
    idm_text_count(to, count_text_decisions(data), "decision", "decisions");
    idm_markup_add(to, " in ");
    idm_text_count(to, data->trajectories, "trajectory", "trajectories");
    if (data->agent_name.count > 1) {
      idm_markup_add(to, " of ");
      idm_text_count(to, data->agent_name.count, "agent", "agents");
    }
  } else {
    idm_markup_add(to, "the decisions");
  }
  idm_markup_add(to, " in %s, if they were made by the planner %s", name_of(subject->problem),
                 idm_agent_planner(&subject->problem->agent)->name);
}

/* Append the names of the series along an axis: "log alpha and 1/beta". */
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

void idm_text_question(const idm_plot_subject *subject, idm_markup *to)
{
  const idm_posterior *p = subject->posterior;
  const size_t summarised_count = count_summarised(p);
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
  idm_markup_add(to, summarised_count == 1                               ? "Which value of "
                     : summarised_count && summarised_count <= max_named ? "Which values of "
                                                                         : "Which ");
  for (size_t i = 0; i < p->quantity.count && summarised_count && summarised_count <= max_named;
       i++)
    if (is_summarised(p, i)) {
      idm_markup_add(to, "%s%s", joint(named, summarised_count),
                     idm_title_quantity(p, i, buffer, sizeof buffer));
      named++;
    }
  if (!named) idm_markup_add(to, "parameters");
  idm_markup_add(to, summarised_count == 1 ? " explains " : " explain ");
  add_evidence(subject, to);
  idm_markup_add(to, "?");
}

/* --- groups and people ---------------------------------------------------------------------- */

/* Find the clearest difference of a series, and count those that are clear: 0 is outside the
 * central 95 % of their draws. */
static void count_clear(const idm_posterior *p, const idm_assessment *a, const idm_series *s,
                        double *work, size_t *ret_clear, size_t *ret_clearest)
{
  const size_t all = p->chains * p->draws, count = p->axis[s->axis].label.count;
  double best = -1;
  *ret_clear = *ret_clearest = 0;
  for (size_t i = 0; i < count; i++) {
    const idm_diagnosis *d = &a->diagnosis[s->first + i];
    if (isnan(d->q05)) continue; /* no interval, so that the difference is not clear */
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
  size_t clear_count, largest_index;
  char title[256];
  count_clear(p, subject->assessment, s, work, &clear_count, &largest_index);
  idm_markup_add(to, "%s ", first ? "Of" : "; of");
  add_count(to, p->axis[s->axis].label.count);
  idm_markup_add(to, " %s ", idm_title_series(p, series, title, sizeof title));
  if (clear_count)
    add_count(to, clear_count);
  else
    idm_markup_add(to, "none");
  idm_markup_add(to, " %s clear%s", clear_count > 1 ? "are" : "is",
                 first ? " (0 lies outside of their 95 % intervals)" : "");
  if (clear_count)
    idm_markup_add(to, ", most of all %s (%.3g)", p->axis[s->axis].label.name[largest_index],
                   subject->assessment->diagnosis[s->first + largest_index].mean);
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
    idm_markup_add(to, "; not all of them are trusted");
  else if (idm_checks_left_out(&a->checks))
    idm_markup_add(to, "; checks of the groups were left out");
  to->failed = to->failed || !work;
  free(work);
}

/* "Nine in ten of 1,000 people have a log alpha between ... and a 1/beta between ..."; with fewer
 * than 20 people, the range of all means. */
static void add_people(const idm_plot_subject *subject, idm_markup *to)
{
  const idm_posterior *p = subject->posterior;
  const size_t count = p->axis[idm_posterior_axis(p, "person")].label.count;
  double *work = idm_new(count, sizeof *work);
  size_t named = 0;
  char title[256];
  const bool few = count < 20;
  if (!few) idm_markup_add(to, "Nine in ten of ");
  idm_text_count(to, count, "person", "people");
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

void idm_text_result(const idm_plot_subject *subject, idm_markup *to)
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
  for (size_t i = 0; i < p->quantity.count && named < max_named; i++) {
    if (!is_summarised(p, i)) continue;
    const char *name = idm_title_quantity(p, i, buffer, sizeof buffer);
    if (p->answer == IDM_POSTERIOR)
      add_posterior(to, name, &a->diagnosis[i],
                    a->between && idm_depends_on_dynamics(a->between[i]), named == 0);
    else
      idm_markup_add(to, "%s%s is %.4g", named ? "; " : "", name,
                     p->value[i * p->chains * p->draws]);
    named++;
  }
  const size_t summarised_count = count_summarised(p);
  if (summarised_count > named) {
    idm_markup_add(to, "; ");
    idm_text_count(to, summarised_count - named, "number more is", "numbers more are");
    idm_markup_add(to, " in the table");
  }
  idm_markup_add(to, ".");
}

/* === methods ================================================================================ */

/* Paragraph for the methods of a paper.
 *
 * Contents: data and model - priors - hierarchy - inference */

const char *const idm_methods_references[] = {
    "Jarrett D, Hüyük A, van der Schaar M (2021). Inverse Decision Modeling: Learning "
    "Interpretable Representations of Behavior. International Conference on Machine Learning.",
    "Vehtari A, Gelman A, Simpson D, Carpenter B, Bürkner P-C (2021). Rank-normalization, "
    "folding, and localization: an improved R-hat for assessing convergence of MCMC. Bayesian "
    "Analysis 16, 667-718.",
    NULL,
};

static size_t labels_of(const idm_posterior *p, const char *axis)
{
  const size_t at = idm_posterior_axis(p, axis);
  return at < p->axes ? p->axis[at].label.count : 0;
}

/* --- data and model ------------------------------------------------------------------------- */

/* Rows with one available action are history, not decisions. */
static size_t single_option_rows(const idm_data *data)
{
  size_t rows = 0;
  for (size_t r = 0; r < data->rows; r++)
    rows += data->action[r] != IDM_MISSING && !idm_data_missed(data, r) &&
            idm_data_available_count(data, data->available[r]) < 2;
  return rows;
}

static void add_rows(size_t rows, const char *with, idm_markup *to)
{
  if (!rows) return;
  idm_markup_add(to, "; ");
  idm_text_count(to, rows, "further row", "further rows");
  idm_markup_add(to, " with %s %s history only", with, rows == 1 ? "is" : "are");
}

static void add_data(const idm_plot_subject *subject, idm_markup *to)
{
  const idm_data *data = subject->data;
  if (!data) return;
  const size_t people = labels_of(subject->posterior, "person");
  size_t missed = 0;
  for (size_t r = 0; r < data->rows; r++) missed += idm_data_missed(data, r);
  idm_markup_add(to, "We analysed ");
  if (idm_words_compared(subject->posterior)) {
    add_preferences(data, to);
    idm_markup_add(to, " between trajectories of a log of ");
  }
  idm_text_count(to, count_text_decisions(data), "decision", "decisions");
  idm_markup_add(to, " in ");
  idm_text_count(to, data->trajectories, "trajectory", "trajectories");
  idm_markup_add(to, " of ");
  if (people)
    idm_text_count(to, people, "person", "people");
  else
    idm_text_count(to, data->agent_name.count, "agent", "agents");
  add_rows(single_option_rows(data), "one available action", to);
  add_rows(missed, "a missed response", to);
  idm_markup_add(to, ". ");
}

static void add_model(const idm_plot_subject *subject, idm_markup *to)
{
  const idm_problem *problem = subject->problem;
  const idm_setting *setting = problem->setting;
  if (idm_words_compared(subject->posterior)) {
    idm_markup_add(to,
                   "Preferences were modelled by the Bradley-Terry model: the log odds "
                   "that a trajectory is preferred to another are the difference of their "
                   "discounted sums of utilities. Decisions were not modelled. The problem has ");
  } else {
    idm_markup_add(to,
                   "Decisions were modelled by the planner %s (inverse decision modeling, Jarrett "
                   "et al. 2021) in a problem of ",
                   idm_agent_planner(&problem->agent)->name);
  }
  idm_text_count(to, setting->states.count, "state", "states");
  idm_markup_add(to, ", ");
  idm_text_count(to, setting->actions.count, "action", "actions");
  idm_markup_add(to, " and ");
  idm_text_count(to, setting->observations.count, "observation", "observations");
  if (idm_agent_reads(&problem->agent, IDM_DISCOUNT))
    idm_markup_add(to, ", with a discount factor of %.4g",
                   idm_theta_scalar(problem->theta, IDM_DISCOUNT));
  idm_markup_add(to, ". ");
}

/* --- priors --------------------------------------------------------------------------------- */

static void add_prior(const idm_prior *prior, idm_markup *to)
{
  if (prior->kind == IDM_PRIOR_FLAT) {
    idm_markup_add(to, "flat");
    return;
  }
  idm_markup_add(to, "%s(", idm_prior_name(prior->kind));
  for (size_t i = 0; i < prior->count; i++)
    idm_markup_add(to, "%s%.4g", i ? ", " : "", prior->argument[i]);
  idm_markup_add(to, ")");
}

/* "log alpha" */
static void add_name(const idm_block *block, idm_markup *to)
{
  idm_markup_add(to, "%s%s", idm_scale_display_prefix(block->scale), block->info->name);
}

static bool is_free(const idm_block *block)
{
  return block->role == IDM_DESCRIPTIVE;
}

/* Answers by programs and moments have no prior; those by preferences have one. */
static bool has_priors(const idm_posterior *p)
{
  return !(p->optimality && p->answer != IDM_POSTERIOR);
}

static void add_priors(const idm_plot_subject *subject, idm_markup *to)
{
  const idm_theta *theta = subject->problem->theta;
  const bool priors = has_priors(subject->posterior);
  size_t named = 0;
  for (size_t i = 0; i < theta->blocks; i++) {
    const idm_block *block = &theta->block[i];
    if (!is_free(block)) continue;
    idm_markup_add(to, named++  ? priors ? "; " : ", "
                       : priors ? "Free parameters and their priors: "
                                : "Free parameters: ");
    add_name(block, to);
    if (priors) idm_markup_add(to, " ~ ");
    if (priors) add_prior(&block->prior, to);
  }
  if (named) idm_markup_add(to, ". ");
}

/* --- hierarchy ------------------------------------------------------------------------------ */

/* "log alpha: coefficients normal(0, 0.75), sd half-normal(0.75)", as in people/design.c. */
static void add_scales(const idm_theta *theta, idm_markup *to)
{
  for (size_t i = 0; i < theta->blocks; i++) {
    const idm_block *block = &theta->block[i];
    if (!is_free(block) || block->prior.kind != IDM_PRIOR_NORMAL) continue;
    const double half = block->prior.argument[1] / 2;
    const double sd = block->population.sd, coefficient = block->population.coefficient;
    idm_markup_add(to, "; ");
    add_name(block, to);
    idm_markup_add(to,
                   ": coefficients normal(0, %.4g) per unit or sd, sd between people "
                   "half-normal(%.4g)",
                   coefficient > 0 ? coefficient : half, sd > 0 ? sd : half);
  }
}

/* Append the request's formulas, which are separated by line ends. */
static void add_formulas(const char *model, idm_markup *to)
{
  for (size_t length; *model; model += length + (model[length] == '\n')) {
    length = strcspn(model, "\n");
    idm_markup_add(to, ", %.*s", (int)length, model);
  }
}

static void add_hierarchy(const idm_plot_subject *subject, idm_markup *to)
{
  const idm_posterior *p = subject->posterior;
  const idm_problem *problem = subject->problem;
  const idm_request *request = subject->request;
  if (strcmp(p->inverse, "people") == 0) {
    idm_markup_add(to, "The parameters x of person i were drawn from a population, x_i ~ "
                       "normal(m_i, Sigma) on these scales, where m_i is ");
    idm_markup_add(to,
                   request && request->model[0] ? "given by the formula" : "the intercept alone");
    if (request) add_formulas(request->model, to);
    idm_markup_add(to, ". The intercept has the prior above");
    add_scales(problem->theta, to);
    idm_markup_add(to, "; correlations LKJ(%.4g). ",
                   problem->correlation > 0 ? problem->correlation : 2);
  } else if (strcmp(p->inverse, "audit") == 0) {
    idm_markup_add(to, "The parameters of ");
    idm_text_count(to, labels_of(p, "group"), "group", "groups");
    idm_markup_add(to, " were drawn from a population, whose mean has the prior above. ");
  } else if (labels_of(p, "person")) {
    idm_markup_add(to, "Each person was fitted separately. ");
  }
}

/* --- inference ------------------------------------------------------------------------------ */

static void add_inference(const idm_posterior *p, idm_markup *to)
{
  if (p->answer != IDM_POSTERIOR) {
    idm_markup_add(to, "Parameters were estimated by the inverse planner %s. ", p->inverse);
    return;
  }
  if (strcmp(p->inverse, "people") == 0)
    idm_markup_add(to, "The joint posterior of people and population was sampled in blocks (each "
                       "person given the population, the population given the people, and both "
                       "together)");
  else if (strcmp(p->inverse, "audit") == 0)
    idm_markup_add(to, "The joint posterior of groups and population was sampled (%s)", p->sampler);
  else
    idm_markup_add(to, "Parameters were inferred by %s with %s", p->inverse, p->sampler);
  idm_markup_add(to, ": ");
  idm_text_count(to, p->chains, "chain", "chains");
  idm_markup_add(to, " of ");
  idm_text_count(to, p->draws, "draw", "draws");
  idm_markup_add(to, " each after ");
  idm_text_count(to, (size_t)p->warmup, "draw", "draws");
  idm_markup_add(to,
                 " of warm-up, seed %llu. Convergence was assessed by rank-normalised split R-hat "
                 "and by bulk and tail effective sample sizes (Vehtari et al. 2021). Intervals are "
                 "posterior quantiles (5 %% to 95 %%). ",
                 (unsigned long long)p->seed);
}

void idm_methods_write(const idm_plot_subject *subject, idm_markup *to)
{
  const idm_posterior *p = subject->posterior;
  add_data(subject, to);
  add_model(subject, to);
  add_priors(subject, to);
  add_hierarchy(subject, to);
  add_inference(p, to);
  if (p->resolution)
    idm_markup_add(to, "Beliefs were planned for on a lattice of resolution %d. ", p->resolution);
  idm_markup_add(to, "Computed with idm %s.", idm_version());
}
