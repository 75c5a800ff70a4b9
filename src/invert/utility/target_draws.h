/* Markov chains over free numbers, and peaks of their density.
 *
 * Contents: peaks · target draws */
#ifndef IDM_INVERT_UTILITY_TARGET_DRAWS_H
#define IDM_INVERT_UTILITY_TARGET_DRAWS_H

#include "idm/chains.h"
#include "idm/inverse.h"
#include "idm/sampler.h"
#include "infer/mixture.h"
#include "invert/matching/halt.h"
#include "invert/parameters.h"

/* === peaks ================================================================================== */

/* Peaks of a density that need not have one alone: where chains start, and leap between. */

typedef struct idm_local_mode {
  double *mode;       /* [dimension] */
  double *covariance; /* [dimension][dimension]; nothing where it is not definite */
  double log_density; /* log density of the mode */
  double log_mass;    /* log of what it holds, by height and width */
  bool definite;
} idm_local_mode;

typedef struct idm_local_modes {
  size_t dimension;
  size_t count;
  size_t capacity;
  idm_local_mode *local_mode; /* [capacity] */
  double *scratch;            /* [dimension][dimension + 1] */
} idm_local_modes;

/* Room for `most` peaks. */
idm_status idm_local_modes_create(size_t dimension, size_t most, idm_local_modes **ret_modes,
                                  idm_error *opt_error);
void idm_local_modes_destroy(idm_local_modes *modes);
/* Climb from x, which becomes the mode, and keep the peak, where there is room, if a valley lies
 * between it and each that is kept already. */
idm_status idm_local_modes_ascend(idm_local_modes *modes, const idm_target *target, double *x,
                                  idm_error *opt_error);
/* Leave out peaks that hold next to nothing beside the fullest. */
void idm_local_modes_prune(idm_local_modes *modes);
/* Proposals around all of them, each by what it holds, and some from a broad distribution. */
idm_status idm_local_modes_mixture(const idm_local_modes *modes, idm_defensive_component broad,
                                   idm_mixture **ret_mixture, idm_error *opt_error);

/* === target draws =========================================================================== */

/* Markov chains of a density over free numbers that is not the likelihood of decisions: where they
 * start, how they run, and what they amount to. */

/* What is drawn from, all of it borrowed. */
typedef struct idm_sampling_target {
  const idm_inverse *inverse;
  const idm_problem *problem;
  const idm_fit_settings *settings;
  const idm_parameters *parameters;
  idm_target *target; /* [chain] */
  uint64_t key;       /* of the random streams */
  idm_cancel *cancel;
  const idm_fit_monitor *watch;
  idm_notes *opt_notes;
} idm_sampling_target;

/* Draws of every chain, which start by turns at all peaks; around the problem's own numbers where
 * there is none. Takes the finding, which is destroyed on failure: its certificate becomes R-hat of
 * the worst number. */
idm_status idm_target_draws(const idm_sampling_target *t, const idm_local_modes *modes,
                            idm_optimality *finding, idm_posterior **ret_posterior,
                            idm_error *opt_error);

#endif
