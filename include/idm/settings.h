/* Settings of a fit. */
#ifndef IDM_SETTINGS_H
#define IDM_SETTINGS_H

#include "idm/key.h"
#include "idm/problem.h"
#include "idm/work.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum idm_keep_likelihood {
  IDM_KEEP_NOTHING,
  IDM_KEEP_TRAJECTORY,
  IDM_KEEP_DECISION
} idm_keep_likelihood;

/* Checks of an answer that read the log: within a time limit, all of them, or none. */
typedef enum idm_check_effort {
  IDM_CHECKS_FAST,
  IDM_CHECKS_FULL,
  IDM_CHECKS_NONE
} idm_check_effort;
/* The time limit of IDM_CHECKS_FAST for an answer that took so many seconds: as many, 10 at least.
 * In the form of idm_fit_monitor.check_seconds: 0 for IDM_CHECKS_FULL, -1 for IDM_CHECKS_NONE. */
IDM_API double idm_check_effort_seconds(idm_check_effort check_effort, double seconds);

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
  char sampler[32]; /* name in the registry; "": metropolis up to four free numbers, else nuts */
  size_t chains;
  long draws;
  long warmup;
  long thin;  /* kernel steps a draw; 0: the sampler's own */
  long depth; /* of nuts: a trajectory has at most 2^depth - 1 steps; 0: the sampler's own */
  long again; /* of idm_assess_redraw_thin: steps a draw of chains that are run again, on random
                 streams of their own; 0: they are run for the first time */
  uint64_t seed;
  int threads;              /* never changes a draw */
  idm_keep_likelihood keep; /* log-likelihood by trajectory, by decision, or not at all */
  size_t prior_draws;
  idm_check_effort checks; /* which checks read the log after the answer; never changes a draw */

  /* Of inverse planners that do not go by the likelihood. */
  idm_norm norm;           /* what is to be small */
  double epsilon;          /* by how much the demonstrator's actions are to be better, at least */
  idm_margin margin;       /* of which maximum-margin is to be large */
  double penalty;          /* on the sum of absolute utilities */
  double bound;            /* of the box: utilities lie between -bound and bound */
  double lambda;           /* of regularised-margin, and of the squared divergence; 0: chosen by
                              held-out decisions, and 100 for the squared divergence */
  idm_occupancy occupancy; /* of the demonstrator */
  idm_divergence divergence;
  double entropy;    /* weight of the policy's entropy */
  double loss_scale; /* of distribution-matching-bayes: its loss counts for so many times the number
                        of decisions */
  double smoothing;  /* of a batch's frequencies: so many choices by the action prior a state */
} idm_fit_settings;
IDM_API void idm_fit_settings_default(idm_fit_settings *settings);
/* Its fields but `threads`, which changes no draw, and `again`, which follows from the others. */
IDM_API const idm_key *idm_fit_keys(void);

/* The scheme of the paper, for a sampler that is `plain`: one chain, every tenth of 10,000 steps
 * after 1,000; and flat priors on what is free, on the logarithms of alpha, beta and eta. */
IDM_API void idm_fit_settings_plain(idm_fit_settings *settings);
IDM_API void idm_problem_set_flat_priors(idm_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
