/* Beliefs that a search has met. */
#include "plan/point/graph.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

idm_status idm_graph_create(const point_problem *problem, bounds *b, graph *g, idm_error *opt_error)
{
  enum { first_slots = 256 };
  *g = (graph){.problem = problem,
               .bounds = b,
               .slots = first_slots,
               .slot = idm_new(first_slots, sizeof *g->slot),
               .joint = idm_new(problem->kernel->widest, sizeof *g->joint),
               .dense = idm_new(problem->kernel->states, sizeof *g->dense)};
  if (!g->slot || !g->joint || !g->dense) return idm_fail_memory(opt_error);
  memset(g->slot, 0xff, g->slots * sizeof *g->slot);
  return IDM_OK;
}

void idm_graph_free(graph *g)
{
  free(g->node);
  free(g->branch);
  free(g->state);
  free(g->mass);
  free(g->price);
  free(g->edge);
  free(g->slot);
  idm_plans_free(&g->plans);
  free(g->joint);
  free(g->dense);
  *g = (graph){0};
}

double idm_graph_bytes(const graph *g)
{
  const size_t actions = g->problem->kernel->actions;
  return (double)g->capacity * (double)(sizeof *g->node + actions * sizeof *g->branch) +
         (double)g->room * (sizeof *g->state + sizeof *g->mass + sizeof *g->price) +
         (double)g->most_edges * sizeof *g->edge + (double)g->slots * sizeof *g->slot +
         (double)g->plans.capacity * (double)((g->plans.width + 1) * sizeof *g->plans.after);
}

/* --- room ----------------------------------------------------------------------------------- */

/* An array with room for `more` beyond `used`; NULL where there is no memory. */
static void *widen(void *array, size_t size, size_t used, size_t more, size_t *capacity)
{
  if (used + more <= *capacity) return array;
  const size_t wanted = *capacity + *capacity / 2 + more + 64;
  const size_t bytes = idm_times(wanted, size);
  void *wider = realloc(array, bytes ? bytes : 1);
  if (wider) *capacity = wanted;
  return wider;
}

static bool room_for_belief(graph *g, size_t states)
{
  size_t room = g->room;
  uint32_t *state = widen(g->state, sizeof *state, g->numbers, states, &room);
  if (!state) return false;
  g->state = state;
  room = g->room;
  double *price = widen(g->price, sizeof *price, g->numbers, states, &room);
  if (!price) return false;
  g->price = price;
  double *mass = widen(g->mass, sizeof *mass, g->numbers, states, &g->room);
  if (!mass) return false;
  g->mass = mass;
  return true;
}

static bool room_for_node(graph *g)
{
  const size_t actions = g->problem->kernel->actions;
  size_t capacity = g->capacity;
  branch *branches = widen(g->branch, actions * sizeof *branches, g->count, 1, &capacity);
  if (!branches) return false;
  g->branch = branches;
  node *nodes = widen(g->node, sizeof *nodes, g->count, 1, &g->capacity);
  if (!nodes) return false;
  g->node = nodes;
  return true;
}

static bool room_for_edges(graph *g, size_t edges)
{
  if (!edges) return true; /* nothing follows a terminal action */
  edge *wider = widen(g->edge, sizeof *wider, g->edges, edges, &g->most_edges);
  if (!wider) return false;
  g->edge = wider;
  return true;
}

/* --- the table by belief -------------------------------------------------------------------- */

/* Masses that agree to so much are one: rounding on different ways to a belief is below it, and
 * what it moves a bound by is of the size of rounding too. */
static const double grain = 0x1p-44;

static uint64_t stir(uint64_t hash, uint64_t word)
{
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

/* By the states alone, and by masses to six digits: most that are close fall together. */
static uint64_t hash_of(const belief *b, size_t stage)
{
  uint64_t hash = stir(0x2545f4914f6cdd1du, stage);
  for (size_t k = 0; k < b->count; k++) {
    hash = stir(hash, b->state[k]);
    hash = stir(hash, (uint64_t)(b->mass[k] * 0x1p20 + 0.25));
  }
  return hash;
}

static bool same(const belief *a, const belief *b)
{
  if (a->count != b->count || a->sign != b->sign) return false;
  for (size_t k = 0; k < a->count; k++)
    if (a->state[k] != b->state[k] || fabs(a->mass[k] - b->mass[k]) > grain) return false;
  return true;
}

/* The slot of a belief, or the empty one where it belongs. */
static size_t find_slot(const graph *g, const belief *b, size_t stage)
{
  size_t i = hash_of(b, stage) & (g->slots - 1);
  for (; g->slot[i] != GRAPH_NONE; i = (i + 1) & (g->slots - 1)) {
    const belief held = graph_belief(g, g->slot[i]);
    if (g->node[g->slot[i]].stage == stage && same(&held, b)) break;
  }
  return i;
}

static bool room_for_slot(graph *g)
{
  if (2 * (g->count + 1) < g->slots) return true;
  uint32_t *slot = idm_new(2 * g->slots, sizeof *slot);
  if (!slot) return false;
  free(g->slot);
  g->slot = slot;
  g->slots *= 2;
  memset(g->slot, 0xff, g->slots * sizeof *g->slot);
  for (uint32_t at = 0; at < g->count; at++) {
    const belief b = graph_belief(g, at);
    size_t i = hash_of(&b, g->node[at].stage) & (g->slots - 1);
    while (g->slot[i] != GRAPH_NONE) i = (i + 1) & (g->slots - 1);
    g->slot[i] = at;
  }
  return true;
}

/* --- nodes ---------------------------------------------------------------------------------- */

/* Rule every action out but the one that is given. */
static void hold(graph *g, uint32_t at)
{
  const point_problem *problem = g->problem;
  const belief b = graph_belief(g, at);
  for (size_t k = 0; k < b.count; k++) g->dense[b.state[k]] = b.mass[k];
  const size_t held = problem->opt_policy(problem->context, g->dense, (int)g->node[at].stage + 1);
  for (size_t k = 0; k < b.count; k++) g->dense[b.state[k]] = 0;
  for (size_t u = 0; u < problem->kernel->actions; u++)
    if (u != held) graph_branch(g, at, u)->upper = -INFINITY;
}

void idm_graph_meet(graph *g, uint32_t at)
{
  if (g->node[at].met) return;
  const point_problem *problem = g->problem;
  const size_t states = problem->kernel->states;
  const belief b = graph_belief(g, at);
  const double *quality = g->bounds->stage[g->node[at].stage].quality;
  for (size_t u = 0; u < problem->kernel->actions; u++) {
    double sum = 0;
    for (size_t k = 0; k < b.count; k++) sum += b.mass[k] * quality[u * states + b.state[k]];
    graph_branch(g, at, u)->upper = problem->prior[u] > 0 ? sum : -INFINITY;
  }
  if (problem->opt_policy) hold(g, at);
  g->node[at].met = true;
}

/* The node of the belief that stands, not yet counted, behind the others. */
static idm_status settle(graph *g, size_t stage, size_t states, uint32_t *ret_node,
                         idm_error *opt_error)
{
  belief b = {g->state + g->numbers, g->mass + g->numbers, states, 0};
  for (size_t k = 0; k < states; k++) b.sign |= belief_bit(b.state[k]);
  size_t slot = find_slot(g, &b, stage);
  *ret_node = g->slot[slot];
  if (*ret_node != GRAPH_NONE) return IDM_OK;
  if (!room_for_node(g) || !room_for_slot(g)) return idm_fail_memory(opt_error);
  slot = find_slot(g, &b, stage);
  const uint32_t at = (uint32_t)g->count;
  g->node[at] = (node){.at = g->numbers,
                       .count = (uint32_t)states,
                       .stage = (uint32_t)stage,
                       .sign = b.sign,
                       .upper = INFINITY,
                       .lower = -INFINITY,
                       .point = SAWTOOTH_NONE};
  g->numbers += states;
  g->count++;
  g->slot[slot] = at;
  for (size_t u = 0; u < g->problem->kernel->actions; u++) *graph_branch(g, at, u) = (branch){0};
  *ret_node = at;
  return IDM_OK;
}

idm_status idm_graph_enter(graph *g, size_t stage, const double *z, uint32_t *ret_node,
                           idm_error *opt_error)
{
  const size_t states = g->problem->kernel->states;
  if (!room_for_belief(g, states)) return idm_fail_memory(opt_error);
  size_t count = 0;
  for (size_t s = 0; s < states; s++) {
    if (!(z[s] > 0)) continue;
    g->state[g->numbers + count] = (uint32_t)s;
    g->mass[g->numbers + count] = z[s];
    count++;
  }
  return settle(g, stage, count, ret_node, opt_error);
}

/* p(s', o | z, u) over the cells of an action. */
static void predict(graph *g, uint32_t at, size_t action)
{
  const kernel *k = g->problem->kernel;
  const belief b = graph_belief(g, at);
  memset(g->joint, 0, kernel_cells(k, action) * sizeof *g->joint);
  for (size_t i = 0; i < b.count; i++) {
    const size_t row = action * k->states + b.state[i];
    for (size_t e = k->entry[row]; e < k->entry[row + 1]; e++)
      g->joint[k->at[e]] += b.mass[i] * k->value[e];
  }
}

/* The successor by one outcome, of probability p. */
static idm_status follow(graph *g, size_t stage, size_t action, size_t outcome, double p,
                         uint32_t *ret_node, idm_error *opt_error)
{
  const kernel *k = g->problem->kernel;
  const size_t first = kernel_first_cell(k, action);
  const size_t width = k->cell[outcome + 1] - k->cell[outcome];
  if (!room_for_belief(g, width)) return idm_fail_memory(opt_error);
  size_t count = 0;
  for (size_t c = k->cell[outcome]; c < k->cell[outcome + 1]; c++) {
    const double mass = g->joint[c - first] / p;
    if (!(mass > 0)) continue;
    g->state[g->numbers + count] = k->state[c];
    g->mass[g->numbers + count] = mass;
    count++;
  }
  return settle(g, stage, count, ret_node, opt_error);
}

idm_status idm_graph_expand(graph *g, uint32_t at, size_t action, idm_error *opt_error)
{
  const kernel *k = g->problem->kernel;
  const long after = bounds_after(g->problem, g->node[at].stage);
  if (graph_branch(g, at, action)->expanded) return IDM_OK;
  const size_t first = kernel_first_cell(k, action);
  const size_t begun = g->edges;
  if (!room_for_edges(g, kernel_outcomes(k, action))) return idm_fail_memory(opt_error);
  predict(g, at, action);
  for (size_t o = k->outcome[action]; o < k->outcome[action + 1] && after >= 0; o++) {
    double p = 0;
    for (size_t c = k->cell[o]; c < k->cell[o + 1]; c++) p += g->joint[c - first];
    if (!(p > 0)) continue;
    uint32_t next;
    const idm_status status = follow(g, (size_t)after, action, o, p, &next, opt_error);
    if (status != IDM_OK) return status;
    g->edge[g->edges++] = (edge){p, next, (uint32_t)(o - k->outcome[action])};
  }
  branch *b = graph_branch(g, at, action);
  b->edge = begun;
  b->edges = (uint32_t)(g->edges - begun);
  b->expanded = true;
  return IDM_OK;
}

/* --- bounds --------------------------------------------------------------------------------- */

double idm_graph_upper(graph *g, uint32_t at)
{
  node *n = &g->node[at];
  const sawtooth *upper = &g->bounds->stage[n->stage].upper;
  const belief b = graph_belief(g, at);
  if (n->heard_above == upper->told && n->upper < INFINITY) return n->upper;
  n->upper = idm_sawtooth_at(upper, &b, n->upper < INFINITY ? n->heard_above : 0, n->upper,
                             g->price + n->at, g->dense);
  n->heard_above = upper->told;
  return n->upper;
}

double idm_graph_lower(graph *g, uint32_t at)
{
  node *n = &g->node[at];
  const alphas *lower = &g->bounds->stage[n->stage].lower;
  if (n->heard_below == lower->count) return n->lower;
  const belief b = graph_belief(g, at);
  const alpha_choice best =
      idm_alphas_best(lower, &b, n->heard_below, (alpha_choice){n->best, n->lower});
  n->best = best.vector;
  n->lower = best.value;
  n->heard_below = lower->count;
  return n->lower;
}

idm_status idm_graph_prune_below(graph *g, size_t stage, idm_error *opt_error)
{
  alphas *lower = &g->bounds->stage[stage].lower;
  uint32_t *map = idm_new(2 * lower->count + 1, sizeof *map);
  if (!map) return idm_fail_memory(opt_error);
  uint32_t *before = map + lower->count;
  idm_alphas_compact(lower, map, before);
  idm_plans_compact(&g->plans, map, before);
  for (size_t i = 0; i < g->count; i++) {
    node *n = &g->node[i];
    if (n->stage != stage) continue;
    /* heard_below may be 0 and best still refer to a vector: all that it had seen died. */
    n->best = map[n->best];
    n->heard_below = before[n->heard_below];
  }
  free(map);
  return IDM_OK;
}

static void renumber(void *context, uint32_t owner, uint32_t point)
{
  ((graph *)context)->node[owner].point = point;
}

void idm_graph_prune_above(graph *g, size_t stage)
{
  idm_sawtooth_prune(&g->bounds->stage[stage].upper, g->dense, renumber, g);
}
