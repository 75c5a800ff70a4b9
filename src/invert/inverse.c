/* What follows from an inverse planner's table. */
#include "idm/inverse.h"

#include <math.h>
#include <string.h>

#include "base/door.h"
#include "idm/behavior.h"
#include "idm/data.h"
#include "idm/planner.h"
#include "invert/policy.h"

idm_status idm_inverse_fit(const idm_inverse *inverse, const idm_problem *problem,
                           const idm_data *data, const idm_fit_settings *settings,
                           const idm_fit_watch *opt_watch, idm_posterior **ret_posterior,
                           idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(inverse, problem, data, settings, ret_posterior);
  const idm_fit_call call = {.inverse = inverse,
                             .problem = problem,
                             .data = data,
                             .settings = settings,
                             .opt_watch = opt_watch,
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
  return inverse && !inverse->finds && !inverse->own_objective;
}

static idm_status check_columns(const idm_inverse *inverse, const idm_problem *problem,
                                const idm_data *data, idm_error *opt_error)
{
  unsigned wanted = inverse->columns;
  if (idm_agent_planner(&problem->agent)->needs & IDM_NEEDS_REWARDS)
    wanted |= 1u << IDM_COLUMN_REWARD;
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    const idm_column_info *info = idm_column_describe((idm_column)c);
    if (!(wanted & 1u << c) || data->number[c] || data->label[c]) continue;
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
                         idm_agent_heeds(problem, "choice");
  if (!idm_inverse_by_likelihood(inverse) || !free_rule || problem->agent.choice != IDM_CHOICE_BEST)
    return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' goes by probabilities, and those of a rule that takes its best action "
                  "(choice: best) are 0 and 1; use --inverse distribution-matching, or choice: "
                  "drawn",
                  inverse->name);
}

static bool knows_environment(const idm_planner *planner)
{
  for (size_t i = 0; i < planner->clamps; i++)
    if (planner->clamp[i].kind == IDM_CLAMP_ENVIRONMENT) return true;
  return false;
}

/* Beliefs that move with the free numbers, as those of several models do with their weights, are no
 * common space of two policies. */
static idm_status check_beliefs(const idm_inverse *inverse, const idm_problem *problem,
                                idm_error *opt_error)
{
  static const idm_block_id makes[] = {IDM_TRANSITION, IDM_EMISSION, IDM_PRIOR_WEIGHT,
                                       IDM_EVIDENCE_WEIGHT, IDM_SENSOR_CAPACITY};
  const idm_theta *theta = problem->theta;
  if (problem->setting->fully_observed) return IDM_OK;
  for (size_t i = 0; i < sizeof makes / sizeof makes[0]; i++)
    if (theta->block[makes[i]].role == IDM_DESCRIPTIVE)
      return idm_fail(opt_error, IDM_INPUT,
                      "'%s' compares what is done at the agent's beliefs, and %s, which is free, "
                      "moves these; use --inverse map or bayes",
                      inverse->name, idm_block_name(makes[i]));
  if (isfinite(idm_theta_scalar(theta, IDM_SENSOR_CAPACITY)))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' compares what is done at the agent's beliefs, which a log of an agent "
                    "with a finite sensor_capacity leaves open; use --inverse map or bayes",
                    inverse->name);
  if (theta->models == 1 || knows_environment(idm_agent_planner(&problem->agent))) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' compares what is done at the agent's beliefs, which of %zu models move "
                  "with the weights it gives them; expected one model, or --inverse map or bayes",
                  inverse->name, theta->models);
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
static idm_status check_free(const idm_inverse *inverse, const idm_theta *theta,
                             idm_error *opt_error)
{
  bool found = false;
  for (size_t i = 0; i < theta->blocks && inverse->finds; i++) {
    const idm_block *block = &theta->block[i];
    if (block->role != IDM_DESCRIPTIVE) continue;
    if (inverse->also && strcmp(block->info->name, inverse->also) == 0) continue;
    if (strcmp(block->info->name, inverse->finds) != 0)
      return idm_fail(opt_error, IDM_INPUT,
                      "'%s' looks for %s and nothing else, and %s is free%s%s", inverse->name,
                      inverse->finds, block->info->name, inverse->alone ? ": " : "",
                      inverse->alone ? inverse->alone : "");
    found = true;
  }
  if (found || !inverse->finds) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' looks for %s, and none is free: name entries under `free:`, or all of them "
                  "by --free %s",
                  inverse->name, inverse->finds, inverse->finds);
}

static idm_status check_features(const idm_inverse *inverse, const idm_theta *theta,
                                 idm_error *opt_error)
{
  if (!theta->block[IDM_UTILITY].features || !inverse->finds || inverse->features ||
      strcmp(inverse->finds, idm_block_name(IDM_UTILITY)) != 0)
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
  static const double most = 1e8, values = 3000;
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  const long budget = problem->agent.budget > 0 ? problem->agent.budget : planner->transitions;
  const double tried = values * (double)count_planned(problem);
  if (!planner->transitions || tried * (double)budget <= most) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' plans for about %.0f values of the free numbers, and '%s' learns each plan "
                  "from %ld transitions, which takes hours; expected --set budget=%.0f or less, a "
                  "planner that knows the environment, or fewer free numbers",
                  inverse->name, tried, planner->name, budget, floor(most / tried));
}

idm_status idm_inverse_check(const idm_inverse *inverse, const idm_problem *problem,
                             const idm_data *data, idm_error *opt_error)
{
  idm_require(inverse, problem, data);
  const idm_status legal = idm_data_validate(data, problem->setting, opt_error);
  if (legal != IDM_OK) return legal;
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  const bool fits =
      inverse->family == IDM_ANY_PLANNER ||
      (inverse->family == IDM_BELIEF_PLANNER ? planner->belief != NULL : planner->lattice != NULL);
  if (!fits)
    return idm_fail(opt_error, IDM_INPUT, "'%s' cannot invert the planner '%s', which %s",
                    inverse->name, planner->name,
                    inverse->family == IDM_BELIEF_PLANNER ? "does not decide by a belief"
                                                          : "solves no lattice");
  if (inverse->gradient && !idm_planner_behavior(planner)->slope)
    return idm_fail(opt_error, IDM_INPUT, "'%s' needs derivatives, which the planner '%s' has not",
                    inverse->name, planner->name);
  idm_status status = check_columns(inverse, problem, data, opt_error);
  if (status == IDM_OK) status = check_preferences(inverse, data, opt_error);
  if (status == IDM_OK) status = check_free(inverse, problem->theta, opt_error);
  if (status == IDM_OK) status = check_states(inverse, problem, opt_error);
  if (status == IDM_OK) status = check_features(inverse, problem->theta, opt_error);
  if (status == IDM_OK) status = check_choice(inverse, problem, opt_error);
  if (status == IDM_OK) status = check_budget(inverse, problem, opt_error);
  if (status == IDM_OK) status = check_blocks(inverse, problem->theta, opt_error);
  if (status == IDM_OK && inverse->planner && strcmp(planner->name, inverse->planner) != 0)
    status = idm_fail(opt_error, IDM_INPUT, "'%s' finds %s of the planner '%s'; this one is '%s'",
                      inverse->name, inverse->finds ? inverse->finds : "numbers", inverse->planner,
                      planner->name);
  return status;
}
