/* Tests the graph of beliefs: each belief is stored once, successors are shared, and bounds are
 * updated by new vectors and points. */
#include <math.h>
#include <string.h>

#include "plan/point/graph_support.h"

/* Tiger: left followed by right leads back to the start; 2,000 steps in one direction reach
 * different beliefs. */
static void a_belief_is_met_once(void **state)
{
  (void)state;
  fixture f;
  open_graph(&f, "example:tiger");
  search_graph *g = &f.graph;
  uint32_t start, again, left, back;
  check(idm_graph_add(g, 0, f.p.start, &start, &support_error));
  check(idm_graph_add(g, 0, f.p.start, &again, &support_error));
  assert_int_equal(start, again);
  check(idm_graph_expand(g, start, 0, &support_error));
  const branch *b = graph_branch(g, start, 0);
  assert_int_equal(b->edges, 2);
  assert_near(g->edge[b->edge].p, 0.5, 1e-15);
  left = g->edge[b->edge].node;
  assert_near(graph_belief(g, left).mass[0], 0.85, 1e-15);
  check(idm_graph_expand(g, left, 0, &support_error));
  b = graph_branch(g, left, 0);
  assert_near(g->edge[b->edge].p, 0.85 * 0.85 + 0.15 * 0.15, 1e-15);
  back = g->edge[b->edge + 1].node;
  assert_int_equal(back, start);
  /* Opening a door resets the state: both observations lead to the start belief. */
  check(idm_graph_expand(g, left, 1, &support_error));
  b = graph_branch(g, left, 1);
  for (size_t e = 0; e < b->edges; e++) assert_int_equal(g->edge[b->edge + e].node, start);
  /* Many beliefs are found again after the table has grown. */
  uint32_t found[600];
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < 600; i++) {
      uint32_t at;
      const double z[] = {(i + 1) / 700.0, 1 - (i + 1) / 700.0};
      check(idm_graph_add(g, 0, z, &at, &support_error));
      if (round) assert_int_equal(at, found[i]);
      found[i] = at;
    }
  close_graph(&f);
}

static void bounds_hear_of_what_is_new(void **state)
{
  (void)state;
  fixture f;
  open_graph(&f, "example:tiger");
  search_graph *g = &f.graph;
  uint32_t at;
  check(idm_graph_add(g, 0, f.p.start, &at, &support_error));
  const double upper = idm_graph_upper(g, at);
  const double lower = idm_graph_lower(g, at);
  assert_true(lower < upper);
  check(idm_alphas_add(&f.bounds.stage[0].lower, (const double[]){5, 7}, 0, &support_error));
  assert_near(idm_graph_lower(g, at), 6, 1e-12);
  const sparse_belief b = graph_belief(g, at);
  check(
      idm_sawtooth_lower(&f.bounds.stage[0].upper, &b, 40, at, &g->node[at].point, &support_error));
  assert_near(idm_graph_upper(g, at), fmin(upper, 40), 1e-12);
  /* A vector dominates all others; compaction renumbers the vector of the node. */
  check(idm_alphas_add(&f.bounds.stage[0].lower, (const double[]){8, 8}, 2, &support_error));
  check(idm_graph_prune_lower(g, 0, &support_error));
  assert_int_equal(f.bounds.stage[0].lower.dominated, 0);
  assert_near(idm_graph_lower(g, at), 8, 1e-12);
  assert_int_equal(f.bounds.stage[0].lower.action[g->node[at].best], 2);
  idm_graph_prune_upper(g, 0);
  assert_true(g->node[at].point == 0 && f.bounds.stage[0].upper.count == 1);
  close_graph(&f);
}

/* A node can refer to a vector beyond those it has evaluated: all evaluated vectors were dominated,
 * and a newer one replaced its vector. The next compaction must renumber that one. */
static void a_vector_not_yet_seen_is_renumbered(void **state)
{
  (void)state;
  fixture f;
  open_graph(&f, "example:tiger");
  search_graph *g = &f.graph;
  alphas *lower = &f.bounds.stage[0].lower;
  uint32_t at;
  const double z[] = {0.2, 0.8};
  check(idm_graph_add(g, 0, z, &at, &support_error));
  check(idm_alphas_add(lower, (const double[]){500, -500}, 0, &support_error));
  check(idm_alphas_add(lower, (const double[]){-500, 500}, 1, &support_error));
  check(idm_graph_prune_lower(g, 0, &support_error));
  (void)idm_graph_lower(g, at);
  assert_int_equal(lower->action[g->node[at].best], 1);
  /* All evaluated vectors become dominated; the vector of the node is replaced by the last of the
   * new ones. */
  check(idm_alphas_add(lower, (const double[]){600, -400}, 0, &support_error));
  check(idm_alphas_add(lower, (const double[]){-400, 600}, 1, &support_error));
  for (size_t i = 0; i + 2 < lower->count; i++)
    if (lower->replacement[i] == i)
      check(idm_alphas_add(lower, (const double[]){400, 400}, 2, &support_error));
  check(idm_graph_prune_lower(g, 0, &support_error));
  assert_int_equal(g->node[at].seen_lower, 0);
  assert_int_equal(lower->action[g->node[at].best], 1);
  /* The first vector becomes dominated, so the index in the node decreases. */
  check(idm_alphas_add(lower, (const double[]){700, -300}, 0, &support_error));
  check(idm_graph_prune_lower(g, 0, &support_error));
  assert_int_equal(lower->action[g->node[at].best], 1);
  assert_near(idm_graph_lower(g, at), -80 + 480, 1e-12);
  close_graph(&f);
}

/* --- several hundred states ----------------------------------------------------------------- */

enum { STATES = 300, BELIEFS = 60, SUPPORT = 12, ROUNDS = 400 };

/* Checks that every node refers to a vector that is not dominated and whose value is that of the
 * node. */
static void assert_nodes_refer_to_their_vectors(const search_graph *g)
{
  const alphas *lower = &g->bounds->stage[0].lower;
  for (uint32_t at = 0; at < g->count; at++) {
    const search_node *n = &g->node[at];
    if (!(n->lower > -INFINITY)) continue; /* never visited */
    const sparse_belief b = graph_belief(g, at);
    double sum = 0;
    assert_true(n->best < lower->count);
    for (size_t k = 0; k < b.count; k++)
      sum += b.mass[k] * alpha_at(lower, alpha_current(lower, n->best), b.state[k]);
    assert_true(sum >= n->lower - 1e-9);
  }
}

/* Adds a vector that dominates an existing one, above it by up to `gap` in some states. */
static void raise_one(search_graph *g, double gap, idm_random *random)
{
  static double vector[STATES];
  alphas *lower = &g->bounds->stage[0].lower;
  const uint32_t from =
      alpha_current(lower, (uint32_t)(idm_random_uniform(random) * (double)lower->count));
  for (size_t s = 0; s < STATES; s++)
    vector[s] = alpha_at(lower, from, s) + fmax(0, gap * (idm_random_uniform(random) - 0.5));
  check(idm_alphas_add(lower, vector, lower->action[from], &support_error));
}

static void enter_beliefs(search_graph *g, idm_random *random)
{
  for (int i = 0; i < BELIEFS; i++) {
    double z[STATES] = {0}, p[SUPPORT];
    uint32_t at;
    support_distribution(random, p, SUPPORT);
    for (size_t k = 0; k < SUPPORT; k++) z[(size_t)(idm_random_uniform(random) * STATES)] += p[k];
    check(idm_graph_add(g, 0, z, &at, &support_error));
  }
}

/* Nodes are evaluated from time to time, and vectors are dominated and renumbered in between, at
 * several gaps. */
static void many_prunings_keep_what_nodes_refer_to(void **state)
{
  (void)state;
  static const double gap[] = {10, 0.5, 0.001};
  for (size_t i = 0; i < sizeof gap / sizeof gap[0]; i++) {
    idm_random random;
    idm_random_init(&random, 24, i);
    fixture f = {.problem = support_problem((support_shape){STATES, 4, 2, 1, 1}, &random)};
    fill_graph(&f);
    enter_beliefs(&f.graph, &random);
    for (int round = 0; round < ROUNDS; round++) {
      for (int k = 0; k < 3; k++) raise_one(&f.graph, gap[i], &random);
      (void)idm_graph_lower(&f.graph, (uint32_t)(idm_random_uniform(&random) * BELIEFS));
      if (round % 2) check(idm_graph_prune_lower(&f.graph, 0, &support_error));
      assert_nodes_refer_to_their_vectors(&f.graph);
    }
    close_graph(&f);
  }
}

/* Adds a vector that is above another in some states and below it in others. */
static void cross_one(search_graph *g, idm_random *random)
{
  static double vector[STATES];
  alphas *lower = &g->bounds->stage[0].lower;
  const uint32_t from =
      alpha_current(lower, (uint32_t)(idm_random_uniform(random) * (double)lower->count));
  for (size_t s = 0; s < STATES; s++)
    vector[s] = alpha_at(lower, from, s) + idm_random_uniform(random) - 0.5;
  check(idm_alphas_add(lower, vector, lower->action[from], &support_error));
}

/* At beliefs visited by trials the bound is kept; elsewhere it is the best of the remaining
 * vectors. */
static void vectors_without_use_are_dropped(void **state)
{
  (void)state;
  enum { met = BELIEFS / 3 };
  idm_random random;
  idm_random_init(&random, 25, 0);
  fixture f = {.problem = support_problem((support_shape){STATES, 4, 2, 1, 1}, &random)};
  fill_graph(&f);
  search_graph *g = &f.graph;
  enter_beliefs(g, &random);
  for (uint32_t at = 0; at < met; at++) check(idm_graph_init_actions(g, at, &support_error));
  for (int i = 0; i < 2000; i++) cross_one(g, &random);
  const alphas *lower = &f.bounds.stage[0].lower;
  const size_t before = lower->count - lower->dominated;
  double bound[BELIEFS];
  for (uint32_t at = 0; at < BELIEFS; at++) bound[at] = idm_graph_lower(g, at);
  check(idm_graph_drop_lower(g, 0, &support_error));
  assert_true(before > 1000 && lower->count <= met && lower->dominated == 0);
  assert_int_equal(g->plans.width, 0);
  assert_nodes_refer_to_their_vectors(g);
  size_t less = 0;
  for (uint32_t at = 0; at < BELIEFS; at++) {
    const double now = idm_graph_lower(g, at);
    const sparse_belief b = graph_belief(g, at);
    double best = -INFINITY;
    for (size_t i = 0; i < lower->count; i++) {
      double sum = 0;
      for (size_t k = 0; k < b.count; k++) sum += b.mass[k] * alpha_at(lower, i, b.state[k]);
      best = fmax(best, sum);
    }
    if (at < met)
      assert_true(now == bound[at]);
    else
      assert_near(now, best, 1e-12);
    less += now < bound[at];
  }
  assert_true(less > 0);
  close_graph(&f);
}

/* A copy of the belief of a node. */
typedef struct copy {
  uint32_t state[STATES];
  double mass[STATES];
  sparse_belief belief;
} copy;

static void copy_belief(const sparse_belief *from, copy *to)
{
  memcpy(to->state, from->state, from->count * sizeof *to->state);
  memcpy(to->mass, from->mass, from->count * sizeof *to->mass);
  to->belief = (sparse_belief){to->state, to->mass, from->count, from->support_mask};
}

static void assert_same_belief(const sparse_belief *a, const sparse_belief *b)
{
  assert_int_equal(a->count, b->count);
  assert_true(a->support_mask == b->support_mask);
  assert_memory_equal(a->state, b->state, a->count * sizeof *a->state);
  assert_memory_equal(a->mass, b->mass, a->count * sizeof *a->mass);
}

/* Beliefs that have no successors and are not in use are dropped. They are recomputed, to the last
 * bit, for bounds and for successors; those with successors are kept. */
static void idle_beliefs_are_dropped_and_computed_again(void **state)
{
  (void)state;
  static copy first, second;
  idm_random random;
  idm_random_init(&random, 24, 7);
  fixture f = {.problem = support_problem((support_shape){STATES, 4, 2, 1, 1}, &random)};
  fill_graph(&f);
  search_graph *g = &f.graph;
  g->drop_limit = 0;
  uint32_t start;
  check(idm_graph_add(g, 0, f.p.start, &start, &support_error));
  check(idm_graph_expand(g, start, 1, &support_error));
  const uint32_t one = g->edge[graph_branch(g, start, 1)->edge].node;
  const uint32_t two = g->edge[graph_branch(g, start, 1)->edge + 1].node;
  sparse_belief b = graph_belief(g, one);
  copy_belief(&b, &first);
  b = graph_belief(g, two);
  copy_belief(&b, &second);
  for (int i = 0; i < 3; i++) enter_beliefs(g, &random);
  assert_true(g->node[start].at != GRAPH_DROPPED);
  assert_true(g->node[one].at == GRAPH_DROPPED && g->node[two].at == GRAPH_DROPPED);
  b = idm_graph_belief(g, two);
  assert_same_belief(&b, &second.belief);
  assert_true(idm_graph_upper(g, one) == idm_sawtooth_at(&f.bounds.stage[0].upper, &first.belief, 0,
                                                         INFINITY, NULL, g->dense));
  assert_true(idm_graph_lower(g, one) == idm_alphas_best(&f.bounds.stage[0].lower, &first.belief, 0,
                                                         (alpha_choice){0, -INFINITY})
                                             .value);
  check(idm_graph_expand(g, one, 0, &support_error));
  b = graph_belief(g, one);
  assert_same_belief(&b, &first.belief);
  close_graph(&f);
}

static size_t always_last(void *context, const double *z, int left)
{
  assert_near(z[0] + z[1], 1, 1e-12);
  assert_int_equal(left, 1);
  return *(const size_t *)context;
}

/* A given policy excludes all other actions. */
static void a_policy_holds_actions(void **state)
{
  (void)state;
  fixture f;
  open_graph(&f, "example:tiger");
  uint32_t at;
  size_t action = 2;
  f.p.opt_policy = always_last;
  f.p.context = &action;
  check(idm_graph_add(&f.graph, 0, f.p.start, &at, &support_error));
  check(idm_graph_init_actions(&f.graph, at, &support_error));
  for (size_t u = 0; u < 3; u++)
    assert_int_equal(isfinite(graph_branch(&f.graph, at, u)->upper) != 0, u == action);
  close_graph(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_belief_is_met_once),
      cmocka_unit_test(bounds_hear_of_what_is_new),
      cmocka_unit_test(a_vector_not_yet_seen_is_renumbered),
      cmocka_unit_test(many_prunings_keep_what_nodes_refer_to),
      cmocka_unit_test(vectors_without_use_are_dropped),
      cmocka_unit_test(idle_beliefs_are_dropped_and_computed_again),
      cmocka_unit_test(a_policy_holds_actions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
