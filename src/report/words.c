/* What a report says in sentences: see the header. */
#include "report/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "idm/planner.h"

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

static void add_plural(idm_markup *to, size_t count, const char *noun, const char *nouns)
{
  add_count(to, count);
  idm_markup_add(to, " %s", count == 1 ? noun : nouns);
}

/* What stands between item i of `count` and the one before. */
static const char *joint(size_t i, size_t count)
{
  return i == 0 ? "" : i + 1 < count ? ", " : " and ";
}

static size_t decisions_of(const idm_data *data)
{
  size_t decisions = 0;
  for (size_t r = 0; r < data->rows; r++) decisions += data->action[r] != IDM_MISSING;
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

void idm_words_question(const idm_plot_subject *subject, idm_markup *to)
{
  const idm_posterior *p = subject->posterior;
  const idm_data *data = subject->data;
  const size_t told = count_told(p);
  size_t named = 0;
  char buffer[256];
  idm_markup_add(to, told == 1                    ? "Which value of "
                     : told && told <= most_named ? "Which values of "
                                                  : "Which ");
  for (size_t i = 0; i < p->quantity.count && told && told <= most_named; i++)
    if (is_told(p, i)) {
      idm_markup_add(to, "%s%s", joint(named, told),
                     idm_quantity_spoken(p->quantity.name[i], buffer, sizeof buffer));
      named++;
    }
  if (!named) idm_markup_add(to, "parameters");
  idm_markup_add(to, told == 1 ? " explains " : " explain ");
  if (data) {
    add_plural(to, decisions_of(data), "decision", "decisions");
    idm_markup_add(to, " in ");
    add_plural(to, data->trajectories, "trajectory", "trajectories");
    if (data->agent_name.count > 1) {
      idm_markup_add(to, " of ");
      add_plural(to, data->agent_name.count, "agent", "agents");
    }
  } else {
    idm_markup_add(to, "the decisions");
  }
  idm_markup_add(to, " in %s, if they were made by the planner %s?", name_of(subject->problem),
                 idm_agent_planner(&subject->problem->agent)->name);
}

static void add_posterior(idm_markup *to, const char *name, const idm_diagnosis *d, bool first)
{
  idm_markup_add(to, "%s%s is %.3g", first ? "" : "; ", name, d->mean);
  if (isfinite(d->q05) && isfinite(d->q95))
    idm_markup_add(to, ", between %.3g and %.3g%s", d->q05, d->q95,
                   first ? " with a probability of 90 %" : "");
}

void idm_words_answer(const idm_plot_subject *subject, idm_markup *to)
{
  const idm_posterior *p = subject->posterior;
  const idm_assessment *a = subject->assessment;
  size_t named = 0;
  char buffer[256];
  for (size_t i = 0; i < p->quantity.count && named < most_named; i++) {
    if (!is_told(p, i)) continue;
    const char *name = idm_quantity_spoken(p->quantity.name[i], buffer, sizeof buffer);
    if (p->answer == IDM_POSTERIOR)
      add_posterior(to, name, &a->diagnosis[i], named == 0);
    else
      idm_markup_add(to, "%s%s is %.4g", named ? "; " : "", name,
                     p->value[i * p->chains * p->draws]);
    named++;
  }
  const size_t told = count_told(p);
  if (told > named) {
    idm_markup_add(to, "; ");
    add_plural(to, told - named, "number more is", "numbers more are");
    idm_markup_add(to, " in the table");
  }
  if (a->people) {
    idm_markup_add(to, "%s", named ? "; " : "");
    add_plural(to, a->people, "person has", "people have");
    idm_markup_add(to, " numbers of their own");
  }
  idm_markup_add(to, ".");
}

const char *const idm_words_references[] = {
    "Jarrett D, Hüyük A, van der Schaar M (2021). Inverse Decision Modeling: Learning "
    "Interpretable Representations of Behavior. International Conference on Machine Learning.",
    "Vehtari A, Gelman A, Simpson D, Carpenter B, Bürkner P-C (2021). Rank-normalization, "
    "folding, and localization: an improved R-hat for assessing convergence of MCMC. Bayesian "
    "Analysis 16, 667-718.",
    NULL,
};

static void add_data(const idm_plot_subject *subject, idm_markup *to)
{
  const idm_data *data = subject->data;
  if (!data) return;
  idm_markup_add(to, "We analysed ");
  add_plural(to, decisions_of(data), "decision", "decisions");
  idm_markup_add(to, " in ");
  add_plural(to, data->trajectories, "trajectory", "trajectories");
  idm_markup_add(to, " of ");
  add_plural(to, data->agent_name.count, "agent", "agents");
  idm_markup_add(to, ". ");
}

void idm_words_methods(const idm_plot_subject *subject, idm_markup *to)
{
  const idm_posterior *p = subject->posterior;
  const idm_problem *problem = subject->problem;
  const idm_setting *setting = problem->setting;
  add_data(subject, to);
  idm_markup_add(to,
                 "Decisions were modelled by the planner %s (inverse decision modeling, Jarrett et "
                 "al. 2021) in a problem of ",
                 idm_agent_planner(&problem->agent)->name);
  add_plural(to, setting->states.count, "state", "states");
  idm_markup_add(to, ", ");
  add_plural(to, setting->actions.count, "action", "actions");
  idm_markup_add(to, " and ");
  add_plural(to, setting->observations.count, "observation", "observations");
  idm_markup_add(to, ", discounted by %.4g a step. ",
                 idm_theta_scalar(problem->theta, IDM_DISCOUNT));
  if (p->answer == IDM_POSTERIOR) {
    idm_markup_add(to,
                   "Parameters were inferred by %s with %s: %zu chains of %zu draws each after %ld "
                   "of warm-up, seed %llu. Convergence was judged by rank-normalised split R-hat "
                   "and by bulk and tail effective sample sizes (Vehtari et al. 2021). Intervals "
                   "are posterior quantiles (5 %% to 95 %%). ",
                   p->inverse, p->sampler, p->chains, p->draws, p->warmup,
                   (unsigned long long)p->seed);
  } else {
    idm_markup_add(to, "Parameters were found by %s. ", p->inverse);
  }
  if (p->resolution)
    idm_markup_add(to, "Beliefs were planned for on a lattice of resolution %d. ", p->resolution);
  idm_markup_add(to, "Computed with idm %s.", idm_version());
}
