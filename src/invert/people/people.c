/* Assigns trajectories to people, sets priors of populations, and fits people by a hierarchical
 * model (docs/method/people.md, 1).
 *
 * Contents: decisions · person map · population priors · people */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/key.h"
#include "base/memory.h"
#include "data/log.h"
#include "infer/distribution.h"
#include "invert/cancel.h"
#include "invert/hierarchy/hierarchy.h"
#include "invert/matching/fit.h"
#include "invert/people.h"
#include "invert/people/people.h"
#include "invert/posterior.h"
#include "setting/model.h"

/* === decisions ============================================================================== */

/* Number of decisions of each person, and their log-loss under chance. */

void idm_count_decisions(const idm_data *data, const uint32_t *of_trajectory, size_t people,
                         idm_person *person)
{
  for (size_t t = 0; t < data->trajectories; t++) {
    idm_person *one = &person[of_trajectory[t]];
    one->trajectories++;
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      const size_t open_actions = idm_data_available_count(data, data->available[row]);
      if (data->action[row] == IDM_MISSING || open_actions < 2) continue;
      one->decisions++;
      one->uniform_log_loss += log((double)open_actions);
    }
  }
  for (size_t i = 0; i < people; i++)
    person[i].uniform_log_loss =
        person[i].decisions ? person[i].uniform_log_loss / (double)person[i].decisions : NAN;
}

/* === person map ============================================================================= */

/* Assignment of the trajectories of a log to people. */

void idm_person_map_clear(idm_person_map *person_map)
{
  idm_labels_destroy(&person_map->name);
  free(person_map->of_trajectory);
  *person_map = (idm_person_map){0};
}

static bool has_role(const idm_columns *columns, idm_column role, const char *by)
{
  if (strcmp(by, idm_column_describe(role)->key) == 0) return true;
  return idm_columns_count(columns, role) == 1 &&
         strcmp(by, idm_columns_name(columns, role, 0)) == 0;
}

idm_person_by idm_person_by_column(const idm_problem *problem, const char *by)
{
  if (has_role(&problem->columns, IDM_COLUMN_AGENT, by)) return IDM_PERSON_BY_AGENT;
  if (has_role(&problem->columns, IDM_COLUMN_TRAJECTORY, by)) return IDM_PERSON_BY_TRAJECTORY;
  return IDM_PERSON_BY_COVARIATE;
}

size_t idm_covariate_find(const idm_data *data, const char *name)
{
  size_t i = 0;
  while (i < data->covariates && strcmp(data->covariate_name.name[i], name) != 0) i++;
  return i;
}

const char *idm_trajectory_label(const idm_data *data, size_t trajectory, char *buffer, size_t size)
{
  if (trajectory < data->trajectory_name.count) return data->trajectory_name.name[trajectory];
  snprintf(buffer, size, "%zu", trajectory + 1);
  return buffer;
}

idm_status idm_covariate_levels(const idm_data *data, size_t covariate, int32_t *level,
                                idm_error *opt_error)
{
  const int32_t *of_row = data->covariate + covariate * data->rows;
  const idm_labels *name = &data->covariate_level[covariate];
  for (size_t t = 0; t < data->trajectories; t++) {
    level[t] = IDM_MISSING;
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      if (of_row[row] == IDM_MISSING || of_row[row] == level[t]) continue;
      if (level[t] == IDM_MISSING) {
        level[t] = of_row[row];
        continue;
      }
      char number[24];
      idm_error_set(opt_error, IDM_INPUT, NULL, 0, 0,
                    "the column '%.60s' changes within the trajectory '%.60s': '%.60s' before, "
                    "'%.60s' here; expected one value per trajectory",
                    data->covariate_name.name[covariate],
                    idm_trajectory_label(data, t, number, sizeof number), name->name[level[t]],
                    name->name[of_row[row]]);
      idm_data_locate(data, row, opt_error);
      return IDM_INPUT;
    }
  }
  return IDM_OK;
}

/* Set the index of every trajectory's agent, trajectory or level. IDM_INPUT if a covariate is
 * missing. */
static idm_status index_trajectories(const idm_data *data, idm_person_by kind, size_t covariate,
                                     int32_t *index, idm_error *opt_error)
{
  if (kind == IDM_PERSON_BY_COVARIATE) {
    const idm_status status = idm_covariate_levels(data, covariate, index, opt_error);
    for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++)
      if (index[t] == IDM_MISSING) {
        idm_error_set(opt_error, IDM_INPUT, NULL, 0, 0,
                      "this trajectory has no person: '%.60s' is empty in all its rows; fill it "
                      "in, or leave such rows out by --where '%.60s!='",
                      data->covariate_name.name[covariate], data->covariate_name.name[covariate]);
        idm_data_locate(data, data->first[t], opt_error);
        return IDM_INPUT;
      }
    return status;
  }
  for (size_t t = 0; t < data->trajectories; t++)
    index[t] = (int32_t)(kind == IDM_PERSON_BY_AGENT ? data->agent[t] : t);
  return IDM_OK;
}

/* Number people in order of first appearance, and name them. */
static idm_status number_people(const idm_data *data, idm_person_by kind, size_t covariate,
                                const int32_t *index, idm_person_map *person_map,
                                idm_error *opt_error)
{
  size_t index_count = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    if ((size_t)index[t] >= index_count) index_count = (size_t)index[t] + 1;
  uint32_t *person =
      idm_new(index_count, sizeof *person); /* number of the person, counted from 1; 0: none yet */
  idm_status status = person ? idm_labels_create(&person_map->name, index_count, opt_error)
                             : idm_fail_memory(opt_error);
  for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++) {
    char number[24];
    if (!person[index[t]]) {
      const char *name = kind == IDM_PERSON_BY_AGENT ? data->agent_name.name[index[t]]
                         : kind == IDM_PERSON_BY_COVARIATE
                             ? data->covariate_level[covariate].name[index[t]]
                             : idm_trajectory_label(data, t, number, sizeof number);
      person[index[t]] = (uint32_t)++person_map->people;
      status =
          idm_labels_set(&person_map->name, person_map->people - 1, name, strlen(name), opt_error);
    }
    person_map->of_trajectory[t] = person[index[t]] - 1;
  }
  for (size_t i = person_map->people; i < person_map->name.count; i++) {
    free(person_map->name.name[i]);
    person_map->name.name[i] = NULL;
  }
  if (status == IDM_OK) person_map->name.count = person_map->people;
  free(person);
  return status;
}

idm_status idm_person_map_create(const idm_problem *problem, const idm_data *data, const char *by,
                                 idm_person_map *person_map, idm_error *opt_error)
{
  *person_map = (idm_person_map){0};
  const idm_person_by kind = idm_person_by_column(problem, by);
  const size_t covariate = kind == IDM_PERSON_BY_COVARIATE ? idm_covariate_find(data, by) : 0;
  if (kind == IDM_PERSON_BY_COVARIATE && covariate == data->covariates)
    return idm_fail(opt_error, IDM_USAGE, "the column '%.60s' was not kept when reading the log",
                    by);
  int32_t *index = idm_new(data->trajectories, sizeof *index);
  person_map->of_trajectory = idm_new(data->trajectories, sizeof *person_map->of_trajectory);
  idm_status status = index && person_map->of_trajectory ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = index_trajectories(data, kind, covariate, index, opt_error);
  if (status == IDM_OK) status = number_people(data, kind, covariate, index, person_map, opt_error);
  free(index);
  if (status != IDM_OK) idm_person_map_clear(person_map);
  return status;
}

/* === population priors ====================================================================== */

/* Priors of free blocks that are compatible with a normal population. */

bool idm_population_is_normal(const idm_parameters *parameters, const parameter *item)
{
  if (!idm_parameter_is_scalar(item)) return false;
  const idm_prior *prior = &parameters->theta->block[item->block].prior;
  return prior->kind == IDM_PRIOR_NORMAL && isinf(item->lower) && isinf(item->upper);
}

idm_status idm_population_fail_prior(const idm_block *block, const char *why, idm_error *opt_error)
{
  return idm_fail(
      opt_error, IDM_INPUT,
      "people vary normally, and %s %s; expected prior: {normal: [mean, sd]} on an unbounded "
      "scale (such as log), or population: {sd: {%s: S}, coefficient: {%s: "
      "S}} in the problem",
      block->info->name, why, block->info->name, block->info->name);
}

/* Replace a block's prior by the normal prior with the same mean and sd. IDM_INPUT without a finite
 * mean and sd, or without `population` scales. */
static idm_status replace_prior(idm_block *block, idm_notes *opt_notes, idm_error *opt_error)
{
  const idm_prior *prior = &block->prior;
  char why[80];
  snprintf(why, sizeof why, "has the prior %s", idm_prior_name(prior->kind));
  const double mean = idm_prior_mean(prior);
  const double sd = idm_prior_sd(prior);
  if (!(block->population.sd > 0) || !(block->population.coefficient > 0) || !isfinite(mean) ||
      !isfinite(sd))
    return idm_population_fail_prior(block, why, opt_error);
  idm_notes_add(opt_notes,
                "the intercept of %s is normal(%.4g, %.4g), by mean and sd of its prior %s",
                block->info->name, mean, sd, idm_prior_name(prior->kind));
  double *argument = idm_new(2, sizeof *argument);
  if (!argument) return idm_fail_memory(opt_error);
  argument[0] = mean;
  argument[1] = sd;
  free(block->prior.argument);
  block->prior = (idm_prior){IDM_PRIOR_NORMAL, 2, argument};
  block->default_prior = false;
  return IDM_OK;
}

/* Replace the priors of all blocks that are not normal; later items of a replaced block need
 * nothing. */
static idm_status replace_priors(idm_problem *problem, const idm_parameters *parameters,
                                 idm_notes *opt_notes, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < parameters->items && status == IDM_OK; i++) {
    const parameter *item = &parameters->item[i];
    idm_block *block = &problem->theta->block[item->block];
    if (!idm_parameter_is_scalar(item))
      return idm_population_fail_prior(block, "is not a single number", opt_error);
    if (!idm_population_is_normal(parameters, item) && block->prior.kind != IDM_PRIOR_NORMAL)
      status = replace_prior(block, opt_notes, opt_error);
  }
  return status;
}

idm_status idm_population_set_priors(idm_problem *problem, idm_notes *opt_notes,
                                     idm_error *opt_error)
{
  idm_require(problem);
  idm_parameters *parameters = NULL;
  idm_status status = idm_parameters_create(problem, &parameters, opt_error);
  if (status == IDM_OK) status = replace_priors(problem, parameters, opt_notes, opt_error);
  idm_parameters_destroy(parameters);
  if (status != IDM_OK) return status;
  status = idm_parameters_create(problem, &parameters, opt_error);
  for (size_t i = 0; status == IDM_OK && i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    if (!idm_population_is_normal(parameters, item))
      status = idm_population_fail_prior(&problem->theta->block[item->block],
                                         "is bounded on its scale", opt_error);
  }
  idm_parameters_destroy(parameters);
  return status;
}

/* === people ================================================================================= */

/* Fit of people and population: a hierarchy whose leaves share one plan. */

static uint64_t label_of(const idm_problem *problem, const idm_data *data, const idm_design *d,
                         const idm_fit_settings *settings)
{
  uint64_t label = idm_fingerprint_request(NULL, problem, data, settings);
  label = idm_fingerprint_numbers(label, d->share, d->cells * d->effects);
  label = idm_fingerprint_numbers(label, d->sd_scale, d->effects);
  if (d->pooled) label = idm_fingerprint_numbers(label, d->spread_scale, d->effects);
  label = idm_fingerprint_numbers(label, &d->correlation, 1);
  for (size_t j = 0; j < d->effects; j++) {
    label = idm_fingerprint_numbers(label, d->regressor[j], d->people * d->coefficients[j]);
    label = idm_fingerprint_numbers(label, d->coefficient_mean[j], d->coefficients[j]);
    label = idm_fingerprint_numbers(label, d->coefficient_sd[j], d->coefficients[j]);
  }
  return label;
}

idm_status idm_people_fit(const idm_problem *problem, const idm_data *data,
                          const idm_design *design, const idm_fit_settings *settings,
                          const idm_fit_monitor *opt_monitor, idm_people **ret_people,
                          idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(problem, data, design, settings, ret_people);
  *ret_people = NULL;
  idm_parameters *parameters = NULL;
  shared_leaves shared = {.threads = settings->threads};
  idm_status status = idm_keys_check(idm_fit_keys(), settings, opt_error);
  if (status == IDM_OK) status = idm_fit_check_capacity(problem, opt_error);
  if (status == IDM_OK) status = idm_data_validate(data, problem->setting, opt_error);
  if (status == IDM_OK) status = idm_parameters_create(problem, &parameters, opt_error);
  if (status == IDM_OK)
    status =
        idm_design_check(design, problem, data, idm_parameters_dimension(parameters), opt_error);
  if (status == IDM_OK)
    status = idm_cells_create(problem, data, design, parameters, settings->threads, &shared.cells,
                              opt_error);
  if (status == IDM_OK) {
    const leaf_source leaves = idm_shared_source(&shared);
    const hierarchy_request request = {.design = design,
                                       .leaves = &leaves,
                                       .exact = true,
                                       .settings = settings,
                                       .key = label_of(problem, data, design, settings),
                                       .opt_monitor = opt_monitor};
    status = idm_hierarchy_sample(&request, ret_people, opt_notes, opt_error);
  }
  idm_shared_destroy(&shared);
  idm_parameters_destroy(parameters);
  return status;
}

/* Anchor plans in the box that contains all people's draws. */
static idm_status anchor(idm_cells *cells, const idm_design *d, const idm_people *people,
                         idm_error *opt_error)
{
  const size_t all = people->chains * people->draws;
  double low[IDM_MAX_EFFECTS], high[IDM_MAX_EFFECTS], e[IDM_MAX_EFFECTS], x[IDM_MAX_EFFECTS];
  for (size_t i = 0; i < d->coordinates; i++) {
    low[i] = INFINITY;
    high[i] = -INFINITY;
  }
  for (size_t k = 0; k < d->cells * all; k++) {
    const size_t cell = k / all, person = d->cell_person[cell];
    for (size_t j = 0; j < d->effects; j++)
      e[j] = people->effect[(j * d->people + person) * all + k % all];
    idm_hierarchy_coordinates(d, cell, e, x);
    for (size_t i = 0; i < d->coordinates; i++) {
      low[i] = fmin(low[i], x[i]);
      high[i] = fmax(high[i], x[i]);
    }
  }
  return idm_cells_anchor(cells, low, high, opt_error);
}

/* Why people are not integrated over; NULL: they are. */
static const char *reason_against(const idm_design *design)
{
  if (design->fixed || design->held) return "the population is fixed";
  return design->effects > IDM_MAX_INTEGRATED_EFFECTS ? "people have more than 4 effects each"
                                                      : NULL;
}

/* Remove integrals of which one is not accurate. Returns whether it removed them, with the number
 * of such people in `reason`. */
static bool remove_inaccurate(const idm_design *design, idm_integrated **integrated, char *reason,
                              size_t size)
{
  static const double max_error = 0.1; /* nats */
  size_t count = 0, first = 0;
  for (size_t i = design->people; i-- > 0;)
    if (!((*integrated)->error[i] <= max_error)) {
      count++;
      first = i;
    }
  if (!count) return false;
  snprintf(reason, size, "those of %zu of %zu people, such as '%.60s', may be off by more than %g",
           count, design->people, design->person.name[first], max_error);
  idm_integrated_destroy(*integrated);
  *integrated = NULL;
  return true;
}

idm_status idm_people_integrate(const idm_problem *problem, const idm_data *data,
                                const idm_design *design, const idm_people *people,
                                const idm_fit_settings *settings,
                                const idm_fit_monitor *opt_monitor, double seconds,
                                idm_integrated **ret_integrated, idm_notes *opt_notes,
                                idm_error *opt_error)
{
  const char *reason = reason_against(design);
  char inaccurate[240];
  idm_parameters *parameters = NULL;
  shared_leaves shared = {.threads = settings->threads};
  idm_cancel cancel;
  *ret_integrated = NULL;
  idm_cancel_init(&cancel, opt_monitor, "integrating over people");
  idm_cancel_extend(&cancel, seconds);
  idm_status status = reason ? IDM_OK : idm_parameters_create(problem, &parameters, opt_error);
  if (!reason && status == IDM_OK) {
    parameters->cancel = &cancel;
    status = idm_cells_create(problem, data, design, parameters, settings->threads, &shared.cells,
                              opt_error);
    if (status == IDM_OK) status = anchor(shared.cells, design, people, opt_error);
    if (status == IDM_OK) {
      const leaf_source leaves = idm_shared_source(&shared);
      status = idm_hierarchy_integrate(design, &leaves, people, settings->threads, &cancel,
                                       ret_integrated, opt_error);
    }
  }
  if (status == IDM_UNTRUSTED && atomic_load(&cancel.timed_out)) {
    reason = "this takes too long; --checks full has no time limit";
    status = IDM_OK;
  }
  if (*ret_integrated && remove_inaccurate(design, ret_integrated, inaccurate, sizeof inaccurate))
    reason = inaccurate;
  if (reason)
    idm_notes_add(opt_notes, "log-likelihoods integrated over people are left out: %s", reason);
  idm_shared_destroy(&shared);
  idm_parameters_destroy(parameters);
  return status;
}
