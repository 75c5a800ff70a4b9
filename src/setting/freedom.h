/* Free blocks of theta: features, default priors and tied entries.
 *
 * Contents: features · freedom · tie */
#ifndef IDM_SETTING_FREEDOM_H
#define IDM_SETTING_FREEDOM_H

#include "idm/extension/problem.h"
#include "idm/extension/theta.h"

/* === features =============================================================================== */

/* Utilities that are linear in features: u(s, a) = sum_k w_k f_k(s, a). */

/* Features for a block of `numbers` numbers, all 0, with weights of 0. *ret_features is the
 * caller's. */
idm_status idm_features_create(size_t numbers, const idm_labels *name, idm_features **ret_features,
                               idm_error *opt_error);
/* Takes NULL. */
void idm_features_destroy(idm_features *features);
/* Compute the numbers of a block from the weights of its features; no effect where it has none. */
void idm_features_apply(idm_block *block);
/* d/dw_k of a function whose derivatives with respect to the numbers of the block are `derivative`.
 */
double idm_features_derivative(const idm_features *features, const idm_block *derivative, size_t k);
/* Index of the feature whose weight is the given coordinate of a free block. */
size_t idm_features_index(const idm_features *features, size_t coordinate);
/* Free the weights of a block's features that are not `fixed`; each is a coordinate with the name
 * of its feature. A number is fixed where all features with free weights are 0. */
idm_status idm_features_set_free(idm_block *block, idm_error *opt_error);
bool idm_features_same(const idm_features *a, const idm_features *b, size_t numbers);

/* === freedom ================================================================================ */

/* Free blocks: default priors and fixed reference numbers. */

/* max - min of the utility over all variants, limited to [1e-100, 1e100] so that its inverse is
 * finite; 1 where all utilities are equal. */
double idm_theta_utility_range(const idm_theta *theta);
/* The same for one variant. */
double idm_variant_utility_range(const idm_theta *theta, size_t variant);
/* Range that the default prior of a block is scaled by: that of the utility, or 1 where the block
 * is already relative to it. */
double idm_problem_prior_range(const idm_problem *problem, size_t id);
/* Set the default priors of all blocks again, after utilities or units changed. */
idm_status idm_problem_reset_priors(idm_problem *problem, idm_error *opt_error);
/* Give a free block the default prior of its descriptor and scale, for utilities of range `range`,
 * and mark it as the default. */
idm_status idm_theta_set_default_prior(idm_theta *theta, size_t id, double range,
                                       idm_error *opt_error);

/* Default reference action of a contrast: the first action whose numbers are all 0, else the first
 * action. */
size_t idm_theta_reference(const idm_theta *theta, size_t id);
/* Free all numbers of a contrast except those of the reference action and the constants. IDM_INPUT
 * where none remains. */
idm_status idm_theta_contrast(idm_theta *theta, const idm_setting *setting, size_t id,
                              size_t reference, idm_error *opt_error);
/* Free all numbers of a block except number `held`. IDM_INPUT where none remains. */
idm_status idm_theta_fix_one(idm_theta *theta, const idm_setting *setting, size_t id, size_t held,
                             idm_error *opt_error);
/* Unit of a coordinate of a free block: the scale of its default prior. Step sizes and distances
 * are relative to it, so that they do not depend on the unit of the utilities. */
double idm_block_unit(const idm_block_info *info, idm_scale scale, double range);

/* === tie ==================================================================================== */

/* Ties: entries of rows of distributions that share one free number.
 *
 * In a row with n entries of a coordinate, each of these entries equals the number x, and the
 * remainder 1 - n x is divided among the other entries by their shares. Rows remain distributions,
 * and entries of 0 remain 0. */

/* Upper bound of a tied number: 1 over the largest number of its entries in a row. */
double idm_tie_upper_bound(const idm_theta *theta, size_t id, int32_t coordinate);
/* Set the entries of a tied number to `value`, and the other entries of its rows to their shares.
 */
void idm_tie_set_value(idm_theta *theta, size_t id, int32_t coordinate, double value);
/* Derivative with respect to a tied number, from those with respect to the numbers of the block. */
double idm_tie_derivative(const idm_theta *derivative, size_t id, int32_t coordinate);
/* Make coordinates free that the caller has filled in (-1: none); the shares are those of the
 * current values. The block owns `coordinate` and the shares from here on, even after an error. */
idm_status idm_tie_set_shares(idm_theta *theta, size_t id, int32_t *coordinate,
                              idm_error *opt_error);

#endif
