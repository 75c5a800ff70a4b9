/* Beliefs that a search has reached, the choice of actions, and the plans of its lower bound.
 *
 * Contents: plans · action choice · graph */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "plan/point/search.h"

/* === plans ================================================================================== */

/* Plans of the vectors of a lower bound. */

void idm_plans_free(plans *p)
{
  free(p->owner);
  free(p->after);
  *p = (plans){0};
}

idm_status idm_plans_add(plans *p, uint32_t owner, const uint32_t *after, idm_error *opt_error)
{
  if (!p->width) return IDM_OK;
  if (p->count == p->capacity) {
    const size_t capacity = 2 * p->capacity + 64;
    const size_t bytes = idm_times(capacity * p->width, sizeof *p->after);
    uint32_t *owners = realloc(p->owner, capacity * sizeof *owners);
    if (owners) p->owner = owners;
    uint32_t *afters = bytes ? realloc(p->after, bytes) : NULL;
    if (afters) p->after = afters;
    if (!owners || !afters) return idm_fail_memory(opt_error);
    p->capacity = capacity;
  }
  p->owner[p->count] = owner;
  memcpy(p->after + p->count * p->width, after, p->width * sizeof *after);
  p->count++;
  return IDM_OK;
}

void idm_plans_compact(plans *p, const uint32_t *map, const uint32_t *before)
{
  size_t left = 0;
  for (size_t i = 0; i < p->count; i++) {
    if (before[i] == before[i + 1]) continue; /* dominated */
    for (size_t o = 0; o < p->width; o++)
      p->after[left * p->width + o] = map[p->after[i * p->width + o]];
    p->owner[left++] = p->owner[i];
  }
  p->count = left;
}

/* === action choice ========================================================================== */

/* The action of a belief with the largest upper bound. */

double idm_graph_reward(const search_graph *g, const sparse_belief *b, size_t action)
{
  const double *reward = g->problem->reward + action * g->problem->kernel->states;
  double sum = 0;
  for (size_t k = 0; k < b->count; k++) sum += b->mass[k] * reward[b->state[k]];
  return sum + idm_piecewise_reward_at(&g->problem->piecewise_reward, action, b);
}

/* Updates the upper bound of an action from its successors. */
static idm_status update_action(search_graph *g, uint32_t at, size_t u, idm_error *opt_error)
{
  const idm_status status = idm_graph_expand(g, at, u, opt_error);
  if (status != IDM_OK) return status;
  branch *b = graph_branch(g, at, u);
  const sparse_belief z = graph_belief(g, at);
  double sum = 0;
  for (size_t e = b->edge; e < b->edge + b->edges; e++)
    sum += g->edge[e].p * idm_graph_upper(g, g->edge[e].node);
  const double value = idm_graph_reward(g, &z, u) + g->problem->discount * sum;
  if (value < b->upper) b->upper = value;
  return IDM_OK;
}

static size_t most_promising(const search_graph *g, uint32_t at)
{
  size_t best = 0;
  for (size_t u = 1; u < g->problem->kernel->actions; u++)
    if (graph_branch(g, at, u)->upper > graph_branch(g, at, best)->upper) best = u;
  return best;
}

/* Upper bounds of actions only decrease, so that only the largest one must be recomputed. */
idm_status idm_graph_choose(search_graph *g, uint32_t at, size_t *action, idm_error *opt_error)
{
  idm_status status = idm_graph_init_actions(g, at, opt_error);
  for (size_t last_action = SIZE_MAX; status == IDM_OK;) {
    *action = most_promising(g, at);
    if (*action == last_action) break;
    last_action = *action;
    status = update_action(g, at, last_action, opt_error);
  }
  return status;
}

/* === graph ================================================================================== */

/* Beliefs that a search has reached. */

idm_status idm_graph_create(const point_problem *problem, bounds *b, search_graph *g,
                            idm_error *opt_error)
{
  enum { first_slots = 256 };
  *g = (search_graph){
      .problem = problem,
      .bounds = b,
      .slots = first_slots,
      .slot = idm_new(first_slots, sizeof *g->slot),
      .drop_limit = (size_t)1 << 21, /* 24 MiB */
      .joint = idm_new(problem->kernel->max_cells, sizeof *g->joint),
      .predicted = GRAPH_NONE,
      .recomputed_state = idm_new(problem->kernel->states, sizeof *g->recomputed_state),
      .recomputed_mass = idm_new(problem->kernel->states, sizeof *g->recomputed_mass),
      .dense = idm_new(problem->kernel->states, sizeof *g->dense)};
  if (!g->slot || !g->joint || !g->recomputed_state || !g->recomputed_mass || !g->dense)
    return idm_fail_memory(opt_error);
  memset(g->slot, 0xff, g->slots * sizeof *g->slot);
  return IDM_OK;
}

void idm_graph_free(search_graph *g)
{
  free(g->node);
  free(g->branch);
  free(g->state);
  free(g->mass);
  free(g->edge);
  free(g->slot);
  idm_plans_free(&g->plans);
  free(g->joint);
  free(g->recomputed_state);
  free(g->recomputed_mass);
  free(g->dense);
  *g = (search_graph){0};
}

double idm_graph_bytes(const search_graph *g)
{
  const size_t actions = g->problem->kernel->actions;
  return (double)g->capacity * sizeof *g->node +
         (double)g->block_capacity * (double)(actions * sizeof *g->branch) +
         (double)g->belief_capacity * (sizeof *g->state + sizeof *g->mass) +
         (double)g->edge_capacity * sizeof *g->edge + (double)g->slots * sizeof *g->slot +
         (double)g->plans.capacity * (double)((g->plans.width + 1) * sizeof *g->plans.after);
}

/* --- allocation ------------------------------------------------------------------------------ */

/* Reallocates an array for `more` elements beyond `used`; NULL if memory runs out. */
static void *grow_array(void *array, size_t size, size_t used, size_t more, size_t *capacity)
{
  if (used + more <= *capacity) return array;
  const size_t wanted = *capacity + *capacity / 2 + more + 64;
  const size_t bytes = idm_times(wanted, size);
  void *larger = realloc(array, bytes ? bytes : 1);
  if (larger) *capacity = wanted;
  return larger;
}

/* Entries of a belief over `states` states, including the one for its node. */
static size_t numbers_of(size_t states)
{
  return 1 + (states <= HULL_MOST ? 2 * states : states);
}

/* Whether a belief can be recomputed and is probably not needed soon. Multipliers cannot be
 * recomputed. */
static bool is_droppable(const search_node *n)
{
  return n->branch == GRAPH_NONE && n->parent != GRAPH_NONE && !n->used && n->count > HULL_MOST;
}

/* Drops the idle beliefs. */
static void drop_beliefs(search_graph *g)
{
  size_t to = 0;
  for (size_t from = 0, numbers; from < g->numbers; from += numbers) {
    search_node *n = &g->node[g->state[from]];
    numbers = numbers_of(n->count);
    const bool droppable = is_droppable(n);
    n->used = false;
    n->at = droppable ? GRAPH_DROPPED : to + 1;
    if (droppable) continue;
    memmove(g->state + to, g->state + from, numbers * sizeof *g->state);
    memmove(g->mass + to, g->mass + from, numbers * sizeof *g->mass);
    to += numbers;
  }
  g->numbers = to;
}

/* Reserves the entries of a belief. In a large problem most beliefs are successors from which no
 * trial continued, and most of these are not used again: idle ones are dropped first. */
static bool reserve_belief(search_graph *g, size_t states)
{
  size_t numbers = 1 + states + HULL_MOST; /* some of the states may turn out to be impossible */
  if (g->numbers + numbers > g->belief_capacity && g->numbers > g->drop_limit) {
    drop_beliefs(g);
    numbers += g->belief_capacity / 4; /* else beliefs would have to be dropped again soon */
  }
  size_t belief_capacity = g->belief_capacity;
  uint32_t *state = grow_array(g->state, sizeof *state, g->numbers, numbers, &belief_capacity);
  if (!state) return false;
  g->state = state;
  double *mass = grow_array(g->mass, sizeof *mass, g->numbers, numbers, &g->belief_capacity);
  if (!mass) return false;
  g->mass = mass;
  return true;
}

static bool reserve_node(search_graph *g)
{
  search_node *nodes = grow_array(g->node, sizeof *nodes, g->count, 1, &g->capacity);
  if (!nodes) return false;
  g->node = nodes;
  return true;
}

static bool reserve_edges(search_graph *g, size_t edges)
{
  if (!edges) return true; /* a terminal action has no successors */
  if (edges > UINT32_MAX - g->edges) return false;
  edge *larger = grow_array(g->edge, sizeof *larger, g->edges, edges, &g->edge_capacity);
  if (!larger) return false;
  g->edge = larger;
  return true;
}

/* --- hash table by belief -------------------------------------------------------------------- */

/* Beliefs whose masses agree to this tolerance are equal. Rounding along different paths to a
 * belief is smaller, and the resulting change of a bound is of the size of rounding too. */
static const double mass_tolerance = 0x1p-44;

static uint64_t hash_mix(uint64_t hash, uint64_t word)
{
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

/* Hash of states, and of masses to six digits: most beliefs that are close have the same hash. */
static uint64_t hash_of(const sparse_belief *b, size_t stage)
{
  uint64_t hash = hash_mix(0x2545f4914f6cdd1du, stage);
  for (size_t k = 0; k < b->count; k++) {
    hash = hash_mix(hash, b->state[k]);
    hash = hash_mix(hash, (uint64_t)(b->mass[k] * 0x1p20 + 0.25));
  }
  return hash;
}

static bool same(const sparse_belief *a, const sparse_belief *b)
{
  if (a->count != b->count || a->support_mask != b->support_mask) return false;
  for (size_t k = 0; k < a->count; k++)
    if (a->state[k] != b->state[k] || fabs(a->mass[k] - b->mass[k]) > mass_tolerance) return false;
  return true;
}

/* Slot of a belief, or the empty slot where it is to be inserted. */
static size_t find_slot(const search_graph *g, const sparse_belief *b, size_t stage)
{
  size_t i = hash_of(b, stage) & (g->slots - 1);
  for (; g->slot[i] != GRAPH_NONE; i = (i + 1) & (g->slots - 1)) {
    const search_node *n = &g->node[g->slot[i]];
    if (n->at == GRAPH_DROPPED || n->stage != stage) continue;
    const sparse_belief policy_action = graph_belief(g, g->slot[i]);
    if (same(&policy_action, b)) break;
  }
  return i;
}

static bool reserve_slot(search_graph *g)
{
  if (2 * (g->count + 1) < g->slots) return true;
  uint32_t *slot = idm_new(2 * g->slots, sizeof *slot);
  if (!slot) return false;
  free(g->slot);
  g->slot = slot;
  g->slots *= 2;
  memset(g->slot, 0xff, g->slots * sizeof *g->slot);
  for (uint32_t at = 0; at < g->count; at++) {
    if (g->node[at].at == GRAPH_DROPPED) continue; /* a second node may replace it */
    const sparse_belief b = graph_belief(g, at);
    size_t i = hash_of(&b, g->node[at].stage) & (g->slots - 1);
    while (g->slot[i] != GRAPH_NONE) i = (i + 1) & (g->slots - 1);
    g->slot[i] = at;
  }
  return true;
}

/* --- nodes ---------------------------------------------------------------------------------- */

/* Computes p(s', o | z, u) over the cells of an action. */
static void predict(search_graph *g, uint32_t at, size_t action)
{
  if (g->predicted == at && g->action == action) return;
  const kernel *k = g->problem->kernel;
  const sparse_belief b = graph_belief(g, at);
  memset(g->joint, 0, kernel_cells(k, action) * sizeof *g->joint);
  for (size_t i = 0; i < b.count; i++) {
    const size_t row = action * k->states + b.state[i];
    for (size_t e = k->entry[row]; e < k->entry[row + 1]; e++)
      g->joint[k->at[e]] += b.mass[i] * k->value[e];
  }
  g->predicted = at;
  g->action = action;
}

/* Probability of an outcome of the predicted action. */
static double probability(const search_graph *g, size_t outcome)
{
  const kernel *k = g->problem->kernel;
  const size_t first = kernel_first_cell(k, g->action);
  double p = 0;
  for (size_t c = k->cell[outcome]; c < k->cell[outcome + 1]; c++) p += g->joint[c - first];
  return p;
}

/* Belief after an outcome of the predicted action; returns its number of states. */
static size_t condition(const search_graph *g, size_t outcome, double p, uint32_t *state,
                        double *mass)
{
  const kernel *k = g->problem->kernel;
  const size_t first = kernel_first_cell(k, g->action);
  size_t count = 0;
  for (size_t c = k->cell[outcome]; c < k->cell[outcome + 1]; c++) {
    const double here = g->joint[c - first] / p;
    if (!(here > 0)) continue;
    state[count] = k->state[c];
    mass[count] = here;
    count++;
  }
  return count;
}

sparse_belief idm_graph_belief(search_graph *g, uint32_t at)
{
  const search_node *n = &g->node[at];
  if (n->at != GRAPH_DROPPED) return graph_belief(g, at);
  const kernel *k = g->problem->kernel;
  size_t action = 0;
  while (k->outcome[action + 1] <= n->outcome) action++;
  predict(g, n->parent, action);
  condition(g, n->outcome, probability(g, n->outcome), g->recomputed_state, g->recomputed_mass);
  return (sparse_belief){g->recomputed_state, g->recomputed_mass, n->count, n->support_mask};
}

/* Stores the belief of a dropped node again. */
static bool recompute_belief(search_graph *g, uint32_t at)
{
  const sparse_belief b = idm_graph_belief(g, at);
  if (g->node[at].at != GRAPH_DROPPED) return true;
  if (!reserve_belief(g, b.count)) return false;
  g->state[g->numbers] = at;
  g->node[at].at = g->numbers + 1;
  memcpy(g->state + g->numbers + 1, b.state, b.count * sizeof *b.state);
  memcpy(g->mass + g->numbers + 1, b.mass, b.count * sizeof *b.mass);
  g->numbers += numbers_of(b.count);
  return true;
}

/* Adds branches to a node, without bounds. */
static idm_status add_branches(search_graph *g, uint32_t at, idm_error *opt_error)
{
  if (g->node[at].branch != GRAPH_NONE) return IDM_OK;
  if (!recompute_belief(g, at)) return idm_fail_memory(opt_error);
  const size_t actions = g->problem->kernel->actions;
  branch *larger =
      grow_array(g->branch, actions * sizeof *larger, g->blocks, 1, &g->block_capacity);
  if (!larger) return idm_fail_memory(opt_error);
  g->branch = larger;
  g->node[at].branch = (uint32_t)g->blocks++;
  for (size_t u = 0; u < actions; u++) *graph_branch(g, at, u) = (branch){0};
  return IDM_OK;
}

/* Excludes every action except that of the given policy. */
static void restrict_action(search_graph *g, uint32_t at)
{
  const point_problem *problem = g->problem;
  const sparse_belief b = graph_belief(g, at);
  for (size_t k = 0; k < b.count; k++) g->dense[b.state[k]] = b.mass[k];
  const size_t policy_action =
      problem->opt_policy(problem->context, g->dense, (int)g->node[at].stage + 1);
  for (size_t k = 0; k < b.count; k++) g->dense[b.state[k]] = 0;
  for (size_t u = 0; u < problem->kernel->actions; u++)
    if (u != policy_action) graph_branch(g, at, u)->upper = -INFINITY;
}

idm_status idm_graph_init_actions(search_graph *g, uint32_t at, idm_error *opt_error)
{
  if (g->node[at].actions_initialised) return IDM_OK;
  const idm_status status = add_branches(g, at, opt_error);
  if (status != IDM_OK) return status;
  const point_problem *problem = g->problem;
  const size_t states = problem->kernel->states;
  const sparse_belief b = graph_belief(g, at);
  const double *quality = g->bounds->stage[g->node[at].stage].quality;
  for (size_t u = 0; u < problem->kernel->actions; u++) {
    double sum = 0;
    for (size_t k = 0; k < b.count; k++) sum += b.mass[k] * quality[u * states + b.state[k]];
    graph_branch(g, at, u)->upper = problem->prior[u] > 0 ? sum : -INFINITY;
  }
  if (problem->opt_policy) restrict_action(g, at);
  g->node[at].actions_initialised = true;
  return IDM_OK;
}

/* Node of the belief that is written after the others but not yet counted; created if it is new. */
static idm_status find_or_add_node(search_graph *g, size_t stage, size_t states, uint32_t *ret_node,
                                   idm_error *opt_error)
{
  sparse_belief b = {g->state + g->numbers + 1, g->mass + g->numbers + 1, states, 0};
  for (size_t k = 0; k < states; k++) b.support_mask |= belief_bit(b.state[k]);
  size_t slot = find_slot(g, &b, stage);
  *ret_node = g->slot[slot];
  if (*ret_node != GRAPH_NONE) return IDM_OK;
  if (!reserve_node(g) || !reserve_slot(g)) return idm_fail_memory(opt_error);
  slot = find_slot(g, &b, stage);
  const uint32_t at = (uint32_t)g->count;
  g->node[at] = (search_node){.at = g->numbers + 1,
                              .count = (uint32_t)states,
                              .stage = (uint32_t)stage & INT32_MAX >> 1,
                              .support_mask = b.support_mask,
                              .upper = INFINITY,
                              .lower = -INFINITY,
                              .point = SAWTOOTH_NONE,
                              .branch = GRAPH_NONE,
                              .parent = GRAPH_NONE};
  g->state[g->numbers] = at;
  g->numbers += numbers_of(states);
  g->count++;
  g->slot[slot] = at;
  *ret_node = at;
  return IDM_OK;
}

idm_status idm_graph_add(search_graph *g, size_t stage, const double *z, uint32_t *ret_node,
                         idm_error *opt_error)
{
  const size_t states = g->problem->kernel->states;
  if (!reserve_belief(g, states)) return idm_fail_memory(opt_error);
  size_t count = 0;
  for (size_t s = 0; s < states; s++) {
    if (!(z[s] > 0)) continue;
    g->state[g->numbers + 1 + count] = (uint32_t)s;
    g->mass[g->numbers + 1 + count] = z[s];
    count++;
  }
  return find_or_add_node(g, stage, count, ret_node, opt_error);
}

/* Successor by one outcome of the predicted action, of probability p. */
static idm_status add_successor(search_graph *g, size_t stage, size_t outcome, double p,
                                uint32_t *ret_node, idm_error *opt_error)
{
  const kernel *k = g->problem->kernel;
  if (!reserve_belief(g, k->cell[outcome + 1] - k->cell[outcome]))
    return idm_fail_memory(opt_error);
  const size_t count =
      condition(g, outcome, p, g->state + g->numbers + 1, g->mass + g->numbers + 1);
  const size_t known = g->count;
  const idm_status status = find_or_add_node(g, stage, count, ret_node, opt_error);
  if (g->count == known) return status;
  g->node[*ret_node].parent = g->predicted;
  g->node[*ret_node].outcome = (uint32_t)outcome;
  return status;
}

idm_status idm_graph_expand(search_graph *g, uint32_t at, size_t action, idm_error *opt_error)
{
  const kernel *k = g->problem->kernel;
  const long after = bounds_after(g->problem, g->node[at].stage);
  idm_status status = add_branches(g, at, opt_error);
  if (status != IDM_OK || graph_branch(g, at, action)->expanded) return status;
  const size_t first_edge = g->edges;
  if (!reserve_edges(g, kernel_outcomes(k, action))) return idm_fail_memory(opt_error);
  predict(g, at, action);
  for (size_t o = k->outcome[action]; o < k->outcome[action + 1] && after >= 0; o++) {
    const double p = probability(g, o);
    if (!(p > 0)) continue;
    uint32_t next;
    status = add_successor(g, (size_t)after, o, p, &next, opt_error);
    if (status != IDM_OK) return status;
    g->edge[g->edges++] = (edge){p, next, (uint32_t)(o - k->outcome[action])};
  }
  branch *b = graph_branch(g, at, action);
  b->edge = (uint32_t)first_edge;
  b->edges = (uint32_t)(g->edges - first_edge) & INT32_MAX;
  b->expanded = true;
  return IDM_OK;
}

/* --- bounds --------------------------------------------------------------------------------- */

double idm_graph_upper(search_graph *g, uint32_t at)
{
  search_node *n = &g->node[at];
  const sawtooth *upper = &g->bounds->stage[n->stage].upper;
  n->used = true;
  if (n->seen_upper == upper->update_count && n->upper < INFINITY) return n->upper;
  const sparse_belief b = idm_graph_belief(g, at);
  double *multiplier = n->at != GRAPH_DROPPED ? g->mass + n->at + n->count : NULL;
  n->upper = idm_sawtooth_at(upper, &b, n->upper < INFINITY ? n->seen_upper : 0, n->upper,
                             multiplier, g->dense);
  n->seen_upper = upper->update_count;
  return n->upper;
}

double idm_graph_lower(search_graph *g, uint32_t at)
{
  search_node *n = &g->node[at];
  const alphas *lower = &g->bounds->stage[n->stage].lower;
  n->used = true;
  if (n->seen_lower == lower->count) return n->lower;
  const sparse_belief b = idm_graph_belief(g, at);
  const alpha_choice best =
      idm_alphas_best(lower, &b, n->seen_lower, (alpha_choice){n->best, n->lower});
  n->best = best.vector;
  n->lower = best.value;
  n->seen_lower = (uint32_t)lower->count;
  return n->lower;
}

idm_status idm_graph_prune_lower(search_graph *g, size_t stage, idm_error *opt_error)
{
  alphas *lower = &g->bounds->stage[stage].lower;
  uint32_t *map = idm_new(2 * lower->count + 1, sizeof *map);
  if (!map) return idm_fail_memory(opt_error);
  uint32_t *before = map + lower->count;
  idm_alphas_compact(lower, map, before);
  idm_plans_compact(&g->plans, map, before);
  for (size_t i = 0; i < g->count; i++) {
    search_node *n = &g->node[i];
    if (n->stage != stage) continue;
    /* seen_lower may be 0 while best refers to a vector: all vectors that were seen are dominated.
     */
    n->best = map[n->best];
    n->seen_lower = before[n->seen_lower];
  }
  free(map);
  return IDM_OK;
}

/* Marks the vectors that are best at a belief with actions. */
static void mark_best(search_graph *g, size_t stage, bool *used)
{
  const alphas *lower = &g->bounds->stage[stage].lower;
  for (uint32_t i = 0; i < g->count; i++) {
    if (g->node[i].stage != stage || g->node[i].branch == GRAPH_NONE) continue;
    idm_graph_lower(g, i);
    used[alpha_current(lower, g->node[i].best)] = true;
  }
}

idm_status idm_graph_drop_lower(search_graph *g, size_t stage, idm_error *opt_error)
{
  alphas *lower = &g->bounds->stage[stage].lower;
  bool *used = idm_new(lower->count, sizeof *used);
  if (!used) return idm_fail_memory(opt_error);
  mark_best(g, stage, used);
  for (size_t i = 0; i < g->count; i++) {
    search_node *n = &g->node[i];
    if (n->stage != stage || used[alpha_current(lower, n->best)]) continue;
    n->best = n->seen_lower = 0; /* recomputed from the remaining vectors */
    n->lower = -INFINITY;
  }
  idm_alphas_keep(lower, used);
  idm_plans_free(&g->plans);
  free(used);
  return idm_graph_prune_lower(g, stage, opt_error);
}

static void renumber(void *context, uint32_t owner, uint32_t point)
{
  ((search_graph *)context)->node[owner].point = point;
}

void idm_graph_prune_upper(search_graph *g, size_t stage)
{
  idm_sawtooth_prune(&g->bounds->stage[stage].upper, g->dense, renumber, g, g->problem->opt_stop,
                     g->problem->stop_context);
}
