/* The check `higher-mode`: whether a search found a mode that is higher than that of the draws. */
#include "invert/assess/higher_mode.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/moments.h"
#include "idm/diagnostics.h"
#include "invert/assess/checks.h"

/* An upper bound of the log-likelihood at the mode that the draws are of. In d directions of a
 * normal posterior the log-likelihood is gamma(d/2) below its maximum, whose mean and variance are
 * equal; so it is next to a bound at 0, where it is gamma(1) below. The variance is that within
 * chains: chains at different modes fail r-hat. With few data per number the posterior is far
 * from normal, and the mode that a search from the draws attains is the better bound. */
static idm_status find_reach(const double *x, size_t chains, size_t draws, double *ret_reach,
                             idm_error *opt_error)
{
  idm_diagnosis all;
  double variance = 0, best = -INFINITY;
  const idm_status status = idm_diagnose(x, chains, draws, draws, 1, &all, opt_error);
  if (status != IDM_OK) return status;
  for (size_t c = 0; c < chains; c++)
    variance += idm_moments_of(x + c * draws, draws).variance / (double)chains;
  for (size_t i = 0; i < chains * draws; i++) best = fmax(best, x[i]);
  const double error = sqrt((variance + 2 * variance * variance) / all.ess_bulk);
  *ret_reach = fmax(best, all.mean + variance + 2 * error);
  return IDM_OK;
}

idm_status idm_higher_mode_gap(const double *x, size_t chains, size_t draws, double highest,
                               double attained, double *ret_gap, idm_error *opt_error)
{
  double reach = NAN;
  const idm_status status = find_reach(x, chains, draws, &reach, opt_error);
  *ret_gap = highest - fmax(reach, attained);
  return status;
}

idm_status idm_check_higher_mode(const inquiry *q, idm_error *opt_error)
{
  const idm_posterior *p = q->posterior;
  const size_t count = p->chains * p->draws;
  double gap = NAN;
  if (!p->searched) return IDM_OK;
  double *x = idm_new(count, sizeof *x);
  if (!x) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count; i++) x[i] = p->statistics[i].log_density;
  const idm_status status =
      idm_higher_mode_gap(x, p->chains, p->draws, p->highest, p->attained, &gap, opt_error);
  free(x);
  if (status == IDM_OK && idm_check_beyond(&q->assessment->checks, IDM_CHECK_HIGHER_MODE, gap))
    idm_notes_add(&q->assessment->failures,
                  "a start of the search has a log-likelihood of %.1f, and the draws reach %.1f: "
                  "they are of a lower mode; leave --starts out, or raise it",
                  p->highest, p->highest - gap);
  return status;
}
