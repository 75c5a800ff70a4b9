/* Values and policies at any belief, from the values on the lattice. */
#ifndef IDM_PLAN_CONTROL_EVALUATE_H
#define IDM_PLAN_CONTROL_EVALUATE_H

#include "plan/control/control.h"

void idm_control_policy(const void *content, size_t variant, int steps, const double *z,
                        double *decision, double *opt_specification, double *scratch);
void idm_control_log_policy(const void *content, size_t variant, int steps, const double *z,
                            double *log_decision, double *scratch);
double idm_control_value(const void *content, size_t variant, int steps, const double *z,
                         double *scratch);
/* Q; between the points of tables interpolated, as the policies are. */
void idm_control_quality(const void *content, size_t variant, int steps, const double *z,
                         double *quality, double *scratch);
size_t idm_control_scratch(const void *content);

#endif
