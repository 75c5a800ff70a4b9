/* The forward recursion: occupancy, return and complexities. */
#ifndef IDM_PLAN_CONTROL_FORWARD_H
#define IDM_PLAN_CONTROL_FORWARD_H

#include "plan/control/control.h"

idm_status idm_control_forward(void *content, size_t variant, idm_forward *forward,
                               double *opt_occupancy, idm_error *opt_error);

#endif
