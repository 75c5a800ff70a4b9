/* Behaviour of a planner, checks of a log against it, and the tree of histories that it
 * distinguishes. */
#include "idm/extension/behavior.h"

#include <string.h>

#include "base/arguments.h"
#include "idm/extension/data.h"
#include "idm/extension/planner.h"
#include "idm/extension/prefix.h"

#include "data/log.h"
#include "plan/believer/believer.h"
#include "plan/plan.h"
#include "setting/model.h"

const idm_behavior_ops *idm_planner_behavior(const idm_planner *planner)
{
  if (!planner) return NULL;
  return planner->behavior ? planner->behavior : &idm_belief_agent_ops;
}

/* A plan is for one environment: the log must contain one environment only, that of the problem. */
static idm_status check_environment(const idm_problem *problem, const idm_data *data,
                                    idm_error *opt_error)
{
  const int32_t *of = data->label[IDM_COLUMN_ENVIRONMENT];
  if (!problem->environments || !of) return IDM_OK;
  const idm_labels *name = &data->label_name[IDM_COLUMN_ENVIRONMENT];
  for (size_t t = 1; t < data->trajectories; t++)
    if (of[t] != of[0])
      return idm_fail(opt_error, IDM_INPUT,
                      "the log has several environments ('%.60s', '%.60s'), but behaviour is "
                      "planned for one: select it with --set environment=%.60s --where %s=%.60s",
                      name->name[of[0]], name->name[of[t]], name->name[of[0]],
                      idm_columns_name(&problem->columns, IDM_COLUMN_ENVIRONMENT, 0),
                      name->name[of[0]]);
  if (problem->current_environment &&
      strcmp(problem->environment[problem->current_environment - 1].name, name->name[of[0]]) == 0)
    return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "the log is of the environment '%.60s', but the problem is in %s%.60s%s: use "
                  "--set environment=%.60s",
                  name->name[of[0]], problem->current_environment ? "'" : "",
                  problem->current_environment
                      ? problem->environment[problem->current_environment - 1].name
                      : "its own",
                  problem->current_environment ? "'" : "", name->name[of[0]]);
}

/* A behaviour that requires an action at every step requires one for a missed response too. */
static idm_status check_missed(const idm_planner *planner, const idm_data *data,
                               idm_error *opt_error)
{
  if (idm_planner_behavior(planner)->accepts_no_action) return IDM_OK;
  for (size_t row = 0; data->missed && row < data->rows; row++) {
    if (!idm_data_missed(data, row) || data->action[row] != IDM_MISSING) continue;
    const idm_status status =
        idm_fail(opt_error, IDM_INPUT,
                 "a missed response without an action, which the planner '%s' requires; expected "
                 "data: {missed: {values: [...], action: ACTION}} in the problem file",
                 planner->name);
    idm_data_locate(data, row, opt_error);
    return status;
  }
  return IDM_OK;
}

idm_status idm_evidence_tree(const idm_problem *problem, const idm_data *data,
                             idm_prefix_tree **ret_tree, idm_error *opt_error)
{
  idm_require(problem, data, ret_tree);
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  idm_status status = idm_data_validate(data, problem->setting, opt_error);
  if (status == IDM_OK) status = check_environment(problem, data, opt_error);
  if (status == IDM_OK) status = check_missed(planner, data, opt_error);
  if (status != IDM_OK) return status;
  return idm_prefix_tree_create(data, idm_planner_behavior(planner)->scope, ret_tree, opt_error);
}
