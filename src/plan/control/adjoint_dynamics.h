/* The derivative of K by the dynamics of one (action, model). */
#ifndef IDM_PLAN_CONTROL_ADJOINT_DYNAMICS_H
#define IDM_PLAN_CONTROL_ADJOINT_DYNAMICS_H

#include "plan/control/adjoint.h"

/* Numbers of scratch that it needs. */
size_t idm_adjoint_dynamics_scratch(const control *c);
/* Add what a slope of K(z,u,m), whose successors have the values v, asks of tau and omega. */
void idm_adjoint_dynamics(adjoint *a, const double *v, const double *z, size_t u, size_t m,
                          double slope);

#endif
