/* Trial-by-trial quantities: beliefs, choice probabilities and values of an agent at every row of a
 * log. */
#ifndef IDM_INVERT_TRIALS_H
#define IDM_INVERT_TRIALS_H

#include "base/door.h"
#include "idm/explain.h"
#include "idm/extension/posterior.h"
#include "plan/score.h"

/* Default maximum number of posterior draws. */
enum { IDM_TRIAL_DRAWS = 1000 };

/* Numbers of a row, in order: belief in each state before the row, probability and Q of each
 * action, surprise -log p(x|z,u) of the recorded observation under the agent's models as weighted
 * by the agent (idm_plan_predict), and contribution of the row to the log-likelihood. NaN:
 * undefined. With missing cells they are means over the possible values (of the surprise: mean of
 * the probability). */
typedef struct idm_trials {
  idm_sizes sizes;
  size_t width; /* numbers per row: 2 + states + 2 actions; more in an explanation */
  size_t draws; /* number of posterior draws; 1: a single parameter */
  size_t rows;
  uint32_t *node; /* [row]: index of its numbers; rows with equal histories share them */
  double *mean;   /* [node][width] */
  double *low;    /* [node][width]: 5 % quantile over the draws; NULL if `draws` is 1 */
  double *high;   /* [node][width]: 95 % quantile */
} idm_trials;

/* Quantities for the parameter of a planned workspace. *ret_trials is owned by the caller. */
IDM_CHECKED idm_status idm_trials_create(idm_workspace *workspace, const idm_data *data,
                                         idm_trials **ret_trials, idm_error *opt_error);
/* Means and quantiles over at most IDM_TRIAL_DRAWS evenly spaced draws of a posterior. The problem
 * must be bound to the data. *ret_trials is owned by the caller. */
IDM_CHECKED idm_status idm_posterior_trials(const idm_problem *problem,
                                            const idm_posterior *posterior, const idm_data *data,
                                            idm_trials **ret_trials, idm_error *opt_error);
/* Free the quantities. Accepts NULL. */
IDM_CHECKED void idm_trials_destroy(idm_trials *trials);

#endif
