/* Tests discounting by delay: naive and sophisticated selves against decision trees for any D; if D
 * is a power, both equal exponential discounting. */
#include "plan/control/control.h"

#include <math.h>
#include <string.h>

#include "data/log.h"
#include "plan/control/plain.h"
#include "plan/plan.h"
#include "plan/workspace.h"

/* --- decision trees ------------------------------------------------------------------------- */

/* An MDP and its discount function D(t). */
typedef struct tree {
  const idm_problem *problem;
  bool naive;
  double rate;
  double power; /* of D = power^t; 0: D = 1/(1 + rate t) */
} tree;

static double counts(const tree *t, int delay)
{
  return t->power > 0 ? pow(t->power, delay) : 1 / (1 + t->rate * delay);
}

static double quality(const tree *t, int delay, int left, size_t s, size_t u);

/* V at a delay as predicted by a naive self, and the policy it predicts. */
static double foreseen(const tree *t, int delay, int left, size_t s, double *opt_pi)
{
  const idm_theta *theta = t->problem->theta;
  double q[PLAIN_MOST];
  if (left == 0) return 0;
  for (size_t u = 0; u < theta->sizes.actions; u++) q[u] = quality(t, delay, left, s, u);
  return plain_soft(idm_theta_scalar(theta, IDM_ALPHA), theta->sizes.actions,
                    idm_theta_values(theta, IDM_ACTION_PRIOR, 0), q, opt_pi);
}

/* The discounted sum from s on with `left` steps left, the first at a delay, under the policies of
 * the future selves: every path of the tree is enumerated. */
static double realised(const tree *t, int delay, int left, size_t s)
{
  const idm_theta *theta = t->problem->theta;
  const idm_sizes n = theta->sizes;
  const double *prior = idm_theta_values(theta, IDM_ACTION_PRIOR, 0);
  const double alpha = idm_theta_scalar(theta, IDM_ALPHA);
  double pi[PLAIN_MOST], sum = 0;
  if (left == 0) return 0;
  foreseen(t, 0, left, s, pi);
  for (size_t u = 0; u < n.actions; u++) {
    if (!(pi[u] > 0)) continue;
    const double own =
        idm_theta_values(theta, IDM_UTILITY, 0)[u * n.states + s] - alpha * log(pi[u] / prior[u]);
    sum += pi[u] * counts(t, delay) * own;
    for (size_t next = 0; next < n.states && !t->problem->setting->terminal[u]; next++)
      sum += pi[u] *
             idm_theta_values(theta, IDM_TRANSITION, 0)[(u * n.states + s) * n.states + next] *
             realised(t, delay + 1, left - 1, next);
  }
  return sum;
}

static double quality(const tree *t, int delay, int left, size_t s, size_t u)
{
  const idm_theta *theta = t->problem->theta;
  const size_t k = theta->sizes.states;
  const double step = counts(t, delay + 1) / counts(t, delay);
  double q = idm_theta_values(theta, IDM_UTILITY, 0)[u * k + s];
  for (size_t next = 0; next < k && !t->problem->setting->terminal[u]; next++) {
    const double p = idm_theta_values(theta, IDM_TRANSITION, 0)[(u * k + s) * k + next];
    q += p * (t->naive ? step * foreseen(t, delay + 1, left - 1, next, NULL)
                       : realised(t, 1, left - 1, next));
  }
  return q;
}

enum { STATES = 3, ACTIONS = 2, STEPS = 3 };

static idm_problem *make_mdp(uint64_t seed)
{
  idm_random random;
  idm_random_init(&random, seed, 8);
  idm_problem *problem = support_problem((support_shape){STATES, ACTIONS, STATES, 1, 5}, &random);
  idm_setting *setting = problem->setting;
  for (size_t i = 0; i < ACTIONS * STATES * STATES; i++)
    setting->emission[i] = problem->theta->block[IDM_EMISSION].value[i] =
        i / STATES % STATES == i % STATES;
  setting->fully_observed = true;
  setting->horizon = STEPS;
  setting->terminal[1] = setting->ends[1] = seed % 2;
  support_set(problem, seed % 3 ? 0.3 + 0.2 * (double)seed : 0, INFINITY, 0);
  return problem;
}

/* Compares Q of every self in every state. */
static void compare(const idm_problem *problem, const tree *t)
{
  idm_workspace *w = support_plan(problem, NULL);
  for (int left = 1; left <= STEPS; left++)
    for (size_t s = 0; s < STATES; s++) {
      double z[STATES] = {0}, q[ACTIONS];
      z[s] = 1;
      idm_plan_quality(w, 0, STEPS - left, z, q);
      for (size_t u = 0; u < ACTIONS; u++) assert_near(q[u], quality(t, 0, left, s, u), 1e-12);
    }
  idm_workspace_destroy(w);
}

static void test_trees(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 6; seed++)
    for (int naive = 0; naive < 2; naive++) {
      idm_problem *problem = make_mdp(seed);
      problem->agent.discounting = naive ? IDM_NAIVE : IDM_SOPHISTICATED;
      tree t = {.problem = problem, .naive = naive, .rate = 0.2 + 0.5 * (double)seed};
      idm_theta_set_scalar(problem->theta, IDM_DELAY_RATE, t.rate);
      /* The discount of the file is not used. */
      idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.123);
      compare(problem, &t);
      /* With D a power of the delay the same trees are those of exponential discounting. */
      problem->agent.discounting = IDM_EXPONENTIAL;
      t.power = 0.8;
      idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, t.power);
      compare(problem, &t);
      idm_problem_destroy(problem);
    }
}

/* --- beliefs -------------------------------------------------------------------------------- */

enum { LEFT = 4 };

static idm_problem *make_pomdp(uint64_t seed)
{
  idm_random random;
  idm_random_init(&random, seed, 9);
  idm_problem *problem = support_problem((support_shape){2, 3, 2, 2, 12}, &random);
  problem->setting->horizon = LEFT;
  problem->setting->terminal[2] = problem->setting->ends[2] = seed % 2;
  support_set(problem, 0.4, seed % 3 ? 0.9 : -0.7, 0.3);
  idm_theta_set_scalar(problem->theta, IDM_DELAY_RATE, 0.6);
  return problem;
}

/* Utility, surprise and complexity costs of one step under the policies of a backup, and the mean
 * of x after it. K is linear in the successor values. */
static double step_of(idm_problem *problem, const idm_lattice *lattice, const plain_result *now,
                      const double *z, const double *x, bool own)
{
  const idm_theta *theta = problem->theta;
  const idm_sizes n = theta->sizes;
  static const double nothing[64];
  const double *prior = idm_theta_values(theta, IDM_ACTION_PRIOR, 0);
  const double *model_prior = idm_theta_values(theta, IDM_MODEL_PRIOR, 0);
  double sum = 0;
  for (size_t u = 0; u < n.actions; u++) {
    double part = 0;
    for (size_t s = 0; own && s < n.states; s++)
      part += z[s] * idm_theta_values(theta, IDM_UTILITY, 0)[u * n.states + s];
    if (own) part -= idm_theta_scalar(theta, IDM_ALPHA) * log(now->pi[u] / prior[u]);
    for (size_t m = 0; m < theta->models && !problem->setting->terminal[u]; m++) {
      const double sigma = now->sigma[u * theta->models + m];
      const double surprise = plain_k(problem, lattice, nothing, z, u, m);
      part += sigma * (own ? surprise : plain_k(problem, lattice, x, z, u, m) - surprise);
      if (own) part -= idm_theta_scalar(theta, IDM_BETA) * sigma * log(sigma / model_prior[m]);
    }
    sum += now->pi[u] * part;
  }
  return sum;
}

/* Compares the layers of values of the planner with directly computed ones, point by point. */
static void compare_lattice(idm_problem *problem, bool naive)
{
  problem->agent.discounting = naive ? IDM_NAIVE : IDM_SOPHISTICATED;
  idm_workspace *w = support_plan(problem, NULL);
  const control *c = w->content;
  const size_t points = c->lattice->points;
  double later[LEFT + 2][64] = {{0}}; /* W_j, j from 1 */
  assert_true(points <= 64);
  for (int left = 1; left <= LEFT; left++) {
    double continuation[64] = {0}, next[64], before[64];
    for (int delay = left - 1; naive && delay > 0; delay--) {
      idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, (1 + 0.6 * delay) / (1.6 + 0.6 * delay));
      for (size_t i = 0; i < points; i++)
        next[i] =
            plain_backup(problem, c->lattice, 0, continuation, c->lattice->belief + 2 * i).value;
      memcpy(continuation, next, sizeof continuation);
    }
    memcpy(before, later[1], sizeof before);
    idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, naive ? 1 / 1.6 : 1);
    double made[LEFT + 2][64] = {{0}};
    for (size_t i = 0; i < points; i++) {
      const double *z = c->lattice->belief + 2 * i;
      const plain_result now =
          plain_backup(problem, c->lattice, 0, naive ? continuation : before, z);
      assert_near(control_layer(c, 0, left)[i], now.value, 1e-11);
      for (int j = 1; j <= LEFT; j++)
        made[j][i] = step_of(problem, c->lattice, &now, z, NULL, true) / (1 + 0.6 * j) +
                     step_of(problem, c->lattice, &now, z, later[j + 1], false);
    }
    memcpy(later, made, sizeof later);
  }
  idm_workspace_destroy(w);
}

static void test_lattices(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 4; seed++)
    for (int naive = 0; naive < 2; naive++) {
      idm_problem *problem = make_pomdp(seed);
      compare_lattice(problem, naive);
      idm_problem_destroy(problem);
    }
}

/* With delay_rate 0 there is no discounting: equal to a discount of 1, for both evaluations. */
static void test_no_delay(void **state)
{
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    idm_problem *problem = make_pomdp((uint64_t)kind);
    const double z[2] = {0.37, 0.63};
    double expected[3], found[3];
    problem->agent.evaluate = kind % 2 ? IDM_INTERPOLATE : IDM_LOOKAHEAD;
    idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 1);
    idm_theta_set_scalar(problem->theta, IDM_DELAY_RATE, 0);
    idm_workspace *plain = support_plan(problem, NULL);
    problem->agent.discounting = kind / 2 ? IDM_NAIVE : IDM_SOPHISTICATED;
    idm_workspace *w = support_plan(problem, NULL);
    for (int steps = 0; steps < LEFT; steps++) {
      idm_plan_quality(plain, 0, steps, z, expected);
      idm_plan_quality(w, 0, steps, z, found);
      for (size_t u = 0; u < 3; u++) assert_near(found[u], expected[u], 1e-12);
      assert_near(idm_plan_value_after(w, 0, steps, z), idm_plan_value_after(plain, 0, steps, z),
                  1e-12);
    }
    idm_workspace_destroy(plain);
    idm_workspace_destroy(w);
    idm_problem_destroy(problem);
  }
}

/* The values that a sophisticated self predicts are realised, so the duality holds. For a naive
 * self it does not. */
static void test_forward(void **state)
{
  (void)state;
  for (int naive = 0; naive < 2; naive++) {
    idm_problem *problem = make_pomdp(2);
    idm_forward f;
    problem->agent.discounting = naive ? IDM_NAIVE : IDM_SOPHISTICATED;
    idm_workspace *w = support_plan(problem, NULL);
    check(idm_plan_forward(w, 0, &f, NULL, &support_error));
    const double had =
        f.internal_return - 0.4 * f.decision - 0.9 * f.specification - 0.3 * f.recognition;
    if (naive)
      assert_true(had < f.value - 1e-4);
    else
      assert_near(had, f.value, 1e-11);
    idm_workspace_destroy(w);
    idm_problem_destroy(problem);
  }
}

/* Less now, or more later: far ahead both selves wait, at the last step neither does. The
 * sophisticated self predicts this and takes the commitment. */
static void test_reversal(void **state)
{
  (void)state;
  static const char text[] =
      "states: [early, late, locked, ripe, over]\nactions: [take, wait, bind]\n"
      "observations: states\nstart: [1, 0, 0, 0, 0]\ndiscount: 0.9\nhorizon: 4\n"
      "transition:\n"
      "  take: [[0, 0, 0, 0, 1], [0, 0, 0, 0, 1], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, "
      "1]]\n"
      "  wait: [[0, 1, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, "
      "1]]\n"
      "  bind: [[0, 0, 1, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, "
      "1]]\n"
      "utility: {take: [0, 6, 0, 0, 0], wait: [0, 0, 0, 10, 0], bind: [-0.1, -20, 0, -20, "
      "-20]}\n"
      "agent: {planner: rational, discounting: naive, delay_rate: 1}\n";
  idm_problem *problem = support_yaml(text);
  double pi[3];
  const double early[5] = {1, 0, 0, 0, 0}, late[5] = {0, 1, 0, 0, 0};
  idm_workspace *w = support_plan(problem, NULL);
  const idm_belief_ops *ops = w->planner->belief;
  ops->policy(w->content, 0, 0, early, pi, NULL, w->scratch);
  assert_near(pi[1], 1, 0); /* it plans to wait for the 10 */
  ops->policy(w->content, 0, 1, late, pi, NULL, w->scratch);
  assert_near(pi[0], 1, 0); /* and takes the 6: 6 > 10/2 */
  idm_workspace_destroy(w);
  problem->agent.discounting = IDM_SOPHISTICATED;
  w = support_plan(problem, NULL);
  w->planner->belief->policy(w->content, 0, 0, early, pi, NULL, w->scratch);
  assert_near(pi[2], 1, 0);
  idm_workspace_destroy(w);
  /* Backward induction requires a horizon. */
  idm_error error = {0};
  problem->setting->horizon = 0;
  assert_int_equal(
      idm_workspace_create(problem->setting, problem->theta, &problem->agent, &w, &error),
      IDM_INPUT);
  assert_non_null(strstr(error.message, "requires a horizon"));
  idm_problem_destroy(problem);
}

/* Only parameters with an effect can be free, and there is no exact gradient. */
static void test_freedom(void **state)
{
  (void)state;
  idm_parameters *parameters;
  idm_error error = {0};
  idm_problem *problem = make_pomdp(1);
  check(idm_problem_set_free(problem, "delay_rate", &support_error));
  assert_int_equal(idm_parameters_create(problem, &parameters, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "has no effect under"));
  problem->agent.discounting = IDM_NAIVE;
  check(idm_parameters_create(problem, &parameters, &support_error));
  idm_parameters_destroy(parameters);
  check(idm_problem_set_free(problem, "discount", &support_error));
  assert_int_equal(idm_parameters_create(problem, &parameters, &error), IDM_INPUT);
  idm_data *data = support_simulate(problem, (idm_simulation){.trajectories = 2, .steps = 2});
  idm_prefix_tree *prefixes;
  idm_workspace *w = support_plan(problem, NULL);
  check(idm_evidence_tree(problem, data, &prefixes, &support_error));
  assert_false(idm_gradient_possible(data, prefixes, w));
  idm_prefix_tree_destroy(prefixes);
  idm_workspace_destroy(w);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_trees),    cmocka_unit_test(test_lattices),
      cmocka_unit_test(test_no_delay), cmocka_unit_test(test_forward),
      cmocka_unit_test(test_reversal), cmocka_unit_test(test_freedom),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
