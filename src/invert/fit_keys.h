/* Keys of the settings of a fit, for every struct that contains them. */
#ifndef IDM_INVERT_FIT_KEYS_H
#define IDM_INVERT_FIT_KEYS_H

#include <math.h>

#include "base/key.h"
#include "idm/extension/fit_settings.h"

/* Words of idm_keep_likelihood. */
extern const char *const idm_keep_words[];

/* Words of idm_check_effort and of the other enumerated settings. */
extern const char *const idm_checks_words[];
extern const char *const idm_norm_words[];
extern const char *const idm_margin_words[];
extern const char *const idm_occupancy_words[];
extern const char *const idm_divergence_words[];

/* A key with a word, or with a number, for inverse planners that do not use the likelihood. */
#define IDM_FIT_WORD(base, field, value_name, help_text)                                           \
  {                                                                                                \
    .name = #field, .kind = IDM_KEY_ENUM, .offset = (base) + offsetof(idm_fit_settings, field),    \
    .words = idm_##field##_words, .value = value_name, .help = help_text, .later = true            \
  }
#define IDM_FIT_NUMBER(base, field, is_positive, help_text)                                        \
  {                                                                                                \
    .name = #field, .kind = IDM_KEY_NUMBER, .offset = (base) + offsetof(idm_fit_settings, field),  \
    .most = INFINITY, .above = is_positive, .infinite = is_positive, .value = "X",                 \
    .help = help_text, .later = true                                                               \
  }

/* One key. `base` is the offset of the settings within the struct that contains them. */
#define IDM_FIT_KEY(base, field, key_name, type, low, high, value_name, help_text)                 \
  {                                                                                                \
    .name = key_name, .kind = type, .offset = (base) + offsetof(idm_fit_settings, field),          \
    .least = low, .most = high, .value = value_name, .help = help_text                             \
  }

/* clang-format off */
#define IDM_FIT_KEYS(base)                                                                         \
  IDM_FIT_KEY(base, sampler, "sampler", IDM_KEY_TEXT, 0, sizeof((idm_fit_settings *)0)->sampler,   \
              "NAME", "one of `idm list samplers` (default: metropolis up to 4 free numbers, "     \
              "else nuts)"),                                                                       \
  IDM_FIT_KEY(base, chains, "chains", IDM_KEY_SIZE, 1, 1000, "N", "chains"),                       \
  IDM_FIT_KEY(base, draws, "draws", IDM_KEY_LONG, 1, 1e9, "N", "draws kept per chain"),            \
  IDM_FIT_KEY(base, warmup, "warmup", IDM_KEY_LONG, 0, 1e9, "N",                                   \
              "warm-up draws, which adapt the sampler"),                                           \
  IDM_FIT_KEY(base, thin, "thin", IDM_KEY_LONG, 0, 1e6, "N",                                       \
              "steps per draw (0: the sampler's default)"),                                        \
  {                                                                                                \
    .name = "depth", .kind = IDM_KEY_LONG,                                                         \
    .offset = (base) + offsetof(idm_fit_settings, depth), .most = 16, .value = "N",                \
    .help = "of nuts and hmc: at most 2^N - 1 steps per trajectory (0: the default)", .later = true        \
  },                                                                                               \
  IDM_FIT_KEY(base, seed, "seed", IDM_KEY_SEED, 0, 0, "SEED", "seed; chain i uses stream i"),      \
  {                                                                                                \
    .name = "log_likelihood", .kind = IDM_KEY_ENUM,                                                \
    .offset = (base) + offsetof(idm_fit_settings, keep), .words = idm_keep_words,                  \
    .value = "UNIT",                                                                               \
    .help = "log-likelihoods to keep in run.nc: by trajectory, by decision, or none"               \
  },                                                                                               \
  IDM_FIT_KEY(base, prior_draws, "prior_draws", IDM_KEY_SIZE, 0, 1e9, "N", "draws of the prior"),  \
  {                                                                                                \
    .name = "checks", .kind = IDM_KEY_ENUM,                                                        \
    .offset = (base) + offsetof(idm_fit_settings, checks), .words = idm_checks_words,              \
    .value = "WORD",                                                                               \
    .help = "checks that read the log after the fit: fast (as long as the fit took, 10 s at least), "\
            "full (all) or none", .place = true                                                    \
  },                                                                                               \
  IDM_FIT_WORD(base, norm, "P", "norm to minimise: 1, 2 or inf"),                                  \
  IDM_FIT_NUMBER(base, epsilon, false, "least margin of the demonstrator's actions over others"),  \
  IDM_FIT_WORD(base, margin, "WORD", "margin to maximise: by state, or of the return"),            \
  IDM_FIT_NUMBER(base, penalty, false, "weight of the penalty on absolute utilities"),             \
  IDM_FIT_NUMBER(base, bound, true, "the box: utilities lie between -X and X"),                    \
  {                                                                                                \
    .name = "lambda", .kind = IDM_KEY_NUMBER,                                                      \
    .offset = (base) + offsetof(idm_fit_settings, lambda), .most = INFINITY, .above = true,        \
    .infinite = true, .zero = "auto", .replaced_default = 100, .value = "X", .later = true,        \
    .help = "penalty 1/(2 X) on squared utilities; auto: by held-out decisions"                    \
  },                                                                                               \
  IDM_FIT_WORD(base, occupancy, "WORD",                                                            \
               "the demonstrator's occupancy, of its policy or of the log itself"),                \
  IDM_FIT_WORD(base, divergence, "WORD", "divergence between occupancies"),                        \
  IDM_FIT_NUMBER(base, entropy, false, "weight of the policy's entropy, per nat"),                 \
  IDM_FIT_NUMBER(base, loss_scale, false,                                                          \
                 "nats per effective decision and unit of the divergence (distribution-matching-bayes)"), \
  IDM_FIT_NUMBER(base, smoothing, false, "pseudo-counts by the action prior, added per state")
/* clang-format on */

#endif
