/* Markov chains: registry of samplers, several chains in parallel, and diagnostics of their draws.
 *
 * Contents: samplers · chains · diagnostics */
#ifndef IDM_INFER_CHAINS_H
#define IDM_INFER_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arguments.h"
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

#endif
