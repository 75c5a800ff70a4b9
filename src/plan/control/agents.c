/* The seven agents of the paper's table, as clamps on theta. */
#include "plan/control/agents.h"

#include <math.h>
#include <string.h>

static void set_limits(idm_theta *theta, double alpha, double beta, double eta)
{
  idm_theta_set_scalar(theta, IDM_ALPHA, alpha);
  idm_theta_set_scalar(theta, IDM_BETA, beta);
  idm_theta_set_scalar(theta, IDM_ETA, eta);
}

static void uniform_actions(idm_theta *theta)
{
  for (size_t u = 0; u < theta->sizes.actions; u++)
    theta->block[IDM_ACTION_PRIOR].value[u] = 1.0 / (double)theta->sizes.actions;
}

/* A Dirac model prior: the agent knows the environment. The number of models stays, each of them
 * the environment's, so that the shape of theta does not depend on the planner. */
static idm_status know_environment(const idm_setting *setting, idm_theta *theta,
                                   idm_error *opt_error)
{
  if (!setting->transition || !setting->emission)
    return idm_fail(opt_error, IDM_INPUT,
                    "this agent knows the environment, but its dynamics are not given");
  const size_t transition = theta->block[IDM_TRANSITION].size / theta->models;
  const size_t emission = theta->block[IDM_EMISSION].size / theta->models;
  for (size_t m = 0; m < theta->models; m++) {
    memcpy(theta->block[IDM_TRANSITION].value + m * transition, setting->transition,
           transition * sizeof(double));
    memcpy(theta->block[IDM_EMISSION].value + m * emission, setting->emission,
           emission * sizeof(double));
  }
  return IDM_OK;
}

static idm_status need_positive_alpha(const idm_theta *theta, idm_error *opt_error)
{
  const double alpha = idm_theta_scalar(theta, IDM_ALPHA);
  if (alpha > 0 && isfinite(alpha)) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT, "this agent needs a positive, finite alpha; it is %g",
                  alpha);
}

idm_status idm_clamp_rational(const idm_setting *setting, idm_theta *theta, idm_error *opt_error)
{
  (void)setting;
  (void)opt_error;
  set_limits(theta, 0, INFINITY, 0);
  return IDM_OK;
}

idm_status idm_clamp_random(const idm_setting *setting, idm_theta *theta, idm_error *opt_error)
{
  set_limits(theta, INFINITY, INFINITY, 0);
  uniform_actions(theta);
  return know_environment(setting, theta, opt_error);
}

idm_status idm_clamp_optimal(const idm_setting *setting, idm_theta *theta, idm_error *opt_error)
{
  set_limits(theta, 0, INFINITY, 0);
  uniform_actions(theta);
  return know_environment(setting, theta, opt_error);
}

idm_status idm_clamp_minimum_information(const idm_setting *setting, idm_theta *theta,
                                         idm_error *opt_error)
{
  set_limits(theta, 1, INFINITY, 1);
  return know_environment(setting, theta, opt_error);
}

idm_status idm_clamp_maximum_entropy(const idm_setting *setting, idm_theta *theta,
                                     idm_error *opt_error)
{
  uniform_actions(theta);
  return idm_clamp_regularised(setting, theta, opt_error);
}

idm_status idm_clamp_regularised(const idm_setting *setting, idm_theta *theta, idm_error *opt_error)
{
  const idm_status status = need_positive_alpha(theta, opt_error);
  if (status != IDM_OK) return status;
  set_limits(theta, idm_theta_scalar(theta, IDM_ALPHA), INFINITY, 0);
  return know_environment(setting, theta, opt_error);
}

idm_status idm_clamp_robust(const idm_setting *setting, idm_theta *theta, idm_error *opt_error)
{
  (void)setting;
  const double beta = idm_theta_scalar(theta, IDM_BETA);
  if (!(beta < 0 && isfinite(beta)))
    return idm_fail(opt_error, IDM_INPUT, "this agent needs a negative, finite beta; it is %g",
                    beta);
  set_limits(theta, 0, beta, 0);
  uniform_actions(theta);
  return IDM_OK;
}
