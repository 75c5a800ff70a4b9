/* A look at a log beside its problem: labels, lengths, and what was seen against what the
 * environment's dynamics say. */
#ifndef IDM_LINT_H
#define IDM_LINT_H

#include "idm/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the frequencies of hidden states come from. */
typedef enum idm_lint_states {
  IDM_LINT_NO_STATES, /* the environment's dynamics are not known, and no column tells */
  IDM_LINT_COLUMN,    /* a column of the log tells the state acted in */
  IDM_LINT_POSTERIOR  /* expected under the environment's dynamics, given all that was recorded */
} idm_lint_states;

typedef struct idm_lint {
  idm_sizes sizes;
  size_t *action;      /* [action]: rows */
  size_t *observation; /* [observation]: rows */
  size_t action_missing;
  size_t missed; /* missed responses; they are in none of the counts of actions */
  size_t observation_missing;
  size_t shortest; /* rows of a trajectory */
  size_t longest;
  double median;
  double mean;
  size_t single; /* trajectories of one row */

  /* Rows with a recorded observation, by action: how often each was seen, and how often the
   * environment's filter of the same history expects it. NULL where its dynamics are not known. */
  double *observed;  /* [action][observation] */
  double *expected;  /* [action][observation] */
  size_t unfiltered; /* rows behind an action that is not recorded or an impossible observation:
                        they count for neither */

  idm_lint_states states;
  double *start;      /* [state]: trajectories */
  double *transition; /* [action][state][next state]: rows */
  double *emission;   /* [action][emitter][observation]: rows */
  size_t unlabelled;  /* rows whose state no label of the column tells */

  size_t impossibles;
  size_t *impossible; /* [impossibles]: rows whose observation the environment cannot give there */
  size_t *allowed;    /* [impossibles]: in how many of the agent's models the action can give it at
                         all; 0: nobody can */
} idm_lint;

/* Look at a log. opt_state names a covariate of the data that holds labels of states: of the state
 * that a row's action was taken in. */
IDM_API idm_status idm_lint_create(const idm_problem *problem, const idm_data *data,
                                   const char *opt_state, idm_lint **ret_lint,
                                   idm_error *opt_error);
/* Takes NULL. */
IDM_API void idm_lint_destroy(idm_lint *lint);

#ifdef __cplusplus
}
#endif
#endif
