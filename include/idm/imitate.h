/* Imitation: free numbers of one planner, moved until it decides as another does, over many
 * problems. */
#ifndef IDM_IMITATE_H
#define IDM_IMITATE_H

#include "idm/planner.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Mean of KL(teacher || student) in nats over fully observed problems of the same sizes, their
 * states all alike; the student is each problem's own agent, over beliefs. */
IDM_API idm_status idm_imitation_divergence(const idm_planner *teacher, idm_problem *const *problem,
                                            size_t count, double *ret_divergence,
                                            idm_error *opt_error);
/* Make that as small as it gets by what is free in the first problem: one set of numbers for all,
 * by L-BFGS from those of the first. `limit` bounds the steps. The numbers go into every problem;
 * priors play no part. */
IDM_API idm_status idm_imitate(const idm_planner *teacher, idm_problem *const *problem,
                               size_t count, int limit, double *ret_divergence,
                               idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
