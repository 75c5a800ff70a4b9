/* Moves of people, each given the population. */
#ifndef IDM_INVERT_PEOPLE_PERSON_H
#define IDM_INVERT_PEOPLE_PERSON_H

#include "invert/people/chain.h"

idm_status idm_chain_people(people_chain *chain, idm_judge *judge, size_t from, size_t to,
                            idm_error *opt_error);

#endif
