/* The verdict on dynamics that were drawn with the decisions: see the header. */
#include "invert/joint/verdict.h"

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
