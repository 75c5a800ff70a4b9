/* Options of a planner that searches, and its progress. */
#include <float.h>
#include <math.h>

#include "base/clock.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/search.h"

static const idm_key seconds_key = {.name = "seconds",
                                    .kind = IDM_KEY_NUMBER,
                                    .offset = offsetof(idm_solver, seconds),
                                    .above = true,
                                    .most = INFINITY};

/* Set a field by the option of its key's name, where it is given. */
static idm_status take(cli_call *call, const idm_key *key, void *fields)
{
  return cli_given(call, key->name)
             ? idm_key_set_text(key, fields, cli_text(call, key->name), &call->error)
             : IDM_OK;
}

idm_status cli_search_begin(cli_call *call, idm_problem *problem, double begun, cli_search *search)
{
  static const char *const options[] = {"gap", "seconds", "alpha"};
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  *search = (cli_search){.goal = problem->agent.gap};
  idm_solver_default(&search->solver);
  for (size_t i = 0; i < sizeof options / sizeof options[0] && !planner->search; i++)
    if (cli_given(call, options[i]))
      return idm_fail(&call->error, IDM_USAGE,
                      "--%s is of planner 'point-based', and this agent plans by '%s'; see --set "
                      "planner=point-based",
                      options[i], planner->name);
  idm_status status = take(call, idm_key_find(idm_agent_keys(), "gap"), &problem->agent);
  if (status == IDM_OK) status = take(call, &seconds_key, &search->solver);
  /* Reading the problem counts, too. */
  const double left = search->solver.seconds - (idm_seconds() - begun);
  if (search->solver.seconds > 0) search->solver.seconds = fmax(left, DBL_MIN);
  if (status == IDM_OK && cli_text(call, "alpha"))
    status = cli_check_target(call, cli_text(call, "alpha"));
  if (status != IDM_OK || !planner->search) return status;
  search->goal = search->solver.tolerance = problem->agent.gap;
  search->solver.opt_watch = cli_search_watch;
  search->solver.watch_context = search;
  cli_progress_begin(&search->progress, "interrupted; what was reached follows");
  cli_catch_signals();
  return IDM_OK;
}

static void describe(const void *content, char *buffer, size_t size)
{
  const cli_search *search = content;
  snprintf(buffer, size, "value between %.6g and %.6g", search->lower, search->upper);
}

bool cli_search_watch(void *context, double lower, double upper)
{
  cli_search *search = context;
  search->lower = lower;
  search->upper = upper;
  if (!(search->first > 0)) search->first = upper - lower;
  /* Gaps close by about the same factor in the same time. */
  const double closed = log(search->first / (upper - lower)) / log(search->first / search->goal);
  const idm_work work = {.done = fmin(fmax(closed, 0), 1), .content = search, .describe = describe};
  return cli_progress_watch(&search->progress, &work);
}
