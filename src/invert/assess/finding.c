/* The verdict on an answer that does not go by the likelihood. */
#include "invert/assess/finding.h"

#include <math.h>

#include "idm/project.h"

void idm_judge_finding(idm_assessment *a)
{
  const idm_finding *f = a->finding;
  for (size_t i = 0; i < f->faults.count; i++) idm_notes_add(&a->failures, "%s", f->faults.text[i]);
  /* Of draws R-hat is looked at number by number, see judge_quantity. */
  if (a->answer != IDM_POSTERIOR && !idm_finding_holds(f))
    idm_notes_add(&a->failures,
                  "the certificate is not closed: its %s is %.3g, expected at most %.3g; nothing "
                  "shows that this is the answer",
                  f->certificate, f->attained, f->closed);
  for (size_t i = 0; i < f->words.count; i++) idm_notes_add(&a->remarks, "%s", f->words.text[i]);
}

/* Than chance, by more than rounding: under a utility that is the same everywhere a planner does
 * everything alike, and no last digit may tell the two apart. */
static bool is_better(const idm_projection *p)
{
  return p->log_loss < p->uniform_log_loss * (1 - 1e-9);
}

idm_status idm_judge_behavior(const idm_problem *problem, const idm_data *data,
                              const idm_posterior *posterior, idm_assessment *a,
                              idm_error *opt_error)
{
  if (a->finding->compared) return IDM_OK;
  idm_projection projection;
  const idm_status status = idm_projection_centre(problem, posterior, data, &projection, opt_error);
  if (status != IDM_OK) return status;
  if (isnan(projection.log_loss))
    idm_notes_add(
        &a->remarks,
        "unchecked: behaviour at the answer is planned for one environment, and the log is "
        "of several; `idm score` with --set environment=NAME compares it with one");
  else if (isinf(projection.log_loss))
    idm_notes_add(&a->misfits,
                  "the planner at this answer never does what the log does somewhere: its log-loss "
                  "is infinite");
  else if (projection.decisions && !is_better(&projection))
    idm_notes_add(&a->misfits,
                  "no better than chance: the planner at this answer has a log-loss of %.4f a "
                  "decision, taking every open action alike %.4f",
                  projection.log_loss, projection.uniform_log_loss);
  a->trusted = !a->failures.count && !a->misfits.count;
  return IDM_OK;
}
