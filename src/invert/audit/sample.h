/* Draws of an audit, by chains. */
#ifndef IDM_INVERT_AUDIT_SAMPLE_H
#define IDM_INVERT_AUDIT_SAMPLE_H

#include "invert/audit/model.h"

/* Draws, with s and tau's scale multiplied by `scale` and random streams by `stream`; the same at
 * any thread count. IDM_UNTRUSTED where it was stopped. */
idm_status idm_audit_sample(const audit_model *model, double scale, uint64_t stream,
                            const audit_watch *watch, audit_draws *draws, idm_error *opt_error);

#endif
