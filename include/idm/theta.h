/* The parameter (theta): named blocks, each normative (clamped) or descriptive (free). */
#ifndef IDM_THETA_H
#define IDM_THETA_H

#include <stdint.h>

#include "idm/block.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum idm_role { IDM_NORMATIVE, IDM_DESCRIPTIVE } idm_role;

/* Priors with their number of arguments (-1: one an element). */
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
  size_t count;     /* arguments given */
  double *argument; /* [count], owned; NULL for flat */
} idm_prior;

/* People of a population, each with a number of their own (see idm/people.h). 0: not given, and the
 * block's prior says it. */
typedef struct idm_population {
  double sd;          /* scale of the half-normal prior of the sd between people */
  double coefficient; /* sd of the normal prior of a coefficient */
} idm_population;

/* Features that a utility is linear in: number i is the sum over k of weight[k] times
 * value[i][k]. */
typedef struct idm_features {
  idm_labels name; /* [feature] */
  double *value;   /* [number][feature], owned */
  double *weight;  /* [feature], owned */
  bool *fixed;     /* [feature], owned: of a free block, weights that stay; NULL: none */
} idm_features;

typedef struct idm_block {
  const idm_block_info *info; /* borrowed: of the shared table, or of the planner */
  idm_role role;
  idm_scale scale;
  idm_prior prior;
  bool default_prior; /* the default one: it follows the range of the utility */
  idm_population population;
  /* Which numbers of a free block move: number i follows coordinate[i], -1 is held at its value,
   * numbers of one coordinate are tied. NULL: each number moves by itself. */
  int32_t *coordinate;        /* [size], owned */
  idm_labels coordinate_name; /* their names, where `coordinate` is given */
  /* Of a `tied` block: what number i takes of what the entries of a coordinate leave in their row;
   * 0 for those entries, and in rows that hold none. NULL elsewhere. */
  double *share; /* [size], owned */
  /* Of a utility that is linear in features; NULL elsewhere. Coordinates of a free one are the
   * weights that are not held, in order, and `coordinate` is 0 for numbers that move with them.
   * Owned. */
  idm_features *features;
  size_t size;     /* numbers a variant; 0: the block is absent */
  size_t variants; /* copies, one a variant of the setting; 1 in the common case */
  double *value;   /* [variants][size], owned */
} idm_block;

typedef struct idm_theta {
  idm_sizes sizes;
  size_t models;
  size_t blocks;    /* IDM_BLOCK_COUNT shared ones, then those of the planner */
  idm_block *block; /* [blocks] */
} idm_theta;

/* Allocate a theta with the shared blocks, each of its usual size with its default values (dynamics
 * zero, optional blocks absent). Every block is normative. */
IDM_API idm_status idm_theta_create(idm_sizes sizes, size_t models, idm_theta **ret_theta,
                                    idm_error *opt_error);
/* The same for an agent whose only model is the moves of its setting: without matrices. */
IDM_API idm_status idm_theta_create_sparse(idm_sizes sizes, idm_theta **ret_theta,
                                           idm_error *opt_error);
/* Put a planner's own blocks, with their default values, in place of those of another; the
 * descriptors are borrowed (NULL with a count of 0). Blocks that stay the same keep what they hold.
 */
IDM_API idm_status idm_theta_set_own_blocks(idm_theta *theta, const idm_block_info *opt_own,
                                            size_t count, idm_error *opt_error);
/* Index of the block of that name, or -1. */
IDM_API int idm_theta_find(const idm_theta *theta, const char *name);
IDM_API void idm_theta_destroy(idm_theta *theta);
IDM_API idm_status idm_theta_copy(const idm_theta *theta, idm_theta **ret_theta,
                                  idm_error *opt_error);
/* Give a block another size or number of variants; values are zeroed. */
IDM_API idm_status idm_theta_resize(idm_theta *theta, size_t id, size_t size, size_t variants,
                                    idm_error *opt_error);
/* Sizes, ranges and sums of every block as its descriptor asks, against the setting; the discount
 * below 1, or 1 with a horizon. */
IDM_API idm_status idm_theta_validate(const idm_theta *theta, const idm_setting *setting,
                                      idm_error *opt_error);
/* Make every block normative, dropping scales, priors and coordinates. */
IDM_API void idm_theta_clamp(idm_theta *theta);
/* Numbers of a block for a variant (variant 0 where the block does not vary). */
IDM_API const double *idm_theta_values(const idm_theta *theta, size_t id, size_t variant);
/* Rows of a block that holds rows in addition to its fields, [count][action][state]; a host gives
 * it some by idm_theta_resize, to as many numbers as it has fields and rows times actions and
 * states. */
IDM_API const double *idm_theta_rows(const idm_theta *theta, size_t id, size_t *ret_count);
/* The first number of a block. */
IDM_API double idm_theta_scalar(const idm_theta *theta, size_t id);
IDM_API void idm_theta_set_scalar(idm_theta *theta, size_t id, double value);
/* The name of the first block in which two thetas differ in form (descriptor, size, variants); NULL
 * where they are alike. */
IDM_API const char *idm_theta_form_mismatch(const idm_theta *a, const idm_theta *b);
/* Copy the numbers of one theta into another of the same form; nothing where the forms differ. */
IDM_API void idm_theta_assign(idm_theta *theta, const idm_theta *from);
/* Set every number to 0. */
IDM_API void idm_theta_clear(idm_theta *theta);
/* Variants of the family: the largest number of any block. */
IDM_API size_t idm_theta_variants(const idm_theta *theta);

/* Words of the list of priors, and back (-1 where unknown). */
IDM_API const char *idm_prior_name(idm_prior_kind kind);
IDM_API int idm_prior_find(const char *name);
/* Arguments a prior takes (-1: one an element). */
IDM_API int idm_prior_arguments(idm_prior_kind kind);
/* The default prior of a block on its usual scale, R being the range of the utility, as in
 * "normal(log(R/20), 2)"; empty where it cannot be free. Returns buffer. */
IDM_API const char *idm_block_prior_text(const idm_block_info *info, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
