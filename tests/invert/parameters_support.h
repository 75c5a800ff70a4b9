/* Free numbers of the diagnosis problem, for tests of parameters and of their priors. */
#ifndef IDM_TESTS_INVERT_PARAMETERS_SUPPORT_H
#define IDM_TESTS_INVERT_PARAMETERS_SUPPORT_H

#include "invert/parameters.h"
#include "support.h"

enum { SUPPORT_COORDINATES = 32, SUPPORT_EVERYTHING = 10 };

/* Everything that can be free at once, in a mixture of scales; so many coordinates. */
extern const char support_everything[];

idm_problem *support_free_diag(const char *free_blocks);
/* Of at most SUPPORT_COORDINATES coordinates. */
idm_parameters *support_parameters(const idm_problem *problem);

#endif
