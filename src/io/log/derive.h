/* Derived columns: their cells, and cut points. */
#ifndef IDM_IO_LOG_DERIVE_H
#define IDM_IO_LOG_DERIVE_H

#include "io/log/held.h"

/* The cell of a derived column from those of its sources, trimmed and empty where missing; `next`
 * of one is its cell in the next row. The text lives in the problem, in a source or in the coding.
 */
idm_status idm_derive_cell(const idm_log *log, size_t derived, const idm_csv_field *source,
                           idm_csv_field *ret_cell, idm_error *opt_error);
/* Let the record count for cut points in standard deviations: all rows do that rules on rows leave,
 * whatever --where asks for, so that a part of a log is coded as the whole. */
idm_status idm_derive_measure(const idm_log *log, idm_error *opt_error);
/* Find those cut points, once all rows have counted. */
idm_status idm_derive_cuts(const idm_log *log, idm_error *opt_error);
/* Derive what is late, of the rows that are kept. */
idm_status idm_derive_late(const idm_log *log, idm_error *opt_error);

#endif
