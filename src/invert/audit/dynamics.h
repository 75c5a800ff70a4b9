/* Dynamics of a cell's own, learnt from its log. */
#ifndef IDM_INVERT_AUDIT_DYNAMICS_H
#define IDM_INVERT_AUDIT_DYNAMICS_H

#include "base/record.h"
#include "idm/data.h"
#include "idm/learn.h"

/* Start, transitions and emissions given a log: what Baum and Welch's steps reach that begin at the
 * problem's own or, with `drawn`, draws around that. */
idm_status idm_audit_learn(const idm_problem *problem, const idm_data *data, bool drawn,
                           uint64_t seed, idm_dynamics_draws *draws, idm_error *opt_error);
/* Such dynamics into a record, and back. */
void idm_audit_learn_write(const idm_dynamics_draws *draws, idm_record *record);
idm_status idm_audit_learn_read(idm_record *record, idm_dynamics_draws *draws,
                                idm_error *opt_error);

#endif
