/* Serialisation of a problem, for a page without files and parsers: everything that planning,
 * simulation and the reading of a log need. Data for fits (roles, priors) are omitted. */
#ifndef IDM_REPORT_EXPLORER_PARCEL_H
#define IDM_REPORT_EXPLORER_PARCEL_H

#include "idm/extension/problem.h"

idm_status idm_problem_serialise(const idm_problem *problem, char **ret_bytes, size_t *ret_length,
                                 idm_error *opt_error);
/* Restore the problem; its plans are the same bit for bit. */
idm_status idm_problem_deserialise(const char *bytes, size_t length, idm_problem **ret_problem,
                                   idm_error *opt_error);
/* Returns true if logs of the problem are read by its labels and columns alone; false if they need
 * data that are not serialised: derived columns, rules, utilities by column, several environments.
 */
bool idm_problem_has_log_reader(const idm_problem *problem);

#endif
