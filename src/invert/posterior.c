/* Posteriors, learnt dynamics of draws, and optimality records.
 *
 * Contents: posterior · between · drawn · optimality */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "idm/extension/optimality.h"
#include "idm/extension/posterior.h"
#include "infer/chains.h"
#include "invert/assess.h"
#include "invert/matching.h"
#include "invert/posterior.h"
#include "setting/model.h"

/* === posterior ============================================================================== */

/* Posteriors: the results of inverse planners. */

void idm_posterior_destroy(idm_posterior *posterior)
{
  if (!posterior) return;
  if (posterior->verdict) posterior->verdict_destroy(posterior->verdict);
  idm_problem_destroy(posterior->problem);
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
  free(posterior->integrated);
  free(posterior->integrated_error);
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
  idm_dynamics_sets_destroy(posterior->drawn);
  idm_optimality_destroy(posterior->optimality);
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

idm_status idm_posterior_allocate(const char *inverse, const char *sampler, size_t chains,
                                  size_t draws, size_t quantities, idm_posterior **ret_posterior,
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
    p->statistics[i] = (idm_statistics){.log_density = NAN,
                                        .acceptance = NAN,
                                        .step_size = NAN,
                                        .energy = NAN,
                                        .tree_depth = -1,
                                        .evaluations = -1};
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

/* Sets the name of quantity i of a series to "series[label]", with the label of its axis. */
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
  idm_series_axis *resized = realloc(p->axis, (p->axes + 1) * sizeof *resized);
  if (!resized) return idm_fail_memory(opt_error);
  p->axis = resized;
  resized[p->axes] = (idm_series_axis){.name = idm_text_copy(name, strlen(name))};
  if (!resized[p->axes++].name) return idm_fail_memory(opt_error);
  return idm_labels_copy(label, &resized[p->axes - 1].label, opt_error);
}

idm_status idm_posterior_add_series(idm_posterior *p, const char *name, size_t axis, size_t first,
                                    idm_error *opt_error)
{
  idm_series *resized = realloc(p->series, (p->series_count + 1) * sizeof *resized);
  if (!resized) return idm_fail_memory(opt_error);
  p->series = resized;
  resized[p->series_count] = (idm_series){idm_text_copy(name, strlen(name)), first, axis};
  if (!resized[p->series_count++].name) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < p->axis[axis].label.count && status == IDM_OK; i++) {
    p->summarised[first + i] = true;
    status = name_of_series(p, p->series_count - 1, i, &p->quantity, opt_error);
  }
  return status;
}

static size_t total_size(const idm_labels *names, const size_t *opt_size)
{
  size_t sum = 0;
  for (size_t i = 0; i < names->count; i++) sum += opt_size ? opt_size[i] : 1;
  return sum;
}

size_t idm_posterior_numbers(const idm_posterior *posterior)
{
  if (!posterior) return 0;
  return total_size(&posterior->quantity, posterior->quantity_size);
}

size_t idm_posterior_dimension(const idm_posterior *posterior)
{
  if (!posterior) return 0;
  return total_size(&posterior->coordinate, posterior->coordinate_size);
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
  const idm_dynamics_sets *d = posterior->drawn;
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
  const idm_status status = idm_dynamics_sets_apply(posterior, draw, problem, opt_error);
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

/* === between ================================================================================ */

/* Draws conditional on each of several draws of the dynamics. */

double idm_between_share(const double *value, size_t cuts, size_t count)
{
  if (cuts < 2) return NAN;
  const double n = (double)count;
  double within = 0;
  idm_welford means = {0};
  for (size_t k = 0; k < cuts; k++) {
    const double *x = value + k * count;
    const double mean = idm_mean(x, count);
    within += idm_squares_about(x, count, mean) / n / (double)cuts;
    idm_welford_add(&means, mean);
  }
  const double between = means.squares / (double)cuts;
  return between + within > 0 ? between / (between + within) : NAN;
}

bool idm_depends_on_dynamics(double between)
{
  return between > idm_check_threshold(IDM_CHECK_BETWEEN_DYNAMICS);
}

idm_status idm_diagnose_cuts(const double *value, const double *opt_coordinate, size_t chains,
                             size_t draws, size_t cuts, idm_diagnosis *diagnosis,
                             double *opt_between, idm_error *opt_error)
{
  idm_diagnosis *d = diagnosis;
  idm_status status = idm_diagnose(value, chains, draws, draws, 1, d, opt_error);
  if (opt_between) *opt_between = NAN;
  if (status != IDM_OK || cuts < 2) return status;
  const size_t cut_chains = chains / cuts;
  d->rhat = d->ess_bulk = d->ess_tail = 0;
  for (size_t k = 0; k < cuts && status == IDM_OK; k++) {
    idm_diagnosis cut_diagnosis;
    status = idm_diagnose(value + k * cut_chains * draws, cut_chains, draws, draws, 1,
                          &cut_diagnosis, opt_error);
    /* A NaN R-hat is kept. */
    d->rhat = isnan(d->rhat) || d->rhat > cut_diagnosis.rhat ? d->rhat : cut_diagnosis.rhat;
    d->ess_bulk += cut_diagnosis.ess_bulk;
    d->ess_tail += cut_diagnosis.ess_tail;
  }
  const double between =
      idm_between_share(opt_coordinate ? opt_coordinate : value, cuts, cut_chains * draws);
  const double share = fmax(0, idm_between_share(value, cuts, cut_chains * draws));
  d->mcse_mean = d->sd * sqrt(share / (double)cuts + (1 - share) / fmax(d->ess_bulk, 1));
  /* A few draws of the dynamics do not represent the posterior of dynamics and decisions. */
  if (idm_depends_on_dynamics(between)) d->q05 = d->q95 = NAN;
  if (opt_between) *opt_between = between;
  return status;
}

/* === drawn ================================================================================== */

/* Learnt dynamics that the draws of an answer are conditional on. */

void idm_dynamics_sets_destroy(idm_dynamics_sets *drawn)
{
  if (!drawn) return;
  free(drawn->set);
  free(drawn->central);
  free(drawn);
}

idm_status idm_dynamics_sets_create(size_t sets, size_t numbers, idm_dynamics_sets **ret_drawn,
                                    idm_error *opt_error)
{
  idm_require(ret_drawn);
  *ret_drawn = NULL;
  idm_dynamics_sets *d = idm_new(1, sizeof *d);
  if (!d) return idm_fail_memory(opt_error);
  d->sets = sets;
  d->numbers = numbers;
  d->set = idm_new(idm_times(sets, numbers), sizeof *d->set);
  d->central = idm_new(numbers, sizeof *d->central);
  if (!d->set || !d->central) {
    idm_dynamics_sets_destroy(d);
    return idm_fail_memory(opt_error);
  }
  *ret_drawn = d;
  return IDM_OK;
}

static idm_status put_numbers(const double *set, size_t numbers, idm_problem *problem,
                              idm_error *opt_error)
{
  idm_dynamics *d;
  idm_status status = idm_dynamics_create(idm_setting_sizes(problem->setting), &d, opt_error);
  if (status != IDM_OK) return status;
  if (d->numbers != numbers) {
    status = idm_fail(opt_error, IDM_INPUT,
                      "the learnt dynamics of the run have %zu numbers; expected %zu, as the "
                      "problem has",
                      numbers, d->numbers);
  } else {
    memcpy(d->start, set, numbers * sizeof *set);
    status = idm_problem_set_dynamics(problem, d, opt_error);
  }
  idm_dynamics_destroy(d);
  return status;
}

idm_status idm_dynamics_sets_apply(const idm_posterior *posterior, size_t draw,
                                   idm_problem *problem, idm_error *opt_error)
{
  idm_require(posterior, problem);
  const idm_dynamics_sets *d = posterior->drawn;
  const size_t all = posterior->chains * posterior->draws;
  if (!d) return IDM_OK;
  if (draw >= all || !d->sets) return idm_fail(opt_error, IDM_USAGE, "there is no such draw");
  return put_numbers(d->set + draw * d->sets / all * d->numbers, d->numbers, problem, opt_error);
}

idm_status idm_dynamics_apply_central(const idm_posterior *posterior, idm_problem *problem,
                                      idm_error *opt_error)
{
  idm_require(posterior, problem);
  const idm_dynamics_sets *d = posterior->drawn;
  return d ? put_numbers(d->central, d->numbers, problem, opt_error) : IDM_OK;
}

const char *idm_dynamics_sets_describe(const idm_posterior *opt_posterior, idm_dynamics_use use,
                                       char *buffer, size_t size)
{
  const idm_dynamics_sets *d = opt_posterior ? opt_posterior->drawn : NULL;
  if (!buffer || !size) return "";
  buffer[0] = '\0';
  if (!d) return buffer;
  if (use == IDM_DYNAMICS_CENTRAL && d->of)
    snprintf(buffer, size,
             "Dynamics: draw %zu of %zu of the learnt ones, under which decisions are likeliest.",
             d->of, d->sets);
  else if (use == IDM_DYNAMICS_CENTRAL)
    snprintf(buffer, size, "Dynamics: the mean of those drawn together with the decisions.");
  else if (use == IDM_DYNAMICS_HIGHEST)
    snprintf(buffer, size, "Dynamics: those of the draw of highest density.");
  else if (use == IDM_DYNAMICS_PER_DRAW)
    snprintf(buffer, size, "Dynamics: learnt, each draw with its own.");
  return buffer;
}

/* === optimality ============================================================================= */

/* Findings: statements of an inverse planner on the optimality of its answer. */

idm_status idm_optimality_create(size_t numbers, idm_optimality **ret_optimality,
                                 idm_error *opt_error)
{
  idm_require(ret_optimality);
  *ret_optimality = idm_new(1, sizeof **ret_optimality);
  if (!*ret_optimality) return idm_fail_memory(opt_error);
  **ret_optimality = (idm_optimality){.objective = NAN, .attained = NAN, .free = numbers};
  return IDM_OK;
}

/* Copies the arrays; returns false if memory is exhausted. */
static bool copy_arrays(const idm_optimality *from, idm_optimality *to)
{
  const size_t policies = from->state.count * from->action.count;
  to->direction = idm_duplicate(from->direction, from->open * from->free, sizeof *to->direction);
  to->range = idm_duplicate(from->range, 2 * from->free, sizeof *to->range);
  to->at_box = idm_duplicate(from->at_box, 2 * from->free, sizeof *to->at_box);
  to->policy = idm_duplicate(from->policy, policies, sizeof *to->policy);
  to->count = idm_duplicate(from->count, policies, sizeof *to->count);
  return !from->direction == !to->direction && !from->range == !to->range &&
         !from->at_box == !to->at_box && !from->policy == !to->policy && !from->count == !to->count;
}

idm_status idm_optimality_copy(const idm_optimality *optimality, idm_optimality **ret_optimality,
                               idm_error *opt_error)
{
  idm_require(optimality, ret_optimality);
  *ret_optimality = NULL;
  idm_optimality *copy = idm_duplicate(optimality, 1, sizeof *copy);
  if (!copy) return idm_fail_memory(opt_error);
  copy->state = (idm_labels){0};
  copy->action = (idm_labels){0};
  copy->words = (idm_notes){0};
  copy->faults = (idm_notes){0};
  idm_status status = copy_arrays(optimality, copy) ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&optimality->state, &copy->state, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&optimality->action, &copy->action, opt_error);
  for (size_t i = 0; i < optimality->words.count; i++)
    idm_notes_add(&copy->words, "%s", optimality->words.text[i]);
  for (size_t i = 0; i < optimality->faults.count; i++)
    idm_notes_add(&copy->faults, "%s", optimality->faults.text[i]);
  if (status == IDM_OK)
    *ret_optimality = copy;
  else
    idm_optimality_destroy(copy);
  return status;
}

void idm_optimality_destroy(idm_optimality *optimality)
{
  if (!optimality) return;
  free(optimality->direction);
  free(optimality->range);
  free(optimality->at_box);
  free(optimality->policy);
  free(optimality->count);
  idm_labels_destroy(&optimality->state);
  idm_labels_destroy(&optimality->action);
  idm_notes_clear(&optimality->words);
  idm_notes_clear(&optimality->faults);
  free(optimality);
}

bool idm_optimality_certified(const idm_optimality *optimality)
{
  return optimality && optimality->attained <= optimality->closed;
}

/* === accessors ============================================================================== */

idm_estimate_kind idm_posterior_kind(const idm_posterior *posterior)
{
  return posterior ? posterior->answer : IDM_POINT;
}

size_t idm_posterior_chains(const idm_posterior *posterior)
{
  return posterior ? posterior->chains : 0;
}

size_t idm_posterior_draws(const idm_posterior *posterior)
{
  return posterior ? posterior->draws : 0;
}

size_t idm_posterior_quantities(const idm_posterior *posterior)
{
  return posterior ? posterior->quantity.count : 0;
}

const char *idm_posterior_quantity_name(const idm_posterior *posterior, size_t index)
{
  return index < idm_posterior_quantities(posterior) ? posterior->quantity.name[index] : NULL;
}

size_t idm_posterior_find(const idm_posterior *posterior, const char *name)
{
  const size_t count = idm_posterior_quantities(posterior);
  size_t i = 0;
  while (name && i < count && strcmp(posterior->quantity.name[i], name) != 0) i++;
  return name ? i : count;
}

const double *idm_posterior_values(const idm_posterior *posterior, size_t index, size_t *ret_length)
{
  const bool exists = index < idm_posterior_quantities(posterior);
  if (ret_length) *ret_length = 0;
  if (!exists) return NULL;
  const size_t *size = posterior->quantity_size;
  size_t first = index;
  if (size) {
    first = 0;
    for (size_t i = 0; i < index; i++) first += size[i];
  }
  const size_t draws = posterior->chains * posterior->draws;
  if (ret_length) *ret_length = (size ? size[index] : 1) * draws;
  return posterior->value + first * draws;
}

const double *idm_posterior_log_likelihood(const idm_posterior *posterior, size_t *ret_length)
{
  const bool kept = posterior && posterior->log_likelihood;
  if (ret_length)
    *ret_length = kept ? posterior->chains * posterior->draws * posterior->unit.count : 0;
  return kept ? posterior->log_likelihood : NULL;
}

idm_status idm_posterior_diagnose(const idm_posterior *posterior, size_t index,
                                  idm_diagnosis *diagnosis, idm_error *opt_error)
{
  idm_require(posterior, diagnosis);
  if (index >= idm_posterior_quantities(posterior))
    return idm_fail(opt_error, IDM_USAGE, "the answer has no quantity %zu", index);
  if (posterior->quantity_size && posterior->quantity_size[index] != 1)
    return idm_fail(opt_error, IDM_USAGE, "quantity %zu is several numbers without names", index);
  const double *value = idm_posterior_values(posterior, index, NULL);
  return idm_diagnose_cuts(value, NULL, posterior->chains, posterior->draws, posterior->cuts,
                           diagnosis, NULL, opt_error);
}
