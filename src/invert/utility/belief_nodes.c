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

/* --- reading -------------------------------------------------------------------------------- */

/* An action at a belief. */
static idm_status take(void *context, size_t row, const double *z, idm_error *opt_error)
{
  reading *r = context;
  const size_t action = (size_t)r->data->action[row];
  if (!(r->mind->prior[action] > 0)) {
    const idm_status status =
        idm_fail(opt_error, IDM_INPUT,
                 "the action '%s' is taken here, and the agent's action prior rules it out",
                 r->mind->setting->actions.name[action]);
    idm_data_locate(r->data, row, opt_error);
    return status;
  }
  const size_t node = idm_policy_graph_find(r->graph, z);
  if (node == IDM_NO_NODE) {
    r->other[r->graph->count] = IDM_MISSING;
    return idm_policy_graph_add(r->graph, z, action, opt_error);
  }
  if (r->graph->action[node] != (int32_t)action && r->other[node] == IDM_MISSING)
    r->other[node] = (int32_t)action;
  return IDM_OK;
}

static idm_status read_all(reading *r, const char *who, idm_notes *opt_notes, idm_error *opt_error)
{
  size_t mixed = 0;
  idm_status status = idm_mind_follow(r->mind, r->data, take, r, opt_notes, opt_error);
  for (size_t i = 0; i < r->graph->count; i++) mixed += r->other[i] != IDM_MISSING;
  if (status == IDM_OK && mixed) status = fail_mixed(r, who, mixed, opt_error);
  if (status == IDM_OK && !r->graph->count)
    status = idm_fail(opt_error, IDM_INPUT,
                      "no trajectory of the log has its first action: nothing was demonstrated");
  return status;
}

idm_status idm_belief_nodes_read(const idm_mind *mind, const idm_data *data, const char *who,
                                 idm_policy_graph *graph, idm_notes *opt_notes,
                                 idm_error *opt_error)
{
  idm_policy_graph_begin(mind, graph);
  reading r = {
      .mind = mind, .data = data, .graph = graph, .other = idm_new(data->rows, sizeof *r.other)};
  idm_status status = r.other ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = read_all(&r, who, opt_notes, opt_error);
  if (status == IDM_OK) status = idm_policy_graph_link(mind, graph, opt_error);
  free(r.other);
  return status;
}
