/* Evidence (D): trajectories of (action, next observation), and the tree of their common prefixes.
 *
 * Row t of a trajectory is the pair (u_t, x_{t+1}): the action taken at z_t and what was seen after
 * it. z_0 is the start belief; there is no x_0. */
#ifndef IDM_DATA_H
#define IDM_DATA_H

#include <stdint.h>

#include "idm/intake.h"
#include "idm/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Not recorded: the agent knew, we do not. */
#define IDM_MISSING (-1)

/* Preferences between trajectories: of two, one is called better than the other. */
typedef struct idm_preferences {
  size_t count;
  uint32_t *worse;  /* [count]: trajectory */
  uint32_t *better; /* [count]: another one */
  double *weight;   /* [count]: above 0; how much it counts */
} idm_preferences;

/* So many, all of weight 1, between trajectories that are still to be named. */
IDM_API idm_status idm_preferences_create(size_t count, idm_preferences **ret_preferences,
                                          idm_error *opt_error);
/* Takes NULL. */
IDM_API void idm_preferences_destroy(idm_preferences *preferences);

typedef struct idm_data {
  idm_sizes sizes;
  size_t rows;
  int32_t *action;      /* [row], IDM_MISSING where not recorded */
  int32_t *observation; /* [row], IDM_MISSING where not recorded */
  uint32_t *available;  /* [row]: index of an availability set; 0 is "all actions" */
  uint32_t *line;       /* [row]: line of the file, for messages; 0 where there is none */
  int32_t *state;  /* [row]: the hidden state acted in, where a simulation kept it; else NULL */
  int32_t *missed; /* [row]: text of idm_columns.missed that the cell of the action holds,
                      IDM_MISSING elsewhere; NULL: no response was missed. On such a row the agent
                      decides nothing and time passes: `action` is the problem's action for it, the
                      only available one, or IDM_MISSING where the problem names none */
  bool *history;   /* [row]: read for the memory of its agent and not scored (idm_scorer_run); NULL:
                      every row is scored */
  uint32_t *file;  /* [row]: index of that file; NULL where there is one, or none */
  idm_labels file_name; /* empty where the data come from no file */

  size_t trajectories;
  size_t *first;     /* [trajectories + 1]: rows of trajectory i are first[i] .. first[i+1] - 1 */
  uint32_t *agent;   /* [trajectory] */
  uint32_t *variant; /* [trajectory]: variant of the setting; 0 in the common case */
  int32_t *start;    /* [trajectory]: index of a start belief, or -1 for the setting's own */
  idm_labels trajectory_name; /* may be empty: then trajectories are numbered from 1 */
  idm_labels agent_name;      /* [agents] */

  size_t available_sets; /* at least 1 */
  bool *available_set;   /* [set][action]; set 0 is all true */
  size_t starts;
  double *start_belief;  /* [starts][state] */
  size_t variants;       /* at least 1 */
  size_t columns;        /* utility columns */
  double *variant_value; /* [variants][columns] */

  /* Evidence by column, NULL where the log has none: numbers, or labels as indices into
   * label_name. By row, or by trajectory where the column's descriptor says so. */
  double *number[IDM_COLUMN_COUNT];
  int32_t *label[IDM_COLUMN_COUNT];
  idm_labels label_name[IDM_COLUMN_COUNT];

  idm_preferences *preferences; /* between its trajectories; NULL where nobody gave any */

  idm_log_counts
      *intake; /* what became of the rows of the log; NULL where the data come from none */

  size_t covariates;           /* columns kept on request */
  idm_labels covariate_name;   /* [covariates] */
  idm_labels *covariate_level; /* [covariates]: distinct texts */
  int32_t *covariate;          /* [covariates][row]: level, IDM_MISSING where the cell is empty */
} idm_data;

IDM_API void idm_data_destroy(idm_data *data);
/* Evidence with the design of a log and no rows: agents, trajectories, their names, variants, start
 * beliefs and evidence by trajectory, and the availability sets. Covariates are left out, and
 * so are preferences, which are of what was done. */
IDM_API idm_status idm_data_design(const idm_data *design_log, idm_data **ret_data,
                                   idm_error *opt_error);
/* How many actions an availability set leaves open. */
IDM_API size_t idm_data_available_count(const idm_data *data, uint32_t set);
/* Whether a row is a missed response. */
IDM_API bool idm_data_missed(const idm_data *data, size_t row);
/* Whether its trajectories are of several environments. */
IDM_API bool idm_data_is_multi_env(const idm_data *data);
/* Name the place of a row in an error that has none yet. */
IDM_API void idm_data_locate(const idm_data *data, size_t row, idm_error *opt_error);
/* Name of the file that a row stands in; "" where it comes from none. */
IDM_API const char *idm_data_file(const idm_data *data, size_t row);
/* What a trajectory is called: its name or, where they have none, its number, written into buffer.
 */
IDM_API const char *idm_data_trajectory(const idm_data *data, size_t trajectory, char *buffer,
                                        size_t size);
/* The trajectory of that name; IDM_USAGE where there is none, or where several agents have one. */
IDM_API idm_status idm_data_find_trajectory(const idm_data *data, const char *name,
                                            size_t *ret_trajectory, idm_error *opt_error);
/* A note where trajectories of at least 5 rows are the same row by row under two names, more often
 * than chance explains. */
IDM_API idm_status idm_data_note_duplicates(const idm_data *data, idm_notes *opt_notes,
                                            idm_error *opt_error);
/* Indices in range, trajectories not empty, availability consistent: the action taken was open, and
 * the only open one where a response was missed; preferences between two trajectories each, of
 * weights above 0. */
IDM_API idm_status idm_data_validate(const idm_data *data, const idm_setting *setting,
                                     idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
