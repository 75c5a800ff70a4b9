/* Dynamics that were drawn with the decisions, in summary.json. */
#ifndef IDM_IO_RUN_JOINT_H
#define IDM_IO_RUN_JOINT_H

#include "idm/posterior.h"
#include "io/json.h"

/* mean and sd by name, and the worst diagnostics. */
json_t *idm_json_joint(const idm_joint_dynamics *dynamics);
/* The learnt dynamics that one policy of the answer is planned in, as one list (see idm_dynamics),
 * and which draw they are; without it they are the mean. */
json_t *idm_json_central(const idm_drawn *drawn);

#endif
