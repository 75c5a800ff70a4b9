/* The tree of common prefixes of trajectories (docs/method/likelihood.md, 3).
 *
 * Nodes are first created in the order in which histories appear, found by hashing their parent and
 * their row. A parent is then always created before its children, so that two linear passes (sizes
 * of subtrees backwards, indices forwards) give the depth-first order. */
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "data/log.h"
#include "idm/extension/data.h"
#include "idm/extension/prefix.h"

/* Parent of a root. */
#define NO_PARENT UINT32_MAX
/* `available` of a node that begins a trajectory; its key has variant and start in place of action
 * and observation. */
#define BEGINS UINT32_MAX

typedef struct tree_entry {
  uint32_t parent;
  int32_t action;
  int32_t observation;
  uint32_t available;
  uint32_t first_row;
  uint32_t first_child; /* 0: none, since entry 0 is a root */
  bool last;            /* see idm_prefix_node */
  bool missed;
  double reward;
  uint64_t count;
} tree_entry;

typedef struct builder {
  tree_entry *entries;
  size_t count;
  size_t capacity;
  uint64_t *slot; /* high half: high half of the hash; low half: entry + 1, or 0 for a free slot */
  size_t slots;   /* a power of two */
  size_t hashed;  /* slots in use: roots, and children after the first */
} builder;

static uint64_t hash_entry(const tree_entry *b)
{
  uint64_t reward;
  memcpy(&reward, &b->reward, sizeof reward);
  uint64_t hash = ((uint64_t)b->parent << 32 | (uint32_t)b->action) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 29;
  hash += ((uint64_t)b->available << 32 | (uint32_t)b->observation) ^ reward ^ b->last ^
          (uint64_t)b->missed << 1;
  hash *= 0xd6e8feb86659fd93u;
  hash ^= hash >> 32;
  hash *= 0xd6e8feb86659fd93u;
  return hash ^ (hash >> 32);
}

static bool same_entry(const tree_entry *a, const tree_entry *b)
{
  return a->parent == b->parent && a->action == b->action && a->observation == b->observation &&
         a->available == b->available && a->last == b->last && a->missed == b->missed &&
         memcmp(&a->reward, &b->reward, sizeof a->reward) == 0;
}

static bool grow_slots(builder *tree)
{
  const size_t slots = tree->slots ? 2 * tree->slots : 256;
  uint64_t *slot = idm_new(slots, sizeof *slot);
  if (!slot) return false;
  for (size_t n = 0; n < tree->count; n++) {
    const tree_entry *b = &tree->entries[n];
    if (b->parent != NO_PARENT && tree->entries[b->parent].first_child == n) continue;
    const uint64_t hash = hash_entry(b);
    size_t i = (size_t)hash & (slots - 1);
    while (slot[i]) i = (i + 1) & (slots - 1);
    slot[i] = (hash >> 32 << 32) | (n + 1);
  }
  free(tree->slot);
  tree->slot = slot;
  tree->slots = slots;
  return true;
}

static idm_status add_entry(builder *tree, const tree_entry *key, uint32_t *ret_index,
                            idm_error *opt_error)
{
  if (tree->count >= INT32_MAX)
    return idm_fail(opt_error, IDM_INPUT, "the data have more than %ld distinct histories",
                    (long)INT32_MAX);
  if (tree->count == tree->capacity) {
    const size_t capacity = tree->capacity ? 2 * tree->capacity : 256;
    tree_entry *entries = realloc(tree->entries, capacity * sizeof *entries);
    if (!entries) return idm_fail_memory(opt_error);
    tree->entries = entries;
    tree->capacity = capacity;
  }
  *ret_index = (uint32_t)tree->count++;
  tree->entries[*ret_index] = *key;
  return IDM_OK;
}

/* Find a root or a later child by its hash, or add it. */
static idm_status find_hashed(builder *tree, const tree_entry *key, uint32_t *ret_index,
                              idm_error *opt_error)
{
  if (tree->hashed >= tree->slots / 2 && !grow_slots(tree)) return idm_fail_memory(opt_error);
  const uint64_t hash = hash_entry(key);
  const size_t mask = tree->slots - 1;
  size_t i = (size_t)hash & mask;
  for (; tree->slot[i]; i = (i + 1) & mask) {
    *ret_index = (uint32_t)tree->slot[i] - 1;
    if (tree->entries && tree->slot[i] >> 32 == hash >> 32 &&
        same_entry(&tree->entries[*ret_index], key))
      return IDM_OK;
  }
  const idm_status status = add_entry(tree, key, ret_index, opt_error);
  if (status != IDM_OK) return status;
  tree->slot[i] = (hash >> 32 << 32) | (*ret_index + 1);
  tree->hashed++;
  return IDM_OK;
}

/* Find the entry equal to `key`, or add it, and count one more trajectory through it. */
static idm_status find_or_add(builder *tree, const tree_entry *key, uint32_t *ret_index,
                              idm_error *opt_error)
{
  const bool root = key->parent == NO_PARENT;
  const uint32_t child = root || !tree->entries ? 0 : tree->entries[key->parent].first_child;
  idm_status status = IDM_OK;
  if (child && same_entry(&tree->entries[child], key)) {
    *ret_index = child;
  } else if (root || child) {
    status = find_hashed(tree, key, ret_index, opt_error);
  } else {
    status = add_entry(tree, key, ret_index, opt_error);
    if (status == IDM_OK) tree->entries[key->parent].first_child = *ret_index;
  }
  if (status == IDM_OK) tree->entries[*ret_index].count++;
  return status;
}

/* Insert one trajectory below the last entry of its agent, or as a root; its first and last entry
 * are stored in the result. */
static idm_status insert_trajectory(builder *tree, const idm_data *data, size_t trajectory,
                                    uint32_t before, idm_prefix_tree *result, idm_error *opt_error)
{
  const double *reward = result->scope & IDM_SCOPE_REWARD ? data->number[IDM_COLUMN_REWARD] : NULL;
  const size_t first = data->first[trajectory];
  const size_t end = data->first[trajectory + 1];
  uint32_t *last = &result->last[trajectory];
  tree_entry key = {.parent = before,
                    .action = (int32_t)data->variant[trajectory],
                    .observation = data->start[trajectory],
                    .available = BEGINS,
                    .first_row = (uint32_t)first};
  idm_status status = find_or_add(tree, &key, last, opt_error);
  result->first[trajectory] = *last;
  for (size_t row = first; row < end && status == IDM_OK; row++) {
    key = (tree_entry){.parent = *last,
                       .action = data->action[row],
                       .observation = data->observation[row],
                       .available = data->available[row],
                       .last = row + 1 == end && (data->action[row] == IDM_MISSING ||
                                                  data->observation[row] == IDM_MISSING),
                       .missed = idm_data_missed(data, row),
                       .reward = reward ? reward[row] : 0,
                       .first_row = (uint32_t)row};
    status = find_or_add(tree, &key, last, opt_error);
  }
  return status;
}

/* Insert all trajectories, each after the previous one of its agent where the scope has
 * IDM_SCOPE_AGENT. */
static idm_status insert_trajectories(builder *tree, const idm_data *data, idm_prefix_tree *result,
                                      idm_error *opt_error)
{
  const bool per_agent = result->scope & IDM_SCOPE_AGENT;
  const size_t agents = per_agent ? data->agent_name.count : 1;
  uint32_t *before = idm_new(agents, sizeof *before);
  if (!before) return idm_fail_memory(opt_error);
  for (size_t a = 0; a < agents; a++) before[a] = NO_PARENT;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < data->trajectories && status == IDM_OK; i++) {
    uint32_t *last = &before[per_agent ? data->agent[i] : 0];
    status = insert_trajectory(tree, data, i, *last, result, opt_error);
    if (per_agent) *last = result->last[i];
  }
  free(before);
  return status;
}

/* (*ret_order)[n]: index of entry n in depth-first order. False where memory runs out. */
static bool find_order(const builder *tree, uint32_t **ret_order)
{
  uint32_t *order_index = idm_new(tree->count, sizeof *order_index);
  uint32_t *size = idm_new(tree->count, sizeof *size);
  *ret_order = order_index;
  if (!order_index || !size) {
    free(size);
    return false;
  }
  for (size_t n = tree->count; n-- > 0;) {
    const uint32_t parent = tree->entries[n].parent;
    size[n]++;
    if (parent != NO_PARENT) size[parent] += size[n];
  }
  uint32_t next_root = 0;
  uint32_t *next =
      size; /* a subtree's size is read once, before its children need its next free index */
  for (size_t n = 0; n < tree->count; n++) {
    const uint32_t parent = tree->entries[n].parent;
    uint32_t *next_index = parent == NO_PARENT ? &next_root : &next[parent];
    order_index[n] = *next_index;
    *next_index += size[n];
    next[n] = order_index[n] + 1;
  }
  free(size);
  return true;
}

static void fill_nodes(const builder *tree, const uint32_t *order_index, idm_prefix_tree *result)
{
  for (size_t n = 0; n < tree->count; n++) {
    const tree_entry *from = &tree->entries[n];
    idm_prefix_node *to = &result->node[order_index[n]];
    *to = (idm_prefix_node){.parent = -1,
                            .begin = -1,
                            .action = IDM_MISSING,
                            .observation = IDM_MISSING,
                            .first_row = from->first_row,
                            .leaf = true,
                            .all_recorded = true,
                            .count = from->count};
    if (from->parent != NO_PARENT) {
      to->parent = (int32_t)order_index[from->parent];
      to->depth = result->node[to->parent].depth + 1;
      result->node[to->parent].leaf = false;
    }
    if (to->depth > result->depth) result->depth = to->depth;
    if (result->reward) result->reward[order_index[n]] = from->reward;
    if (from->available == BEGINS) {
      to->begin = (int32_t)result->begins;
      result->begin_variant[result->begins] = (uint32_t)from->action;
      result->begin_start[result->begins++] = from->observation;
      continue;
    }
    to->action = from->action;
    to->observation = from->observation;
    to->available = from->available;
    to->last = from->last;
    to->missed = from->missed;
  }
}

/* Set all_recorded of parents; children have larger indices than their parents. */
static void mark_recorded(idm_prefix_tree *tree)
{
  for (size_t i = tree->nodes; i-- > 0;) {
    const idm_prefix_node *node = &tree->node[i];
    const bool recorded = node->action != IDM_MISSING && node->observation != IDM_MISSING;
    const bool uninformative =
        node->leaf && node->observation == IDM_MISSING; /* it has no effect on other rows */
    if (node->parent >= 0 &&
        !(node->all_recorded && (node->begin >= 0 || recorded || uninformative)))
      tree->node[node->parent].all_recorded = false;
  }
}

static idm_status number_nodes(const builder *tree, idm_prefix_tree *result, idm_error *opt_error)
{
  size_t max_begins = 0;
  for (size_t n = 0; n < tree->count; n++) max_begins += tree->entries[n].available == BEGINS;
  const bool rewards = result->scope & IDM_SCOPE_REWARD;
  uint32_t *order_index = NULL;
  result->nodes = tree->count;
  result->node = idm_new(tree->count, sizeof *result->node);
  result->reward = rewards ? idm_new(tree->count, sizeof *result->reward) : NULL;
  result->begin_variant = idm_new(max_begins, sizeof *result->begin_variant);
  result->begin_start = idm_new(max_begins, sizeof *result->begin_start);
  idm_status status = IDM_OK;
  if (!result->node || (rewards && !result->reward) || !result->begin_variant ||
      !result->begin_start || !find_order(tree, &order_index)) {
    status = idm_fail_memory(opt_error);
  } else {
    fill_nodes(tree, order_index, result);
    mark_recorded(result);
    for (size_t i = 0; i < result->trajectories; i++) {
      result->first[i] = order_index[result->first[i]];
      result->last[i] = order_index[result->last[i]];
    }
  }
  free(order_index);
  return status;
}

idm_status idm_prefix_tree_create(const idm_data *data, unsigned scope, idm_prefix_tree **ret_tree,
                                  idm_error *opt_error)
{
  idm_require(data, ret_tree);
  *ret_tree = NULL;
  if (data->rows > UINT32_MAX)
    return idm_fail(opt_error, IDM_INPUT, "the data have more than %lu rows",
                    (unsigned long)UINT32_MAX);
  if (scope & IDM_SCOPE_REWARD && !data->number[IDM_COLUMN_REWARD])
    return idm_fail(opt_error, IDM_INPUT,
                    "this agent learns from rewards, and the log has none; expected a column "
                    "'reward', or its name under data: {reward: COLUMN}");
  builder tree = {0};
  idm_prefix_tree *result = idm_new(1, sizeof *result);
  if (result) {
    result->data = data;
    result->scope = scope;
    result->trajectories = data->trajectories;
    result->first = idm_new(data->trajectories, sizeof *result->first);
    result->last = idm_new(data->trajectories, sizeof *result->last);
  }
  idm_status status = result && result->first && result->last ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = insert_trajectories(&tree, data, result, opt_error);
  if (status == IDM_OK) status = number_nodes(&tree, result, opt_error);
  free(tree.entries);
  free(tree.slot);
  if (status != IDM_OK) {
    idm_prefix_tree_destroy(result);
    return status;
  }
  *ret_tree = result;
  return IDM_OK;
}

void idm_prefix_tree_destroy(idm_prefix_tree *tree)
{
  if (!tree) return;
  free(tree->node);
  free(tree->reward);
  free(tree->begin_variant);
  free(tree->begin_start);
  free(tree->first);
  free(tree->last);
  free(tree);
}
