/* A problem with new states, of which nothing but their number is known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/dynamics.h"
#include "idm/planner.h"
#include "idm/problem_file.h"
#include "io/problem/placeholder.h"

static idm_status name_states(idm_setting *setting, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t s = 0; s < setting->states.count && status == IDM_OK; s++) {
    char name[32];
    const int length = snprintf(name, sizeof name, "state%zu", s + 1);
    status = idm_labels_set(&setting->states, s, name, (size_t)length, opt_error);
  }
  return status;
}

/* Everything of the setting but its states, and dynamics that leave everything possible. */
static idm_status renew_setting(const idm_setting *from, idm_setting *to, idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(to);
  idm_labels_destroy(&to->actions);
  idm_labels_destroy(&to->observations);
  char *name = idm_text_copy(from->name, strlen(from->name));
  if (!name) return idm_fail_memory(opt_error);
  free(to->name);
  to->name = name;
  idm_status status = idm_labels_copy(&from->actions, &to->actions, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&from->observations, &to->observations, opt_error);
  if (status == IDM_OK) status = name_states(to, opt_error);
  if (status != IDM_OK) return status;
  for (size_t u = 0; u < n.actions; u++) {
    to->terminal[u] = from->terminal[u];
    to->ends[u] = from->ends[u];
    to->transition_shared[u] = from->transition_shared[u];
    to->emission_shared[u] = from->emission_shared[u];
  }
  to->horizon = from->horizon;
  to->emits_before = from->emits_before;
  for (size_t i = 0; i < n.actions * n.states * n.states; i++)
    to->transition[i] = 1.0 / (double)n.states;
  for (size_t i = 0; i < n.actions * n.states * n.observations; i++)
    to->emission[i] = 1.0 / (double)n.observations;
  return IDM_OK;
}

static bool same_everywhere(const idm_problem *problem, size_t action)
{
  const size_t k = problem->theta->sizes.states;
  const double *utility = problem->theta->block[IDM_UTILITY].value + action * k;
  for (size_t i = 0; i < problem->utility_sources; i++)
    if (problem->utility_source[i].action == action) return false;
  for (size_t s = 1; s < k; s++)
    if (utility[s] != utility[0]) return false;
  return true;
}

/* What an action is worth whatever the state stays; the rest is to be filled in. Of the problem
 * before, the utilities alone are looked at. */
static idm_status renew_utility(idm_problem *problem, idm_theta *to, size_t *ret_unknown,
                                idm_error *opt_error)
{
  const idm_sizes n = to->sizes;
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  idm_utility_source *source = idm_new(n.actions * n.states, sizeof *source);
  idm_labels column = {0};
  size_t sources = 0;
  *ret_unknown = 0;
  if (!source) return idm_fail_memory(opt_error);
  for (size_t u = 0; u < n.actions; u++) {
    const bool known = same_everywhere(problem, u);
    *ret_unknown += !known;
    for (size_t s = 0; s < n.states; s++) {
      if (known)
        to->block[IDM_UTILITY].value[u * n.states + s] = utility[u * problem->theta->sizes.states];
      else
        source[sources++] = (idm_utility_source){u, s, 0, 1};
    }
  }
  idm_status status = *ret_unknown ? idm_labels_create(&column, 1, opt_error) : IDM_OK;
  if (status == IDM_OK && *ret_unknown)
    status = idm_labels_set(&column, 0, IDM_PLACEHOLDER, strlen(IDM_PLACEHOLDER), opt_error);
  if (status != IDM_OK) {
    idm_labels_destroy(&column);
    free(source);
    return status;
  }
  idm_labels_destroy(&problem->columns.utility);
  free(problem->utility_source);
  problem->columns.utility = column;
  problem->utility_source = source;
  problem->utility_sources = sources;
  return IDM_OK;
}

/* Whether a block has a number a state, or a model. */
static bool by_state(const idm_block_info *info)
{
  for (size_t i = 0; i < sizeof info->axis / sizeof *info->axis && info->axis[i]; i++)
    if (info->axis[i] != IDM_AXIS_ACTION && info->axis[i] != IDM_AXIS_FIELD) return true;
  return false;
}

/* A block that is not by state, with what is free of it. */
static idm_status renew_block(const idm_block *old, idm_theta *theta, size_t id,
                              idm_error *opt_error)
{
  const bool shaped = old->info->opaque && !old->info->count;
  if (by_state(old->info) || shaped || old->coordinate) return IDM_OK;
  idm_status status = IDM_OK;
  if (theta->block[id].size != old->size)
    status = idm_theta_resize(theta, id, old->size, 1, opt_error);
  if (status != IDM_OK) return status;
  idm_block *block = &theta->block[id];
  double *argument = idm_duplicate(old->prior.argument, old->prior.count, sizeof *argument);
  if (old->prior.argument && !argument) return idm_fail_memory(opt_error);
  memcpy(block->value, old->value, old->size * sizeof *old->value);
  free(block->prior.argument);
  block->role = old->role;
  block->scale = old->scale;
  block->usual_prior = old->usual_prior;
  block->prior = (idm_prior){old->prior.kind, old->prior.count, argument};
  return IDM_OK;
}

static idm_status renew_theta(const idm_problem *problem, idm_theta *to, idm_error *opt_error)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  idm_status status = idm_theta_own(to, planner->own, planner->owns, opt_error);
  if (status == IDM_OK) status = idm_planner_shape(planner, &problem->agent, to, opt_error);
  for (size_t i = 0; i < to->blocks && status == IDM_OK; i++)
    status = renew_block(&problem->theta->block[i], to, i, opt_error);
  return status;
}

idm_status idm_problem_renew(idm_problem *problem, size_t states, size_t *ret_unknown,
                             idm_error *opt_error)
{
  idm_require(problem, ret_unknown);
  idm_sizes sizes = idm_setting_sizes(problem->setting);
  idm_problem *fresh = NULL;
  if (!states) return idm_fail(opt_error, IDM_USAGE, "a problem needs at least one state");
  sizes.states = states;
  idm_status status = idm_problem_create(sizes, 1, true, true, &fresh, opt_error);
  if (status == IDM_OK) status = renew_setting(problem->setting, fresh->setting, opt_error);
  if (status == IDM_OK) status = renew_theta(problem, fresh->theta, opt_error);
  if (status == IDM_OK) status = renew_utility(problem, fresh->theta, ret_unknown, opt_error);
  if (status == IDM_OK) {
    idm_setting *setting = problem->setting;
    idm_theta *theta = problem->theta;
    problem->setting = fresh->setting;
    problem->theta = fresh->theta;
    fresh->setting = setting;
    fresh->theta = theta;
    const idm_model_rule rule = problem->models;
    status = idm_problem_apply_rule(problem, &rule, opt_error);
  }
  idm_problem_destroy(fresh);
  return status;
}
