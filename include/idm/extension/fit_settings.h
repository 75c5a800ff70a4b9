/* Settings of a fit. */
#ifndef IDM_EXTENSION_FIT_SETTINGS_H
#define IDM_EXTENSION_FIT_SETTINGS_H

#include "idm/extension/problem.h"
#include "idm/extension/progress.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum idm_keep_likelihood {
  IDM_KEEP_NOTHING,
  IDM_KEEP_TRAJECTORY,
  IDM_KEEP_DECISION
} idm_keep_likelihood;

/* Checks of a result that evaluate the log: with a time limit, all of them, or none. */
typedef enum idm_check_effort {
  IDM_CHECKS_FAST,
  IDM_CHECKS_FULL,
  IDM_CHECKS_NONE
} idm_check_effort;

typedef enum idm_norm { IDM_NORM_1, IDM_NORM_2, IDM_NORM_INF } idm_norm;
typedef enum idm_margin { IDM_MARGIN_STATE, IDM_MARGIN_RETURN } idm_margin;
typedef enum idm_occupancy { IDM_OCCUPANCY_POLICY, IDM_OCCUPANCY_EMPIRICAL } idm_occupancy;
typedef enum idm_divergence {
  IDM_DIVERGENCE_KL,
  IDM_DIVERGENCE_REVERSE_KL,
  IDM_DIVERGENCE_JS,
  IDM_DIVERGENCE_TV,
  IDM_DIVERGENCE_CHI2,
  IDM_DIVERGENCE_SQUARED
} idm_divergence;

typedef struct idm_fit_settings {
  char sampler[32]; /* registry name; "": metropolis for up to four free numbers, else nuts */
  size_t chains;
  long draws;
  long warmup;
  long thin;  /* kernel steps per draw; 0: the sampler's default */
  long depth; /* of nuts and hmc: at most 2^depth - 1 leapfrog steps per draw; 0: the default */
  long again; /* of idm_assess_redraw_thin: kernel steps per draw of chains that are repeated with
                 other random streams; 0: not repeated */
  uint64_t seed;
  int threads;              /* does not affect draws */
  idm_keep_likelihood keep; /* log-likelihood by trajectory, by decision, or none */
  size_t prior_draws;
  idm_check_effort checks; /* which checks evaluate the log after the fit; does not affect draws */

  /* For inverse planners that do not use the likelihood. */
  idm_norm norm;           /* norm to minimise */
  double epsilon;          /* minimum margin by which the demonstrator's actions are better */
  idm_margin margin;       /* margin that maximum-margin maximises */
  double penalty;          /* on the sum of absolute utilities */
  double bound;            /* box constraint: utilities are between -bound and bound */
  double lambda;           /* of regularised-margin, and of the squared divergence; 0: chosen by
                              cross-validation, and 100 for the squared divergence */
  idm_occupancy occupancy; /* occupancy of the demonstrator */
  idm_divergence divergence;
  double entropy;    /* weight of the entropy of the policy */
  double loss_scale; /* of distribution-matching-bayes: weight of the loss, in units of the number
                        of decisions */
  double smoothing;  /* of a batch's frequencies: pseudo-counts per state, distributed by the action
                        prior */
} idm_fit_settings;
/* Fill the default settings. */
IDM_API void idm_fit_settings_default(idm_fit_settings *settings);

#ifdef __cplusplus
}
#endif
#endif
