/* Diagnostics of MCMC draws: R-hat, effective sample sizes, Monte Carlo errors and E-BFMI. */
#ifndef IDM_DIAGNOSTICS_H
#define IDM_DIAGNOSTICS_H

#include <stddef.h>

#include "idm/quantile.h"
#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Diagnostics of one quantity over several chains, as in the R package posterior and ArviZ (Vehtari
 * et al. 2021). NaN where one is not defined (constant draws, fewer than four). See
 * docs/method/inference.md, 6. */
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
  double tail; /* larger Pareto k of both tails, set by idm_assess_draws; NaN: not computed */
} idm_diagnosis;

/* Compute the diagnostics of draws x[chain * chain_stride + draw * draw_stride]; `tail` is set to
 * NaN. All fields are NaN without draws. IDM_MEMORY where memory runs out. */
IDM_API idm_status idm_diagnose(const double *x, size_t chains, size_t draws, size_t chain_stride,
                                size_t draw_stride, idm_diagnosis *diagnosis, idm_error *opt_error);
/* Energy Bayesian fraction of missing information (E-BFMI) of one chain, energy[draws]. NaN for
 * fewer than two draws. */
IDM_API double idm_ebfmi(const double *energy, size_t draws);

#ifdef __cplusplus
}
#endif
#endif
