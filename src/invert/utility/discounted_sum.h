/* Discounted sums of a utility over the trajectories of a log, by its free numbers.
 *
 * Where states are observed, sums over states; else over the beliefs of the agent's filter,
 * utility(z, u) = sum_s z(s) utility(s, u). */
#ifndef IDM_INVERT_UTILITY_DISCOUNTED_SUM_H
#define IDM_INVERT_UTILITY_DISCOUNTED_SUM_H

#include "idm/data.h"
#include "invert/utility/sought.h"

typedef struct idm_discounted_sum {
  const idm_data *data;     /* borrowed, as what is sought */
  const idm_sought *sought; /* of the utility by state and action */
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
                                     const idm_sought *sought, const char *who,
                                     idm_discounted_sum **ret_sum, idm_error *opt_error);
/* Takes NULL. */
void idm_discounted_sum_destroy(idm_discounted_sum *sum);
/* row[number] += sign times its coefficient in the sum of a trajectory, and *offset += sign times
 * what held entries add. IDM_INPUT, with the row of the log, where what was done or seen is not
 * recorded; `needed` completes the sentence "the trajectory ...". */
idm_status idm_discounted_sum_add(const idm_discounted_sum *sum, size_t trajectory, double sign,
                                  const char *needed, double *row, double *offset,
                                  idm_error *opt_error);

#endif
