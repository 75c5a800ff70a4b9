/* A log of observed states in pieces that need not know of each other. */
#ifndef IDM_DATA_CUT_H
#define IDM_DATA_CUT_H

#include "idm/data.h"

/* The same rows in the same order, a trajectory begun anew wherever the state is known: whoever
 * remembers the state alone does the same in both, and histories come to the same few pieces. Where
 * some action ends a log, a row whose action was not recorded stays with the one behind it. A
 * piece begins at its state as a start belief; what was seen at its end is left out where it says
 * nothing of what was done. Rows, sets and agents are borrowed from the data, so that the pieces
 * are freed by idm_data_cut_destroy alone; evidence other than decisions, covariates and names are
 * left out. *ret_cut is NULL where there are too many states for it. */
idm_status idm_data_cut(const idm_data *data, const idm_setting *setting, idm_data **ret_cut,
                        idm_error *opt_error);
void idm_data_cut_destroy(idm_data *cut);

#endif
