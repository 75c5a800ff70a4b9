/* Moves of the population. */
#ifndef IDM_INVERT_HIERARCHY_MOVE_H
#define IDM_INVERT_HIERARCHY_MOVE_H

#include "invert/hierarchy/chain.h"

/* While steps are tuned: where people are, for the next approximation. */
void idm_chain_tally(hierarchy_chain *chain);
void idm_chain_propose(hierarchy_chain *chain);
idm_status idm_chain_judge(hierarchy_chain *chain, const leaf_lane *lane, size_t from, size_t to,
                           idm_error *opt_error);
void idm_chain_decide(hierarchy_chain *chain);
/* A sweep of people and population by the tables, accepted or rejected as one proposal by exact
 * likelihoods: one evaluation per person, where the moves one by one take two. The more people, the
 * rarer it is accepted. */
idm_status idm_chain_sweep_tables(hierarchy_chain *chain, const leaf_lane *lane,
                                  idm_error *opt_error);

#endif
