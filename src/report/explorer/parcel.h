/* A problem as bytes, for a page that has neither files nor a parser: everything that planning,
 * simulation and the reading of a log look at. What only a fit asks for (roles, priors) stays
 * behind. */
#ifndef IDM_REPORT_EXPLORER_PARCEL_H
#define IDM_REPORT_EXPLORER_PARCEL_H

#include "idm/problem.h"

idm_status idm_problem_serialise(const idm_problem *problem, char **ret_bytes, size_t *ret_length,
                                 idm_error *opt_error);
/* The problem again: it plans to the same bits. */
idm_status idm_problem_deserialise(const char *bytes, size_t length, idm_problem **ret_problem,
                                   idm_error *opt_error);
/* Whether logs of the problem are read by its labels and columns alone; else by what a parcel
 * leaves out: columns that are derived, rules, utilities by column, several environments. */
bool idm_problem_has_log_reader(const idm_problem *problem);

#endif
