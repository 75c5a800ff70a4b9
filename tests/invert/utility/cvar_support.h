/* Random agents with several models and observed states, and a slow computation of conditional
 * value at risk over the models. */
#ifndef IDM_TESTS_INVERT_UTILITY_CVAR_SUPPORT_H
#define IDM_TESTS_INVERT_UTILITY_CVAR_SUPPORT_H

#include "invert/utility/grid_support.h"

typedef struct cvar_shape {
  size_t states;
  size_t actions;
  size_t models;
  double level;
  uint64_t seed;
  const size_t *opt_order; /* [states]: index, in natural order, of the state at each place */
  const size_t *opt_turn;  /* [actions] */
  const size_t *opt_list;  /* [models] */
} cvar_shape;

/* Planner cvar-robust, discount 0.8, unequal weights of models. */
idm_problem *cvar_random(cvar_shape shape);
/* Q[action][state] with the worst mixture, by trying every order of the models. */
double cvar_quality(const idm_problem *problem, double level, const double *utility,
                    const double *v, size_t s, size_t u);
/* V of a deterministic policy. */
void cvar_values(const idm_problem *problem, double level, const double *utility,
                 const size_t *action, double *v);
/* The objective of the method; -inf where another action is better. */
double cvar_margin(const idm_problem *problem, double level, const double *utility,
                   const size_t *action);
/* The planner's actions under the problem's own utility. */
void cvar_best(const idm_problem *problem, size_t *action);

#endif
