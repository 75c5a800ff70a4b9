/* What the data say of free numbers, in sentences, and the verdict on it. */
#ifndef IDM_INVERT_ASSESS_SENTENCE_H
#define IDM_INVERT_ASSESS_SENTENCE_H

#include "invert/assess/inquiry.h"

/* Write id->sentence from what stands in id. */
void idm_identification_sentence(const inquiry *q, const parameter *item, idm_identification *id);

/* The verdict on what the data bound, and where free numbers without a name leave it open. */
void idm_judge_identification(const inquiry *q);
void idm_judge_unnamed(const inquiry *q);
/* Hold a point against the maximum of the likelihood, y, found without it: where the posterior is
 * higher there, the point is not the most probable one, and fails. */
void idm_judge_top(const inquiry *q, const double *y, double log_likelihood);

#endif
