/* Swaths of a tree of histories: see the header. */
#include "plan/network/swath.h"

#include "base/memory.h"

static bool is_place(const idm_prefix_node *node)
{
  return node->begin >= 0 || !node->leaf;
}

void idm_swaths_destroy(swaths *s)
{
  if (!s) return;
  for (size_t i = 0; i < s->count; i++) {
    free(s->swath[i].place);
    free(s->swath[i].level);
    free(s->swath[i].row);
  }
  free(s->swath);
  free(s);
}

/* The end of a stretch that begins at node `first`: as many places as are wanted, with those above
 * it. */
static size_t end_of(const idm_prefix_tree *tree, size_t first, size_t most)
{
  size_t places = tree->node[first].depth, end = first;
  for (; end < tree->nodes && places < most; end++) places += is_place(&tree->node[end]);
  return end;
}

/* Nodes of a stretch and above it, in the order of the tree: list has room for the depth more. */
static size_t gather(const idm_prefix_tree *tree, size_t first, size_t end, uint32_t *list)
{
  const size_t above = tree->node[first].depth;
  int32_t node = tree->node[first].parent;
  for (size_t i = above; i-- > 0; node = tree->node[node].parent) list[i] = (uint32_t)node;
  for (size_t i = first; i < end; i++) list[above + i - first] = (uint32_t)i;
  return above + end - first;
}

/* Lay the nodes out by depth; place_at[node] receives the place of each. */
static void lay_out(const idm_prefix_tree *tree, const uint32_t *list, size_t nodes, size_t above,
                    uint32_t *place_at, swath *s)
{
  for (size_t i = 0; i < nodes; i++)
    if (is_place(&tree->node[list[i]])) s->level[tree->node[list[i]].depth + 1]++;
  for (size_t d = 0; d < s->levels; d++) s->level[d + 1] += s->level[d];
  for (size_t i = 0; i < nodes; i++) {
    const idm_prefix_node *node = &tree->node[list[i]];
    if (node->begin < 0 && i >= above)
      s->row[s->rows++] = (swath_row){list[i], place_at[node->parent]};
    if (!is_place(node)) continue;
    const uint32_t at = s->level[node->depth]++;
    place_at[list[i]] = at;
    s->place[at] = (swath_place){list[i], node->begin >= 0 ? at : place_at[node->parent]};
  }
  /* Each level's mark has moved to its end. */
  for (size_t d = s->levels; d > 0; d--) s->level[d] = s->level[d - 1];
  s->level[0] = 0;
}

static bool make(const idm_prefix_tree *tree, size_t first, size_t end, uint32_t *list,
                 uint32_t *place_at, swath *s)
{
  const size_t nodes = gather(tree, first, end, list);
  for (size_t i = 0; i < nodes; i++) {
    const idm_prefix_node *node = &tree->node[list[i]];
    s->places += is_place(node);
    s->levels = node->depth + 1 > s->levels ? node->depth + 1 : s->levels;
  }
  s->place = idm_new(s->places, sizeof *s->place);
  s->level = idm_new(s->levels + 1, sizeof *s->level);
  s->row = idm_new(end - first, sizeof *s->row);
  if (!s->place || !s->level || !s->row) return false;
  lay_out(tree, list, nodes, tree->node[first].depth, place_at, s);
  return true;
}

idm_status idm_swaths_create(const idm_prefix_tree *tree, size_t most, swaths **ret_swaths,
                             idm_error *opt_error)
{
  *ret_swaths = NULL;
  if (most < 2 * ((size_t)tree->depth + 1)) most = 2 * ((size_t)tree->depth + 1);
  size_t count = 0;
  for (size_t at = 0; at < tree->nodes; at = end_of(tree, at, most)) count++;
  swaths *s = idm_new(1, sizeof *s);
  uint32_t *list = idm_new(tree->nodes + tree->depth + 1, sizeof *list);
  uint32_t *place_at = idm_new(tree->nodes, sizeof *place_at);
  bool whole = s && list && place_at;
  if (whole) s->swath = idm_new(count, sizeof *s->swath);
  whole = whole && s->swath;
  for (size_t at = 0, end; whole && at < tree->nodes; at = end) {
    end = end_of(tree, at, most);
    swath *next = &s->swath[s->count++];
    whole = make(tree, at, end, list, place_at, next);
    if (next->places > s->widest) s->widest = next->places;
  }
  free(list);
  free(place_at);
  if (!whole) {
    idm_swaths_destroy(s);
    return idm_fail_memory(opt_error);
  }
  *ret_swaths = s;
  return IDM_OK;
}
