/* What tests of margins and perturbations share: small worlds at random, gridworlds, logs of one
 * row a state, and slow references. */
#ifndef IDM_TESTS_INVERT_UTILITY_GRID_SUPPORT_H
#define IDM_TESTS_INVERT_UTILITY_GRID_SUPPORT_H

#include "invert/utility/mdp_support.h"

/* A fully observed problem drawn at random; order[states] and turn[actions], where given, say which
 * state and action of the one in natural order stands at each place. */
idm_problem *grid_random(size_t states, size_t actions, double discount, uint64_t seed,
                         const size_t *opt_order, const size_t *opt_turn);
/* A square of states, four actions that the wind takes elsewhere, 1 in the last corner. */
idm_problem *grid_square(size_t side, double wind, double discount);
/* Best actions of the problem's utility, [state], by plain value iteration. */
void grid_best(const idm_problem *problem, size_t *action);
/* A log with one row a state, with the action given; states of action SIZE_MAX are left out. */
idm_data *grid_log(const idm_problem *problem, const size_t *action);
/* Values of a deterministic policy, by plain sweeps. */
void grid_values(const idm_problem *problem, const double *utility, const size_t *action,
                 double *v);
/* utility + discount P v. */
double grid_quality(const idm_problem *problem, const double *utility, const double *v, size_t s,
                    size_t u);
/* The same question with utilities, --bound and --epsilon counted in `unit`s must have the same
 * answer, counted so, and say the same of it. The problem is counted in units afterwards. */
void grid_in_units(idm_problem *problem, const idm_data *data, const char *inverse,
                   const idm_fit_settings *settings, double unit);
/* Whether a sentence of the finding has these words. */
bool grid_says(const idm_optimality *finding, const char *words);

#endif
