#include "invert/assess/answered_support.h"

#include <string.h>

#include "invert/matching/fit.h"

answered answered_fit(const char *inverse, idm_problem *problem, idm_data *data, int draws,
                      int warmup, int thin)
{
  answered a = {.problem = problem, .data = data};
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.threads = 1;
  settings.chains = 2;
  settings.draws = draws;
  settings.warmup = warmup;
  settings.thin = thin;
  check(idm_inverse_fit(idm_inverse_find(inverse), problem, data, &settings, NULL, &a.posterior,
                        NULL, &support_error));
  check(idm_assess_monitored(problem, data, a.posterior, 1, NULL, &a.assessment, &support_error));
  return a;
}

void answered_close(answered *a)
{
  idm_assessment_destroy(a->assessment);
  idm_posterior_destroy(a->posterior);
  idm_data_destroy(a->data);
  idm_problem_destroy(a->problem);
}

const idm_sensitivity *answered_sensitivity(const answered *a, const char *name)
{
  for (size_t i = 0; i < a->assessment->sensitivities; i++)
    if (strcmp(a->assessment->sensitivity[i].name, name) == 0)
      return &a->assessment->sensitivity[i];
  fail_msg("no sensitivity to %s", name);
  return NULL;
}

void answered_likelihoods(const answered *a, size_t count, double *value)
{
  enum { most = 8 };
  const size_t all = a->posterior->chains * a->posterior->draws;
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  fit_context work;
  check(idm_fit_open(&work, NULL, a->problem, a->data, &settings, 1, &support_error));
  const size_t numbers = idm_parameters_dimension(work.parameters);
  assert_true(numbers <= most);
  for (size_t k = 0; k < count; k++) {
    double y[most];
    for (size_t j = 0; j < numbers; j++)
      y[j] = a->posterior->unconstrained[j * all + k * all / count];
    check(idm_matching_log_likelihood(work.matching[0], y, &value[k], NULL, &support_error));
  }
  idm_fit_close(&work);
}
