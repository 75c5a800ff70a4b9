/* Inverse planners and their settings.
 *
 * Contents: settings · inverse */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/system.h"
#include "idm/behavior.h"
#include "idm/data.h"
#include "idm/inverse.h"
#include "idm/planner.h"
#include "invert/policy.h"
#include "invert/settings.h"

/* === settings =============================================================================== */

/* The settings of a fit: defaults, keys, the paper's scheme; and work under way. */

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

/* What follows from an inverse planner's table. */

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
  return idm_fail(opt_error, IDM_INPUT,
                  "preferences say nothing to '%s'; leave --preferences out, or see `idm list "
                  "inverses`",
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

/* Weights of a rule that takes its best action move no probability but by leaps. */
static idm_status check_choice(const idm_inverse *inverse, const idm_problem *problem,
                               idm_error *opt_error)
{
  const bool free_rule = problem->theta->block[IDM_WEIGHTS].role == IDM_DESCRIPTIVE &&
                         idm_agent_uses_key(problem, "choice");
  if (!idm_inverse_by_likelihood(inverse) || !free_rule || problem->agent.choice != IDM_CHOICE_BEST)
    return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' goes by probabilities, and those of a rule that takes its best action "
                  "(choice: best) are 0 and 1; use --inverse distribution-matching, or choice: "
                  "drawn",
                  inverse->name);
}

static bool is_environment_clamped(const idm_planner *planner)
{
  for (size_t i = 0; i < planner->clamps; i++)
    if (planner->clamp[i].kind == IDM_CLAMP_ENVIRONMENT) return true;
  return false;
}

/* Whether beliefs of hidden states move with a block. */
static bool affects_beliefs(const idm_theta *theta, size_t id)
{
  return id == IDM_TRANSITION || id == IDM_EMISSION || id == IDM_SENSOR_CAPACITY ||
         theta->block[id].info->belief_update;
}

/* Beliefs that move with the free numbers, as those of several models do with their weights, are no
 * common space of two policies. */
static idm_status check_beliefs(const idm_inverse *inverse, const idm_problem *problem,
                                idm_error *opt_error)
{
  const idm_theta *theta = problem->theta;
  if (problem->setting->fully_observed) return IDM_OK;
  for (size_t i = 0; i < theta->blocks; i++)
    if (theta->block[i].role == IDM_DESCRIPTIVE && affects_beliefs(theta, i))
      return idm_fail(opt_error, IDM_INPUT,
                      "'%s' compares what is done at the agent's beliefs, and %s, which is free, "
                      "moves these; use --inverse map or bayes",
                      inverse->name, theta->block[i].info->name);
  if (isfinite(idm_theta_scalar(theta, IDM_SENSOR_CAPACITY)))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' compares what is done at the agent's beliefs, which a log of an agent "
                    "with a finite sensor_capacity leaves open; use --inverse map or bayes",
                    inverse->name);
  if (theta->models == 1 || is_environment_clamped(idm_agent_planner(&problem->agent)))
    return IDM_OK;
  const idm_block *beta = &theta->block[IDM_BETA];
  const bool held = !idm_planner_reads(idm_agent_planner(&problem->agent), IDM_BETA) ||
                    (beta->role != IDM_DESCRIPTIVE && isinf(beta->value[0]));
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' compares what is done at the agent's beliefs, which of %zu models %s; "
                  "expected one model, or --inverse map or bayes",
                  inverse->name, theta->models,
                  held ? "no lattice of this inverse planner follows"
                       : "move with the weights that beta gives them");
}

/* Choices by state, or by belief where states are hidden, alone. */
static idm_status check_states(const idm_inverse *inverse, const idm_problem *problem,
                               idm_error *opt_error)
{
  const idm_block *habit = &problem->theta->block[IDM_PERSEVERANCE];
  const char *what = problem->setting->fully_observed ? "state" : "belief";
  if (!inverse->by_state) return IDM_OK;
  if (habit->role == IDM_DESCRIPTIVE || habit->value[0] != 0)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' compares policies by %s, and with perseverance choices depend on the "
                    "action before; expected perseverance: 0",
                    inverse->name, what);
  if (idm_policy_by_belief(problem)) return check_beliefs(inverse, problem, opt_error);
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' compares policies by %s, which '%s' does not have here: its choices "
                  "depend on more than the %s, or its utilities on columns of the log",
                  inverse->name, what, idm_agent_planner(&problem->agent)->name, what);
}

/* What it looks for is free, and nothing else is. */
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
      return idm_fail(
          opt_error, IDM_INPUT,
          "'%s' follows beliefs by Bayes' rule in dynamics that are held, and %s, which "
          "is free, moves these; use --inverse map or bayes",
          inverse->name, block->info->name);
    if (strcmp(block->info->name, inverse->target_block) != 0)
      return idm_fail(opt_error, IDM_INPUT,
                      "'%s' looks for %s and nothing else, and %s is free%s%s", inverse->name,
                      inverse->target_block, block->info->name, inverse->alone ? ": " : "",
                      inverse->alone ? inverse->alone : "");
    found = true;
  }
  if (found || !inverse->target_block) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' looks for %s, and none is free: name entries under `free:`, or all of them "
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
                  "'%s' takes no utility that is linear in features; give `utility` in place of "
                  "`features`, or use another inverse planner",
                  inverse->name);
}

/* Free numbers that a plan depends on: habits and slips are of the choice after it. */
static size_t count_planned(const idm_problem *problem)
{
  const idm_theta *theta = problem->theta;
  size_t count = 0;
  for (size_t i = 0; i < theta->blocks; i++) {
    const idm_block *block = &theta->block[i];
    if (block->role != IDM_DESCRIPTIVE || i == IDM_PERSEVERANCE || i == IDM_LAPSE) continue;
    count += block->coordinate ? block->coordinate_name.count : block->size;
  }
  return count;
}

/* A plan that is learnt from episodes is learnt for every value that a search tries. On Tiger with
 * six utilities free and a budget of 2,000, `map` takes 20 s. */
static idm_status check_budget(const idm_inverse *inverse, const idm_problem *problem,
                               idm_error *opt_error)
{
  static const double max_transitions = 1e8, tries_per_number = 3000;
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  const long budget = problem->agent.budget > 0 ? problem->agent.budget : planner->transitions;
  const double evaluations = tries_per_number * (double)count_planned(problem);
  if (!planner->transitions || evaluations * (double)budget <= max_transitions) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' plans for about %.0f values of the free numbers, and '%s' learns each plan "
                  "from %ld transitions, which takes hours; expected --set budget=%.0f or less, a "
                  "planner that knows the environment, or fewer free numbers",
                  inverse->name, evaluations, planner->name, budget,
                  floor(max_transitions / evaluations));
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
    return idm_fail(opt_error, IDM_INPUT, "'%s' needs derivatives, which the planner '%s' has not",
                    inverse->name, planner->name);
  idm_status status = check_columns(inverse, problem, data, opt_error);
  if (status == IDM_OK) status = check_preferences(inverse, data, opt_error);
  if (status == IDM_OK) status = check_free(inverse, problem, opt_error);
  if (status == IDM_OK) status = check_states(inverse, problem, opt_error);
  if (status == IDM_OK) status = check_features(inverse, problem->theta, opt_error);
  if (status == IDM_OK) status = check_choice(inverse, problem, opt_error);
  if (status == IDM_OK) status = check_budget(inverse, problem, opt_error);
  if (status == IDM_OK) status = check_blocks(inverse, problem->theta, opt_error);
  if (status == IDM_OK && inverse->planner && strcmp(planner->name, inverse->planner) != 0)
    status = idm_fail(opt_error, IDM_INPUT, "'%s' finds %s of the planner '%s'; this one is '%s'",
                      inverse->name, inverse->target_block ? inverse->target_block : "numbers",
                      inverse->planner, planner->name);
  return status;
}
