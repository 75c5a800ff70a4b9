/* Trial by trial: what an agent believes, may do and values at every row of a log. */
#ifndef IDM_TRIALS_H
#define IDM_TRIALS_H

#include "idm/posterior.h"
#include "idm/score.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Draws of a posterior that numbers are over, where nobody asks for another number; at most. */
enum { IDM_TRIAL_DRAWS = 1000 };

/* Numbers of a row, side by side: the belief in each state before the row, the probability and Q of
 * each action, the surprise -log p(x|z,u) at what was seen, under the agent's own models as it
 * weighs them (idm_plan_predict), and what the row adds to the log-likelihood. NaN: there is no
 * such number. Where something was not recorded, they are means over what may have been (of the
 * surprise: its probability's). */
typedef struct idm_trials {
  idm_sizes sizes;
  size_t width; /* numbers of a row: states + 2 actions + 2, and in an explanation more */
  size_t draws; /* how many the numbers are over; 1: of one parameter */
  size_t rows;
  uint32_t *node; /* [row]: rows with the same history share their numbers */
  double *mean;   /* [node][width] */
  double *low;    /* [node][width]: quantile 5 % over the draws; NULL where there is one */
  double *high;   /* [node][width]: 95 % */
} idm_trials;

/* By the problem's own parameter, as planned in a workspace. */
IDM_API idm_status idm_trials_create(idm_workspace *workspace, const idm_data *data,
                                     idm_trials **ret_trials, idm_error *opt_error);
/* By the draws of a posterior: means and intervals over IDM_TRIAL_DRAWS of them, spread evenly, or
 * over all where there are fewer. The problem is bound to the data. */
IDM_API idm_status idm_posterior_trials(const idm_problem *problem, const idm_posterior *posterior,
                                        const idm_data *data, idm_trials **ret_trials,
                                        idm_error *opt_error);
IDM_API void idm_trials_destroy(idm_trials *trials);

#ifdef __cplusplus
}
#endif
#endif
