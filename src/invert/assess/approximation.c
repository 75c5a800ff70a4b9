/* Importance weights of a normal approximation: how many of its draws count, and how heavy their
 * tail is. */
#include "invert/assess/approximation.h"

#include <math.h>

#include "base/dense.h"
#include "base/log_sum.h"
#include "base/memory.h"
#include "base/moments.h"
#include "idm/inverse.h"
#include "idm/pareto.h"
#include "invert/posterior.h"

/* Vehtari et al. (2024): above this importance weights are not to be relied upon. */
static const double most_shape = 0.7;

/* Mean and Cholesky factor of the covariance of the draws: those of the approximation, up to the
 * error of a sample. False where there is none. */
static bool find_normal(const idm_posterior *p, size_t d, double *mean, double *factor)
{
  const size_t count = p->chains * p->draws;
  idm_covariance(&(idm_points){p->unconstrained, count, d, 1, count, NULL}, 1, mean, factor);
  return idm_cholesky(d, factor);
}

/* weight = density / normal density, normalised; draws without a density have weight 0. */
static void weigh(const idm_posterior *p, size_t d, const double *mean, const double *factor,
                  double *z, double *weight)
{
  const size_t count = p->chains * p->draws;
  for (size_t k = 0; k < count; k++) {
    double square = 0;
    for (size_t i = 0; i < d; i++) z[i] = p->unconstrained[i * count + k] - mean[i];
    idm_lower_solve(d, factor, z);
    for (size_t i = 0; i < d; i++) square += z[i] * z[i];
    const double log_weight = p->statistics[k].log_density + 0.5 * square;
    weight[k] = isnan(log_weight) ? -INFINITY : log_weight;
  }
  idm_softmax(weight, count, weight);
}

idm_status idm_judge_approximation(const idm_posterior *p, idm_assessment *a, idm_error *opt_error)
{
  const size_t d = idm_posterior_dimension(p);
  const size_t count = p->chains * p->draws;
  const idm_inverse *by = idm_inverse_find(p->inverse);
  if (!by || !by->normal || count <= d + 1) return IDM_OK;
  double *scratch = idm_new((2 + d) * d, sizeof *scratch);
  double *weight = idm_new(count, sizeof *weight);
  idm_status status = scratch && weight ? IDM_OK : idm_fail_memory(opt_error);
  double shape = NAN;
  double share = NAN;
  if (status == IDM_OK && find_normal(p, d, scratch, scratch + 2 * d)) {
    weigh(p, d, scratch, scratch + 2 * d, scratch + d, weight);
    share = idm_effective_size(weight, count) / (double)count;
    status = idm_pareto_shape(weight, count, &shape, opt_error);
  }
  if (status == IDM_OK && (!(share >= IDM_FAIR_SHARE) || shape > most_shape))
    idm_notes_add(&a->failures,
                  "the normal approximation is not the posterior: weighed by it %.0f %% of the "
                  "draws are effective, fewer than %.0f, or their weights are too unequal (Pareto "
                  "k %.2f, to be at most %.1f); use --inverse bayes",
                  100 * share, 100 * IDM_FAIR_SHARE, shape, most_shape);
  free(weight);
  free(scratch);
  return status;
}
