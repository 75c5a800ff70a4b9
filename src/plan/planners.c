/* Registry of planners: the built-in ones and those of plug-ins. */
#include <stddef.h>
#include <string.h>

#include "base/arguments.h"
#include "idm/extension/planner.h"
#include "plan/plan.h"
#include "plan/workspace.h"
#include "setting/model.h"

#define PLANNERS(X)                                                                                \
  X(idm_bounded_rational)                                                                          \
  X(idm_rational)                                                                                  \
  X(idm_point_based)                                                                               \
  X(idm_decision_rule)                                                                             \
  X(idm_decision_network)                                                                          \
  X(idm_recurrent)                                                                                 \
  X(idm_value_iteration_network)                                                                   \
  X(idm_prototype)                                                                                 \
  X(idm_uniformly_random)                                                                          \
  X(idm_deterministic_optimal)                                                                     \
  X(idm_boltzmann_exploratory)                                                                     \
  X(idm_minimum_information)                                                                       \
  X(idm_maximum_entropy)                                                                           \
  X(idm_kl_regularised)                                                                            \
  X(idm_kl_penalised_robust)                                                                       \
  X(idm_cvar_robust)                                                                               \
  X(idm_td_learner)                                                                                \
  X(idm_q_learning)                                                                                \
  X(idm_soft_q_learning)                                                                           \
  X(idm_controller)

#define DECLARE(planner) extern const idm_planner planner;
PLANNERS(DECLARE)

#define ENTRY(planner) &(planner),
static const idm_planner *const planners[] = {PLANNERS(ENTRY)};

enum { BUILT_IN = sizeof planners / sizeof planners[0], MAX_PLUGINS = 32 };

/* Planners registered by plug-ins (idm_plugin_load). */
static idm_planner plugin[MAX_PLUGINS];
static size_t plugins;

const idm_planner *idm_planner_at(size_t index)
{
  if (index < BUILT_IN) return planners[index];
  return index - BUILT_IN < plugins ? &plugin[index - BUILT_IN] : NULL;
}

static bool is_complete(const idm_planner *planner)
{
  const idm_belief_ops *belief = planner->belief;
  return planner->name && planner->name[0] && planner->summary && planner->row && planner->reads &&
         (planner->own || !planner->own_count) && (planner->clamp || !planner->clamps) &&
         planner->create && planner->plan && planner->destroy &&
         (planner->behavior || (belief && belief->scratch && belief->policy && belief->log_policy));
}

idm_status idm_planner_check_table(const idm_planner *planner, idm_error *opt_error)
{
  if (planner->size < offsetof(idm_planner, lattice) || planner->size > sizeof *planner)
    return idm_fail(opt_error, IDM_INPUT,
                    "idm_planner.size is %zu; expected sizeof(idm_planner), at most %zu",
                    planner->size, sizeof *planner);
  if (!is_complete(planner))
    return idm_fail(opt_error, IDM_INPUT, "the planner '%s' lacks what idm_planner requires",
                    planner->name ? planner->name : "");
  if (idm_planner_find(planner->name))
    return idm_fail(opt_error, IDM_INPUT, "a planner '%s' is already registered", planner->name);
  if (plugins == MAX_PLUGINS)
    return idm_fail(opt_error, IDM_INPUT, "more than %d planners of plug-ins", MAX_PLUGINS);
  return IDM_OK;
}

idm_status idm_planner_register(const idm_planner *planner, idm_error *opt_error)
{
  idm_require(planner);
  const idm_status status = idm_planner_check_table(planner, opt_error);
  if (status != IDM_OK) return status;
  memcpy(&plugin[plugins++], planner, planner->size);
  return IDM_OK;
}

const idm_planner *idm_planner_find(const char *name)
{
  if (!name) return NULL;
  for (size_t i = 0; idm_planner_at(i); i++)
    if (strcmp(idm_planner_at(i)->name, name) == 0) return idm_planner_at(i);
  return NULL;
}

const idm_planner *idm_agent_planner(const idm_agent_options *agent)
{
  if (!agent) return NULL;
  return agent->planner ? agent->planner : idm_planner_at(0);
}

bool idm_agent_reads(const idm_agent_options *agent, size_t id)
{
  if (!agent) return false;
  const bool delayed = agent->discounting != IDM_EXPONENTIAL;
  const idm_planner *planner = idm_agent_planner(agent);
  /* With delay discounting, a planner that does not read delay_rate still uses the discount. */
  if (id == IDM_DELAY_RATE && !delayed) return false;
  if (id == IDM_DISCOUNT && delayed && idm_planner_reads(planner, IDM_DELAY_RATE)) return false;
  return idm_planner_reads(planner, id);
}

idm_status idm_problem_set_planner(idm_problem *problem, const idm_planner *planner,
                                   idm_error *opt_error)
{
  idm_require(problem, planner);
  idm_status status =
      idm_theta_set_own_blocks(problem->theta, planner->own, planner->own_count, opt_error);
  if (status == IDM_OK &&
      idm_planner_check_shape(planner, &problem->agent, problem->theta, NULL) != IDM_OK)
    status = idm_planner_shape(planner, &problem->agent, problem->theta, opt_error);
  /* NULL represents the default planner, so that equal agents compare equal. */
  if (status == IDM_OK) problem->agent.planner = planner == idm_planner_at(0) ? NULL : planner;
  return status;
}
