/* Findings: the verdict on an answer that does not go by the likelihood, and the finding of one
 * that does.
 *
 * Contents: certificates · behaviour · soft policy matching */
#include "invert/assess/finding.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "idm/project.h"
#include "invert/assess/checks.h"
#include "invert/policy.h"

/* --- certificates --------------------------------------------------------------------------- */

idm_status idm_check_certificate(const inquiry *q, idm_error *opt_error)
{
  (void)opt_error;
  idm_assessment *a = q->assessment;
  const idm_finding *f = a->finding;
  if (!f) return IDM_OK;
  idm_check_record(&a->checks, IDM_CHECK_CERTIFICATE, IDM_CHECK_PASSED, f->attained);
  a->checks.of[IDM_CHECK_CERTIFICATE].threshold = f->closed;
  for (size_t i = 0; i < f->faults.count; i++)
    idm_notes_add(idm_check_note(a, IDM_CHECK_CERTIFICATE, IDM_CHECK_FAILED), "%s",
                  f->faults.text[i]);
  /* Of draws R-hat is looked at number by number. */
  if (a->answer != IDM_POSTERIOR && !idm_finding_holds(f))
    idm_notes_add(idm_check_note(a, IDM_CHECK_CERTIFICATE, IDM_CHECK_FAILED),
                  "the certificate is not closed: its %s is %.3g, expected at most %.3g; nothing "
                  "shows that this is the answer",
                  f->certificate, f->attained, f->closed);
  for (size_t i = 0; i < f->words.count; i++) idm_notes_add(&a->remarks, "%s", f->words.text[i]);
  return IDM_OK;
}

idm_status idm_check_coverage(const inquiry *q, idm_error *opt_error)
{
  (void)opt_error;
  const idm_inverse *by = idm_inverse_find(q->posterior->inverse);
  if (by && by->own_objective && q->posterior->answer == IDM_POSTERIOR)
    idm_check_leave_open(&q->assessment->checks, IDM_CHECK_COVERAGE,
                         "a generalised posterior has no likelihood to test the model by, which "
                         "--inverse bayes does; idm recover RUN measures what intervals cover");
  /* Errors of the policies are in both sides of the equations, so that the discount is biased. */
  const bool batches = by && by->columns & 1U << IDM_COLUMN_BATCH;
  if (batches && idm_labels_find(&q->posterior->quantity, "discount", strlen("discount")) >= 0)
    idm_check_leave_open(
        &q->assessment->checks, IDM_CHECK_COVERAGE,
        "errors of the batches' policies bias the discount; idm recover RUN measures "
        "how far");
  return IDM_OK;
}

/* --- behaviour ------------------------------------------------------------------------------ */

/* Than chance, by more than rounding: under a utility that is the same everywhere a planner does
 * everything alike, and no last digit may tell the two apart. */
static bool is_better(const idm_projection *p)
{
  return p->log_loss < p->uniform_log_loss * (1 - 1e-9);
}

static void judge_behavior(idm_assessment *a, const idm_projection *p)
{
  const double ratio = p->log_loss / p->uniform_log_loss;
  const bool fails = isinf(p->log_loss) || (p->decisions && !is_better(p));
  if (isnan(p->log_loss)) {
    idm_check_skip(&a->checks, IDM_CHECK_BEHAVIOR, "no environment is chosen");
    idm_notes_add(&a->remarks,
                  "unchecked: behaviour at the answer is planned for one environment, and none is "
                  "chosen; `idm score` with --set environment=NAME compares it with one");
    return;
  }
  if (p->decisions || fails)
    idm_check_record(&a->checks, IDM_CHECK_BEHAVIOR, fails ? IDM_CHECK_MISFIT : IDM_CHECK_PASSED,
                     ratio);
  if (isinf(p->log_loss))
    idm_notes_add(&a->misfits,
                  "the planner at this answer never does what the log does somewhere: its log-loss "
                  "is infinite");
  else if (fails)
    idm_notes_add(&a->misfits,
                  "no better than chance: the planner at this answer has a log-loss of %.4f a "
                  "decision, taking every open action alike %.4f",
                  p->log_loss, p->uniform_log_loss);
}

idm_status idm_check_behavior(const inquiry *q, idm_error *opt_error)
{
  idm_projection projection;
  if (!q->assessment->finding) return IDM_OK; /* people record their own */
  if (q->assessment->finding->compared) {
    idm_check_skip(&q->assessment->checks, IDM_CHECK_BEHAVIOR,
                   "trajectories were compared, not imitated");
    return IDM_OK;
  }
  const idm_status status =
      idm_projection_centre(q->f->problem, q->posterior, q->f->data, &projection, opt_error);
  if (status == IDM_OK) judge_behavior(q->assessment, &projection);
  return status;
}

/* --- soft policy matching ------------------------------------------------------------------- */

/* As one row among others: its expression is the divergence of the
 * demonstrator's decisions from the planner's, which but for their own entropy is minus the
 * log-likelihood. */

/* The largest R-hat of what is summarised; NaN where there is none, or one chain. */
static double worst_rhat(const idm_posterior *p, const idm_assessment *a)
{
  double worst = p->chains > 1 ? 1 : NAN;
  for (size_t i = 0; p->chains > 1 && i < a->quantities; i++) {
    const bool named = !p->quantity_size || p->quantity_size[i] == 1;
    if (named && p->summarised[i] && !(a->diagnosis[i].rhat <= worst)) worst = a->diagnosis[i].rhat;
  }
  return worst;
}

/* What is read off the answer's centre. */
static idm_status look_at_centre(const inquiry *q, idm_finding *finding, idm_error *opt_error)
{
  const fit *f = q->f;
  idm_theta *theta = NULL;
  double log_likelihood = NAN;
  double *centre = idm_new(f->parameters->dimension, sizeof *centre);
  idm_status status = centre ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    idm_posterior_centre(q->posterior, centre);
    status = idm_matching_log_likelihood(f->matching[0], centre, &log_likelihood, NULL, opt_error);
  }
  finding->objective = -log_likelihood;
  if (status == IDM_OK && idm_policy_by_state(f->problem)) {
    status = idm_theta_copy(f->problem->theta, &theta, opt_error);
    if (status == IDM_OK) {
      idm_parameters_set(f->parameters, centre, theta);
      status = idm_policy_put(f->problem, theta, finding, opt_error);
    }
  }
  idm_theta_destroy(theta);
  free(centre);
  return status;
}

idm_status idm_assess_matched(const inquiry *q, idm_error *opt_error)
{
  idm_assessment *a = q->assessment;
  idm_finding *finding = NULL;
  idm_status status = idm_finding_create(0, &finding, opt_error);
  if (status == IDM_OK) status = look_at_centre(q, finding, opt_error);
  if (status != IDM_OK) {
    idm_finding_destroy(finding);
    return status;
  }
  if (q->posterior->answer == IDM_POSTERIOR) {
    snprintf(finding->certificate, sizeof finding->certificate, "R-hat");
    finding->attained = worst_rhat(q->posterior, a);
    finding->closed = idm_check_threshold(IDM_CHECK_RHAT);
  }
  a->matched = finding;
  return IDM_OK;
}
