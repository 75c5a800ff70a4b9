/* An agent with three observed states, and its occupancies by value iteration and sums, independent
 * of the library. */
#ifndef IDM_TESTS_INVERT_UTILITY_OCCUPANCY_SUPPORT_H
#define IDM_TESTS_INVERT_UTILITY_OCCUPANCY_SUPPORT_H

#include "invert/utility/mdp_support.h"

enum { S = 3, U = 2 };

/* A problem with alpha = 0.5 and free blocks, or with another agent; a log of trajectories of 20
 * steps; settings with lambda = 7 for the squared divergence. */
idm_problem *occupancy_problem(double lapse, const char *free_blocks);
idm_problem *occupancy_problem_of(const char *agent, const char *free_blocks);
idm_data *occupancy_log(const idm_problem *problem, size_t trajectories);
idm_fit_settings occupancy_settings(idm_divergence divergence, double entropy);

/* Policy of the agent at these parameters. */
void occupancy_plan(double alpha, double lapse, double policy[S][U]);
/* Occupancy of a policy, and of the choice frequencies of a log. */
void occupancy_visit(double policy[S][U], double occupancy[S][U]);
void occupancy_demonstrate(const idm_data *data, double occupancy[S][U]);
/* Objective of an agent with these parameters. */
double occupancy_objective(idm_divergence divergence, double entropy, double p[S][U], double alpha,
                           double lapse);
/* The minimising alpha without lapses, by golden section search. */
double occupancy_alpha(idm_divergence divergence, double entropy, double p[S][U]);

#endif
