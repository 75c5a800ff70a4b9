/* Runs an interactive agent: plan, episode and log.
 *
 * Contents: plan · episode · log · creation and destruction */
#include "report/explorer/explorer.h"

#include <math.h>

#include "base/memory.h"
#include "data/log.h"
#include "io/log_file.h"
#include "plan/plan.h"
#include "plan/workspace.h"

/* Longest episode. */
enum { max_steps = 200 };

/* --- plan ----------------------------------------------------------------------------------- */

idm_status idm_explorer_set(idm_explorer *explorer, size_t block, size_t first, size_t count,
                            double value)
{
  const idm_theta *theta = explorer->problem->theta;
  idm_error *error = &explorer->error;
  if (block >= theta->blocks || first > theta->block[block].size ||
      count > theta->block[block].size - first)
    return idm_fail(error, IDM_USAGE, "the problem has no such number");
  for (size_t i = 0; i < count; i++) theta->block[block].value[first + i] = value;
  return IDM_OK;
}

/* Evaluate the episode under the current plan. */
static idm_status update_episode(idm_explorer *explorer)
{
  const idm_setting *setting = explorer->problem->setting;
  double *corner = NULL;
  idm_path_trace *trace = NULL;
  /* An observed state is known from the first step on; `first` is the initial state. */
  if (setting->fully_observed) {
    corner = idm_new(setting->states.count, sizeof *corner);
    if (!corner) return idm_fail_memory(&explorer->error);
    corner[explorer->first] = 1;
  }
  const idm_status status =
      idm_path_trace_events(setting, explorer->workspace, corner, explorer->event, explorer->events,
                            &trace, &explorer->error);
  free(corner);
  if (status != IDM_OK) return status;
  idm_path_trace_destroy(explorer->trace);
  explorer->trace = trace;
  return IDM_OK;
}

static idm_status update_log(idm_explorer *explorer)
{
  if (!explorer->scorer) return IDM_OK;
  return idm_scorer_run(explorer->scorer, idm_workspace_behavior(explorer->workspace),
                        &explorer->score, &explorer->error);
}

static idm_status plan(idm_explorer *explorer, int from)
{
  idm_solver solver;
  idm_solver_default(&solver);
  solver.slots = from;
  return idm_plan(explorer->problem->theta, &solver, explorer->workspace, NULL, &explorer->error);
}

idm_status idm_explorer_plan(idm_explorer *explorer, int from_scratch)
{
  idm_status status = plan(explorer, from_scratch ? IDM_START_COLD : IDM_START_LAST);
  if (status == IDM_OK) status = update_episode(explorer);
  if (status == IDM_OK) status = update_log(explorer);
  return status;
}

/* --- episode -------------------------------------------------------------------------------- */

idm_status idm_explorer_begin(idm_explorer *explorer, unsigned seed)
{
  const idm_setting *setting = explorer->problem->setting;
  idm_random_init(&explorer->random, seed, 0);
  explorer->first = explorer->state =
      idm_random_choice(&explorer->random, setting->start, setting->states.count);
  explorer->events = 0;
  explorer->last = -1;
  explorer->over = false;
  return update_episode(explorer);
}

static idm_status append_event(idm_explorer *explorer, const idm_event *event)
{
  if (explorer->events == explorer->capacity) {
    const size_t capacity = 2 * explorer->capacity + 16;
    idm_event *more = realloc(explorer->event, capacity * sizeof *more);
    if (!more) return idm_fail_memory(&explorer->error);
    explorer->event = more;
    explorer->capacity = capacity;
  }
  explorer->event[explorer->events++] = *event;
  return update_episode(explorer);
}

idm_status idm_explorer_step(idm_explorer *explorer)
{
  const idm_setting *setting = explorer->problem->setting;
  const size_t actions = setting->actions.count, states = setting->states.count;
  if (!idm_setting_has_dynamics(setting))
    return idm_fail(&explorer->error, IDM_USAGE,
                    "the dynamics of the environment are unknown: no step can be drawn");
  if (explorer->over) return IDM_OK;
  const size_t u = idm_random_choice(&explorer->random,
                                     explorer->trace->policy + explorer->events * actions, actions);
  const size_t most = setting->horizon > 0 ? (size_t)setting->horizon - 1 : max_steps;
  if (setting->ends[u] || explorer->events == most) {
    explorer->last = (int)u;
    explorer->over = true;
    return IDM_OK;
  }
  const double *utility = idm_theta_values(explorer->problem->theta, IDM_UTILITY, 0);
  idm_event event = {.action = (int)u, .reward = utility[u * states + explorer->state]};
  event.observation = idm_draw_transition(setting, u, &explorer->state, &explorer->random);
  if (idm_observation_is_terminal(setting, event.observation)) {
    explorer->last = (int)u;
    explorer->over = true;
    return IDM_OK;
  }
  return append_event(explorer, &event);
}

int idm_explorer_over(const idm_explorer *explorer)
{
  return explorer->over;
}

/* --- log ------------------------------------------------------------------------------------ */

static void clear_log(idm_explorer *explorer)
{
  idm_scorer_destroy(explorer->scorer);
  idm_prefix_tree_destroy(explorer->tree);
  idm_data_destroy(explorer->data);
  explorer->scorer = NULL;
  explorer->tree = NULL;
  explorer->data = NULL;
}

idm_status idm_explorer_load(idm_explorer *explorer, const char *text, size_t length)
{
  idm_error *error = &explorer->error;
  clear_log(explorer);
  idm_status status =
      idm_data_parse_csv(text, length, NULL, explorer->problem, NULL, &explorer->data, NULL, error);
  if (status == IDM_OK)
    status = idm_evidence_tree(explorer->problem, explorer->data, &explorer->tree, error);
  if (status == IDM_OK)
    status = idm_scorer_create(explorer->data, explorer->tree, &explorer->scorer, error);
  if (status == IDM_OK) status = update_log(explorer);
  if (status != IDM_OK) clear_log(explorer);
  return status;
}

double idm_explorer_score(const idm_explorer *explorer)
{
  return explorer->scorer ? explorer->score.log_likelihood : NAN;
}

double idm_explorer_decisions(const idm_explorer *explorer)
{
  return explorer->scorer ? (double)explorer->score.decisions : NAN;
}

/* --- creation and destruction ---------------------------------------------------------------- */

idm_explorer *idm_explorer_open(const char *bytes, size_t length)
{
  idm_explorer *explorer = idm_new(1, sizeof *explorer);
  if (!explorer) return NULL;
  idm_error *error = &explorer->error;
  idm_status status = idm_problem_deserialise(bytes, length, &explorer->problem, error);
  if (status != IDM_OK) return explorer;
  const idm_problem *problem = explorer->problem;
  status = idm_workspace_create(problem->setting, problem->theta, &problem->agent,
                                &explorer->workspace, error);
  if (status == IDM_OK) status = plan(explorer, IDM_START_COLD);
  if (status == IDM_OK) idm_explorer_begin(explorer, 1);
  return explorer;
}

void idm_explorer_close(idm_explorer *explorer)
{
  if (!explorer) return;
  clear_log(explorer);
  idm_path_trace_destroy(explorer->trace);
  idm_workspace_destroy(explorer->workspace);
  idm_problem_destroy(explorer->problem);
  free(explorer->event);
  free(explorer->text);
  free(explorer);
}

const char *idm_explorer_message(const idm_explorer *explorer)
{
  return explorer->error.message[0] ? explorer->error.message : NULL;
}
