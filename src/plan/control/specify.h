/* The specification policy: what the models of an action come to, and how they are weighed. */
#ifndef IDM_PLAN_CONTROL_SPECIFY_H
#define IDM_PLAN_CONTROL_SPECIFY_H

#include "plan/control/control.h"

/* beta log sum_m sigma~_m exp(K_m / beta), or with a risk level the mean of the worst share of the
 * models. opt_sigma, [model], receives sigma(m|z,u). */
double idm_control_specify(const control *c, const double *k, double *opt_sigma);
/* The same for IDM_LANES points side by side, k and opt_sigma [model][lane]. */
void idm_control_specify_block(const control *c, const double *k, double *value, double *opt_sigma);
/* KL(sigma || sigma~), nats. */
double idm_control_specification(const control *c, const double *k, double *sigma);

#endif
