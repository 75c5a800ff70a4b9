/* What follows from a planner's table alone. */
#include "idm/planner.h"

#include "base/door.h"

/* Whether a clamp leaves nothing of the block to move. */
static bool holds(const idm_clamp *clamp)
{
  return clamp->kind != IDM_CLAMP_POSITIVE && clamp->kind != IDM_CLAMP_NEGATIVE;
}

bool idm_planner_reads(const idm_planner *planner, size_t id)
{
  if (!planner) return false;
  if (id >= IDM_BLOCK_COUNT) return id - IDM_BLOCK_COUNT < planner->owns;
  const idm_block_info *info = idm_block_describe((idm_block_id)id);
  for (size_t i = 0; i < planner->clamps; i++)
    if (planner->clamp[i].block == id && holds(&planner->clamp[i])) return false;
  if ((info->habit || info->updates) && !planner->behavior) return true;
  for (const idm_block_id *read = planner->reads; *read != IDM_BLOCK_COUNT; read++)
    if (*read == id) return true;
  return false;
}

bool idm_planner_uses_dynamics(const idm_planner *planner, size_t id)
{
  for (size_t i = 0; planner && i < planner->clamps; i++)
    if (planner->clamp[i].block == id && planner->clamp[i].kind == IDM_CLAMP_ENVIRONMENT)
      return true;
  return idm_planner_reads(planner, id);
}

bool idm_planner_follows(const idm_planner *planner, const idm_theta *theta, size_t id)
{
  if (!planner || !theta || id >= theta->blocks) return false;
  for (size_t i = 0; i < planner->clamps; i++)
    if (planner->clamp[i].block == id && planner->clamp[i].kind == IDM_CLAMP_ENVIRONMENT &&
        theta->block[id].role == IDM_DESCRIPTIVE)
      return true;
  return idm_planner_reads(planner, id);
}

/* Numbers that block k of the planner's own is to have; 0 where that is no choice of its. */
static size_t shape_of(const idm_planner *planner, const idm_agent *agent, idm_sizes sizes,
                       size_t k)
{
  const bool chosen = planner->own[k].opaque && !planner->own[k].count;
  return chosen ? planner->shape(agent, sizes, k, NULL) : 0;
}

idm_status idm_planner_shape(const idm_planner *planner, const idm_agent *agent, idm_theta *theta,
                             idm_error *opt_error)
{
  idm_require(planner, agent, theta);
  idm_status status = IDM_OK;
  for (size_t k = 0; k < planner->owns && status == IDM_OK; k++) {
    const size_t count = shape_of(planner, agent, theta->sizes, k);
    if (!count) continue;
    status = idm_theta_resize(theta, IDM_BLOCK_COUNT + k, count, 1, opt_error);
    if (status == IDM_OK)
      planner->shape(agent, theta->sizes, k, theta->block[IDM_BLOCK_COUNT + k].value);
  }
  return status;
}

idm_status idm_planner_fits(const idm_planner *planner, const idm_agent *agent,
                            const idm_theta *theta, idm_error *opt_error)
{
  idm_require(planner, agent, theta);
  if (theta->blocks != IDM_BLOCK_COUNT + planner->owns)
    return idm_fail(opt_error, IDM_USAGE, "theta does not hold the blocks of planner '%s'",
                    planner->name);
  for (size_t k = 0; k < planner->owns; k++) {
    const size_t count = shape_of(planner, agent, theta->sizes, k);
    if (count && theta->block[IDM_BLOCK_COUNT + k].size != count)
      return idm_fail(opt_error, IDM_USAGE, "%s has %zu numbers; the agent asks for %zu",
                      planner->own[k].name, theta->block[IDM_BLOCK_COUNT + k].size, count);
  }
  return IDM_OK;
}
