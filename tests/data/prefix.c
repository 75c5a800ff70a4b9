/* Tests the tree of histories (sharing, keys, depth-first order, counts) against a row-by-row
 * comparison of histories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/log.h"
#include "idm/extension/data.h"
#include "idm/extension/prefix.h"

/* Data with room for all fields that a test sets: one agent, one variant, the start of the setting.
 */
static idm_data *create_data(size_t trajectories, const size_t *lengths)
{
  idm_data *data = calloc(1, sizeof *data);
  assert_non_null(data);
  data->trajectories = trajectories;
  data->first = calloc(trajectories + 1, sizeof *data->first);
  for (size_t i = 0; i < trajectories; i++) data->first[i + 1] = data->first[i] + lengths[i];
  data->rows = data->first[trajectories];
  data->action = calloc(data->rows + 1, sizeof *data->action);
  data->observation = calloc(data->rows + 1, sizeof *data->observation);
  data->available = calloc(data->rows + 1, sizeof *data->available);
  data->variant = calloc(trajectories + 1, sizeof *data->variant);
  data->start = calloc(trajectories + 1, sizeof *data->start);
  for (size_t i = 0; i < trajectories; i++) data->start[i] = -1;
  return data;
}

static idm_prefix_tree *create_tree(const idm_data *data)
{
  idm_prefix_tree *tree;
  idm_error error = {0};
  assert_int_equal(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &error), IDM_OK);
  return tree;
}

/* Checks the properties that data.h documents for every tree. */
static void check_tree(const idm_data *data, const idm_prefix_tree *tree)
{
  uint64_t through_roots = 0;
  size_t begins = 0;
  uint64_t *below = calloc(tree->nodes + 1, sizeof *below);
  bool *parent = calloc(tree->nodes + 1, sizeof *parent);
  for (size_t n = 0; n < tree->nodes; n++) {
    const idm_prefix_node *node = &tree->node[n];
    begins += node->begin >= 0;
    if (node->parent < 0) {
      assert_int_equal(node->depth, 0);
      assert_true(node->begin >= 0);
      through_roots += node->count;
      continue;
    }
    /* Depth first: the preceding node is the parent or lies in the subtree of an earlier sibling.
     */
    assert_true((size_t)node->parent < n);
    int32_t before = (int32_t)n - 1;
    while (before > node->parent) before = tree->node[before].parent;
    assert_int_equal(before, node->parent);
    assert_int_equal(node->depth, tree->node[node->parent].depth + 1);
    below[node->parent] += node->count;
    parent[node->parent] = true;
  }
  assert_int_equal(begins, tree->begins);
  assert_int_equal(through_roots, data->trajectories);
  for (size_t i = 0; i < tree->trajectories; i++) below[tree->last[i]]++;
  for (size_t n = 0; n < tree->nodes; n++) {
    assert_int_equal(below[n], tree->node[n].count);
    assert_int_equal(tree->node[n].leaf, !parent[n]);
  }
  free(below);
  free(parent);
  /* Following the parents from the last node of a trajectory yields its rows backward. */
  for (size_t i = 0; i < data->trajectories; i++) {
    int32_t n = (int32_t)tree->last[i];
    for (size_t row = data->first[i + 1]; row-- > data->first[i]; n = tree->node[n].parent) {
      assert_int_equal(tree->node[n].action, data->action[row]);
      assert_int_equal(tree->node[n].observation, data->observation[row]);
      assert_int_equal(tree->node[n].available, data->available[row]);
      assert_int_equal(tree->node[n].depth, row - data->first[i] + 1);
      assert_true(tree->node[n].first_row <= row);
    }
    assert_int_equal(n, tree->first[i]);
    assert_true(tree->node[n].begin >= 0);
    assert_int_equal(tree->begin_variant[tree->node[n].begin], data->variant[i]);
    assert_int_equal(tree->begin_start[tree->node[n].begin], data->start[i]);
  }
}

static void test_shared(void **state)
{
  (void)state;
  idm_data *data = create_data(4, (const size_t[]){2, 3, 2, 1});
  const int32_t actions[] = {2, 0, 2, 2, 1, 2, 0, 1};
  const int32_t observations[] = {1, 0, 1, 1, 0, 0, 0, -1};
  memcpy(data->action, actions, sizeof actions);
  memcpy(data->observation, observations, sizeof observations);
  idm_prefix_tree *tree = create_tree(data);
  check_tree(data, tree);
  /* root; (2,1) -> (0,0) | (2,1) -> (1,0); (2,0) -> (0,0); (1,-) */
  assert_int_equal(tree->nodes, 8);
  assert_int_equal(tree->begins, 1);
  assert_int_equal(tree->depth, 3);
  const int32_t parents[] = {-1, 0, 1, 1, 3, 0, 5, 0};
  const uint64_t counts[] = {4, 2, 1, 1, 1, 1, 1, 1};
  const uint32_t rows[] = {0, 0, 1, 3, 4, 5, 6, 7};
  const uint32_t last[] = {2, 4, 6, 7};
  for (size_t n = 0; n < 8; n++) {
    assert_int_equal(tree->node[n].parent, parents[n]);
    assert_int_equal(tree->node[n].count, counts[n]);
    assert_int_equal(tree->node[n].first_row, rows[n]);
  }
  for (size_t i = 0; i < 4; i++) assert_int_equal(tree->last[i], last[i]);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
}

static void test_keys(void **state)
{
  (void)state;
  /* Action and observation are equal, but availability, a missing cell, variant, start or a missed
   * response separates histories. */
  idm_data *data = create_data(7, (const size_t[]){1, 1, 1, 1, 1, 1, 1});
  const int32_t missed[] = {-1, -1, -1, -1, -1, -1, 0};
  data->missed = malloc(sizeof missed);
  assert_non_null(data->missed);
  memcpy(data->missed, missed, sizeof missed);
  data->available[1] = 1;
  data->observation[2] = IDM_MISSING;
  data->variant[3] = 1;
  data->start[4] = 0;
  idm_prefix_tree *tree = create_tree(data);
  check_tree(data, tree);
  assert_int_equal(tree->begins, 3);
  assert_int_equal(tree->nodes, 3 + 6);
  assert_int_equal(tree->last[5], tree->last[0]);
  assert_int_equal(tree->node[tree->first[0]].count, 5);
  for (size_t t = 0; t < 7; t++) assert_int_equal(tree->node[tree->last[t]].missed, t == 6);
  assert_int_equal(tree->node[tree->first[3]].first_row, 3);
  assert_int_equal(tree->begin_variant[tree->node[tree->first[3]].begin], 1);
  assert_int_equal(tree->begin_start[tree->node[tree->first[4]].begin], 0);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
}

static void test_prefix_of_another(void **state)
{
  (void)state;
  /* A trajectory that is a prefix of another: its last node is not a leaf. */
  idm_data *data = create_data(2, (const size_t[]){3, 1});
  idm_prefix_tree *tree = create_tree(data);
  check_tree(data, tree);
  assert_int_equal(tree->nodes, 4);
  assert_int_equal(tree->last[1], 1);
  assert_false(tree->node[1].leaf);
  assert_int_equal(tree->node[1].count, 2);
  assert_int_equal(tree->node[3].count, 1);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
}

/* An unrecorded last action may be terminal, and the observation after the last action is
 * irrelevant; neither holds in the middle of a trajectory. The future of a node is complete if
 * nothing is missing in it except the last observation. */
static void test_gaps(void **state)
{
  (void)state;
  idm_data *data = create_data(3, (const size_t[]){2, 3, 3});
  /* (0,0) (?,0) | (0,0) (?,0) (1,?) | (1,1) (0,0) (1,?) */
  const int32_t action[8] = {0, IDM_MISSING, 0, IDM_MISSING, 1, 1, 0, 1};
  memcpy(data->action, action, sizeof action);
  data->observation[5] = 1;
  data->observation[4] = data->observation[7] = IDM_MISSING;
  idm_prefix_tree *tree = create_tree(data);
  assert_int_equal(tree->nodes, 8); /* the root, 1 + 1 + 2 rows, 3 rows */
  const idm_prefix_node *last = &tree->node[tree->last[0]];
  const idm_prefix_node *middle = &tree->node[tree->node[tree->last[1]].parent];
  assert_true(last->last && last->leaf && !middle->last && !middle->leaf);
  assert_int_equal(last->parent, middle->parent);
  assert_false(tree->node[last->parent].all_recorded);
  assert_true(middle->all_recorded);
  for (int32_t i = tree->node[tree->last[2]].parent; i > 0; i = tree->node[i].parent)
    assert_true(tree->node[i].all_recorded);
  assert_false(tree->node[0].all_recorded);
  assert_true(tree->node[tree->last[1]].last);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
}

static void test_none(void **state)
{
  (void)state;
  idm_data *data = create_data(0, NULL);
  idm_prefix_tree *tree = create_tree(data);
  assert_int_equal(tree->nodes, 0);
  assert_int_equal(tree->begins, 0);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
  idm_prefix_tree_destroy(NULL);
}

/* Data of several agents, with the given rewards per row. */
static idm_data *create_agents(const uint32_t *agent, size_t agents, size_t trajectories,
                               const size_t *lengths, const double *opt_reward)
{
  idm_data *data = create_data(trajectories, lengths);
  data->agent = calloc(trajectories, sizeof *data->agent);
  memcpy(data->agent, agent, trajectories * sizeof *agent);
  assert_int_equal(idm_labels_create(&data->agent_name, agents, NULL), IDM_OK);
  for (size_t a = 0; a < agents; a++)
    assert_int_equal(idm_labels_set(&data->agent_name, a, a ? "b" : "a", 1, NULL), IDM_OK);
  if (!opt_reward) return data;
  data->number[IDM_COLUMN_REWARD] = calloc(data->rows, sizeof(double));
  memcpy(data->number[IDM_COLUMN_REWARD], opt_reward, data->rows * sizeof(double));
  return data;
}

static idm_prefix_tree *create_scoped(const idm_data *data, unsigned scope)
{
  idm_prefix_tree *tree;
  idm_error error = {0};
  assert_int_equal(idm_prefix_tree_create(data, scope, &tree, &error), IDM_OK);
  assert_int_equal(tree->scope, scope);
  return tree;
}

/* A trajectory begins where the preceding trajectory of the same agent ended, also if other agents'
 * trajectories lie in between. */
static void test_agents(void **state)
{
  (void)state;
  const uint32_t agent[] = {0, 1, 0, 1, 0};
  idm_data *data = create_agents(agent, 2, 5, (const size_t[]){1, 1, 2, 2, 1}, NULL);
  data->action[5] = 1; /* the last row of b, where the two agents diverge */
  idm_prefix_tree *tree = create_scoped(data, IDM_SCOPE_AGENT);
  /* begin, row, begin, row, then the last rows of each agent, and a third beginning for a. */
  assert_int_equal(tree->nodes, 8);
  assert_int_equal(tree->begins, 3);
  const int32_t parents[] = {-1, 0, 1, 2, 3, 4, 5, 3};
  for (size_t n = 0; n < 8; n++) assert_int_equal(tree->node[n].parent, parents[n]);
  for (size_t n = 0; n < 4; n++) assert_int_equal(tree->node[n].count, 2);
  for (size_t n = 4; n < 8; n++) assert_int_equal(tree->node[n].count, 1);
  const uint32_t first[] = {0, 0, 2, 2, 5}, last[] = {1, 1, 4, 7, 6};
  assert_memory_equal(tree->first, first, sizeof first);
  assert_memory_equal(tree->last, last, sizeof last);
  assert_int_equal(tree->depth, 6);
  assert_null(tree->reward);
  idm_prefix_tree_destroy(tree);
  /* Without agents in its scope every trajectory begins at a root. */
  tree = create_tree(data);
  check_tree(data, tree);
  assert_int_equal(tree->begins, 1);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
}

/* Rewards separate histories only in a scope that includes them. */
static void test_rewards(void **state)
{
  (void)state;
  const uint32_t agent[] = {0, 0, 0};
  const double reward[] = {1, 0.5, 1, 0.25, 1, 0.5};
  idm_data *data = create_agents(agent, 1, 3, (const size_t[]){2, 2, 2}, reward);
  idm_prefix_tree *tree = create_scoped(data, IDM_SCOPE_REWARD);
  check_tree(data, tree);
  assert_int_equal(tree->nodes, 4);
  const double rewards[] = {0, 1, 0.5, 0.25};
  assert_memory_equal(tree->reward, rewards, sizeof rewards);
  assert_int_equal(tree->last[0], tree->last[2]);
  assert_int_equal(tree->node[tree->last[0]].count, 2);
  idm_prefix_tree_destroy(tree);
  tree = create_tree(data);
  assert_int_equal(tree->nodes, 3);
  assert_null(tree->reward);
  idm_prefix_tree_destroy(tree);
  /* With agents in the scope as well, all rows form one path. */
  tree = create_scoped(data, IDM_SCOPE_REWARD | IDM_SCOPE_AGENT);
  assert_int_equal(tree->nodes, 9);
  for (size_t n = 0; n < 9; n++) assert_int_equal(tree->node[n].parent, (int32_t)n - 1);
  for (size_t t = 0; t < 3; t++)
    for (size_t i = 0; i < 2; i++)
      assert_true(tree->reward[tree->first[t] + 1 + i] == reward[2 * t + i]);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
}

static void test_rewards_must_be_there(void **state)
{
  (void)state;
  idm_data *data = create_data(1, (const size_t[]){1});
  idm_prefix_tree *tree;
  idm_error error = {0};
  assert_int_equal(idm_prefix_tree_create(data, IDM_SCOPE_REWARD, &tree, &error), IDM_INPUT);
  assert_null(tree);
  assert_non_null(strstr(error.message, "data: {reward: COLUMN}"));
  idm_data_destroy(data);
}

static void test_random(void **state)
{
  (void)state;
  enum { count = 20000 };
  size_t *lengths = calloc(count, sizeof *lengths);
  uint32_t seed = 3;
  for (size_t i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    lengths[i] = 1 + (seed >> 16) % 12;
  }
  idm_data *data = create_data(count, lengths);
  for (size_t row = 0; row < data->rows; row++) {
    seed = seed * 1664525u + 1013904223u;
    data->action[row] = (int32_t)((seed >> 16) % 3) - 1;
    data->observation[row] = (int32_t)((seed >> 20) % 3) - 1;
    data->available[row] = (seed >> 24) % 2;
  }
  for (size_t i = 0; i < count; i++) {
    data->variant[i] = (uint32_t)(i % 3);
    data->start[i] = (int32_t)(i % 2) - 1;
  }
  idm_prefix_tree *tree = create_tree(data);
  check_tree(data, tree);
  assert_int_equal(tree->begins, 6);
  assert_true(tree->nodes > 10000);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
  free(lengths);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shared),
      cmocka_unit_test(test_keys),
      cmocka_unit_test(test_prefix_of_another),
      cmocka_unit_test(test_gaps),
      cmocka_unit_test(test_none),
      cmocka_unit_test(test_agents),
      cmocka_unit_test(test_rewards),
      cmocka_unit_test(test_rewards_must_be_there),
      cmocka_unit_test(test_random),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
