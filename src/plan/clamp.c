/* Clamps: what makes one planner of another, as data. */
#include "plan/clamp.h"

#include <math.h>
#include <string.h>

/* A Dirac model prior: the agent knows the environment. The number of models stays, each of them
 * the environment's, so that the shape of theta does not depend on the planner. */
static idm_status know_environment(const idm_planner *planner, const idm_setting *setting,
                                   idm_theta *theta, idm_block_id id, idm_error *opt_error)
{
  if (setting->moves) return IDM_OK; /* the only model there is */
  if (!idm_setting_known(setting) && planner->needs & IDM_NEEDS_BATCH)
    return IDM_OK; /* it may learn from a log, whatever the models */
  const double *known = id == IDM_TRANSITION ? setting->transition : setting->emission;
  if (!known)
    return idm_fail(opt_error, IDM_INPUT,
                    "this agent knows the environment, but its dynamics are not given");
  const size_t size = theta->block[id].size / theta->models;
  for (size_t m = 0; m < theta->models; m++)
    memcpy(theta->block[id].value + m * size, known, size * sizeof *known);
  return IDM_OK;
}

static idm_status need_sign(const idm_theta *theta, const idm_clamp *clamp, idm_error *opt_error)
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
      if (block->role == IDM_DESCRIPTIVE) break; /* dynamics of its own are looked for */
      status = know_environment(planner, setting, theta, clamp->block, opt_error);
      break;
    case IDM_CLAMP_IDLE:
      break;
    default:
      status = need_sign(theta, clamp, opt_error);
    }
  }
  return status;
}
