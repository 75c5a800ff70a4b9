/* The normal approximation of people in a chain. */
#ifndef IDM_INVERT_HIERARCHY_APPROXIMATE_H
#define IDM_INVERT_HIERARCHY_APPROXIMATE_H

#include "invert/hierarchy/chain.h"

/* The normal approximation of people [from, to) at their modes, given the chain's population. */
idm_status idm_chain_settle(hierarchy_chain *chain, const leaf_lane *lane, size_t from, size_t to,
                            idm_error *opt_error);
/* Put people [from, to) where the approximation has them, at random. */
idm_status idm_chain_scatter(hierarchy_chain *chain, const leaf_lane *lane, size_t from, size_t to,
                             idm_error *opt_error);
/* The normal approximation of people [from, to), at the means of their effects so far. */
idm_status idm_chain_approximate(hierarchy_chain *chain, const leaf_lane *lane, size_t from,
                                 size_t to, idm_error *opt_error);
/* What the approximations say of the coefficients under the covariance of a population, people
 * integrated out: log density about right' b - b' precision b / 2, the prior left out. */
void idm_chain_regress(const hierarchy_chain *chain, const population *p, double *precision,
                       double *right);
/* Put the coefficients at the mode of their approximation, and `noise` of its sds away at random;
 * everybody at W_i b. For fixed effects. */
void idm_chain_climb(hierarchy_chain *chain, double noise);
/* After all have been approximated: sizes of steps follow. */
void idm_chain_approximated(hierarchy_chain *chain);

#endif
