/* Policies as graphs over beliefs. */
#include "invert/utility/policy_graph.h"

#include <assert.h>
#include <math.h>

#include "base/memory.h"

/* Beliefs that agree to this are one. */
static const double same = 1e-9;

/* --- nodes ---------------------------------------------------------------------------------- */

void idm_policy_graph_begin(const idm_mind *mind, idm_policy_graph *graph)
{
  *graph = (idm_policy_graph){.n = mind->n};
}

void idm_policy_graph_free(idm_policy_graph *graph)
{
  free(graph->belief);
  free(graph->low);
  free(graph->high);
  free(graph->action);
  free(graph->next);
  free(graph->guessed);
  *graph = (idm_policy_graph){0};
}

/* Where the states begin, and end, that a belief holds possible. */
static void reach(const double *z, size_t states, size_t *low, size_t *high)
{
  *low = 0;
  *high = states;
  while (*low < *high && !(z[*low] > 0)) ++*low;
  while (*high > *low && !(z[*high - 1] > 0)) --*high;
}

/* The sum of absolute differences, and the largest. */
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
    const double apart = fabs(other[s] - z[s]);
    sum += apart;
    if (apart > *most) *most = apart;
  }
  return sum;
}

size_t idm_policy_graph_find(const idm_policy_graph *graph, const double *z)
{
  size_t low;
  size_t high;
  double most;
  reach(z, graph->n.states, &low, &high);
  for (size_t i = 0; i < graph->count; i++) {
    distance(graph, i, z, low, high, &most);
    if (most <= same) return i;
  }
  return IDM_NO_NODE;
}

static void *wider(void *array, size_t count, size_t size)
{
  const size_t bytes = idm_times(count, size);
  assert(bytes > 0); /* of a problem with states and observations */
  return realloc(array, bytes);
}

static bool widen(idm_policy_graph *g)
{
  const size_t capacity = 2 * g->capacity + 16;
  double *belief = wider(g->belief, capacity * g->n.states, sizeof *belief);
  if (belief) g->belief = belief;
  size_t *low = wider(g->low, capacity, sizeof *low);
  if (low) g->low = low;
  size_t *high = wider(g->high, capacity, sizeof *high);
  if (high) g->high = high;
  int32_t *action = wider(g->action, capacity, sizeof *action);
  if (action) g->action = action;
  uint32_t *next = wider(g->next, capacity * g->n.observations, sizeof *next);
  if (next) g->next = next;
  bool *guessed = wider(g->guessed, capacity * g->n.observations, sizeof *guessed);
  if (guessed) g->guessed = guessed;
  if (!belief || !low || !high || !action || !next || !guessed) return false;
  g->capacity = capacity;
  return true;
}

idm_status idm_policy_graph_add(idm_policy_graph *graph, const double *z, size_t action,
                                idm_error *opt_error)
{
  const size_t at = graph->count;
  if (at == graph->capacity && !widen(graph)) return idm_fail_memory(opt_error);
  memcpy(graph->belief + at * graph->n.states, z, graph->n.states * sizeof *z);
  reach(z, graph->n.states, &graph->low[at], &graph->high[at]);
  graph->action[at] = (int32_t)action;
  for (size_t x = 0; x < graph->n.observations; x++) {
    graph->next[at * graph->n.observations + x] = 0;
    graph->guessed[at * graph->n.observations + x] = false;
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
  reach(z, graph->n.states, &low, &high);
  for (size_t i = 0; i < graph->count; i++) {
    const double apart = distance(graph, i, z, low, high, &most);
    if (!(apart < least - 1e-12)) continue; /* what rounding makes of a tie is one still */
    least = apart;
    best = i;
  }
  return best;
}

/* --- links ---------------------------------------------------------------------------------- */

/* Lead a node to the one of a belief, or to the nearest. */
static void lead(idm_policy_graph *g, size_t node, size_t x, const double *after)
{
  const size_t at = node * g->n.observations + x;
  const size_t found = idm_policy_graph_find(g, after);
  g->guessed[at] = found == IDM_NO_NODE;
  g->next[at] = (uint32_t)(found == IDM_NO_NODE ? idm_policy_graph_nearest(g, after) : found);
}

idm_status idm_policy_graph_link(const idm_mind *mind, idm_policy_graph *graph,
                                 idm_error *opt_error)
{
  const idm_sizes n = graph->n;
  double *even = idm_new(2 * n.states, sizeof *even);
  if (!even) return idm_fail_memory(opt_error);
  double *after = even + n.states;
  for (size_t s = 0; s < n.states; s++) even[s] = 1 / (double)n.states;
  for (size_t i = 0; i < graph->count; i++)
    for (size_t x = 0; x < n.observations; x++) {
      const size_t u = (size_t)graph->action[i];
      if (idm_mind_update(mind, graph->belief + i * n.states, u, x, after) > 0 ||
          idm_mind_update(mind, even, u, x, after) > 0)
        lead(graph, i, x, after);
    }
  free(even);
  return IDM_OK;
}

idm_status idm_policy_graph_follow(const idm_mind *mind, idm_policy_ask ask, void *context,
                                   size_t most, idm_policy_graph *graph, idm_error *opt_error)
{
  const idm_sizes n = mind->n;
  idm_policy_graph_begin(mind, graph);
  double *after = idm_new(n.states, sizeof *after);
  if (!after) return idm_fail_memory(opt_error);
  idm_status status =
      idm_policy_graph_add(graph, mind->start, ask(context, mind->start), opt_error);
  for (size_t i = 0; i < graph->count && status == IDM_OK; i++)
    for (size_t x = 0; x < n.observations && status == IDM_OK; x++) {
      const double *z = graph->belief + i * n.states;
      if (!(idm_mind_update(mind, z, (size_t)graph->action[i], x, after) > 0)) continue;
      if (graph->count < most && idm_policy_graph_find(graph, after) == IDM_NO_NODE)
        status = idm_policy_graph_add(graph, after, ask(context, after), opt_error);
      if (status == IDM_OK) lead(graph, i, x, after);
    }
  free(after);
  return status;
}

/* --- forwards ------------------------------------------------------------------------------- */

/* Pairs (node, state) that can be come to, and the steps between them. */
typedef struct course {
  size_t count;
  size_t room;
  size_t *pair;   /* [count]: node * states + state, in the order they were come to */
  size_t *first;  /* [count + 1]: of its steps */
  size_t slots;   /* of the table by pair, a power of two */
  uint32_t *slot; /* place of a pair, or UINT32_MAX */
  size_t steps;
  size_t most_steps;
  uint32_t *to; /* [step]: place of the pair that it leads to */
  double *p;    /* [step]: negative where it passes a guess */
} course;

static void free_course(course *c)
{
  free(c->pair);
  free(c->first);
  free(c->slot);
  free(c->to);
  free(c->p);
}

static uint32_t *slot_of(const course *c, size_t pair)
{
  size_t at = pair * (size_t)0x9e3779b97f4a7c15u >> 20 & (c->slots - 1);
  while (c->slot[at] != UINT32_MAX && c->pair[c->slot[at]] != pair) at = (at + 1) & (c->slots - 1);
  return &c->slot[at];
}

/* Twice the room for pairs, and a table four times as large. */
static bool widen_course(course *c)
{
  const size_t room = 2 * c->room + 256;
  size_t slots = 1;
  while (slots < 4 * room) slots *= 2;
  size_t *pair = wider(c->pair, room, sizeof *pair);
  if (pair) c->pair = pair;
  size_t *first = wider(c->first, room + 1, sizeof *first);
  if (first) c->first = first;
  uint32_t *slot = wider(c->slot, slots, sizeof *slot);
  if (slot) c->slot = slot;
  if (!pair || !first || !slot) return false;
  c->room = room;
  c->slots = slots;
  memset(slot, 0xff, slots * sizeof *slot);
  for (size_t i = 0; i < c->count; i++) *slot_of(c, c->pair[i]) = (uint32_t)i;
  return true;
}

/* The place of a pair, made where it is new; UINT32_MAX: no memory. */
static uint32_t place_of(course *c, size_t pair)
{
  if (c->count == c->room && !widen_course(c)) return UINT32_MAX;
  uint32_t *slot = slot_of(c, pair);
  if (*slot == UINT32_MAX) {
    *slot = (uint32_t)c->count;
    c->pair[c->count++] = pair;
  }
  return *slot;
}

static bool add_step(course *c, size_t pair, double p)
{
  if (c->steps == c->most_steps) {
    const size_t most = 2 * c->most_steps + 1024;
    uint32_t *to = wider(c->to, most, sizeof *to);
    if (to) c->to = to;
    double *all = wider(c->p, most, sizeof *all);
    if (all) c->p = all;
    if (!to || !all) return false;
    c->most_steps = most;
  }
  c->to[c->steps] = place_of(c, pair);
  c->p[c->steps] = p;
  return c->to[c->steps++] != UINT32_MAX;
}

/* Everything that can be come to from the first node and its belief. */
static bool lay_course(const idm_mind *mind, const idm_policy_graph *g, course *c)
{
  const size_t states = g->n.states;
  bool room = widen_course(c);
  for (size_t s = g->low[0]; s < g->high[0] && room; s++)
    if (g->belief[s] > 0) room = place_of(c, s) != UINT32_MAX;
  for (size_t i = 0; i < c->count && room; i++) {
    const size_t node = c->pair[i] / states;
    const size_t row = (size_t)g->action[node] * states + c->pair[i] % states;
    c->first[i] = c->steps;
    for (size_t k = mind->first[row]; k < mind->first[row + 1] && room; k++) {
      const size_t link = node * g->n.observations + mind->seen[k];
      room = add_step(c, g->next[link] * states + mind->next[k],
                      g->guessed[link] ? -mind->p[k] : mind->p[k]);
    }
  }
  if (room) c->first[c->count] = c->steps;
  return room;
}

/* One step of the mass, discounted. What passes a guess goes on, or with `stop` ends there; adds up
 * in `passed`. Returns what goes on. */
static double flow_on(const course *c, double discount, bool stop, const double *now, double *then,
                      double *passed)
{
  double sum = 0;
  memset(then, 0, c->count * sizeof *then);
  for (size_t i = 0; i < c->count; i++)
    for (size_t k = c->first[i]; now[i] > 0 && k < c->first[i + 1]; k++) {
      const double mass = discount * now[i] * fabs(c->p[k]);
      if (c->p[k] < 0) *passed += mass;
      if (stop && c->p[k] < 0) continue;
      then[c->to[k]] += mass;
      sum += mass;
    }
  return sum;
}

/* The whole flow from the first node: where it was, if that is wanted, and what passed a guess. */
static idm_status flow(const idm_mind *mind, const idm_policy_graph *g, bool stop,
                       double *opt_count, double *passed, idm_halt *halt, idm_error *opt_error)
{
  const size_t states = g->n.states;
  course c = {0};
  double *mass[2] = {NULL, NULL};
  idm_status status = lay_course(mind, g, &c) ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < 2 && status == IDM_OK; i++) {
    mass[i] = idm_new(c.count, sizeof *mass[i]);
    if (!mass[i]) status = idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < c.count && status == IDM_OK; i++)
    if (c.pair[i] < states) mass[0][i] = g->belief[c.pair[i]];
  *passed = 0;
  double left = 1;
  for (size_t t = 0; left > 1e-18 && status == IDM_OK; t++) {
    const double *now = mass[t % 2];
    for (size_t i = 0; opt_count && i < c.count; i++)
      opt_count[(size_t)g->action[c.pair[i] / states] * states + c.pair[i] % states] += now[i];
    left = flow_on(&c, mind->discount, stop, now, mass[(t + 1) % 2], passed);
    status = idm_halt_check(halt, opt_error);
  }
  free(mass[0]);
  free(mass[1]);
  free_course(&c);
  return status;
}

idm_status idm_policy_graph_counts(const idm_mind *mind, const idm_policy_graph *graph,
                                   double *count, idm_halt *halt, idm_error *opt_error)
{
  double passed;
  memset(count, 0, graph->n.actions * graph->n.states * sizeof *count);
  return flow(mind, graph, false, count, &passed, halt, opt_error);
}

idm_status idm_policy_graph_guesses(const idm_mind *mind, const idm_policy_graph *graph,
                                    double *share, idm_halt *halt, idm_error *opt_error)
{
  return flow(mind, graph, true, NULL, share, halt, opt_error);
}

/* --- backwards ------------------------------------------------------------------------------ */

/* V(s) = u(s, a) + discount sum p V' (s') at one node and state, in every weight; returns the
 * largest change, and the largest weight in `size`. */
static double back_up(const idm_mind *mind, const idm_policy_graph *g, const idm_sought *sought,
                      size_t at, double *value, double *scratch, double *size)
{
  const size_t states = g->n.states;
  const size_t width = sought->count + 1;
  const size_t row = (size_t)g->action[at / states] * states + at % states;
  double change = 0;
  memset(scratch, 0, width * sizeof *scratch);
  scratch[sought->count] = idm_sought_add(sought, row, 1, scratch);
  for (size_t i = mind->first[row]; i < mind->first[row + 1]; i++) {
    const size_t node = g->next[at / states * g->n.observations + mind->seen[i]];
    const double *after = value + (node * states + mind->next[i]) * width;
    for (size_t k = 0; k < width; k++) scratch[k] += mind->discount * mind->p[i] * after[k];
  }
  for (size_t k = 0; k < width; k++) {
    change = fmax(change, fabs(scratch[k] - value[at * width + k]));
    *size = fmax(*size, fabs(scratch[k]));
    value[at * width + k] = scratch[k];
  }
  return change;
}

idm_status idm_policy_graph_values(const idm_mind *mind, const idm_policy_graph *graph,
                                   const idm_sought *sought, double *value, idm_halt *halt,
                                   idm_error *opt_error)
{
  const size_t pairs = graph->count * graph->n.states;
  double *scratch = idm_new(sought->count + 1, sizeof *scratch);
  idm_status status = scratch ? IDM_OK : idm_fail_memory(opt_error);
  memset(value, 0, pairs * (sought->count + 1) * sizeof *value);
  double last = INFINITY;
  for (bool settled = false; !settled && status == IDM_OK;) {
    double change = 0;
    double size = 0;
    for (size_t at = 0; at < pairs; at++)
      change = fmax(change, back_up(mind, graph, sought, at, value, scratch, &size));
    /* Rounding may go on for ever: once changes are that small, only falling ones are worth another
     * sweep. */
    settled = change == 0 || (change <= 1e-13 * size && change >= last);
    last = change;
    status = idm_halt_check(halt, opt_error);
  }
  free(scratch);
  return status;
}
