/* Terminal states, and transfer of an agent to another environment.
 *
 * Contents: terminal · transfer */
#ifndef IDM_SETTING_TERMINAL_H
#define IDM_SETTING_TERMINAL_H

#include "idm/extension/problem.h"

/* === terminal =============================================================================== */

/* Terminal states: an episode ends on arrival. In matrices they are absorbing states with utility
 * 0, whose value is 0 for every planner without an entropy term. */

/* Make terminal states absorbing in the setting, in every environment and in every model, and set
 * their utilities to 0; columns of utilities there are removed. */
void idm_problem_absorb(idm_problem *problem);
/* Make terminal states absorbing in transition[matrices][state][next state]. */
void idm_setting_absorb(const idm_setting *setting, double *transition, size_t matrices);
/* IDM_INPUT unless terminal states are observed, have start probability 0, are absorbing and have
 * utility 0, and no utility of beliefs is paid. */
idm_status idm_terminal_check(const idm_problem *problem, idm_error *opt_error);

/* === transfer =============================================================================== */

/* Transfer of an agent to the environment of another problem. */

/* IDM_INPUT where the agent's models are not derived from its environment, so that they are not
 * defined in another one: an explicit list of models, or free transitions or observations. */
idm_status idm_problem_check_models(const idm_problem *problem, idm_error *opt_error);

/* After a transfer, list utility and discount of `other` that differ from those of the problem,
 * which are used, as "utility, discount"; empty where nothing differs. A utility of 0 everywhere
 * counts as not given. */
void idm_problem_name_unused(const idm_problem *problem, const idm_problem *other, char *buffer,
                             size_t size);

#endif
