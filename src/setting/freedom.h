/* Free blocks: the prior taken where none is given. */
#ifndef IDM_SETTING_FREEDOM_H
#define IDM_SETTING_FREEDOM_H

#include "idm/problem.h"

/* max - min of the utility over all variants; 1 where that says nothing. Kept within bounds so that
 * its inverse is sound. */
double idm_theta_range(const idm_theta *theta);
/* The same of one variant. */
double idm_theta_range_of(const idm_theta *theta, size_t variant);
/* What the default prior of a block scales with: that range, or 1 where the block is counted in it
 * already. */
double idm_problem_range(const idm_problem *problem, size_t id);
/* Default priors once more, for utilities and units that may have changed. */
idm_status idm_problem_renew_priors(idm_problem *problem, idm_error *opt_error);
/* Give a free block the default prior of its descriptor and scale, for utilities of that range, and
 * note that it is the default. */
idm_status idm_theta_default_prior(idm_theta *theta, size_t id, double range, idm_error *opt_error);

/* The reference action of a block that is a contrast where none is chosen: the first whose numbers
 * are all 0, else the first. */
size_t idm_theta_reference(const idm_theta *theta, size_t id);
/* Let all numbers of a contrast move but those of the reference action and the constants.
 * IDM_INPUT where nothing is left. */
idm_status idm_theta_contrast(idm_theta *theta, const idm_setting *setting, size_t id,
                              size_t reference, idm_error *opt_error);
/* Let all numbers of a block move but one. IDM_INPUT where nothing is left. */
idm_status idm_theta_hold_one(idm_theta *theta, const idm_setting *setting, size_t id, size_t held,
                              idm_error *opt_error);
/* Size of a usual coordinate c of a free block: the spread of its default prior. What is small or
 * far is measured by it, so that nothing depends on the unit of the utilities. */
double idm_block_unit(const idm_block_info *info, idm_scale scale, double range);

#endif
