/* The same fit with one more number free: what the number is then, and what it gains. */
#ifndef IDM_INVERT_ASSESS_REFIT_H
#define IDM_INVERT_ASSESS_REFIT_H

#include "invert/assess/view.h"

typedef struct refit {
  double value;          /* of the number at the mode */
  double log_likelihood; /* there; -INFINITY where no plan was possible */
} refit;

/* Climb to the mode above the centre of the answer with the number at `from`, under the default
 * prior of its block. NULL: with no further number, since the best of the draws is below the mode.
 */
idm_status idm_refit(const inquiry *q, const view_held *opt_from, refit *ret, idm_error *opt_error);
/* The same, without a further number, but with a free block under its default scale and prior,
 * which does not end where the prior of the fit does. */
idm_status idm_refit_widely(const inquiry *q, size_t block, refit *ret, idm_error *opt_error);

#endif
