/* The workspace of a planner, and what simulation and likelihood share.
 *
 * Contents: workspace · draw · follow · score · choice slope · clamp · forgets */
#ifndef IDM_PLAN_WORKSPACE_H
#define IDM_PLAN_WORKSPACE_H

#include "idm/follow.h"
#include "idm/planner.h"
#include "idm/problem.h"
#include "idm/random.h"
#include "idm/score.h"
#include "idm/setting.h"
#include "idm/workspace.h"
#include "plan/believer/believer.h"

/* === workspace ============================================================================== */

/* What a workspace holds. */

struct idm_workspace {
  const idm_planner *planner;
  const idm_setting *setting; /* borrowed */
  idm_theta *theta;           /* own copy, clamped: the believer's models are here */
  idm_theta *next_theta;      /* a theta on its way in */
  void *content;
  bool delayed;      /* utilities count by delay, and not by the discount */
  bool planned;      /* false until a plan succeeds, and after one that fails */
  double bound;      /* of the last plan, see idm_plan_report */
  double *scratch;   /* for values and policies asked of the workspace itself */
  double *lookahead; /* scratch of a look at one belief: a successor, policies; NULL likewise */
  belief_agent belief_agent; /* of a planner over beliefs */
};

/* Whether there is something to evaluate: a plan that succeeded, of that variant, at a belief that
 * is a distribution. */
bool idm_workspace_evaluates(const idm_workspace *workspace, size_t variant, int steps,
                             const double *z);

/* === draw =================================================================================== */

/* Draws from the environment: what simulation and whoever learns by acting share. */

/* The environment's answer to an action: *state moves on, and what is seen is returned. Its
 * dynamics must be known. */
int idm_draw_transition(const idm_setting *setting, size_t action, size_t *state,
                        idm_random *random);

/* === follow ================================================================================= */

/* Following an agent along steps that are known already: what idm_path_trace_create reads its path
 * into. */

/* The start, then the place after each event; `reached` stays empty. opt_start NULL: the setting's
 * own start belief. Errors are those of the behaviour. */
idm_status idm_path_trace_events(const idm_setting *setting, const idm_workspace *workspace,
                                 const double *opt_start, const idm_event *events, size_t count,
                                 idm_path_trace **ret_trace, idm_error *opt_error);

/* === score ================================================================================== */

/* Derivatives of a log-likelihood by what is no part of theta. */

/* After a run of a gradient: the derivative by the start of the setting, [state], up to a number
 * common to all states. False where it cannot be had. */
bool idm_gradient_by_start(const idm_gradient *gradient, double *by_start);

/* === choice slope =========================================================================== */

/* The derivative, in reverse, of a function of the choices at given beliefs: by theta, through the
 * planner's adjoint and slips. */

typedef struct idm_choice_adjoint idm_choice_adjoint;

/* Whether the planner's policies have a derivative: an adjoint, and no jumps from one best action
 * to another. */
bool idm_choice_adjoint_possible(const idm_workspace *workspace);
/* The workspace is borrowed. */
idm_status idm_choice_adjoint_create(idm_workspace *workspace, idm_choice_adjoint **ret_derivative,
                                     idm_error *opt_error);
/* Takes NULL. */
void idm_choice_adjoint_destroy(idm_choice_adjoint *derivative);

/* After a plan: begin, any number of beliefs, finish. by_choice[action] is the derivative by the
 * probability of each action at belief z, as idm_plan_choice gives it for a first decision; z is
 * constant. theta_gradient receives the derivatives by theta as planned (idm_parameters_backward).
 */
void idm_choice_adjoint_begin(idm_choice_adjoint *derivative);
void idm_choice_adjoint_point(idm_choice_adjoint *derivative, const double *z,
                              const double *by_choice);
idm_status idm_choice_adjoint_finish(idm_choice_adjoint *derivative, idm_theta *theta_gradient,
                                     idm_error *opt_error);

/* === clamp ================================================================================== */

/* Clamps: what makes one planner of another, as data. */

/* Hold what a planner's clamps hold, and check what they ask for. */
idm_status idm_clamp_apply(const idm_planner *planner, const idm_setting *setting, idm_theta *theta,
                           idm_error *opt_error);

/* === forgets ================================================================================ */

/* Whether an agent remembers more than the state it is in. */

/* States are observed, beliefs follow from them alone, and neither the step nor what was done last
 * matters to what is done now, whatever the free numbers are. */
bool idm_agent_is_memoryless(const idm_problem *problem);

#endif
