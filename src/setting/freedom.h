/* Free blocks: what kind of number each is, and the prior taken where none is given. */
#ifndef IDM_SETTING_FREEDOM_H
#define IDM_SETTING_FREEDOM_H

#include "idm/theta.h"

/* What a block is, which decides its scales and its default prior. */
typedef enum idm_family {
  IDM_FAMILY_CLAMPED,  /* cannot be free */
  IDM_FAMILY_REAL,     /* alpha, beta, eta: real, in the units of utility */
  IDM_FAMILY_POSITIVE, /* temperature: positive, in the units of utility */
  IDM_FAMILY_WORTH,    /* utility: real entries */
  IDM_FAMILY_FRACTION, /* discount: in [0, 1] */
  IDM_FAMILY_SIMPLEX,  /* action_prior, model_prior: a distribution */
  IDM_FAMILY_LINEAR,   /* weights of a decision rule: real entries without units */
} idm_family;

idm_family idm_block_family(idm_block_id id);
/* max - min of the utility over all variants; 1 where that says nothing. Kept within bounds so that
 * its inverse is sound. */
double idm_theta_range(const idm_theta *theta);
/* Give a free block the default prior of its family and scale, for utilities of that range, and
 * note that it is the default. */
idm_status idm_theta_default_prior(idm_theta *theta, idm_block_id id, double range,
                                   idm_error *opt_error);

#endif
