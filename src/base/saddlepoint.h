/* Tail of a sum of independent discrete variables by a saddlepoint approximation (Lugannani and
 * Rice 1980). */
#ifndef IDM_BASE_SADDLEPOINT_H
#define IDM_BASE_SADDLEPOINT_H

#include <stddef.h>

typedef struct idm_discrete_sum {
  size_t terms;
  size_t width;              /* outcomes of a term */
  const double *probability; /* [term][outcome] */
  const double *value;       /* [term][outcome] */
  const double *copies;      /* [term]: independent copies of the term */
} idm_discrete_sum;

/* P(sum >= x) for x above the mean, P(sum <= x) for x below. The sum takes few values where
 * outcomes are rare: the correction for a lattice (Daniels 1987) whose spacing is the mean range of
 * a term, weighted by its variance, keeps the approximation from being too small there, and makes
 * it too large where there is no lattice, less so the more terms there are. Never above the
 * Chernoff bound, which is exact at either end of the support. 1 where the sum does not vary. */
double idm_saddlepoint_tail(const idm_discrete_sum *sum, double x);
/* Two-sided p of a sum of mean 0 and variance `variance`: twice that tail, or within two sds of the
 * mean, where the lattice's correction is large, that of a normal distribution. */
double idm_saddlepoint_two_sided(const idm_discrete_sum *sum, double x, double variance);

#endif
