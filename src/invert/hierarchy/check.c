/* Designs: their end, and whether they can be sampled: parts, people and cells, effects, priors. */
#include "invert/hierarchy/check.h"

#include <math.h>

#include "base/memory.h"
#include "idm/behavior.h"
#include "idm/planner.h"
#include "idm/prefix.h"

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
  bool whole = d->people && d->cells && d->effects && d->coordinates && d->cell_person &&
               d->cell_of && d->effect_coordinate && d->share && d->coefficients && d->regressor &&
               d->coefficient_mean && d->coefficient_sd && d->sd_scale &&
               d->effect.count == d->effects && d->person.count == d->people;
  whole = whole && (d->spread_scale || !d->pooled);
  for (size_t j = 0; whole && j < d->effects; j++)
    whole = d->coefficients[j] && d->pooled <= d->coefficients[j] && d->regressor[j] &&
            d->coefficient_mean[j] && d->coefficient_sd[j];
  if (!whole) return idm_fail(opt_error, IDM_USAGE, "the design has parts missing");
  if (d->effects > IDM_MOST_EFFECTS)
    return idm_fail(opt_error, IDM_INPUT, "a person has %zu effects; at most %d can be fitted",
                    d->effects, IDM_MOST_EFFECTS);
  return IDM_OK;
}

/* Everybody has a cell, in order, and every cell a trajectory. */
static idm_status check_cells(const idm_design *d, const idm_data *data, idm_error *opt_error)
{
  for (size_t c = 0; c < d->cells; c++) {
    const size_t before = c ? d->cell_person[c - 1] : 0;
    const size_t now = d->cell_person[c];
    if (now >= d->people || now < before || now > before + 1 || (c == 0 && now))
      return idm_fail(opt_error, IDM_INPUT,
                      "cell %zu of the design is of person %zu: cells must stand in the order of "
                      "people, at least one a person",
                      c, now);
  }
  if (d->cell_person[d->cells - 1] + (size_t)1 < d->people)
    return idm_fail(opt_error, IDM_INPUT, "person '%s' of the design has no trajectory",
                    d->person.name[d->people - 1]);
  bool *used = idm_new(d->cells, sizeof *used);
  if (!used) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++) {
    if (d->cell_of[t] < d->cells)
      used[d->cell_of[t]] = true;
    else
      status = idm_fail(opt_error, IDM_INPUT, "trajectory %zu is in cell %lu; the design has %zu",
                        t + 1, (unsigned long)d->cell_of[t], d->cells);
  }
  for (size_t c = 0; c < d->cells && status == IDM_OK; c++)
    if (!used[c])
      status = idm_fail(opt_error, IDM_INPUT, "a cell of person '%s' has no trajectory",
                        d->person.name[d->cell_person[c]]);
  free(used);
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
    return idm_fail(opt_error, IDM_INPUT, "the design is of %zu free numbers; the problem has %zu",
                    d->coordinates, coordinates);
  for (size_t j = 0; j < d->effects; j++) {
    const size_t before = j ? d->effect_coordinate[j - 1] : 0;
    const size_t now = d->effect_coordinate[j];
    if (now < before || now > before + 1 || now >= coordinates || (j == 0 && now))
      return idm_fail(opt_error, IDM_INPUT,
                      "effect '%s' is of free number %zu: effects must stand in the order of free "
                      "numbers, at least one each",
                      d->effect.name[j], now);
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

/* Who learns over trajectories remembers across cells, and would there be two people at once. */
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
                        "fall into several cells: leave out what varies within agents",
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
