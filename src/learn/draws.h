/* Draws of dynamics: names and places of their numbers. */
#ifndef IDM_LEARN_DRAWS_H
#define IDM_LEARN_DRAWS_H

#include "learn/structure.h"

/* Name the numbers of a structure that are learnt, with their places; tied ones once. */
idm_status draws_name(const structure *s, const idm_setting *setting, idm_dynamics_draws *draws,
                      idm_error *opt_error);

#endif
