/* The registry of planners, and workspaces that run them. */
#include "idm/planner.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "plan/control/agents.h"
#include "plan/control/control.h"
#include "plan/network/decision_rule.h"
#include "plan/workspace.h"

/* --- the registry --------------------------------------------------------------------------- */

#define READS(id) (1u << (id))
#define LATTICE_READS                                                                              \
  (READS(IDM_UTILITY) | READS(IDM_CERTAINTY) | READS(IDM_DISCOUNT) | READS(IDM_TRANSITION) |       \
   READS(IDM_EMISSION))
#define LATTICE_CAN                                                                                \
  (IDM_CAN_STATIONARY | IDM_CAN_HORIZON | IDM_CAN_VALUE | IDM_CAN_FORWARD | IDM_NEEDS_MODEL)

/* An agent that knows the environment reads no dynamics of its own. */
#define CLAMPED(can)                                                                               \
  ((can)&IDM_NEEDS_ENVIRONMENT ? READS(IDM_TRANSITION) | READS(IDM_EMISSION) : 0u)

/* A planner that solves a lattice: what they share. */
#define LATTICE_PLANNER(its_name, its_summary, its_reads, can, its_create, its_clamp)              \
  {                                                                                                \
    .name = (its_name), .summary = (its_summary),                                                  \
    .reads = (LATTICE_READS & ~CLAMPED(can)) | (its_reads), .capabilities = LATTICE_CAN | (can),   \
    .create = (its_create), .plan = idm_control_plan, .anchor = idm_control_anchor,                \
    .release = idm_control_release, .policy = idm_control_policy,                                  \
    .log_policy = idm_control_log_policy, .value = idm_control_value,                              \
    .forward = idm_control_forward, .destroy = idm_control_destroy,                                \
    .scratch = idm_control_scratch, .points = idm_control_points, .clamp = (its_clamp),            \
    .adjoint_create = idm_adjoint_create, .adjoint_destroy = idm_adjoint_destroy,                  \
    .adjoint_begin = idm_adjoint_begin, .adjoint_point = idm_adjoint_point,                        \
    .adjoint_finish = idm_adjoint_finish                                                           \
  }

static const idm_planner planners[] = {
    LATTICE_PLANNER(
        "bounded-rational",
        "bounded rational control: flexibility 1/alpha, optimism 1/beta, adaptivity 1/eta",
        READS(IDM_ALPHA) | READS(IDM_BETA) | READS(IDM_ETA) | READS(IDM_ACTION_PRIOR) |
            READS(IDM_MODEL_PRIOR) | READS(IDM_BELIEF_PRIOR),
        0, idm_control_create, NULL),
    LATTICE_PLANNER("rational", "its limit alpha=0, beta=inf, eta=0: the ordinary POMDP planner",
                    READS(IDM_ACTION_PRIOR) | READS(IDM_MODEL_PRIOR), 0, idm_control_create,
                    idm_clamp_rational),
    {.name = "decision-rule",
     .summary = "a softmax of linear scores of the belief; nothing is planned",
     .reads = READS(IDM_WEIGHTS) | READS(IDM_ACTION_PRIOR) | READS(IDM_MODEL_PRIOR) |
              READS(IDM_TRANSITION) | READS(IDM_EMISSION),
     .capabilities = IDM_CAN_STATIONARY | IDM_CAN_HORIZON | IDM_NEEDS_MODEL,
     .create = idm_rule_create,
     .plan = idm_rule_plan,
     .policy = idm_rule_policy,
     .log_policy = idm_rule_log_policy,
     .scratch = idm_rule_scratch,
     .destroy = idm_rule_destroy,
     .adjoint_create = idm_rule_adjoint_create,
     .adjoint_destroy = idm_rule_adjoint_destroy,
     .adjoint_begin = idm_rule_adjoint_begin,
     .adjoint_point = idm_rule_adjoint_point,
     .adjoint_finish = idm_rule_adjoint_finish},
};

/* The paper's table "Boundedly Rational Agents". */
static const idm_planner agents[] = {
    LATTICE_PLANNER("uniformly-random", "every action alike: 1/alpha = 0, uniform action prior", 0,
                    IDM_NEEDS_ENVIRONMENT, idm_control_create, idm_clamp_random),
    LATTICE_PLANNER("deterministic-optimal", "the best action, knowing the environment", 0,
                    IDM_NEEDS_ENVIRONMENT, idm_control_create, idm_clamp_optimal),
    LATTICE_PLANNER("boltzmann-exploratory",
                    "a softmax laid over the optimal Q, with its own temperature",
                    READS(IDM_TEMPERATURE), IDM_NEEDS_ENVIRONMENT, idm_control_create_exploratory,
                    idm_clamp_optimal),
    LATTICE_PLANNER("minimum-information", "1/alpha = 1 and 1/eta = 1, any action and belief prior",
                    READS(IDM_ACTION_PRIOR) | READS(IDM_BELIEF_PRIOR), IDM_NEEDS_ENVIRONMENT,
                    idm_control_create, idm_clamp_minimum_information),
    LATTICE_PLANNER("maximum-entropy", "any alpha > 0, uniform action prior", READS(IDM_ALPHA),
                    IDM_NEEDS_ENVIRONMENT, idm_control_create, idm_clamp_maximum_entropy),
    LATTICE_PLANNER("kl-regularised", "any alpha > 0, any action prior",
                    READS(IDM_ALPHA) | READS(IDM_ACTION_PRIOR), IDM_NEEDS_ENVIRONMENT,
                    idm_control_create, idm_clamp_regularised),
    LATTICE_PLANNER("kl-penalised-robust", "the best action against pessimistic models: beta < 0",
                    READS(IDM_BETA) | READS(IDM_MODEL_PRIOR), 0, idm_control_create,
                    idm_clamp_robust),
};

const idm_planner *idm_planner_at(size_t index)
{
  return index < sizeof planners / sizeof planners[0] ? &planners[index] : NULL;
}

const idm_planner *idm_agent_at(size_t index)
{
  return index < sizeof agents / sizeof agents[0] ? &agents[index] : NULL;
}

const idm_planner *idm_planner_find(const char *name)
{
  for (size_t i = 0; i < sizeof planners / sizeof planners[0]; i++)
    if (strcmp(planners[i].name, name) == 0) return &planners[i];
  for (size_t i = 0; i < sizeof agents / sizeof agents[0]; i++)
    if (strcmp(agents[i].name, name) == 0) return &agents[i];
  return NULL;
}

const char *idm_stop_name(idm_stop stop)
{
  static const char *const names[] = {
#define STOP_NAME(id, name, text) name,
      IDM_STOP_LIST(STOP_NAME)
#undef STOP_NAME
  };
  return names[stop];
}

void idm_solver_default(idm_solver *solver)
{
  *solver = (idm_solver){.method = IDM_NEWTON, .tolerance = 0, .limit = 100, .cold = false};
}

/* --- workspaces ----------------------------------------------------------------------------- */

void idm_workspace_destroy(idm_workspace *workspace)
{
  if (!workspace) return;
  idm_believer_destroy(workspace->believer);
  if (workspace->content) workspace->planner->destroy(workspace->content);
  idm_theta_destroy(workspace->theta);
  idm_theta_destroy(workspace->candidate);
  free(workspace->scratch);
  free(workspace);
}

static idm_status check_setting(const idm_planner *planner, const idm_setting *setting,
                                idm_error *opt_error)
{
  const unsigned need = setting->horizon > 0 ? IDM_CAN_HORIZON : IDM_CAN_STATIONARY;
  if (!(planner->capabilities & need))
    return idm_fail(opt_error, IDM_INPUT, "planner '%s' has no %s", planner->name,
                    setting->horizon > 0 ? "horizon" : "stationary form");
  return IDM_OK;
}

/* Copy the numbers of one theta into another of the same form. */
static void copy_values(idm_theta *to, const idm_theta *from)
{
  for (int i = 0; i < IDM_BLOCK_COUNT; i++)
    memcpy(to->block[i].value, from->block[i].value,
           from->block[i].size * from->block[i].variants * sizeof *to->block[i].value);
}

/* Take theta in, clamped and checked; a theta that is refused leaves the last one in force. */
static idm_status adopt(idm_workspace *w, const idm_theta *theta, idm_error *opt_error)
{
  for (int i = 0; i < IDM_BLOCK_COUNT; i++)
    if (theta->block[i].size != w->theta->block[i].size ||
        theta->block[i].variants != w->theta->block[i].variants)
      return idm_fail(opt_error, IDM_USAGE, "the form of %s changed after the workspace was made",
                      idm_block_name((idm_block_id)i));
  copy_values(w->candidate, theta);
  idm_status status = IDM_OK;
  if (w->planner->clamp) status = w->planner->clamp(w->setting, w->candidate, opt_error);
  if (status == IDM_OK) status = idm_theta_validate(w->candidate, w->setting, opt_error);
  if (status == IDM_OK) copy_values(w->theta, w->candidate);
  return status;
}

idm_status idm_workspace_create(const idm_setting *setting, const idm_theta *theta,
                                const idm_agent *agent, idm_workspace **ret_workspace,
                                idm_error *opt_error)
{
  *ret_workspace = NULL;
  const idm_planner *planner = idm_planner_find(agent->planner);
  if (!planner)
    return idm_fail(opt_error, IDM_INPUT,
                    "planner '%s' is not known; see `idm list planners` and `idm list agents`",
                    agent->planner);
  idm_status status = check_setting(planner, setting, opt_error);
  if (status != IDM_OK) return status;
  idm_workspace *w = idm_new(1, sizeof *w);
  if (!w) return idm_fail_memory(opt_error);
  w->planner = planner;
  w->setting = setting;
  w->recognition = agent->recognition;
  status = idm_theta_copy(theta, &w->theta, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(theta, &w->candidate, opt_error);
  if (status == IDM_OK) status = adopt(w, theta, opt_error);
  if (status == IDM_OK) status = planner->create(setting, w->theta, agent, &w->content, opt_error);
  if (status == IDM_OK) {
    w->scratch = idm_new(planner->scratch(w->content), sizeof *w->scratch);
    if (!w->scratch) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK)
    status =
        idm_believer_create(planner, w->content, setting, w->theta, agent, &w->believer, opt_error);
  if (status != IDM_OK) {
    idm_workspace_destroy(w);
    return status;
  }
  *ret_workspace = w;
  return IDM_OK;
}

idm_status idm_plan(const idm_theta *theta, const idm_solver *opt_solver, idm_workspace *workspace,
                    idm_plan_report *opt_report, idm_error *opt_error)
{
  idm_solver solver;
  idm_solver_default(&solver);
  if (opt_solver) solver = *opt_solver;
  idm_plan_report report;
  idm_status status = adopt(workspace, theta, opt_error);
  if (status == IDM_OK)
    status = workspace->planner->plan(workspace->content, workspace->theta, &solver,
                                      opt_report ? opt_report : &report, opt_error);
  return status;
}

idm_status idm_workspace_anchor(idm_workspace *workspace, idm_error *opt_error)
{
  if (!workspace->planner->anchor) return IDM_OK;
  return workspace->planner->anchor(workspace->content, false, opt_error);
}

void idm_workspace_release(idm_workspace *workspace)
{
  if (workspace->planner->release) workspace->planner->release(workspace->content);
}

idm_status idm_workspace_anchor_more(idm_workspace *workspace, idm_error *opt_error)
{
  if (!workspace->planner->anchor) return IDM_OK;
  return workspace->planner->anchor(workspace->content, true, opt_error);
}

double idm_plan_value_after(idm_workspace *workspace, size_t variant, int steps, const double *z)
{
  if (!workspace->planner->value) return NAN;
  return workspace->planner->value(workspace->content, variant, steps, z, workspace->scratch);
}

double idm_plan_value(idm_workspace *workspace, size_t variant, const double *z)
{
  return idm_plan_value_after(workspace, variant, 0, z);
}

void idm_plan_policy(idm_workspace *workspace, size_t variant, const double *z, double *decision,
                     double *opt_specification)
{
  workspace->planner->policy(workspace->content, variant, 0, z, decision, opt_specification,
                             workspace->scratch);
}

idm_status idm_plan_forward(idm_workspace *workspace, size_t variant, idm_forward *forward,
                            double *opt_occupancy, idm_error *opt_error)
{
  if (!workspace->planner->forward)
    return idm_fail(opt_error, IDM_USAGE, "planner '%s' has no forward recursion",
                    workspace->planner->name);
  return workspace->planner->forward(workspace->content, variant, forward, opt_occupancy,
                                     opt_error);
}

size_t idm_workspace_points(const idm_workspace *workspace)
{
  return workspace->planner->points ? workspace->planner->points(workspace->content) : 0;
}

const idm_planner *idm_workspace_planner(const idm_workspace *workspace)
{
  return workspace->planner;
}

const idm_theta *idm_workspace_theta(const idm_workspace *workspace)
{
  return workspace->theta;
}

idm_behavior idm_workspace_behavior(const idm_workspace *workspace)
{
  return idm_believer_behavior(workspace->believer);
}
