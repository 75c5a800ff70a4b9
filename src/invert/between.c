/* Draws given each of several draws of dynamics: see the header. */
#include "invert/between.h"

#include <math.h>

#include "base/moments.h"
#include "invert/check.h"

double idm_between(const double *value, size_t cuts, size_t count)
{
  if (cuts < 2) return NAN;
  const double n = (double)count;
  double within = 0;
  idm_welford means = {0};
  for (size_t k = 0; k < cuts; k++) {
    const double *x = value + k * count;
    const double mean = idm_mean(x, count);
    within += idm_squares_about(x, count, mean) / n / (double)cuts;
    idm_welford_add(&means, mean);
  }
  const double between = means.squares / (double)cuts;
  return between + within > 0 ? between / (between + within) : NAN;
}

bool idm_depends_on_dynamics(double between)
{
  return between > idm_check_threshold(IDM_CHECK_BETWEEN);
}

idm_status idm_diagnose_cuts(const double *value, const double *opt_coordinate, size_t chains,
                             size_t draws, size_t cuts, idm_diagnosis *diagnosis,
                             double *opt_between, idm_error *opt_error)
{
  idm_diagnosis *d = diagnosis;
  idm_status status = idm_diagnose(value, chains, draws, draws, 1, d, opt_error);
  if (opt_between) *opt_between = NAN;
  if (status != IDM_OK || cuts < 2) return status;
  const size_t each = chains / cuts;
  d->rhat = d->ess_bulk = d->ess_tail = 0;
  for (size_t k = 0; k < cuts && status == IDM_OK; k++) {
    idm_diagnosis one;
    status = idm_diagnose(value + k * each * draws, each, draws, draws, 1, &one, opt_error);
    /* What is not a number stays none. */
    d->rhat = isnan(d->rhat) || d->rhat > one.rhat ? d->rhat : one.rhat;
    d->ess_bulk += one.ess_bulk;
    d->ess_tail += one.ess_tail;
  }
  const double between = idm_between(opt_coordinate ? opt_coordinate : value, cuts, each * draws);
  const double share = fmax(0, idm_between(value, cuts, each * draws));
  d->mcse_mean = d->sd * sqrt(share / (double)cuts + (1 - share) / fmax(d->ess_bulk, 1));
  /* A few draws of the dynamics do not cover what decisions would make of them. */
  if (idm_depends_on_dynamics(between)) d->q05 = d->q95 = NAN;
  if (opt_between) *opt_between = between;
  return status;
}
