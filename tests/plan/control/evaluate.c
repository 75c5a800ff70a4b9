/* Tests values and policies at any belief against direct computations from the values on the
 * lattice. */
#include "plan/control/control.h"
#include "plan/control/plain.h"

static const support_shape shapes[] = {{2, 3, 2, 3, 17}, {3, 2, 3, 2, 6}, {4, 3, 2, 2, 4}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* Sentinel after the end of the scratch, which must not be overwritten. */
static const double guard = -12345.5;

/* A random problem. Half of them include cases that lookahead treats separately: merged surprise or
 * not, a Dirichlet prior, an award, a terminal and a forgetful action. */
static idm_problem *drawn(int i, idm_random *random)
{
  const support_shape shape = shapes[i % SHAPES];
  idm_problem *problem = support_problem(shape, random);
  idm_theta *theta = problem->theta;
  support_set(problem, support_signed(random, 0.1, 2), support_signed(random, 0.1, 2),
              support_signed(random, 0.1, 1));
  idm_theta_set_scalar(theta, IDM_DISCOUNT, 0.8);
  plain_blur(problem, 1);
  problem->agent.surprise = i & 1 ? IDM_SURPRISE_BELIEF : IDM_SURPRISE_OBSERVATION;
  if (i & 2) {
    check(idm_theta_resize(theta, IDM_BELIEF_PRIOR, shape.states, 1, &support_error));
    for (size_t s = 0; s < shape.states; s++)
      theta->block[IDM_BELIEF_PRIOR].value[s] = 0.5 + 2 * idm_random_uniform(random);
  }
  if (i & 4) {
    theta->block[IDM_CERTAINTY].value[0] = 0.6137;
    theta->block[IDM_CERTAINTY].value[1] = 1.5;
    problem->setting->terminal[0] = problem->setting->ends[0] = true;
  }
  for (size_t m = 0; (i & 8) && m < shape.models; m++) plain_forget(problem, 1, m);
  if (i & 16)
    idm_theta_set_scalar(theta, IDM_ETA, 0); /* no surprise: lookahead has a separate code path */
  return problem;
}

static control *content_of(idm_problem *problem, idm_evaluate evaluate)
{
  problem->agent.evaluate = evaluate;
  return plain_content(problem);
}

/* Value and policies of a content at a belief. */
typedef struct answer {
  double value;
  double pi[PLAIN_MOST];
  double log_pi[PLAIN_MOST];
  double sigma[PLAIN_MOST * PLAIN_MOST];
} answer;

static answer ask(const control *c, size_t variant, int steps, const double *z)
{
  const size_t count = idm_control_scratch(c);
  double *scratch = malloc((count + 1) * sizeof *scratch);
  assert_non_null(scratch);
  scratch[count] = guard;
  answer a;
  a.value = idm_control_value(c, variant, steps, z, scratch);
  idm_control_policy(c, variant, steps, z, a.pi, a.sigma, scratch);
  idm_control_log_policy(c, variant, steps, z, a.log_pi, scratch);
  double alone[PLAIN_MOST]; /* the specification policy is optional */
  idm_control_policy(c, variant, steps, z, alone, NULL, scratch);
  for (size_t u = 0; u < c->sizes.actions; u++) assert_true(alone[u] == a.pi[u]);
  assert_true(scratch[count] == guard);
  free(scratch);
  return a;
}

/* Policies are distributions, and log_policy is the logarithm. */
static void check_answer(const control *c, const answer *a)
{
  double total = 0;
  for (size_t u = 0; u < c->sizes.actions; u++) {
    double models = 0;
    for (size_t m = 0; m < c->models; m++) models += a->sigma[u * c->models + m];
    assert_near(models, 1, 1e-12);
    assert_true(a->pi[u] >= 0);
    total += a->pi[u];
    if (a->pi[u] > 1e-300) assert_near(a->log_pi[u], log(a->pi[u]), 1e-12);
  }
  assert_near(total, 1, 1e-12);
}

static void same(const control *c, const answer *a, const answer *b, double tolerance)
{
  assert_near(a->value, b->value, tolerance);
  for (size_t u = 0; u < c->sizes.actions; u++) {
    assert_near(a->pi[u], b->pi[u], tolerance);
    assert_near(a->log_pi[u], b->log_pi[u], tolerance);
    for (size_t m = 0; m < c->models; m++)
      assert_near(a->sigma[u * c->models + m], b->sigma[u * c->models + m], tolerance);
  }
}

static void both_ways_agree_on_the_lattice(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 41, 0);
  for (int i = 0; i < 48; i++) {
    idm_problem *problem = drawn(i, &random);
    problem->setting->horizon = i % 3 ? 0 : 4;
    control *look = content_of(problem, IDM_LOOKAHEAD);
    control *table = content_of(problem, IDM_INTERPOLATE);
    for (size_t point = 0; point < look->lattice->points; point++) {
      const double *z = look->lattice->belief + point * look->sizes.states;
      const answer a = ask(look, 0, 0, z), b = ask(table, 0, 0, z);
      same(look, &a, &b, 1e-8);
      check_answer(look, &a);
      check_answer(table, &b);
      const int left = problem->setting->horizon ? 3 : 1; /* values with one step less to go */
      look->numbers.arrival = idm_control_arrival(look, left + 1);
      double k[PLAIN_MOST * PLAIN_MOST], q[PLAIN_MOST], pi[PLAIN_MOST];
      const double v = idm_control_point(look, control_layer(look, 0, left), point, k, q);
      assert_near(a.value, v + plain_award(problem->theta, z), 1e-11);
      plain_soft(look->numbers.alpha, look->sizes.actions, look->numbers.action_prior, q, pi);
      for (size_t u = 0; u < look->sizes.actions; u++) assert_near(a.pi[u], pi[u], 1e-10);
    }
    idm_control_destroy(look);
    idm_control_destroy(table);
    idm_problem_destroy(problem);
  }
}

static void lookahead_is_one_plain_step_anywhere(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 42, 0);
  for (int i = 0; i < 96; i++) {
    idm_problem *problem = drawn(i, &random);
    control *c = content_of(problem, IDM_LOOKAHEAD);
    for (int j = 0; j < 20; j++) {
      double z[PLAIN_MOST];
      support_distribution(&random, z, c->sizes.states);
      if (j < 3) /* at a corner */
        for (size_t s = 0; s < c->sizes.states; s++) z[s] = s == (size_t)j % c->sizes.states;
      const answer a =
          ask(c, 0, j, z); /* without a horizon, the number of steps taken is irrelevant */
      const plain_result p = plain_backup(problem, c->lattice, 0, control_layer(c, 0, 1), z);
      check_answer(c, &a);
      assert_near(a.value, p.value + plain_award(problem->theta, z), 1e-11);
      for (size_t u = 0; u < c->sizes.actions; u++) {
        assert_near(a.pi[u], p.pi[u], 1e-10);
        for (size_t m = 0; m < c->models; m++)
          assert_near(a.sigma[u * c->models + m], p.sigma[u * c->models + m], 1e-10);
      }
    }
    idm_control_destroy(c);
    idm_problem_destroy(problem);
  }
}

/* The part that is linear; the award is discontinuous. */
static double value_less_award(const idm_problem *problem, const answer *a, double at)
{
  return a->value - plain_award(problem->theta, (double[]){1 - at, at});
}

static void interpolation_is_linear_between_neighbours(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 43, 0);
  for (int i = 0; i < 48; i += SHAPES) { /* two states */
    idm_problem *problem = drawn(i, &random);
    control *c = content_of(problem, IDM_INTERPOLATE);
    const int r = problem->agent.resolution;
    for (int cell = 0; cell < r; cell++) {
      const double f = idm_random_uniform(&random);
      const double low = (double)cell / r, high = (cell + 1.0) / r;
      const double at = (1 - f) * low + f * high;
      const answer a = ask(c, 0, 0, (double[]){1 - low, low});
      const answer b = ask(c, 0, 0, (double[]){1 - high, high});
      const answer mid = ask(c, 0, 0, (double[]){1 - at, at});
      check_answer(c, &mid);
      assert_near(value_less_award(problem, &mid, at),
                  (1 - f) * value_less_award(problem, &a, low) +
                      f * value_less_award(problem, &b, high),
                  1e-11);
      for (size_t u = 0; u < c->sizes.actions; u++)
        assert_near(mid.pi[u], (1 - f) * a.pi[u] + f * b.pi[u], 1e-11);
      for (size_t j = 0; j < c->sizes.actions * c->models; j++)
        assert_near(mid.sigma[j], (1 - f) * a.sigma[j] + f * b.sigma[j], 1e-11);
    }
    idm_control_destroy(c);
    idm_problem_destroy(problem);
  }
}

/* Thousands of nats against an action: its probability underflows, but its logarithm does not. */
static void logarithms_survive_underflow(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 44, 0);
  for (int i = 0; i < 24; i++) {
    idm_problem *problem = drawn(i & 3, &random);
    idm_theta_set_scalar(problem->theta, IDM_ALPHA, 1);
    const size_t states = problem->theta->sizes.states;
    for (size_t s = 0; s < states; s++) problem->theta->block[IDM_UTILITY].value[s] = -4000;
    control *look = content_of(problem, IDM_LOOKAHEAD);
    control *table = content_of(problem, IDM_INTERPOLATE);
    double z[PLAIN_MOST];
    support_distribution(&random, z, states);
    const answer a = ask(look, 0, 0, z), b = ask(table, 0, 0, z);
    assert_true(a.pi[0] < 1e-300 && b.pi[0] < 1e-300);
    const plain_result p = plain_backup(problem, look->lattice, 0, control_layer(look, 0, 1), z);
    const double *prior = look->numbers.action_prior;
    assert_near(a.log_pi[0], log(prior[0]) + p.q[0] - p.value, 1e-11);
    assert_true(a.log_pi[0] < -3900 && isfinite(b.log_pi[0]) && b.log_pi[0] < -3900);
    /* Between vertices: the logarithm of the mean of the probabilities at the vertices. */
    uint32_t vertex[PLAIN_MOST];
    double weight[PLAIN_MOST], scratch[2 * PLAIN_MOST];
    const size_t count = idm_lattice_locate(table->lattice, z, vertex, weight, scratch);
    double best = -INFINITY, total = 0, logs[PLAIN_MOST];
    for (size_t v = 0; v < count; v++) {
      logs[v] = ask(table, 0, 0, table->lattice->belief + vertex[v] * states).log_pi[0];
      best = fmax(best, logs[v]);
    }
    for (size_t v = 0; v < count; v++) total += weight[v] * exp(logs[v] - best);
    assert_near(b.log_pi[0], best + log(total), 1e-11);
    idm_control_destroy(look);
    idm_control_destroy(table);
    idm_problem_destroy(problem);
  }
}

/* An action outside the prior's support has probability 0 and logarithm -inf, at every alpha. */
static void excluded_actions_stay_excluded(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 45, 0);
  const double alphas[] = {0.0, -0.0, 0.5, -0.5, INFINITY};
  for (int i = 0; i < 10; i++) {
    idm_problem *problem = drawn(0, &random);
    memcpy(problem->theta->block[IDM_ACTION_PRIOR].value, (double[]){0.4, 0, 0.6},
           3 * sizeof(double));
    idm_theta_set_scalar(problem->theta, IDM_ALPHA, alphas[i % 5]);
    control *c = content_of(problem, i < 5 ? IDM_LOOKAHEAD : IDM_INTERPOLATE);
    const answer a = ask(c, 0, 0, (double[]){0.415, 0.585});
    check_answer(c, &a);
    assert_true(a.pi[1] == 0 && a.log_pi[1] == -INFINITY);
    idm_control_destroy(c);
    idm_problem_destroy(problem);
  }
}

static void steps_taken_shorten_the_horizon(void **state)
{
  (void)state;
  enum { horizon = 5 };
  idm_random random;
  idm_random_init(&random, 46, 0);
  for (int i = 0; i < 24; i++) {
    idm_problem *problem = drawn(i, &random);
    idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, i & 1 ? 1 : 0.9);
    const idm_evaluate evaluate = i & 2 ? IDM_LOOKAHEAD : IDM_INTERPOLATE;
    problem->setting->horizon = horizon;
    control *whole = content_of(problem, evaluate);
    double z[PLAIN_MOST];
    support_distribution(&random, z, whole->sizes.states);
    double last = NAN;
    for (int steps = 0; steps < horizon; steps++) {
      problem->setting->horizon = horizon; /* the content refers to the setting */
      const answer a = ask(whole, 0, steps, z);
      check_answer(whole, &a);
      assert_true(a.value != last || whole->any_terminal);
      last = a.value;
      problem->setting->horizon = horizon - steps;
      control *rest = content_of(problem, evaluate);
      const answer b = ask(rest, 0, 0, z);
      same(whole, &a, &b, 1e-13);
      idm_control_destroy(rest);
    }
    /* Beyond the horizon the last layer is used. */
    problem->setting->horizon = horizon;
    const answer end = ask(whole, 0, horizon - 1, z), past = ask(whole, 0, horizon + 7, z);
    same(whole, &end, &past, 0);
    idm_control_destroy(whole);
    idm_problem_destroy(problem);
  }
}

/* The policy of the exploratory planner is a softmax at its own temperature over a Q solved at
 * alpha. */
static void an_own_temperature_is_laid_over_q(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 47, 0);
  for (int i = 0; i < 24; i++) {
    idm_problem *problem = drawn(i, &random);
    support_set(problem, 0, INFINITY, 0);
    idm_theta_set_scalar(problem->theta, IDM_TEMPERATURE, 0.7);
    problem->agent.evaluate = i & 1 ? IDM_LOOKAHEAD : IDM_INTERPOLATE;
    const idm_solver solver = {.method = IDM_METHOD_NEWTON, .tolerance = 1e-11, .limit = 200};
    idm_plan_report report;
    void *content;
    check(idm_control_create_exploratory(problem->setting, problem->theta, &problem->agent,
                                         &content, &support_error));
    check(idm_control_plan(content, problem->theta, &solver, &report, &support_error));
    const control *c = content;
    for (size_t point = 0; point < c->lattice->points; point++) {
      const double *z = c->lattice->belief + point * c->sizes.states;
      const answer a = ask(c, 0, 0, z);
      const plain_result p = plain_backup(problem, c->lattice, 0, control_layer(c, 0, 1), z);
      double pi[PLAIN_MOST];
      plain_soft(0.7, c->sizes.actions, c->numbers.action_prior, p.q, pi);
      check_answer(c, &a);
      assert_near(a.value, p.value + plain_award(problem->theta, z), 1e-9);
      for (size_t u = 0; u < c->sizes.actions; u++) assert_near(a.pi[u], pi[u], 1e-8);
    }
    idm_control_destroy(content);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_ways_agree_on_the_lattice),
      cmocka_unit_test(lookahead_is_one_plain_step_anywhere),
      cmocka_unit_test(interpolation_is_linear_between_neighbours),
      cmocka_unit_test(logarithms_survive_underflow),
      cmocka_unit_test(excluded_actions_stay_excluded),
      cmocka_unit_test(steps_taken_shorten_the_horizon),
      cmocka_unit_test(an_own_temperature_is_laid_over_q),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
