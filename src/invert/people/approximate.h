/* The normal approximation of people in a chain. */
#ifndef IDM_INVERT_PEOPLE_APPROXIMATE_H
#define IDM_INVERT_PEOPLE_APPROXIMATE_H

#include "invert/people/chain.h"

/* The normal approximation of people [from, to) at their modes, given the chain's population. */
idm_status idm_chain_settle(people_chain *chain, idm_judge *judge, size_t from, size_t to,
                            idm_error *opt_error);
/* Put people [from, to) where the approximation has them, at random. */
idm_status idm_chain_scatter(people_chain *chain, idm_judge *judge, size_t from, size_t to,
                             idm_error *opt_error);
/* The normal approximation of people [from, to), at the means of their effects so far. */
idm_status idm_chain_approximate(people_chain *chain, idm_judge *judge, size_t from, size_t to,
                                 idm_error *opt_error);
/* After all have been approximated: sizes of steps follow. */
void idm_chain_approximated(people_chain *chain);

#endif
