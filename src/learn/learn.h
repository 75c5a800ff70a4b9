/* Baum and Welch's algorithm: what the starts of a search share. */
#ifndef IDM_LEARN_LEARN_H
#define IDM_LEARN_LEARN_H

#include "learn/iohmm.h"

/* IDM_USAGE where a problem has not the actions and observations of what is learnt. */
idm_status iohmm_check_problem(const idm_iohmm *learner, const idm_problem *problem,
                               idm_error *opt_error);
/* Climb from dynamics, in place, to a mode of the objective, whose log-likelihood is returned. */
idm_status learn_climb(const idm_iohmm *learner, const idm_learn_settings *settings,
                       idm_dynamics *dynamics, double *ret_log_likelihood, idm_error *opt_error);
/* Which seeds belong to what: the stream of start i, beside those of other uses. */
enum {
  LEARN_STREAM_STARTS = 1,
  LEARN_STREAM_CHAINS = 2,
  LEARN_STREAM_FOLDS = 3,
  LEARN_STREAM_PILOTS = 4
};
static inline uint64_t learn_stream(unsigned use, size_t states, size_t fold, size_t index)
{
  return (uint64_t)use << 60 | (uint64_t)(states & 0xffff) << 40 | (uint64_t)(fold & 0xffff) << 24 |
         (uint64_t)(index & 0xffffff);
}

#endif
