/* Terminal states, and an agent in another environment.
 *
 * Contents: terminal · transfer */
#ifndef IDM_SETTING_TERMINAL_H
#define IDM_SETTING_TERMINAL_H

#include "idm/problem.h"

/* === terminal =============================================================================== */

/* Terminal states: an episode ends on arrival. In matrices they are states that are never left and
 * pay nothing, whose value is 0 for every planner that counts no entropy. */

/* Give rows of terminal states in the setting, in every environment and in every model the one
 * outcome to stay, and utilities there the value 0; utilities from columns are numbers then. */
void idm_problem_absorb(idm_problem *problem);
/* The same for matrices [matrix][state][next state]. */
void idm_setting_absorb(const idm_setting *setting, double *transition, size_t matrices);
/* IDM_INPUT unless terminal states are observed, begin no episode, are never left and pay nothing,
 * by belief neither. */
idm_status idm_terminal_check(const idm_problem *problem, idm_error *opt_error);

/* === transfer =============================================================================== */

/* An agent in another environment than its own. */

/* IDM_INPUT where the agent's models do not follow from its environment, so that nothing defines
 * them in another one: a list of models, or free transitions or emissions. */
idm_status idm_problem_check_models(const idm_problem *problem, idm_error *opt_error);

/* After a transfer, name what `other` gave for utility and discount that differs from what the
 * problem keeps and uses, as "utility, discount"; empty where nothing does. A utility of 0
 * everywhere counts as not given. */
void idm_problem_name_unused(const idm_problem *problem, const idm_problem *other, char *buffer,
                             size_t size);

#endif
