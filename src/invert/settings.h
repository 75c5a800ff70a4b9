/* The settings of a fit as keys, for every struct that holds them. */
#ifndef IDM_INVERT_SETTINGS_H
#define IDM_INVERT_SETTINGS_H

#include <math.h>

#include "idm/settings.h"

/* What idm_keep_likelihood is called. */
extern const char *const idm_keep_words[];

/* Those of idm_check_effort, and of its other words. */
extern const char *const idm_checks_words[];
extern const char *const idm_norm_words[];
extern const char *const idm_margin_words[];
extern const char *const idm_occupancy_words[];
extern const char *const idm_divergence_words[];

/* A word, or a number, of inverse planners that do not go by the likelihood. */
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

/* One key. `base` is where the settings lie in their struct. */
#define IDM_FIT_KEY(base, field, key_name, type, low, high, value_name, help_text)                 \
  {                                                                                                \
    .name = key_name, .kind = type, .offset = (base) + offsetof(idm_fit_settings, field),          \
    .least = low, .most = high, .value = value_name, .help = help_text                             \
  }

/* clang-format off */
#define IDM_FIT_KEYS(base)                                                                         \
  IDM_FIT_KEY(base, sampler, "sampler", IDM_KEY_TEXT, 0, sizeof((idm_fit_settings *)0)->sampler,   \
              "NAME", "one of `idm list samplers` (default: metropolis up to 4 free numbers, "      \
              "else nuts)"),                                                              \
  IDM_FIT_KEY(base, chains, "chains", IDM_KEY_SIZE, 1, 1000, "N", "chains"),                       \
  IDM_FIT_KEY(base, draws, "draws", IDM_KEY_LONG, 1, 1e9, "N", "draws kept of each chain"),        \
  IDM_FIT_KEY(base, warmup, "warmup", IDM_KEY_LONG, 0, 1e9, "N",                                   \
              "draws that adapt the sampler first"),                                               \
  IDM_FIT_KEY(base, thin, "thin", IDM_KEY_LONG, 0, 1e6, "N",                                       \
              "steps a draw (0: the sampler's own)"),                                              \
  {                                                                                                \
    .name = "depth", .kind = IDM_KEY_LONG,                                                         \
    .offset = (base) + offsetof(idm_fit_settings, depth), .most = 16, .value = "N",                \
    .help = "of nuts: at most 2^N - 1 steps per trajectory (0: the sampler's own)", .later = true  \
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
    .help = "checks that read the log after the answer: fast (as long as the answer took, 10 s at " \
            "least), full (all) or none", .place = true                                            \
  },                                                                                               \
  IDM_FIT_WORD(base, norm, "P", "what is to be small: 1, 2 or inf"),                               \
  IDM_FIT_NUMBER(base, epsilon, false, "by how much the demonstrator's actions are to be better"), \
  IDM_FIT_WORD(base, margin, "WORD", "what is to be large: the margin by state, or of the return"), \
  IDM_FIT_NUMBER(base, penalty, false, "price of a unit of absolute utility"),                     \
  IDM_FIT_NUMBER(base, bound, true, "the box: utilities lie between -X and X"),                    \
  {                                                                                                \
    .name = "lambda", .kind = IDM_KEY_NUMBER,                                                      \
    .offset = (base) + offsetof(idm_fit_settings, lambda), .most = INFINITY, .above = true,        \
    .infinite = true, .zero = "auto", .replaced_default = 100, .value = "X", .later = true,                  \
    .help = "how far utilities may go: their squares cost 1/(2 X); auto: by held-out decisions"    \
  },                                                                                               \
  IDM_FIT_WORD(base, occupancy, "WORD",                                                            \
               "the demonstrator's, of its policy or of the log itself"),                          \
  IDM_FIT_WORD(base, divergence, "WORD", "between occupancies"),                                   \
  IDM_FIT_NUMBER(base, entropy, false, "what a nat of the policy's entropy is worth"),             \
  IDM_FIT_NUMBER(base, loss_scale, false,                                                          \
                 "nats per effective decision and unit of the divergence (distribution-matching-bayes)"),    \
  IDM_FIT_NUMBER(base, smoothing, false, "choices by the action prior added to every state")
/* clang-format on */

#endif
