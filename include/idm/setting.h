/* The setting (psi): names, sizes and the environment of a decision problem. Immutable once built.
 */
#ifndef IDM_SETTING_H
#define IDM_SETTING_H

#include <stdbool.h>
#include <stdint.h>

#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names of states, actions or observations, in file order. Each name is unique. */
typedef struct idm_labels {
  size_t count;
  char **name;
} idm_labels;

/* Sizes of a problem, passed together wherever arrays are indexed. */
typedef struct idm_sizes {
  size_t states;
  size_t actions;
  size_t observations;
} idm_sizes;

/* Transitions row by row: what may follow, and how likely it is. */
typedef struct idm_sparse_rows {
  size_t rows;         /* actions times states */
  size_t *first;       /* [rows + 1]: row (action, state) is first[row] .. first[row + 1] - 1 */
  uint32_t *next;      /* [entries]: next states, rising in a row */
  double *probability; /* [entries]: positive, and in a row they sum to 1 */
} idm_sparse_rows;

typedef struct idm_setting {
  char *name;
  idm_labels states;
  idm_labels actions;
  idm_labels observations;
  double *transition; /* [action][state][next state]: tau_env; NULL where unknown */
  double *emission; /* [action][emitter][observation]: omega_env; NULL where unknown. The emitter is
                       the state after the action, or with emits_before the one acted in */
  /* tau_env row by row, in place of `transition`, which is NULL: where states are observed and the
   * file gives it so (emission is NULL, too), or of hidden states (idm_problem_read_by_rows). The
   * environment is then the agent's only model, and theta has no matrices. NULL elsewhere. */
  idm_sparse_rows *moves;
  double *start; /* [state]: the start belief, or with fully_observed the law of the first state */
  /* [action]: whether its matrix is one that stands for several actions, as under "*": those that
   * are so marked and equal are one matrix, learnt once. True unless a file names the action. */
  bool *transition_shared;
  bool *emission_shared;
  bool *terminal;       /* [action]: nothing follows, in planning and in the log */
  bool *ends;           /* [action]: the log stops here (true wherever terminal is) */
  bool *terminal_state; /* [state]: nothing follows arrival; where states are observed. Its rows are
                           to stay, and its utilities 0 */
  int horizon;          /* steps of an episode; 0 is infinite */
  bool fully_observed;  /* an MDP: observations are the states, beliefs are corners */
  bool emits_before;    /* what is seen depends on the state acted in: here and in every model */
} idm_setting;

/* Allocate an empty setting for the given sizes: labels "0", "1", ..., uniform start, no terminal
 * or ending action, no terminal state, dynamics zero where `with_*` is true and NULL elsewhere. The
 * caller fills it, validates it, and leaves it alone. */
IDM_API idm_status idm_setting_create(idm_sizes sizes, bool with_transition, bool with_emission,
                                      idm_setting **ret_setting, idm_error *opt_error);
IDM_API void idm_setting_destroy(idm_setting *setting);
IDM_API idm_status idm_setting_copy(const idm_setting *setting, idm_setting **ret_setting,
                                    idm_error *opt_error);
/* Every distribution non-negative, finite and summing to 1 (1e-4), labels unique and not empty,
 * terminal implies ends, horizon not negative. Rows are checked here, not renormalised. */
IDM_API idm_status idm_setting_validate(const idm_setting *setting, idm_error *opt_error);
/* Whether some state is terminal. */
IDM_API bool idm_setting_has_terminal_states(const idm_setting *setting);
/* Whether an observation is of a terminal state; false where it is IDM_MISSING, or states are
 * hidden. */
IDM_API bool idm_observation_is_terminal(const idm_setting *setting, int seen);
/* Whether the environment's dynamics are known. */
IDM_API bool idm_setting_has_dynamics(const idm_setting *setting);
/* Moves of so many rows and entries, all 0. */
IDM_API idm_status idm_sparse_rows_create(size_t rows, size_t entries, idm_sparse_rows **ret_sparse,
                                          idm_error *opt_error);
/* Takes NULL. */
IDM_API void idm_sparse_rows_destroy(idm_sparse_rows *moves);
IDM_API idm_status idm_sparse_rows_copy(const idm_sparse_rows *moves, idm_sparse_rows **ret_sparse,
                                        idm_error *opt_error);
/* How likely `next` is after a row: 0 where it cannot follow. */
IDM_API double idm_sparse_rows_probability(const idm_sparse_rows *moves, size_t row, size_t next);
/* Rows in order, next states in range and rising, probabilities positive and normalised. */
IDM_API idm_status idm_sparse_rows_validate(const idm_sparse_rows *moves, idm_sizes sizes,
                                            idm_error *opt_error);
IDM_API bool idm_sparse_rows_same(const idm_sparse_rows *a, const idm_sparse_rows *b);
IDM_API idm_sizes idm_setting_sizes(const idm_setting *setting);
IDM_API bool idm_sizes_same(idm_sizes a, idm_sizes b);

/* Labels: replace one name (copied). */
IDM_API idm_status idm_labels_set(idm_labels *labels, size_t index, const char *name, size_t length,
                                  idm_error *opt_error);
IDM_API idm_status idm_labels_create(idm_labels *labels, size_t count, idm_error *opt_error);
IDM_API void idm_labels_destroy(idm_labels *labels);
/* A copy for the caller; what `ret_labels` held before is not looked at. Nothing is left on
 * failure. */
IDM_API idm_status idm_labels_copy(const idm_labels *labels, idm_labels *ret_labels,
                                   idm_error *opt_error);
/* Whether two lists hold the same names in the same order. */
IDM_API bool idm_labels_same(const idm_labels *a, const idm_labels *b);
/* Index of the label; where none matches, a 0-based number in range ("a label beats a number"); -1.
 */
IDM_API long idm_labels_find(const idm_labels *labels, const char *text, size_t length);

/* Check a distribution and renormalise it. Returns the deviation |sum - 1| found, or a negative
 * number when the row is no distribution (negative or not finite entries, or sum off by > 1e-4). */
IDM_API double idm_normalise(double *row, size_t count);

#ifdef __cplusplus
}
#endif
#endif
