/* The setting (psi): names, sizes and the environment of a decision problem. Immutable after
 * construction. */
#ifndef IDM_EXTENSION_SETTING_H
#define IDM_EXTENSION_SETTING_H

#include <stdbool.h>
#include <stdint.h>

#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names of states, actions or observations, in file order. Names are unique. */
typedef struct idm_labels {
  size_t count;
  char **name;
} idm_labels;

/* Sizes of a problem; they determine the lengths of arrays. */
typedef struct idm_sizes {
  size_t states;
  size_t actions;
  size_t observations;
} idm_sizes;

/* Transitions in compressed sparse row format. */
typedef struct idm_sparse_rows {
  size_t rows;         /* actions times states */
  size_t *first;       /* [rows + 1]: row (action, state) is first[row] .. first[row + 1] - 1 */
  uint32_t *next;      /* [entries]: next states, increasing within a row */
  double *probability; /* [entries]: positive; each row sums to 1 */
} idm_sparse_rows;

typedef struct idm_setting {
  char *name;
  idm_labels states;
  idm_labels actions;
  idm_labels observations;
  double *transition; /* [action][state][next state]: tau_env; NULL if unknown */
  double *emission;   /* [action][emitter][observation]: omega_env; NULL if unknown. The emitter is
                         the state after the action, or with emits_before the state before it */
  /* tau_env as sparse rows instead of `transition`, which is then NULL: for observed states, if the
   * file has this format (emission is then NULL, too), or for hidden states
   * (idm_problem_read_by_rows). The environment is then the agent's only model, and theta has no
   * matrices. NULL otherwise. */
  idm_sparse_rows *moves;
  double *start; /* [state]: start belief; if fully_observed, distribution of the first state */
  /* [action]: true if the matrix may be shared by several actions, as with "*": marked actions with
   * equal matrices share one matrix, which is learnt once. True unless a file names the action. */
  bool *transition_shared;
  bool *emission_shared;
  bool *terminal;       /* [action]: ends the episode, in planning and in the log */
  bool *ends;           /* [action]: ends the trajectory in the log (true if terminal is true) */
  bool *terminal_state; /* [state]: the episode ends on arrival; for observed states. Its
                           transitions must stay in the state, and its utilities must be 0 */
  int horizon;          /* steps per episode; 0: infinite */
  bool fully_observed;  /* an MDP: observations are the states, beliefs are certain */
  bool emits_before; /* observations depend on the state before the action, in the environment and
                        in every model */
} idm_setting;

/* True if some state is terminal. */
IDM_API bool idm_setting_has_terminal_states(const idm_setting *setting);
/* True if an observation is a terminal state; false for IDM_MISSING, or if states are hidden. */
IDM_API bool idm_observation_is_terminal(const idm_setting *setting, int seen);
/* True if the environment's dynamics are known. */
IDM_API bool idm_setting_has_dynamics(const idm_setting *setting);
/* Probability of `next` in a row; 0 if it has no entry. */
IDM_API double idm_sparse_rows_probability(const idm_sparse_rows *moves, size_t row, size_t next);
/* Sizes of a setting. */
IDM_API idm_sizes idm_setting_sizes(const idm_setting *setting);

/* Replace name number `index` by a copy of name [length]. IDM_USAGE if out of range. */
IDM_API idm_status idm_labels_set(idm_labels *labels, size_t index, const char *name, size_t length,
                                  idm_error *opt_error);
/* Allocate a list of `count` names, all NULL until they are set. */
IDM_API idm_status idm_labels_create(idm_labels *labels, size_t count, idm_error *opt_error);
/* Free the names of a list and set it to empty. Accepts NULL. */
IDM_API void idm_labels_destroy(idm_labels *labels);
/* Copy labels. The previous content of *ret_labels is ignored, not freed. On failure *ret_labels is
 * empty. */
IDM_API idm_status idm_labels_copy(const idm_labels *labels, idm_labels *ret_labels,
                                   idm_error *opt_error);
/* Index of the label text [length]. If no label matches, a decimal number below the count is taken
 * as an index from 0. -1 if neither applies, or an argument is NULL. */
IDM_API long idm_labels_find(const idm_labels *labels, const char *text, size_t length);

/* Check and renormalise a distribution row [count]. Returns the deviation |sum - 1| before
 * renormalisation, or a negative number if the row is not a distribution (negative or non-finite
 * entries, or a deviation above 1e-4). */
IDM_API double idm_normalise(double *row, size_t count);

#ifdef __cplusplus
}
#endif
#endif
