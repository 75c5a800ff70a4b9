/* Evidence (D): trajectories of (action, next observation).
 *
 * Row t of a trajectory is the pair (u_t, x_{t+1}): the action taken at z_t and the observation
 * after it. z_0 is the start belief; there is no x_0. See docs/method/likelihood.md, 1. */
#ifndef IDM_EXTENSION_DATA_H
#define IDM_EXTENSION_DATA_H

#include <stdint.h>

#include "idm/data.h"
#include "idm/extension/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Preferences between pairs of trajectories. */
typedef struct idm_preferences {
  size_t count;
  uint32_t *worse;  /* [count]: trajectory */
  uint32_t *better; /* [count]: another one */
  double *weight;   /* [count]: weight in the likelihood, above 0 */
} idm_preferences;

typedef struct idm_data {
  idm_sizes sizes;
  size_t rows;
  int32_t *action;      /* [row], IDM_MISSING where not recorded */
  int32_t *observation; /* [row], IDM_MISSING where not recorded */
  uint32_t *available;  /* [row]: index of an availability set; 0 is "all actions" */
  uint32_t *line;       /* [row]: line of the file, for messages; 0: unknown */
  int32_t *state;  /* [row]: hidden state acted in, where a simulation recorded it; else NULL */
  int32_t *missed; /* [row]: index of the text in idm_columns.missed that the cell of the action
                      contains, IDM_MISSING on other rows; NULL: no response was missed. On a row
                      with a missed response the agent decides nothing and time passes: `action` is
                      the problem's action for it, the only available one, or IDM_MISSING where the
                      problem names none */
  bool *history;   /* [row]: read for the memory of its agent, without a decision in the likelihood
                      (idm_scorer_run); NULL: every row is in the likelihood */
  uint32_t *file;  /* [row]: index into file_name; NULL where there is at most one file */
  idm_labels file_name; /* empty where the data were not read from a file */

  size_t trajectories;
  size_t *first;     /* [trajectories + 1]: rows of trajectory i are first[i] .. first[i+1] - 1 */
  uint32_t *agent;   /* [trajectory] */
  uint32_t *variant; /* [trajectory]: variant of the setting; 0 where there is one */
  int32_t *start;    /* [trajectory]: index of a start belief, or -1 for the setting's own */
  idm_labels trajectory_name; /* may be empty: then trajectories are numbered from 1 */
  idm_labels agent_name;      /* [agents] */

  size_t available_sets; /* at least 1 */
  bool *available_set;   /* [set][action]; set 0 is all true */
  size_t starts;
  double *start_belief;  /* [starts][state] */
  size_t variants;       /* at least 1 */
  size_t columns;        /* number of utility columns */
  double *variant_value; /* [variants][columns] */

  /* Evidence by column, NULL where the log has none: numbers, or labels as indices into label_name.
   * One value per row, or per trajectory where the descriptor of the column has by_trajectory. */
  double *number[IDM_COLUMN_COUNT];
  int32_t *label[IDM_COLUMN_COUNT];
  idm_labels label_name[IDM_COLUMN_COUNT];

  idm_preferences *preferences; /* NULL: none */

  /* Number of rows of the log by outcome of reading; NULL where there is no log. */
  struct idm_log_counts *log_counts;

  size_t covariates;           /* number of columns kept on request */
  idm_labels covariate_name;   /* [covariates] */
  idm_labels *covariate_level; /* [covariates]: distinct texts */
  int32_t *covariate;          /* [covariates][row]: level, IDM_MISSING where the cell is empty */
} idm_data;

/* Number of open actions in an availability set. */
IDM_API size_t idm_data_available_count(const idm_data *data, uint32_t set);
/* Whether a row has a missed response. */
IDM_API bool idm_data_missed(const idm_data *data, size_t row);
/* Add file and line of a row to an error that has no place yet. NULL is allowed. */
IDM_API void idm_data_locate(const idm_data *data, size_t row, idm_error *opt_error);
/* Name of the file of a row; "" where it is unknown. */
IDM_API const char *idm_data_file(const idm_data *data, size_t row);

#ifdef __cplusplus
}
#endif
#endif
