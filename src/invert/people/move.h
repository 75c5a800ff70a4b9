/* Moves of the population. */
#ifndef IDM_INVERT_PEOPLE_MOVE_H
#define IDM_INVERT_PEOPLE_MOVE_H

#include "invert/people/chain.h"

void idm_chain_propose(people_chain *chain);
idm_status idm_chain_judge(people_chain *chain, idm_judge *judge, size_t from, size_t to,
                           idm_error *opt_error);
void idm_chain_decide(people_chain *chain);

#endif
