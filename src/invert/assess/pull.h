/* How far a prior holds a posterior off what the data lead to. */
#ifndef IDM_INVERT_ASSESS_PULL_H
#define IDM_INVERT_ASSESS_PULL_H

#include "idm/status.h"

/* A number with a posterior of mean m and variance v, and a prior of mean M and variance s^2. */
typedef struct prior_pull {
  double conflict; /* (m - M) / sqrt(s^2 - v), without its sign: where the prior is right, m varies
                      with variance s^2 - v over logs (law of total variance) */
  double shift;    /* how far the prior moves the mean, in posterior sds: from where a normal
                      likelihood that leads to m and v has its maximum */
} prior_pull;

prior_pull idm_prior_pull(double mean, double variance, double prior_mean, double prior_variance);
/* The conflict where the prior moves the mean by more than one posterior sd, else 0: what the check
 * prior-pull compares with its threshold. */
double idm_prior_pulled(const prior_pull *pull);
/* The sentence of a prior that holds a number off: `what` is the number, `by` what it contradicts
 * ("the data"). */
void idm_prior_pull_note(const prior_pull *pull, const char *what, const char *by,
                         idm_notes *notes);

#endif
