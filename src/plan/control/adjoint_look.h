/* The derivative of the policies at one belief off the lattice. */
#ifndef IDM_PLAN_CONTROL_ADJOINT_LOOK_H
#define IDM_PLAN_CONTROL_ADJOINT_LOOK_H

#include "plan/control/adjoint.h"

/* One belief by lookahead. */
void idm_adjoint_look(adjoint *a, const idm_policy_slope *point);

#endif
