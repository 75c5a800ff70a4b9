/* Tests chunks of the tree of histories: every choice is in one chunk, and every node follows its
 * predecessor. */
#include "plan/network/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static void check_swath(const idm_prefix_tree *tree, const tree_chunk *s, unsigned *seen)
{
  assert_int_equal(s->level[0], 0);
  assert_int_equal(s->level[s->levels], s->node_count);
  for (size_t d = 0; d < s->levels; d++)
    for (size_t i = s->level[d]; i < s->level[d + 1]; i++) {
      const chunk_node *place = &s->place[i];
      const idm_prefix_node *node = &tree->node[place->node];
      assert_int_equal(node->depth, d);
      assert_false(node->leaf && node->begin < 0);
      if (node->begin >= 0) {
        assert_int_equal(place->before, i);
        continue;
      }
      assert_true(place->before < s->level[d]);
      assert_int_equal(s->place[place->before].node, node->parent);
    }
  for (size_t i = 0; i < s->rows; i++) {
    const idm_prefix_node *node = &tree->node[s->row[i].node];
    seen[s->row[i].node]++;
    assert_true(node->begin < 0);
    assert_int_equal(s->place[s->row[i].place].node, node->parent);
  }
}

static void check_scope(unsigned scope)
{
  idm_problem *problem = support_diag(2, INFINITY, 0);
  const idm_simulation simulation = {.trajectories = 60, .steps = 9, .seed = 4};
  idm_data *data = support_simulate(problem, simulation);
  idm_prefix_tree *tree;
  check(idm_prefix_tree_create(data, scope, &tree, &support_error));
  size_t node_count = 0;
  for (size_t i = 0; i < tree->nodes; i++)
    node_count += tree->node[i].begin >= 0 || !tree->node[i].leaf;
  for (size_t most = 1; most < 2 * tree->nodes; most = most * 3 / 2 + 1) {
    tree_chunks *s;
    unsigned *seen = calloc(tree->nodes, sizeof *seen);
    assert_non_null(seen);
    check(idm_tree_chunks_create(tree, most, &s, &support_error));
    const size_t allowed = most > 2 * tree->depth + 2 ? most : 2 * tree->depth + 2;
    for (size_t i = 0; i < s->count; i++) {
      check_swath(tree, &s->tree_chunk[i], seen);
      assert_true(s->tree_chunk[i].node_count <= s->max_nodes);
    }
    assert_true(s->max_nodes <= allowed);
    assert_int_equal(s->count > 1, allowed <= node_count);
    for (size_t i = 0; i < tree->nodes; i++)
      assert_int_equal(seen[i], tree->node[i].begin < 0 ? 1 : 0);
    free(seen);
    idm_tree_chunks_destroy(s);
  }
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void every_choice_is_in_one_swath(void **state)
{
  (void)state;
  check_scope(IDM_SCOPE_TRAJECTORY);
}

/* In a tree of agents trajectories follow each other, and each begins with an empty memory. */
static void trees_of_agents_do_too(void **state)
{
  (void)state;
  check_scope(IDM_SCOPE_AGENT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_choice_is_in_one_swath),
                                     cmocka_unit_test(trees_of_agents_do_too)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
