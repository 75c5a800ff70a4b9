/* Target densities and Markov kernels: functions of a vector, independent of decision problems.
 * Methods: docs/method/inference.md, 4. */
#ifndef IDM_EXTENSION_SAMPLER_H
#define IDM_EXTENSION_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>

#include "idm/extension/random.h"
#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- targets -------------------------------------------------------------------------------- */

/* Log density on R^dimension, up to a constant. `evaluate` must be a function of x alone: equal x
 * give equal bits in any order of calls. Outside the support it returns -inf (with any finite
 * gradient) and IDM_OK; any other status ends the run. A context belongs to one thread. */
typedef struct idm_target {
  size_t dimension;
  bool gradient; /* evaluate computes opt_gradient */
  void *context;
  idm_status (*evaluate)(void *context, const double *x, double *log_density, double *opt_gradient,
                         idm_error *opt_error);
} idm_target;

/* --- samplers ------------------------------------------------------------------------------- */

/* Statistics of a draw, apart from its position. NaN or -1 if the sampler does not provide one. */
typedef struct idm_statistics {
  double log_density;
  double acceptance; /* mean acceptance probability of the kernel steps of the draw */
  double step_size;
  double energy;    /* Hamiltonian, NUTS and HMC only */
  int tree_depth;   /* NUTS only */
  long evaluations; /* number of evaluations of the target for this draw */
  bool diverging;
} idm_statistics;

/* Mixture approximation of a target, used for independence proposals; made by the library. */
typedef struct idm_mixture idm_mixture;

typedef struct idm_sampler_settings {
  long warmup;              /* adaptive iterations; the kernel is fixed afterwards */
  long thin;                /* kernel steps per draw; 0: the sampler's default */
  double step;              /* standard deviation of the fixed random walk (sampler `paper`) */
  double acceptance;        /* target acceptance probability of NUTS and HMC */
  int depth;                /* NUTS and HMC: at most 2^depth - 1 steps per trajectory */
  const double *centre;     /* [dimension]: initial estimate of the mean, or NULL */
  const double *covariance; /* [dimension][dimension]: initial estimate, or NULL */
  /* Inexpensive approximation of the log density, up to a constant, as a function of the target's
   * context; used for proposals by samplers that support it. NULL: none. */
  double (*surrogate)(void *context, const double *x);
  const idm_mixture *mixture; /* independence proposals of modes and tails, or NULL */
} idm_sampler_settings;
/* Fill the default settings. */
IDM_API void idm_sampler_settings_default(idm_sampler_settings *settings);

/* A Markov kernel. Its complete state is an array of numbers, so that a checkpoint is a copy of it.
 * All operations are required. */
typedef struct idm_sampler {
  const char *name;
  const char *summary;
  bool gradient; /* requires a target with a gradient */
  bool plain;    /* starts at a given point without a mode, on flat priors (see
                    idm_problem_set_flat_priors) */
  /* Length of the state array for a dimension. */
  size_t (*numbers)(size_t dimension);
  /* Initialise the state for a chain at x [dimension], where the log density must be finite. */
  idm_status (*start)(double *state, const idm_sampler_settings *settings, const idm_target *target,
                      const double *x, idm_random *random, idm_error *opt_error);
  /* Perform iteration number `iteration` (from 0; adaptive below settings->warmup) and copy the
   * position to x. Allocates no memory. */
  idm_status (*step)(double *state, const idm_sampler_settings *settings, const idm_target *target,
                     long iteration, idm_random *random, double *x, idm_statistics *statistics,
                     idm_error *opt_error);
} idm_sampler;

#ifdef __cplusplus
}
#endif
#endif
