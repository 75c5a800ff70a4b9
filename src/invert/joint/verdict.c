/* The verdict on answers over learnt dynamics: see the header. */
#include "invert/joint/verdict.h"

#include <math.h>

#include "idm/distribution.h"
#include "invert/assess/given.h"
#include "invert/check.h"

/* Where the agent is right, decisions move the dynamics within what the observations leave open:
 * twice the loss is at most chi-square with the free probabilities for degrees. */
static void judge_loss(const idm_joint_dynamics *d, idm_checks *checks, idm_notes *failures,
                       bool *trusted)
{
  if (isnan(d->lost)) return;
  const double p = d->lost > 0 ? idm_chi_square_tail(2 * d->lost, (double)d->free) : 1;
  if (!idm_check_test(checks, IDM_CHECK_JOINT_OBSERVATIONS, p)) return;
  *trusted = false;
  idm_notes_add(failures,
                "decisions and observations contradict each other about the dynamics: the "
                "observations alone are likelier by %.1f nats at other dynamics of %zu free "
                "probabilities (p = %.2g), so that the agent is another one (utilities, discount, "
                "beliefs) than the problem describes",
                d->lost, d->free, p);
}

void idm_joint_judge(const idm_joint_dynamics *d, idm_checks *checks, idm_notes *remarks,
                     idm_notes *failures, bool *trusted)
{
  idm_notes_add(remarks,
                "dynamics and decisions are drawn together from the log: intervals include what "
                "both leave open of the dynamics (R-hat of these at most %.3f, effective draws at "
                "least %.0f)",
                d->rhat, d->effective);
  judge_loss(d, checks, failures, trusted);
  if (!idm_check_test(checks, IDM_CHECK_JOINT_RHAT, d->rhat)) return;
  *trusted = false;
  idm_notes_add(
      failures,
      "the chains disagree about the dynamics that are drawn with the decisions: R-hat is "
      "%.3f, above %.2f; run longer (--warmup, --draws)",
      d->rhat, idm_check_threshold(IDM_CHECK_JOINT_RHAT));
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
  idm_status status =
      idm_inverse_fit(inverse, problem, data, &own, opt_watch, &given, NULL, opt_error);
  if (status == IDM_OK && given->answer == IDM_POSTERIOR && given->draws < (size_t)own.draws)
    status = idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
  if (status == IDM_OK)
    status = idm_assess_given(problem, data, posterior, given, settings->threads, opt_watch,
                              ret_assessment, opt_error);
  idm_posterior_destroy(given);
  return status;
}
