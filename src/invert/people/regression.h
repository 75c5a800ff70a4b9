/* Least squares of people's effects on the regressors of a design, and Student's t. */
#ifndef IDM_INVERT_PEOPLE_REGRESSION_H
#define IDM_INVERT_PEOPLE_REGRESSION_H

#include "idm/people.h"

/* P(|T| > |t|), T being Student's t with so many degrees of freedom. */
double idm_student_tails(double t, size_t degrees);

/* An orthonormal basis of the regressors of one effect. Regressors that are combinations of earlier
 * ones add nothing to it. */
typedef struct regression {
  size_t people;
  size_t rank;
  double *basis; /* [rank][person] */
} regression;

idm_status idm_regression_open(regression *r, const idm_design *design, size_t effect,
                               idm_error *opt_error);
/* Accepts a regression that was set to 0. */
void idm_regression_close(regression *r);
/* Residuals of x[person * stride] from the regression, and their sum of squares. */
double idm_regression_residuals(const regression *r, const double *x, size_t stride,
                                double *residual);
/* The leverage of a person: the diagonal element of the projection onto the regressors. */
double idm_regression_leverage(const regression *r, size_t person);

#endif
