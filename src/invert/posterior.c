/* Posteriors: what an inverse planner found. */
#include "invert/posterior.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "base/moments.h"
#include "invert/table.h"

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
  for (size_t i = 0; posterior->axis && i < posterior->axes; i++) {
    free(posterior->axis[i].name);
    idm_labels_destroy(&posterior->axis[i].label);
  }
  for (size_t i = 0; posterior->series && i < posterior->series_count; i++)
    free(posterior->series[i].name);
  free(posterior->axis);
  free(posterior->series);
  idm_joint_dynamics_destroy(posterior->dynamics);
  idm_drawn_destroy(posterior->drawn);
  idm_finding_destroy(posterior->finding);
  idm_table_destroy(posterior->table);
  free(posterior);
}

void idm_joint_dynamics_destroy(idm_joint_dynamics *dynamics)
{
  if (!dynamics) return;
  idm_labels_destroy(&dynamics->name);
  free(dynamics->mean);
  free(dynamics->sd);
  free(dynamics);
}

idm_status idm_joint_dynamics_create(const idm_labels *name, idm_joint_dynamics **ret_dynamics,
                                     idm_error *opt_error)
{
  idm_require(name, ret_dynamics);
  *ret_dynamics = NULL;
  idm_joint_dynamics *d = idm_new(1, sizeof *d);
  if (!d) return idm_fail_memory(opt_error);
  d->mean = idm_new(name->count, sizeof *d->mean);
  d->sd = idm_new(name->count, sizeof *d->sd);
  d->rhat = d->effective = d->lost = NAN;
  const idm_status status =
      d->mean && d->sd ? idm_labels_copy(name, &d->name, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    *ret_dynamics = d;
  else
    idm_joint_dynamics_destroy(d);
  return status;
}

idm_status idm_posterior_open(const char *inverse, const char *sampler, size_t chains, size_t draws,
                              size_t quantities, idm_posterior **ret_posterior,
                              idm_error *opt_error)
{
  const size_t all = idm_times(chains, draws);
  *ret_posterior = NULL;
  idm_posterior *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  p->answer = IDM_POSTERIOR;
  snprintf(p->inverse, sizeof p->inverse, "%s", inverse);
  snprintf(p->sampler, sizeof p->sampler, "%s", sampler);
  p->chains = chains;
  p->draws = draws;
  p->summarised = idm_new(quantities, sizeof *p->summarised);
  p->value = idm_new(idm_times(quantities, all), sizeof *p->value);
  p->statistics = idm_new(all, sizeof *p->statistics);
  if (!p->summarised || !p->value || !p->statistics) {
    idm_posterior_destroy(p);
    return idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < all; i++)
    p->statistics[i] = (idm_statistics){
        .log_density = NAN, .acceptance = NAN, .step_size = NAN, .energy = NAN, .tree_depth = -1};
  *ret_posterior = p;
  return IDM_OK;
}

size_t idm_posterior_series(const idm_posterior *posterior, size_t quantity)
{
  if (!posterior) return 0;
  size_t i = 0;
  while (i < posterior->series_count &&
         (quantity < posterior->series[i].first ||
          quantity >=
              posterior->series[i].first + posterior->axis[posterior->series[i].axis].label.count))
    i++;
  return i;
}

size_t idm_posterior_axis(const idm_posterior *posterior, const char *name)
{
  if (!posterior || !name) return 0;
  size_t i = 0;
  while (i < posterior->axes && strcmp(posterior->axis[i].name, name) != 0) i++;
  return i;
}

/* Name quantity i of a series as its axis says. */
static idm_status name_of_series(const idm_posterior *posterior, size_t series, size_t i,
                                 idm_labels *quantity, idm_error *opt_error)
{
  const idm_series *s = &posterior->series[series];
  const char *label = posterior->axis[s->axis].label.name[i];
  const size_t size = strlen(s->name) + strlen(label) + 3;
  char *name = idm_new(size, 1);
  if (!name) return idm_fail_memory(opt_error);
  snprintf(name, size, "%s[%s]", s->name, label);
  const idm_status status = idm_labels_set(quantity, s->first + i, name, strlen(name), opt_error);
  free(name);
  return status;
}

idm_status idm_posterior_add_axis(idm_posterior *p, const char *name, const idm_labels *label,
                                  idm_error *opt_error)
{
  idm_series_axis *grown = realloc(p->axis, (p->axes + 1) * sizeof *grown);
  if (!grown) return idm_fail_memory(opt_error);
  p->axis = grown;
  grown[p->axes] = (idm_series_axis){.name = idm_text_copy(name, strlen(name))};
  if (!grown[p->axes++].name) return idm_fail_memory(opt_error);
  return idm_labels_copy(label, &grown[p->axes - 1].label, opt_error);
}

idm_status idm_posterior_add_series(idm_posterior *p, const char *name, size_t axis, size_t first,
                                    idm_error *opt_error)
{
  idm_series *grown = realloc(p->series, (p->series_count + 1) * sizeof *grown);
  if (!grown) return idm_fail_memory(opt_error);
  p->series = grown;
  grown[p->series_count] = (idm_series){idm_text_copy(name, strlen(name)), first, axis};
  if (!grown[p->series_count++].name) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < p->axis[axis].label.count && status == IDM_OK; i++) {
    p->summarised[first + i] = true;
    status = name_of_series(p, p->series_count - 1, i, &p->quantity, opt_error);
  }
  return status;
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
  if (posterior->series_count)
    return idm_fail(opt_error, IDM_INPUT,
                    "the draws are of people, each with numbers of their own (--by or --each), and "
                    "numbers for all are needed here; see `idm summary RUN`, or fit without --by");
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
  const idm_drawn *d = posterior->drawn;
  const size_t first = d && d->of ? (d->of - 1) * count / d->sets : 0;
  const size_t end = d && d->of ? d->of * count / d->sets : count;
  for (size_t i = 0; i < dimension; i++)
    y[i] = idm_mean(posterior->unconstrained + i * count + first, end - first);
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

idm_status idm_posterior_agent(const idm_posterior *posterior, const idm_parameters *parameters,
                               size_t draw, idm_problem *problem, idm_error *opt_error)
{
  idm_require(posterior, parameters, problem);
  const idm_status status = idm_drawn_put(posterior, draw, problem, opt_error);
  return status == IDM_OK ? idm_posterior_theta(posterior, parameters, draw / posterior->draws,
                                                draw % posterior->draws, problem->theta, opt_error)
                          : status;
}

size_t idm_posterior_highest(const idm_posterior *posterior)
{
  size_t best = 0;
  for (size_t i = 1; posterior && i < posterior->chains * posterior->draws; i++)
    if (posterior->statistics[i].log_density > posterior->statistics[best].log_density) best = i;
  return best;
}
