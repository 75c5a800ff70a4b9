/* What follows from a planner's table alone. */
#include "idm/planner.h"

/* Whether a clamp leaves nothing of the block to move. */
static bool holds(const idm_clamp *clamp)
{
  return clamp->kind != IDM_CLAMP_POSITIVE && clamp->kind != IDM_CLAMP_NEGATIVE;
}

bool idm_planner_reads(const idm_planner *planner, size_t id)
{
  if (!planner) return false;
  if (id >= IDM_BLOCK_COUNT) return id - IDM_BLOCK_COUNT < planner->owns;
  if (idm_block_describe((idm_block_id)id)->habit && !planner->behavior) return true;
  for (size_t i = 0; i < planner->clamps; i++)
    if (planner->clamp[i].block == id && holds(&planner->clamp[i])) return false;
  for (const idm_block_id *read = planner->reads; *read != IDM_BLOCK_COUNT; read++)
    if (*read == id) return true;
  return false;
}
