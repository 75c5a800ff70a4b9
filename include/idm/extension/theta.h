/* The parameter (theta): named blocks, each normative (fixed) or descriptive (free). */
#ifndef IDM_EXTENSION_THETA_H
#define IDM_EXTENSION_THETA_H

#include <stdint.h>

#include "idm/extension/block.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum idm_role { IDM_NORMATIVE, IDM_DESCRIPTIVE } idm_role;

/* Prior distributions with their number of arguments (-1: one per element). */
#define IDM_PRIOR_LIST(X)                                                                          \
  X(IDM_PRIOR_FLAT, "flat", 0)                                                                     \
  X(IDM_PRIOR_NORMAL, "normal", 2)                                                                 \
  X(IDM_PRIOR_LOGNORMAL, "lognormal", 2)                                                           \
  X(IDM_PRIOR_HALFNORMAL, "halfnormal", 1)                                                         \
  X(IDM_PRIOR_UNIFORM, "uniform", 2)                                                               \
  X(IDM_PRIOR_EXPONENTIAL, "exponential", 1)                                                       \
  X(IDM_PRIOR_GAMMA, "gamma", 2)                                                                   \
  X(IDM_PRIOR_BETA, "beta", 2)                                                                     \
  X(IDM_PRIOR_DIRICHLET, "dirichlet", -1)
typedef enum idm_prior_kind {
#define IDM_PRIOR_ENUM(id, name, arguments) id,
  IDM_PRIOR_LIST(IDM_PRIOR_ENUM)
#undef IDM_PRIOR_ENUM
} idm_prior_kind;

/* A prior, stated in the coordinate of the block's scale. */
typedef struct idm_prior {
  idm_prior_kind kind;
  size_t count;     /* number of arguments */
  double *argument; /* [count], owned; NULL for flat */
} idm_prior;

/* Hierarchical prior of a block (docs/reference/people.md). 0: derived from the block's prior. */
typedef struct idm_population {
  double sd;          /* scale of the half-normal prior of the sd between people */
  double coefficient; /* sd of the normal prior of a coefficient */
} idm_population;

/* Features of a linear utility: number i is the sum over k of weight[k] * value[i][k]. */
typedef struct idm_features {
  idm_labels name; /* [feature] */
  double *value;   /* [number][feature], owned */
  double *weight;  /* [feature], owned */
  bool *fixed;     /* [feature], owned: weights of a free block that are fixed; NULL: none */
} idm_features;

typedef struct idm_block {
  const idm_block_info *info; /* borrowed: of the shared table, or of the planner */
  idm_role role;
  idm_scale scale;
  idm_prior prior;
  bool default_prior; /* the prior is the default, which depends on the range of the utility */
  idm_population population;
  /* Free coordinates of a free block: coordinate[i] is the index for number i; -1: fixed; numbers
   * with the same index are tied. NULL: every number is its own coordinate. */
  int32_t *coordinate;        /* [size], owned */
  idm_labels coordinate_name; /* names of the coordinates, if `coordinate` is given */
  /* Of a `tied` block: number i takes this fraction of the probability that the entries with a
   * coordinate leave in their row; 0 for these entries, and in rows without any. NULL otherwise. */
  double *share; /* [size], owned */
  /* Of a linear utility; NULL otherwise. The coordinates of a free one are the weights that are not
   * fixed, in order, and `coordinate` is 0 for numbers that depend on them. Owned. */
  idm_features *features;
  size_t size;     /* numbers per variant; 0: the block is absent */
  size_t variants; /* copies, one per variant of the setting; usually 1 */
  double *value;   /* [variants][size], owned */
} idm_block;

typedef struct idm_theta {
  idm_sizes sizes;
  size_t models;
  size_t blocks;    /* IDM_BLOCK_COUNT shared blocks, then those of the planner */
  idm_block *block; /* [blocks] */
} idm_theta;

/* Index of the block of that name, or -1. */
IDM_API int idm_theta_find(const idm_theta *theta, const char *name);
/* Free a theta. Accepts NULL. */
IDM_API void idm_theta_destroy(idm_theta *theta);
/* Deep copy of a theta. *ret_theta is owned by the caller. */
IDM_API idm_status idm_theta_copy(const idm_theta *theta, idm_theta **ret_theta,
                                  idm_error *opt_error);
/* Change the size or the number of variants of a block; its values are set to 0. IDM_USAGE if `id`
 * is out of range. */
IDM_API idm_status idm_theta_resize(idm_theta *theta, size_t id, size_t size, size_t variants,
                                    idm_error *opt_error);
/* Values of a block for a variant (variant 0 if the block has one copy). Borrowed; NULL if `id` is
 * out of range. */
IDM_API const double *idm_theta_values(const idm_theta *theta, size_t id, size_t variant);
/* Additional rows of a block, after its fields: [count][action][state]. A host program adds rows by
 * idm_theta_resize, to the number of fields plus rows times actions times states. Borrowed; NULL if
 * the block has no such rows. */
IDM_API const double *idm_theta_rows(const idm_theta *theta, size_t id, size_t *ret_count);
/* First number of a block; NaN if `id` is out of range. */
IDM_API double idm_theta_scalar(const idm_theta *theta, size_t id);
/* Set the first number of a block. No effect if `id` is out of range. */
IDM_API void idm_theta_set_scalar(idm_theta *theta, size_t id, double value);
/* Copy the numbers of one theta into another of the same form; no effect if the forms differ. */
IDM_API void idm_theta_assign(idm_theta *theta, const idm_theta *from);
/* Set every number to 0. */
IDM_API void idm_theta_clear(idm_theta *theta);
/* Number of variants: the maximum over all blocks. */
IDM_API size_t idm_theta_variants(const idm_theta *theta);

#ifdef __cplusplus
}
#endif
#endif
