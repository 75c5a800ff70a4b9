/* Operations on inverse planners: settings of a fit, and checks that a problem and a log suit an
 * inverse planner.
 *
 * Contents: settings · inverse */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/key.h"
#include "base/system.h"
#include "data/log.h"
#include "idm/extension/behavior.h"
#include "idm/extension/data.h"
#include "idm/extension/inverse.h"
#include "idm/extension/planner.h"
#include "invert/fit_keys.h"
#include "invert/posterior.h"
#include "invert/predict.h"
#include "plan/plan.h"
#include "setting/model.h"

/* === settings =============================================================================== */

/* Settings of a fit: defaults, keys, and the paper's sampling scheme. */

const char *const idm_keep_words[] = {"none", "trajectory", "decision", NULL};
const char *const idm_checks_words[] = {"fast", "full", "none", NULL};
const char *const idm_norm_words[] = {"1", "2", "inf", NULL};
const char *const idm_margin_words[] = {"state", "return", NULL};
const char *const idm_occupancy_words[] = {"policy", "empirical", NULL};
const char *const idm_divergence_words[] = {"kl",   "reverse-kl", "js", "tv",
                                            "chi2", "squared",    NULL};

const idm_key *idm_fit_keys(void)
{
  static const idm_key keys[] = {IDM_FIT_KEYS(0), {0}};
  return keys;
}

double idm_check_effort_seconds(idm_check_effort effort, double seconds)
{
  static const double min_seconds = 10;
  return effort == IDM_CHECKS_FULL   ? 0
         : effort == IDM_CHECKS_NONE ? -1
                                     : fmax(seconds, min_seconds);
}

void idm_fit_settings_default(idm_fit_settings *settings)
{
  if (!settings) return;
  *settings = (idm_fit_settings){.chains = 4,
                                 .draws = 1000,
                                 .warmup = 1000,
                                 .seed = 1,
                                 .threads = idm_processors(),
                                 .keep = IDM_KEEP_TRAJECTORY,
                                 .prior_draws = 1000,
                                 .bound = 1,
                                 .loss_scale = 1,
                                 .smoothing = 1};
}

void idm_fit_settings_plain(idm_fit_settings *settings)
{
  if (!settings) return;
  settings->chains = 1;
  settings->warmup = 100;
  settings->draws = 1000;
  settings->thin = 10;
}

void idm_problem_set_flat_priors(idm_problem *problem)
{
  if (!problem) return;
  for (size_t i = 0; i < problem->theta->blocks; i++) {
    idm_block *block = &problem->theta->block[i];
    if (block->role != IDM_DESCRIPTIVE) continue;
    free(block->prior.argument);
    block->prior = (idm_prior){.kind = IDM_PRIOR_FLAT};
    block->default_prior = false;
    if (i == IDM_ALPHA || i == IDM_BETA || i == IDM_ETA) block->scale = IDM_SCALE_LOG;
  }
}

/* === inverse ================================================================================ */

/* Fitting and checks by the fields of an inverse planner's descriptor. */

idm_status idm_inverse_fit(const idm_inverse *inverse, const idm_problem *problem,
                           const idm_data *data, const idm_fit_settings *settings,
                           const idm_fit_monitor *opt_monitor, idm_posterior **ret_posterior,
                           idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(inverse, problem, data, settings, ret_posterior);
  const idm_fit_arguments call = {.inverse = inverse,
                                  .problem = problem,
                                  .data = data,
                                  .settings = settings,
                                  .opt_monitor = opt_monitor,
                                  .opt_notes = opt_notes};
  *ret_posterior = NULL;
  return inverse->fit(&call, ret_posterior, opt_error);
}

bool idm_inverse_reads(const idm_inverse *inverse, const char *setting)
{
  if (!inverse || !setting) return false;
  for (const char *const *name = inverse->settings; *name; name++)
    if (strcmp(*name, setting) == 0) return true;
  return false;
}

bool idm_inverse_by_likelihood(const idm_inverse *inverse)
{
  return inverse && !inverse->target_block && !inverse->own_objective;
}

static idm_status check_columns(const idm_inverse *inverse, const idm_problem *problem,
                                const idm_data *data, idm_error *opt_error)
{
  unsigned required = inverse->columns;
  if (idm_agent_planner(&problem->agent)->needs & IDM_NEEDS_REWARDS)
    required |= 1u << IDM_COLUMN_REWARD;
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    const idm_column_info *info = idm_column_describe((idm_column)c);
    if (!(required & 1u << c) || data->number[c] || data->label[c]) continue;
    return idm_fail(opt_error, IDM_INPUT,
                    "the log has no column for %s, which '%s' of '%s' needs; expected a column "
                    "'%s', or its name under data: {%s: COLUMN}",
                    info->what, inverse->name, idm_agent_planner(&problem->agent)->name, info->key,
                    info->key);
  }
  return IDM_OK;
}

static idm_status check_preferences(const idm_inverse *inverse, const idm_data *data,
                                    idm_error *opt_error)
{
  if (inverse->preferences == (data->preferences != NULL)) return IDM_OK;
  if (inverse->preferences)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs preferences between trajectories; expected --preferences FILE, a "
                    "table with the columns worse and better",
                    inverse->name);
  return idm_fail(
      opt_error, IDM_INPUT,
      "preferences have no effect with '%s'; leave --preferences out, or see `idm list inverses`",
      inverse->name);
}

static idm_status check_blocks(const idm_inverse *inverse, const idm_theta *theta,
                               idm_error *opt_error)
{
  for (size_t i = 0; i < theta->blocks; i++) {
    const idm_block *block = &theta->block[i];
    if (block->role == IDM_DESCRIPTIVE && block->info->opaque && !inverse->opaque)
      return idm_fail(opt_error, IDM_INPUT,
                      "%s has %zu numbers without names, too many for '%s'; use --inverse map or "
                      "distribution-matching",
                      block->info->name, block->size, inverse->name);
  }
  return IDM_OK;
}

/* Rejects likelihood methods for a free rule that takes its best action: its probabilities are
 * piecewise constant in the weights. */
static idm_status check_choice(const idm_inverse *inverse, const idm_problem *problem,
                               idm_error *opt_error)
{
  const bool free_rule = problem->theta->block[IDM_WEIGHTS].role == IDM_DESCRIPTIVE &&
                         idm_agent_uses_key(problem, "choice");
  if (!idm_inverse_by_likelihood(inverse) || !free_rule || problem->agent.choice != IDM_CHOICE_BEST)
    return IDM_OK;
  return idm_fail(
      opt_error, IDM_INPUT,
      "'%s' needs action probabilities between 0 and 1, and those of a rule that takes its best "
      "action (choice: best) are 0 and 1; use --inverse distribution-matching, or choice: drawn",
      inverse->name);
}

static bool is_environment_clamped(const idm_planner *planner)
{
  for (size_t i = 0; i < planner->clamps; i++)
    if (planner->clamp[i].kind == IDM_CLAMP_ENVIRONMENT) return true;
  return false;
}

/* true if beliefs over hidden states depend on a block. */
static bool affects_beliefs(const idm_theta *theta, size_t id)
{
  return id == IDM_TRANSITION || id == IDM_EMISSION || id == IDM_SENSOR_CAPACITY ||
         theta->block[id].info->belief_update;
}

/* Rejects beliefs that depend on the free numbers, as those over several models depend on their
 * weights: two policies then have no common space of beliefs to be compared on. */
static idm_status check_beliefs(const idm_inverse *inverse, const idm_problem *problem,
                                idm_error *opt_error)
{
  const idm_theta *theta = problem->theta;
  if (problem->setting->fully_observed) return IDM_OK;
  for (size_t i = 0; i < theta->blocks; i++)
    if (theta->block[i].role == IDM_DESCRIPTIVE && affects_beliefs(theta, i))
      return idm_fail(opt_error, IDM_INPUT,
                      "'%s' compares policies at the agent's beliefs, which depend on %s, which is "
                      "free; use --inverse map or bayes",
                      inverse->name, theta->block[i].info->name);
  if (isfinite(idm_theta_scalar(theta, IDM_SENSOR_CAPACITY)))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' compares policies at the agent's beliefs, which a log does not determine "
                    "for an agent with a finite sensor_capacity; use --inverse map or bayes",
                    inverse->name);
  if (theta->models == 1 || is_environment_clamped(idm_agent_planner(&problem->agent)))
    return IDM_OK;
  const idm_block *beta = &theta->block[IDM_BETA];
  const bool held = !idm_planner_reads(idm_agent_planner(&problem->agent), IDM_BETA) ||
                    (beta->role != IDM_DESCRIPTIVE && isinf(beta->value[0]));
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' compares policies at the agent's beliefs, which with %zu models %s; "
                  "expected one model, or --inverse map or bayes",
                  inverse->name, theta->models,
                  held ? "are not on the lattice of this inverse planner"
                       : "depend on the weights that beta gives them");
}

/* For inverse planners by state: choices must depend on the state alone, or on the belief if states
 * are hidden. */
static idm_status check_states(const idm_inverse *inverse, const idm_problem *problem,
                               idm_error *opt_error)
{
  const idm_block *habit = &problem->theta->block[IDM_PERSEVERANCE];
  const char *what = problem->setting->fully_observed ? "state" : "belief";
  if (!inverse->by_state) return IDM_OK;
  if (habit->role == IDM_DESCRIPTIVE || habit->value[0] != 0)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' compares policies by %s, and with perseverance choices depend on the "
                    "previous action; expected perseverance: 0",
                    inverse->name, what);
  if (idm_policy_by_belief(problem)) return check_beliefs(inverse, problem, opt_error);
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' compares policies by %s, which '%s' does not have here: its choices "
                  "depend on more than the %s, or its utilities on columns of the log",
                  inverse->name, what, idm_agent_planner(&problem->agent)->name, what);
}

/* Why an inverse planner of one block does not infer another one. Lapse and perseverance apply to
 * the policy after planning, and no objective other than a likelihood contains them. */
static const char *reason_not_inferred(const idm_inverse *inverse, size_t id)
{
  if (inverse->alone && (id == IDM_LAPSE || id == IDM_PERSEVERANCE))
    return "it changes choices after planning, and the objective is of plans or of utilities; use "
           "--inverse map or bayes";
  return inverse->alone ? inverse->alone : "";
}

/* The target block must be free, and no other block except the extra one. */
static idm_status check_free(const idm_inverse *inverse, const idm_problem *problem,
                             idm_error *opt_error)
{
  const idm_theta *theta = problem->theta;
  bool found = false;
  for (size_t i = 0; i < theta->blocks && inverse->target_block; i++) {
    const idm_block *block = &theta->block[i];
    if (block->role != IDM_DESCRIPTIVE) continue;
    if (inverse->extra_block && strcmp(block->info->name, inverse->extra_block) == 0) {
      found = found || inverse->extra_alone;
      continue;
    }
    const bool hidden = !problem->setting->fully_observed && affects_beliefs(theta, i);
    if (hidden)
      return idm_fail(opt_error, IDM_INPUT,
                      "'%s' computes beliefs by Bayes' rule with dynamics that are held, and %s, "
                      "which they depend on, is free; use --inverse map or bayes",
                      inverse->name, block->info->name);
    if (strcmp(block->info->name, inverse->target_block) != 0)
      return idm_fail(opt_error, IDM_INPUT, "'%s' estimates %s alone, and %s is free%s%s",
                      inverse->name, inverse->target_block, block->info->name,
                      inverse->alone ? ": " : "", reason_not_inferred(inverse, i));
    found = true;
  }
  if (found || !inverse->target_block) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' estimates %s, and none is free: name entries under `free:`, or all of them "
                  "by --free %s",
                  inverse->name, inverse->target_block, inverse->target_block);
}

static idm_status check_features(const idm_inverse *inverse, const idm_theta *theta,
                                 idm_error *opt_error)
{
  if (!theta->block[IDM_UTILITY].features || !inverse->target_block || inverse->features ||
      strcmp(inverse->target_block, idm_block_name(IDM_UTILITY)) != 0)
    return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' does not support utilities that are linear in features; give `utility` in "
                  "place of `features`, or use another inverse planner",
                  inverse->name);
}

/* Searches plan for many values of the numbers where the likelihood is rough: `map` with one free
 * utility of Tiger learns 10,000 controllers, and with six more than 134,000, whatever their
 * budget. */
static idm_status check_learnt(const idm_inverse *inverse, const idm_problem *problem,
                               idm_error *opt_error)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  const idm_theta *theta = problem->theta;
  for (size_t i = 0; i < theta->blocks && planner->transitions; i++)
    if (theta->block[i].role == IDM_DESCRIPTIVE && i != IDM_PERSEVERANCE && i != IDM_LAPSE)
      return idm_fail(
          opt_error, IDM_INPUT,
          "'%s' plans for more than 10,000 values per free number, and '%s' learns each "
          "plan from sampled episodes, %ld transitions by default: it cannot infer %s; "
          "expected perseverance and lapse alone to be free, or a planner that uses the "
          "environment's dynamics",
          inverse->name, planner->name, planner->transitions, theta->block[i].info->name);
  return IDM_OK;
}

idm_status idm_inverse_check(const idm_inverse *inverse, const idm_problem *problem,
                             const idm_data *data, idm_error *opt_error)
{
  idm_require(inverse, problem, data);
  const idm_status data_status = idm_data_validate(data, problem->setting, opt_error);
  if (data_status != IDM_OK) return data_status;
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  const bool is_invertible =
      inverse->family == IDM_ANY_PLANNER ||
      (inverse->family == IDM_BELIEF_PLANNER ? planner->belief != NULL : planner->lattice != NULL);
  if (!is_invertible)
    return idm_fail(opt_error, IDM_INPUT, "'%s' cannot invert the planner '%s', which %s",
                    inverse->name, planner->name,
                    inverse->family == IDM_BELIEF_PLANNER ? "does not decide by a belief"
                                                          : "solves no lattice");
  if (inverse->gradient && !idm_planner_behavior(planner)->derivative)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs derivatives, which the planner '%s' does not have", inverse->name,
                    planner->name);
  idm_status status = check_columns(inverse, problem, data, opt_error);
  if (status == IDM_OK) status = check_preferences(inverse, data, opt_error);
  if (status == IDM_OK) status = check_free(inverse, problem, opt_error);
  if (status == IDM_OK) status = check_states(inverse, problem, opt_error);
  if (status == IDM_OK) status = check_features(inverse, problem->theta, opt_error);
  if (status == IDM_OK) status = check_choice(inverse, problem, opt_error);
  if (status == IDM_OK) status = check_learnt(inverse, problem, opt_error);
  if (status == IDM_OK) status = check_blocks(inverse, problem->theta, opt_error);
  if (status == IDM_OK && inverse->planner && strcmp(planner->name, inverse->planner) != 0)
    status = idm_fail(opt_error, IDM_INPUT, "'%s' finds %s of the planner '%s'; this one is '%s'",
                      inverse->name, inverse->target_block ? inverse->target_block : "numbers",
                      inverse->planner, planner->name);
  return status;
}
