/* What a demonstrator did at which belief. */
#include "invert/utility/belief_nodes.h"

#include <stdio.h>

#include "base/memory.h"

/* Reading under way. */
typedef struct reading {
  const idm_mind *mind;
  const idm_data *data;
  idm_policy_graph *graph;
  int32_t *other; /* [node]: a second action taken there, or IDM_MISSING */
  double *z;      /* [state]: the belief */
  double *after;
  size_t cut; /* trajectories that end before they end */
} reading;

/* --- words ---------------------------------------------------------------------------------- */

/* "0.85 tiger-left, 0.15 tiger-right", the likeliest first. */
static void spell_belief(const idm_setting *setting, const double *z, char *buffer, size_t size)
{
  enum { shown = 3 };
  double above = 2;
  size_t length = 0;
  size_t told = 0;
  buffer[0] = '\0';
  for (size_t i = 0; i < shown && length + 1 < size; i++) {
    double most = 0;
    for (size_t s = 0; s < setting->states.count; s++)
      if (z[s] < above && z[s] > most) most = z[s];
    for (size_t s = 0; s < setting->states.count && length + 1 < size && told < shown; s++) {
      if (z[s] != most || !(most > 0)) continue;
      const int put = snprintf(buffer + length, size - length, "%s%.3g %.60s", told ? ", " : "",
                               z[s], setting->states.name[s]);
      length += put > 0 ? (size_t)put : 0;
      told++;
    }
    above = most;
  }
}

static idm_status fail_mixed(const reading *r, const char *who, size_t mixed, idm_error *opt_error)
{
  enum { shown = 3 };
  const idm_setting *setting = r->mind->setting;
  char list[900] = "";
  char belief[240];
  size_t told = 0;
  for (size_t i = 0; i < r->graph->count && told < shown; i++) {
    if (r->other[i] == IDM_MISSING) continue;
    const size_t length = strlen(list);
    spell_belief(setting, r->graph->belief + i * setting->states.count, belief, sizeof belief);
    snprintf(list + length, sizeof list - length, "%s'%.60s' and '%.60s' at (%s)",
             told++ ? "; " : "", setting->actions.name[r->graph->action[i]],
             setting->actions.name[r->other[i]], belief);
  }
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' needs one action a belief, and the log has more at %zu %s: %s%s", who,
                  mixed, mixed == 1 ? "belief" : "beliefs", list, mixed > shown ? "; ..." : "");
}

static idm_status fail_row(const reading *r, size_t row, idm_error *opt_error, const char *what,
                           const char *name)
{
  const idm_status status = idm_fail(opt_error, IDM_INPUT, what, name);
  idm_data_locate(r->data, row, opt_error);
  return status;
}

/* --- reading -------------------------------------------------------------------------------- */

/* An action at the belief that is held now. */
static idm_status take(reading *r, size_t row, idm_error *opt_error)
{
  const size_t action = (size_t)r->data->action[row];
  if (!(r->mind->prior[action] > 0))
    return fail_row(r, row, opt_error,
                    "the action '%s' is taken here, and the agent's action prior rules it out",
                    r->mind->setting->actions.name[action]);
  const size_t node = idm_policy_graph_find(r->graph, r->z);
  if (node == IDM_NO_NODE) {
    r->other[r->graph->count] = IDM_MISSING;
    return idm_policy_graph_add(r->graph, r->z, action, opt_error);
  }
  if (r->graph->action[node] != (int32_t)action && r->other[node] == IDM_MISSING)
    r->other[node] = (int32_t)action;
  return IDM_OK;
}

static idm_status read_trajectory(reading *r, size_t trajectory, idm_error *opt_error)
{
  const idm_data *data = r->data;
  const size_t states = r->mind->n.states;
  const size_t end = data->first[trajectory + 1];
  memcpy(r->z, r->mind->start, states * sizeof *r->z);
  for (size_t row = data->first[trajectory]; row < end; row++) {
    if (data->action[row] == IDM_MISSING) {
      r->cut++;
      return IDM_OK;
    }
    const size_t action = (size_t)data->action[row];
    const idm_status status = idm_data_missed(data, row) ? IDM_OK : take(r, row, opt_error);
    if (status != IDM_OK) return status;
    if (r->mind->terminal[action]) return IDM_OK;
    if (data->observation[row] == IDM_MISSING) {
      r->cut += row + 1 < end;
      return IDM_OK;
    }
    const size_t x = (size_t)data->observation[row];
    if (!(idm_mind_update(r->mind, r->z, action, x, r->after) > 0))
      return fail_row(r, row, opt_error,
                      "'%s' is seen here, and by the agent's model of the world it cannot be",
                      r->mind->setting->observations.name[x]);
    memcpy(r->z, r->after, states * sizeof *r->z);
  }
  return IDM_OK;
}

static idm_status read_all(reading *r, const char *who, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  size_t mixed = 0;
  for (size_t t = 0; t < r->data->trajectories && status == IDM_OK; t++)
    status = read_trajectory(r, t, opt_error);
  for (size_t i = 0; i < r->graph->count; i++) mixed += r->other[i] != IDM_MISSING;
  if (status == IDM_OK && mixed) status = fail_mixed(r, who, mixed, opt_error);
  if (status == IDM_OK && !r->graph->count)
    status = idm_fail(opt_error, IDM_INPUT,
                      "no trajectory of the log has its first action: nothing was demonstrated");
  if (status == IDM_OK && r->cut)
    idm_notes_add(opt_notes,
                  "%zu %s used up to the first action or observation that is not recorded: beyond "
                  "it beliefs are not known",
                  r->cut, r->cut == 1 ? "trajectory is" : "trajectories are");
  return status;
}

idm_status idm_belief_nodes_read(const idm_mind *mind, const idm_data *data, const char *who,
                                 idm_policy_graph *graph, idm_notes *opt_notes,
                                 idm_error *opt_error)
{
  idm_policy_graph_begin(mind, graph);
  double *z = idm_new(2 * mind->n.states, sizeof *z);
  reading r = {.mind = mind,
               .data = data,
               .graph = graph,
               .other = idm_new(data->rows, sizeof *r.other),
               .z = z,
               .after = z ? z + mind->n.states : NULL};
  idm_status status = z && r.other ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = read_all(&r, who, opt_notes, opt_error);
  if (status == IDM_OK) status = idm_policy_graph_link(mind, graph, opt_error);
  free(z);
  free(r.other);
  return status;
}
