/* A preconditioner of Newton's linear solves: the inverse of the derivative at a solution kept. */
#ifndef IDM_PLAN_CONTROL_PRECONDITION_H
#define IDM_PLAN_CONTROL_PRECONDITION_H

#include "plan/control/control.h"

/* Store the inverse of I - gamma P, with the weights in control->mix, for a slot that is kept. Does
 * nothing on lattices of more points than a dense inverse pays for. */
idm_status idm_control_precondition(control *c, size_t slot, idm_error *opt_error);
/* Choose the preconditioner of a plan: that of the slot with the largest weight among
 * those that have one; none where the
 * solver does not request one or the slot has none. */
void idm_control_choose_preconditioner(control *c, const idm_solver *solver);
/* y = M x for the preconditioner M chosen. */
void idm_control_apply_inverse(const control *c, const double *x, double *y);
/* y = (I - gamma P) M x; context is the control. */
void idm_control_preconditioned(const void *context, const double *x, double *y);
/* The same of the transposes: y = M' x, and y = (I - gamma P') M' x. */
void idm_control_apply_transposed(const control *c, const double *x, double *y);
void idm_control_transposed_preconditioned(const void *context, const double *x, double *y);

#endif
