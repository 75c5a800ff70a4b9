/* Free blocks: their families and default priors. */
#include "setting/freedom.h"

#include <math.h>

#include "base/memory.h"

idm_family idm_block_family(idm_block_id id)
{
  switch (id) {
  case IDM_ALPHA:
  case IDM_BETA:
  case IDM_ETA:
    return IDM_FAMILY_REAL;
  case IDM_TEMPERATURE:
    return IDM_FAMILY_POSITIVE;
  case IDM_UTILITY:
    return IDM_FAMILY_WORTH;
  case IDM_DISCOUNT:
    return IDM_FAMILY_FRACTION;
  case IDM_ACTION_PRIOR:
  case IDM_MODEL_PRIOR:
    return IDM_FAMILY_SIMPLEX;
  case IDM_WEIGHTS:
    return IDM_FAMILY_LINEAR;
  default:
    return IDM_FAMILY_CLAMPED;
  }
}

double idm_theta_range(const idm_theta *theta)
{
  const idm_block *utility = &theta->block[IDM_UTILITY];
  double low = INFINITY;
  double high = -INFINITY;
  for (size_t i = 0; i < utility->size * utility->variants; i++) {
    low = fmin(low, utility->value[i]);
    high = fmax(high, utility->value[i]);
  }
  const double range = high - low;
  return range > 0 ? fmin(fmax(range, 1e-100), 1e100) : 1;
}

/* The default priors, in the coordinate of the scale, with R the range of the utility. A decision
 * maker whose alpha is R/20 is close to the best action but not locked to it; 1/beta = 20/R is
 * strong optimism.
 *
 *              identity          log                    inverse              signed-log
 *   REAL       normal 0, R       normal log(R/20), 2    normal 0, 20/R       normal 0, log(1+R)
 *   POSITIVE   halfnormal R      normal log(R/20), 2    exponential R/20     halfnormal log(1+R)
 *   WORTH      normal 0, 2R                                                  normal 0, log(1+2R)
 *   FRACTION   beta 1, 1
 *   SIMPLEX    dirichlet 1, 1, ...
 *   LINEAR     normal 0, 5                                                   normal 0, log(6) */
idm_status idm_theta_default_prior(idm_theta *theta, idm_block_id id, double range,
                                   idm_error *opt_error)
{
  const idm_family family = idm_block_family(id);
  const double R = range;
  idm_block *block = &theta->block[id];
  const double spread = family == IDM_FAMILY_WORTH ? 2 * R : family == IDM_FAMILY_LINEAR ? 5 : R;
  const bool positive = family == IDM_FAMILY_POSITIVE;
  idm_prior_kind kind = IDM_PRIOR_NORMAL;
  double first = 0;
  double second = spread;
  if (family == IDM_FAMILY_FRACTION) {
    kind = IDM_PRIOR_BETA;
    first = second = 1;
  } else if (family == IDM_FAMILY_SIMPLEX) {
    kind = IDM_PRIOR_DIRICHLET;
  } else if (block->scale == IDM_SCALE_LOG) {
    first = log(R / 20);
    second = 2;
  } else if (block->scale == IDM_SCALE_INVERSE) {
    kind = positive ? IDM_PRIOR_EXPONENTIAL : kind;
    first = positive ? R / 20 : 0;
    second = 20 / R;
  } else {
    if (block->scale == IDM_SCALE_SIGNED_LOG) second = log1p(spread);
    kind = positive ? IDM_PRIOR_HALFNORMAL : kind;
    first = positive ? second : 0;
  }
  const int arguments = idm_prior_arguments(kind);
  const size_t count = arguments < 0 ? block->size : (size_t)arguments;
  double *argument = idm_new(count, sizeof *argument);
  if (!argument) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count; i++)
    argument[i] = kind == IDM_PRIOR_DIRICHLET ? 1 : i == 0 ? first : second;
  free(block->prior.argument);
  block->prior = (idm_prior){kind, count, argument};
  block->usual_prior = true;
  return IDM_OK;
}
