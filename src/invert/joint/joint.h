/* Draws of learnt dynamics and of the numbers behind decisions, together. */
#ifndef IDM_INVERT_JOINT_JOINT_H
#define IDM_INVERT_JOINT_JOINT_H

#include "idm/chains.h"
#include "invert/joint/target.h"

/* Draws of the whole vector, by as many chains as the settings have. Every chain climbs from a draw
 * of the dynamics of its own, and all but the first from numbers of their own, to a mode; a mode
 * that is hopelessly lower than another is left for it. Chains start dispersed around their modes.
 * The sampler is nuts in more than 20 dimensions with a gradient, else pcn, unless the settings
 * have another.
 * IDM_UNTRUSTED where the watch stops it; from the checkpoint of its work the same request goes on,
 * bit for bit. The same at any thread count. */
idm_status idm_joint_draw(joint *j, const idm_fit_settings *settings, uint64_t key,
                          const idm_fit_watch *opt_watch, idm_chains **ret_chains,
                          idm_joint_dynamics **ret_dynamics, idm_error *opt_error);

#endif
