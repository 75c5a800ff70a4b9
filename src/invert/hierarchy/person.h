/* Moves of people, each given the population. */
#ifndef IDM_INVERT_HIERARCHY_PERSON_H
#define IDM_INVERT_HIERARCHY_PERSON_H

#include "invert/hierarchy/chain.h"

idm_status idm_chain_people(hierarchy_chain *chain, const leaf_lane *lane, size_t from, size_t to,
                            idm_error *opt_error);

#endif
