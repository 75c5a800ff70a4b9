/* Dynamics that were drawn with the decisions, in summary.json. */
#ifndef IDM_IO_RUN_JOINT_H
#define IDM_IO_RUN_JOINT_H

#include "idm/posterior.h"
#include "io/json.h"

/* mean and sd by name, and the worst diagnostics. */
json_t *idm_json_joint(const idm_joint_dynamics *dynamics);

#endif
