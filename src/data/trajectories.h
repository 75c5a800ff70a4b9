/* Functions of a log: descriptive statistics, subsets and segments, checks of preferences, and
 * expected counts of states.
 *
 * Contents: lint · split · part · preferences · smooth */
#ifndef IDM_DATA_TRAJECTORIES_H
#define IDM_DATA_TRAJECTORIES_H

#include "base/arguments.h"
#include "belief/belief.h"
#include "idm/extension/data.h"

/* === lint =================================================================================== */

/* Descriptive statistics of a log: labels, lengths, and observed frequencies compared with the
 * environment's dynamics. */

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

/* === split ================================================================================== */

/* A log of observed states in independent segments. */

/* The same rows in the same order, with a new trajectory wherever the state is known. A behaviour
 * that depends on the state alone has the same likelihood on both, and the tree of histories has
 * few distinct segments. Where some action ends a log, a row with an unrecorded action stays in one
 * segment with the next row. A segment begins at its state as a start belief; its last observation
 * is removed where it has no effect on the likelihood of actions. Rows, sets and agents are
 * borrowed from the data; release the segments by idm_data_split_destroy alone. Covariates, names
 * and evidence other than decisions are omitted. *ret_split is NULL, with IDM_OK, where there are
 * too many states. */
idm_status idm_data_split(const idm_data *data, const idm_setting *setting, idm_data **ret_split,
                          idm_error *opt_error);
void idm_data_split_destroy(idm_data *split);

/* === part =================================================================================== */

/* A subset of the trajectories of a log. */

/* Copy trajectories trajectory[count], in ascending order, into a log of their own. Agents are
 * renumbered; lines, files, evidence and covariates are kept; preferences are omitted. *ret_subset
 * is the caller's. */
idm_status idm_data_subset(const idm_data *data, const uint32_t *trajectory, size_t count,
                           idm_data **ret_subset, idm_error *opt_error);

/* === preferences ============================================================================ */

/* Preferences between trajectories. */

/* IDM_INPUT unless each preference is between two different trajectories below `trajectories`, with
 * a finite weight above 0. */
idm_status idm_preferences_check(const idm_preferences *preferences, size_t trajectories,
                                 idm_error *opt_error);
/* Find a cycle of preferences: trajectories each of which is better than the next, and the last
 * better than the first, into cycle[trajectories]. *ret_length is 0 where there is none. */
idm_status idm_preferences_cycle(const idm_preferences *preferences, size_t trajectories,
                                 uint32_t *cycle, size_t *ret_length, idm_error *opt_error);

/* === smooth ================================================================================= */

/* Expected counts of a hidden Markov model over one trajectory, by the forward-backward recursion.
 */

/* Counts that are added to: recorded observations, their expectation by the filter, and expected
 * counts of states. */
typedef struct idm_expected_counts {
  double *observed;   /* [action][observation] */
  double *expected;   /* [action][observation] */
  double *opt_start;  /* [state] */
  double *transition; /* [action][state][next state]; with opt_start */
  double *emission;   /* [action][emitter][observation]; with opt_start */
} idm_expected_counts;

/* Scratch for trajectories of up to `steps` rows. Zero-initialise. */
typedef struct idm_smoother {
  double *forward;  /* [steps + 1][state] */
  double *backward; /* [2][state] */
  double *pair;     /* [state][state] */
} idm_smoother;

bool idm_smoother_create(idm_smoother *smoother, size_t steps, size_t states);
void idm_smoother_clear(idm_smoother *smoother);
/* Add the counts of a trajectory under the environment's dynamics. Returns the number of rows that
 * could be filtered: up to an unrecorded action or an impossible observation. */
size_t idm_smoother_run(const idm_setting *setting, const idm_data *data, size_t trajectory,
                        const idm_smoother *smoother, const idm_expected_counts *counts);

#endif
