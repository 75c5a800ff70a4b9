/* Samplers and their shared functions.
 *
 * Contents: sampler · metropolis · nuts · paper · pcn · slice */
#ifndef IDM_INFER_SAMPLER_H
#define IDM_INFER_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/record.h"
#include "idm/extension/sampler.h"

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

/* "nuts": Hamiltonian Monte Carlo with the no-U-turn criterion. */

extern const idm_sampler idm_sampler_nuts;

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
