/* What successive policies of a learner say of its utility: soft policy iteration run backwards. */
#ifndef IDM_INVERT_UTILITY_LEARNER_STEPS_H
#define IDM_INVERT_UTILITY_LEARNER_STEPS_H

#include "idm/finding.h"
#include "invert/utility/mdp.h"
#include "invert/utility/sought.h"

typedef struct idm_learner_steps {
  const idm_mdp *world;
  const idm_sought *sought;
  double alpha;
  const double *prior;  /* [action] */
  size_t count;         /* policies, at least 2 */
  const double *policy; /* [count][state][action] */
  const double *weight; /* [count - 1][state][action]: what the equation of a step counts; 0: it is
                           left out, and need not make sense */
} idm_learner_steps;

/* x[free] that minimises the weighted squares of
 *   alpha log(pi_{k+1} / pi~)(u|s) + alpha discount E KL(pi_k || pi_{k+1})(s') - u - discount P
 * phi_k
 *   + phi_k
 * over x and potentials phi_k; of all those the potentials of least norm. The finding receives the
 * sum of squares, its gradient, and what of the utility the equations leave open. */
idm_status idm_learner_steps_invert(const idm_learner_steps *steps, double *x, idm_finding *finding,
                                    idm_error *opt_error);

#endif
