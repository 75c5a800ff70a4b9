/* The rows of a mind as the kernel that a search plans by. */
#ifndef IDM_INVERT_UTILITY_MIND_KERNEL_H
#define IDM_INVERT_UTILITY_MIND_KERNEL_H

#include "invert/utility/mind.h"
#include "plan/point/kernel.h"

/* For the caller to destroy. */
idm_status idm_mind_kernel(const idm_mind *mind, kernel **ret_kernel, idm_error *opt_error);

#endif
