/* Whether people vary more than the prior of the sds between them lets them.
 *
 * At a draw from the posterior of a right model the score s of a person's effect, over the
 * decisions, has mean 0 and variance I (strata.h). Where the prior holds the sd of the effect down,
 * people cannot leave the mean of their population, and s varies by I + I^2 D, D being the variance
 * that is missing. The test is of the sum over people of s^2, less what a shift of all people
 * explains. Its cube root is about normal (Wilson and Hilferty 1931), with mean and sd by
 * replicates of the decisions. Draws of the sd are not used for the test: they remain where a
 * narrow prior is, and have no information on what people are like. A prior that people contradict
 * is one that does not expect the sd that they show, which is by moments: the value is the less of
 * the test and of that sd in scales of its half-normal prior. */
#ifndef IDM_INVERT_ASSESS_SPREAD_H
#define IDM_INVERT_ASSESS_SPREAD_H

#include "base/moments.h"
#include "invert/assess/residual.h"

typedef struct spread_check {
  const residual *r;
  size_t effects;         /* of a person; 0: nothing to look at */
  double *information;    /* [person][effect]: I */
  double *score;          /* [person][effect]: s of the answers taken last */
  double *squares;        /* [effect]: their sum of squares, as above */
  idm_welford *replicate; /* [effect]: cube roots of these, over replicates */
} spread_check;

/* Nothing to look at where people are no population with sds of its own, or no score is to be had.
 */
idm_status idm_spread_open(spread_check *c, const residual *r, idm_error *opt_error);
void idm_spread_close(spread_check *c);
/* The scores of some answers, which are a replicate or the log's own. */
void idm_spread_take(spread_check *c, const double *taken, bool replicate);

typedef struct spread_found {
  double far;   /* of the sum, in sds */
  double shown; /* sd that people show */
} spread_found;

/* After all replicates, and the log at last: of one effect. */
spread_found idm_spread_find(const spread_check *c, size_t effect);
/* Record prior-pull of every effect, with a misfit of each whose prior is exceeded; true where one
 * is. */
bool idm_spread_judge(const spread_check *c, idm_assessment *assessment);

#endif
