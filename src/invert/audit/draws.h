/* Draws of an audit: room for them, and who watches. */
#ifndef IDM_INVERT_AUDIT_DRAWS_H
#define IDM_INVERT_AUDIT_DRAWS_H

#include "invert/audit/model.h"

/* Tell it that a share of its part is done; true where it is to stop. */
bool idm_audit_watched(const audit_watch *watch, double share);
/* Room for them. */
idm_status idm_audit_draws_create(const audit_model *model, audit_draws *draws,
                                  idm_error *opt_error);
void idm_audit_draws_clear(audit_draws *draws);

#endif
