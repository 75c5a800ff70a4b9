/* Policies as graphs over beliefs: their values and occupancies, the demonstrator's graph, and best
 * responses.
 *
 * Contents: policy graph · belief nodes · rival */
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "invert/utility/belief_mdp.h"
#include "plan/point/search.h"

/* === policy graph =========================================================================== */

/* Policies as graphs over beliefs (finite-state controllers). */

/* Beliefs that differ by no more than this in every entry are equal. */
static const double belief_tolerance = 1e-9;

/* --- nodes ---------------------------------------------------------------------------------- */

void idm_policy_graph_begin(const idm_pomdp *pomdp, idm_policy_graph *graph)
{
  *graph = (idm_policy_graph){.n = pomdp->n};
}

void idm_policy_graph_free(idm_policy_graph *graph)
{
  free(graph->belief);
  free(graph->low);
  free(graph->high);
  free(graph->action);
  free(graph->next);
  free(graph->approximate);
  *graph = (idm_policy_graph){0};
}

/* First and last + 1 state of positive probability. */
static void find_support(const double *z, size_t states, size_t *low, size_t *high)
{
  *low = 0;
  *high = states;
  while (*low < *high && !(z[*low] > 0)) ++*low;
  while (*high > *low && !(z[*high - 1] > 0)) --*high;
}

/* Returns the L1 distance of two beliefs; *most receives the largest absolute difference. Beliefs
 * of disjoint supports have a distance of 2. */
static double distance(const idm_policy_graph *g, size_t node, const double *z, size_t low,
                       size_t high, double *most)
{
  *most = 1;
  if (g->low[node] >= high || low >= g->high[node]) return 2;
  const double *other = g->belief + node * g->n.states;
  const size_t end = high > g->high[node] ? high : g->high[node];
  double sum = 0;
  *most = 0;
  for (size_t s = low < g->low[node] ? low : g->low[node]; s < end; s++) {
    const double distance_to = fabs(other[s] - z[s]);
    sum += distance_to;
    if (distance_to > *most) *most = distance_to;
  }
  return sum;
}

size_t idm_policy_graph_find(const idm_policy_graph *graph, const double *z)
{
  size_t low;
  size_t high;
  double most;
  find_support(z, graph->n.states, &low, &high);
  for (size_t i = 0; i < graph->count; i++) {
    distance(graph, i, z, low, high, &most);
    if (most <= belief_tolerance) return i;
  }
  return IDM_NO_NODE;
}

static void *reallocate(void *array, size_t count, size_t size)
{
  const size_t bytes = idm_times(count, size);
  assert(bytes > 0); /* problems have states and observations */
  return realloc(array, bytes);
}

static bool grow_graph(idm_policy_graph *g)
{
  const size_t capacity = 2 * g->capacity + 16;
  double *belief = reallocate(g->belief, capacity * g->n.states, sizeof *belief);
  if (belief) g->belief = belief;
  size_t *low = reallocate(g->low, capacity, sizeof *low);
  if (low) g->low = low;
  size_t *high = reallocate(g->high, capacity, sizeof *high);
  if (high) g->high = high;
  int32_t *action = reallocate(g->action, capacity, sizeof *action);
  if (action) g->action = action;
  uint32_t *next = reallocate(g->next, capacity * g->n.observations, sizeof *next);
  if (next) g->next = next;
  bool *approximate = reallocate(g->approximate, capacity * g->n.observations, sizeof *approximate);
  if (approximate) g->approximate = approximate;
  if (!belief || !low || !high || !action || !next || !approximate) return false;
  g->capacity = capacity;
  return true;
}

idm_status idm_policy_graph_add(idm_policy_graph *graph, const double *z, size_t action,
                                idm_error *opt_error)
{
  const size_t at = graph->count;
  if (at == graph->capacity && !grow_graph(graph)) return idm_fail_memory(opt_error);
  memcpy(graph->belief + at * graph->n.states, z, graph->n.states * sizeof *z);
  find_support(z, graph->n.states, &graph->low[at], &graph->high[at]);
  graph->action[at] = (int32_t)action;
  for (size_t x = 0; x < graph->n.observations; x++) {
    graph->next[at * graph->n.observations + x] = 0;
    graph->approximate[at * graph->n.observations + x] = false;
  }
  graph->count++;
  return IDM_OK;
}

size_t idm_policy_graph_nearest(const idm_policy_graph *graph, const double *z)
{
  size_t best = 0;
  size_t low;
  size_t high;
  double least = INFINITY;
  double most;
  find_support(z, graph->n.states, &low, &high);
  for (size_t i = 0; i < graph->count; i++) {
    const double distance_to = distance(graph, i, z, low, high, &most);
    if (!(distance_to < least - 1e-12)) continue; /* ties up to rounding keep the first node */
    least = distance_to;
    best = i;
  }
  return best;
}

/* --- links ---------------------------------------------------------------------------------- */

/* Links a node to the node of a belief, or to the nearest node. */
static void link_node(idm_policy_graph *g, size_t node, size_t x, const double *next_belief)
{
  const size_t at = node * g->n.observations + x;
  const size_t found = idm_policy_graph_find(g, next_belief);
  g->approximate[at] = found == IDM_NO_NODE;
  g->next[at] = (uint32_t)(found == IDM_NO_NODE ? idm_policy_graph_nearest(g, next_belief) : found);
}

idm_status idm_policy_graph_link(const idm_pomdp *pomdp, idm_policy_graph *graph,
                                 idm_error *opt_error)
{
  const idm_sizes n = graph->n;
  double *even = idm_new(2 * n.states, sizeof *even);
  if (!even) return idm_fail_memory(opt_error);
  double *next_belief = even + n.states;
  for (size_t s = 0; s < n.states; s++) even[s] = 1 / (double)n.states;
  for (size_t i = 0; i < graph->count; i++)
    for (size_t x = 0; x < n.observations; x++) {
      const size_t u = (size_t)graph->action[i];
      if (idm_pomdp_update(pomdp, graph->belief + i * n.states, u, x, next_belief) > 0 ||
          idm_pomdp_update(pomdp, even, u, x, next_belief) > 0)
        link_node(graph, i, x, next_belief);
    }
  free(even);
  return IDM_OK;
}

idm_status idm_policy_graph_expand(const idm_pomdp *pomdp, idm_policy_function choose_action,
                                   void *context, size_t most, idm_policy_graph *graph,
                                   idm_error *opt_error)
{
  const idm_sizes n = pomdp->n;
  idm_policy_graph_begin(pomdp, graph);
  double *next_belief = idm_new(n.states, sizeof *next_belief);
  if (!next_belief) return idm_fail_memory(opt_error);
  idm_status status =
      idm_policy_graph_add(graph, pomdp->start, choose_action(context, pomdp->start), opt_error);
  for (size_t i = 0; i < graph->count && status == IDM_OK; i++)
    for (size_t x = 0; x < n.observations && status == IDM_OK; x++) {
      const double *z = graph->belief + i * n.states;
      if (!(idm_pomdp_update(pomdp, z, (size_t)graph->action[i], x, next_belief) > 0)) continue;
      if (graph->count < most && idm_policy_graph_find(graph, next_belief) == IDM_NO_NODE)
        status = idm_policy_graph_add(graph, next_belief, choose_action(context, next_belief),
                                      opt_error);
      if (status == IDM_OK) link_node(graph, i, x, next_belief);
    }
  free(next_belief);
  return status;
}

/* --- forwards ------------------------------------------------------------------------------- */

/* Markov chain over the reachable pairs (node, state). */
typedef struct reachable_chain {
  size_t count;
  size_t room;
  size_t *pair;   /* [count]: node * states + state, in the order of discovery */
  size_t *first;  /* [count + 1]: range of its transitions */
  size_t slots;   /* size of the hash table by pair, a power of two */
  uint32_t *slot; /* index of a pair, or UINT32_MAX */
  size_t steps;
  size_t step_capacity;
  uint32_t *to; /* [step]: index of the next pair */
  double *p;    /* [step]: probability; negative for an approximate link */
} reachable_chain;

static void free_chain(reachable_chain *c)
{
  free(c->pair);
  free(c->first);
  free(c->slot);
  free(c->to);
  free(c->p);
}

static uint32_t *slot_of(const reachable_chain *c, size_t pair)
{
  size_t at = pair * (size_t)0x9e3779b97f4a7c15u >> 20 & (c->slots - 1);
  while (c->slot[at] != UINT32_MAX && c->pair[c->slot[at]] != pair) at = (at + 1) & (c->slots - 1);
  return &c->slot[at];
}

/* Doubles the room for pairs; the hash table has at least four times as many slots. */
static bool grow_chain(reachable_chain *c)
{
  const size_t room = 2 * c->room + 256;
  size_t slots = 1;
  while (slots < 4 * room) slots *= 2;
  size_t *pair = reallocate(c->pair, room, sizeof *pair);
  if (pair) c->pair = pair;
  size_t *first = reallocate(c->first, room + 1, sizeof *first);
  if (first) c->first = first;
  uint32_t *slot = reallocate(c->slot, slots, sizeof *slot);
  if (slot) c->slot = slot;
  if (!pair || !first || !slot) return false;
  c->room = room;
  c->slots = slots;
  memset(slot, 0xff, slots * sizeof *slot);
  for (size_t i = 0; i < c->count; i++) *slot_of(c, c->pair[i]) = (uint32_t)i;
  return true;
}

/* Index of a pair, which is added if it is new; UINT32_MAX: memory is exhausted. */
static uint32_t index_of(reachable_chain *c, size_t pair)
{
  if (c->count == c->room && !grow_chain(c)) return UINT32_MAX;
  uint32_t *slot = slot_of(c, pair);
  if (*slot == UINT32_MAX) {
    *slot = (uint32_t)c->count;
    c->pair[c->count++] = pair;
  }
  return *slot;
}

static bool add_step(reachable_chain *c, size_t pair, double p)
{
  if (c->steps == c->step_capacity) {
    const size_t most = 2 * c->step_capacity + 1024;
    uint32_t *to = reallocate(c->to, most, sizeof *to);
    if (to) c->to = to;
    double *all = reallocate(c->p, most, sizeof *all);
    if (all) c->p = all;
    if (!to || !all) return false;
    c->step_capacity = most;
  }
  c->to[c->steps] = index_of(c, pair);
  c->p[c->steps] = p;
  return c->to[c->steps++] != UINT32_MAX;
}

/* Builds the chain of pairs that are reachable from the first node and its belief. */
static bool build_chain(const idm_pomdp *pomdp, const idm_policy_graph *g, reachable_chain *c)
{
  const size_t states = g->n.states;
  bool room = grow_chain(c);
  for (size_t s = g->low[0]; s < g->high[0] && room; s++)
    if (g->belief[s] > 0) room = index_of(c, s) != UINT32_MAX;
  for (size_t i = 0; i < c->count && room; i++) {
    const size_t node = c->pair[i] / states;
    const size_t row = (size_t)g->action[node] * states + c->pair[i] % states;
    c->first[i] = c->steps;
    for (size_t k = pomdp->first[row]; k < pomdp->first[row + 1] && room; k++) {
      const size_t link = node * g->n.observations + pomdp->observation[k];
      room = add_step(c, g->next[link] * states + pomdp->next[k],
                      g->approximate[link] ? -pomdp->p[k] : pomdp->p[k]);
    }
  }
  if (room) c->first[c->count] = c->steps;
  return room;
}

/* One discounted step of the mass. Mass over approximate links is added to *approximate_mass and,
 * with stop_at_approximate, does not continue. Returns the mass that continues. */
static double propagate(const reachable_chain *c, double discount, bool stop_at_approximate,
                        const double *now, double *next_mass, double *approximate_mass)
{
  double sum = 0;
  memset(next_mass, 0, c->count * sizeof *next_mass);
  for (size_t i = 0; i < c->count; i++)
    for (size_t k = c->first[i]; now[i] > 0 && k < c->first[i + 1]; k++) {
      const double mass = discount * now[i] * fabs(c->p[k]);
      if (c->p[k] < 0) *approximate_mass += mass;
      if (stop_at_approximate && c->p[k] < 0) continue;
      next_mass[c->to[k]] += mass;
      sum += mass;
    }
  return sum;
}

/* Accumulates the flow from the first node: discounted counts by action and state, if requested,
 * and the mass over approximate links. */
static idm_status total_flow(const idm_pomdp *pomdp, const idm_policy_graph *g,
                             bool stop_at_approximate, double *opt_count, double *approximate_mass,
                             idm_cancel *cancel, idm_error *opt_error)
{
  const size_t states = g->n.states;
  reachable_chain c = {0};
  double *mass[2] = {NULL, NULL};
  idm_status status = build_chain(pomdp, g, &c) ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < 2 && status == IDM_OK; i++) {
    mass[i] = idm_new(c.count, sizeof *mass[i]);
    if (!mass[i]) status = idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < c.count && status == IDM_OK; i++)
    if (c.pair[i] < states) mass[0][i] = g->belief[c.pair[i]];
  *approximate_mass = 0;
  double left = 1;
  for (size_t t = 0; left > 1e-18 && status == IDM_OK; t++) {
    const double *now = mass[t % 2];
    for (size_t i = 0; opt_count && i < c.count; i++)
      opt_count[(size_t)g->action[c.pair[i] / states] * states + c.pair[i] % states] += now[i];
    left = propagate(&c, pomdp->discount, stop_at_approximate, now, mass[(t + 1) % 2],
                     approximate_mass);
    status = idm_cancel_check(cancel, opt_error);
  }
  free(mass[0]);
  free(mass[1]);
  free_chain(&c);
  return status;
}

idm_status idm_policy_graph_counts(const idm_pomdp *pomdp, const idm_policy_graph *graph,
                                   double *count, idm_cancel *cancel, idm_error *opt_error)
{
  double approximate_mass;
  memset(count, 0, graph->n.actions * graph->n.states * sizeof *count);
  return total_flow(pomdp, graph, false, count, &approximate_mass, cancel, opt_error);
}

idm_status idm_policy_graph_approximated(const idm_pomdp *pomdp, const idm_policy_graph *graph,
                                         double *share, idm_cancel *cancel, idm_error *opt_error)
{
  return total_flow(pomdp, graph, true, NULL, share, cancel, opt_error);
}

/* --- backwards ------------------------------------------------------------------------------ */

/* Updates V(s) = u(s, a) + discount sum p V'(s') at one node and state, in every coefficient;
 * returns the largest change, and updates *size to the largest coefficient. */
static double backup_pair(const idm_pomdp *pomdp, const idm_policy_graph *g,
                          const idm_free_utility *free_utility, size_t at, double *value,
                          double *scratch, double *size)
{
  const size_t states = g->n.states;
  const size_t width = free_utility->count + 1;
  const size_t row = (size_t)g->action[at / states] * states + at % states;
  double change = 0;
  memset(scratch, 0, width * sizeof *scratch);
  scratch[free_utility->count] = idm_free_utility_add(free_utility, row, 1, scratch);
  for (size_t i = pomdp->first[row]; i < pomdp->first[row + 1]; i++) {
    const size_t node = g->next[at / states * g->n.observations + pomdp->observation[i]];
    const double *next_belief = value + (node * states + pomdp->next[i]) * width;
    for (size_t k = 0; k < width; k++) scratch[k] += pomdp->discount * pomdp->p[i] * next_belief[k];
  }
  for (size_t k = 0; k < width; k++) {
    change = fmax(change, fabs(scratch[k] - value[at * width + k]));
    *size = fmax(*size, fabs(scratch[k]));
    value[at * width + k] = scratch[k];
  }
  return change;
}

idm_status idm_policy_graph_values(const idm_pomdp *pomdp, const idm_policy_graph *graph,
                                   const idm_free_utility *free_utility, double *value,
                                   idm_cancel *cancel, idm_error *opt_error)
{
  const size_t pairs = graph->count * graph->n.states;
  double *scratch = idm_new(free_utility->count + 1, sizeof *scratch);
  idm_status status = scratch ? IDM_OK : idm_fail_memory(opt_error);
  memset(value, 0, pairs * (free_utility->count + 1) * sizeof *value);
  double last = INFINITY;
  for (bool converged = false; !converged && status == IDM_OK;) {
    double change = 0;
    double size = 0;
    for (size_t at = 0; at < pairs; at++)
      change = fmax(change, backup_pair(pomdp, graph, free_utility, at, value, scratch, &size));
    /* Rounding can continue forever: once changes are that small, iterate only while they decrease.
     */
    converged = change == 0 || (change <= 1e-13 * size && change >= last);
    last = change;
    status = idm_cancel_check(cancel, opt_error);
  }
  free(scratch);
  return status;
}

/* === belief nodes =========================================================================== */

/* Policy graph of a demonstrator from a log. */

/* State while the log is read. */
typedef struct demonstration {
  const idm_pomdp *pomdp;
  const idm_data *data;
  idm_policy_graph *graph;
  int32_t *other; /* [node]: a second action taken there, or IDM_MISSING */
} demonstration;

/* --- words ---------------------------------------------------------------------------------- */

/* Formats a belief as "0.85 tiger-left, 0.15 tiger-right", with the most probable states first. */
static void format_belief(const idm_setting *setting, const double *z, char *buffer, size_t size)
{
  enum { max_listed = 3 };
  double above = 2;
  size_t length = 0;
  size_t listed = 0;
  buffer[0] = '\0';
  for (size_t i = 0; i < max_listed && length + 1 < size; i++) {
    double most = 0;
    for (size_t s = 0; s < setting->states.count; s++)
      if (z[s] < above && z[s] > most) most = z[s];
    for (size_t s = 0; s < setting->states.count && length + 1 < size && listed < max_listed; s++) {
      if (z[s] != most || !(most > 0)) continue;
      const int put = snprintf(buffer + length, size - length, "%s%.3g %.60s", listed ? ", " : "",
                               z[s], setting->states.name[s]);
      length += put > 0 ? (size_t)put : 0;
      listed++;
    }
    above = most;
  }
}

static idm_status fail_mixed(const demonstration *r, const char *caller, size_t mixed_nodes,
                             idm_error *opt_error)
{
  enum { max_listed = 3 };
  const idm_setting *setting = r->pomdp->setting;
  char list[900] = "";
  char belief[240];
  size_t listed = 0;
  for (size_t i = 0; i < r->graph->count && listed < max_listed; i++) {
    if (r->other[i] == IDM_MISSING) continue;
    const size_t length = strlen(list);
    format_belief(setting, r->graph->belief + i * setting->states.count, belief, sizeof belief);
    snprintf(list + length, sizeof list - length, "%s'%.60s' and '%.60s' at (%s)",
             listed++ ? "; " : "", setting->actions.name[r->graph->action[i]],
             setting->actions.name[r->other[i]], belief);
  }
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' needs one action per belief, and the log has more at %zu %s: %s%s", caller,
                  mixed_nodes, mixed_nodes == 1 ? "belief" : "beliefs", list,
                  mixed_nodes > max_listed ? "; ..." : "");
}

/* --- reading -------------------------------------------------------------------------------- */

/* Adds the action of a row at a belief. */
static idm_status add_decision(void *context, size_t row, const double *z, idm_error *opt_error)
{
  demonstration *r = context;
  const size_t action = (size_t)r->data->action[row];
  if (!(r->pomdp->prior[action] > 0)) {
    const idm_status status =
        idm_fail(opt_error, IDM_INPUT,
                 "the action '%s' is taken here, and the agent's action prior excludes it",
                 r->pomdp->setting->actions.name[action]);
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

static idm_status read_log(demonstration *r, const char *caller, idm_notes *opt_notes,
                           idm_error *opt_error)
{
  size_t mixed_nodes = 0;
  idm_status status = idm_pomdp_filter(r->pomdp, r->data, add_decision, r, opt_notes, opt_error);
  for (size_t i = 0; i < r->graph->count; i++) mixed_nodes += r->other[i] != IDM_MISSING;
  if (status == IDM_OK && mixed_nodes) status = fail_mixed(r, caller, mixed_nodes, opt_error);
  if (status == IDM_OK && !r->graph->count)
    status = idm_fail(opt_error, IDM_INPUT,
                      "no trajectory of the log has its first action: nothing was demonstrated");
  return status;
}

idm_status idm_belief_nodes_read(const idm_pomdp *pomdp, const idm_data *data, const char *caller,
                                 idm_policy_graph *graph, idm_notes *opt_notes,
                                 idm_error *opt_error)
{
  idm_policy_graph_begin(pomdp, graph);
  demonstration r = {
      .pomdp = pomdp, .data = data, .graph = graph, .other = idm_new(data->rows, sizeof *r.other)};
  idm_status status = r.other ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = read_log(&r, caller, opt_notes, opt_error);
  if (status == IDM_OK) status = idm_policy_graph_link(pomdp, graph, opt_error);
  free(r.other);
  return status;
}

/* === rival ================================================================================== */

/* Best response to a utility, by a search with bounds from both sides.
 *
 * Contents: mind kernel · rival */

/* === pomdp kernel ============================================================================= */

/* Rows of a POMDP as a kernel. */

/* Numbers the pairs (x, s') that an action can lead to, ordered by observation, from `*cells` on:
 * index[x][s'] is relative to the action's first pair. Stores them if arrays are allocated. */
static void number_cells(const idm_pomdp *pomdp, size_t u, uint32_t *index, size_t *outcomes,
                         size_t *cells, kernel *k)
{
  const size_t states = pomdp->n.states;
  const size_t first = *cells;
  memset(index, 0, pomdp->n.observations * states * sizeof *index);
  for (size_t i = pomdp->first[u * states]; i < pomdp->first[(u + 1) * states]; i++)
    index[pomdp->observation[i] * states + pomdp->next[i]] = 1;
  for (size_t x = 0; x < pomdp->n.observations; x++) {
    const size_t first_cell = *cells;
    for (size_t s = 0; s < states; s++) {
      if (!index[x * states + s]) continue;
      index[x * states + s] = (uint32_t)(*cells - first);
      if (k->state) k->state[*cells] = (uint32_t)s;
      ++*cells;
    }
    if (*cells == first_cell) continue;
    if (k->cell) k->cell[*outcomes] = first_cell;
    ++*outcomes;
  }
}

/* Stores the entries of the row of (u, s), ordered by cell. */
static void fill_row(const idm_pomdp *pomdp, size_t row, const uint32_t *index, kernel *k)
{
  size_t at = k->entry[row];
  for (size_t x = 0; x < pomdp->n.observations; x++)
    for (size_t i = pomdp->first[row]; i < pomdp->first[row + 1]; i++) {
      if (pomdp->observation[i] != x) continue;
      k->at[at] = index[x * pomdp->n.states + pomdp->next[i]];
      k->value[at++] = pomdp->p[i];
    }
}

/* One pass over all actions: counts, or stores everything if arrays are allocated. */
static void build_kernel(const idm_pomdp *pomdp, uint32_t *index, size_t *outcomes, size_t *cells,
                         kernel *k)
{
  *outcomes = *cells = 0;
  for (size_t u = 0; u < pomdp->n.actions; u++) {
    if (k->outcome) k->outcome[u] = *outcomes;
    number_cells(pomdp, u, index, outcomes, cells, k);
    for (size_t s = 0; s < pomdp->n.states && k->entry; s++) {
      k->entry[u * pomdp->n.states + s] = pomdp->first[u * pomdp->n.states + s];
      fill_row(pomdp, u * pomdp->n.states + s, index, k);
    }
  }
}

static bool allocate(const idm_pomdp *pomdp, size_t outcomes, size_t cells, kernel *k)
{
  const size_t rows = pomdp->n.actions * pomdp->n.states;
  k->outcome = idm_new(pomdp->n.actions + 1, sizeof *k->outcome);
  k->cell = idm_new(outcomes + 1, sizeof *k->cell);
  k->state = idm_new(cells, sizeof *k->state);
  k->entry = idm_new(rows + 1, sizeof *k->entry);
  k->at = idm_new(pomdp->first[rows], sizeof *k->at);
  k->value = idm_new(pomdp->first[rows], sizeof *k->value);
  return k->outcome && k->cell && k->state && k->entry && k->at && k->value;
}

static void set_widths(kernel *k)
{
  for (size_t u = 0; u < k->actions; u++) {
    if (kernel_cells(k, u) > k->max_cells) k->max_cells = kernel_cells(k, u);
    if (kernel_outcomes(k, u) > k->max_outcomes) k->max_outcomes = kernel_outcomes(k, u);
  }
}

idm_status idm_pomdp_kernel(const idm_pomdp *pomdp, kernel **ret_kernel, idm_error *opt_error)
{
  *ret_kernel = NULL;
  size_t outcomes;
  size_t cells;
  uint32_t *index = idm_new(idm_times(pomdp->n.observations, pomdp->n.states), sizeof *index);
  kernel *k = idm_new(1, sizeof *k);
  bool made = index && k;
  if (made) {
    k->states = pomdp->n.states;
    k->actions = pomdp->n.actions;
    build_kernel(pomdp, index, &outcomes, &cells, k);
    made = allocate(pomdp, outcomes, cells, k);
  }
  if (made) {
    build_kernel(pomdp, index, &outcomes, &cells, k);
    k->outcome[k->actions] = outcomes;
    k->cell[outcomes] = cells;
    k->entry[k->actions * k->states] = pomdp->first[k->actions * k->states];
    set_widths(k);
    *ret_kernel = k;
  } else {
    idm_kernel_destroy(k);
  }
  free(index);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

/* === rival ==================================================================================== */

/* Policy of a lower bound: the action of the vector that maximises the value at a belief. */
typedef struct bound_policy {
  const alphas *lower;
  uint32_t *state; /* [state]: scratch */
  double *mass;
} bound_policy;

static size_t bound_action(void *context, const double *z)
{
  const bound_policy *a = context;
  sparse_belief b = {.state = a->state, .mass = a->mass};
  for (size_t s = 0; s < a->lower->states; s++) {
    if (!(z[s] > 0)) continue;
    a->state[b.count] = (uint32_t)s;
    a->mass[b.count++] = z[s];
    b.support_mask |= belief_bit((uint32_t)s);
  }
  const alpha_choice best = idm_alphas_best(a->lower, &b, 0, (alpha_choice){0, -INFINITY});
  return a->lower->action[best.vector];
}

/* Stores the discounted counts and the value of the lower bound's policy, expanded to a graph. */
static idm_status store_policy(const idm_pomdp *pomdp, const double *utility, const alphas *lower,
                               size_t most, idm_best_response *best_response, idm_cancel *cancel,
                               idm_error *opt_error)
{
  const idm_sizes n = pomdp->n;
  idm_policy_graph kept = {0};
  bound_policy a = {.lower = lower,
                    .state = idm_new(n.states, sizeof *a.state),
                    .mass = idm_new(n.states, sizeof *a.mass)};
  idm_status status = a.state && a.mass ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_policy_graph_expand(pomdp, bound_action, &a, most, &kept, opt_error);
  if (status == IDM_OK)
    status = idm_policy_graph_counts(pomdp, &kept, best_response->count, cancel, opt_error);
  best_response->value = 0;
  for (size_t e = 0; e < n.actions * n.states && status == IDM_OK; e++)
    best_response->value += best_response->count[e] * utility[e];
  idm_policy_graph_free(&kept);
  free(a.state);
  free(a.mass);
  return status;
}

static bool check_interrupt(void *context, double lower, double upper)
{
  (void)lower;
  (void)upper;
  return idm_cancel_check(context, NULL) != IDM_OK;
}

idm_status idm_best_response_find(const idm_pomdp *pomdp, const double *utility, double gap,
                                  size_t most, idm_best_response *best_response, idm_cancel *cancel,
                                  idm_error *opt_error)
{
  enum { max_backups = 20000 };
  kernel *k = NULL;
  bounds b = {0};
  search_result result = {0};
  idm_status status = idm_pomdp_kernel(pomdp, &k, opt_error);
  if (status != IDM_OK) return status;
  const point_problem problem = {.kernel = k,
                                 .reward = utility,
                                 .prior = pomdp->prior,
                                 .terminal = pomdp->terminal,
                                 .start = pomdp->start,
                                 .discount = pomdp->discount};
  const search_goal goal = {.gap = gap,
                            .backups = max_backups,
                            .bytes = 0x1p30,
                            .opt_monitor = check_interrupt,
                            .context = cancel};
  status = idm_bounds_create(&problem, 0.01 * (1 - pomdp->discount) * gap, &b, opt_error);
  if (status == IDM_OK) status = idm_search(&problem, &goal, &b, &result, opt_error);
  if (status == IDM_OK) status = idm_cancel_check(cancel, opt_error);
  if (status == IDM_OK)
    status = store_policy(pomdp, utility, &b.stage[b.stages - 1].lower, most, best_response, cancel,
                          opt_error);
  best_response->upper = result.upper;
  idm_bounds_free(&b);
  idm_kernel_destroy(k);
  return status;
}
