/* Expected counts of a hidden Markov model over one trajectory, by the forward-backward recursion.
 */
#ifndef IDM_DATA_SMOOTH_H
#define IDM_DATA_SMOOTH_H

#include "belief/filter.h"
#include "idm/extension/data.h"

/* Counts that are added to: recorded observations, their expectation by the filter, and expected
 * counts of states. */
typedef struct idm_expected_counts {
  double *observed;   /* [action][observation] */
  double *expected;   /* [action][observation] */
  double *opt_start;  /* [state] */
  double *transition; /* [action][state][next state]; with opt_start */
  double *emission;   /* [action][emitter][observation]; with opt_start */
} idm_expected_counts;

/* Scratch for trajectories of up to `steps` rows. Zero-initialise. */
typedef struct idm_smoother {
  double *forward;  /* [steps + 1][state] */
  double *backward; /* [2][state] */
  double *pair;     /* [state][state] */
} idm_smoother;

bool idm_smoother_create(idm_smoother *smoother, size_t steps, size_t states);
void idm_smoother_clear(idm_smoother *smoother);
/* Add the counts of a trajectory under the environment's dynamics. Returns the number of rows that
 * could be filtered: up to an unrecorded action or an impossible observation. */
size_t idm_smoother_run(const idm_setting *setting, const idm_data *data, size_t trajectory,
                        const idm_smoother *smoother, const idm_expected_counts *counts);

#endif
