/* Labels: 64 bits that tell one thing asked for from another, whatever its file looks like. */
#ifndef IDM_INVERT_LABEL_H
#define IDM_INVERT_LABEL_H

#include "idm/inverse.h"

/* The label so far, and numbers by their bits; NULL is told from none. */
uint64_t idm_label_numbers(uint64_t label, const double *opt_values, size_t count);
/* The label so far, and a problem as it was read. What a log gives it (utilities by column) is no
 * part: before and after idm_problem_bind it is the same. */
uint64_t idm_label_problem(uint64_t label, const idm_problem *problem);
/* The label so far, and a log: who decided what, in which situation. Lines of its file and
 * covariates are no part. */
uint64_t idm_label_data(uint64_t label, const idm_data *data);
/* The label so far, and every field that results depend on: all but the places. */
uint64_t idm_label_fields(uint64_t label, const idm_key *keys, const void *fields);
/* Label of a fit: a problem, a log, an inverse planner and the settings that it reads (all where
 * there is none), the seed among them. Random streams are keyed by it, so that two fits never share
 * numbers. */
uint64_t idm_label_request(const idm_inverse *opt_inverse, const idm_problem *problem,
                           const idm_data *data, const idm_fit_settings *settings);
/* Label of simulated logs, in the same way. */
uint64_t idm_label_simulation(const idm_problem *problem, size_t trajectories, int steps,
                              uint64_t seed);

#endif
