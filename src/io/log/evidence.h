/* Columns of evidence: numbers and labels beside actions and observations. */
#ifndef IDM_IO_LOG_EVIDENCE_H
#define IDM_IO_LOG_EVIDENCE_H

#include "io/log/log.h"

/* Read the evidence of a row. */
idm_status idm_log_read_evidence(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
/* Room for the evidence of `capacity` rows; false where memory is short. */
bool idm_log_grow_evidence(idm_log *log, size_t capacity);
void idm_log_clear_evidence(idm_log *log);
/* Move it into the data, in the order of rows (NULL: as they came); trajectories are known. */
idm_status idm_log_move_evidence(const idm_log *log, const uint32_t *order, idm_data *data,
                                 idm_error *opt_error);

#endif
