/* Comparison of two agents: distances invariant under potential shaping, divergences against sums
 * written out here, refusals. */
#include "invert/project.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "idm/extension/inverse.h"
#include "invert/utility/walk.h"
#include "support.h"

static idm_agent_distance compare(const idm_problem *a, const idm_problem *b)
{
  idm_agent_distance apart;
  check(idm_compare(&(idm_compared_agent){a, NULL}, &(idm_compared_agent){b, NULL}, &apart,
                    &support_error));
  return apart;
}

static double *utility_of(const idm_problem *problem)
{
  return problem->theta->block[IDM_UTILITY].value;
}

/* utility[action][state] = scale (utility + discount P phi - phi) + shift. */
static void reshape(idm_problem *problem, double scale, const double *phi, double shift)
{
  const double *tau = problem->setting->transition;
  double *utility = utility_of(problem);
  for (size_t e = 0; e < 6; e++) {
    double next = 0;
    for (size_t k = 0; k < 3; k++) next += 0.9 * tau[e * 3 + k] * phi[k];
    utility[e] = scale * (utility[e] + next - phi[e % 3]) + shift;
  }
}

/* C = utility + discount P V - V, with V the value of the uniform policy, by 2,000 sweeps. */
static void plain_canonical(const idm_problem *problem, double *c)
{
  const double *tau = problem->setting->transition;
  const double *utility = utility_of(problem);
  double v[3] = {0};
  for (int sweep = 0; sweep < 2000; sweep++) {
    double next[3] = {0};
    for (size_t e = 0; e < 6; e++) {
      c[e] = utility[e];
      for (size_t k = 0; k < 3; k++) c[e] += 0.9 * tau[e * 3 + k] * v[k];
      next[e % 3] += 0.5 * c[e];
      c[e] -= v[e % 3];
    }
    memcpy(v, next, sizeof v);
  }
}

/* sqrt((1 - correlation) / 2). */
static double plain_distance(const idm_problem *a, const idm_problem *b)
{
  double x[6], y[6], mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
  plain_canonical(a, x);
  plain_canonical(b, y);
  for (size_t e = 0; e < 6; e++) {
    mx += x[e] / 6;
    my += y[e] / 6;
  }
  for (size_t e = 0; e < 6; e++) {
    xx += (x[e] - mx) * (x[e] - mx);
    yy += (y[e] - my) * (y[e] - my);
    xy += (x[e] - mx) * (y[e] - my);
  }
  return sqrt((1 - xy / sqrt(xx * yy)) / 2);
}

/* The distance is 0 under shaping, scale and shift, 1 between opposite utilities, and between 0 and
 * 1 otherwise. */
static void test_wants(void **state)
{
  (void)state;
  idm_problem *a = support_yaml(WALK_MATRICES);
  idm_problem *b = support_yaml(WALK_MATRICES);
  const double phi[] = {1, -2, 5};
  reshape(b, 2.5, phi, -4);
  assert_true(compare(a, b).has_distance);
  assert_near(compare(a, b).distance, 0, 1e-7);
  reshape(b, -1, phi, 0);
  assert_near(compare(a, b).distance, 1, 1e-7);
  idm_problem *c = support_yaml(WALK_MATRICES);
  utility_of(c)[0] += 1;
  const double between = compare(a, c).distance;
  assert_near(between, plain_distance(a, c), 1e-9);
  assert_near(compare(c, a).distance, between, 1e-12);
  idm_problem_destroy(a);
  idm_problem_destroy(b);
  idm_problem_destroy(c);
}

/* policy[state][action] for the given theta. */
static void plan(const idm_problem *problem, const idm_theta *theta, double *policy)
{
  idm_workspace *workspace;
  check(idm_workspace_create(problem->setting, theta, &problem->agent, &workspace, &support_error));
  check(idm_plan(theta, NULL, workspace, NULL, &support_error));
  for (size_t s = 0; s < 3; s++) {
    double corner[3] = {0};
    corner[s] = 1;
    idm_plan_policy(workspace, 0, corner, policy + 2 * s, NULL);
  }
  idm_workspace_destroy(workspace);
}

/* KL divergence of two policies over 2,000 discounted steps of the first. */
static double plain_divergence(const idm_problem *problem, const double *p, const double *q)
{
  const double *tau = problem->setting->transition;
  double law[3], sum = 0, weight = 0.1;
  memcpy(law, problem->setting->start, sizeof law);
  for (int t = 0; t < 2000; t++, weight *= 0.9) {
    double next[3] = {0};
    for (size_t s = 0; s < 3; s++)
      for (size_t u = 0; u < 2; u++) {
        const double mass = law[s] * p[2 * s + u];
        if (mass > 0) sum += weight * mass * log(p[2 * s + u] / q[2 * s + u]);
        for (size_t k = 0; k < 3; k++) next[k] += mass * tau[(u * 3 + s) * 3 + k];
      }
    memcpy(law, next, sizeof law);
  }
  return sum;
}

static void test_policies(void **state)
{
  (void)state;
  idm_problem *a = support_yaml(WALK_MATRICES);
  idm_problem *b = support_yaml(WALK); /* the same transitions, given row by row */
  utility_of(b)[0] += 2;
  double p[6], q[6];
  plan(a, a->theta, p);
  plan(b, b->theta, q);
  const idm_agent_distance apart = compare(a, b);
  assert_true(apart.has_divergence);
  assert_near(apart.kl[0], plain_divergence(a, p, q), 1e-10);
  assert_near(apart.kl[1], plain_divergence(a, q, p), 1e-10);
  assert_true(fabs(apart.kl[0] - apart.kl[1]) > 1e-6);
  /* The divergence is infinite if one agent has probability 0 for an action of the other. */
  check(idm_problem_set(b, "planner=deterministic-optimal", &support_error));
  const idm_agent_distance hard = compare(a, b);
  assert_true(hard.kl[0] == INFINITY && isfinite(hard.kl[1]));
  idm_problem_destroy(a);
  idm_problem_destroy(b);
}

/* The utility at the centre of a posterior; its policy is the mean over draws. */
static void test_run(void **state)
{
  enum { DRAWS = 5 };
  (void)state;
  idm_problem *problem = support_yaml(WALK_MATRICES);
  idm_problem *fitted = support_yaml(WALK_MATRICES);
  check(idm_problem_set_free(fitted, "{utility: {entries: [left.a], prior: {normal: [0, 1]}}}",
                             &support_error));
  const idm_simulation simulation = {.trajectories = 5, .steps = 5, .seed = 1};
  idm_data *data = support_simulate(problem, simulation);
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.chains = 1;
  settings.draws = DRAWS;
  settings.warmup = 20;
  settings.threads = 1;
  idm_posterior *posterior;
  check(idm_inverse_fit(idm_inverse_find("bayes"), fitted, data, &settings, NULL, &posterior, NULL,
                        &support_error));
  const double entry = utility_of(fitted)[0];
  double mean = 0, averaged[6] = {0}, p[6];
  for (size_t k = 0; k < DRAWS; k++) {
    posterior->unconstrained[k] = 4 * (double)k - 6;
    mean += posterior->unconstrained[k] / DRAWS;
    utility_of(fitted)[0] = posterior->unconstrained[k];
    plan(fitted, fitted->theta, p);
    for (size_t i = 0; i < 6; i++) averaged[i] += p[i] / DRAWS;
  }
  utility_of(fitted)[0] = entry;
  idm_agent_distance apart;
  check(idm_compare(&(idm_compared_agent){problem, NULL}, &(idm_compared_agent){fitted, posterior},
                    &apart, &support_error));
  plan(problem, problem->theta, p);
  assert_near(apart.kl[0], plain_divergence(problem, p, averaged), 1e-9);
  assert_near(apart.kl[1], plain_divergence(problem, averaged, p), 1e-9);
  utility_of(fitted)[0] = mean;
  assert_near(apart.distance, compare(problem, fitted).distance, 1e-12);
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  idm_problem_destroy(fitted);
}

#define RULE                                                                                       \
  "states: [a, b, c]\nactions: [left, right]\nobservations: states\ndiscount: 0.9\nstart: a\n"     \
  "transition:\n"                                                                                  \
  "  left: [[1, 0, 0], [0.8, 0.2, 0], [0, 1, 0]]\n"                                                \
  "  right: [[0.2, 0.8, 0], [0, 0, 1], [0, 0, 1]]\n"                                               \
  "utility: {left: 0, right: 0}\n"                                                                 \
  "agent: {planner: decision-rule, weights: {left: [0, 1, 2, 3], right: [0, 0, 0, 0]}}\n"

/* With hidden states utilities are compared and policies by state are not; a decision rule has
 * policies only. */
static void test_halves(void **state)
{
  (void)state;
  idm_problem *hidden = support_diag(1, INFINITY, 0);
  const idm_agent_distance one = compare(hidden, hidden);
  assert_true(one.has_distance && !one.has_divergence && one.distance == 0 && isnan(one.kl[0]));
  idm_problem *rule = support_yaml(RULE);
  idm_problem *walk = support_yaml(WALK_MATRICES);
  const idm_agent_distance other = compare(rule, walk);
  assert_true(!other.has_distance && other.has_divergence && isnan(other.distance) &&
              other.kl[0] > 0);
  idm_problem_destroy(hidden);
  idm_problem_destroy(rule);
  idm_problem_destroy(walk);
}

#define FIRST "states: [a, b]\nactions: [u, v]\nobservations: states\n"
#define REST  "utility: {u: 1, v: [0, 2]}\nagent: {planner: maximum-entropy, alpha: 1}\n"
#define MOVES "transition: {u: identity, v: uniform}\n"

static void test_refusals(void **state)
{
  (void)state;
  static const struct {
    const char *yaml;
    const char *words;
  } other[] = {
      {"states: [a, c]\nactions: [u, v]\nobservations: states\ndiscount: 0.9\n" MOVES REST,
       "among the states one problem has 'b' where the other has 'c'"},
      {"states: [a, b]\nactions: [u, v, w]\nobservations: states\ndiscount: 0.9\n"
       "transition: {\"*\": uniform}\nutility: {u: 1, v: [0, 2], w: 0}\n"
       "agent: {planner: maximum-entropy, alpha: 1}\n",
       "one problem has 2 actions and the other 3"},
      {FIRST "discount: 0.8\n" MOVES REST, "their discount"},
      {FIRST "discount: 0.9\ntransition: {\"*\": uniform}\n" REST, "their `transition`"},
      {FIRST "discount: 0.9\ntransition: {u: identity, v: [[0.4, 0.6], [0.5, 0.5]]}\n" REST,
       "their `transition`"},
      {FIRST "discount: 0.9\nstart: [1, 0]\n" MOVES REST, "their `start`"},
      {FIRST "discount: 0.9\nterminal: [v]\n" MOVES REST, "which actions are terminal"},
      {FIRST "discount: 0.9\nhorizon: 3\n" MOVES REST, "their horizon"},
      {FIRST "discount: 0.9\naction_prior: [1, 3]\n" MOVES REST, "their `action_prior`"},
      {"states: [a, b]\nactions: [u, v]\nobservations: [a, b]\nobservation: {\"*\": identity}\n"
       "discount: 0.9\n" MOVES REST,
       "whether states are observed"},
  };
  idm_problem *a = support_yaml(FIRST "discount: 0.9\n" MOVES REST);
  for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
    idm_problem *b = support_yaml(other[i].yaml);
    idm_agent_distance apart;
    idm_error error = {0};
    assert_int_equal(
        idm_compare(&(idm_compared_agent){a, NULL}, &(idm_compared_agent){b, NULL}, &apart, &error),
        IDM_INPUT);
    if (!strstr(error.message, other[i].words)) fail_msg("%s", error.message);
    idm_problem_destroy(b);
  }
  idm_problem_destroy(a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_wants), cmocka_unit_test(test_policies),
                                     cmocka_unit_test(test_run), cmocka_unit_test(test_halves),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
