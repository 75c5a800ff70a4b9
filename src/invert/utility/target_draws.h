/* Markov chains over free numbers, and local modes of their density.
 *
 * Contents: peaks · target draws */
#ifndef IDM_INVERT_UTILITY_TARGET_DRAWS_H
#define IDM_INVERT_UTILITY_TARGET_DRAWS_H

#include "idm/extension/inverse.h"
#include "idm/extension/sampler.h"
#include "infer/approximation.h"
#include "infer/chains.h"
#include "invert/matching/halt.h"
#include "invert/parameters.h"

/* === peaks ================================================================================== */

/* Local modes of a possibly multimodal density: starting points of chains, and centres of an
 * independence proposal. */

typedef struct idm_local_mode {
  double *mode;       /* [dimension] */
  double *covariance; /* [dimension][dimension]; undefined if not definite */
  double log_density; /* log density of the mode */
  double log_mass;    /* log of its mass, by the Laplace approximation */
  bool definite;
} idm_local_mode;

typedef struct idm_local_modes {
  size_t dimension;
  size_t count;
  size_t capacity;
  idm_local_mode *local_mode; /* [capacity] */
  double *scratch;            /* [dimension][dimension + 1] */
} idm_local_modes;

/* Allocates room for `most` modes. */
idm_status idm_local_modes_create(size_t dimension, size_t most, idm_local_modes **ret_modes,
                                  idm_error *opt_error);
void idm_local_modes_destroy(idm_local_modes *modes);
/* Maximises from x, which receives the mode. Stores the mode, if there is room and the density has
 * a valley between it and every stored mode. */
idm_status idm_local_modes_ascend(idm_local_modes *modes, const idm_target *target, double *x,
                                  idm_error *opt_error);
/* Removes modes of negligible mass relative to the largest. */
void idm_local_modes_prune(idm_local_modes *modes);
/* Mixture proposal over all modes, weighted by their masses, with a broad defensive component. */
idm_status idm_local_modes_mixture(const idm_local_modes *modes, idm_defensive_component broad,
                                   idm_mixture **ret_mixture, idm_error *opt_error);

/* === target draws =========================================================================== */

/* Markov chains for a density over free numbers that is not the likelihood of decisions: starts,
 * sampling and the resulting posterior. */

/* The target density and settings; all fields are borrowed. */
typedef struct idm_sampling_target {
  const idm_inverse *inverse;
  const idm_problem *problem;
  const idm_fit_settings *settings;
  const idm_parameters *parameters;
  idm_target *target; /* [chain] */
  uint64_t key;       /* key of the random streams */
  idm_cancel *cancel;
  const idm_fit_monitor *watch;
  idm_notes *opt_notes;
} idm_sampling_target;

/* Draws of all chains, which start at the modes in turn, or around the problem's own values if
 * there is no mode. Takes ownership of the finding, which is destroyed on failure; its certificate
 * becomes the largest R-hat. */
idm_status idm_target_draws(const idm_sampling_target *t, const idm_local_modes *modes,
                            idm_optimality *finding, idm_posterior **ret_posterior,
                            idm_error *opt_error);

#endif
