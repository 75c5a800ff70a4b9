/* Free blocks of theta: their priors, features and ties.
 *
 * Contents: features · freedom · tie */
#ifndef IDM_SETTING_FREEDOM_H
#define IDM_SETTING_FREEDOM_H

#include "idm/problem.h"
#include "idm/theta.h"

/* === features =============================================================================== */

/* Utilities that are linear in features: u(s, a) = sum_k w_k f_k(s, a). */

/* Features of so many numbers, all 0, with weights of 0. */
idm_status idm_features_create(size_t numbers, const idm_labels *name, idm_features **ret_features,
                               idm_error *opt_error);
/* Takes NULL. */
void idm_features_destroy(idm_features *features);
/* Compute the numbers of a block from the weights of its features; nothing where it has none. */
void idm_features_apply(idm_block *block);
/* d/dw_k of a function whose derivatives with respect to the block's numbers are in `slope`. */
double idm_features_derivative(const idm_features *features, const idm_block *derivative, size_t k);
/* The feature whose weight a coordinate of a free block is. */
size_t idm_features_index(const idm_features *features, size_t coordinate);
/* Free the weights of a block's features that are not `held`, each a coordinate by its feature's
 * name. A number whose features of free weights are all 0 is held. */
idm_status idm_features_set_free(idm_block *block, idm_error *opt_error);
bool idm_features_same(const idm_features *a, const idm_features *b, size_t numbers);

/* === freedom ================================================================================ */

/* Free blocks: the prior taken where none is given. */

/* max - min of the utility over all variants; 1 where that says nothing. Kept within bounds so that
 * its inverse is sound. */
double idm_theta_utility_range(const idm_theta *theta);
/* The same of one variant. */
double idm_variant_utility_range(const idm_theta *theta, size_t variant);
/* What the default prior of a block scales with: that range, or 1 where the block is counted in it
 * already. */
double idm_problem_prior_range(const idm_problem *problem, size_t id);
/* Default priors once more, for utilities and units that may have changed. */
idm_status idm_problem_reset_priors(idm_problem *problem, idm_error *opt_error);
/* Give a free block the default prior of its descriptor and scale, for utilities of that range, and
 * note that it is the default. */
idm_status idm_theta_set_default_prior(idm_theta *theta, size_t id, double range,
                                       idm_error *opt_error);

/* The reference action of a block that is a contrast where none is chosen: the first whose numbers
 * are all 0, else the first. */
size_t idm_theta_reference(const idm_theta *theta, size_t id);
/* Let all numbers of a contrast move but those of the reference action and the constants.
 * IDM_INPUT where nothing is left. */
idm_status idm_theta_contrast(idm_theta *theta, const idm_setting *setting, size_t id,
                              size_t reference, idm_error *opt_error);
/* Let all numbers of a block move but one. IDM_INPUT where nothing is left. */
idm_status idm_theta_fix_one(idm_theta *theta, const idm_setting *setting, size_t id, size_t held,
                             idm_error *opt_error);
/* Size of a usual coordinate c of a free block: the spread of its default prior. What is small or
 * far is measured by it, so that nothing depends on the unit of the utilities. */
double idm_block_unit(const idm_block_info *info, idm_scale scale, double range);

/* === tie ==================================================================================== */

/* Ties: entries of distributions by row that share one free number.
 *
 * In every row that holds entries of a coordinate each of them is that number x, and what n of them
 * leave, 1 - n x, goes to the others by their shares: rows stay distributions, and what is 0 stays
 * 0. */

/* What a tied number stays below: 1 over the most entries of it that a row holds. */
double idm_tie_upper_bound(const idm_theta *theta, size_t id, int32_t coordinate);
/* Give it a value. */
void idm_tie_set_value(idm_theta *theta, size_t id, int32_t coordinate, double value);
/* The derivative by it, from those by the block's numbers. */
double idm_tie_derivative(const idm_theta *derivative, size_t id, int32_t coordinate);
/* Let coordinates that were filled in (-1: none) move: shares from the values as they are. The
 * block owns both from here on, also where memory is short. */
idm_status idm_tie_set_shares(idm_theta *theta, size_t id, int32_t *coordinate,
                              idm_error *opt_error);

#endif
