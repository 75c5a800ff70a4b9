/* Dynamics of a cell's own: a problem with start, transitions and emissions learnt from its log. */
#ifndef IDM_INVERT_AUDIT_DYNAMICS_H
#define IDM_INVERT_AUDIT_DYNAMICS_H

#include "idm/data.h"

/* A problem like `problem` but for its dynamics, learnt from `data` by Baum and Welch's steps that
 * begin at the problem's own; models follow by their rule. All else is borrowed from `problem`.
 * IDM_INPUT where models are a list, which nothing says how to move. */
idm_status idm_audit_learn(const idm_problem *problem, const idm_data *data,
                           idm_problem **ret_problem, idm_error *opt_error);
void idm_audit_learnt_destroy(idm_problem *problem);

#endif
