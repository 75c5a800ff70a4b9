/* Requests of audits at places: see idm/audit_run.h. */
#ifndef IDM_IO_RUN_AUDIT_REQUEST_H
#define IDM_IO_RUN_AUDIT_REQUEST_H

#include "idm/audit_run.h"
#include "io/place.h"

idm_status idm_audit_request_read_at(const idm_place *place, idm_problem **ret_problem,
                                     idm_audit_request *request, idm_notes *opt_notes,
                                     idm_error *opt_error);
/* Whether a file is config.yaml of an audit. */
bool idm_audit_is_at(const idm_place *place);

#endif
