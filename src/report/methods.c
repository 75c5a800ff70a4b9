/* A paragraph for the methods of a paper: see the header.
 *
 * Contents: data and model - priors - hierarchy - inference */
#include "report/methods.h"

#include <string.h>

#include "idm/planner.h"
#include "idm/request.h"
#include "invert/parameters.h"
#include "report/words.h"

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

/* Rows with one open action are history, not decisions. */
static size_t forced_rows(const idm_data *data)
{
  size_t rows = 0;
  for (size_t r = 0; r < data->rows; r++)
    rows += data->action[r] != IDM_MISSING && !idm_data_missed(data, r) &&
            idm_data_open(data, data->available[r]) < 2;
  return rows;
}

static void add_rows(size_t rows, const char *with, idm_markup *to)
{
  if (!rows) return;
  idm_markup_add(to, "; ");
  idm_words_plural(to, rows, "further row", "further rows");
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
  idm_words_plural(to, idm_words_decisions(data), "decision", "decisions");
  idm_markup_add(to, " in ");
  idm_words_plural(to, data->trajectories, "trajectory", "trajectories");
  idm_markup_add(to, " of ");
  if (people)
    idm_words_plural(to, people, "person", "people");
  else
    idm_words_plural(to, data->agent_name.count, "agent", "agents");
  add_rows(forced_rows(data), "one available action", to);
  add_rows(missed, "a missed response", to);
  idm_markup_add(to, ". ");
}

static void add_model(const idm_problem *problem, idm_markup *to)
{
  const idm_setting *setting = problem->setting;
  idm_markup_add(to,
                 "Decisions were modelled by the planner %s (inverse decision modeling, Jarrett et "
                 "al. 2021) in a problem of ",
                 idm_agent_planner(&problem->agent)->name);
  idm_words_plural(to, setting->states.count, "state", "states");
  idm_markup_add(to, ", ");
  idm_words_plural(to, setting->actions.count, "action", "actions");
  idm_markup_add(to, " and ");
  idm_words_plural(to, setting->observations.count, "observation", "observations");
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
  idm_markup_add(to, "%s%s", idm_scale_spoken(block->scale), block->info->name);
}

static bool is_free(const idm_block *block)
{
  return block->role == IDM_DESCRIPTIVE;
}

/* Programs and moments have no prior; preferences do. */
static bool has_priors(const idm_posterior *p)
{
  return !(p->finding && p->answer != IDM_POSTERIOR);
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

/* "log alpha: coefficients normal(0, 0.75), sd half-normal(0.75)", as people/design.c has them. */
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

/* The request's formulas, which stand one per line. */
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
    idm_words_plural(to, labels_of(p, "group"), "group", "groups");
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
  idm_words_plural(to, p->chains, "chain", "chains");
  idm_markup_add(to, " of ");
  idm_words_plural(to, p->draws, "draw", "draws");
  idm_markup_add(to, " each after ");
  idm_words_plural(to, (size_t)p->warmup, "draw", "draws");
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
  add_model(subject->problem, to);
  add_priors(subject, to);
  add_hierarchy(subject, to);
  add_inference(p, to);
  if (p->resolution)
    idm_markup_add(to, "Beliefs were planned for on a lattice of resolution %d. ", p->resolution);
  idm_markup_add(to, "Computed with idm %s.", idm_version());
}
