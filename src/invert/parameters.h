/* The free part of theta as a vector, and its prior.
 *
 * Contents: parameters · parameter prior */
#ifndef IDM_INVERT_PARAMETERS_H
#define IDM_INVERT_PARAMETERS_H

#include "idm/parameters.h"

/* === parameters ============================================================================= */

/* The free part of theta as a vector: one item a free number, a free distribution, or an opaque
 * block. */

struct idm_cancel;

/* Outcomes of a free distribution: its scratch is on the stack. */
enum { IDM_MAX_OUTCOMES = 256 };

typedef struct parameter {
  size_t block;            /* of theta */
  bool simplex;            /* a whole distribution: size numbers, size - 1 coordinates */
  bool opaque;             /* a whole block of unnamed numbers, each with the block's prior */
  size_t size;             /* numbers */
  int32_t entry;           /* coordinate of the block that this is; -1: number `offset` alone */
  size_t offset;           /* number of the block, where entry is -1; first one of a distribution */
  const uint32_t *outcome; /* [size]: of a row of dynamics what is possible in it, by its place in
                              the row; NULL: everything */
  const uint32_t *copy;    /* [copies]: first numbers of further rows that are the same one */
  size_t copies;
  idm_scale scale;
  const idm_prior *prior; /* borrowed from the parameters' own theta */
  double lower;           /* support of c */
  double upper;
  bool truncated[2]; /* below, above: the prior ends where the numbers of the block need not */
  size_t first;      /* first coordinate in y */
  size_t quantity;   /* first number reported */
} parameter;

/* Whether an item is one number, that has a coordinate, a profile and a place in a ridge. */
static inline bool idm_parameter_is_scalar(const parameter *item)
{
  return !item->simplex && !item->opaque;
}

struct idm_parameters {
  idm_theta *theta; /* own copy: roles, priors, coordinates */
  size_t items;
  parameter *item;
  size_t dimension;
  size_t numbers;            /* reported, over all quantities */
  idm_labels coordinate;     /* opaque items, which come last, have one name for all */
  idm_labels quantity;       /* the same */
  bool *summarised;          /* [quantity] */
  double range;              /* of the utility */
  double alpha_range;        /* the same, or 1 where alpha is in units of it */
  uint32_t *place;           /* what outcomes and copies of items are parts of */
  struct idm_cancel *cancel; /* borrowed: who may stop what is evaluated by them; NULL: nobody */
};

/* unit[dimension]: size of a usual change of y, by the priors or, where they say nothing, by the
 * range of the utility. */
void idm_parameters_units(const idm_parameters *parameters, double *unit);
/* Whether a free multiplier is so small beside the utilities that choices hang on rounding: such
 * behaviour is that of the limit 0, and its probabilities are noise. */
bool idm_parameters_degenerate(const idm_parameters *parameters, const idm_theta *theta);

/* c of the first number of an item that is no distribution at y[dimension], and dc/dy. */
double idm_parameter_coordinate(const parameter *item, const double *y, double *opt_derivative);
/* The natural value of a scalar item at y[dimension], and its derivative by y. */
double idm_parameter_natural(const parameter *item, const double *y, double *opt_derivative);
/* What that c is called: "log_alpha", "inverse_beta", "eta". Into buffer, which is returned. */
const char *idm_parameter_name(const idm_parameters *parameters, const parameter *item,
                               char *buffer, size_t size);
/* What stands before the name of a number when its coordinate is spoken of: "log ", "1/", "". */
const char *idm_scale_display_prefix(idm_scale scale);
/* Write the natural value of a scalar item into theta. */
void idm_parameter_write(idm_theta *theta, const parameter *item, double value);
/* The quantity of a scalar item that is summarised: c where the scale is inverse or signed-log,
 * else natural. */
size_t idm_parameter_reported(const parameter *item);
/* That quantity at coordinate y of the item, which may be infinite: the end of its support. */
double idm_parameter_reported_at(const parameter *item, double y);

/* === parameter prior ======================================================================== */

/* The prior over free numbers. */

/* log of the integral of exp(idm_parameters_log_prior): 0 but where a block's own support cuts a
 * prior off, or a prior is flat between two ends. The density of idm_parameters_draw is less by it.
 */
double idm_parameters_log_mass(const idm_parameters *parameters);

#endif
