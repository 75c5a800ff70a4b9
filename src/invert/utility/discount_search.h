/* Utilities and the discount together, where the best utilities at a discount are those of a least
 * sum. */
#ifndef IDM_INVERT_UTILITY_DISCOUNT_SEARCH_H
#define IDM_INVERT_UTILITY_DISCOUNT_SEARCH_H

#include "invert/utility/asked.h"

typedef struct idm_discount_search {
  idm_asked *asked;
  const char *evidence; /* "the scores": what the sum compares utilities with */
  const char *method;   /* what finds the utilities */
  double floor;         /* sums of at most this are 0 but for rounding */
  double terms;         /* in the sum whose errors are alike; 0: it is no such sum */
  bool squares;         /* terms are squares */
  /* The best numbers x[sought] at a discount, and their finding. */
  idm_status (*fit)(void *context, double discount, double *x, idm_finding **ret_finding,
                    idm_error *opt_error);
  void *context;
  double *x; /* [sought]: scratch */
} idm_discount_search;

/* The discount of the least sum, and the utilities there. The answer fails where another discount
 * comes as near, with the reason. */
idm_status idm_discount_search_run(const idm_discount_search *search, idm_posterior **ret_posterior,
                                   idm_error *opt_error);
/* Whether the discount is free. */
bool idm_discount_is_free(const idm_problem *problem);

#endif
