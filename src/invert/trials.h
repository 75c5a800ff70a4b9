/* Trials with a guest: whoever has more to say of a row than idm_trials does by itself. */
#ifndef IDM_INVERT_TRIALS_H
#define IDM_INVERT_TRIALS_H

#include "idm/trials.h"

/* Adds numbers of its own to those of every row, and may gather what it likes on the way. */
typedef struct trials_guest {
  void *context;
  size_t width; /* numbers a row, after those of the trials */
  /* Before anything else: the tree whose nodes will be shown, and how many parameters there are. */
  idm_status (*open)(void *context, const idm_data *data, const idm_prefix_tree *tree, size_t draws,
                     idm_error *opt_error);
  /* From now on rows are those of draw `draw`, as planned in the workspace. Called again for the
   * same draw where the rows of one draw come in parts. */
  idm_status (*plan)(void *context, size_t draw, idm_workspace *workspace, idm_error *opt_error);
  /* A row: the memory before its action. Every node is shown once a draw. */
  void (*look)(void *context, size_t node, const void *memory, double *numbers);
} trials_guest;

/* idm_trials_create and idm_posterior_trials with a guest, over so many draws at most. */
idm_status idm_trials_create_with(idm_workspace *workspace, const idm_data *data,
                                  const trials_guest *opt_guest, idm_trials **ret_trials,
                                  idm_error *opt_error);
idm_status idm_posterior_trials_with(const idm_problem *problem, const idm_posterior *posterior,
                                     size_t most, const idm_data *data,
                                     const trials_guest *opt_guest, idm_trials **ret_trials,
                                     idm_error *opt_error);

#endif
