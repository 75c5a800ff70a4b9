/* Descriptive statistics of a log: labels, lengths, and observed frequencies compared with the
 * environment's dynamics. */
#ifndef IDM_DATA_LINT_H
#define IDM_DATA_LINT_H

#include "base/door.h"
#include "idm/extension/data.h"

/* Source of the frequencies of hidden states. */
typedef enum idm_lint_states {
  IDM_LINT_NO_STATES, /* none: the environment's dynamics are unknown, and no column is given */
  IDM_LINT_COLUMN,    /* a column of the log with the state before the action */
  IDM_LINT_POSTERIOR  /* expected counts under the environment's dynamics, given the whole recorded
                         trajectory */
} idm_lint_states;

typedef struct idm_lint {
  idm_sizes sizes;
  size_t *action;      /* [action]: rows */
  size_t *observation; /* [observation]: rows */
  size_t action_missing;
  size_t missed; /* missed responses; excluded from `action` */
  size_t observation_missing;
  size_t shortest; /* minimum number of rows per trajectory */
  size_t longest;
  double median;
  double mean;
  size_t single; /* trajectories of one row */

  /* Rows with a recorded observation, by action: observed frequencies, and the frequencies
   * predicted by the environment's filter given the same history. NULL if the environment's
   * dynamics are unknown. */
  double *observed;  /* [action][observation] */
  double *expected;  /* [action][observation] */
  size_t unfiltered; /* rows after a missing action or an impossible observation: excluded from both
                        counts */

  idm_lint_states states;
  double *start;      /* [state]: trajectories */
  double *transition; /* [action][state][next state]: rows */
  double *emission;   /* [action][emitter][observation]: rows */
  size_t unlabelled;  /* rows whose cell in the column is not a label of a state */

  size_t impossibles;
  size_t *impossible; /* [impossibles]: rows with an observation of probability 0 */
  size_t *allowed; /* [impossibles]: number of the agent's models in which the action can give the
                      observation; 0: none */
} idm_lint;

/* Compute the statistics of a log. opt_state is the name of a covariate of the data with labels of
 * states: the state before the action of the row. *ret_lint is owned by the caller. IDM_USAGE if
 * there is no such covariate, or the data belong to another problem. */
IDM_CHECKED idm_status idm_lint_create(const idm_problem *problem, const idm_data *data,
                                       const char *opt_state, idm_lint **ret_lint,
                                       idm_error *opt_error);
/* Free the statistics. Accepts NULL. */
IDM_CHECKED void idm_lint_destroy(idm_lint *lint);

#endif
