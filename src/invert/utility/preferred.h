/* Preferences between trajectories.
 *
 * Contents: discounted sum · preferred · prefer */
#ifndef IDM_INVERT_UTILITY_PREFERRED_H
#define IDM_INVERT_UTILITY_PREFERRED_H

#include "idm/data.h"
#include "idm/finding.h"
#include "idm/problem.h"
#include "idm/random.h"
#include "invert/utility/sought.h"

/* === discounted sum ========================================================================= */

/* Discounted sums of a utility over the trajectories of a log, by its free numbers.
 *
 * Where states are observed, sums over states; else over the beliefs of the agent's filter,
 * utility(z, u) = sum_s z(s) utility(s, u). */

typedef struct idm_discounted_sum {
  const idm_data *data;                 /* borrowed, as what is sought */
  const idm_free_utility *free_utility; /* of the utility by state and action */
  size_t states;
  double discount;           /* the problem's; may be changed */
  int32_t *state;            /* [row]; NULL where states are hidden */
  struct idm_trials *trials; /* whose first numbers of a row are the belief; NULL elsewhere */
} idm_discounted_sum;

/* IDM_INPUT, as what `who` cannot do, where utilities vary with columns of the log, and of hidden
 * states where beliefs depend on the utility: with several models, which are weighted by the values
 * that they promise, and with a sensor of limited capacity, where the actions show what was
 * perceived. */
idm_status idm_discounted_sum_create(const idm_problem *problem, const idm_data *data,
                                     const idm_free_utility *free_utility, const char *caller,
                                     idm_discounted_sum **ret_sum, idm_error *opt_error);
/* Takes NULL. */
void idm_discounted_sum_destroy(idm_discounted_sum *sum);
/* row[number] += sign times its coefficient in the sum of a trajectory, and *offset += sign times
 * what held entries add. IDM_INPUT, with the row of the log, where what was done or seen is not
 * recorded; `needed` completes the sentence "the trajectory ...". */
idm_status idm_discounted_sum_add(const idm_discounted_sum *sum, size_t trajectory, double sign,
                                  const char *reason, double *row, double *offset,
                                  idm_error *opt_error);

/* === preferred ============================================================================== */

/* Preferences as a logistic model of the free numbers of a utility: that trajectory b is preferred
 * to w has the probability logistic(R_b - R_w), R_h = sum_t discount^t utility(s_t, u_t), t from 0.
 */

typedef struct idm_preference_model {
  size_t count;         /* preferences */
  size_t free;          /* free numbers */
  double *difference;   /* [count][free]: R_b - R_w a unit of the number */
  double *offset;       /* [count]: and what held entries add to it */
  double *weight;       /* [count]: borrowed from the data */
  size_t uninformative; /* preferences that no free number bears on */
} idm_preference_model;

/* Where states are observed, sums over states; else over the beliefs of the agent's filter,
 * utility(z, u) = sum_s z(s) utility(s, u). IDM_INPUT, with its place, where what a compared
 * trajectory did is not recorded; as what `who` cannot do where beliefs hang on the utility, or the
 * utility on the data. */
idm_status idm_preference_model_create(const idm_problem *problem, const idm_data *data,
                                       const idm_free_utility *free_utility, const char *caller,
                                       idm_preference_model **ret_model, idm_error *opt_error);
void idm_preference_model_destroy(idm_preference_model *preference_model);

/* sum_i weight log logistic(difference x + offset); its gradient[free], and minus its Hessian
 * [free][free] (lower triangle), where they are asked for. */
double idm_preference_model_log_likelihood(const idm_preference_model *preference_model,
                                           const double *x, double *opt_gradient,
                                           double *opt_precision);
/* The precision of a quadratic that touches the log-likelihood at x and is nowhere above it (lower
 * triangle): where logistics are flat it still has a curvature, and its step never leads down
 * (Jaakkola and Jordan 2000). */
void idm_preference_model_bound(const idm_preference_model *preference_model, const double *x,
                                double *precision);
/* How many preferences some direction of the free numbers agrees with, the more the further one
 * goes, without ever disagreeing with one: 0 where there is none such (Albert and Anderson 1984).
 * Else the likelihood has no mode. */
idm_status idm_preference_model_separated(const idm_preference_model *preference_model,
                                          idm_interrupt opt_interrupt, void *context,
                                          size_t *ret_count, idm_error *opt_error);
/* What the preferences leave open, into the finding; opt_x moves along what they do to where it is
 * shortest. */
idm_status idm_preference_model_nullspace(const idm_preference_model *preference_model,
                                          double *opt_x, idm_optimality *finding,
                                          idm_error *opt_error);
/* What to know of them beside, as the finding's words. */
void idm_preference_model_note(const idm_preference_model *preference_model, size_t separated,
                               idm_optimality *finding);

/* === prefer ================================================================================= */

/* Preferences of somebody whose utility is known: what `preferred` is the likelihood of. */

/* Give data preferences between `pairs` pairs of trajectories, each pair drawn from all: of two, b
 * is preferred to w with the probability logistic(R_b - R_w) under the utility of theta, whose held
 * entries are the problem's. As what `who` cannot do where idm_preference_model_create fails;
 * IDM_INPUT where there is but one trajectory. */
idm_status idm_preferences_simulate(const idm_problem *problem, const idm_theta *theta,
                                    size_t pairs, const char *caller, idm_random *random,
                                    idm_data *data, idm_error *opt_error);
/* sum log logistic(R_better - R_worse) of the preferences in data under the utility of theta. */
idm_status idm_preferences_log_likelihood(const idm_problem *problem, const idm_data *data,
                                          const idm_theta *theta, const char *caller,
                                          double *log_likelihood, idm_error *opt_error);

#endif
