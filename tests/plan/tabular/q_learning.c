/* Tests q-learning against the exact planners it converges to and against a direct loop: residuals,
 * unvisited states, and rejected problems. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

enum { STATES = 3, ACTIONS = 3, PAIRS = STATES * ACTIONS };

static idm_problem *maintenance(const char *planner)
{
  idm_problem *problem;
  char text[64];
  check(idm_problem_read("example:maintenance", &problem, NULL, &support_error));
  snprintf(text, sizeof text, "planner=%s", planner);
  support_assign(problem, text);
  return problem;
}

/* Q and pi, [state][action], and V, [state]. */
typedef struct plan {
  double quality[PAIRS];
  double policy[PAIRS];
  double value[STATES];
  idm_plan_report report;
} plan;

/* Plans by acting in the environment, or from the transitions of a log. */
static plan plan_from(const idm_problem *problem, const idm_batch *opt_batch)
{
  plan p;
  idm_workspace *workspace;
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                             &support_error));
  if (opt_batch) check(idm_workspace_set_batch(workspace, opt_batch, &support_error));
  check(idm_plan(problem->theta, NULL, workspace, &p.report, &support_error));
  for (size_t s = 0; s < STATES; s++) {
    double corner[STATES] = {0};
    corner[s] = 1;
    idm_plan_quality(workspace, 0, 0, corner, p.quality + s * ACTIONS);
    idm_plan_policy(workspace, 0, corner, p.policy + s * ACTIONS, NULL);
    p.value[s] = idm_plan_value(workspace, 0, corner);
  }
  idm_workspace_destroy(workspace);
  return p;
}

static plan plan_of(const idm_problem *problem)
{
  return plan_from(problem, NULL);
}

static double farthest(const double *a, const double *b, size_t count, double shift)
{
  double most = 0;
  for (size_t i = 0; i < count; i++) most = fmax(most, fabs(a[i] - b[i] - shift));
  return most;
}

/* --- limits --------------------------------------------------------------------------------- */

/* Means over seeds, because a single one may be close by chance. */
static void values_tend_to_the_best_ones(void **state)
{
  (void)state;
  enum { BUDGETS = 3, SEEDS = 8 };
  idm_problem *exact = maintenance("rational"), *learner = maintenance("q-learning");
  const plan best = plan_of(exact);
  double error[BUDGETS] = {0}, residual[BUDGETS] = {0};
  for (size_t i = 0; i < BUDGETS; i++) {
    learner->agent.budget = i == 0 ? 10000 : i == 1 ? 100000 : 1000000;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
      learner->agent.seed = seed;
      const plan found = plan_of(learner);
      error[i] += farthest(found.quality, best.quality, PAIRS, 0) / SEEDS;
      residual[i] += found.report.learning.residual / SEEDS;
      assert_int_equal(found.report.stop, IDM_STOP_BUDGET);
      assert_int_equal(found.report.learning.transitions, learner->agent.budget);
      assert_int_equal(found.report.learning.unvisited, 0);
      assert_true(isinf(found.report.bound));
      if (i == BUDGETS - 1) assert_memory_equal(found.policy, best.policy, sizeof best.policy);
    }
  }
  print_message("errors %g, %g, %g of values up to 84; residuals %g, %g, %g\n", error[0], error[1],
                error[2], residual[0], residual[1], residual[2]);
  assert_true(error[1] < error[0] / 2 && error[2] < error[1] / 1.5);
  assert_true(error[2] < 0.5);
  assert_true(residual[1] < residual[0] / 2 && residual[2] < residual[1] / 1.5);
  idm_problem_destroy(exact);
  idm_problem_destroy(learner);
}

/* With little exploration it still finds the best policy. */
static void it_may_explore_less(void **state)
{
  (void)state;
  idm_problem *exact = maintenance("rational"), *learner = maintenance("q-learning");
  learner->agent.exploration = 0.2;
  learner->agent.budget = 300000;
  const plan best = plan_of(exact), found = plan_of(learner);
  assert_memory_equal(found.policy, best.policy, sizeof best.policy);
  idm_problem_destroy(exact);
  idm_problem_destroy(learner);
}

/* The policy is that of `maximum-entropy`, and values exceed its values by alpha log|U| / (1 -
 * gamma): in the mean over seeds policies are within .02 and values within .5 of 86 at nine million
 * transitions. */
static void soft_values_tend_to_maximum_entropy(void **state)
{
  (void)state;
  enum { BUDGETS = 3, SEEDS = 4 };
  idm_problem *exact = maintenance("maximum-entropy"), *learner = maintenance("soft-q-learning");
  support_assign(exact, "alpha=2");
  support_assign(learner, "alpha=2");
  const plan best = plan_of(exact);
  const double excess = 2 * log(ACTIONS) / (1 - 0.9);
  learner->agent.step_power = 0.8;
  double off[BUDGETS] = {0}, tracks_environment[BUDGETS] = {0};
  for (size_t i = 0; i < BUDGETS; i++) {
    learner->agent.budget = i == 0 ? 10000 : i == 1 ? 300000 : 9000000;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
      learner->agent.seed = seed;
      const plan found = plan_of(learner);
      off[i] += farthest(found.policy, best.policy, PAIRS, 0) / SEEDS;
      tracks_environment[i] += farthest(found.value, best.value, STATES, excess) / SEEDS;
      assert_int_equal(found.report.stop, IDM_STOP_BUDGET);
    }
  }
  print_message("policies differ by %g, %g, %g, values by %g, %g, %g\n", off[0], off[1], off[2],
                tracks_environment[0], tracks_environment[1], tracks_environment[2]);
  assert_true(off[1] < off[0] && off[2] < off[1] && off[2] < 0.02);
  assert_true(tracks_environment[1] < tracks_environment[0] &&
              tracks_environment[2] < tracks_environment[1] && tracks_environment[2] < 0.5);
  idm_problem_destroy(exact);
  idm_problem_destroy(learner);
}

/* As alpha tends to 0 the limit is q-learning; a positive alpha is required. */
static void soft_values_have_a_limit(void **state)
{
  (void)state;
  idm_problem *hard = maintenance("q-learning"), *soft = maintenance("soft-q-learning");
  hard->agent.budget = soft->agent.budget = 20000;
  support_assign(soft, "alpha=1e-9");
  const plan best = plan_of(hard), found = plan_of(soft);
  assert_true(farthest(found.quality, best.quality, PAIRS, 0) < 1e-6);
  support_assign(soft, "alpha=0");
  idm_workspace *workspace;
  assert_int_equal(
      idm_workspace_create(soft->setting, soft->theta, &soft->agent, &workspace, &support_error),
      IDM_INPUT);
  idm_problem_destroy(hard);
  idm_problem_destroy(soft);
}

/* alpha in units of the range of the utilities (22) gives the same agent. */
static void alpha_may_be_in_units_of_the_range(void **state)
{
  (void)state;
  idm_problem *problem = maintenance("soft-q-learning");
  problem->agent.budget = 5000;
  support_assign(problem, "alpha=2.2");
  const plan absolute = plan_of(problem);
  support_assign(problem, "alpha=0.1");
  support_assign(problem, "alpha_unit=range");
  const plan relative = plan_of(problem);
  assert_true(farthest(relative.quality, absolute.quality, PAIRS, 0) < 1e-9);
  idm_problem_destroy(problem);
}

/* Alpha is recovered from a log of choices, by differences of a deterministic likelihood. */
static void it_is_fitted_back(void **state)
{
  (void)state;
  idm_problem *problem = maintenance("soft-q-learning");
  problem->agent.budget = 5000;
  support_assign(problem, "alpha=3");
  idm_workspace *workspace = support_plan(problem, NULL);
  const idm_simulation simulation = {.trajectories = 60, .steps = 20, .seed = 4};
  idm_data *data;
  check(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &data,
                     &support_error));
  check(idm_problem_set_free(problem, "alpha", &support_error));
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  idm_posterior *posterior = NULL;
  idm_projection projection;
  check(idm_project(problem, data, idm_inverse_find("map"), &settings, NULL, &posterior,
                    &projection, NULL, &support_error));
  print_message("alpha 3 is found as %g\n", posterior->value[0]);
  assert_near(posterior->value[0], 3, 0.15);
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* --- updates -------------------------------------------------------------------------------- */

/* The direct loop, and the residual by its definition. */
static double plain_loop(const idm_problem *p, double *q)
{
  enum { episode = 100 };
  const idm_setting *setting = p->setting;
  const double *utility = p->theta->block[IDM_UTILITY].value;
  const double discount = idm_theta_scalar(p->theta, IDM_DISCOUNT);
  double visits[PAIRS] = {0}, count[PAIRS][STATES] = {{0}}, residual = 0;
  idm_random random;
  idm_random_init(&random, p->agent.seed, 0);
  size_t s = idm_random_choice(&random, setting->start, STATES);
  memset(q, 0, PAIRS * sizeof *q);
  for (long i = 0; i < p->agent.budget; i++) {
    (void)idm_random_uniform(&random); /* exploration, always */
    const size_t u = (size_t)(idm_random_uniform(&random) * ACTIONS);
    const size_t next =
        idm_random_choice(&random, setting->transition + (u * STATES + s) * STATES, STATES);
    double best = -INFINITY;
    for (size_t v = 0; v < ACTIONS; v++) best = fmax(best, q[next * ACTIONS + v]);
    const size_t pair = s * ACTIONS + u;
    count[pair][next]++;
    q[pair] += pow(++visits[pair], -p->agent.step_power) *
               (utility[u * STATES + s] + discount * best - q[pair]);
    s = (i + 1) % episode ? next : idm_random_choice(&random, setting->start, STATES);
  }
  for (size_t pair = 0; pair < PAIRS; pair++) {
    double ahead = 0;
    for (size_t next = 0; next < STATES; next++) {
      double best = -INFINITY;
      for (size_t v = 0; v < ACTIONS; v++) best = fmax(best, q[next * ACTIONS + v]);
      ahead += count[pair][next] / visits[pair] * best;
    }
    residual +=
        fabs(utility[pair % ACTIONS * STATES + pair / ACTIONS] + discount * ahead - q[pair]);
  }
  return residual / PAIRS;
}

static void it_is_a_plain_loop(void **state)
{
  (void)state;
  idm_problem *problem = maintenance("q-learning");
  problem->agent.budget = 5000;
  for (uint64_t seed = 3; seed < 6; seed++) {
    double expected[PAIRS];
    problem->agent.seed = seed;
    const double residual = plain_loop(problem, expected);
    const plan found = plan_of(problem);
    assert_true(farthest(found.quality, expected, PAIRS, 0) < 1e-10);
    assert_near(found.report.learning.residual, residual, 1e-10);
  }
  idm_problem_destroy(problem);
}

/* The result is a function of theta and the seed, to the last bit. */
static void the_seed_decides(void **state)
{
  (void)state;
  idm_problem *problem = maintenance("q-learning");
  problem->agent.budget = 3000;
  problem->agent.exploration = 0.5;
  const plan first = plan_of(problem), again = plan_of(problem);
  assert_memory_equal(first.quality, again.quality, sizeof first.quality);
  problem->agent.seed = 2;
  const plan other = plan_of(problem);
  assert_true(memcmp(first.quality, other.quality, sizeof first.quality) != 0);
  idm_problem_destroy(problem);
}

/* A terminal action has no successors, so its value is exact after one visit. */
static void terminal_actions_end_episodes(void **state)
{
  (void)state;
  idm_problem *problem = maintenance("q-learning"), *exact = maintenance("rational");
  problem->agent.budget = 1000000;
  problem->setting->terminal[2] = problem->setting->ends[2] = true;
  exact->setting->terminal[2] = exact->setting->ends[2] = true;
  const plan found = plan_of(problem), best = plan_of(exact);
  for (size_t s = 0; s < STATES; s++) assert_true(found.quality[s * ACTIONS + 2] == -12);
  assert_true(farthest(found.quality, best.quality, PAIRS, 0) < 1);
  idm_problem_destroy(problem);
  idm_problem_destroy(exact);
}

/* --- learning from a log -------------------------------------------------------------------- */

/* Transitions of an MDP whose third action is never taken in its last state, with rewards that
 * differ from the utilities. */
enum { LOGGED = 60 };
typedef struct log_transitions {
  uint32_t state[LOGGED], action[LOGGED], next[LOGGED];
  double reward[LOGGED];
} log_transitions;

static idm_batch log_of(log_transitions *l, bool rewards)
{
  idm_random random;
  idm_random_init(&random, 5, 0);
  for (size_t i = 0; i < LOGGED; i++) {
    l->state[i] = (uint32_t)(i % STATES);
    l->action[i] = (uint32_t)(i / STATES % (l->state[i] == STATES - 1 ? ACTIONS - 1 : ACTIONS));
    l->next[i] = i % 10 == 9 ? IDM_BATCH_END : (uint32_t)(idm_random_uniform(&random) * STATES);
    l->reward[i] = 10 * idm_random_uniform(&random) - 8;
  }
  return (idm_batch){LOGGED, l->state, l->action, l->next, rewards ? l->reward : NULL, 0};
}

/* One sweep of value iteration on the empirical process, in which only observed actions are
 * available. */
static void empirical_sweep(const idm_problem *p, const idm_batch *b, double alpha, double *q)
{
  const double *utility = p->theta->block[IDM_UTILITY].value;
  const double discount = idm_theta_scalar(p->theta, IDM_DISCOUNT);
  double sum[PAIRS] = {0}, visits[PAIRS] = {0}, value[STATES];
  for (size_t i = 0; i < b->count; i++) visits[b->state[i] * ACTIONS + b->action[i]]++;
  for (size_t s = 0; s < STATES; s++) {
    double best = -INFINITY, total = 0;
    for (size_t k = s * ACTIONS; k < (s + 1) * ACTIONS; k++)
      if (visits[k] > 0) best = fmax(best, q[k]);
    for (size_t k = s * ACTIONS; k < (s + 1) * ACTIONS; k++)
      if (visits[k] > 0 && alpha > 0) total += exp((q[k] - best) / alpha);
    value[s] = best + (alpha > 0 ? alpha * log(total) : 0);
  }
  for (size_t i = 0; i < b->count; i++)
    sum[b->state[i] * ACTIONS + b->action[i]] +=
        (b->reward ? b->reward[i] : utility[b->action[i] * STATES + b->state[i]]) +
        (b->next[i] == IDM_BATCH_END ? 0 : discount * value[b->next[i]]);
  for (size_t k = 0; k < PAIRS; k++) q[k] = visits[k] > 0 ? sum[k] / visits[k] : 0;
}

/* With repeated draws from a log, Q converges to that of its empirical frequencies. */
static void a_log_is_learnt_by_heart(void **state)
{
  (void)state;
  enum { SEEDS = 2 };
  for (int k = 0; k < 4; k++) {
    const bool soft = k % 2, rewards = k / 2;
    log_transitions l;
    const idm_batch batch = log_of(&l, rewards);
    idm_problem *problem = maintenance(soft ? "soft-q-learning" : "q-learning");
    if (soft) support_assign(problem, "alpha=2");
    double best[PAIRS] = {0}, error[2] = {0}, residual = 0;
    for (int i = 0; i < 2000; i++) empirical_sweep(problem, &batch, soft ? 2 : 0, best);
    for (int i = 0; i < 2; i++)
      for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        problem->agent.budget = i ? 500000 : 20000;
        problem->agent.seed = seed;
        const plan found = plan_from(problem, &batch);
        error[i] += farthest(found.quality, best, PAIRS, 0) / SEEDS;
        residual = found.report.learning.residual;
        assert_int_equal(found.report.learning.log_transitions, LOGGED);
        /* An action that never occurred keeps its initial value and is not chosen. */
        assert_true(found.quality[PAIRS - 1] == 0);
        assert_true(found.policy[PAIRS - 1] == 0);
      }
    print_message("errors %g and %g, residual %g\n", error[0], error[1], residual);
    assert_true(error[1] < error[0] / 8 && error[1] < 0.02 && residual < 0.01);
    idm_problem_destroy(problem);
  }
}

/* Learning from a log needs no environment; with neither an environment nor a log learning fails.
 * States without actions in the log keep their initial values. */
static void a_log_stands_in_for_the_environment(void **state)
{
  (void)state;
  static const char text[] = "states: [a, b, c]\nactions: [x, y, z]\nobservations: states\n"
                             "discount: 0.5\nutility: {x: 1, y: 0, z: [4, 4, 4]}\n"
                             "models: [{transition: {\"*\": identity}}]\n"
                             "agent: {planner: q-learning, budget: 20000}\n";
  idm_problem *problem = support_yaml(text);
  idm_workspace *workspace;
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                             &support_error));
  assert_int_equal(idm_plan(problem->theta, NULL, workspace, NULL, &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "dynamics of the environment are not given"));
  /* a -x-> a or b; b -y-> b; z is never taken. */
  uint32_t from[] = {0, 0, 1}, action[] = {0, 0, 1}, next[] = {0, 1, 1};
  const idm_batch batch = {3, from, action, next, NULL, 0};
  check(idm_workspace_set_batch(workspace, &batch, &support_error));
  idm_workspace_destroy(workspace);
  const plan found = plan_from(problem, &batch);
  assert_near(found.value[0], 4.0 / 3, 0.01); /* V = 1 + V/4 */
  assert_true(found.value[1] == 0 && found.value[2] == 0);
  assert_true(found.policy[0] == 1 && found.policy[ACTIONS + 1] == 1);
  assert_int_equal(found.report.learning.unvisited, 1);
  for (size_t u = 0; u < ACTIONS; u++) assert_near(found.policy[2 * ACTIONS + u], 1.0 / 3, 1e-15);
  idm_problem_destroy(problem);
}

static void other_transitions_are_refused(void **state)
{
  (void)state;
  idm_problem *problem = maintenance("q-learning");
  idm_workspace *workspace = support_plan(problem, NULL);
  uint32_t low[] = {0}, high[] = {3};
  const idm_batch wrong[] = {{1, high, low, low, NULL, 0},
                             {1, low, high, low, NULL, 0},
                             {1, low, low, high, NULL, 0},
                             {0, low, low, low, NULL, 0}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    assert_int_equal(idm_workspace_set_batch(workspace, &wrong[i], &support_error), IDM_USAGE);
  idm_workspace_destroy(workspace);
  support_assign(problem, "planner=rational");
  workspace = support_plan(problem, NULL);
  const idm_batch one = {1, low, low, low, NULL, 0};
  assert_int_equal(idm_workspace_set_batch(workspace, &one, &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "does not learn from the transitions"));
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* --- unvisited states and rejected problems ------------------------------------------------- */

/* The last state cannot be reached from the first. */
static void states_never_sampled_are_counted(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml("states: [a, b, c]\n"
                                      "actions: [x, y, z]\n"
                                      "observations: states\n"
                                      "start: a\n"
                                      "discount: 0.5\n"
                                      "transition:\n"
                                      "  x: {a: {b: 1}, b: {a: 1}, c: {c: 1}}\n"
                                      "  \"*\": {a: {a: 0.5, b: 0.5}, b: {b: 1}, c: {a: 1}}\n"
                                      "utility: {x: 1, y: [2, 0, 5], z: -1}\n"
                                      "agent: {planner: q-learning, budget: 2000}\n");
  const plan found = plan_of(problem);
  assert_non_null(problem->setting->moves);
  assert_int_equal(found.report.learning.unvisited, 1);
  for (size_t u = 0; u < ACTIONS; u++) {
    assert_true(found.quality[2 * ACTIONS + u] == 0);
    assert_near(found.policy[2 * ACTIONS + u], 1.0 / ACTIONS, 1e-15);
  }
  assert_true(found.value[2] == 0 && found.value[0] > 2);
  idm_problem_destroy(problem);
}

static void refuses(idm_problem *problem, const char *why)
{
  idm_workspace *workspace;
  assert_int_equal(idm_workspace_create(problem->setting, problem->theta, &problem->agent,
                                        &workspace, &support_error),
                   IDM_INPUT);
  if (!strstr(support_error.message, why)) fail_msg("%s", support_error.message);
  idm_problem_destroy(problem);
}

static void it_says_what_it_cannot_learn_from(void **state)
{
  (void)state;
  idm_problem *hidden;
  check(idm_problem_read("example:tiger", &hidden, NULL, &support_error));
  support_assign(hidden, "planner=q-learning");
  refuses(hidden, "states are hidden");
  idm_problem *finite = maintenance("q-learning");
  support_assign(finite, "horizon=5");
  refuses(finite, "has no horizon");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_tend_to_the_best_ones),
      cmocka_unit_test(it_may_explore_less),
      cmocka_unit_test(soft_values_tend_to_maximum_entropy),
      cmocka_unit_test(soft_values_have_a_limit),
      cmocka_unit_test(alpha_may_be_in_units_of_the_range),
      cmocka_unit_test(it_is_fitted_back),
      cmocka_unit_test(it_is_a_plain_loop),
      cmocka_unit_test(the_seed_decides),
      cmocka_unit_test(terminal_actions_end_episodes),
      cmocka_unit_test(a_log_is_learnt_by_heart),
      cmocka_unit_test(a_log_stands_in_for_the_environment),
      cmocka_unit_test(other_transitions_are_refused),
      cmocka_unit_test(states_never_sampled_are_counted),
      cmocka_unit_test(it_says_what_it_cannot_learn_from),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
