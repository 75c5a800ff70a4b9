/* Transfer an agent to the environment of another problem: its numbers are kept, its models are
 * derived again. */

#include <string.h>

#include "base/arguments.h"
#include "base/text.h"
#include "idm/extension/dynamics.h"
#include "setting/model.h"

/* IDM_INPUT at the first difference of two lists of names. */
static idm_status check_names(const char *what, const idm_labels *found, const idm_labels *expected,
                              idm_error *opt_error)
{
  if (found->count != expected->count)
    return idm_fail(opt_error, IDM_INPUT, "the other problem has %zu %ss; expected %zu, as here",
                    found->count, what, expected->count);
  for (size_t i = 0; i < found->count; i++)
    if (strcmp(found->name[i], expected->name[i]) != 0)
      return idm_fail(opt_error, IDM_INPUT,
                      "%s %zu of the other problem is '%.60s'; expected '%.60s', as here", what,
                      i + 1, found->name[i], expected->name[i]);
  return IDM_OK;
}

static idm_status check_spaces(const idm_setting *found, const idm_setting *expected,
                               idm_error *opt_error)
{
  const bool observed = found->fully_observed || expected->fully_observed;
  idm_status status = check_names("state", &found->states, &expected->states, opt_error);
  if (status == IDM_OK)
    status = check_names("action", &found->actions, &expected->actions, opt_error);
  if (status == IDM_OK && !observed)
    status = check_names("observation", &found->observations, &expected->observations, opt_error);
  return status;
}

idm_status idm_problem_check_models(const idm_problem *problem, idm_error *opt_error)
{
  static const idm_block_id dynamics[] = {IDM_TRANSITION, IDM_EMISSION};
  for (size_t i = 0; i < sizeof dynamics / sizeof dynamics[0]; i++) {
    const idm_block *block = &problem->theta->block[dynamics[i]];
    if (block->role == IDM_DESCRIPTIVE)
      return idm_fail(opt_error, IDM_INPUT,
                      "%s is free, and was inferred for the environment of its own problem; "
                      "expected an agent whose models follow from the environment",
                      block->info->name);
  }
  if (problem->setting->moves || idm_problem_models_derived(problem)) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "the agent has an explicit list of models; expected models that follow from the "
                  "environment: `models: {perturb: ...}`, `{uniform: ...}` or none");
}

/* A terminal state has utility 0, so an agent whose utility in that state is free or not 0 is
 * rejected. */
static idm_status check_terminal(const idm_setting *setting, const idm_block *utility,
                                 idm_error *opt_error)
{
  for (size_t i = 0; i < utility->size; i++) {
    const size_t s = i % setting->states.count;
    const bool inferred =
        utility->role == IDM_DESCRIPTIVE && (!utility->coordinate || utility->coordinate[i] >= 0);
    if (setting->terminal_state[s] && (inferred || utility->value[i] != 0))
      return idm_fail(opt_error, IDM_INPUT,
                      "'%.60s' is terminal in the other problem, so that its utility there is 0; "
                      "expected a state whose utility is fixed at 0 here",
                      setting->states.name[s]);
  }
  return IDM_OK;
}

static bool has_rule(const idm_model_rule *rule)
{
  return rule->perturb[0] > 0 || rule->perturb[1] > 0 || rule->uniform > 0;
}

/* Derive the models of the other problem by the rule of this agent. */
static idm_status make_models(const idm_problem *problem, idm_problem *other, idm_error *opt_error)
{
  const idm_block *weights = &problem->theta->block[IDM_MODEL_PRIOR];
  idm_status status = IDM_OK;
  idm_theta_clamp(other->theta);
  if (!other->setting->moves || has_rule(&problem->models))
    status = idm_problem_apply_rule(other, &problem->models, opt_error);
  if (status == IDM_OK && weights->size != other->theta->block[IDM_MODEL_PRIOR].size)
    status = idm_fail(opt_error, IDM_INPUT,
                      "the agent has %zu models in the other problem; expected %zu, as here",
                      other->theta->models, problem->theta->models);
  return status;
}

static void swap_blocks(idm_block *a, idm_block *b)
{
  const idm_block kept = *a;
  *a = *b;
  *b = kept;
}

/* Exchange all blocks except the matrices, which belong to an environment. */
static idm_status swap_parameters(idm_problem *problem, idm_problem *other, idm_error *opt_error)
{
  const idm_theta *from = problem->theta;
  const size_t owned = from->blocks - IDM_BLOCK_COUNT;
  const idm_status status = idm_theta_set_own_blocks(
      other->theta, owned ? from->block[IDM_BLOCK_COUNT].info : NULL, owned, opt_error);
  for (size_t i = 0; status == IDM_OK && i < from->blocks; i++)
    if (i != IDM_TRANSITION && i != IDM_EMISSION)
      swap_blocks(&from->block[i], &other->theta->block[i]);
  return status;
}

static void swap_environments(idm_problem *a, idm_problem *b)
{
  const idm_problem kept = *a;
  a->setting = b->setting;
  a->theta = b->theta;
  a->environments = b->environments;
  a->environment = b->environment;
  a->current_environment = b->current_environment;
  b->setting = kept.setting;
  b->theta = kept.theta;
  b->environments = kept.environments;
  b->environment = kept.environment;
  b->current_environment = kept.current_environment;
}

/* The features of both problems must have the same names. */
static idm_status check_features(const idm_problem *problem, const idm_problem *other,
                                 idm_error *opt_error)
{
  const idm_features *own_block = problem->theta->block[IDM_UTILITY].features;
  const idm_features *other_block = other->theta->block[IDM_UTILITY].features;
  return own_block && other_block
             ? check_names("feature", &other_block->name, &own_block->name, opt_error)
             : IDM_OK;
}

static bool any_nonzero(const double *value, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (value[i] != 0) return true;
  return false;
}

static bool differ(const double *a, const double *b, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (a[i] != b[i]) return true;
  return false;
}

/* Name of the part of the other problem's utility that is not used: features, their weights, the
 * utility; NULL: none. */
static const char *unused_utility(const idm_block *own_block, const idm_block *other_block)
{
  const idm_features *f = own_block->features;
  const idm_features *g = other_block->features;
  if (g && (!f || differ(f->value, g->value, f->name.count * own_block->size))) return "features";
  if (g)
    return any_nonzero(g->weight, g->name.count) && differ(f->weight, g->weight, f->name.count)
               ? "feature_weights"
               : NULL;
  return any_nonzero(other_block->value, other_block->size) &&
                 differ(own_block->value, other_block->value, own_block->size)
             ? "utility"
             : NULL;
}

void idm_problem_name_unused(const idm_problem *problem, const idm_problem *other, char *buffer,
                             size_t size)
{
  const idm_block *own_block = problem->theta->block;
  const idm_block *other_block = other->theta->block;
  const char *utility = problem->utility_sources != other->utility_sources
                            ? "utility"
                            : unused_utility(&own_block[IDM_UTILITY], &other_block[IDM_UTILITY]);
  const double discount = other_block[IDM_DISCOUNT].value[0],
               kept = own_block[IDM_DISCOUNT].value[0];
  const size_t length = (size_t)idm_print(buffer, size, "%s", utility ? utility : "");
  if (discount != kept)
    idm_print(buffer + length, size - length, "%sdiscount (%g; here %g)", utility ? ", " : "",
              discount, kept);
}

idm_status idm_problem_transfer(idm_problem *problem, idm_problem *other, idm_error *opt_error)
{
  idm_require(problem, other);
  if (problem == other)
    return idm_fail(opt_error, IDM_USAGE, "the problem is in its own environment");
  idm_status status = check_spaces(other->setting, problem->setting, opt_error);
  if (status == IDM_OK) status = idm_problem_check_models(problem, opt_error);
  if (status == IDM_OK) status = check_features(problem, other, opt_error);
  if (status == IDM_OK)
    status = check_terminal(other->setting, &problem->theta->block[IDM_UTILITY], opt_error);
  if (status == IDM_OK) status = make_models(problem, other, opt_error);
  if (status == IDM_OK) status = swap_parameters(problem, other, opt_error);
  if (status != IDM_OK) return status;
  swap_environments(problem, other);
  return idm_problem_validate(problem, opt_error);
}
