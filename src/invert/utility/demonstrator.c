/* The demonstrator: visits, frequencies, occupancy. */
#include "invert/utility/demonstrator.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"

/* --- states --------------------------------------------------------------------------------- */

/* The state that a distribution is certain of. */
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

/* --- stations --------------------------------------------------------------------------------- */

void idm_stations_destroy(idm_stations *stations)
{
  if (!stations) return;
  free(stations->first);
  free(stations->state);
  free(stations->weight);
  free(stations);
}

idm_status idm_stations_create(size_t rows, size_t entries, idm_stations **ret_stations,
                               idm_error *opt_error)
{
  *ret_stations = NULL;
  idm_stations *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  p->first = idm_new(rows + 1, sizeof *p->first);
  p->state = idm_new(entries, sizeof *p->state);
  p->weight = idm_new(entries, sizeof *p->weight);
  if (!p->first || !p->state || !p->weight) {
    idm_stations_destroy(p);
    return idm_fail_memory(opt_error);
  }
  *ret_stations = p;
  return IDM_OK;
}

/* Of observed states. */
static idm_status place(const idm_data *data, const idm_setting *setting,
                        idm_stations **ret_stations, idm_error *opt_error)
{
  int32_t *state = idm_new(data->rows, sizeof *state);
  idm_status status = state ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_stations_create(data->rows, data->rows, ret_stations, opt_error);
  if (status == IDM_OK) {
    idm_stations *p = *ret_stations;
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

/* Add a row's decision; false where it has no place. */
static bool add_row(const idm_demonstrator *d, const idm_data *data, size_t row, double weight,
                    double *to, double *opt_visits)
{
  const idm_stations *p = d->stations;
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

static void count_rows(idm_demonstrator *d, const idm_data *data, const bool *opt_of)
{
  for (size_t t = 0; t < data->trajectories; t++) {
    if (opt_of && !opt_of[t]) continue;
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++) {
      if (!is_decision(data, r)) continue;
      if (add_row(d, data, r, 1, d->count, d->visits))
        d->decisions++;
      else
        d->unplaced++;
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

idm_status idm_demonstrator_create_at(const idm_mdp *world, const idm_data *data,
                                      idm_stations *stations, const bool *opt_of,
                                      idm_demonstrator **ret_demonstrator, idm_error *opt_error)
{
  *ret_demonstrator = NULL;
  const size_t entries = world->n.states * world->n.actions;
  idm_demonstrator *d = idm_new(1, sizeof *d);
  if (!d) {
    idm_stations_destroy(stations);
    return idm_fail_memory(opt_error);
  }
  d->n = world->n;
  d->stations = stations;
  d->count = idm_new(entries, sizeof *d->count);
  d->visits = idm_new(world->n.states, sizeof *d->visits);
  d->policy = idm_new(entries, sizeof *d->policy);
  idm_status status = d->count && d->visits && d->policy ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    count_rows(d, data, opt_of);
    set_policy(d, world->prior);
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

idm_status idm_demonstrator_create(const idm_mdp *world, const idm_data *data,
                                   const idm_setting *setting, const bool *opt_of,
                                   idm_demonstrator **ret_demonstrator, idm_error *opt_error)
{
  *ret_demonstrator = NULL;
  idm_stations *stations = NULL;
  const idm_status status = place(data, setting, &stations, opt_error);
  if (status != IDM_OK) {
    idm_stations_destroy(stations);
    return status;
  }
  return idm_demonstrator_create_at(world, data, stations, opt_of, ret_demonstrator, opt_error);
}

idm_status idm_demonstrator_copy(const idm_demonstrator *demonstrator,
                                 idm_demonstrator **ret_demonstrator, idm_error *opt_error)
{
  const size_t entries = demonstrator->n.states * demonstrator->n.actions;
  *ret_demonstrator = NULL;
  idm_demonstrator *d = idm_new(1, sizeof *d);
  if (!d) return idm_fail_memory(opt_error);
  *d = *demonstrator;
  d->stations = NULL;
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
  idm_stations_destroy(demonstrator->stations);
  free(demonstrator->count);
  free(demonstrator->visits);
  free(demonstrator->policy);
  free(demonstrator);
}

/* --- one action a state --------------------------------------------------------------------- */

idm_status idm_demonstrator_deterministic(const idm_demonstrator *d, const idm_setting *setting,
                                          const char *who, int32_t *action, idm_error *opt_error)
{
  enum { shown = 5 };
  char list[600] = "";
  size_t mixed = 0;
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
    if (mixed++ < shown)
      snprintf(list + length, sizeof list - length, "%s'%.80s'", length ? ", " : "",
               setting->states.name[s]);
  }
  if (!mixed) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' needs one action a state, and the log has more in %zu %s: %s%s; for a "
                  "demonstrator whose actions vary use --class me-irl",
                  who, mixed, mixed == 1 ? "state" : "states", list, mixed > shown ? ", ..." : "");
}

/* --- occupancy ------------------------------------------------------------------------------ */

/* Whether an action or an arrival ended a trajectory for good. */
static bool is_over(const idm_data *data, const idm_setting *setting, size_t trajectory)
{
  const size_t last = data->first[trajectory + 1] - 1;
  const int32_t action = data->action[last];
  return (action != IDM_MISSING && setting->terminal[action]) ||
         idm_setting_arrives(setting, data->observation[last]);
}

/* Add what a trajectory did, discounted; returns the sum of its weights. */
static double add_trajectory(const idm_demonstrator *d, const idm_mdp *world, const idm_data *data,
                             size_t t, double weight, double *occupancy)
{
  double total = 0;
  for (size_t r = data->first[t]; r < data->first[t + 1]; r++, weight *= world->discount)
    if (is_decision(data, r) && add_row(d, data, r, weight, occupancy, NULL)) total += weight;
  return total;
}

/* An episode that ended has the mass of its steps and none after them, as the occupancy of a policy
 * has. Trajectories that the log cuts off have a mass of 1, in the proportions of what they did. */
static void empirical_occupancy(const idm_demonstrator *d, const idm_mdp *world,
                                const idm_data *data, const idm_setting *setting, double *occupancy)
{
  const size_t entries = d->n.states * d->n.actions;
  const double share = idm_mdp_share(world);
  double total = 0;
  size_t over = 0;
  memset(occupancy, 0, entries * sizeof *occupancy);
  for (size_t t = 0; t < data->trajectories; t++)
    if (!(share > 0) || !is_over(data, setting, t))
      total += add_trajectory(d, world, data, t, 1, occupancy);
    else
      over++;
  const double cut = (double)(data->trajectories - over) / (double)data->trajectories;
  for (size_t i = 0; i < entries && total > 0; i++) occupancy[i] *= cut / total;
  for (size_t t = 0; t < data->trajectories && over; t++)
    if (is_over(data, setting, t))
      add_trajectory(d, world, data, t, share / (double)data->trajectories, occupancy);
}

idm_status idm_demonstrator_occupancy(const idm_demonstrator *d, const idm_mdp *world,
                                      const idm_data *data, const idm_setting *setting,
                                      bool empirical, double *occupancy, idm_notes *opt_notes,
                                      idm_error *opt_error)
{
  if (empirical) {
    empirical_occupancy(d, world, data, setting, occupancy);
    return IDM_OK;
  }
  const idm_status status = idm_mdp_occupancy(world, d->policy, occupancy, opt_error);
  if (status != IDM_OK) return status;
  double unvisited = 0;
  for (size_t s = 0; s < d->n.states; s++)
    for (size_t u = 0; u < d->n.actions && !(d->visits[s] > 0); u++)
      unvisited += occupancy[s * d->n.actions + u];
  if (unvisited > 1e-12)
    idm_notes_add(opt_notes,
                  "%.3g %% of the demonstrator's occupancy lies in %s that the log never "
                  "visits; there the action prior stands for its policy",
                  100 * unvisited, setting->fully_observed ? "states" : "beliefs");
  return IDM_OK;
}
