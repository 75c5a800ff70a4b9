/* Clamps of planners, and properties derived from a planner's table.
 *
 * Contents: clamp · planner */
#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "idm/extension/planner.h"
#include "plan/plan.h"
#include "plan/workspace.h"
#include "setting/model.h"

/* === clamp ================================================================================== */

/* A clamp fixes a block of theta or constrains its sign. Clamps define a planner as a special case
 * of another. */

/* Dirac model prior: every model is set to the environment's dynamics. The number of models does
 * not change, so that the shape of theta does not depend on the planner. */
static idm_status set_environment_models(const idm_planner *planner, const idm_setting *setting,
                                         idm_theta *theta, idm_block_id id, idm_error *opt_error)
{
  if (setting->moves) return IDM_OK; /* sparse transitions are the only model */
  if (!idm_setting_has_dynamics(setting) && planner->needs & IDM_NEEDS_BATCH)
    return IDM_OK; /* the planner may learn from a log instead */
  const double *matrix = id == IDM_TRANSITION ? setting->transition : setting->emission;
  if (!matrix)
    return idm_fail(opt_error, IDM_INPUT,
                    "this agent plans in the environment, but its dynamics are not given");
  const size_t size = theta->block[id].size / theta->models;
  for (size_t m = 0; m < theta->models; m++)
    memcpy(theta->block[id].value + m * size, matrix, size * sizeof *matrix);
  return IDM_OK;
}

static idm_status check_sign(const idm_theta *theta, const idm_clamp *clamp, idm_error *opt_error)
{
  const bool positive = clamp->kind == IDM_CLAMP_POSITIVE;
  const double value = idm_theta_scalar(theta, clamp->block);
  if (isfinite(value) && (positive ? value > 0 : value < 0)) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT, "this agent needs a %s, finite %s; it is %g",
                  positive ? "positive" : "negative", idm_block_name(clamp->block), value);
}

idm_status idm_clamp_apply(const idm_planner *planner, const idm_setting *setting, idm_theta *theta,
                           idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < planner->clamps && status == IDM_OK; i++) {
    const idm_clamp *clamp = &planner->clamp[i];
    idm_block *block = &theta->block[clamp->block];
    switch (clamp->kind) {
    case IDM_CLAMP_VALUE:
    case IDM_CLAMP_UNIFORM:
      for (size_t k = 0; k < block->size; k++)
        block->value[k] = clamp->kind == IDM_CLAMP_VALUE ? clamp->value : 1.0 / (double)block->size;
      break;
    case IDM_CLAMP_ENVIRONMENT:
      if (block->role == IDM_DESCRIPTIVE)
        break; /* free dynamics are the agent's own, and are estimated */
      status = set_environment_models(planner, setting, theta, clamp->block, opt_error);
      break;
    case IDM_CLAMP_IRRELEVANT:
      break;
    default:
      status = check_sign(theta, clamp, opt_error);
    }
  }
  return status;
}

/* === planner ================================================================================ */

/* Properties that follow from a planner's table alone. */

/* Whether a clamp fixes its block: all kinds except the sign constraints. */
static bool fixes_block(const idm_clamp *clamp)
{
  return clamp->kind != IDM_CLAMP_POSITIVE && clamp->kind != IDM_CLAMP_NEGATIVE;
}

bool idm_planner_reads(const idm_planner *planner, size_t id)
{
  if (!planner) return false;
  if (id >= IDM_BLOCK_COUNT) return id - IDM_BLOCK_COUNT < planner->own_count;
  const idm_block_info *info = idm_block_describe((idm_block_id)id);
  for (size_t i = 0; i < planner->clamps; i++)
    if (planner->clamp[i].block == id && fixes_block(&planner->clamp[i])) return false;
  if ((info->choice_bias || info->belief_update) && !planner->behavior) return true;
  for (const idm_block_id *read = planner->reads; *read != IDM_BLOCK_COUNT; read++)
    if (*read == id) return true;
  return false;
}

bool idm_planner_uses_dynamics(const idm_planner *planner, const idm_setting *setting, size_t id)
{
  if (planner && planner->rule && setting && setting->fully_observed) return false;
  for (size_t i = 0; planner && i < planner->clamps; i++)
    if (planner->clamp[i].block == id && planner->clamp[i].kind == IDM_CLAMP_ENVIRONMENT)
      return true;
  return idm_planner_reads(planner, id);
}

bool idm_planner_reads_free(const idm_planner *planner, const idm_theta *theta, size_t id)
{
  if (!planner || !theta || id >= theta->blocks) return false;
  for (size_t i = 0; i < planner->clamps; i++)
    if (planner->clamp[i].block == id && planner->clamp[i].kind == IDM_CLAMP_ENVIRONMENT &&
        theta->block[id].role == IDM_DESCRIPTIVE)
      return true;
  return idm_planner_reads(planner, id);
}

/* Size of block k of the planner's own blocks if the planner determines it; else 0. */
static size_t own_block_size(const idm_planner *planner, const idm_agent_options *agent,
                             idm_sizes sizes, size_t k)
{
  const bool size_by_planner = planner->own[k].opaque && !planner->own[k].count;
  return size_by_planner ? planner->shape(agent, sizes, k, NULL) : 0;
}

idm_status idm_planner_shape(const idm_planner *planner, const idm_agent_options *agent,
                             idm_theta *theta, idm_error *opt_error)
{
  idm_require(planner, agent, theta);
  idm_status status = IDM_OK;
  for (size_t k = 0; k < planner->own_count && status == IDM_OK; k++) {
    const size_t count = own_block_size(planner, agent, theta->sizes, k);
    if (!count) continue;
    status = idm_theta_resize(theta, IDM_BLOCK_COUNT + k, count, 1, opt_error);
    if (status == IDM_OK)
      planner->shape(agent, theta->sizes, k, theta->block[IDM_BLOCK_COUNT + k].value);
  }
  return status;
}

idm_status idm_planner_check_shape(const idm_planner *planner, const idm_agent_options *agent,
                                   const idm_theta *theta, idm_error *opt_error)
{
  idm_require(planner, agent, theta);
  if (theta->blocks != IDM_BLOCK_COUNT + planner->own_count)
    return idm_fail(opt_error, IDM_USAGE, "theta does not contain the blocks of planner '%s'",
                    planner->name);
  for (size_t k = 0; k < planner->own_count; k++) {
    const size_t count = own_block_size(planner, agent, theta->sizes, k);
    if (count && theta->block[IDM_BLOCK_COUNT + k].size != count)
      return idm_fail(opt_error, IDM_USAGE, "%s has %zu numbers; the agent requires %zu",
                      planner->own[k].name, theta->block[IDM_BLOCK_COUNT + k].size, count);
  }
  return IDM_OK;
}
