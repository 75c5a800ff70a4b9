/* The settings of a fit: defaults and keys. */
#include "invert/settings.h"

#include <stddef.h>

#include "base/parallel.h"

const char *const idm_keep_words[] = {"none", "trajectory", "decision", NULL};

const idm_key *idm_fit_keys(void)
{
  static const idm_key keys[] = {IDM_FIT_KEYS(0), {0}};
  return keys;
}

void idm_fit_settings_default(idm_fit_settings *settings)
{
  *settings = (idm_fit_settings){.chains = 4,
                                 .draws = 1000,
                                 .warmup = 1000,
                                 .seed = 1,
                                 .threads = idm_processors(),
                                 .keep = IDM_KEEP_TRAJECTORY,
                                 .prior_draws = 1000};
}
