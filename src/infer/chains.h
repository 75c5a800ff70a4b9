/* Markov chains: shared functions of samplers, registry of samplers, several chains in parallel,
 * and diagnostics of their draws.
 *
 * Contents: samplers · chains · diagnostics · sampler · metropolis · nuts · paper · pcn · slice */
#ifndef IDM_INFER_CHAINS_H
#define IDM_INFER_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arguments.h"
#include "base/record.h"
#include "base/statistics.h"
#include "idm/extension/random.h"
#include "idm/extension/sampler.h"
#include "idm/fit.h"
#include "idm/status.h"

/* === samplers =============================================================================== */

/* Registry of samplers. */

/* Registry: sampler number `index`, or NULL past the last. */
IDM_CHECKED const idm_sampler *idm_sampler_at(size_t index);
/* Registry: the sampler of that name, or NULL. */
IDM_CHECKED const idm_sampler *idm_sampler_find(const char *name);
/* Names of all samplers for a message, as in "metropolis, nuts, slice or paper". Returns buffer. */
IDM_CHECKED const char *idm_sampler_names(char *buffer, size_t size);

/* === chains ================================================================================= */

/* Several Markov chains in parallel, and their checkpoints. */

typedef struct idm_chains_settings {
  const idm_sampler *sampler;
  size_t chains;
  long draws;
  uint64_t seed;
  int threads; /* changes no draw */
  idm_sampler_settings kernel;
  /* Called on the monitor's thread while a draw takes long. Once it returns true, the targets must
   * end with IDM_UNTRUSTED; chains then return to the start of the draws under way. NULL: draws are
   * completed. */
  idm_interrupt interrupt;
  void *interrupt_context;
} idm_chains_settings;

typedef struct idm_chains {
  idm_chains_settings settings;
  size_t dimension;
  long *done;                 /* [chain]: iterations done, including warm-up */
  double *draw;               /* [chain][draw][dimension] */
  idm_statistics *statistics; /* [chain][draw] */
  double *state;              /* [chain][numbers]: state of the sampler */
  size_t numbers;
  idm_random *random; /* [chain] */
  double *centre;     /* [chain][dimension], NaN without a guess */
  double *covariance; /* [chain][dimension][dimension] */
} idm_chains;

/* Monitor of a run, called on the thread that started it several times per second, and once at the
 * end when no chain is running. Return true to stop after the draws under way. */
typedef bool (*idm_monitor)(void *context, const idm_chains *chains);

/* Allocate chains of `dimension` numbers, with random streams 0, 1, ... of the seed; each must be
 * started with idm_chains_start. *ret_chains is the caller's. IDM_USAGE without a sampler, a chain,
 * a draw or a free number. */
IDM_CHECKED idm_status idm_chains_create(const idm_chains_settings *settings, size_t dimension,
                                         idm_chains **ret_chains, idm_error *opt_error);
/* Free chains. Takes NULL. */
IDM_CHECKED void idm_chains_destroy(idm_chains *chains);
/* Start one chain at x[dimension]. opt_centre[dimension] and opt_covariance[dimension][dimension]
 * are a first guess of the location and covariance of the target; NULL: none. IDM_USAGE where there
 * is no such chain or the dimensions differ; else errors of the sampler. */
IDM_CHECKED idm_status idm_chains_start(idm_chains *chains, size_t chain, const idm_target *target,
                                        const double *x, const double *opt_centre,
                                        const double *opt_covariance, idm_error *opt_error);
/* Run every chain on its own target[chain], up to its last draw or until the monitor returns true.
 * A chain with a loaded checkpoint continues from it. Returns the first error of a chain. */
IDM_CHECKED idm_status idm_chains_run(idm_chains *chains, const idm_target *target,
                                      idm_monitor opt_monitor, void *context, idm_error *opt_error);
/* Smallest number of draws of a chain; 0 for NULL. */
IDM_CHECKED long idm_chains_min_draws(const idm_chains *chains);
/* Write the state of all chains as bytes (a checkpoint), which the caller frees, and read it.
 * Reading fails with IDM_INPUT where the bytes are damaged, or of chains of another shape or
 * another request. `label` identifies the request. */
IDM_CHECKED idm_status idm_chains_save(const idm_chains *chains, uint64_t label, char **ret_bytes,
                                       size_t *ret_length, idm_error *opt_error);
IDM_CHECKED idm_status idm_chains_load(idm_chains *chains, uint64_t label, const char *bytes,
                                       size_t length, idm_error *opt_error);

/* === diagnostics ============================================================================ */

/* Diagnostics of MCMC draws: R-hat, effective sample sizes, Monte Carlo errors and E-BFMI. */

/* Compute the diagnostics of draws x[chain * chain_stride + draw * draw_stride]; `tail` is set to
 * NaN. All fields are NaN without draws. IDM_MEMORY where memory runs out. */
IDM_CHECKED idm_status idm_diagnose(const double *x, size_t chains, size_t draws,
                                    size_t chain_stride, size_t draw_stride,
                                    idm_diagnosis *diagnosis, idm_error *opt_error);
/* Energy Bayesian fraction of missing information (E-BFMI) of one chain, energy[draws]. NaN for
 * fewer than two draws. */
IDM_CHECKED double idm_ebfmi(const double *energy, size_t draws);

/* === sampler ================================================================================ */

/* Shared functions: layout of the state array, checked evaluation of a target, warm-up windows,
 * running moments. */

/* Next `count` numbers of a state array; NULL if opt_state is NULL (used to compute the size). */
double *idm_state_take(double *opt_state, size_t *used, size_t count);

/* Evaluate a target. A density that is NaN is treated as -inf; +inf is IDM_NUMERICAL. */
idm_status idm_target_evaluate(const idm_target *target, const double *x, double *log_density,
                               double *opt_gradient, idm_error *opt_error);
/* The same at the start of a chain: IDM_NUMERICAL if the density is 0. */
idm_status idm_target_evaluate_start(const idm_target *target, const double *x, double *log_density,
                                     double *opt_gradient, idm_error *opt_error);

/* Kernel steps per draw: of the settings, else default_thin. */
long idm_sampler_thin(const idm_sampler_settings *settings, long default_thin);
/* Set all statistics to undefined. */
void idm_statistics_clear(idm_statistics *statistics);
/* Write statistics to a record, or read them from it. */
void idm_statistics_transfer(idm_statistics *statistics, size_t count, idm_record *record);

/* Position of an iteration in the adaptive phase of warm-up: positions are collected in windows of
 * doubling length, and at the end of each window the covariance is estimated from that window
 * alone. */
typedef struct idm_window {
  bool collect;
  bool at_end; /* the last iteration of its window */
} idm_window;
idm_window idm_warmup_window(long iteration, long warmup);

/* Running mean and scatter matrix (Welford), stored in a state. */
typedef struct idm_scatter {
  size_t dimension;
  bool dense; /* scatter[dimension][dimension]; otherwise its diagonal */
  double *count;
  double *mean;
  double *scatter;
} idm_scatter;
idm_scatter idm_scatter_take(double *opt_state, size_t *used, size_t dimension, bool dense);
void idm_scatter_restart(const idm_scatter *moments);
void idm_scatter_add(const idm_scatter *moments, const double *x);
/* Covariance in the layout of scatter, shrunk towards opt_guess (always [dimension][dimension]) or,
 * without it, towards no correlation. False if a coordinate did not vary. */
bool idm_scatter_covariance(const idm_scatter *moments, const double *opt_guess,
                            double *covariance);

/* Cholesky factor of the initial covariance (identity if there is none), into factor
 * [dimension][dimension]. IDM_USAGE if it is not positive definite. */
idm_status idm_guess_factor(const idm_sampler_settings *settings, size_t dimension, double *factor,
                            idm_error *opt_error);

/* === metropolis ============================================================================= */

/* "metropolis": independence proposals fitted in warm-up, and a random walk. */

extern const idm_sampler idm_sampler_metropolis;

/* Default number of kernel steps per draw. */
long idm_metropolis_thin(size_t dimension);

/* === nuts =================================================================================== */

/* Hamiltonian Monte Carlo: "nuts", with the no-U-turn criterion, and "hmc", with trajectories of
 * random length. */

extern const idm_sampler idm_sampler_nuts;
extern const idm_sampler idm_sampler_hmc;

/* === paper ================================================================================== */

/* "paper": random walk with a fixed step size. */

extern const idm_sampler idm_sampler_paper;

/* === pcn ==================================================================================== */

/* "pcn": preconditioned Crank-Nicolson steps. */

extern const idm_sampler idm_sampler_pcn;

/* === slice ================================================================================== */

/* "slice": slice sampling along the columns of the Cholesky factor of the covariance. */

extern const idm_sampler idm_sampler_slice;

#endif
