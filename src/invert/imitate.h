/* Imitation: fit the free numbers of one planner to the policies of another planner over many
 * problems. */
#ifndef IDM_INVERT_IMITATE_H
#define IDM_INVERT_IMITATE_H

#include "base/door.h"
#include "idm/extension/planner.h"

/* Mean KL(teacher || student) in nats over the states of `count` fully observed problems of the
 * same sizes, with equal weight per state. The student is the agent of each problem, which must
 * decide by a belief. Result in *ret_divergence. */
IDM_CHECKED idm_status idm_imitation_divergence(const idm_planner *teacher,
                                                idm_problem *const *problem, size_t count,
                                                double *ret_divergence, idm_error *opt_error);
/* Minimise that divergence over the free numbers of the first problem, with L-BFGS started at their
 * current values and at most `limit` steps. The same numbers apply to all problems and are written
 * into each. Priors are ignored. */
IDM_CHECKED idm_status idm_imitate(const idm_planner *teacher, idm_problem *const *problem,
                                   size_t count, int limit, double *ret_divergence,
                                   idm_error *opt_error);

#endif
