/* Which behaviour a planner makes, and which histories it tells apart. */
#include "idm/behavior.h"
#include "base/door.h"
#include "idm/data.h"
#include "idm/planner.h"
#include "idm/prefix.h"

#include "plan/believer/believer.h"

const idm_behavior_ops *idm_planner_behavior(const idm_planner *planner)
{
  if (!planner) return NULL;
  return planner->behavior ? planner->behavior : &idm_believer_ops;
}

idm_status idm_evidence_tree(const idm_problem *problem, const idm_data *data,
                             idm_prefix_tree **ret_tree, idm_error *opt_error)
{
  idm_require(problem, data, ret_tree);
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  const idm_status status = idm_data_validate(data, problem->setting, opt_error);
  if (status != IDM_OK) return status;
  return idm_prefix_tree_create(data, idm_planner_behavior(planner)->scope, ret_tree, opt_error);
}
