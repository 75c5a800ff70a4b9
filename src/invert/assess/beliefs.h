/* Groups of decisions by what a Bayesian would believe: a statistic of the past, whatever the agent
 * makes of it.
 *
 * The belief is filtered along the recorded history in the dynamics of the file. A group is its
 * likeliest state and a third of all decisions by the probability of that state. */
#ifndef IDM_INVERT_ASSESS_BELIEFS_H
#define IDM_INVERT_ASSESS_BELIEFS_H

#include "invert/assess/residual.h"

enum { BELIEF_BINS = 3 };

typedef struct beliefs {
  size_t groups;                /* states times BELIEF_BINS; 0: beliefs are not compared */
  int32_t *group;               /* [question]: state * BELIEF_BINS + bin, or IDM_MISSING */
  double edge[BELIEF_BINS + 1]; /* of the bins: probabilities of the likeliest state */
} beliefs;

/* No groups where states are observed, where there are fewer than two or more than eight of them,
 * or where there is one observation. idm_beliefs_close accepts beliefs that were set to 0 or failed
 * to open. */
idm_status idm_beliefs_open(beliefs *b, const residual *r, idm_error *opt_error);
void idm_beliefs_close(beliefs *b);

#endif
