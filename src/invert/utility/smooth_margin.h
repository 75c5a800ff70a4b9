/* The smooth program of regularised-margin: min over the free numbers x of
 *   share E V_soft(u(x)) - <mu_demo, u(x)> + |x|^2 / (2 lambda). */
#ifndef IDM_INVERT_UTILITY_SMOOTH_MARGIN_H
#define IDM_INVERT_UTILITY_SMOOTH_MARGIN_H

#include "invert/matching/halt.h"
#include "invert/utility/soft_plan.h"
#include "invert/utility/sought.h"

typedef struct idm_smooth_margin {
  const idm_sought *sought;
  idm_soft_plan *plan;
  const double *demonstrated; /* [action][state]: mu_demo */
  double lambda;              /* inf: no price on x; of all minimisers the least one is found */
  idm_halt *opt_halt;
} idm_smooth_margin;

/* Objective and gradient[free] = mu - mu_demo + x / lambda at x; the plan is then that of x. */
idm_status idm_smooth_margin_evaluate(const idm_smooth_margin *margin, const double *x,
                                      double *objective, double *gradient, idm_error *opt_error);
/* From x = 0 by Newton's method; *slope is the largest entry of the gradient that is left. The plan
 * is then that of x. */
idm_status idm_smooth_margin_minimise(const idm_smooth_margin *margin, double *x, double *objective,
                                      double *slope, idm_error *opt_error);

#endif
