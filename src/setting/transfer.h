/* An agent in another environment than its own. */
#ifndef IDM_SETTING_TRANSFER_H
#define IDM_SETTING_TRANSFER_H

#include "idm/problem.h"

/* IDM_INPUT where the agent's models do not follow from its environment, so that nothing defines
 * them in another one: a list of models, or free transitions or emissions. */
idm_status idm_problem_check_models(const idm_problem *problem, idm_error *opt_error);

/* After a transfer, name what `other` gave for utility and discount that differs from what the
 * problem keeps and uses, as "utility, discount"; empty where nothing does. A utility of 0
 * everywhere counts as not given. */
void idm_problem_name_unused(const idm_problem *problem, const idm_problem *other, char *buffer,
                             size_t size);

#endif
