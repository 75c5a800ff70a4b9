/* Policy graphs: links, and values forwards and backwards against Gaussian elimination. */
#include "invert/utility/belief_mdp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/hidden_support.h"

static idm_pomdp *mind_of(const idm_problem *problem)
{
  idm_data data = {.sizes = problem->theta->sizes};
  idm_pomdp *pomdp;
  check(idm_pomdp_create(problem, &data, "somebody", &pomdp, &support_error));
  return pomdp;
}

static void test_links(void **state)
{
  (void)state;
  const hidden h = hidden_tiger();
  idm_problem *problem = hidden_problem(&h, NULL, NULL, NULL);
  idm_pomdp *pomdp = mind_of(problem);
  idm_policy_graph g;
  double sure = 0.9;
  check(idm_policy_graph_expand(pomdp, hidden_listen, &sure, 50, &g, &support_error));
  assert_int_equal(g.count, 5);
  const size_t start = idm_policy_graph_find(&g, (const double[]){0.5, 0.5});
  const size_t left = idm_policy_graph_find(&g, (const double[]){0.85, 0.15});
  const size_t right = idm_policy_graph_find(&g, (const double[]){0.15, 0.85});
  const size_t most = idm_policy_graph_find(&g, (const double[]){0.7225 / 0.745, 0.0225 / 0.745});
  assert_int_equal(start, 0);
  assert_true(left != IDM_NO_NODE && right != IDM_NO_NODE && most != IDM_NO_NODE);
  assert_true(idm_policy_graph_find(&g, (const double[]){0.851, 0.149}) == IDM_NO_NODE);
  assert_int_equal(idm_policy_graph_nearest(&g, (const double[]){0.851, 0.149}), left);
  assert_int_equal(g.action[start], 0);
  assert_int_equal(g.action[most], 2);
  assert_int_equal(g.next[start * 2], left);
  assert_int_equal(g.next[start * 2 + 1], right);
  assert_int_equal(g.next[left * 2], most);
  assert_int_equal(g.next[left * 2 + 1], start);
  assert_int_equal(g.next[most * 2], start);
  for (size_t i = 0; i < g.count * 2; i++) assert_false(g.approximate[i]);
  double share;
  check(idm_policy_graph_approximated(pomdp, &g, &share, NULL, &support_error));
  assert_true(share == 0);
  idm_policy_graph_free(&g);
  idm_pomdp_destroy(pomdp);
  idm_problem_destroy(problem);
}

/* Two nodes for a policy that needs five: the other edges are approximate. After one observation
 * the agent is at a node, or at none. */
static void test_guesses(void **state)
{
  (void)state;
  const hidden h = hidden_tiger();
  idm_problem *problem = hidden_problem(&h, NULL, NULL, NULL);
  idm_pomdp *pomdp = mind_of(problem);
  idm_policy_graph g;
  double share;
  idm_policy_graph_begin(pomdp, &g);
  check(idm_policy_graph_add(&g, (const double[]){0.5, 0.5}, 0, &support_error));
  check(idm_policy_graph_add(&g, (const double[]){0.85, 0.15}, 2, &support_error));
  check(idm_policy_graph_link(pomdp, &g, &support_error));
  assert_true(!g.approximate[0] && g.approximate[1] && !g.approximate[2] && !g.approximate[3]);
  assert_int_equal(g.next[0], 1);
  assert_int_equal(g.next[1], 0);
  check(idm_policy_graph_approximated(pomdp, &g, &share, NULL, &support_error));
  /* From the start: half of the mass at once, and half of the rest every two steps. */
  assert_near(share, 0.95 * 0.5 / (1 - 0.95 * 0.95 * 0.5), 1e-14);
  idm_policy_graph_free(&g);
  idm_pomdp_destroy(pomdp);
  idm_problem_destroy(problem);
}

/* Value of a graph, including approximate edges: V = u + discount P V over (node, state) by
 * elimination. */
static void solve_plainly(const hidden *h, const idm_policy_graph *g, const double *utility,
                          double *v)
{
  const size_t n = g->count * h->states;
  double *a = calloc(n * (n + 1), sizeof *a);
  assert_non_null(a);
  for (size_t i = 0; i < n; i++) {
    const size_t node = i / h->states, s = i % h->states, u = (size_t)g->action[node];
    a[i * (n + 1) + i] += 1;
    a[i * (n + 1) + n] = utility[u * h->states + s];
    for (size_t x = 0; x < h->observations; x++)
      for (size_t t = 0; t < h->states; t++)
        a[i * (n + 1) + g->next[node * h->observations + x] * h->states + t] -=
            h->discount * h->transition[u][s][t] * h->emission[u][t][x];
  }
  for (size_t k = 0; k < n; k++) /* diagonally dominant: no pivoting */
    for (size_t i = 0; i < n; i++) {
      const double f = i == k ? 0 : a[i * (n + 1) + k] / a[k * (n + 1) + k];
      for (size_t j = k; j <= n && f != 0; j++) a[i * (n + 1) + j] -= f * a[k * (n + 1) + j];
    }
  for (size_t i = 0; i < n; i++) v[i] = a[i * (n + 1) + n] / a[i * (n + 1) + i];
  free(a);
}

/* All three agree, with and without approximate edges, and with held and tied entries. */
static void test_worth(void **state)
{
  (void)state;
  const hidden h = hidden_tiger();
  idm_problem *problem = hidden_problem(&h, NULL, NULL, NULL);
  check(idm_problem_set_free(problem, "{utility: {entries: {good: [u1.s1, u2.s0], listen: [u0]}}}",
                             &support_error));
  idm_pomdp *pomdp = mind_of(problem);
  idm_free_utility *free_utility;
  check(idm_free_utility_create(problem, &free_utility, &support_error));
  assert_int_equal(free_utility->count, 2);
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  double sure = 0.9999, x[2], v[200], count[6], value[200 * 3];
  for (int entry = 0; entry < 6; entry++)
    if (free_utility->number[entry] >= 0) x[free_utility->number[entry]] = utility[entry];
  for (size_t most = 1; most <= 40; most += 13) {
    idm_policy_graph g;
    check(idm_policy_graph_expand(pomdp, hidden_listen, &sure, most, &g, &support_error));
    assert_true(g.count <= most);
    solve_plainly(&h, &g, utility, v);
    check(idm_policy_graph_values(pomdp, &g, free_utility, value, NULL, &support_error));
    check(idm_policy_graph_counts(pomdp, &g, count, NULL, &support_error));
    for (size_t i = 0; i < g.count * 2; i++)
      assert_near(value[3 * i] * x[0] + value[3 * i + 1] * x[1] + value[3 * i + 2], v[i], 1e-11);
    double worth = 0, steps = 0;
    for (size_t e = 0; e < 6; e++) worth += count[e] * utility[e];
    for (size_t e = 0; e < 6; e++) steps += count[e];
    assert_near(worth, 0.5 * (v[0] + v[1]), 1e-11);
    assert_near(steps, 1 / (1 - h.discount), 1e-12);
    idm_policy_graph_free(&g);
  }
  idm_free_utility_destroy(free_utility);
  idm_pomdp_destroy(pomdp);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_links), cmocka_unit_test(test_guesses),
                                     cmocka_unit_test(test_worth)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
