/* Cells of a log: labels, numbers, sets of actions and beliefs. */
#ifndef IDM_IO_LOG_CELLS_H
#define IDM_IO_LOG_CELLS_H

#include "io/log/log.h"

/* A finite decimal number; false for anything else. */
bool idm_cell_number(const idm_csv_field *cell, double *ret_number);

/* Whether a text is one of those that commonly stand for what was not recorded. */
bool idm_cell_looks_missing(const char *text, size_t length);
/* The number of a cell of a column; IDM_INPUT where it is none. */
idm_status idm_log_number(const idm_log *log, const idm_csv_field *cell, size_t column,
                          double *ret_number, idm_error *opt_error);
/* IDM_INPUT where a cell that becomes a name (an id, a level, a label) cannot stand in every
 * output: `what` says whose it is. */
idm_status idm_log_check_name(const idm_log *log, const idm_csv_field *cell, const char *what,
                              idm_error *opt_error);
/* Each reads its cells of a row whose number is log->rows; the trajectory is log->trajectory[row].
 */
idm_status idm_log_read_time(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_action(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_state(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_observation(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_available(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_utility(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_belief(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_covariates(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
/* Room in the scratch for `size` bytes. */
idm_status idm_log_scratch(idm_log *log, size_t size, idm_error *opt_error);

#endif
