/* Several chains side by side, and their checkpoints. */
#ifndef IDM_CHAINS_H
#define IDM_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "idm/random.h"
#include "idm/sampler.h"
#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct idm_chains_settings {
  const idm_sampler *sampler;
  size_t chains;
  long draws;
  uint64_t seed;
  int threads; /* never changes a draw */
  idm_sampler_settings kernel;
  /* Asked where a draw takes long, on the thread of the monitor. Once it says so targets are to end
   * with IDM_UNTRUSTED, and chains go back to where the draws under way began. NULL: draws are seen
   * through. */
  idm_interrupt interrupt;
  void *interrupt_context;
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
IDM_API long idm_chains_min_draws(const idm_chains *chains);
/* The state of all chains as bytes (a checkpoint) for the caller, and back; loading refuses bytes
 * of another shape or damaged ones with IDM_INPUT. `label` names the request they belong to. */
IDM_API idm_status idm_chains_save(const idm_chains *chains, uint64_t label, char **ret_bytes,
                                   size_t *ret_length, idm_error *opt_error);
IDM_API idm_status idm_chains_load(idm_chains *chains, uint64_t label, const char *bytes,
                                   size_t length, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
