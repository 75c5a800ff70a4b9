/* Samplers, and what they share.
 *
 * Contents: sampler · metropolis · nuts · paper · pcn · slice */
#ifndef IDM_INFER_SAMPLER_H
#define IDM_INFER_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/record.h"
#include "idm/sampler.h"

/* === sampler ================================================================================ */

/* What the samplers share: state laid out in one array, checked evaluation of a target, windows of
 * warm-up, running moments. */

/* The next `count` numbers of a state; NULL where opt_state is (to find how many there are). */
double *idm_state_take(double *opt_state, size_t *used, size_t count);

/* Evaluate a target. A density that is no number counts as none (-inf); an infinite one is an
 * error. */
idm_status idm_target_evaluate(const idm_target *target, const double *x, double *log_density,
                               double *opt_gradient, idm_error *opt_error);
/* The same at the start of a chain, where the density must be positive. */
idm_status idm_target_evaluate_start(const idm_target *target, const double *x, double *log_density,
                                     double *opt_gradient, idm_error *opt_error);

/* Kernel steps a draw. */
long idm_sampler_thin(const idm_sampler_settings *settings, long default_thin);
/* Statistics of a draw that has none yet. */
void idm_statistics_clear(idm_statistics *statistics);
/* Statistics of draws there or back. */
void idm_statistics_transfer(idm_statistics *statistics, size_t count, idm_record *record);

/* Where an iteration stands in the slow part of warm-up: positions are gathered in windows that
 * double, and at the close of each the covariance is estimated anew from that window alone. */
typedef struct idm_window {
  bool collect;
  bool at_end; /* the last iteration of its window */
} idm_window;
idm_window idm_warmup_window(long iteration, long warmup);

/* Running mean and scatter, in a state. */
typedef struct idm_scatter {
  size_t dimension;
  bool dense; /* scatter[dimension][dimension], else its diagonal alone */
  double *count;
  double *mean;
  double *scatter;
} idm_scatter;
idm_scatter idm_scatter_take(double *opt_state, size_t *used, size_t dimension, bool dense);
void idm_scatter_restart(const idm_scatter *moments);
void idm_scatter_add(const idm_scatter *moments, const double *x);
/* covariance of the shape of scatter, drawn towards opt_guess (always [dimension][dimension]), or
 * without one towards no correlation. False where a coordinate did not vary. */
bool idm_scatter_covariance(const idm_scatter *moments, const double *opt_guess,
                            double *covariance);

/* The first guess of the covariance (the identity where there is none) as a Cholesky factor. */
idm_status idm_guess_factor(const idm_sampler_settings *settings, size_t dimension, double *factor,
                            idm_error *opt_error);

/* === metropolis ============================================================================= */

/* "metropolis": independence proposals fitted in warm-up, and a random walk. */

extern const idm_sampler idm_sampler_metropolis;

/* Its steps a draw, where the settings leave them to it. */
long idm_metropolis_thin(size_t dimension);

/* === nuts =================================================================================== */

/* "nuts": Hamiltonian trajectories that stop where they turn back. */

extern const idm_sampler idm_sampler_nuts;

/* === paper ================================================================================== */

/* "paper": the fixed random walk of the paper's experiments. */

extern const idm_sampler idm_sampler_paper;

/* === pcn ==================================================================================== */

/* The sampler `pcn`, for those that name it. */

extern const idm_sampler idm_sampler_pcn;

/* === slice ================================================================================== */

/* "slice": slices along the columns of the covariance's factor. */

extern const idm_sampler idm_sampler_slice;

#endif
