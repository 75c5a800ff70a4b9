/* Audits over dynamics that are drawn together with the decisions. */
#ifndef IDM_INVERT_AUDIT_JOINT_H
#define IDM_INVERT_AUDIT_JOINT_H

#include "invert/audit/model.h"

/* Draws of mu, tau, effects and cells of a pooled model together with its dynamics, as
 * idm_audit_sample; draws->dynamics is filled, log_likelihood is left at 0. The cells of the model
 * need not be open. */
idm_status idm_audit_joint_sample(const audit_model *model, double scale, uint64_t stream,
                                  const idm_fit_watch *opt_watch, audit_draws *draws,
                                  idm_error *opt_error);

#endif
