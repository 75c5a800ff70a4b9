/* A cell of an audit: its mode, its grid and where chains start. */
#ifndef IDM_INVERT_AUDIT_CELL_H
#define IDM_INVERT_AUDIT_CELL_H

#include "invert/audit/model.h"

/* The free numbers as idm_parameters orders them: IDM_INPUT where one has a prior that is not
 * normal, or a coordinate that is bounded. mean, sd: [dimension]. */
idm_status idm_audit_priors(const idm_parameters *parameters, double *mean, double *sd,
                            idm_error *opt_error);
/* Open a cell whose problem and data are set: mode, normal approximation, grid and starting points.
 * IDM_UNTRUSTED where opt_stop becomes true. */
idm_status idm_audit_cell_open(audit_cell *cell, const idm_fit_settings *settings,
                               const double *mean, const double *sd, const atomic_bool *opt_stop,
                               idm_error *opt_error);
/* The result of opening, or of a finer grid: into a record, or from one into a cell whose problem
 * and data are set. IDM_INPUT where the record does not fit. */
void idm_audit_cell_write(const audit_cell *cell, size_t chains, idm_record *record);
idm_status idm_audit_cell_read(audit_cell *cell, const idm_fit_settings *settings,
                               idm_record *record, idm_error *opt_error);
/* Back to a cell that is not open, and may be again. */
void idm_audit_cell_shut(audit_cell *cell);
/* The same, and free problem and data of its own. */
void idm_audit_cell_close(audit_cell *cell);

#endif
