/* The verdict on answers over learnt dynamics: see the header. */
#include "invert/joint/verdict.h"

#include "base/memory.h"
#include "base/moments.h"
#include "invert/assess/given.h"
#include "invert/check.h"

void idm_joint_judge(const idm_joint_dynamics *d, idm_checks *checks, idm_notes *remarks,
                     idm_notes *failures, bool *trusted)
{
  idm_notes_add(remarks,
                "dynamics and decisions are drawn together from the log: intervals include what "
                "both leave open of the dynamics (R-hat of these at most %.3f, effective draws at "
                "least %.0f)",
                d->rhat, d->effective);
  if (!idm_check_test(checks, IDM_CHECK_JOINT_RHAT, d->rhat)) return;
  *trusted = false;
  idm_notes_add(
      failures,
      "the chains disagree about the dynamics that are drawn with the decisions: R-hat is "
      "%.3f, above %.2f; run longer (--warmup, --draws)",
      d->rhat, idm_check_threshold(IDM_CHECK_JOINT_RHAT));
}

idm_status idm_dynamics_mean(const idm_cuts *cut, const idm_joint_dynamics *opt_drawn,
                             idm_dynamics_draws *mean, idm_error *opt_error)
{
  const idm_dynamics_draws *draws = cut->draws;
  const size_t all = draws->chains * draws->draws;
  *mean = (idm_dynamics_draws){.chains = 1, .draws = 1, .numbers = draws->numbers};
  mean->place = idm_duplicate(draws->place, mean->numbers, sizeof *mean->place);
  mean->value = idm_new(mean->numbers, sizeof *mean->value);
  if (!mean->place || !mean->value) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < mean->numbers; i++)
    mean->value[i] = opt_drawn ? opt_drawn->mean[i] : idm_mean(draws->value + i * all, all);
  return IDM_OK;
}

idm_status idm_joint_assess(const idm_problem *problem, const idm_data *data,
                            const idm_inverse *inverse, const idm_fit_settings *settings,
                            const idm_posterior *posterior, const idm_fit_watch *opt_watch,
                            idm_assessment **ret_assessment, idm_error *opt_error)
{
  idm_fit_settings own = *settings;
  own.keep = IDM_KEEP_NOTHING;
  if (posterior->dynamics) own.sampler[0] = '\0'; /* it may be one for joint posteriors */
  idm_posterior *given = NULL;
  *ret_assessment = NULL;
  idm_status status = inverse->fit(problem, data, &own, opt_watch, &given, NULL, opt_error);
  if (status == IDM_OK && given->answer == IDM_POSTERIOR && given->draws < (size_t)own.draws)
    status = idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
  if (status == IDM_OK)
    status = idm_assess_given(problem, data, posterior, given, settings->threads, opt_watch,
                              ret_assessment, opt_error);
  idm_posterior_destroy(given);
  return status;
}
