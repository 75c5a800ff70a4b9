/* Remarks on a finished audit: what the dynamics leave open, what agents within groups leave open,
 * and which checks are left to other commands. */
#ifndef IDM_INVERT_AUDIT_REMARKS_H
#define IDM_INVERT_AUDIT_REMARKS_H

#include "idm/audit.h"

/* Chains that disagree about dynamics which were drawn with the decisions fail the audit. */
void idm_audit_remark(idm_audit *audit);

#endif
