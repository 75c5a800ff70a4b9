/* Functions of logs: preferences, covariates, checks, trees of histories. */
#ifndef IDM_DATA_LOG_H
#define IDM_DATA_LOG_H

#include "base/arguments.h"
#include "idm/extension/data.h"
#include "idm/extension/prefix.h"

/* --- data ---------------------------------------------------------------------------------- */

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

/* --- prefix -------------------------------------------------------------------------------- */

/* Build the tree of histories of data for a scope. *ret_tree is owned by the caller. IDM_INPUT for
 * a scope with rewards if the data have none. */
IDM_CHECKED idm_status idm_prefix_tree_create(const idm_data *data, unsigned scope,
                                              idm_prefix_tree **ret_tree, idm_error *opt_error);
/* Free a tree. Accepts NULL. */
IDM_CHECKED void idm_prefix_tree_destroy(idm_prefix_tree *tree);

#endif
