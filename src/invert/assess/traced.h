/* Profile log-likelihoods as curves: what stands behind the ends of the intervals of a verdict. */
#ifndef IDM_INVERT_ASSESS_TRACED_H
#define IDM_INVERT_ASSESS_TRACED_H

#include "idm/assess.h"

/* One free number. */
typedef struct idm_traced {
  size_t count;  /* 0: it was not looked at, as the log is so large that a part stood for it */
  double *value; /* [count], ascending: of the quantity that is summarised */
  double *drop;  /* [count]: the profile less the maximum: at most 0, but for rounding */
} idm_traced;

typedef struct idm_traces {
  idm_assessment *assessment; /* its `parameter`s, in whose order they are; the rest is of the draws
                                 alone */
  size_t count;
  idm_traced *one;
} idm_traces;

/* Look for what the data bound, as a verdict does, and keep the curves. None where there is nothing
 * to be found. IDM_INPUT where the draws are not of the problem's free numbers, or these have no
 * names. */
idm_status idm_traces_find(const idm_problem *problem, const idm_data *data,
                           const idm_posterior *posterior, int threads, idm_traces *ret_traces,
                           idm_error *opt_error);
void idm_traces_clear(idm_traces *traces);

#endif
