/* Targets, and Markov kernels that draw from them: functions of a vector, no POMDP here. */
#ifndef IDM_SAMPLER_H
#define IDM_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>

#include "idm/random.h"
#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- targets -------------------------------------------------------------------------------- */

/* A log density on R^dimension, up to a constant. `evaluate` must be a function of x alone: the
 * same x gives the same bits whatever was asked before. Outside the support it gives -inf (with any
 * finite gradient) and IDM_OK; anything else than IDM_OK ends the run. A context belongs to one
 * thread. */
typedef struct idm_target {
  size_t dimension;
  bool gradient; /* opt_gradient may be asked for */
  void *context;
  idm_status (*evaluate)(void *context, const double *x, double *log_density, double *opt_gradient,
                         idm_error *opt_error);
} idm_target;

/* --- samplers ------------------------------------------------------------------------------- */

/* What a draw leaves beside its position. NaN, -1 where a sampler has no such thing. */
typedef struct idm_statistics {
  double log_density;
  double acceptance; /* mean acceptance probability of the steps that made the draw */
  double step_size;
  double energy;    /* Hamiltonian, NUTS only */
  int tree_depth;   /* NUTS only */
  long evaluations; /* of the target, for this draw */
  bool diverging;
} idm_statistics;

/* Proposals that reach every part of a target, made by the library. */
typedef struct idm_mixture idm_mixture;

typedef struct idm_sampler_settings {
  long warmup;              /* iterations that adapt; then the kernel is fixed */
  long thin;                /* kernel steps a draw; 0: the sampler's own choice */
  double step;              /* sd of the fixed random walk (paper) */
  double acceptance;        /* NUTS aims at this */
  int depth;                /* deepest NUTS tree */
  const double *centre;     /* [dimension] a first guess of the mean, or NULL */
  const double *covariance; /* [dimension][dimension] a first guess, positive definite, or NULL */
  /* A cheap approximation of the log density, up to a constant, as a function of the target's
   * context: a sampler that can makes its proposals by it. NULL: there is none. */
  double (*surrogate)(void *context, const double *x);
  const idm_mixture *mixture; /* of modes and tails, for a sampler that can leap; or NULL */
} idm_sampler_settings;
IDM_API void idm_sampler_settings_default(idm_sampler_settings *settings);

/* A Markov kernel. Its whole state is an array of numbers, so that a checkpoint is a copy of it.
 * All operations are required. */
typedef struct idm_sampler {
  const char *name;
  const char *summary;
  bool gradient; /* needs a target with a gradient */
  bool plain;    /* knows no mode: starts at a plain point, on flat priors (see
                    idm_problem_set_flat_priors) */
  /* Numbers of state for a dimension. */
  size_t (*numbers)(size_t dimension);
  /* Fill the state for a chain at x, where the target must be finite. */
  idm_status (*start)(double *state, const idm_sampler_settings *settings, const idm_target *target,
                      const double *x, idm_random *random, idm_error *opt_error);
  /* Iteration `iteration` (0-based; below settings->warmup it adapts): moves, and copies the
   * position out. Allocates nothing. */
  idm_status (*step)(double *state, const idm_sampler_settings *settings, const idm_target *target,
                     long iteration, idm_random *random, double *x, idm_statistics *statistics,
                     idm_error *opt_error);
} idm_sampler;

#ifdef __cplusplus
}
#endif
#endif
