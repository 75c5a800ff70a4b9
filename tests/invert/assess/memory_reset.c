/* Tests predictions with a memory that is reset in every trajectory, against the predictions for a
 * log in which every trajectory is of another agent. */
#include "invert/assess/residual.h"

#include <math.h>
#include <stdlib.h>

#include "invert/assess/context_support.h"
#include "invert/assess/crowd_support.h"

enum { LEARNERS = 4, STEPS = 15 };
#define RATES "inverse_temperature,learning_rate_gain,learning_rate_loss"

static void open_learners(assessed_fit *a, bool united)
{
  idm_problem *problem = population_bandit();
  idm_data *data = simulate_learners(problem, LEARNERS, 1, STEPS, 7);
  if (united) assign_one_agent(data);
  assessed_fit_open(a, problem, data, RATES);
}

static void test_learners(void **state)
{
  (void)state;
  assessed_fit one, each;
  decision_residuals r, other;
  history_predictor v;
  bool seen;
  open_learners(&one, true);
  open_learners(&each, false);
  check(idm_residual_open(&r, &one.q, &support_error));
  check(idm_residual_open(&other, &each.q, &support_error));
  double *found = calloc(r.strata->nodes * r.actions, sizeof *found);
  double *expected = calloc(other.strata->nodes * r.actions, sizeof *expected);
  assert_true(found && expected);
  check(idm_memory_reset_predict(&one.q, &r, found, &seen, &support_error));
  assert_true(seen);
  /* Both predictions use the same parameters. */
  check(idm_predictor_open(&v, &each.f, other.strata, &support_error));
  check(idm_predictor_at(&v, r.strata->centre, NULL, expected, &seen, &support_error));
  idm_predictor_close(&v);
  double furthest = 0;
  for (size_t t = 0; t < LEARNERS; t++) {
    size_t node = one.f.tree->last[t], same = each.f.tree->last[t];
    for (size_t row = 0; row < STEPS; row++) {
      for (size_t u = 0; u < r.actions; u++) {
        const size_t cell = node * r.actions + u;
        assert_near(found[cell], expected[same * r.actions + u], 1e-12);
        furthest = fmax(furthest, fabs(found[cell] - r.probability[cell]));
      }
      node = (size_t)one.f.tree->node[node].parent;
      same = (size_t)each.f.tree->node[same].parent;
    }
  }
  assert_true(furthest > 0.1);
  /* An agent with one trajectory has nothing to forget. */
  check(idm_memory_reset_predict(&each.q, &other, expected, &seen, &support_error));
  assert_false(seen);
  free(found);
  free(expected);
  idm_residual_close(&r);
  idm_residual_close(&other);
  assessed_fit_close(&one);
  assessed_fit_close(&each);
}

/* A planner's belief is reset in every trajectory anyway. */
static void test_planner(void **state)
{
  (void)state;
  static const double alpha = 0.3;
  assessed_fit a;
  decision_residuals r;
  bool seen = true;
  idm_problem *problem = make_reversal(alpha);
  assessed_fit_open(&a, problem, simulate_agents(problem, &alpha, 1, 3, 10, 1), "alpha");
  check(idm_residual_open(&r, &a.q, &support_error));
  double *found = calloc(r.strata->nodes * r.actions, sizeof *found);
  assert_non_null(found);
  check(idm_memory_reset_predict(&a.q, &r, found, &seen, &support_error));
  assert_false(seen);
  free(found);
  idm_residual_close(&r);
  assessed_fit_close(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_learners),
                                     cmocka_unit_test(test_planner)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
