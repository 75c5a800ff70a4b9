/* Storage of a posterior: draws in natural units, log-likelihoods, draws of the prior. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"
#include "idm/extension/inverse.h"
#include "invert/cancel.h"
#include "invert/clone.h"
#include "invert/matching.h"
#include "invert/matching/fit.h"

/* Default log-likelihoods above this size are not stored; requested data above half of the memory
 * are refused. */
static const double max_kept_bytes = 1e9;

static double max_bytes(void)
{
  return 0.5 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* --- draws ---------------------------------------------------------------------------------- */

idm_status idm_posterior_set_sizes(const idm_parameters *parameters, idm_posterior *p,
                                   idm_error *opt_error)
{
  const size_t quantities = parameters->quantity.count;
  const size_t coordinates = parameters->coordinate.count;
  if (!parameters->item[parameters->items - 1].opaque) return IDM_OK;
  p->quantity_size = idm_new(quantities, sizeof *p->quantity_size);
  p->coordinate_size = idm_new(coordinates, sizeof *p->coordinate_size);
  if (!p->quantity_size || !p->coordinate_size) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < quantities; i++) p->quantity_size[i] = 1;
  for (size_t i = 0; i < coordinates; i++) p->coordinate_size[i] = 1;
  for (size_t i = parameters->items, last = 1; i-- > 0 && parameters->item[i].opaque; last++) {
    p->quantity_size[quantities - last] = parameters->item[i].size;
    p->coordinate_size[coordinates - last] = parameters->item[i].size;
  }
  return IDM_OK;
}

idm_status idm_posterior_create(const fit_context *f, const idm_inverse *inverse,
                                const char *sampler, size_t chains, size_t draws,
                                idm_posterior **ret_posterior, idm_error *opt_error)
{
  *ret_posterior = NULL;
  idm_posterior *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  const idm_parameters *parameters = f->parameters;
  p->answer = inverse->answer;
  snprintf(p->inverse, sizeof p->inverse, "%s", inverse->name);
  snprintf(p->sampler, sizeof p->sampler, "%s", sampler);
  p->seed = f->settings->seed;
  p->warmup = f->settings->warmup;
  if (idm_workspace_points(idm_matching_workspace(f->matching[0])))
    p->resolution = idm_lattice_resolution(f->problem);
  p->chains = chains;
  p->draws = draws;
  p->summarised =
      idm_duplicate(parameters->summarised, parameters->quantity.count, sizeof *p->summarised);
  p->value = idm_new(idm_times(parameters->numbers, chains * draws), sizeof *p->value);
  p->unconstrained = idm_new(idm_times(parameters->dimension, chains * draws), sizeof *p->value);
  p->statistics = idm_new(chains * draws, sizeof *p->statistics);
  idm_status status = p->summarised && p->value && p->unconstrained && p->statistics
                          ? idm_posterior_set_sizes(parameters, p, opt_error)
                          : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&parameters->quantity, &p->quantity, opt_error);
  if (status == IDM_OK)
    status = idm_labels_copy(&parameters->coordinate, &p->coordinate, opt_error);
  if (status != IDM_OK) {
    idm_posterior_destroy(p);
    return status;
  }
  *ret_posterior = p;
  return IDM_OK;
}

/* Store the reported numbers at y in column `at` of table [number][columns]. */
static void store_numbers(const idm_parameters *parameters, const double *y, double *table,
                          size_t columns, size_t at, double *scratch)
{
  idm_parameters_report(parameters, y, scratch);
  for (size_t i = 0; i < parameters->numbers; i++) table[i * columns + at] = scratch[i];
}

void idm_posterior_store_draw(const fit_context *f, idm_posterior *p, size_t chain, size_t draw,
                              const double *y, const idm_statistics *statistics)
{
  const size_t columns = p->chains * p->draws;
  const size_t at = chain * p->draws + draw;
  store_numbers(f->parameters, y, p->value, columns, at, f->scratch);
  for (size_t i = 0; i < f->parameters->dimension; i++) p->unconstrained[i * columns + at] = y[i];
  p->statistics[at] = *statistics;
}

/* --- log-likelihoods ------------------------------------------------------------------------ */

/* Whether a row is a decision: its action was recorded, and more than one was available. */
static bool is_decision(const idm_data *data, size_t row)
{
  return data->action[row] != IDM_MISSING &&
         idm_data_available_count(data, data->available[row]) > 1;
}

static size_t unit_count(const idm_data *data, idm_keep_likelihood keep)
{
  if (keep == IDM_KEEP_NOTHING) return 0;
  if (keep == IDM_KEEP_TRAJECTORY) return data->trajectories;
  size_t count = 0;
  for (size_t r = 0; r < data->rows; r++) count += is_decision(data, r);
  return count;
}

static idm_status name_unit(const idm_data *data, size_t trajectory, long step, idm_labels *unit,
                            size_t at, idm_error *opt_error)
{
  char name[1200];
  char number[32];
  snprintf(number, sizeof number, "%zu", trajectory + 1);
  const char *all_recorded =
      data->trajectory_name.count ? data->trajectory_name.name[trajectory] : number;
  const int length = step < 0 ? snprintf(name, sizeof name, "%.1000s", all_recorded)
                              : snprintf(name, sizeof name, "%.1000s:%ld", all_recorded, step + 1);
  return idm_labels_set(unit, at, name, (size_t)length, opt_error);
}

static idm_status name_units(const idm_data *data, idm_posterior *p, size_t units,
                             idm_error *opt_error)
{
  idm_status status = idm_labels_create(&p->unit, units, opt_error);
  size_t at = 0;
  for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++) {
    if (!p->by_decision) {
      status = name_unit(data, t, -1, &p->unit, at++, opt_error);
      continue;
    }
    for (size_t r = data->first[t]; r < data->first[t + 1] && status == IDM_OK; r++)
      if (is_decision(data, r))
        status = name_unit(data, t, (long)(r - data->first[t]), &p->unit, at++, opt_error);
  }
  return status;
}

/* A scorer, its data, and its range of trajectories (segments) that form one trajectory of the log.
 */
typedef struct segment_range {
  const idm_scorer *scorer;
  const idm_data *of;
  size_t first;
  size_t end;
} segment_range;

typedef struct likelihood_task {
  const fit_context *f;
  idm_posterior *posterior;
  size_t longest;     /* rows of the longest trajectory */
  idm_status *status; /* [chain] */
  idm_error *error;   /* [chain] */
} likelihood_task;

/* Compute the log-likelihoods of a trajectory's decisions. Log-likelihoods of other recorded
 * columns, if cells are missing, are added to the next decision, or to the last one if none
 * follows, so that the sum is that of the trajectory. Returns the number of decisions. */
static size_t decision_likelihoods(const segment_range *p, const idm_data *data, size_t t,
                                   double *decision, double *evidence, double *to)
{
  const size_t first = data->first[t];
  size_t count = 0;
  double carried = 0;
  for (size_t i = p->first; i < p->end; i++) {
    idm_scorer_decisions(p->scorer, i, decision + p->of->first[i] - first);
    idm_scorer_evidence(p->scorer, i, evidence + p->of->first[i] - first);
  }
  for (size_t r = first; r < data->first[t + 1]; r++) {
    if (is_decision(data, r)) {
      to[count++] = decision[r - first] + carried;
      carried = 0;
    }
    carried += evidence[r - first];
  }
  if (count) to[count - 1] += carried;
  return count;
}

size_t idm_fit_longest(const fit_context *f)
{
  size_t longest = 0;
  for (size_t t = 0; t < f->data->trajectories; t++) {
    const size_t rows = f->data->first[t + 1] - f->data->first[t];
    longest = rows > longest ? rows : longest;
  }
  return longest;
}

void idm_fit_unit_likelihoods(const fit_context *f, const idm_matching *matching, size_t longest,
                              double *row, double *to)
{
  const idm_data *data = f->data;
  segment_range p = {.scorer = idm_matching_scorer(matching),
                     .of = f->segments ? f->segments : data};
  size_t at = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    p.first = p.end;
    while (p.end < p.of->trajectories && p.of->first[p.end] < data->first[t + 1]) p.end++;
    if (f->settings->keep == IDM_KEEP_DECISION) {
      at += decision_likelihoods(&p, data, t, row, row + longest, to + at);
      continue;
    }
    to[at] = 0;
    for (size_t i = p.first; i < p.end; i++) to[at] += idm_scorer_trajectory(p.scorer, i);
    at++;
  }
}

static void fill_chain_likelihood(void *context, size_t chain)
{
  const likelihood_task *work = context;
  const fit_context *f = work->f;
  idm_posterior *p = work->posterior;
  const size_t d = f->parameters->dimension;
  const size_t columns = p->chains * p->draws;
  double *y = idm_new(d + 2 * work->longest, sizeof *y);
  idm_status status = y ? IDM_OK : idm_fail_memory(&work->error[chain]);
  for (size_t draw = 0; draw < p->draws && status == IDM_OK; draw++) {
    const size_t at = chain * p->draws + draw;
    double total;
    bool changed = draw == 0; /* a rejected step has the same log-likelihoods */
    for (size_t i = 0; i < d; i++) {
      const double next = p->unconstrained[i * columns + at];
      changed = changed || next != y[i];
      y[i] = next;
    }
    double *row = p->log_likelihood + at * p->unit.count;
    if (!changed) {
      memcpy(row, row - p->unit.count, p->unit.count * sizeof *row);
      continue;
    }
    if (f->table && f->table->units == p->unit.count && idm_table_contains(f->table, y)) {
      idm_table_units(f->table, y, row);
      continue;
    }
    status = idm_matching_log_likelihood(f->matching[chain], y, &total, NULL, &work->error[chain]);
    if (status == IDM_OK)
      idm_fit_unit_likelihoods(f, f->matching[chain], work->longest, y + d, row);
  }
  free(y);
  work->status[chain] = status;
}

static idm_status fill_log_likelihood(const fit_context *f, idm_posterior *p, idm_error *opt_error)
{
  likelihood_task work = {.f = f, .posterior = p, .longest = idm_fit_longest(f)};
  work.status = idm_new(p->chains, sizeof *work.status);
  work.error = idm_new(p->chains, sizeof *work.error);
  idm_status status = work.status && work.error ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_cancel_parallel(f->parameters->cancel, p->chains, f->settings->threads,
                                 fill_chain_likelihood, &work, opt_error);
  for (size_t i = 0; i < p->chains && status == IDM_OK; i++) {
    status = work.status[i];
    if (status != IDM_OK && opt_error) *opt_error = work.error[i];
  }
  free(work.status);
  free(work.error);
  return status;
}

/* Whether default log-likelihoods are too large to be stored. */
static bool too_large(const fit_context *f, size_t draws)
{
  const idm_keep_likelihood keep = f->settings->keep;
  const double bytes = (double)unit_count(f->data, keep) * (double)draws * sizeof(double);
  return keep == IDM_KEEP_TRAJECTORY && bytes > max_kept_bytes;
}

size_t idm_fit_units(const fit_context *f)
{
  const size_t draws = idm_times(f->settings->chains, (size_t)f->settings->draws);
  return too_large(f, draws) ? 0 : unit_count(f->data, f->settings->keep);
}

/* Store the log-likelihoods, unless they are too large. */
static idm_status keep_log_likelihood(const fit_context *f, idm_posterior *p, idm_notes *opt_notes,
                                      idm_error *opt_error)
{
  const idm_keep_likelihood keep = f->settings->keep;
  if (keep == IDM_KEEP_NOTHING) return IDM_OK;
  const size_t units = unit_count(f->data, keep);
  const double bytes = (double)units * (double)(p->chains * p->draws) * sizeof(double);
  if (too_large(f, p->chains * p->draws)) {
    idm_notes_add(opt_notes,
                  "log-likelihoods by trajectory would take %.3g GB and are left out of the run",
                  bytes / 1e9);
    return IDM_OK;
  }
  p->by_decision = keep == IDM_KEEP_DECISION;
  p->log_likelihood = idm_new(idm_times(units, p->chains * p->draws), sizeof(double));
  idm_status status = p->log_likelihood ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = name_units(f->data, p, units, opt_error);
  if (status == IDM_OK) status = fill_log_likelihood(f, p, opt_error);
  return status;
}

idm_status idm_fit_check_size(const idm_data *data, const idm_fit_settings *settings,
                              idm_error *opt_error)
{
  const double draws_bytes =
      (double)settings->chains * (double)settings->draws * (double)(sizeof(idm_statistics) + 64);
  if (draws_bytes > max_bytes())
    return idm_fail(opt_error, IDM_USAGE,
                    "%.0f draws would take %.3g GB, more than half of the memory; request fewer",
                    (double)settings->chains * (double)settings->draws, draws_bytes / 1e9);
  if (settings->keep != IDM_KEEP_DECISION) return IDM_OK;
  const double units = (double)unit_count(data, settings->keep);
  const double bytes = units * (double)settings->chains * (double)settings->draws * sizeof(double);
  if (bytes <= max_bytes()) return IDM_OK;
  return idm_fail(opt_error, IDM_USAGE,
                  "log-likelihoods of %.0f decisions at %.0f draws would take %.3g GB; expected at "
                  "most %.0f: request fewer draws, or `trajectory`",
                  units, (double)settings->chains * (double)settings->draws, bytes / 1e9,
                  max_bytes() / 1e9);
}

/* --- the prior ------------------------------------------------------------------------------ */

idm_status idm_posterior_draw_prior(const idm_parameters *parameters, size_t count, uint64_t key,
                                    idm_posterior *p, idm_error *opt_error)
{
  static const uint64_t stream = (uint64_t)2 << 32; /* beyond the streams of chains and starts */
  if (!count || !idm_parameters_proper(parameters)) return IDM_OK;
  double *y = idm_new(parameters->dimension + parameters->numbers, sizeof *y);
  p->prior = idm_new(idm_times(parameters->numbers, count), sizeof *p->prior);
  if (!y || !p->prior) {
    free(y);
    return idm_fail_memory(opt_error);
  }
  idm_random random;
  idm_random_init(&random, key, stream);
  p->prior_draws = count;
  for (size_t i = 0; i < count; i++) {
    idm_parameters_draw(parameters, &random, y);
    store_numbers(parameters, y, p->prior, count, i, y + parameters->dimension);
  }
  free(y);
  return IDM_OK;
}

/* --- the environment ------------------------------------------------------------------------ */

/* Missing cells are weighted by the environment; add a note if the mean of the agent's models
 * replaces it. */
static void warn_of_substitute(const fit_context *f, idm_notes *opt_notes)
{
  const idm_setting *setting = f->problem->setting;
  bool has_unrecorded = false;
  if (idm_setting_has_dynamics(setting) || idm_agent_planner(&f->problem->agent)->behavior) return;
  for (size_t i = 0; i < f->tree->nodes && !has_unrecorded; i++)
    has_unrecorded = f->tree->node[i].begin >= 0 && !f->tree->node[i].all_recorded;
  if (has_unrecorded)
    idm_notes_add(opt_notes, "the environment's dynamics are not given: what the log does not "
                             "record is weighted by the mean of the agent's models instead");
}

idm_status idm_posterior_complete(const fit_context *f, idm_posterior *posterior,
                                  idm_notes *opt_notes, idm_error *opt_error)
{
  const idm_status status = idm_posterior_draw_prior(f->parameters, f->settings->prior_draws,
                                                     f->key, posterior, opt_error);
  warn_of_substitute(f, opt_notes);
  return status == IDM_OK ? keep_log_likelihood(f, posterior, opt_notes, opt_error) : status;
}
