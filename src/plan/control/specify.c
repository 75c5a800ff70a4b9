/* The specification policy. */
#include "plan/control/specify.h"

#include <math.h>

#include "base/soft_block.h"
#include "base/tail.h"

double idm_control_specify(const control *c, const double *k, double *opt_sigma)
{
  const control_numbers *n = &c->numbers;
  return c->robust ? idm_tail(n->risk, c->models, n->model_prior, k, opt_sigma)
                   : idm_soft(n->beta, c->models, n->model_prior, k, opt_sigma);
}

void idm_control_specify_block(const control *c, const double *k, double *value, double *opt_sigma)
{
  const control_numbers *n = &c->numbers;
  if (!c->robust) {
    idm_soft_block(n->beta, c->models, n->model_prior, k, value, opt_sigma);
    return;
  }
  for (size_t l = 0; l < IDM_LANES; l++) {
    double *const one = c->risky; /* K at a point, then sigma */
    for (size_t m = 0; m < c->models; m++) one[m] = k[m * IDM_LANES + l];
    value[l] = idm_tail(n->risk, c->models, n->model_prior, one, one + c->models);
    for (size_t m = 0; opt_sigma && m < c->models; m++)
      opt_sigma[m * IDM_LANES + l] = one[c->models + m];
  }
}

double idm_control_specification(const control *c, const double *k, double *sigma)
{
  const double *prior = c->numbers.model_prior;
  idm_control_specify(c, k, sigma);
  if (!c->robust) return idm_soft_divergence(c->numbers.beta, c->models, prior, k);
  double kl = 0;
  for (size_t m = 0; m < c->models; m++)
    if (sigma[m] > 0) kl += sigma[m] * log(sigma[m] / prior[m]);
  return kl > 0 ? kl : 0;
}
