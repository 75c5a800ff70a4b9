/* A part of a log. */
#ifndef IDM_DATA_PART_H
#define IDM_DATA_PART_H

#include "idm/data.h"

/* Some trajectories of a log, in its order, as a log of their own: agents are numbered anew, lines,
 * files and evidence are kept, covariates are left out. trajectory[count] rises. */
idm_status idm_data_part(const idm_data *data, const uint32_t *trajectory, size_t count,
                         idm_data **ret_part, idm_error *opt_error);

#endif
