/* Functions of logs: preferences, checks, trees of histories, row accounting, descriptive
 * statistics, subsets and segments, and expected counts of states.
 *
 * Contents: data · prefix · log counts · lint · split · part · preferences · smooth */
#ifndef IDM_DATA_LOG_H
#define IDM_DATA_LOG_H

#include "base/arguments.h"
#include "belief/belief.h"
#include "idm/extension/data.h"
#include "idm/extension/prefix.h"
#include "idm/extension/problem.h"

/* === data =================================================================================== */

/* Allocate `count` preferences of weight 1, whose trajectories the caller sets. *ret_preferences is
 * the caller's. */
IDM_CHECKED idm_status idm_preferences_create(size_t count, idm_preferences **ret_preferences,
                                              idm_error *opt_error);
/* Free preferences. Takes NULL. */
IDM_CHECKED void idm_preferences_destroy(idm_preferences *preferences);
/* Evidence with the design of a log and no rows: agents, trajectories, their names, variants, start
 * beliefs, evidence by trajectory, and availability sets. Covariates and preferences are omitted,
 * since these depend on the rows. *ret_data is the caller's. */
IDM_CHECKED idm_status idm_data_design(const idm_data *design_log, idm_data **ret_data,
                                       idm_error *opt_error);
/* Whether the trajectories belong to more than one environment. */
IDM_CHECKED bool idm_data_is_multi_env(const idm_data *data);
/* Add a note where trajectories of at least 5 rows are equal row by row under two names, more often
 * than chance explains. */
IDM_CHECKED idm_status idm_data_note_duplicates(const idm_data *data, idm_notes *opt_notes,
                                                idm_error *opt_error);
/* Check the data against a setting: indices are in range; trajectories have rows; the action taken
 * was available, and was the only available one where a response was missed; preferences are
 * between two different trajectories, with weights above 0. IDM_INPUT, with the place, where one of
 * these fails. */
IDM_CHECKED idm_status idm_data_validate(const idm_data *data, const idm_setting *setting,
                                         idm_error *opt_error);

/* === prefix ================================================================================= */

/* Build the tree of histories of data for a scope. *ret_tree is owned by the caller. IDM_INPUT for
 * a scope with rewards if the data have none. */
IDM_CHECKED idm_status idm_prefix_tree_create(const idm_data *data, unsigned scope,
                                              idm_prefix_tree **ret_tree, idm_error *opt_error);
/* Free a tree. Accepts NULL. */
IDM_CHECKED void idm_prefix_tree_destroy(idm_prefix_tree *tree);

/* === log counts ============================================================================= */

/* Row accounting of a log: read = kept + dropped, for rows, trajectories and agents. */

typedef struct idm_log_size {
  size_t rows;
  size_t trajectories;
  size_t agents;
} idm_log_size;

/* Rows dropped for one reason: a condition of `--where`, or a rule. A trajectory or agent counts as
 * dropped for the reason that removed the last of its rows. */
typedef struct idm_dropped {
  char *reason;
  idm_log_size lost;
  size_t missing; /* of the dropped rows: those whose cell is missing */
} idm_dropped;

/* Cut points computed from the log. */
typedef struct idm_breakpoints {
  size_t derived; /* index of the derived column in the problem */
  size_t rows;    /* rows with a number, among those kept by the rules on rows */
  double mean;
  double sd; /* sample standard deviation (divisor n - 1) */
  size_t count;
  double *at; /* [count] */
} idm_breakpoints;

typedef struct idm_log_counts {
  idm_log_size read;
  idm_log_size kept;
  size_t reasons;
  idm_dropped *dropped; /* [reasons], in order of application */
  size_t final_rows; /* of the rows kept: rows without a decision that only record the final state
                        of a trajectory */
  size_t truncated;  /* trajectories that are kept in part */
  size_t truncated_by_where; /* of them: those that lost a row to a condition of --where */
  size_t unsorted;           /* trajectories whose rows were not in order of time */
  size_t compressed;         /* files compressed with gzip */
  size_t marked;             /* files that begin with a byte order mark */
  size_t mixed;              /* files with inconsistent line endings */
  bool timed;                /* the log has a time column; otherwise rows are in file order */
  bool coded;                /* the log already contained the derived columns: none was derived */
  size_t cuts;
  idm_breakpoints *cut; /* [cuts] */
} idm_log_counts;

/* Allocate counts for `reasons` reasons and `cuts` cut points, all zero. */
IDM_CHECKED idm_status idm_log_counts_create(size_t reasons, size_t cuts,
                                             idm_log_counts **ret_counts, idm_error *opt_error);
/* Free the counts. Accepts NULL. */
IDM_CHECKED void idm_log_counts_destroy(idm_log_counts *log_counts);
/* Store the cut points of a log in the problem, so that other logs are coded with the same cut
 * points. IDM_USAGE if they belong to columns of another problem. */
IDM_CHECKED idm_status idm_problem_set_breaks(idm_problem *problem,
                                              const idm_log_counts *log_counts,
                                              idm_error *opt_error);

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
