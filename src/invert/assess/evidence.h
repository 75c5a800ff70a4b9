/* Bayes factor of the model with its prior against uniform choice. */
#ifndef IDM_INVERT_ASSESS_EVIDENCE_H
#define IDM_INVERT_ASSESS_EVIDENCE_H

#include "invert/assess/inquiry.h"

/* The mean, over draws of the prior, of the likelihood of the decisions over that of uniform choice
 * (log-likelihood `uniform`): the Bayes factor of the model against chance. NaN under an improper
 * prior. Where the decisions of an agent of the prior follow the model, the factor is below x with
 * a probability of at most x, however few they are (Markov's inequality, as the expectation of its
 * inverse is 1). */
idm_status idm_evidence_against_chance(const inquiry *q, double uniform, double *ret_factor,
                                       idm_error *opt_error);

#endif
