/* The verdict on dynamics that were drawn with the decisions. */
#ifndef IDM_INVERT_JOINT_VERDICT_H
#define IDM_INVERT_JOINT_VERDICT_H

#include "idm/check.h"
#include "idm/posterior.h"

/* Record how well chains agree about the dynamics drawn, with a remark, and a failure where they do
 * not: then *trusted becomes false. */
void idm_joint_judge(const idm_joint_dynamics *dynamics, idm_checks *checks, idm_notes *remarks,
                     idm_notes *failures, bool *trusted);

#endif
