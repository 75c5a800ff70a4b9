/* Whether the groups of an audit differ: see the header. */
#include "invert/audit/differ.h"

#include <math.h>

#include "base/memory.h"
#include "base/moments.h"
#include "idm/distribution.h"

idm_status idm_audit_differ(const audit_plan *plan, const audit_draws *draws,
                            audit_difference *difference, idm_error *opt_error)
{
  const size_t d = plan->model.dimension, all = draws->chains * draws->draws;
  double *value = idm_new(all, sizeof *value);
  if (!value) return idm_fail_memory(opt_error);
  *difference = (audit_difference){0};
  for (size_t i = 0; i < plan->contrasts * d; i++) {
    idm_audit_line_draw(&plan->model, draws, &plan->contrast[i / d], i % d, value);
    const idm_moments m = idm_moments_of(value, all);
    const double sds = fabs(m.mean) / sqrt(m.variance);
    if (!(sds > difference->sds)) continue;
    *difference =
        (audit_difference){.contrast = i / d, .coordinate = i % d, .mean = m.mean, .sds = sds};
  }
  free(value);
  const double tail = idm_chi_square_tail(difference->sds * difference->sds, 1);
  difference->p = fmin(1, tail * (double)(plan->contrasts * d));
  return IDM_OK;
}

bool idm_audit_is_mixture(const idm_checks *everybody)
{
  return everybody->of[IDM_CHECK_INERT].outcome != IDM_CHECK_MISFIT &&
         everybody->of[IDM_CHECK_ENVIRONMENT].outcome != IDM_CHECK_MISFIT;
}

bool idm_audit_is_unlike(const idm_checks *everybody)
{
  bool unlike = false;
  for (int id = 0; id < IDM_CHECK_COUNT; id++) {
    if (everybody->of[id].outcome != IDM_CHECK_MISFIT) continue;
    if (id != IDM_CHECK_ALIKE && id != IDM_CHECK_TRAJECTORIES) return false;
    unlike = true;
  }
  return unlike;
}
