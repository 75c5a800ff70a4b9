/* Demonstrator of a log: states of rows, action frequencies, effective number of decisions and
 * occupancies. */
#include "invert/utility/mdp.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"

/* --- states --------------------------------------------------------------------------------- */

/* State of a degenerate belief, or IDM_MISSING. */
static int32_t corner(const double *belief, size_t states)
{
  for (size_t s = 0; s < states; s++)
    if (belief[s] == 1) return (int32_t)s;
  return IDM_MISSING;
}

void idm_demonstrator_states(const idm_data *data, const idm_setting *setting, int32_t *state)
{
  const size_t states = setting->states.count;
  for (size_t t = 0; t < data->trajectories; t++) {
    const int32_t start = data->start[t];
    int32_t now =
        corner(start < 0 ? setting->start : data->start_belief + (size_t)start * states, states);
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++) {
      state[r] = now;
      now = data->observation[r];
    }
  }
}

/* --- states of rows -------------------------------------------------------------------------- */

void idm_row_states_destroy(idm_row_states *row_states)
{
  if (!row_states) return;
  free(row_states->first);
  free(row_states->state);
  free(row_states->weight);
  free(row_states->belief);
  free(row_states);
}

idm_status idm_row_states_create(size_t rows, size_t entries, idm_row_states **ret_row_states,
                                 idm_error *opt_error)
{
  *ret_row_states = NULL;
  idm_row_states *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  p->first = idm_new(rows + 1, sizeof *p->first);
  p->state = idm_new(entries, sizeof *p->state);
  p->weight = idm_new(entries, sizeof *p->weight);
  if (!p->first || !p->state || !p->weight) {
    idm_row_states_destroy(p);
    return idm_fail_memory(opt_error);
  }
  *ret_row_states = p;
  return IDM_OK;
}

/* States of rows if states are observed. */
static idm_status place_rows(const idm_data *data, const idm_setting *setting,
                             idm_row_states **ret_row_states, idm_error *opt_error)
{
  int32_t *state = idm_new(data->rows, sizeof *state);
  idm_status status = state ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_row_states_create(data->rows, data->rows, ret_row_states, opt_error);
  if (status == IDM_OK) {
    idm_row_states *p = *ret_row_states;
    idm_demonstrator_states(data, setting, state);
    for (size_t r = 0, at = 0; r < data->rows; r++) {
      if (state[r] != IDM_MISSING) {
        p->state[at] = (uint32_t)state[r];
        p->weight[at++] = 1;
      }
      p->first[r + 1] = at;
    }
  }
  free(state);
  return status;
}

/* --- counts --------------------------------------------------------------------------------- */

/* Adds a row's decision; returns false if the row has no state. */
static bool add_row(const idm_demonstrator *d, const idm_data *data, size_t row, double weight,
                    double *to, double *opt_visits)
{
  const idm_row_states *p = d->row_states;
  for (size_t i = p->first[row]; i < p->first[row + 1]; i++) {
    to[p->state[i] * d->n.actions + (size_t)data->action[row]] += weight * p->weight[i];
    if (opt_visits) opt_visits[p->state[i]] += weight * p->weight[i];
  }
  return p->first[row] < p->first[row + 1];
}

static bool is_decision(const idm_data *data, size_t row)
{
  return data->action[row] != IDM_MISSING && !idm_data_missed(data, row);
}

bool idm_demonstrator_counts_row(const idm_demonstrator *d, const idm_data *data, size_t row)
{
  return is_decision(data, row) && d->row_states->first[row] < d->row_states->first[row + 1];
}

static void count_rows(idm_demonstrator *d, const idm_data *data, const bool *opt_include)
{
  for (size_t t = 0; t < data->trajectories; t++) {
    if (opt_include && !opt_include[t]) continue;
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++) {
      if (!is_decision(data, r)) continue;
      if (add_row(d, data, r, 1, d->count, d->visits))
        d->decisions++;
      else
        d->without_state++;
    }
  }
}

static void set_policy(idm_demonstrator *d, const double *prior)
{
  for (size_t s = 0; s < d->n.states; s++)
    for (size_t u = 0; u < d->n.actions; u++)
      d->policy[s * d->n.actions + u] =
          d->visits[s] > 0 ? d->count[s * d->n.actions + u] / d->visits[s] : prior[u];
}

idm_status idm_demonstrator_create_at(const idm_mdp *mdp, const idm_data *data,
                                      idm_row_states *row_states, const bool *opt_include,
                                      idm_demonstrator **ret_demonstrator, idm_error *opt_error)
{
  *ret_demonstrator = NULL;
  const size_t entries = mdp->n.states * mdp->n.actions;
  idm_demonstrator *d = idm_new(1, sizeof *d);
  if (!d) {
    idm_row_states_destroy(row_states);
    return idm_fail_memory(opt_error);
  }
  d->n = mdp->n;
  d->row_states = row_states;
  d->count = idm_new(entries, sizeof *d->count);
  d->visits = idm_new(mdp->n.states, sizeof *d->visits);
  d->policy = idm_new(entries, sizeof *d->policy);
  idm_status status = d->count && d->visits && d->policy ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    count_rows(d, data, opt_include);
    set_policy(d, mdp->prior);
    if (!d->decisions)
      status = idm_fail(opt_error, IDM_INPUT,
                        "no row of the log has both a state and an action: nothing was "
                        "demonstrated");
  }
  if (status != IDM_OK) {
    idm_demonstrator_destroy(d);
    return status;
  }
  *ret_demonstrator = d;
  return IDM_OK;
}

idm_status idm_demonstrator_create(const idm_mdp *mdp, const idm_data *data,
                                   const idm_setting *setting, const bool *opt_include,
                                   idm_demonstrator **ret_demonstrator, idm_error *opt_error)
{
  *ret_demonstrator = NULL;
  idm_row_states *row_states = NULL;
  const idm_status status = place_rows(data, setting, &row_states, opt_error);
  if (status != IDM_OK) {
    idm_row_states_destroy(row_states);
    return status;
  }
  return idm_demonstrator_create_at(mdp, data, row_states, opt_include, ret_demonstrator,
                                    opt_error);
}

idm_status idm_demonstrator_copy(const idm_demonstrator *demonstrator,
                                 idm_demonstrator **ret_demonstrator, idm_error *opt_error)
{
  const size_t entries = demonstrator->n.states * demonstrator->n.actions;
  *ret_demonstrator = NULL;
  idm_demonstrator *d = idm_new(1, sizeof *d);
  if (!d) return idm_fail_memory(opt_error);
  *d = *demonstrator;
  d->row_states = NULL;
  d->count = idm_duplicate(demonstrator->count, entries, sizeof *d->count);
  d->visits = idm_duplicate(demonstrator->visits, d->n.states, sizeof *d->visits);
  d->policy = idm_duplicate(demonstrator->policy, entries, sizeof *d->policy);
  if (!d->count || !d->visits || !d->policy) {
    idm_demonstrator_destroy(d);
    return idm_fail_memory(opt_error);
  }
  *ret_demonstrator = d;
  return IDM_OK;
}

void idm_demonstrator_destroy(idm_demonstrator *demonstrator)
{
  if (!demonstrator) return;
  idm_row_states_destroy(demonstrator->row_states);
  free(demonstrator->count);
  free(demonstrator->visits);
  free(demonstrator->policy);
  free(demonstrator);
}

/* --- deterministic demonstrators ------------------------------------------------------------- */

idm_status idm_demonstrator_deterministic(const idm_demonstrator *d, const idm_setting *setting,
                                          const char *caller, int32_t *action, idm_error *opt_error)
{
  enum { max_listed = 5 };
  char list[600] = "";
  size_t mixed_states = 0;
  for (size_t s = 0; s < d->n.states; s++) {
    size_t taken = 0;
    action[s] = IDM_MISSING;
    for (size_t u = 0; u < d->n.actions; u++) {
      if (!(d->count[s * d->n.actions + u] > 0)) continue;
      taken++;
      action[s] = (int32_t)u;
    }
    if (taken < 2) continue;
    const size_t length = strlen(list);
    if (mixed_states++ < max_listed)
      snprintf(list + length, sizeof list - length, "%s'%.80s'", length ? ", " : "",
               setting->states.name[s]);
  }
  if (!mixed_states) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' needs one action per state, and the log has more in %zu %s: %s%s; for a "
                  "demonstrator whose actions vary use --class me-irl",
                  caller, mixed_states, mixed_states == 1 ? "state" : "states", list,
                  mixed_states > max_listed ? ", ..." : "");
}

/* --- occupancy ------------------------------------------------------------------------------ */

/* true if a terminal action or state ended the trajectory. */
static bool has_ended(const idm_data *data, const idm_setting *setting, size_t trajectory)
{
  const size_t last = data->first[trajectory + 1] - 1;
  const int32_t action = data->action[last];
  return (action != IDM_MISSING && setting->terminal[action]) ||
         idm_observation_is_terminal(setting, data->observation[last]);
}

/* Adds the discounted decisions of a trajectory; returns the sum of their weights. */
static double add_trajectory(const idm_demonstrator *d, const idm_mdp *mdp, const idm_data *data,
                             size_t t, double weight, double *occupancy)
{
  double total = 0;
  for (size_t r = data->first[t]; r < data->first[t + 1]; r++, weight *= mdp->discount)
    if (is_decision(data, r) && add_row(d, data, r, weight, occupancy, NULL)) total += weight;
  return total;
}

/* An episode that ended contributes the mass of its steps and none after them, as in the occupancy
 * of a policy. Trajectories that the log truncates share the remaining mass in proportion to their
 * discounted decisions. */
static void empirical_occupancy(const idm_demonstrator *d, const idm_mdp *mdp, const idm_data *data,
                                const idm_setting *setting, double *occupancy)
{
  const size_t entries = d->n.states * d->n.actions;
  const double share = idm_mdp_step_weight(mdp);
  double total = 0;
  size_t ended = 0;
  memset(occupancy, 0, entries * sizeof *occupancy);
  for (size_t t = 0; t < data->trajectories; t++)
    if (!(share > 0) || !has_ended(data, setting, t))
      total += add_trajectory(d, mdp, data, t, 1, occupancy);
    else
      ended++;
  const double cut = (double)(data->trajectories - ended) / (double)data->trajectories;
  for (size_t i = 0; i < entries && total > 0; i++) occupancy[i] *= cut / total;
  for (size_t t = 0; t < data->trajectories && ended; t++)
    if (has_ended(data, setting, t))
      add_trajectory(d, mdp, data, t, share / (double)data->trajectories, occupancy);
}

/* Weight of a decision in a policy's occupancy with state masses mass[state]. */
static double occupancy_weight(const idm_demonstrator *d, const double *mass, size_t row)
{
  const idm_row_states *p = d->row_states;
  double share = 0;
  for (size_t i = p->first[row]; i < p->first[row + 1]; i++)
    share += p->weight[i] * mass[p->state[i]] / d->visits[p->state[i]];
  return share;
}

/* Weight in empirical_occupancy of the first decision of a trajectory that ended, and of one that
 * the log truncates. */
static void first_weights(const idm_demonstrator *d, const idm_mdp *mdp, const idm_data *data,
                          const idm_setting *setting, double *ended, double *truncated)
{
  const double share = idm_mdp_step_weight(mdp), count = (double)data->trajectories;
  double total = 0, cut = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    double discount = 1;
    if (share > 0 && has_ended(data, setting, t)) continue;
    cut++;
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++, discount *= mdp->discount)
      if (idm_demonstrator_counts_row(d, data, r)) total += discount;
  }
  *ended = share / count;
  *truncated = total > 0 ? cut / count / total : 0;
}

double idm_demonstrator_ess(const idm_demonstrator *d, const idm_mdp *mdp, const idm_data *data,
                            const idm_setting *setting, bool empirical, const double *occupancy)
{
  const bool terminates = idm_mdp_step_weight(mdp) > 0;
  double sum = 0, squares = 0, all = 0, ended, truncated;
  first_weights(d, mdp, data, setting, &ended, &truncated);
  double *mass = idm_new(d->n.states, sizeof *mass);
  if (!mass) return 0;
  for (size_t e = 0; e < d->n.states * d->n.actions; e++) {
    mass[e / d->n.actions] += occupancy[e];
    all += occupancy[e];
  }
  for (size_t t = 0; t < data->trajectories; t++) {
    double discount = terminates && has_ended(data, setting, t) ? ended : truncated;
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++, discount *= mdp->discount) {
      if (!idm_demonstrator_counts_row(d, data, r)) continue;
      const double weight = empirical ? discount : occupancy_weight(d, mass, r);
      sum += weight;
      squares += weight * weight;
    }
  }
  free(mass);
  if (!(squares > 0)) return 0;
  return empirical ? sum * sum / (all * squares) : sum / squares;
}

double idm_demonstrator_truncated(const idm_mdp *mdp, const idm_data *data,
                                  const idm_setting *setting)
{
  const double g = mdp->discount, horizon = (double)setting->horizon;
  const double end = setting->horizon ? pow(g, horizon) : 0;
  double cut = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    const double steps = (double)(data->first[t + 1] - data->first[t]);
    if (has_ended(data, setting, t) || (setting->horizon && steps >= horizon)) continue;
    cut += setting->horizon && g == 1 ? 1 - steps / horizon : (pow(g, steps) - end) / (1 - end);
  }
  return cut / (double)data->trajectories;
}

double idm_demonstrator_unvisited(const idm_demonstrator *d, const double *occupancy)
{
  static const double rounding = 1e-12;
  double share = 0;
  for (size_t e = 0; e < d->n.states * d->n.actions; e++)
    if (!(d->visits[e / d->n.actions] > 0)) share += occupancy[e];
  return share > rounding ? share : 0;
}

idm_status idm_demonstrator_occupancy(const idm_demonstrator *d, const idm_mdp *mdp,
                                      const idm_data *data, const idm_setting *setting,
                                      bool empirical, double *occupancy, idm_notes *opt_notes,
                                      idm_error *opt_error)
{
  if (empirical) {
    empirical_occupancy(d, mdp, data, setting, occupancy);
    return IDM_OK;
  }
  const idm_status status = idm_mdp_occupancy(mdp, d->policy, occupancy, opt_error);
  if (status != IDM_OK) return status;
  const double unvisited = idm_demonstrator_unvisited(d, occupancy);
  if (unvisited > 0)
    idm_notes_add(opt_notes,
                  "%.3g %% of the demonstrator's occupancy lies in %s that the log never visits; "
                  "there the action prior is used as its policy",
                  100 * unvisited, setting->fully_observed ? "states" : "beliefs");
  return IDM_OK;
}
