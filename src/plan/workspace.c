/* Workspaces: the mutable state of one planner for one setting; planning, and values and policies
 * of the plan. */
#include "plan/workspace.h"

#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "idm/extension/data.h"
#include "plan/believer/believer.h"
#include "plan/choice.h"
#include "plan/plan.h"
#include "setting/model.h"

const char *idm_stop_name(idm_stop stop)
{
  static const char *const names[] = {
#define STOP_NAME(id, name, text) name,
      IDM_STOP_LIST(STOP_NAME)
#undef STOP_NAME
  };
  return (size_t)stop < sizeof names / sizeof names[0] ? names[stop] : NULL;
}

void idm_solver_default(idm_solver *solver)
{
  if (!solver) return;
  *solver = (idm_solver){.method = IDM_METHOD_NEWTON,
                         .limit = 100,
                         .slots = IDM_START_LAST,
                         .bytes = 0x1p32 /* 4 GiB */};
}

void idm_workspace_destroy(idm_workspace *workspace)
{
  if (!workspace) return;
  if (workspace->content) workspace->planner->destroy(workspace->content);
  idm_theta_destroy(workspace->theta);
  idm_theta_destroy(workspace->next_theta);
  idm_environment_destroy(&workspace->belief_agent.environment);
  free(workspace->scratch);
  free(workspace->lookahead);
  free(workspace);
}

static idm_status check_setting(const idm_planner *planner, const idm_agent_options *agent,
                                const idm_setting *setting, const idm_theta *theta,
                                idm_error *opt_error)
{
  if (!idm_sizes_same(theta->sizes, idm_setting_sizes(setting)))
    return idm_fail(opt_error, IDM_USAGE, "theta and the setting belong to different problems");
  const size_t owned = theta->blocks - IDM_BLOCK_COUNT;
  if (owned != planner->own_count || (owned && theta->block[IDM_BLOCK_COUNT].info != planner->own))
    return idm_fail(
        opt_error, IDM_USAGE,
        "theta does not contain the blocks of planner '%s': see idm_problem_set_planner",
        planner->name);
  const idm_status status = idm_planner_check_shape(planner, agent, theta, opt_error);
  if (status != IDM_OK) return status;
  if (planner->needs & IDM_NEEDS_SAMPLER && !(planner->needs & IDM_NEEDS_BATCH) &&
      !idm_setting_has_dynamics(setting))
    return idm_fail(
        opt_error, IDM_INPUT,
        "planner '%s' learns by acting in the environment, whose dynamics are not given",
        planner->name);
  if (planner->needs & IDM_NEEDS_STATES && !setting->fully_observed)
    return idm_fail(opt_error, IDM_INPUT,
                    "planner '%s' learns action values by state, but here states are hidden; "
                    "expected a problem with `observations: states`",
                    planner->name);
  if (idm_sensor_may_limit(setting, theta) && !idm_planner_reads(planner, IDM_SENSOR_CAPACITY))
    return idm_fail(
        opt_error, IDM_INPUT,
        "planner '%s' does not support a sensor of limited capacity; expected sensor_capacity: "
        "inf, or a planner on a lattice of beliefs, such as 'bounded-rational' or 'rational'",
        planner->name);
  const unsigned rows = setting->fully_observed ? IDM_SUPPORTS_SPARSE : IDM_SUPPORTS_SPARSE_HIDDEN;
  if (setting->moves && !(planner->supports & rows))
    return idm_fail(
        opt_error, IDM_INPUT,
        "planner '%s' requires transitions as matrices, but here they are given row by row",
        planner->name);
  if (idm_theta_scalar(theta, IDM_DISCOUNT) == 1 && !(setting->horizon > 0) &&
      !(planner->supports & IDM_SUPPORTS_UNDISCOUNTED))
    return idm_fail(opt_error, IDM_INPUT,
                    "the discount is 1 without a horizon; planner '%s' then requires a horizon",
                    planner->name);
  const unsigned required_horizon =
      setting->horizon > 0 ? IDM_SUPPORTS_HORIZON : IDM_SUPPORTS_STATIONARY;
  if (!(planner->supports & required_horizon))
    return idm_fail(opt_error, IDM_INPUT, "planner '%s' has no %s", planner->name,
                    setting->horizon > 0 ? "horizon" : "stationary form");
  return IDM_OK;
}

/* Copy theta, clamped and validated, into the workspace; after an error the previous theta stays in
 * effect. */
static idm_status set_theta(idm_workspace *w, const idm_theta *theta, idm_error *opt_error)
{
  const char *mismatch = idm_theta_form_mismatch(theta, w->theta);
  if (mismatch)
    return idm_fail(opt_error, IDM_USAGE, "the form of %s changed after the workspace was created",
                    mismatch);
  idm_theta_assign(w->next_theta, theta);
  idm_status status = idm_clamp_apply(w->planner, w->setting, w->next_theta, opt_error);
  if (status == IDM_OK) status = idm_theta_validate(w->next_theta, w->setting, opt_error);
  if (status == IDM_OK) idm_theta_assign(w->theta, w->next_theta);
  return status;
}

/* Whether the planner's adjoint gives the complete derivative of the policies. There is none with
 * delay discounting or a limited sensor, and not every adjoint includes the parameters of the
 * belief update. */
static bool is_differentiable(const idm_workspace *w)
{
  const idm_adjoint_ops *adjoint = w->planner->belief->adjoint;
  return adjoint && !w->delayed && !idm_sensor_may_limit(w->setting, w->theta) &&
         (adjoint->dynamics || !idm_update_is_free(w->theta));
}

idm_status idm_workspace_create(const idm_setting *setting, const idm_theta *theta,
                                const idm_agent_options *agent, idm_workspace **ret_workspace,
                                idm_error *opt_error)
{
  idm_require(setting, theta, agent, ret_workspace);
  *ret_workspace = NULL;
  const idm_planner *planner = idm_agent_planner(agent);
  idm_status status = check_setting(planner, agent, setting, theta, opt_error);
  if (status != IDM_OK) return status;
  idm_workspace *w = idm_new(1, sizeof *w);
  if (!w) return idm_fail_memory(opt_error);
  w->planner = planner;
  w->setting = setting;
  w->delayed = idm_agent_reads(agent, IDM_DELAY_RATE);
  status = idm_theta_copy(theta, &w->theta, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(theta, &w->next_theta, opt_error);
  if (status == IDM_OK) status = set_theta(w, theta, opt_error);
  if (status == IDM_OK) status = planner->create(setting, w->theta, agent, &w->content, opt_error);
  if (status == IDM_OK && planner->belief) {
    w->belief_agent = (belief_agent){.planner = planner,
                                     .content = w->content,
                                     .setting = setting,
                                     .theta = w->theta,
                                     .recognition = agent->recognition,
                                     .differentiable = is_differentiable(w)};
    w->scratch = idm_new(planner->belief->scratch(w->content), sizeof *w->scratch);
    w->lookahead = idm_new(theta->sizes.actions * (1 + theta->models) + 2 * theta->sizes.states,
                           sizeof *w->lookahead);
    status =
        w->scratch && w->lookahead
            ? idm_environment_create(setting, w->theta, &w->belief_agent.environment, opt_error)
            : idm_fail_memory(opt_error);
  }
  if (status != IDM_OK) {
    idm_workspace_destroy(w);
    return status;
  }
  *ret_workspace = w;
  return IDM_OK;
}

idm_status idm_workspace_set_batch(idm_workspace *workspace, const idm_batch *batch,
                                   idm_error *opt_error)
{
  idm_require(workspace, batch);
  if (workspace->planner->set_batch)
    return workspace->planner->set_batch(workspace->content, batch, opt_error);
  return idm_fail(opt_error, IDM_INPUT,
                  "planner '%s' does not learn from the transitions of a log; 'q-learning' and "
                  "'soft-q-learning' do",
                  workspace->planner->name);
}

idm_status idm_plan(const idm_theta *theta, const idm_solver *opt_solver, idm_workspace *workspace,
                    idm_plan_report *opt_report, idm_error *opt_error)
{
  idm_require(theta, workspace);
  idm_solver solver;
  idm_solver_default(&solver);
  if (opt_solver) solver = *opt_solver;
  idm_plan_report report;
  idm_status status = set_theta(workspace, theta, opt_error);
  if (status == IDM_OK) {
    workspace->planned = false;
    status =
        workspace->planner->plan(workspace->content, workspace->theta, &solver, &report, opt_error);
  }
  if (status != IDM_OK) return status;
  workspace->planned = true;
  workspace->bound = report.bound;
  if (opt_report) *opt_report = report;
  return IDM_OK;
}

idm_status idm_workspace_store(idm_workspace *workspace, size_t slot, idm_error *opt_error)
{
  idm_require(workspace);
  const idm_lattice_ops *lattice = workspace->planner->lattice;
  return lattice ? lattice->store(workspace->content, slot, opt_error) : IDM_OK;
}

/* Whether z is a probability distribution over the states, up to rounding. */
static bool is_belief(const idm_workspace *workspace, const double *z)
{
  static const double tolerance = 1e-6;
  double sum = 0;
  for (size_t s = 0; s < workspace->theta->sizes.states; s++) {
    if (!(z[s] >= -tolerance)) return false;
    sum += z[s];
  }
  return fabs(sum - 1) <= tolerance;
}

bool idm_workspace_evaluates(const idm_workspace *workspace, size_t variant, int steps,
                             const double *z)
{
  return workspace->planned && variant < idm_theta_variants(workspace->theta) && steps >= 0 &&
         is_belief(workspace, z);
}

static void fill_nan(double *numbers, size_t count)
{
  for (size_t i = 0; i < count; i++) numbers[i] = NAN;
}

double idm_plan_value_after(idm_workspace *workspace, size_t variant, int steps, const double *z)
{
  if (!workspace || !z || !idm_workspace_evaluates(workspace, variant, steps, z)) return NAN;
  const idm_belief_ops *belief = workspace->planner->belief;
  if (!belief || !belief->value) return NAN;
  return belief->value(workspace->content, variant, steps, z, workspace->scratch);
}

double idm_plan_value(idm_workspace *workspace, size_t variant, const double *z)
{
  if (!workspace || !z) return NAN;
  return idm_plan_value_after(workspace, variant, 0, z);
}

void idm_plan_policy(idm_workspace *workspace, size_t variant, const double *z, double *decision,
                     double *opt_specification)
{
  if (!workspace || !z || !decision) return;
  const idm_belief_ops *belief = workspace->planner->belief;
  const idm_theta *theta = workspace->theta;
  if (belief && idm_workspace_evaluates(workspace, variant, 0, z)) {
    belief->policy(workspace->content, variant, 0, z, decision, opt_specification,
                   workspace->scratch);
    return;
  }
  fill_nan(decision, theta->sizes.actions);
  if (opt_specification) fill_nan(opt_specification, theta->sizes.actions * theta->models);
}

void idm_plan_policy_after(idm_workspace *workspace, size_t variant, int steps, const double *z,
                           double *decision)
{
  if (!workspace || !z || !decision) return;
  const idm_belief_ops *belief = workspace->planner->belief;
  if (belief && idm_workspace_evaluates(workspace, variant, steps, z))
    belief->policy(workspace->content, variant, steps, z, decision, NULL, workspace->scratch);
  else
    fill_nan(decision, workspace->theta->sizes.actions);
}

bool idm_workspace_has_bias(const idm_workspace *workspace)
{
  return workspace && idm_choice_bias_active(idm_choice_bias_of(workspace->theta));
}

void idm_plan_choice(idm_workspace *workspace, size_t variant, int steps, const double *z, int last,
                     double *choice)
{
  if (!workspace || !z || !choice) return;
  const size_t actions = workspace->theta->sizes.actions;
  const choice_bias bias = idm_choice_bias_of(workspace->theta);
  double open;
  idm_plan_policy_after(workspace, variant, steps, z, choice);
  if (last != IDM_MISSING && (last < 0 || (size_t)last >= actions)) fill_nan(choice, actions);
  if (isnan(choice[0]) || !idm_choice_bias_active(bias)) return;
  for (size_t u = 0; u < actions; u++) choice[u] = log(choice[u]);
  idm_choice_tilt_logs(bias, actions, choice, NULL, last, choice, &open);
  for (size_t u = 0; u < actions; u++) choice[u] = idm_choice_lapse(bias, exp(choice[u]), open);
}

void idm_plan_quality(idm_workspace *workspace, size_t variant, int steps, const double *z,
                      double *quality)
{
  if (!workspace || !z || !quality) return;
  const idm_belief_ops *belief = workspace->planner->belief;
  if (belief && belief->quality && idm_workspace_evaluates(workspace, variant, steps, z))
    belief->quality(workspace->content, variant, steps, z, quality, workspace->scratch);
  else
    fill_nan(quality, workspace->theta->sizes.actions);
}

double idm_plan_recognise(idm_workspace *workspace, size_t variant, int steps, const double *z,
                          size_t action, size_t observation, double *next)
{
  if (!workspace || !z || !next || variant >= idm_theta_variants(workspace->theta) || steps < 0 ||
      action >= workspace->theta->sizes.actions ||
      observation >= workspace->theta->sizes.observations)
    return NAN;
  const idm_belief_ops *belief = workspace->planner->belief;
  const idm_theta *theta = workspace->theta;
  if (!belief || !idm_workspace_evaluates(workspace, variant, steps, z)) {
    fill_nan(next, theta->sizes.states);
    return NAN;
  }
  double *joint = workspace->lookahead + theta->sizes.states;
  double *decision = joint + theta->sizes.states;
  double *specification = decision + theta->sizes.actions;
  belief->policy(workspace->content, variant, steps, z, decision, specification,
                 workspace->scratch);
  const recognition r = {.setting = workspace->setting,
                         .theta = theta,
                         .z = z,
                         .sigma = specification + action * theta->models,
                         .action = action,
                         .observation = observation};
  double allowed;
  return idm_recognise(&r, NULL, next, &allowed, joint);
}

double idm_plan_predict(idm_workspace *workspace, size_t variant, int steps, const double *z,
                        size_t action, size_t observation)
{
  if (!workspace) return NAN;
  return idm_plan_recognise(workspace, variant, steps, z, action, observation,
                            workspace->lookahead);
}

idm_status idm_plan_forward(idm_workspace *workspace, size_t variant, idm_forward *forward,
                            double *opt_occupancy, idm_error *opt_error)
{
  idm_require(workspace, forward);
  const idm_lattice_ops *lattice = workspace->planner->lattice;
  if (!lattice)
    return idm_fail(opt_error, IDM_USAGE, "planner '%s' has no forward recursion",
                    workspace->planner->name);
  if (variant >= idm_theta_variants(workspace->theta))
    return idm_fail(opt_error, IDM_USAGE, "there is no variant %zu", variant);
  if (!workspace->planned)
    return idm_fail(opt_error, IDM_USAGE, "the workspace has no plan: call idm_plan first");
  const idm_status status =
      lattice->forward(workspace->content, variant, forward, opt_occupancy, opt_error);
  /* The episode ends in a terminal state: the time that the recursion spends there does not count
   * as occupancy of the agent. */
  for (size_t s = 0; status == IDM_OK && opt_occupancy && s < workspace->setting->states.count; s++)
    if (idm_observation_is_terminal(workspace->setting, (int)s)) opt_occupancy[s] = 0;
  return status;
}

size_t idm_workspace_points(const idm_workspace *workspace)
{
  if (!workspace) return 0;
  const idm_lattice_ops *lattice = workspace->planner->lattice;
  return lattice ? lattice->points(workspace->content) : 0;
}

double idm_workspace_bytes(const idm_workspace *workspace, int resolution)
{
  if (!workspace || resolution < 1) return 0;
  const idm_lattice_ops *lattice = workspace->planner->lattice;
  return lattice ? lattice->bytes(workspace->content, resolution) : 0;
}

const idm_planner *idm_workspace_planner(const idm_workspace *workspace)
{
  if (!workspace) return NULL;
  return workspace->planner;
}

const idm_theta *idm_workspace_theta(const idm_workspace *workspace)
{
  if (!workspace) return NULL;
  return workspace->theta;
}

idm_behavior idm_workspace_behavior(const idm_workspace *workspace)
{
  if (!workspace) return (idm_behavior){0};
  const idm_planner *planner = workspace->planner;
  const void *shared = &workspace->belief_agent;
  return (idm_behavior){idm_planner_behavior(planner),
                        planner->behavior ? workspace->content : shared, workspace->theta->sizes};
}
