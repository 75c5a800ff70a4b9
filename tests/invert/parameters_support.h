/* Free parameters of the diagnosis problem, for tests of parameters and of their priors. */
#ifndef IDM_TESTS_INVERT_PARAMETERS_SUPPORT_H
#define IDM_TESTS_INVERT_PARAMETERS_SUPPORT_H

#include "invert/parameters.h"
#include "support.h"

enum { SUPPORT_COORDINATES = 32, SUPPORT_EVERYTHING = 10 };

/* All blocks that can be free at once, on different scales; SUPPORT_EVERYTHING coordinates. */
extern const char support_everything[];

idm_problem *support_free_diag(const char *free_blocks);
/* Parameters of a problem with at most SUPPORT_COORDINATES coordinates. */
idm_parameters *support_parameters(const idm_problem *problem);

#endif
