/* The verdict on answers over learnt dynamics. */
#ifndef IDM_INVERT_JOINT_VERDICT_H
#define IDM_INVERT_JOINT_VERDICT_H

#include "idm/assess.h"
#include "idm/cut.h"

/* Record how well chains agree about the dynamics drawn, with a remark, and a failure where they do
 * not: then *trusted becomes false. */
void idm_joint_judge(const idm_joint_dynamics *dynamics, idm_checks *checks, idm_notes *remarks,
                     idm_notes *failures, bool *trusted);

/* Assess a posterior over learnt dynamics by a fit of `problem`, which has one set of
 * them (invert/assess/given.h). IDM_UNTRUSTED where the watch stops it. */
idm_status idm_joint_assess(const idm_problem *problem, const idm_data *data,
                            const idm_inverse *inverse, const idm_fit_settings *settings,
                            const idm_posterior *posterior, const idm_fit_watch *opt_watch,
                            idm_assessment **ret_assessment, idm_error *opt_error);

#endif
