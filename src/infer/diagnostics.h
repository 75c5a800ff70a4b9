/* Diagnostics of MCMC draws: R-hat, effective sample sizes, Monte Carlo errors and E-BFMI. */
#ifndef IDM_INFER_DIAGNOSTICS_H
#define IDM_INFER_DIAGNOSTICS_H

#include <stddef.h>

#include "base/door.h"
#include "base/quantile.h"
#include "idm/fit.h"
#include "idm/status.h"

/* Compute the diagnostics of draws x[chain * chain_stride + draw * draw_stride]; `tail` is set to
 * NaN. All fields are NaN without draws. IDM_MEMORY where memory runs out. */
IDM_CHECKED idm_status idm_diagnose(const double *x, size_t chains, size_t draws,
                                    size_t chain_stride, size_t draw_stride,
                                    idm_diagnosis *diagnosis, idm_error *opt_error);
/* Energy Bayesian fraction of missing information (E-BFMI) of one chain, energy[draws]. NaN for
 * fewer than two draws. */
IDM_CHECKED double idm_ebfmi(const double *energy, size_t draws);

#endif
