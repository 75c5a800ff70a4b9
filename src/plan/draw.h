/* Draws from the environment: what simulation and whoever learns by acting share. */
#ifndef IDM_PLAN_DRAW_H
#define IDM_PLAN_DRAW_H

#include "idm/random.h"
#include "idm/setting.h"

/* The environment's answer to an action: *state moves on, and what is seen is returned. Its
 * dynamics must be known. */
int idm_draw_move(const idm_setting *setting, size_t action, size_t *state, idm_random *random);

#endif
