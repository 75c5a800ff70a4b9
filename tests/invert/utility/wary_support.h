/* Agents of several models whose states are observed, drawn at random, and a slow reference of what
 * the worst share of the models leaves them. */
#ifndef IDM_TESTS_INVERT_UTILITY_WARY_SUPPORT_H
#define IDM_TESTS_INVERT_UTILITY_WARY_SUPPORT_H

#include "invert/utility/grid_support.h"

typedef struct wary_shape {
  size_t states;
  size_t actions;
  size_t models;
  double level;
  uint64_t seed;
  const size_t *opt_order; /* [states]: which state of the natural order stands at each place */
  const size_t *opt_turn;  /* [actions] */
  const size_t *opt_list;  /* [models] */
} wary_shape;

/* Planner cvar-robust, discount 0.8, weights of models that differ. */
idm_problem *wary_random(wary_shape shape);
/* Q[action][state] by plain code: every order of the models is tried, the worst counts. */
double wary_quality(const idm_problem *problem, double level, const double *utility,
                    const double *v, size_t s, size_t u);
/* V of one action a state. */
void wary_values(const idm_problem *problem, double level, const double *utility,
                 const size_t *action, double *v);
/* The row's own expression; -inf where another action is better. */
double wary_margin(const idm_problem *problem, double level, const double *utility,
                   const size_t *action);
/* What the planner does with its own utility. */
void wary_best(const idm_problem *problem, size_t *action);

#endif
