/* The parameter (theta): named blocks, each normative (clamped) or descriptive (free). */
#ifndef IDM_THETA_H
#define IDM_THETA_H

#include <stdint.h>

#include "idm/setting.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One list of blocks. Sizes, with S states, U actions, X observations, M models:
 * utility U*S ([action][state], one copy a variant), certainty 2 (above, award), discount, alpha,
 * beta, eta 1, temperature 1, action_prior U, model_prior M, belief_prior S (Dirichlet) or 0
 * (constant 1), transition M*U*S*S, emission M*U*S*X, weights U*(S+1) ([action][constant, then
 * states]). */
#define IDM_BLOCK_LIST(X)                                                                          \
  X(IDM_UTILITY, "utility", "utility by action and current state")                                 \
  X(IDM_CERTAINTY, "certainty", "award paid while the belief is certain")                          \
  X(IDM_DISCOUNT, "discount", "how much the next step counts")                                     \
  X(IDM_ALPHA, "alpha", "1/alpha is flexibility")                                                  \
  X(IDM_BETA, "beta", "1/beta is optimism")                                                        \
  X(IDM_ETA, "eta", "1/eta is adaptivity")                                                         \
  X(IDM_TEMPERATURE, "temperature", "softmax laid over a solved Q")                                \
  X(IDM_ACTION_PRIOR, "action_prior", "prior over actions")                                        \
  X(IDM_MODEL_PRIOR, "model_prior", "weights of the candidate models")                             \
  X(IDM_BELIEF_PRIOR, "belief_prior", "Dirichlet prior of successor beliefs")                      \
  X(IDM_TRANSITION, "transition", "transitions of the candidate models")                           \
  X(IDM_EMISSION, "emission", "emissions of the candidate models")                                 \
  X(IDM_WEIGHTS, "weights", "weights of a decision rule")

typedef enum idm_block_id {
#define IDM_BLOCK_ENUM(id, name, text) id,
  IDM_BLOCK_LIST(IDM_BLOCK_ENUM)
#undef IDM_BLOCK_ENUM
      IDM_BLOCK_COUNT
} idm_block_id;

typedef enum idm_role { IDM_NORMATIVE, IDM_DESCRIPTIVE } idm_role;

/* Coordinate in which a free block is inferred. */
#define IDM_SCALE_LIST(X)                                                                          \
  X(IDM_SCALE_IDENTITY, "identity")                                                                \
  X(IDM_SCALE_LOG, "log")                                                                          \
  X(IDM_SCALE_INVERSE, "inverse")                                                                  \
  X(IDM_SCALE_SIGNED_LOG, "signed-log")
typedef enum idm_scale {
#define IDM_SCALE_ENUM(id, name) id,
  IDM_SCALE_LIST(IDM_SCALE_ENUM)
#undef IDM_SCALE_ENUM
} idm_scale;

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

typedef struct idm_block {
  idm_role role;
  idm_scale scale;
  idm_prior prior;
  bool usual_prior; /* the default one: it follows the range of the utility */
  /* Which numbers of a free block move: number i follows coordinate[i], -1 is held at its value,
   * numbers of one coordinate are tied. NULL: each number moves by itself. */
  int32_t *coordinate;        /* [size], owned */
  idm_labels coordinate_name; /* their names, where `coordinate` is given */
  size_t size;                /* numbers a variant; 0: the block is absent */
  size_t variants;            /* copies, one a variant of the setting; 1 in the common case */
  double *value;              /* [variants][size], owned */
} idm_block;

typedef struct idm_theta {
  idm_sizes sizes;
  size_t models;
  idm_block block[IDM_BLOCK_COUNT];
} idm_theta;

/* Allocate a theta with every block of its usual size and neutral values: utility 0, certainty (1,
 * 0), discount .95, alpha 0, beta inf, eta 0, temperature 1, uniform priors, dynamics zero, no
 * Dirichlet, no weights. Every block is normative. */
IDM_API idm_status idm_theta_create(idm_sizes sizes, size_t models, idm_theta **ret_theta,
                                    idm_error *opt_error);
IDM_API void idm_theta_destroy(idm_theta *theta);
IDM_API idm_status idm_theta_copy(const idm_theta *theta, idm_theta **ret_theta,
                                  idm_error *opt_error);
/* Give a block another size or number of variants; values are zeroed. */
IDM_API idm_status idm_theta_resize(idm_theta *theta, idm_block_id id, size_t size, size_t variants,
                                    idm_error *opt_error);
/* Ranges, signs and sums of every block, against the setting: discount in [0,1) or 1 with a
 * horizon, eta finite, no NaN anywhere, priors that sum to 1. */
IDM_API idm_status idm_theta_validate(const idm_theta *theta, const idm_setting *setting,
                                      idm_error *opt_error);
/* Make every block normative, dropping scales, priors and coordinates. */
IDM_API void idm_theta_clamp(idm_theta *theta);
/* Numbers of a block for a variant (variant 0 where the block does not vary). */
IDM_API const double *idm_theta_values(const idm_theta *theta, idm_block_id id, size_t variant);
/* The first number of a block: for alpha, beta, eta, discount, temperature. */
IDM_API double idm_theta_scalar(const idm_theta *theta, idm_block_id id);
IDM_API void idm_theta_set_scalar(idm_theta *theta, idm_block_id id, double value);
/* Variants of the family: the largest number of any block. */
IDM_API size_t idm_theta_variants(const idm_theta *theta);

/* Words of the lists above, and back (-1 where unknown). */
IDM_API const char *idm_block_name(idm_block_id id);
IDM_API int idm_block_find(const char *name);
IDM_API const char *idm_scale_name(idm_scale scale);
IDM_API int idm_scale_find(const char *name);
IDM_API const char *idm_prior_name(idm_prior_kind kind);
IDM_API int idm_prior_find(const char *name);
/* Arguments a prior takes (-1: one an element). */
IDM_API int idm_prior_arguments(idm_prior_kind kind);

#ifdef __cplusplus
}
#endif
#endif
