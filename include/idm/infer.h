/* Inference: functions of a vector. Priors, samplers, optimisers and diagnostics; no POMDP here. */
#ifndef IDM_INFER_H
#define IDM_INFER_H

#include <stdbool.h>
#include <stdint.h>

#include "idm/random.h"
#include "idm/theta.h"

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

/* --- priors and transforms ------------------------------------------------------------------ */

/* log density of a prior of one number at c (up to no constant: normalised; 0 for flat), and its
 * derivative. -inf outside the support. Dirichlet: see idm_dirichlet_log_density. */
IDM_API double idm_prior_log_density(const idm_prior *prior, double c, double *opt_slope);
/* A draw; flat priors have none (NaN). */
IDM_API double idm_prior_draw(const idm_prior *prior, idm_random *random);
/* Support of the prior: its ends, infinite where open. */
IDM_API void idm_prior_support(const idm_prior *prior, double *lower, double *upper);
/* Standard deviation of the prior; infinite for flat. */
IDM_API double idm_prior_sd(const idm_prior *prior);
/* Mean of the prior; NaN for flat. */
IDM_API double idm_prior_mean(const idm_prior *prior);
/* log density of a Dirichlet at p [count], and its slopes. */
IDM_API double idm_dirichlet_log_density(size_t count, const double *concentration, const double *p,
                                         double *opt_slope);
IDM_API void idm_dirichlet_draw(size_t count, const double *concentration, idm_random *random,
                                double *p);

/* The coordinate of a scale: identity c = v, log c = log v, inverse c = 1/v, signed-log c =
 * sign(v) log(1 + |v|); and back. */
IDM_API double idm_scale_to(idm_scale scale, double value);
IDM_API double idm_scale_from(idm_scale scale, double coordinate);

/* A number c in (lower, upper), either end may be infinite, as a function of y in R: identity, an
 * exponential, or a logistic. `opt_slope` is dc/dy, `opt_log_slope` its logarithm, and
 * opt_log_slope_slope the derivative of that. */
IDM_API double idm_constrain(double lower, double upper, double y, double *opt_slope,
                             double *opt_log_slope, double *opt_log_slope_slope);
IDM_API double idm_unconstrain(double lower, double upper, double c);

/* A distribution over `count` outcomes as a function of count - 1 numbers, by stick-breaking as in
 * Stan's reference manual; returns the log Jacobian. */
IDM_API double idm_simplex_constrain(size_t count, const double *y, double *p);
IDM_API void idm_simplex_unconstrain(size_t count, const double *p, double *y);
/* slope[count - 1] = d/dy (f(p(y)) + log Jacobian), given df/dp [count]. */
IDM_API void idm_simplex_pull(size_t count, const double *y, const double *slope_p, double *slope);

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

typedef struct idm_sampler_settings {
  long warmup;              /* iterations that adapt; then the kernel is fixed */
  long thin;                /* kernel steps a draw; 0: the sampler's own choice */
  double step;              /* sd of the fixed random walk (paper) */
  double acceptance;        /* NUTS aims at this */
  int depth;                /* deepest NUTS tree */
  const double *centre;     /* [dimension] a first guess of the mean, or NULL */
  const double *covariance; /* [dimension][dimension] a first guess, positive definite, or NULL */
} idm_sampler_settings;
IDM_API void idm_sampler_settings_default(idm_sampler_settings *settings);

/* A Markov kernel. Its whole state is an array of numbers, so that a checkpoint is a copy of it.
 * All operations are required. */
typedef struct idm_sampler {
  const char *name;
  const char *summary;
  bool gradient; /* needs a target with a gradient */
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

/* Registry: sampler i, or NULL past the last; by name, or NULL. */
IDM_API const idm_sampler *idm_sampler_at(size_t index);
IDM_API const idm_sampler *idm_sampler_find(const char *name);

/* --- chains --------------------------------------------------------------------------------- */

typedef struct idm_chains_settings {
  const idm_sampler *sampler;
  size_t chains;
  long draws;
  uint64_t seed;
  int threads; /* never changes a draw */
  idm_sampler_settings kernel;
} idm_chains_settings;

typedef struct idm_chains {
  idm_chains_settings settings;
  size_t dimension;
  long *done;                 /* [chain]: iterations done, warm-up included */
  double *draw;               /* [chain][draw][dimension] */
  idm_statistics *statistics; /* [chain][draw] */
  double *state;              /* [chain][numbers] of the sampler */
  size_t numbers;
  idm_random *random; /* [chain] */
  double *centre;     /* [chain][dimension], NaN where there is none */
  double *covariance; /* [chain][dimension][dimension] */
} idm_chains;

/* Watches a run, on the thread that started it, several times a second and once at the end while no
 * chain moves. Return true to stop after the draws under way. */
typedef bool (*idm_monitor)(void *context, const idm_chains *chains);

/* Make chains that start at start [chain][dimension] with random streams 0, 1, ... of the seed;
 * opt_centre and opt_covariance give each its first guess. */
IDM_API idm_status idm_chains_create(const idm_chains_settings *settings, size_t dimension,
                                     idm_chains **ret_chains, idm_error *opt_error);
IDM_API void idm_chains_destroy(idm_chains *chains);
/* Start one chain: centre and covariance NULL where there is no guess. */
IDM_API idm_status idm_chains_start(idm_chains *chains, size_t chain, const idm_target *target,
                                    const double *x, const double *opt_centre,
                                    const double *opt_covariance, idm_error *opt_error);
/* Run all chains, each on its own target[chain], to the end of their draws (or until the monitor
 * says stop). Goes on where a loaded checkpoint left off. */
IDM_API idm_status idm_chains_run(idm_chains *chains, const idm_target *target,
                                  idm_monitor opt_monitor, void *context, idm_error *opt_error);
/* Draws that every chain has. */
IDM_API long idm_chains_common(const idm_chains *chains);
/* The state of all chains as bytes (a checkpoint) for the caller, and back; loading refuses bytes
 * of another shape or damaged ones with IDM_INPUT. `label` names the request they belong to. */
IDM_API idm_status idm_chains_save(const idm_chains *chains, uint64_t label, char **ret_bytes,
                                   size_t *ret_length, idm_error *opt_error);
IDM_API idm_status idm_chains_load(idm_chains *chains, uint64_t label, const char *bytes,
                                   size_t length, idm_error *opt_error);

/* --- optimisers ----------------------------------------------------------------------------- */

/* Climb from x by L-BFGS until the last five steps together have raised the log density by no more
 * than `tolerance` (1e-3 for a start, 0 for an answer: until nothing more is gained). x and
 * log_density receive the best point seen. */
IDM_API idm_status idm_maximise(const idm_target *target, double tolerance, int limit, double *x,
                                double *log_density, idm_error *opt_error);
/* Minus the inverse Hessian at a mode, by central differences of the gradient:
 * covariance[dimension][dimension]. *definite is false, and the covariance is left alone, where the
 * mode is flat or no mode. opt_precision: minus the Hessian itself. */
IDM_API idm_status idm_laplace(const idm_target *target, const double *mode, double *covariance,
                               double *opt_precision, bool *definite, idm_error *opt_error);

/* --- diagnostics ---------------------------------------------------------------------------- */

/* One quantity over several chains, as the R package posterior and ArviZ compute it (Vehtari et al.
 * 2021). NaN where it is not defined (constant draws, fewer than four). */
typedef struct idm_diagnosis {
  double mean;
  double sd;
  double mcse_mean;
  double mcse_sd;
  double q05;
  double q50;
  double q95;
  double ess_bulk;
  double ess_tail;
  double rhat; /* the larger of rank-normalised split R-hat and its folded version */
} idm_diagnosis;

/* x[chain * chain_stride + draw * draw_stride]. */
IDM_API idm_status idm_diagnose(const double *x, size_t chains, size_t draws, size_t chain_stride,
                                size_t draw_stride, idm_diagnosis *diagnosis, idm_error *opt_error);
/* Energy Bayesian fraction of missing information of one chain. */
IDM_API double idm_ebfmi(const double *energy, size_t draws);
/* Quantile q of x[count] (sorted in place), linear between order statistics as in R's type 7. */
IDM_API double idm_quantile(double *x, size_t count, double q);
/* Upper tail of a chi-square distribution. */
IDM_API double idm_chi_square_tail(double x, double degrees);

#ifdef __cplusplus
}
#endif
#endif
