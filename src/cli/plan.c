/* Planning on request: from capacities, and of planners that learn from the transitions of a log
 * (--batch, --rewards). */
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/plan.h"

/* Say which actions a log never takes in states where it does something: a few by name. */
static idm_status note_untried(cli_call *call, const idm_setting *setting, const idm_batch *batch)
{
  enum { named = 5 };
  const size_t states = setting->states.count, actions = setting->actions.count;
  bool *tried = calloc(states * (actions + 1), sizeof *tried); /* and in the end: any */
  if (!tried) return idm_fail_memory(&call->error);
  for (size_t i = 0; i < batch->count; i++)
    tried[batch->state[i] * actions + batch->action[i]] =
        tried[states * actions + batch->state[i]] = true;
  char list[700] = "";
  size_t untried = 0;
  for (size_t pair = 0; pair < states * actions; pair++) {
    const size_t s = pair / actions;
    if (tried[pair] || !tried[states * actions + s]) continue;
    const size_t used = strlen(list);
    if (untried++ < named)
      snprintf(list + used, sizeof list - used, "%s'%.50s' in '%.50s'", used ? ", " : "",
               setting->actions.name[pair % actions], setting->states.name[s]);
  }
  free(tried);
  if (untried > named)
    snprintf(list + strlen(list), sizeof list - strlen(list), ", ... (%zu in all)", untried);
  if (untried)
    idm_notes_add(
        &call->notes,
        "the log never takes %s: what that leads to is not known, and the policy does not "
        "take it there either",
        list);
  return IDM_OK;
}

/* Have the workspace learn from the log that --batch names. */
static idm_status study(cli_call *call, idm_problem *problem, idm_workspace *workspace)
{
  const char *path = cli_text(call, "batch");
  const bool rewards = cli_given(call, "rewards");
  idm_data *data = NULL;
  idm_batch *batch = NULL;
  idm_status status =
      cli_read_log(call, path, "", problem, rewards ? 1u << IDM_COLUMN_REWARD : 0, &data);
  if (status == IDM_OK)
    status = idm_batch_create(problem->setting, data, rewards, &batch, &call->error);
  if (status == IDM_OK) status = idm_workspace_study(workspace, batch, &call->error);
  if (status == IDM_OK) status = note_untried(call, problem->setting, batch);
  if (status == IDM_OK && batch->left_out)
    idm_notes_add(&call->notes, "%zu rows of %s are no transition: a state or an action is missing",
                  batch->left_out, path);
  idm_batch_destroy(batch);
  idm_data_destroy(data);
  return status;
}

/* Whether --batch is given; refused where it, or --rewards, cannot be. */
static idm_status check_batch(cli_call *call, const idm_problem *problem, bool *ret_given)
{
  *ret_given = cli_text(call, "batch") != NULL;
  if (!*ret_given && cli_given(call, "rewards"))
    return idm_fail(&call->error, IDM_USAGE, "--rewards are those of a log; give it by --batch");
  if (*ret_given && problem->utility_sources)
    return idm_fail(&call->error, IDM_USAGE,
                    "--batch needs utilities by state; here they come from the data column '%s'",
                    problem->columns.utility.name[problem->utility_source[0].column]);
  return IDM_OK;
}

idm_status cli_plan(cli_call *call, idm_problem *problem, const idm_solver *opt_solver,
                    idm_workspace **ret_workspace, idm_plan_report *report)
{
  bool given;
  idm_status status = check_batch(call, problem, &given);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, problem->theta, &problem->agent, ret_workspace,
                                  &call->error);
  if (status != IDM_OK) return status;
  if (given) status = study(call, problem, *ret_workspace);
  if (status == IDM_OK)
    status = idm_plan_capacity(problem->theta, &problem->agent, opt_solver, *ret_workspace, report,
                               &call->notes, &call->error);
  if (status == IDM_OK && report->stop == IDM_STOP_LIMIT)
    idm_notes_add(&call->notes, "planning stopped at its limit: the value is certain only to %.1e",
                  report->bound);
  if (status == IDM_OK && report->stop == IDM_STOP_MEMORY)
    idm_notes_add(&call->notes,
                  "planning stopped where it had used up its memory, with its bounds still %.1e "
                  "apart; a larger gap needs less",
                  report->bound);
  if (status == IDM_OK && (report->stop == IDM_STOP_SECONDS || report->stop == IDM_STOP_INTERRUPT))
    idm_notes_add(&call->notes, "planning was stopped with its bounds still %.1e apart",
                  report->bound);
  if (status != IDM_OK) {
    idm_workspace_destroy(*ret_workspace);
    *ret_workspace = NULL;
  }
  return status;
}
