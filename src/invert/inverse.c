/* The registry of inverse planners, and what every one of them begins with. */
#include <math.h>

#include "base/memory.h"
#include "invert/fit.h"

static const idm_inverse *const inverses[] = {&idm_inverse_bayes, &idm_inverse_map,
                                              &idm_inverse_laplace};

const idm_inverse *idm_inverse_at(size_t index)
{
  return index < sizeof inverses / sizeof inverses[0] ? inverses[index] : NULL;
}

const idm_inverse *idm_inverse_find(const char *name)
{
  for (size_t i = 0; idm_inverse_at(i); i++)
    if (strcmp(inverses[i]->name, name) == 0) return inverses[i];
  return NULL;
}

void idm_fit_close(fit *f)
{
  for (size_t i = 0; f->matching && i < f->matchings; i++) idm_matching_destroy(f->matching[i]);
  free(f->matching);
  idm_prefix_tree_destroy(f->tree);
  idm_parameters_destroy(f->parameters);
  *f = (fit){0};
}

static idm_status check_request(const idm_problem *problem, idm_error *opt_error)
{
  const idm_agent *agent = &problem->agent;
  if (isnan(agent->decision_capacity) && isnan(agent->specification_capacity) &&
      isnan(agent->recognition_capacity))
    return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "the agent has a capacity, which finds a multiplier by itself; a fit infers the "
                  "multiplier: leave the capacity out");
}

idm_status idm_fit_open(fit *f, const idm_problem *problem, const idm_data *data,
                        const idm_fit_settings *settings, size_t matchings, idm_error *opt_error)
{
  *f = (fit){.problem = problem, .data = data, .settings = settings};
  idm_status status = check_request(problem, opt_error);
  if (status == IDM_OK) status = idm_parameters_create(problem, &f->parameters, opt_error);
  if (status == IDM_OK) status = idm_prefix_tree_create(data, &f->tree, opt_error);
  if (status == IDM_OK) {
    f->matching = idm_new(matchings, sizeof *f->matching);
    if (!f->matching) status = idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < matchings && status == IDM_OK; i++) {
    status = idm_matching_create(problem, data, f->tree, f->parameters, &f->matching[i], opt_error);
    f->matchings = i + 1;
  }
  if (status == IDM_OK) status = idm_matching_check(f->matching[0], opt_error);
  if (status != IDM_OK) idm_fit_close(f);
  return status;
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
  const size_t d = idm_parameters_dimension(parameters);
  const idm_status status = idm_posterior_check(posterior, parameters, opt_error);
  if (status != IDM_OK) return status;
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
  const size_t count = posterior->chains * posterior->draws;
  for (size_t i = 0; i < posterior->coordinate.count; i++) {
    double sum = 0;
    for (size_t j = 0; j < count; j++) sum += posterior->unconstrained[i * count + j];
    y[i] = sum / (double)count;
  }
}
