/* Parts of a log.
 *
 * Contents: cut · part · preferences */
#ifndef IDM_DATA_PART_H
#define IDM_DATA_PART_H

#include "idm/data.h"

/* === cut ==================================================================================== */

/* A log of observed states in pieces that need not know of each other. */

/* The same rows in the same order, a trajectory begun anew wherever the state is known: whoever
 * remembers the state alone does the same in both, and histories come to the same few pieces. Where
 * some action ends a log, a row whose action was not recorded stays with the one behind it. A
 * piece begins at its state as a start belief; what was seen at its end is left out where it says
 * nothing of what was done. Rows, sets and agents are borrowed from the data, so that the pieces
 * are freed by idm_data_split_destroy alone; evidence other than decisions, covariates and names
 * are left out. *ret_split is NULL where there are too many states for it. */
idm_status idm_data_split(const idm_data *data, const idm_setting *setting, idm_data **ret_split,
                          idm_error *opt_error);
void idm_data_split_destroy(idm_data *split);

/* === part =================================================================================== */

/* A part of a log. */

/* Some trajectories of a log, in its order, as a log of their own: agents are numbered anew, lines,
 * files and evidence are kept, covariates are left out. trajectory[count] rises. */
idm_status idm_data_subset(const idm_data *data, const uint32_t *trajectory, size_t count,
                           idm_data **ret_subset, idm_error *opt_error);

/* === preferences ============================================================================ */

/* Preferences between trajectories, from within. */

/* Whether each is between two of so many trajectories, and has a finite weight above 0. */
idm_status idm_preferences_check(const idm_preferences *preferences, size_t trajectories,
                                 idm_error *opt_error);
/* Trajectories each of which is better than the next, and the last better than the first, into
 * circle[trajectories]; *ret_length is 0 where there are none such. */
idm_status idm_preferences_cycle(const idm_preferences *preferences, size_t trajectories,
                                 uint32_t *cycle, size_t *ret_length, idm_error *opt_error);

#endif
