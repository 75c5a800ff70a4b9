/* Dynamics of a cell's own, learnt from its log. */
#ifndef IDM_INVERT_AUDIT_DYNAMICS_H
#define IDM_INVERT_AUDIT_DYNAMICS_H

#include "base/record.h"
#include "idm/audit.h"
#include "idm/data.h"
#include "idm/learn.h"
#include "invert/audit/model.h"

/* Start, transitions and emissions given a log: the best that Baum and Welch's steps reach from
 * dispersed starts, the problem's own among them, or, with `drawn`, draws around their modes. */
idm_status idm_audit_learn(const idm_problem *problem, const idm_data *data, bool drawn,
                           uint64_t seed, idm_dynamics_draws *draws, idm_error *opt_error);
/* The check higher-mode of the draws of all cells. An audit that fails it is not trusted. */
idm_status idm_audit_learn_check(const audit_model *model, idm_audit *audit, idm_error *opt_error);
/* Such dynamics into a record, and back. */
void idm_audit_learn_write(const idm_dynamics_draws *draws, idm_record *record);
idm_status idm_audit_learn_read(idm_record *record, idm_dynamics_draws *draws,
                                idm_error *opt_error);

#endif
