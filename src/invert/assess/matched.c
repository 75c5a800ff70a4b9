/* Soft policy matching as a row among others (TABLES, section 3): its expression is the divergence
 * of the demonstrator's decisions from the planner's, which but for their own entropy is minus the
 * log-likelihood. */
#include "invert/assess/matched.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "invert/policy.h"

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
  static const double most_rhat = 1.01; /* as in the verdict */
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
    finding->closed = most_rhat;
  }
  a->matched = finding;
  return IDM_OK;
}
