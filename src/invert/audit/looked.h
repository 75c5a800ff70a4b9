/* Looks at how the model fits, in one draw of the dynamics after another. */
#ifndef IDM_INVERT_AUDIT_LOOKED_H
#define IDM_INVERT_AUDIT_LOOKED_H

#include "invert/audit/lines.h"

/* Sides that the model does not fit, or whose prior and decisions disagree. */
size_t idm_audit_count_unfit(const idm_audit *audit);

/* Whether a second look replaces the first: fewer sides are unfit, and no more tests are left out.
 * A test that is left out finds nothing, which is no better. */
bool idm_audit_look_replaces(size_t unfit_before, const idm_checks *before, size_t unfit,
                             const idm_checks *checks);

/* Look again (idm_audit_look), in the dynamics at hand, and keep what was found before unless
 * this look replaces it: dynamics that are not known exactly contradict a model only where none of
 * them does without. */
idm_status idm_audit_look_again(const audit_plan *plan, const audit_draws *draws, idm_audit *audit,
                                idm_error *opt_error);

#endif
