/* The verdict on an answer over draws of dynamics, by an answer given their mean. */
#ifndef IDM_INVERT_ASSESS_GIVEN_H
#define IDM_INVERT_ASSESS_GIVEN_H

#include "idm/assess.h"

/* As idm_assess_watched, of a posterior over draws of learnt dynamics. `problem` has the mean of
 * these dynamics, or of a cut the draw that describes the decisions best, and `given` is the
 * posterior of its free numbers. Rows that depend on the width
 * of the answer go by `posterior`, rows of the model and of modes by `given`, which is also
 * compared with the answer.
 *
 * The tests of the model keep their size though the mean is an estimate: where decisions and
 * observations inform a direction of the dynamics by I_d and I_o, the score of the decisions at the
 * mode of both has the variance I_d I_o / (I_d + I_o), which is below the I_d of replicates. */
idm_status idm_assess_given(const idm_problem *problem, const idm_data *data,
                            const idm_posterior *posterior, const idm_posterior *given, int threads,
                            const idm_fit_watch *opt_watch, idm_assessment **ret_assessment,
                            idm_error *opt_error);

#endif
