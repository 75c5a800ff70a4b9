/* An independent look at the posterior: do the draws represent it? */
#ifndef IDM_INVERT_ASSESS_LOOK_H
#define IDM_INVERT_ASSESS_LOOK_H

#include "invert/assess/inquiry.h"

/* Estimate mean and sd of every coordinate again, by importance sampling that owes nothing to the
 * chains, and note where the draws disagree. */
idm_status idm_assess_look(const inquiry *q, idm_error *opt_error);
void idm_look_clear(idm_look *look);
/* What it shows, into failures and remarks. */
void idm_judge_look(const inquiry *q);
/* Where chains of a quantity sit at places of their own: "1.2, 1.3 and 57", into buffer; false
 * where they do not. */
bool idm_chains_apart(const idm_posterior *posterior, size_t quantity, char *buffer, size_t size);

#endif
