/* Draws of an audit: room for them, and who watches. */
#ifndef IDM_INVERT_AUDIT_DRAWS_H
#define IDM_INVERT_AUDIT_DRAWS_H

#include "invert/audit/model.h"

/* Report that a share of its part is done, with the work under way in a step of the journal; true
 * where it is to stop. */
bool idm_audit_watched(const audit_watch *watch, double share, uint64_t step,
                       const idm_work *opt_work);
/* Draws there or back. */
void idm_audit_draws_pass(const audit_model *model, audit_draws *draws, idm_record *record);
/* Room for them. */
idm_status idm_audit_draws_create(const audit_model *model, audit_draws *draws,
                                  idm_error *opt_error);
void idm_audit_draws_clear(audit_draws *draws);

#endif
