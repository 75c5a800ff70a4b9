/* Subsets and segments of a log, and checks of preferences.
 *
 * Contents: cut · part · preferences */
#ifndef IDM_DATA_PART_H
#define IDM_DATA_PART_H

#include "idm/extension/data.h"

/* === cut ==================================================================================== */

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

#endif
