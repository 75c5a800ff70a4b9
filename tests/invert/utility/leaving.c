/* POMDPs of deviations from a policy graph: transition rows, and best responses with a bonus for
 * leaving, against optimal stopping by sweeps. */
#include "invert/utility/belief_mdp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/hidden_support.h"

typedef struct stage {
  hidden h;
  idm_problem *problem;
  idm_pomdp *pomdp;
  idm_policy_graph plan;
  idm_deviation_pomdp *deviation;
} stage;

static stage open_stage(double sure, size_t most)
{
  stage s = {.h = hidden_tiger()};
  s.problem = hidden_problem(&s.h, NULL, NULL, NULL);
  idm_data data = {.sizes = s.problem->theta->sizes};
  check(idm_pomdp_create(s.problem, &data, "somebody", &s.pomdp, &support_error));
  check(idm_policy_graph_expand(s.pomdp, hidden_listen, &sure, most, &s.plan, &support_error));
  check(idm_deviation_create(s.pomdp, &s.plan, &s.deviation, &support_error));
  return s;
}

static void close_stage(stage *s)
{
  idm_deviation_destroy(s->deviation);
  idm_policy_graph_free(&s->plan);
  idm_pomdp_destroy(s->pomdp);
  idm_problem_destroy(s->problem);
}

/* Every row sums to 1 and has the environment's joint distribution of observations and states. */
static void test_rows(void **state)
{
  (void)state;
  stage s = open_stage(0.9, 50);
  const idm_pomdp *m = &s.deviation->pomdp;
  assert_int_equal(m->n.states, 12);
  for (size_t row = 0; row < 3 * 12; row++) {
    double law[2][2] = {{0}}, sum = 0;
    const size_t u = row / 12, from = row % 12 % 2;
    for (size_t i = m->first[row]; i < m->first[row + 1]; i++) {
      law[m->observation[i]][m->next[i] % 2] += m->p[i];
      sum += m->p[i];
      /* After a deviation there is no return, and a deviating action leaves the plan. */
      const bool stays = row % 12 >= 2 && s.plan.action[row % 12 / 2 - 1] == (int32_t)u;
      assert_int_equal(m->next[i] >= 2, stays);
    }
    assert_near(sum, 1, 1e-15);
    for (size_t x = 0; x < 2; x++)
      for (size_t t = 0; t < 2; t++)
        assert_near(law[x][t], s.h.transition[u][from][t] * s.h.emission[u][t][x], 1e-15);
  }
  close_stage(&s);
}

/* The best value with bonuses, as optimal stopping: V(n) = max of following the plan and of Q*(z,u)
 * + bonus for deviating. */
static double stop_plainly(const stage *s, const double *utility, const double *bonus)
{
  static hidden_beliefs b;
  double quality[HIDDEN_MOST][HIDDEN_ACTIONS], v[HIDDEN_MOST] = {0};
  hidden_reach(&s->h, &b);
  hidden_quality(&s->h, &b, utility, quality);
  for (int round = 0; round < 2000; round++)
    for (size_t n = 0; n < s->plan.count; n++) {
      const double *z = s->plan.belief + 2 * n;
      const size_t u = (size_t)s->plan.action[n];
      size_t i = 0;
      while (fabs(b.z[i][0] - z[0]) > 1e-8) i++;
      double best = z[0] * utility[2 * u] + z[1] * utility[2 * u + 1];
      for (size_t x = 0; x < 2; x++)
        best += s->h.discount * b.p[i][u][x] * v[s->plan.next[2 * n + x]];
      for (size_t other = 0; other < 3; other++)
        if (other != u) best = fmax(best, quality[i][other] + bonus[n]);
      v[n] = best;
    }
  return v[0];
}

static void test_pay(void **state)
{
  (void)state;
  const double utility[] = {-1, -1, -100, 10, 10, -100};
  stage s = open_stage(0.9, 50);
  idm_random random;
  idm_random_init(&random, 3, 0);
  double reward[36], count[36], counts[6], left[5], bonus[5];
  idm_best_response best_response = {.count = count};
  for (int trial = 0; trial < 8; trial++) {
    /* Bonuses are 0 at first and then grow. */
    for (size_t n = 0; n < 5; n++) bonus[n] = 4 * trial * idm_random_uniform(&random);
    idm_deviation_reward(s.deviation, &s.plan, utility, bonus, reward);
    check(idm_best_response_find(&s.deviation->pomdp, reward, 1e-4, 300, &best_response, NULL,
                                 &support_error));
    const double best = stop_plainly(&s, utility, bonus);
    assert_true(best_response.upper >= best - 1e-6 && best_response.upper <= best + 1e-4 + 1e-6);
    assert_near(best_response.value, best, 1e-5);
    idm_deviation_counts(s.deviation, &s.plan, count, counts, left);
    double worth = 0, ever = 0, steps = 0;
    for (size_t e = 0; e < 6; e++) worth += counts[e] * utility[e];
    for (size_t e = 0; e < 6; e++) steps += counts[e];
    for (size_t n = 0; n < 5; n++) worth += left[n] * bonus[n];
    for (size_t n = 0; n < 5; n++) ever += left[n];
    assert_near(worth, best_response.value, 1e-9);
    assert_near(steps, 20, 1e-10);
    assert_true(ever <= 1 + 1e-12);
  }
  close_stage(&s);
}

/* At an approximate edge the plan ends: from there every action is allowed without a bonus. */
static void test_guess(void **state)
{
  (void)state;
  const double utility[] = {-1, -1, -100, 10, 10, -100}, bonus[] = {-1000, -1000};
  stage s = open_stage(0.9, 2);
  double reward[18], count[18];
  idm_best_response best_response = {.count = count};
  assert_int_equal(s.plan.count, 2);
  assert_true(s.plan.approximate[1]);
  idm_deviation_reward(s.deviation, &s.plan, utility, bonus, reward);
  check(idm_best_response_find(&s.deviation->pomdp, reward, 1e-4, 300, &best_response, NULL,
                               &support_error));
  assert_near(best_response.value, 19.3714, 1e-5);
  close_stage(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_pay),
                                     cmocka_unit_test(test_guess)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
