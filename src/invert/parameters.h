/* The free part of theta as a vector, and its prior.
 *
 * Contents: parameters · parameter prior */
#ifndef IDM_INVERT_PARAMETERS_H
#define IDM_INVERT_PARAMETERS_H

#include "idm/extension/parameters.h"

/* === parameters ============================================================================= */

/* Free part of theta as a vector: one item per free number, free distribution or opaque block. */

struct idm_cancel;

/* Largest number of outcomes of a free distribution; its scratch arrays are on the stack. */
enum { IDM_MAX_OUTCOMES = 256 };

typedef struct parameter {
  size_t block;  /* of theta */
  bool simplex;  /* a distribution: `size` numbers, `size` - 1 coordinates */
  bool opaque;   /* a block of unnamed numbers, each with the block's prior */
  size_t size;   /* numbers */
  int32_t entry; /* coordinate of the block; -1: the number at `offset` alone */
  size_t offset; /* index in the block, if entry is -1; of a distribution, the index of its first
                    number */
  const uint32_t *outcome; /* [size]: columns of the possible outcomes of a row of dynamics; NULL:
                              all columns */
  const uint32_t *copy;    /* [copies]: first numbers of further rows that equal this one */
  size_t copies;
  idm_scale scale;
  const idm_prior *prior; /* borrowed from the parameters' own theta */
  double lower;           /* lower end of the support of c */
  double upper;
  bool truncated[2]; /* below, above: the prior's support is narrower than the block's */
  size_t first;      /* index of the first coordinate in y */
  size_t quantity;   /* index of the first reported number */
} parameter;

/* true if the item is one number, with a coordinate, a profile and a component of a ridge. */
static inline bool idm_parameter_is_scalar(const parameter *item)
{
  return !item->simplex && !item->opaque;
}

struct idm_parameters {
  idm_theta *theta; /* own copy, with roles, priors and coordinates */
  size_t items;
  parameter *item;
  size_t dimension;
  size_t numbers;        /* reported numbers, over all quantities */
  idm_labels coordinate; /* opaque items come last and have one name each */
  idm_labels quantity;   /* likewise */
  bool *summarised;      /* [quantity] */
  double range;          /* range of the utility */
  double alpha_range;    /* range of the utility, or 1 if alpha is given in units of the range */
  uint32_t *place;       /* storage of `outcome` and `copy` of the items */
  struct idm_cancel
      *cancel; /* borrowed; request to stop evaluations with these parameters; NULL: none */
};

/* unit[dimension]: typical size of a change of y, from the prior's standard deviation if it is
 * finite, otherwise from the range of the utility. */
void idm_parameters_units(const idm_parameters *parameters, double *unit);
/* true if a free multiplier is so small relative to the utilities that choices depend on rounding:
 * behaviour is then that of the limit 0, and computed probabilities are noise. */
bool idm_parameters_degenerate(const idm_parameters *parameters, const idm_theta *theta);

/* Returns c of the first number of an item that is not a distribution, at y[dimension], and dc/dy.
 */
double idm_parameter_coordinate(const parameter *item, const double *y, double *opt_derivative);
/* Returns the natural value of a scalar item at y[dimension], and its derivative with respect to y.
 */
double idm_parameter_natural(const parameter *item, const double *y, double *opt_derivative);
/* Name of that c, such as "log_alpha", "inverse_beta" or "eta". Writes to buffer and returns it. */
const char *idm_parameter_name(const idm_parameters *parameters, const parameter *item,
                               char *buffer, size_t size);
/* Display prefix of a number on its scale: "log ", "1/" or "". */
const char *idm_scale_display_prefix(idm_scale scale);
/* Write the natural value of a scalar item into theta. */
void idm_parameter_write(idm_theta *theta, const parameter *item, double value);
/* Index of the quantity that summarises a scalar item: c if the scale is inverse or signed-log,
 * otherwise the natural value. */
size_t idm_parameter_reported(const parameter *item);
/* Value of that quantity at coordinate y of the item. An infinite y gives the end of the support.
 */
double idm_parameter_reported_at(const parameter *item, double y);

/* === parameter prior ======================================================================== */

/* Prior over the free numbers. */

/* Log of the integral of exp(idm_parameters_log_prior). It is 0 unless a block's support truncates
 * a prior or a prior is flat on a bounded interval. The log density of idm_parameters_draw is the
 * log prior minus this value. */
double idm_parameters_log_mass(const idm_parameters *parameters);

#endif
