/* Problems whose states are observed, drawn at random, for tests of this room. */
#ifndef IDM_TESTS_INVERT_UTILITY_MDP_SUPPORT_H
#define IDM_TESTS_INVERT_UTILITY_MDP_SUPPORT_H

#include "invert/utility/sought.h"
#include "invert/utility/world.h"
#include "support.h"

/* Every row has at most `branches` successors; planner maximum-entropy, discount 0.9, a start that
 * is not the same everywhere. */
idm_problem *support_mdp(size_t states, size_t actions, size_t branches, double alpha,
                         uint64_t seed);
/* The same with state s called place[s] and action u called turn[u]. */
idm_problem *support_relabelled(const idm_problem *problem, const size_t *place,
                                const size_t *turn);
/* And a log of it, whatever evidence by trajectory it carries. */
idm_data *support_relabelled_data(const idm_data *data, const size_t *place, const size_t *turn);
idm_world *support_world(const idm_problem *problem);
/* A policy drawn at random, [state][action]. */
void support_policy(idm_random *random, size_t states, size_t actions, double *policy);
/* A fit that must succeed, and one that must be refused in these words. */
idm_posterior *support_fit(const char *inverse, const idm_problem *problem, const idm_data *data,
                           const idm_fit_settings *settings);
void support_refused(const char *inverse, const idm_problem *problem, const idm_data *data,
                     const idm_fit_settings *settings, const char *words);

#endif
