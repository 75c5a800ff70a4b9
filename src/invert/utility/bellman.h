/* Bellman's equations as rows of a linear program over utilities and values.
 *
 * Columns 0 .. count - 1 are the free numbers that are sought, the next ones the values of states;
 * whatever else a program has comes after them. */
#ifndef IDM_INVERT_UTILITY_BELLMAN_H
#define IDM_INVERT_UTILITY_BELLMAN_H

#include "infer/program.h"
#include "invert/matching/halt.h"
#include "invert/utility/mdp.h"
#include "invert/utility/sought.h"

/* A row under way: sum of entries between bounds that held entries of the utility shift. */
typedef struct idm_bellman {
  idm_program *program;
  const idm_mdp *world;
  const idm_sought *sought;
  size_t values; /* column of the first state's value */
  double held;   /* what held entries add to the row that comes next */
} idm_bellman;

/* Rows over the values of one world; those of several follow one another. */
idm_bellman idm_bellman_begin(idm_program *program, const idm_mdp *world, const idm_sought *sought,
                              size_t values);
/* Enter a factor times an entry of the utility: a free number, a sum over features, or one that is
 * held, which is moved to the bounds. */
idm_status idm_bellman_utility(idm_bellman *rows, size_t entry, double factor,
                               idm_error *opt_error);
/* Enter weight times what (state, action) brings: -(utility + discount P V). */
idm_status idm_bellman_enter(idm_bellman *rows, size_t state, size_t action, double weight,
                             idm_error *opt_error);
/* Enter the state's own value, and add the row: lower <= V(s) - ... <= upper. */
idm_status idm_bellman_add(idm_bellman *rows, size_t state, double lower, double upper,
                           idm_error *opt_error);
/* V = value of a policy[state][action] in every state, a row each. */
idm_status idm_bellman_policy(idm_bellman *rows, const double *policy, idm_error *opt_error);

/* Whether an action is open to the agent at all: its prior is not 0. */
bool idm_bellman_open(const idm_mdp *world, size_t action);
/* IDM_INPUT where values of policies are no fixed points: a horizon, or a discount of 1. */
idm_status idm_bellman_check(const idm_mdp *world, const idm_setting *setting, const char *who,
                             idm_error *opt_error);
/* For idm_program_solve and its like: the context is a halt. */
bool idm_bellman_ask(void *halt);

#endif
