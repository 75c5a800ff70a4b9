/* The settings of a fit: defaults, keys, the paper's scheme; and work under way. */
#include "invert/settings.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/door.h"
#include "base/parallel.h"

const char *const idm_keep_words[] = {"none", "trajectory", "decision", NULL};
const char *const idm_checks_words[] = {"fast", "full", "none", NULL};
const char *const idm_norm_words[] = {"1", "2", "inf", NULL};
const char *const idm_margin_words[] = {"state", "return", NULL};
const char *const idm_occupancy_words[] = {"policy", "empirical", NULL};
const char *const idm_divergence_words[] = {"kl",   "reverse-kl", "js", "tv",
                                            "chi2", "squared",    NULL};

const idm_key *idm_fit_keys(void)
{
  static const idm_key keys[] = {IDM_FIT_KEYS(0), {0}};
  return keys;
}

double idm_effort_seconds(idm_effort effort, double seconds)
{
  static const double least = 10;
  return effort == IDM_CHECKS_FULL ? 0 : effort == IDM_CHECKS_NONE ? -1 : fmax(seconds, least);
}

void idm_fit_settings_default(idm_fit_settings *settings)
{
  if (!settings) return;
  *settings = (idm_fit_settings){.chains = 4,
                                 .draws = 1000,
                                 .warmup = 1000,
                                 .seed = 1,
                                 .threads = idm_processors(),
                                 .keep = IDM_KEEP_TRAJECTORY,
                                 .prior_draws = 1000,
                                 .bound = 1,
                                 .loss_scale = 1,
                                 .smoothing = 1};
}

void idm_fit_settings_plain(idm_fit_settings *settings)
{
  if (!settings) return;
  settings->chains = 1;
  settings->warmup = 100;
  settings->draws = 1000;
  settings->thin = 10;
}

void idm_problem_flatten(idm_problem *problem)
{
  if (!problem) return;
  for (size_t i = 0; i < problem->theta->blocks; i++) {
    idm_block *block = &problem->theta->block[i];
    if (block->role != IDM_DESCRIPTIVE) continue;
    free(block->prior.argument);
    block->prior = (idm_prior){.kind = IDM_PRIOR_FLAT};
    block->usual_prior = false;
    if (i == IDM_ALPHA || i == IDM_BETA || i == IDM_ETA) block->scale = IDM_SCALE_LOG;
  }
}
