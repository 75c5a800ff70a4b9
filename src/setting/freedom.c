/* Free blocks: their default priors. */
#include "setting/freedom.h"

#include <math.h>

#include "base/memory.h"

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

/* The default priors, in the coordinate of the scale, with S the spread of the descriptor (times
 * the range of the utility, where it is in its units). A decision maker whose alpha is a twentieth
 * of the range is close to the best action but not locked to it; 1/beta = 20/S is strong optimism.
 *
 *                  identity          log                    inverse            signed-log
 *   real           normal 0, S       normal log(S/20), 2    normal 0, 20/S     normal 0, log(1+S)
 *   not negative   halfnormal S      normal log(S/20), 2    exponential S/20   halfnormal log(1+S)
 *   fraction       beta 1, 1
 *   distribution   dirichlet 1, 1, ... */
idm_status idm_theta_default_prior(idm_theta *theta, size_t id, double range, idm_error *opt_error)
{
  idm_block *block = &theta->block[id];
  const idm_block_info *info = block->info;
  const double S = info->spread * (info->in_utility ? range : 1);
  const bool positive = info->support == IDM_NOT_NEGATIVE || info->support == IDM_POSITIVE;
  idm_prior_kind kind = IDM_PRIOR_NORMAL;
  double first = 0;
  double second = S;
  if (info->support == IDM_FRACTION) {
    kind = IDM_PRIOR_BETA;
    first = second = 1;
  } else if (info->support == IDM_DISTRIBUTION) {
    kind = IDM_PRIOR_DIRICHLET;
  } else if (block->scale == IDM_SCALE_LOG) {
    first = log(S / 20);
    second = 2;
  } else if (block->scale == IDM_SCALE_INVERSE) {
    kind = positive ? IDM_PRIOR_EXPONENTIAL : kind;
    first = positive ? S / 20 : 0;
    second = 20 / S;
  } else {
    if (block->scale == IDM_SCALE_SIGNED_LOG) second = log1p(S);
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
