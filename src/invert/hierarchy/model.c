/* Checks designs, and evaluates likelihoods of people as sums over their leaves.
 *
 * Contents: check · model */
#include <math.h>

#include "base/memory.h"
#include "idm/extension/behavior.h"
#include "idm/extension/planner.h"
#include "idm/extension/prefix.h"
#include "invert/hierarchy/hierarchy.h"
#include "plan/plan.h"

/* === check ================================================================================== */

/* Destruction and validation of designs: parts, people and cells, effects, priors. */

void idm_design_destroy(idm_design *design)
{
  if (!design) return;
  for (size_t j = 0; j < design->effects; j++) {
    if (design->coefficient) idm_labels_destroy(&design->coefficient[j]);
    if (design->regressor) free(design->regressor[j]);
    if (design->coefficient_mean) free(design->coefficient_mean[j]);
    if (design->coefficient_sd) free(design->coefficient_sd[j]);
  }
  void *const arrays[] = {design->cell_person,
                          design->cell_of,
                          design->effect_coordinate,
                          design->share,
                          design->coefficients,
                          design->coefficient,
                          (void *)design->regressor,
                          (void *)design->coefficient_mean,
                          (void *)design->coefficient_sd,
                          design->spread_scale,
                          design->sd_scale};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
  idm_labels_destroy(&design->person);
  idm_labels_destroy(&design->effect);
  free(design);
}

static idm_status check_parts(const idm_design *d, idm_error *opt_error)
{
  bool complete = d->people && d->cells && d->effects && d->coordinates && d->cell_person &&
                  d->cell_of && d->effect_coordinate && d->share && d->coefficients &&
                  d->regressor && d->coefficient_mean && d->coefficient_sd && d->sd_scale &&
                  d->effect.count == d->effects && d->person.count == d->people;
  complete = complete && (d->spread_scale || !d->pooled);
  for (size_t j = 0; complete && j < d->effects; j++)
    complete = d->coefficients[j] && d->pooled <= d->coefficients[j] && d->regressor[j] &&
               d->coefficient_mean[j] && d->coefficient_sd[j];
  if (!complete) return idm_fail(opt_error, IDM_USAGE, "the design has parts missing");
  if (d->effects > IDM_MAX_EFFECTS)
    return idm_fail(opt_error, IDM_INPUT, "a person has %zu effects; at most %d can be fitted",
                    d->effects, IDM_MAX_EFFECTS);
  return IDM_OK;
}

/* Check that cells are ordered by person, that every person has a cell, and every cell a
 * trajectory. */
static idm_status check_cells(const idm_design *d, const idm_data *data, idm_error *opt_error)
{
  for (size_t c = 0; c < d->cells; c++) {
    const size_t before = c ? d->cell_person[c - 1] : 0;
    const size_t current = d->cell_person[c];
    if (current >= d->people || current < before || current > before + 1 || (c == 0 && current))
      return idm_fail(opt_error, IDM_INPUT,
                      "cell %zu of the design belongs to person %zu: cells must be in the order of "
                      "people, with at least one per person",
                      c, current);
  }
  if (d->cell_person[d->cells - 1] + (size_t)1 < d->people)
    return idm_fail(opt_error, IDM_INPUT, "person '%s' of the design has no trajectory",
                    d->person.name[d->people - 1]);
  bool *has_trajectory = idm_new(d->cells, sizeof *has_trajectory);
  if (!has_trajectory) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++) {
    if (d->cell_of[t] < d->cells)
      has_trajectory[d->cell_of[t]] = true;
    else
      status = idm_fail(opt_error, IDM_INPUT, "trajectory %zu is in cell %lu; the design has %zu",
                        t + 1, (unsigned long)d->cell_of[t], d->cells);
  }
  for (size_t c = 0; c < d->cells && status == IDM_OK; c++)
    if (!has_trajectory[c])
      status = idm_fail(opt_error, IDM_INPUT, "a cell of person '%s' has no trajectory",
                        d->person.name[d->cell_person[c]]);
  free(has_trajectory);
  return status;
}

static bool all_finite(const double *x, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

static idm_status check_effects(const idm_design *d, size_t coordinates, idm_error *opt_error)
{
  if (d->coordinates != coordinates)
    return idm_fail(opt_error, IDM_INPUT, "the design has %zu free numbers; the problem has %zu",
                    d->coordinates, coordinates);
  for (size_t j = 0; j < d->effects; j++) {
    const size_t before = j ? d->effect_coordinate[j - 1] : 0;
    const size_t current = d->effect_coordinate[j];
    if (current < before || current > before + 1 || current >= coordinates || (j == 0 && current))
      return idm_fail(opt_error, IDM_INPUT,
                      "effect '%s' belongs to free number %zu: effects must be in the order of "
                      "free numbers, with at least one per number",
                      d->effect.name[j], current);
  }
  if (d->effect_coordinate[d->effects - 1] + (size_t)1 < coordinates)
    return idm_fail(opt_error, IDM_INPUT, "a free number of the problem has no effect");
  if (!all_finite(d->share, idm_times(d->cells, d->effects)))
    return idm_fail(opt_error, IDM_INPUT, "a share of an effect is not finite");
  return IDM_OK;
}

static idm_status check_priors(const idm_design *d, idm_error *opt_error)
{
  for (size_t j = 0; j < d->effects; j++) {
    const char *name = d->effect.name[j];
    const size_t n = d->coefficients[j];
    if (!all_finite(d->regressor[j], idm_times(d->people, n)))
      return idm_fail(opt_error, IDM_INPUT, "a regressor of '%s' is not finite", name);
    for (size_t a = 0; a < n; a++)
      if (!isfinite(d->coefficient_mean[j][a]) || !(d->coefficient_sd[j][a] > 0) ||
          isinf(d->coefficient_sd[j][a]))
        return idm_fail(opt_error, IDM_INPUT,
                        "the prior of coefficient %zu of '%s' is normal(%g, %g); expected a finite "
                        "mean and a positive sd",
                        a + 1, name, d->coefficient_mean[j][a], d->coefficient_sd[j][a]);
    for (size_t a = n - d->pooled; a < n; a++)
      if (d->coefficient_mean[j][a] != 0)
        return idm_fail(opt_error, IDM_INPUT,
                        "coefficient %zu of '%s' is pooled and has a prior mean of %g; expected 0",
                        a + 1, name, d->coefficient_mean[j][a]);
    if (d->pooled && (!(d->spread_scale[j] > 0) || isinf(d->spread_scale[j])))
      return idm_fail(opt_error, IDM_INPUT,
                      "the spread of the pooled coefficients of '%s' has a half-normal prior of "
                      "scale %g; expected a positive one",
                      name, d->spread_scale[j]);
    if (!(d->sd_scale[j] > 0) || isinf(d->sd_scale[j]))
      return idm_fail(opt_error, IDM_INPUT,
                      "the sd of '%s' has a half-normal prior of scale %g; expected a positive one",
                      name, d->sd_scale[j]);
  }
  if (!(d->correlation > 0) || isinf(d->correlation))
    return idm_fail(opt_error, IDM_INPUT,
                    "the correlations have an LKJ prior of shape %g; expected a positive one",
                    d->correlation);
  return IDM_OK;
}

/* An agent that learns over trajectories carries its memory across cells, so that its cells cannot
 * have different numbers. */
static idm_status check_memory(const idm_design *d, const idm_problem *problem,
                               const idm_data *data, idm_error *opt_error)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  if (!(idm_planner_behavior(planner)->scope & IDM_SCOPE_AGENT)) return IDM_OK;
  uint32_t *own = idm_new(data->agent_name.count, sizeof *own);
  if (!own) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++) {
    uint32_t *cell = &own[data->agent[t]];
    if (*cell && *cell != d->cell_of[t] + 1)
      status = idm_fail(opt_error, IDM_INPUT,
                        "planner '%s' learns over the trajectories of an agent, and those of '%s' "
                        "are in several cells: leave out columns that vary within agents",
                        planner->name, data->agent_name.name[data->agent[t]]);
    *cell = d->cell_of[t] + 1;
  }
  free(own);
  return status;
}

idm_status idm_design_check(const idm_design *design, const idm_problem *problem,
                            const idm_data *data, size_t coordinates, idm_error *opt_error)
{
  idm_status status = check_parts(design, opt_error);
  if (status == IDM_OK) status = check_effects(design, coordinates, opt_error);
  if (status == IDM_OK) status = check_cells(design, data, opt_error);
  if (status == IDM_OK) status = check_priors(design, opt_error);
  if (status == IDM_OK) status = check_memory(design, problem, data, opt_error);
  return status;
}

/* === model ================================================================================== */

/* Data shared by all chains. */

/* Half-width of the first table, in prior sds. */
static const double prior_radius = 3.5;

void idm_hierarchy_destroy(hierarchy *model)
{
  free(model->first);
  free(model->gram);
  *model = (hierarchy){0};
}

static void fill_gram(hierarchy *m, size_t coefficients)
{
  const idm_design *d = m->design;
  size_t row = 0;
  for (size_t j = 0; j < d->effects; j++)
    for (size_t a = 0; a < d->coefficients[j]; a++, row++) {
      size_t column = 0;
      for (size_t k = 0; k < d->effects; k++)
        for (size_t b = 0; b < d->coefficients[k]; b++, column++) {
          double sum = 0;
          for (size_t i = 0; i < d->people; i++)
            sum += d->regressor[j][i * d->coefficients[j] + a] *
                   d->regressor[k][i * d->coefficients[k] + b];
          m->gram[row * coefficients + column] = sum;
        }
    }
}

idm_status idm_hierarchy_create(const idm_design *design, const leaf_source *leaves,
                                bool has_tables, hierarchy *model, idm_error *opt_error)
{
  size_t coefficients = 0;
  for (size_t j = 0; j < design->effects; j++) coefficients += design->coefficients[j];
  *model = (hierarchy){.design = design, .leaves = *leaves, .has_tables = has_tables};
  model->first = idm_new(design->people + 1, sizeof *model->first);
  model->gram = idm_new(idm_times(coefficients, coefficients), sizeof *model->gram);
  if (!model->first || !model->gram) {
    idm_hierarchy_destroy(model);
    return idm_fail_memory(opt_error);
  }
  for (size_t c = 0; c < design->cells; c++) model->first[design->cell_person[c] + 1] = c + 1;
  fill_gram(model, coefficients);
  return IDM_OK;
}

void idm_hierarchy_coordinates(const idm_design *design, size_t cell, const double *e, double *x)
{
  const double *share = design->share + cell * design->effects;
  memset(x, 0, design->coordinates * sizeof *x);
  for (size_t j = 0; j < design->effects; j++) x[design->effect_coordinate[j]] += share[j] * e[j];
}

double idm_hierarchy_surrogate(const hierarchy *model, size_t person, const double *e)
{
  double x[IDM_MAX_EFFECTS];
  double sum = 0;
  for (size_t c = model->first[person]; c < model->first[person + 1]; c++) {
    idm_hierarchy_coordinates(model->design, c, e, x);
    sum += model->leaves.table(model->leaves.context, c, x);
  }
  return sum;
}

idm_status idm_hierarchy_exact(const hierarchy *model, const leaf_worker *worker, size_t person,
                               const double *e, double *log_likelihood, idm_error *opt_error)
{
  double x[IDM_MAX_EFFECTS];
  idm_status status = IDM_OK;
  *log_likelihood = 0;
  for (size_t c = model->first[person]; c < model->first[person + 1] && status == IDM_OK; c++) {
    double one;
    idm_hierarchy_coordinates(model->design, c, e, x);
    status = model->leaves.exact(model->leaves.context, worker, c, x, &one, opt_error);
    *log_likelihood += one;
    if (one == -INFINITY) break;
  }
  return status;
}

size_t idm_hierarchy_scratch(const hierarchy *model)
{
  const idm_design *d = model->design;
  return idm_times(d->cells, 2 * d->coordinates + 1);
}

/* Log-likelihoods and gradients of all leaves. */
static idm_status evaluate_gradients(const hierarchy *model, const leaf_worker *worker,
                                     const double *x, double *log_likelihood, double *by_x,
                                     idm_error *opt_error)
{
  const leaf_source *leaves = &model->leaves;
  const size_t n = model->design->coordinates;
  idm_status status = IDM_OK;
  if (leaves->leaf_gradients)
    return leaves->leaf_gradients(leaves->context, worker, x, log_likelihood, by_x, opt_error);
  for (size_t c = 0; c < model->design->cells && status == IDM_OK; c++)
    status = leaves->leaf_gradient(leaves->context, worker, c, x + c * n, &log_likelihood[c],
                                   by_x + c * n, opt_error);
  return status;
}

idm_status idm_hierarchy_gradients(const hierarchy *model, const leaf_worker *worker,
                                   const double *e, double *log_likelihood, double *gradient,
                                   double *scratch, idm_error *opt_error)
{
  const idm_design *d = model->design;
  const size_t q = d->effects, n = d->coordinates;
  double *x = scratch, *by_x = x + d->cells * n, *one = by_x + d->cells * n;
  for (size_t c = 0; c < d->cells; c++)
    idm_hierarchy_coordinates(d, c, e + d->cell_person[c] * q, x + c * n);
  const idm_status status = evaluate_gradients(model, worker, x, one, by_x, opt_error);
  memset(log_likelihood, 0, d->people * sizeof *log_likelihood);
  memset(gradient, 0, d->people * q * sizeof *gradient);
  for (size_t c = 0; c < d->cells && status == IDM_OK; c++) {
    const size_t i = d->cell_person[c];
    log_likelihood[i] += one[c];
    for (size_t j = 0; j < q; j++)
      gradient[i * q + j] += d->share[c * q + j] * by_x[c * n + d->effect_coordinate[j]];
  }
  return status;
}

/* Prior mean and variance of effect j of a person. */
static void prior_moments(const idm_design *d, size_t j, size_t person, double *mean,
                          double *variance)
{
  const double *w = d->regressor[j] + person * d->coefficients[j];
  *mean = 0;
  *variance = d->sd_scale[j] * d->sd_scale[j];
  for (size_t a = 0; a < d->coefficients[j]; a++) {
    *mean += w[a] * d->coefficient_mean[j][a];
    *variance += w[a] * w[a] * d->coefficient_sd[j][a] * d->coefficient_sd[j][a];
  }
}

void idm_hierarchy_prior_box(const hierarchy *model, double *low, double *high)
{
  const idm_design *d = model->design;
  for (size_t k = 0; k < d->coordinates; k++) {
    low[k] = INFINITY;
    high[k] = -INFINITY;
  }
  for (size_t c = 0; c < d->cells; c++) {
    for (size_t k = 0, j = 0; k < d->coordinates; k++) {
      double centre = 0;
      double variance_sum = 0;
      for (; j < d->effects && d->effect_coordinate[j] == k; j++) {
        const double share = d->share[c * d->effects + j];
        double mean, variance;
        prior_moments(d, j, d->cell_person[c], &mean, &variance);
        centre += share * mean;
        variance_sum += share * share * variance;
      }
      low[k] = fmin(low[k], centre - prior_radius * sqrt(variance_sum));
      high[k] = fmax(high[k], centre + prior_radius * sqrt(variance_sum));
    }
  }
}
