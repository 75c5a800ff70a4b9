/* Diagnostics of draws. */
#ifndef IDM_DIAGNOSTICS_H
#define IDM_DIAGNOSTICS_H

#include <stddef.h>

#include "idm/quantile.h"
#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

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
  double tail; /* larger Pareto k of both tails, by idm_assess_draws; NaN: not measured */
} idm_diagnosis;

/* x[chain * chain_stride + draw * draw_stride]. */
IDM_API idm_status idm_diagnose(const double *x, size_t chains, size_t draws, size_t chain_stride,
                                size_t draw_stride, idm_diagnosis *diagnosis, idm_error *opt_error);
/* Energy Bayesian fraction of missing information of one chain. */
IDM_API double idm_ebfmi(const double *energy, size_t draws);

#ifdef __cplusplus
}
#endif
#endif
