/* Utilities that are linear in features: u(s, a) = sum_k w_k f_k(s, a). */
#ifndef IDM_SETTING_FEATURES_H
#define IDM_SETTING_FEATURES_H

#include "idm/problem.h"

/* Features of so many numbers, all 0, with weights of 0. */
idm_status idm_features_create(size_t numbers, const idm_labels *name, idm_features **ret_features,
                               idm_error *opt_error);
/* Takes NULL. */
void idm_features_destroy(idm_features *features);
idm_status idm_features_copy(const idm_features *features, size_t numbers,
                             idm_features **ret_features, idm_error *opt_error);
/* Compute the numbers of a block from the weights of its features; nothing where it has none. */
void idm_features_apply(idm_block *block);
/* d/dw_k of a function whose derivatives with respect to the block's numbers are in `slope`. */
double idm_features_slope(const idm_features *features, const idm_block *slope, size_t k);
/* The feature whose weight a coordinate of a free block is. */
size_t idm_features_place(const idm_features *features, size_t coordinate);
/* Free the weights of a block's features that are not `held`, each a coordinate by its feature's
 * name. A number whose features of free weights are all 0 is held. */
idm_status idm_features_free(idm_block *block, idm_error *opt_error);
bool idm_features_same(const idm_features *a, const idm_features *b, size_t numbers);

#endif
