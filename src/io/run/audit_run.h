/* summary.json of an audit at a place: see idm/audit_run.h. */
#ifndef IDM_IO_RUN_AUDIT_RUN_H
#define IDM_IO_RUN_AUDIT_RUN_H

#include "idm/audit_run.h"
#include "io/place.h"

idm_status idm_audit_write_at(const idm_audit *audit, const idm_place *place, idm_error *opt_error);

#endif
