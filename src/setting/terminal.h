/* Terminal states: an episode ends on arrival. In matrices they are states that are never left and
 * pay nothing, whose value is 0 for every planner that counts no entropy. */
#ifndef IDM_SETTING_TERMINAL_H
#define IDM_SETTING_TERMINAL_H

#include "idm/problem.h"

/* Give rows of terminal states in the setting, in every environment and in every model the one
 * outcome to stay, and utilities there the value 0; utilities from columns are numbers then. */
void idm_problem_absorb(idm_problem *problem);
/* The same for matrices [matrix][state][next state]. */
void idm_setting_absorb(const idm_setting *setting, double *transition, size_t matrices);
/* IDM_INPUT unless terminal states are observed, begin no episode, are never left and pay nothing,
 * by belief neither. */
idm_status idm_terminal_check(const idm_problem *problem, idm_error *opt_error);

#endif
