/* Whether the effects of overlapping predicates add up. */
#ifndef IDM_INVERT_AUDIT_ADDITIVE_H
#define IDM_INVERT_AUDIT_ADDITIVE_H

#include "invert/audit/lines.h"

/* Record the check form, and a misfit with both groups where the numbers of those who meet two
 * predicates are not the sum of their effects. Nothing is recorded where each group has numbers of
 * its own, or agents are nested in cells (nest.h), or no cell meets two predicates.
 *
 * The test is the efficient score of delta in x_c = mu + sum_k Z_ck e_k + delta Z_ck Z_cl, per pair
 * of predicates and coordinate, at the posterior mean of the cells: mu and e are nuisances.
 * Where it is beyond the level, the gain in log-likelihood along the same direction is computed as
 * well, and the larger p counts: the score alone overstates one unlikely decision of a small cell.
 * p is Bonferroni's over pairs and coordinates. */
idm_status idm_audit_additive(const audit_plan *plan, const audit_draws *draws, idm_audit *audit,
                              idm_error *opt_error);

#endif
