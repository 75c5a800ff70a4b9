/* Functions of distributions that the C library lacks or does not offer to threads. */
#ifndef IDM_INFER_DISTRIBUTION_H
#define IDM_INFER_DISTRIBUTION_H

/* The number below which a standard normal falls with probability p, to about 1e-15. */
double idm_normal_quantile(double p);
/* c, or the nearest number strictly inside (lower, upper) where it is not; near an end at 0 a
 * normal number, so that its inverse is finite. NaN stays NaN. */
double idm_inside(double lower, double upper, double c);

#endif
