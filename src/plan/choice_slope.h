/* The derivative, in reverse, of a function of the choices at given beliefs: by theta, through the
 * planner's adjoint and slips. */
#ifndef IDM_PLAN_CHOICE_SLOPE_H
#define IDM_PLAN_CHOICE_SLOPE_H

#include "idm/workspace.h"

typedef struct idm_choice_slope idm_choice_slope;

/* Whether the planner's policies have a derivative: an adjoint, and no jumps from one best action
 * to another. */
bool idm_choice_slope_possible(const idm_workspace *workspace);
/* The workspace is borrowed. */
idm_status idm_choice_slope_create(idm_workspace *workspace, idm_choice_slope **ret_slope,
                                   idm_error *opt_error);
/* Takes NULL. */
void idm_choice_slope_destroy(idm_choice_slope *slope);

/* After a plan: begin, any number of beliefs, finish. by_choice[action] is the derivative by the
 * probability of each action at belief z, as idm_plan_choice gives it for a first decision; z is
 * constant. theta_slope receives the derivatives by theta as planned (idm_parameters_pull). */
void idm_choice_slope_begin(idm_choice_slope *slope);
void idm_choice_slope_point(idm_choice_slope *slope, const double *z, const double *by_choice);
idm_status idm_choice_slope_finish(idm_choice_slope *slope, idm_theta *theta_slope,
                                   idm_error *opt_error);

#endif
