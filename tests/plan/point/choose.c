/* Tests the choice of the action with the highest upper bound at a belief. */
#include "plan/point/search.h"

#include <math.h>

#include "plan/point/graph_support.h"

/* Tiger at equal odds, where the bounds of all actions are computed by hand. */
static void looks_until_the_best_stays_the_best(void **state)
{
  (void)state;
  fixture f;
  open_graph(&f, "example:tiger");
  search_graph *g = &f.graph;
  uint32_t start;
  size_t u;
  check(idm_graph_add(g, 0, f.p.start, &start, &support_error));
  check(idm_graph_choose(g, start, &u, &support_error));
  assert_int_equal(u, 0); /* listen */
  const sparse_belief b = graph_belief(g, start);
  assert_near(idm_graph_reward(g, &b, 0), -1, 1e-15);
  assert_near(idm_graph_reward(g, &b, 1), -45, 1e-12);
  /* Its bound is the backup of the successors' bounds. */
  const branch *listen = graph_branch(g, start, 0);
  double sum = 0;
  for (size_t e = listen->edge; e < listen->edge + listen->edges; e++)
    sum += g->edge[e].p * idm_graph_upper(g, g->edge[e].node);
  assert_near(listen->upper, -1 + 0.95 * sum, 1e-9);
  assert_true(listen->expanded && listen->edges == 2);
  for (size_t other = 1; other < 3; other++)
    assert_true(graph_branch(g, start, other)->upper <= listen->upper);
  close_graph(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(looks_until_the_best_stays_the_best)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
