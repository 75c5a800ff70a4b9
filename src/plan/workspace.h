/* Workspace of a planner, and functions shared by simulation and likelihood.
 *
 * Contents: workspace · draw · follow · score · choice derivative · clamp · memory */
#ifndef IDM_PLAN_WORKSPACE_H
#define IDM_PLAN_WORKSPACE_H

#include "idm/extension/planner.h"
#include "idm/extension/problem.h"
#include "idm/extension/random.h"
#include "idm/extension/setting.h"
#include "plan/believer/believer.h"
#include "plan/plan.h"

/* === workspace ============================================================================== */

/* Contents of a workspace. */

struct idm_workspace {
  const idm_planner *planner;
  const idm_setting *setting; /* borrowed */
  idm_theta *theta;           /* owned copy with clamps applied; holds the agent's models */
  idm_theta *next_theta;      /* scratch: a new theta before it is accepted */
  void *content;
  bool delayed;              /* delay discounting replaces the exponential discount */
  bool planned;              /* false until a plan succeeds, and after one that fails */
  double bound;              /* of the last plan, see idm_plan_report */
  double *scratch;           /* for values and policies; NULL unless the planner is over beliefs */
  double *lookahead;         /* scratch for one belief: successor, joint, policies; likewise NULL */
  belief_agent belief_agent; /* of a planner over beliefs */
};

/* Whether values and policies can be evaluated: the last plan succeeded, the variant exists,
 * `steps` is not negative, and z is a probability distribution. */
bool idm_workspace_evaluates(const idm_workspace *workspace, size_t variant, int steps,
                             const double *z);

/* === draw =================================================================================== */

/* Draws from the environment, shared by simulation and by planners that learn from samples. */

/* Draws a transition: updates *state and returns the observation. The environment's dynamics must
 * be given. */
int idm_draw_transition(const idm_setting *setting, size_t action, size_t *state,
                        idm_random *random);

/* === follow ================================================================================= */

/* Trace of an agent along given events. idm_path_trace_create parses its path into such events. */

/* Records the agent at the start and after each event, in that order; step_label stays empty.
 * opt_start NULL: start belief of the setting. Returns the errors of the behaviour. */
idm_status idm_path_trace_events(const idm_setting *setting, const idm_workspace *workspace,
                                 const double *opt_start, const idm_event *events, size_t count,
                                 idm_path_trace **ret_trace, idm_error *opt_error);

/* === score ================================================================================== */

/* Derivatives of a log-likelihood with respect to quantities outside theta. */

/* After idm_gradient_run: derivative with respect to the start belief of the setting, [state], up
 * to a constant common to all states. Returns false if it is not available. */
bool idm_gradient_by_start(const idm_gradient *gradient, double *by_start);

/* === choice derivative ====================================================================== */

/* Reverse-mode derivative of a function of the choice probabilities at given beliefs, with respect
 * to theta: through the planner's adjoint and the lapse. */

typedef struct idm_choice_adjoint idm_choice_adjoint;

/* Whether the policies are differentiable: the planner has an adjoint, and its policies do not jump
 * between optimal actions. */
bool idm_choice_adjoint_possible(const idm_workspace *workspace);
/* Borrows the workspace. */
idm_status idm_choice_adjoint_create(idm_workspace *workspace, idm_choice_adjoint **ret_derivative,
                                     idm_error *opt_error);
/* Accepts NULL. */
void idm_choice_adjoint_destroy(idm_choice_adjoint *derivative);

/* After a plan: call begin, then point for any number of beliefs, then finish. by_choice[action] is
 * the derivative with respect to the probability of each action at belief z, as idm_plan_choice
 * computes it for the first decision of a trajectory; z is constant. theta_gradient receives the
 * derivatives with respect to theta as planned (idm_parameters_backward). */
void idm_choice_adjoint_begin(idm_choice_adjoint *derivative);
void idm_choice_adjoint_point(idm_choice_adjoint *derivative, const double *z,
                              const double *by_choice);
idm_status idm_choice_adjoint_finish(idm_choice_adjoint *derivative, idm_theta *theta_gradient,
                                     idm_error *opt_error);

/* === clamp ================================================================================== */

/* Clamps of a planner's table. */

/* Sets the blocks that the planner clamps, and checks its sign constraints. IDM_INPUT if a sign is
 * wrong or the environment's dynamics are required but not given. */
idm_status idm_clamp_apply(const idm_planner *planner, const idm_setting *setting, idm_theta *theta,
                           idm_error *opt_error);

/* === memory ================================================================================= */

/* Memory of an agent. */

/* Whether choices depend on the current state alone, for every value of the free parameters: states
 * are observed, there is no horizon, discounting is exponential, and the previous action has no
 * effect. */
bool idm_agent_is_memoryless(const idm_problem *problem);

/* === registry =============================================================================== */

/* Check a table for idm_planner_register. */
idm_status idm_planner_check_table(const idm_planner *planner, idm_error *opt_error);

#endif
