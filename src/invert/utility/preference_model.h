/* Preferences between trajectories, by a logistic model of discounted returns.
 *
 * Contents: discounted sum · preference model · simulated preferences */
#ifndef IDM_INVERT_UTILITY_PREFERENCE_MODEL_H
#define IDM_INVERT_UTILITY_PREFERENCE_MODEL_H

#include "idm/extension/data.h"
#include "idm/extension/optimality.h"
#include "idm/extension/problem.h"
#include "idm/extension/random.h"
#include "invert/utility/mdp.h"

/* === discounted sum ========================================================================= */

/* Discounted returns of the trajectories of a log, as linear functions of a utility's free numbers.
 *
 * Sums are over states if these are observed, otherwise over the beliefs of the agent's filter,
 * utility(z, u) = sum_s z(s) utility(s, u). */

typedef struct idm_discounted_sum {
  const idm_data *data;                 /* borrowed, as free_utility is */
  const idm_free_utility *free_utility; /* utility by state and action */
  size_t states;
  double discount; /* the problem's; may be changed by the caller */
  int32_t *state;  /* [row]; NULL if states are hidden */
  struct idm_trials
      *trials; /* their first numbers per row are the belief; NULL if states are observed */
} idm_discounted_sum;

/* IDM_INPUT, with `caller` in the message, if utilities vary with columns of the log, and for
 * hidden states if beliefs depend on the utility: with several models, whose weights depend on
 * their values, and with a sensor of limited capacity, where actions are evidence of what was
 * perceived. */
idm_status idm_discounted_sum_create(const idm_problem *problem, const idm_data *data,
                                     const idm_free_utility *free_utility, const char *caller,
                                     idm_discounted_sum **ret_sum, idm_error *opt_error);
/* Accepts NULL. */
void idm_discounted_sum_destroy(idm_discounted_sum *sum);
/* row[number] += sign times its coefficient in the return of a trajectory, and *offset += sign
 * times the contribution of fixed entries. IDM_INPUT, with the row of the log, if an action or
 * observation is not recorded; `reason` completes the sentence "the trajectory ...". */
idm_status idm_discounted_sum_add(const idm_discounted_sum *sum, size_t trajectory, double sign,
                                  const char *reason, double *row, double *offset,
                                  idm_error *opt_error);

/* === preference model ======================================================================= */

/* Preferences as a logistic model of the free numbers of a utility: trajectory b is preferred to w
 * with probability logistic(R_b - R_w), R_h = sum_t discount^t utility(s_t, u_t), t from 0
 * (`docs/method/inverse.md, 6`). */

typedef struct idm_preference_model {
  size_t count;         /* preferences */
  size_t free;          /* free numbers */
  double *difference;   /* [count][free]: coefficients of R_b - R_w */
  double *offset;       /* [count]: contribution of fixed entries to it */
  double *weight;       /* [count]: borrowed from the data */
  size_t uninformative; /* preferences that do not depend on any free number */
} idm_preference_model;

/* Sums are over states if these are observed, otherwise over the beliefs of the agent's filter.
 * IDM_INPUT, with the place, if an action of a compared trajectory is not recorded; with `caller`
 * in the message if beliefs depend on the utility or the utility varies with the log. */
idm_status idm_preference_model_create(const idm_problem *problem, const idm_data *data,
                                       const idm_free_utility *free_utility, const char *caller,
                                       idm_preference_model **ret_model, idm_error *opt_error);
void idm_preference_model_destroy(idm_preference_model *preference_model);

/* Probability that preference i is the other way round. */
double idm_preference_model_residual(const idm_preference_model *preference_model, size_t i,
                                     const double *x);
/* Returns sum_i weight log logistic(difference x + offset), and optionally its gradient[free] and
 * minus its Hessian [free][free] (lower triangle). */
double idm_preference_model_log_likelihood(const idm_preference_model *preference_model,
                                           const double *x, double *opt_gradient,
                                           double *opt_precision);
/* Precision of a quadratic lower bound that touches the log-likelihood at x (lower triangle):
 * positive also where the logistic is flat, and the step that maximises the bound never decreases
 * the likelihood (Jaakkola and Jordan 2000). */
void idm_preference_model_bound(const idm_preference_model *preference_model, const double *x,
                                double *precision);
/* Number of preferences with which some direction of the free numbers agrees strictly without
 * disagreeing with any other: 0 if there is no such direction (separation, Albert and Anderson
 * 1984). With separation the likelihood has no mode. */
idm_status idm_preference_model_separated(const idm_preference_model *preference_model,
                                          idm_interrupt opt_interrupt, void *context,
                                          size_t *ret_count, idm_error *opt_error);
/* Adds the unidentified directions to the optimality record; opt_x is moved along them to its point
 * of least norm. */
idm_status idm_preference_model_nullspace(const idm_preference_model *preference_model,
                                          double *opt_x, idm_optimality *optimality,
                                          idm_error *opt_error);
/* Adds remarks on the preferences to the optimality record's words. */
void idm_preference_model_note(const idm_preference_model *preference_model, size_t separated,
                               idm_optimality *optimality);

/* === simulated preferences ================================================================== */

/* Simulation of preferences at a known utility, and their likelihood. */

/* Adds preferences between `pairs` random pairs of trajectories to data: b is preferred to w with
 * probability logistic(R_b - R_w) under the utility of theta, whose fixed entries are the
 * problem's. Errors as idm_preference_model_create; IDM_INPUT if there is only one trajectory. */
idm_status idm_preferences_simulate(const idm_problem *problem, const idm_theta *theta,
                                    size_t pairs, const char *caller, idm_random *random,
                                    idm_data *data, idm_error *opt_error);
/* sum log logistic(R_better - R_worse) of the preferences in data under the utility of theta. */
idm_status idm_preferences_log_likelihood(const idm_problem *problem, const idm_data *data,
                                          const idm_theta *theta, const char *caller,
                                          double *log_likelihood, idm_error *opt_error);

#endif
