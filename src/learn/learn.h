/* Baum and Welch's algorithm: what the starts of a search share. */
#ifndef IDM_LEARN_LEARN_H
#define IDM_LEARN_LEARN_H

#include <stdatomic.h>

#include "learn/iohmm.h"

/* One start: where it begins, and what became of it. */
typedef struct climb {
  idm_dynamics *dynamics; /* of the start, then of its end */
  double log_likelihood;
  double objective; /* -inf where the data are impossible */
  bool converged;
  size_t steps;
  double *trace; /* [iterations + 1] */
  size_t impossible;
} climb;
void climb_clear(climb *c);
/* Climb from its dynamics. *stop is looked at before every step. */
idm_status climb_run(const idm_iohmm *learner, const idm_learn_settings *settings,
                     const atomic_bool *stop, climb *c, idm_error *opt_error);
/* IDM_USAGE where a problem has not the actions and observations of what is learnt. */
idm_status iohmm_check_problem(const idm_iohmm *learner, const idm_problem *problem,
                               idm_error *opt_error);
/* Dynamics for new states, where the problem has none: even over what is possible. */
void iohmm_even(const idm_iohmm *learner, idm_dynamics *dynamics);
/* Which seeds belong to what: the stream of start i, beside those of other uses. */
enum { LEARN_STREAM_STARTS = 1, LEARN_STREAM_CHAINS = 2, LEARN_STREAM_FOLDS = 3 };
static inline uint64_t learn_stream(unsigned use, size_t states, size_t fold, size_t index)
{
  return (uint64_t)use << 60 | (uint64_t)(states & 0xffff) << 40 | (uint64_t)(fold & 0xffff) << 24 |
         (uint64_t)(index & 0xffffff);
}
/* Random dynamics of a start, ordered by the rule at its end. */
void iohmm_random(const idm_iohmm *learner, uint64_t seed, size_t fold, size_t index,
                  idm_dynamics *dynamics);

#endif
