/* Posteriors: what an inverse planner found. */
#include "invert/posterior.h"

#include "base/door.h"
#include "base/memory.h"

void idm_posterior_destroy(idm_posterior *posterior)
{
  if (!posterior) return;
  idm_labels_destroy(&posterior->quantity);
  free(posterior->summarised);
  free(posterior->quantity_size);
  free(posterior->coordinate_size);
  free(posterior->value);
  idm_labels_destroy(&posterior->coordinate);
  free(posterior->unconstrained);
  free(posterior->statistics);
  idm_labels_destroy(&posterior->unit);
  free(posterior->log_likelihood);
  free(posterior->prior);
  free(posterior);
}

static size_t sum_of(const idm_labels *names, const size_t *opt_size)
{
  size_t sum = 0;
  for (size_t i = 0; i < names->count; i++) sum += opt_size ? opt_size[i] : 1;
  return sum;
}

size_t idm_posterior_numbers(const idm_posterior *posterior)
{
  if (!posterior) return 0;
  return sum_of(&posterior->quantity, posterior->quantity_size);
}

size_t idm_posterior_dimension(const idm_posterior *posterior)
{
  if (!posterior) return 0;
  return sum_of(&posterior->coordinate, posterior->coordinate_size);
}

idm_status idm_posterior_check(const idm_posterior *posterior, const idm_parameters *parameters,
                               idm_error *opt_error)
{
  if (idm_labels_same(&posterior->coordinate, idm_parameters_coordinates(parameters)) &&
      idm_labels_same(&posterior->quantity, idm_parameters_quantities(parameters)))
    return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "the draws are of other parameters than those that the problem frees");
}

idm_status idm_posterior_theta(const idm_posterior *posterior, const idm_parameters *parameters,
                               size_t chain, size_t draw, idm_theta *theta, idm_error *opt_error)
{
  idm_require(posterior, parameters, theta);
  const size_t d = idm_parameters_dimension(parameters);
  const idm_status status = idm_posterior_check(posterior, parameters, opt_error);
  if (status != IDM_OK) return status;
  if (chain >= posterior->chains || draw >= posterior->draws)
    return idm_fail(opt_error, IDM_USAGE, "there is no draw %zu of chain %zu", draw, chain);
  double *y = idm_new(d, sizeof *y);
  if (!y) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < d; i++)
    y[i] = posterior->unconstrained[(i * posterior->chains + chain) * posterior->draws + draw];
  idm_parameters_set(parameters, y, theta);
  free(y);
  return IDM_OK;
}

void idm_posterior_centre(const idm_posterior *posterior, double *y)
{
  if (!posterior || !y) return;
  const size_t count = posterior->chains * posterior->draws;
  const size_t dimension = idm_posterior_dimension(posterior);
  for (size_t i = 0; i < dimension; i++) {
    double sum = 0;
    for (size_t j = 0; j < count; j++) sum += posterior->unconstrained[i * count + j];
    y[i] = sum / (double)count;
  }
}

idm_status idm_posterior_central_theta(const idm_posterior *posterior,
                                       const idm_parameters *parameters, idm_theta *theta,
                                       idm_error *opt_error)
{
  idm_require(posterior, parameters, theta);
  const idm_status status = idm_posterior_check(posterior, parameters, opt_error);
  if (status != IDM_OK) return status;
  double *y = idm_new(idm_posterior_dimension(posterior), sizeof *y);
  if (!y) return idm_fail_memory(opt_error);
  idm_posterior_centre(posterior, y);
  idm_parameters_set(parameters, y, theta);
  free(y);
  return IDM_OK;
}
