/* Random problems with observed states, for tests of inverse planners of utilities. */
#ifndef IDM_TESTS_INVERT_UTILITY_MDP_SUPPORT_H
#define IDM_TESTS_INVERT_UTILITY_MDP_SUPPORT_H

#include "invert/utility/mdp.h"
#include "support.h"

/* Every row has at most `branches` successors; planner maximum-entropy, discount 0.9, a start
 * distribution that is not uniform. */
idm_problem *support_mdp(size_t states, size_t actions, size_t branches, double alpha,
                         uint64_t seed);
/* A random problem and its log, and the same with states and actions permuted: state s of the first
 * is place[s] of the second, action u is turn[u]. */
enum { SUPPORT_TWIN_STATES = 5, SUPPORT_TWIN_ACTIONS = 3 };
typedef struct support_twins {
  size_t place[SUPPORT_TWIN_STATES];
  size_t turn[SUPPORT_TWIN_ACTIONS];
  idm_problem *problem[2]; /* the first starts in its state 0 */
  idm_data *data[2];
} support_twins;
support_twins support_twins_create(double alpha);
/* Adds a log of the first problem, which the twins own from here on. */
void support_twins_log(support_twins *twins, idm_data *data);
void support_twins_destroy(support_twins *twins);
idm_mdp *support_create_mdp(const idm_problem *problem);
/* A random policy, [state][action]. */
void support_policy(idm_random *random, size_t states, size_t actions, double *policy);
/* A fit that must succeed, and one that must be refused with a message that contains `words`. */
idm_posterior *support_fit(const char *inverse, const idm_problem *problem, const idm_data *data,
                           const idm_fit_settings *settings);
void support_refused(const char *inverse, const idm_problem *problem, const idm_data *data,
                     const idm_fit_settings *settings, const char *words);

#endif
