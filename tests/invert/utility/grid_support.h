/* Shared by tests of margins and perturbations: small random problems, gridworlds, logs with one
 * row per state, and slow reference computations. */
#ifndef IDM_TESTS_INVERT_UTILITY_GRID_SUPPORT_H
#define IDM_TESTS_INVERT_UTILITY_GRID_SUPPORT_H

#include "invert/utility/mdp_support.h"

/* A random fully observed problem; order[states] and turn[actions] (optional) are the indices, in
 * natural order, of the state and action at each place. */
idm_problem *grid_random(size_t states, size_t actions, double discount, uint64_t seed,
                         const size_t *opt_order, const size_t *opt_turn);
/* A side x side gridworld: four actions, replaced by a random one with probability `wind`, and
 * utility 1 in the last corner. */
idm_problem *grid_square(size_t side, double wind, double discount);
/* Optimal actions of the problem's utility, [state], by value iteration. */
void grid_best(const idm_problem *problem, size_t *action);
/* A log with one row per state and the given action; states with action SIZE_MAX are omitted. */
idm_data *grid_log(const idm_problem *problem, const size_t *action);
/* Values of a deterministic policy, by 2,000 sweeps. */
void grid_values(const idm_problem *problem, const double *utility, const size_t *action,
                 double *v);
/* utility + discount P v. */
double grid_quality(const idm_problem *problem, const double *utility, const double *v, size_t s,
                    size_t u);
/* Checks that with utilities, --bound and --epsilon in `unit`s the estimate is the same in that
 * unit, with the same notes. Changes the problem's utilities to the unit. */
void grid_in_units(idm_problem *problem, const idm_data *data, const char *inverse,
                   const idm_fit_settings *settings, double unit);
/* Whether a note of the optimality record contains these words. */
bool grid_says(const idm_optimality *optimality, const char *words);

#endif
