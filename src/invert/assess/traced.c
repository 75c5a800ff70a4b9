/* Profile log-likelihoods as curves: see the header. */
#include "invert/assess/traced.h"

#include "base/memory.h"
#include "invert/assess/identify.h"
#include "invert/posterior.h"

void idm_traces_clear(idm_traces *traces)
{
  for (size_t i = 0; traces->one && i < traces->count; i++) {
    free(traces->one[i].value);
    free(traces->one[i].drop);
  }
  free(traces->one);
  idm_assessment_destroy(traces->assessment);
  *traces = (idm_traces){0};
}

static idm_status look(const inquiry *q, idm_traces *traces, idm_error *opt_error)
{
  inquiry own = *q;
  traces->one = idm_new(q->f->parameters->items, sizeof *traces->one);
  if (!traces->one) return idm_fail_memory(opt_error);
  traces->count = q->f->parameters->items; /* at most */
  own.assessment = traces->assessment;
  own.traced = traces->one;
  const idm_status status = idm_identify(&own, opt_error);
  if (status == IDM_OK) traces->count = traces->assessment->parameters;
  return status;
}

idm_status idm_traces_find(const idm_problem *problem, const idm_data *data,
                           const idm_posterior *posterior, int threads, idm_traces *ret_traces,
                           idm_error *opt_error)
{
  fit f = {0};
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.threads = threads;
  settings.seed = posterior->seed;
  *ret_traces = (idm_traces){0};
  if (posterior->coordinate_size)
    return idm_fail(opt_error, IDM_INPUT,
                    "most of the free numbers have no names: there is no profile to look at");
  idm_status status = idm_assess_draws(posterior, &ret_traces->assessment, opt_error);
  if (status == IDM_OK) status = idm_fit_open(&f, NULL, problem, data, &settings, 1, opt_error);
  if (status == IDM_OK) status = idm_posterior_check(posterior, f.parameters, opt_error);
  if (status == IDM_OK)
    status = look(&(inquiry){.f = &f, .posterior = posterior, .among = 1}, ret_traces, opt_error);
  idm_fit_close(&f);
  if (status != IDM_OK) idm_traces_clear(ret_traces);
  return status;
}
