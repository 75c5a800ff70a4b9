/* Making a table that stands in for planning. */
#ifndef IDM_INVERT_MATCHING_TABULATE_H
#define IDM_INVERT_MATCHING_TABULATE_H

#include "invert/matching/fit.h"

/* A table around the mode of a fit of few free numbers on a large lattice, and of the units whose
 * log-likelihoods are kept. The mode is found on a coarser lattice and climbed to from there; the
 * table reaches as far as the posterior does, and is made finer until points of the posterior show
 * that it is off by next to nothing. NULL, and no error, where chains would not plan
 * for many more points than it takes, or that does not come to pass. */
idm_status idm_tabulate(const fit *f, idm_table **ret_table, idm_error *opt_error);
/* One sentence on a table: how many points, and what it is off by. */
void idm_table_remark(const idm_table *table, idm_notes *notes);

#endif
