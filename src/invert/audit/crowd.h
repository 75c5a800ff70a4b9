/* Agents nested in one cell of an audit, as strata: each has numbers of its own. */
#ifndef IDM_INVERT_AUDIT_CROWD_H
#define IDM_INVERT_AUDIT_CROWD_H

#include "invert/assess/strata.h"
#include "invert/audit/model.h"

typedef struct crowd {
  idm_design design; /* an effect per number, and one cell per agent */
  idm_people people; /* their numbers alone */
  strata strata;
} crowd;

/* The strata refer to the crowd, which must not be copied. Model and draws are borrowed.
 * idm_crowd_close accepts a crowd that was set to 0. */
idm_status idm_crowd_open(crowd *c, const audit_model *model, const audit_draws *draws, size_t cell,
                          idm_error *opt_error);
void idm_crowd_close(crowd *c);

#endif
