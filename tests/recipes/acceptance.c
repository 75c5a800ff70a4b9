/* The check `acceptance` computes the least mean acceptance probability of the chains. */
#include <math.h>

#include "invert/assess/context.h"

idm_status idm_check_acceptance(const check_context *q, idm_error *opt_error)
{
  (void)opt_error;
  const idm_posterior *p = q->posterior;
  for (size_t c = 0; c < p->chains; c++) {
    double mean = 0;
    for (size_t i = 0; i < p->draws; i++)
      mean += p->statistics[c * p->draws + i].acceptance / (double)p->draws;
    if (idm_check_test_optional(&q->assessment->checks, IDM_CHECK_ACCEPTANCE, mean))
      idm_notes_add(&q->assessment->remarks, "chain %zu accepts %.2g of its proposals", c + 1,
                    mean);
  }
  return IDM_OK;
}
