/* The matching side of the paper's proposition, for any regulariser: min over the numbers of a rule
 * or a network of zeta*(p - q) - alpha H, q the occupancy of its policy, by its own slopes. */
#ifndef IDM_INVERT_UTILITY_CONJUGATE_MATCHING_H
#define IDM_INVERT_UTILITY_CONJUGATE_MATCHING_H

#include "invert/utility/mdp.h"
#include "invert/utility/regulariser.h"

typedef struct idm_conjugate_matching {
  double objective;
  double slope;      /* largest derivative by a number of the policy that is left */
  double beyond;     /* how far p - q is beyond where zeta* is finite */
  double *policy;    /* [state][action] */
  double *occupancy; /* [state][action] */
} idm_conjugate_matching;

/* `units`: of the hidden layer of a network, or 0: a rule with a weight for each state and action.
 * p is by [state][action]. */
idm_status idm_conjugate_match(const idm_problem *problem, const idm_mdp *world,
                               const idm_regulariser *regulariser, double alpha, int units,
                               const double *p, idm_conjugate_matching **ret_matching,
                               idm_error *opt_error);
/* Takes NULL. */
void idm_conjugate_matching_destroy(idm_conjugate_matching *matching);

#endif
