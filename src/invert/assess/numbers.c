/* Checks of free numbers: ridges of the posterior, numbers without effect, and conflicts of priors
 * with the data.
 *
 * Contents: ridge · effects · prior pull */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "idm/extension/planner.h"
#include "infer/distribution.h"
#include "invert/assess.h"
#include "invert/assess/context.h"
#include "invert/assess/extension.h"
#include "invert/matching.h"
#include "invert/posterior.h"
#include "invert/predict.h"
#include "plan/plan.h"

/* === ridge ================================================================================== */

/* Ridges: directions in which free numbers vary jointly while the likelihood hardly changes. */

/* Scalar items of the parameters, with mean and sd of their coordinates over the draws. */
typedef struct draw_moments {
  size_t count;
  const parameter **item;
  double *draw; /* [count][draws] */
  double *mean;
  double *sd;
  double *correlation; /* [count][count] */
  double *values;      /* eigenvalues, ascending */
  double *vectors;     /* eigenvectors, in rows */
} draw_moments;

static void free_draw_moments(draw_moments *c)
{
  free(c->item);
  free(c->draw);
  free(c->mean);
  free(c->sd);
  free(c->correlation);
  free(c->values);
  free(c->vectors);
}

static idm_status open_draw_moments(const check_context *q, draw_moments *c, idm_error *opt_error)
{
  const idm_parameters *p = q->f->parameters;
  const size_t n = p->items;
  *c = (draw_moments){0};
  c->item = idm_new(n, sizeof *c->item);
  c->draw = idm_new(idm_times(n, q->posterior->chains * q->posterior->draws), sizeof *c->draw);
  c->mean = idm_new(n, sizeof *c->mean);
  c->sd = idm_new(n, sizeof *c->sd);
  c->correlation = idm_new(n * n, sizeof *c->correlation);
  c->values = idm_new(n, sizeof *c->values);
  c->vectors = idm_new(n * n, sizeof *c->vectors);
  if (!c->item || !c->draw || !c->mean || !c->sd || !c->correlation || !c->values || !c->vectors)
    return idm_fail_memory(opt_error);
  for (size_t i = 0; i < n; i++)
    if (idm_parameter_is_scalar(&p->item[i])) c->item[c->count++] = &p->item[i];
  return IDM_OK;
}

static void correlate(const check_context *q, draw_moments *c)
{
  const size_t draws = q->posterior->chains * q->posterior->draws;
  const size_t n = c->count;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < draws; k++)
      c->draw[i * draws + k] = idm_context_coordinate(q, c->item[i], k);
  idm_covariance(&(idm_points){c->draw, draws, n, 1, draws, NULL}, 0, c->mean, c->correlation);
  for (size_t i = 0; i < n; i++) c->sd[i] = sqrt(c->correlation[i * n + i]);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      const double scale = c->sd[i] * c->sd[j];
      const double r = i == j ? 1 : scale > 0 ? c->correlation[i * n + j] / scale : 0;
      c->correlation[i * n + j] = r;
      c->correlation[j * n + i] = r;
    }
}

/* Print the name of a coordinate with its scale. */
static void coordinate_name(const check_context *q, const parameter *item, char *name, size_t size)
{
  idm_print(name, size, "%s%.80s", idm_scale_display_prefix(item->scale),
            q->posterior->quantity.name[item->quantity]);
}

/* Store the sentence "log alpha, 1/beta and eta are not separately identified: ...". */
static idm_status describe(const check_context *q, const draw_moments *c, idm_error *opt_error)
{
  enum { size = 1600, max_listed = 8 };
  const size_t n = c->count;
  const double *along = c->vectors + (n - 1) * n;
  const double length = sqrt(c->values[n - 1]);
  char *text = idm_new(size, 1);
  if (!text) return idm_fail_memory(opt_error);
  char names[600] = "";
  char moves[600] = "";
  size_t members = 0;
  size_t first = n;
  for (size_t i = 0; i < n && members < max_listed; i++) {
    char name[120];
    if (fabs(along[i]) * length < 0.5) continue; /* less than half of its own sd */
    if (first == n) first = i;
    const double sign = along[first] < 0 ? -1 : 1;
    coordinate_name(q, c->item[i], name, sizeof name);
    idm_print(names + strlen(names), sizeof names - strlen(names), "%s%s", members ? ", " : "",
              name);
    idm_print(moves + strlen(moves), sizeof moves - strlen(moves), "%s%s by %+.3g",
              members ? ", " : "", name, sign * along[i] * length * c->sd[i]);
    members++;
  }
  idm_print(text, size,
            "%s are not separately identified: the data bound combinations of them, not each. The "
            "ridge: move %s together and the data are explained almost as well (one posterior sd; "
            "least eigenvalue of the correlations %.3f). Hold one of them, or report what they "
            "imply together",
            names, moves, c->values[0]);
  q->assessment->ridge_sentence = text;
  return IDM_OK;
}

idm_status idm_check_ridge(const check_context *q, idm_error *opt_error)
{
  idm_assessment *a = q->assessment;
  draw_moments c;
  idm_status status = open_draw_moments(q, &c, opt_error);
  if (status == IDM_OK && c.count > 1 && q->posterior->draws > 1) {
    correlate(q, &c);
    idm_symmetric_eigen(c.count, c.correlation, c.values, c.vectors);
    a->ridge = c.values[0];
    if (idm_check_test_optional(&a->checks, IDM_CHECK_RIDGE, a->ridge))
      status = describe(q, &c, opt_error);
  }
  free_draw_moments(&c);
  if (a->ridge_sentence) idm_notes_add(&a->remarks, "%s", a->ridge_sentence);
  return status;
}

/* === effects ================================================================================ */

/* Free numbers without effect on the likelihood: found by evaluation, explained by the structure of
 * the problem.
 *
 * Contents: evaluation · reasons */

/* --- evaluation ------------------------------------------------------------------------------ */

enum {
  EFFECT_DRAWS = 3, /* draws of the posterior at which a number is changed */
  PRIOR_MOVES = 8,  /* values drawn from a proper prior */
  LARGE_MOVES = 4   /* steps of the size of the number, in both directions, for any prior */
};

/* Largest difference of log-likelihoods that the tolerance of planning can cause. */
static double rounding(uint64_t decisions)
{
  return 1e-4 + 1e-7 * (double)decisions;
}

/* Apply change k to the coordinates of an item. */
static void move_item(const check_context *q, const parameter *item, size_t k, const double *prior,
                      double *y)
{
  static const double far[LARGE_MOVES] = {1, -1, 10, -10};
  const size_t d = q->f->parameters->dimension;
  const size_t count = item->size - item->simplex;
  for (size_t j = item->first; j < item->first + count; j++)
    y[j] = k < LARGE_MOVES ? y[j] + far[k] * (1 + fabs(y[j])) : prior[(k - LARGE_MOVES) * d + j];
}

/* Test whether any change of an item changes the log-likelihood. If planning failed at all changed
 * values, the number counts as having an effect. */
static idm_status test_effect(const check_context *q, const parameter *item, const double *prior,
                              size_t moves, double tolerance, bool *has_effect, double *y,
                              idm_error *opt_error)
{
  const size_t d = q->f->parameters->dimension;
  const size_t draws = q->posterior->chains * q->posterior->draws;
  const size_t tried = draws < EFFECT_DRAWS ? draws : EFFECT_DRAWS;
  size_t compared = 0;
  idm_status status = IDM_OK;
  *has_effect = false;
  for (size_t i = 0; i < tried && status == IDM_OK && !*has_effect; i++) {
    double log_likelihood_here = -INFINITY;
    idm_context_draw(q, idm_context_sample_at(q, i, tried), y);
    status =
        idm_matching_log_likelihood(q->f->matching[0], y, &log_likelihood_here, NULL, opt_error);
    for (size_t k = 0;
         isfinite(log_likelihood_here) && k < moves && status == IDM_OK && !*has_effect; k++) {
      double moved_log_likelihood = -INFINITY;
      memcpy(y + d, y, d * sizeof *y);
      move_item(q, item, k, prior, y + d);
      status = idm_matching_log_likelihood(q->f->matching[0], y + d, &moved_log_likelihood, NULL,
                                           opt_error);
      compared += isfinite(moved_log_likelihood) ? 1 : 0;
      *has_effect = isfinite(moved_log_likelihood) &&
                    fabs(moved_log_likelihood - log_likelihood_here) > tolerance;
    }
  }
  *has_effect = *has_effect || !compared;
  return status;
}

/* --- reasons -------------------------------------------------------------------------------- */

/* Whether `count` slices of a block, at a distance of each other from `first` on, are equal. */
static bool same_slices(const double *value, size_t first, size_t count, size_t distance,
                        size_t size)
{
  for (size_t k = 1; k < count; k++)
    for (size_t i = 0; i < size; i++)
      if (value[first + i] != value[first + k * distance + i]) return false;
  return true;
}

static bool models_agree(const idm_theta *theta, size_t id)
{
  const idm_block *block = &theta->block[id];
  const size_t size = block->size / theta->models;
  return same_slices(block->value, 0, theta->models, size, size);
}

static bool actions_agree(const idm_theta *theta, size_t id)
{
  const idm_block *block = &theta->block[id];
  const size_t size = block->size / theta->models / theta->sizes.actions;
  for (size_t m = 0; m < theta->models; m++)
    if (!same_slices(block->value, m * theta->sizes.actions * size, theta->sizes.actions, size,
                     size))
      return false;
  return true;
}

/* Whether every state has the same observation probabilities: no observation distinguishes states.
 */
static bool emits_alike(const idm_theta *theta)
{
  const idm_block *block = &theta->block[IDM_EMISSION];
  const size_t width = theta->sizes.observations, rows = theta->sizes.states;
  for (size_t i = 0; i < block->size; i += rows * width)
    if (!same_slices(block->value, i, rows, width, width)) return false;
  return true;
}

static const char *reason_of_sensor(const idm_setting *setting, const idm_theta *theta)
{
  if (setting->fully_observed)
    return "states are observed, and a sensor hides none of them: leave it out of `free:`";
  if (emits_alike(theta))
    return "every state has the same probabilities of observations, so that a sensor has no "
           "effect: leave it out of `free:`";
  return NULL;
}

/* Whether only the weight of the entropy is free in the utility of beliefs. */
static bool only_entropy(const idm_theta *theta)
{
  const idm_block *block = &theta->block[IDM_BELIEF_UTILITY];
  for (size_t i = theta->sizes.actions; block->coordinate && i < block->size; i++)
    if (block->coordinate[i] >= 0) return false;
  return block->coordinate != NULL;
}

/* Reasons for utilities of beliefs, certainty and surprise. */
static const char *reason_of_belief(const idm_problem *problem, size_t block)
{
  const idm_theta *theta = problem->theta;
  const bool moves = theta->block[IDM_ETA].role == IDM_DESCRIPTIVE;
  if (block == IDM_BELIEF_PRIOR && !moves && idm_agent_reads(&problem->agent, IDM_ETA) &&
      idm_theta_scalar(theta, IDM_ETA) == 0)
    return "eta is 0, so that surprise has no cost: give `agent.eta` another value or free it, or "
           "leave it out of `free:`";
  if (block == IDM_BELIEF_UTILITY && problem->setting->fully_observed && only_entropy(theta))
    return "states are observed, so that the entropy of every belief is 0: leave it out of `free:`";
  if (block == IDM_CERTAINTY && idm_theta_values(theta, IDM_CERTAINTY, 0)[0] >= 1)
    return "no belief is above its threshold of 1: give `certainty:` one below 1, or leave it out "
           "of `free:`";
  return NULL;
}

/* The property of the problem that makes a block inert, with the remedy; NULL if there is none. */
static const char *reason(const idm_problem *problem, size_t block)
{
  const idm_theta *theta = problem->theta;
  const bool weighs_models = block == IDM_BETA || block == IDM_MODEL_PRIOR;
  const bool informs = block == IDM_ETA;
  if (weighs_models && theta->models == 1)
    return "the agent has one model of the world: give it several under `models:`, or leave it out "
           "of `free:`";
  if (weighs_models && models_agree(theta, IDM_TRANSITION) && models_agree(theta, IDM_EMISSION))
    return "the agent's models are all the same: let them differ under `models:`, or leave it out "
           "of `free:`";
  if (informs && theta->block[IDM_TRANSITION].size && actions_agree(theta, IDM_TRANSITION) &&
      actions_agree(theta, IDM_EMISSION))
    return "all actions have the same dynamics, so that surprise does not distinguish them: leave "
           "it out of `free:`";
  if (block == IDM_SENSOR_CAPACITY) return reason_of_sensor(problem->setting, theta);
  return reason_of_belief(problem, block);
}

static bool is_free(const idm_theta *theta, size_t block)
{
  return theta->block[block].role == IDM_DESCRIPTIVE;
}

void idm_assess_note_inert(const idm_problem *problem, idm_notes *opt_notes)
{
  if (!problem) return;
  const idm_theta *theta = problem->theta;
  const bool own = is_free(theta, IDM_TRANSITION) || is_free(theta, IDM_EMISSION);
  for (size_t i = 0; i < theta->blocks; i++) {
    /* Free models can become different. */
    const char *why = is_free(theta, i) && !(own && theta->models > 1) ? reason(problem, i) : NULL;
    if (why) idm_notes_add(opt_notes, "%s cannot matter here: %s", theta->block[i].info->name, why);
  }
}

static void note_inert(const check_context *q, const parameter *item)
{
  const idm_theta *theta = q->f->problem->theta;
  const idm_labels *quantity = idm_parameters_quantities(q->f->parameters);
  const char *name =
      item->simplex ? theta->block[item->block].info->name : quantity->name[item->quantity];
  const char *why = reason(q->f->problem, item->block);
  idm_notes_add(idm_check_note(q->assessment, IDM_CHECK_INERT, IDM_CHECK_MISFIT),
                "%s cannot matter here, and its posterior is its prior: %s", name,
                why ? why
                    : "no value within its prior changes the probability of any decision of the "
                      "log: leave it out of `free:`, or collect a log in which it has an effect");
}

static idm_status test_effects(const check_context *q, const double *prior, size_t moves,
                               double tolerance, double *y, idm_error *opt_error)
{
  const idm_parameters *p = q->f->parameters;
  idm_status status = IDM_OK;
  size_t inert = 0;
  for (size_t i = 0; i < p->items && status == IDM_OK; i++) {
    bool has_effect = true;
    if (p->item[i].opaque) continue;
    status = test_effect(q, &p->item[i], prior, moves, tolerance, &has_effect, y, opt_error);
    if (status != IDM_OK || has_effect) continue;
    note_inert(q, &p->item[i]);
    inert++;
  }
  if (status == IDM_OK) idm_check_test(&q->assessment->checks, IDM_CHECK_INERT, (double)inert);
  return status;
}

idm_status idm_assess_effects(const check_context *q, uint64_t decisions, idm_error *opt_error)
{
  const idm_parameters *p = q->f->parameters;
  const size_t d = p->dimension;
  if (!decisions) {
    idm_notes_add(idm_check_note(q->assessment, IDM_CHECK_INERT, IDM_CHECK_MISFIT),
                  "no row of the log is a decision (a recorded action, of two or more available "
                  "ones): the log has no information on any free number");
    return IDM_OK;
  }
  double *prior = idm_new(idm_times(PRIOR_MOVES + 2, d), sizeof *prior);
  if (!prior) return idm_fail_memory(opt_error);
  const bool proper = idm_parameters_proper(p);
  idm_random random;
  idm_random_init(&random, 0, 0);
  for (size_t k = 0; proper && k < PRIOR_MOVES; k++) idm_parameters_draw(p, &random, prior + k * d);
  const size_t moves = LARGE_MOVES + (proper ? PRIOR_MOVES : 0);
  const idm_status status =
      test_effects(q, prior, moves, rounding(decisions), prior + PRIOR_MOVES * d, opt_error);
  free(prior);
  return status;
}

idm_status idm_check_inert(const check_context *q, idm_error *opt_error)
{
  idm_chance chance;
  const idm_status status = idm_chance_measure(q->f->data, &chance, opt_error);
  return status == IDM_OK ? idm_assess_effects(q, chance.decisions, opt_error) : status;
}

/* === prior pull ============================================================================= */

/* Conflict of a prior with the data (context.h). */

prior_pull idm_prior_pull(double mean, double variance, double prior_mean, double prior_variance)
{
  /* Without data m and v are those of the prior up to Monte Carlo error. */
  static const double tolerance = 0.01;
  const double off = fabs(mean - prior_mean);
  const double gained = fmax(prior_variance - variance, tolerance * prior_variance);
  return (prior_pull){.conflict = off / sqrt(gained), .shift = off * sqrt(variance) / gained};
}

double idm_prior_pull_value(const prior_pull *pull)
{
  return pull->shift > 1 ? pull->conflict : 0;
}

void idm_prior_pull_note(const prior_pull *pull, const char *what, const char *by, idm_notes *notes)
{
  idm_notes_add(notes,
                "the prior of %s contradicts %s, and shifts the posterior: the posterior mean is "
                "%.1f sds, of its distribution under the prior, from the prior's centre, and the "
                "prior moves it by %.1f posterior sds; correct or widen the prior",
                what, by, pull->conflict, pull->shift);
}

static void assess_pull(const check_context *q, const parameter *item)
{
  const idm_posterior *p = q->posterior;
  const size_t all = p->chains * p->draws;
  const idm_moments m = idm_moments_of(p->unconstrained + item->first * all, all);
  const double sd = idm_prior_sd(item->prior);
  const prior_pull pull = idm_prior_pull(m.mean, m.variance, idm_prior_mean(item->prior), sd * sd);
  char name[128];
  if (!idm_check_test(&q->assessment->checks, IDM_CHECK_PRIOR_PULL, idm_prior_pull_value(&pull)))
    return;
  idm_prior_pull_note(&pull,
                      idm_quantity_label(p->quantity.name[item->quantity], name, sizeof name),
                      "the data", &q->assessment->misfits);
}

/* Under the right model the log-likelihood at its maximum is on average half a nat per number above
 * that at the truth, and that at draws is half a nat per number below the maximum, or less if the
 * prior draws them towards the truth. */
idm_status idm_check_prior_gap(const check_context *q, idm_error *opt_error)
{
  const idm_posterior *p = q->posterior;
  const size_t all = p->chains * p->draws, numbers = q->f->parameters->dimension;
  idm_assessment *a = q->assessment;
  double mean = 0;
  if (!a->identified || !isfinite(a->log_likelihood) || q->learnt) return IDM_OK;
  double *y = idm_new(numbers, sizeof *y);
  if (!y) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < all; i++) {
    idm_context_draw(q, i, y);
    const double prior = idm_parameters_log_prior(q->f->parameters, y, NULL);
    mean += (p->statistics[i].log_density - prior) / (double)all;
  }
  free(y);
  const double gap = a->log_likelihood - mean - (double)numbers;
  if (isfinite(mean) && idm_check_test(&a->checks, IDM_CHECK_PRIOR_GAP, gap))
    idm_notes_add(&a->misfits,
                  "a prior keeps the answer away from the maximum of the likelihood: the "
                  "log-likelihood there is higher by %.1f nats than at the draws on average, where "
                  "up to %zu are expected; correct or widen the prior",
                  gap + (double)numbers, numbers);
  return IDM_OK;
}

/* Whether a uniform prior has an end near which the data do not bound the number. */
static bool is_at_end(const parameter *item, const idm_identification *id)
{
  for (int side = 0; side < 2; side++)
    if (item->truncated[side] && id->gap[side] <= idm_profile_drop) return true;
  return false;
}

/* A uniform prior does not shift a posterior, but excludes values beyond its ends: twice the gain
 * in log-likelihood without them is about chi-square if the number is within, and its root has the
 * unit of the conflict. */
static idm_status assess_ends(const check_context *q, const parameter *item,
                              const idm_identification *id, idm_error *opt_error)
{
  idm_assessment *a = q->assessment;
  refit default_prior_fit = {.log_likelihood = -INFINITY};
  char name[128];
  const idm_status status =
      is_at_end(item, id) ? idm_refit_default_prior(q, item->block, &default_prior_fit, opt_error)
                          : IDM_OK;
  const double gain = fmax(0, default_prior_fit.log_likelihood - a->log_likelihood);
  if (status != IDM_OK || !idm_check_test(&a->checks, IDM_CHECK_PRIOR_PULL, sqrt(2 * gain)))
    return status;
  idm_notes_add(
      &a->misfits,
      "the prior of %s excludes the maximum of the likelihood: at %.4g, beyond its end, the "
      "log-likelihood is higher by %.1f nats than anywhere within it; widen the prior",
      idm_quantity_label(q->posterior->quantity.name[item->quantity], name, sizeof name),
      default_prior_fit.value, gain);
  return IDM_OK;
}

static bool is_uniform_prior(const parameter *item)
{
  return item->prior->kind == IDM_PRIOR_UNIFORM || item->prior->kind == IDM_PRIOR_FLAT;
}

/* Append the name of a number that is not tested to a list. */
static void list(const check_context *q, const parameter *item, char *text, size_t size)
{
  const size_t used = strlen(text);
  char name[128];
  idm_quantity_label(q->posterior->quantity.name[item->quantity], name, sizeof name);
  if (used + strlen(name) + 3 < size)
    idm_print(text + used, size - used, "%s%s", used ? ", " : "", name);
}

idm_status idm_check_prior_pull(const check_context *q, idm_error *opt_error)
{
  const idm_assessment *a = q->assessment;
  const idm_parameters *p = q->f->parameters;
  char others[160] = "";
  idm_status status = IDM_OK;
  for (size_t i = 0, at = 0; i < p->items && status == IDM_OK; i++) {
    const parameter *item = &p->item[i];
    const bool open = isinf(item->lower) && isinf(item->upper);
    const bool scalar = idm_parameter_is_scalar(item);
    const idm_identification *opt_id = scalar && at < a->parameters ? &a->parameter[at] : NULL;
    at += scalar;
    if (scalar && open && item->prior->kind == IDM_PRIOR_NORMAL)
      assess_pull(q, item);
    else if (opt_id && is_uniform_prior(item) && a->identified && !q->learnt)
      status = assess_ends(q, item, opt_id, opt_error);
    else
      list(q, item, others, sizeof others);
  }
  if (others[0])
    idm_check_add_exception(&q->assessment->checks, IDM_CHECK_PRIOR_PULL,
                            "not of %s (see prior-gap)", others);
  return status;
}
