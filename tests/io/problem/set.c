/* Overrides by --set: every key, the problem untouched on failure, and what the failures say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "idm/extension/planner.h"
#include "io/problem_file.h"
#include "setting/model.h"

static const char text[] =
    "states: [a, b]\n"
    "actions: [stay, go, stop, v1.5, \"p=q\"]\n"
    "observations: [x, y]\n"
    "discount: 0.9\n"
    "horizon: 9\n"
    "transition: identity\n"
    "observation: uniform\n"
    "utility: {stay: -fee, go: [pay, 2], stop: [bonus, -fee], v1.5: 3, \"*\": 0}\n";

static idm_problem *make(const char *source)
{
  idm_error error = {0};
  idm_problem *problem = NULL;
  if (idm_problem_parse_yaml(source, strlen(source), "p.yaml", &problem, NULL, &error) != IDM_OK)
    fail_msg("%ld:%ld: %s", error.line, error.column, error.message);
  return problem;
}

static void set(idm_problem *problem, const char *assignment)
{
  idm_error error = {0};
  if (idm_problem_set(problem, assignment, &error) != IDM_OK) fail_msg("%s", error.message);
}

static double utility(const idm_problem *problem, size_t action, size_t state)
{
  return problem->theta->block[IDM_UTILITY].value[action * 2 + state];
}

static void test_agent_keys(void **state)
{
  (void)state;
  idm_problem *p = make(text);
  set(p, "planner=maximum-entropy");
  assert_string_equal(idm_agent_planner(&p->agent)->name, "maximum-entropy");
  set(p, "alpha=0.5");
  assert_true(idm_theta_scalar(p->theta, IDM_ALPHA) == 0.5);
  set(p, "agent.alpha=-0.0");
  assert_true(signbit(idm_theta_scalar(p->theta, IDM_ALPHA)));
  set(p, "beta=-inf");
  assert_true(idm_theta_scalar(p->theta, IDM_BETA) == -INFINITY);
  set(p, "beta=.inf");
  assert_true(idm_theta_scalar(p->theta, IDM_BETA) == INFINITY);
  set(p, "agent.eta=-7");
  assert_true(idm_theta_scalar(p->theta, IDM_ETA) == -7);
  set(p, "temperature=2");
  assert_true(idm_theta_scalar(p->theta, IDM_TEMPERATURE) == 2);
  set(p, "resolution=12");
  assert_int_equal(p->agent.resolution, 12);
  set(p, "resolution=auto");
  assert_int_equal(p->agent.resolution, 0);
  set(p, "evaluate=interpolate");
  assert_int_equal(p->agent.evaluate, IDM_INTERPOLATE);
  set(p, "surprise=observation");
  assert_int_equal(p->agent.surprise, IDM_SURPRISE_OBSERVATION);
  set(p, "recognition=sampled");
  assert_int_equal(p->agent.recognition, IDM_RECOGNITION_SAMPLED);
  set(p, "tolerance=1e-4");
  assert_true(p->agent.tolerance == 1e-4);
  set(p, "decision_capacity=0.5");
  set(p, "agent.specification_capacity=0.25");
  set(p, "recognition_capacity=0.125");
  assert_true(p->agent.decision_capacity == 0.5 && p->agent.specification_capacity == 0.25 &&
              p->agent.recognition_capacity == 0.125);
  idm_problem_destroy(p);
}

static void test_setting_keys(void **state)
{
  (void)state;
  idm_problem *p = make(text);
  set(p, "discount=1");
  assert_true(idm_theta_scalar(p->theta, IDM_DISCOUNT) == 1);
  set(p, "horizon=5");
  assert_int_equal(p->setting->horizon, 5);
  assert_int_equal(idm_problem_validate(p, NULL), IDM_OK);
  /* Each override is taken alone; the whole is validated afterwards. */
  set(p, "horizon=inf");
  assert_int_equal(p->setting->horizon, 0);
  assert_int_equal(idm_problem_validate(p, NULL), IDM_INPUT);
  set(p, "horizon=7");
  set(p, "horizon=0");
  assert_int_equal(p->setting->horizon, 0);
  set(p, "start=b");
  assert_true(p->setting->start[0] == 0 && p->setting->start[1] == 1);
  set(p, "start=[0.25, 0.75]");
  assert_true(p->setting->start[0] == 0.25 && p->setting->start[1] == 0.75);
  set(p, "start=uniform");
  assert_true(p->setting->start[0] == 0.5);
  set(p, "start=0");
  assert_true(p->setting->start[0] == 1);
  idm_problem_destroy(p);
}

static void test_utility(void **state)
{
  (void)state;
  idm_problem *p = make(text);
  assert_int_equal(p->utility_sources, 5);
  assert_int_equal(p->columns.utility.count, 3);
  set(p, "utility.stay=-2");
  assert_true(utility(p, 0, 0) == -2 && utility(p, 0, 1) == -2);
  /* The column is still named by stop. */
  assert_int_equal(p->utility_sources, 3);
  assert_int_equal(p->columns.utility.count, 3);
  set(p, "utility.stop.b=4");
  assert_true(utility(p, 2, 1) == 4);
  assert_int_equal(p->utility_sources, 2);
  assert_int_equal(p->columns.utility.count, 2);
  assert_string_equal(p->columns.utility.name[0], "pay");
  assert_string_equal(p->columns.utility.name[1], "bonus");
  set(p, "utility.go=[1, -2.5]");
  assert_true(utility(p, 1, 0) == 1 && utility(p, 1, 1) == -2.5);
  assert_int_equal(p->utility_sources, 1);
  assert_int_equal(p->utility_source[0].column, 0);
  assert_string_equal(p->columns.utility.name[0], "bonus");
  set(p, "utility.go=[-fresh, 6]");
  assert_int_equal(p->utility_sources, 2);
  assert_string_equal(p->columns.utility.name[0], "fresh");
  assert_true(p->utility_source[0].scale == -1 && p->utility_source[0].action == 1);
  assert_true(utility(p, 1, 0) == 0 && utility(p, 1, 1) == 6);
  set(p, "utility.go.1=-bonus");
  assert_int_equal(p->columns.utility.count, 2);
  assert_int_equal(p->utility_source[1].column, p->utility_source[2].column);
  idm_problem_destroy(p);
}

static void test_odd_labels(void **state)
{
  (void)state;
  idm_problem *p = make(text);
  set(p, "utility.v1.5=8");
  assert_true(utility(p, 3, 0) == 8 && utility(p, 3, 1) == 8);
  set(p, "utility.v1.5.b=9");
  assert_true(utility(p, 3, 0) == 8 && utility(p, 3, 1) == 9);
  set(p, "utility.p=q=3");
  assert_true(utility(p, 4, 0) == 3);
  set(p, "utility.p=q.a=-1");
  assert_true(utility(p, 4, 0) == -1 && utility(p, 4, 1) == 3);
  idm_problem_destroy(p);
  p = make(
      "states: [b.c, c]\nactions: [a, a.b]\nobservations: 1\ndiscount: 0\ntransition: identity\n"
      "observation: uniform\nutility: {\"*\": 0}\n");
  idm_error error = {0};
  assert_int_equal(idm_problem_set(p, "utility.a.b.c=1", &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "'a.b.c' can be read in 2 ways"));
  set(p, "utility.a.b=1");
  assert_true(utility(p, 1, 0) == 1 && utility(p, 0, 0) == 0);
  idm_problem_destroy(p);
}

/* After binding, an override reaches every variant. */
static void test_bound(void **state)
{
  (void)state;
  idm_problem *p = make(text);
  const double values[] = {1, 2, 3, 4, 5, 6};
  assert_int_equal(idm_problem_bind(p, 2, values, NULL), IDM_OK);
  set(p, "utility.stay.a=11");
  for (size_t v = 0; v < 2; v++) assert_true(idm_theta_values(p->theta, IDM_UTILITY, v)[0] == 11);
  assert_true(idm_theta_values(p->theta, IDM_UTILITY, 1)[1] == -4);
  idm_problem_destroy(p);
}

static void test_failures(void **state)
{
  (void)state;
  static const struct {
    const char *assignment;
    const char *words;
  } cases[] = {
      {"", "--set : there is no KEY=VALUE"},
      {"alpha", "--set alpha: there is no KEY=VALUE"},
      {"=1", "there is no KEY=VALUE"},
      {"alpha=", "--set alpha=: alpha has no value; expected KEY=VALUE"},
      {"alpha=  ", "alpha has no value"},
      {"alpha=fast", "--set alpha=fast: alpha is 'fast'; expected a number, inf or -inf"},
      {"alpha=nan", "alpha is 'nan'"},
      {"alpha=[1]", "alpha is a list of 1"},
      {"alpha=[1", "not YAML"},
      {"alpha=#", "empty"},
      {"eta=inf", "eta is 'inf'; expected a finite number"},
      {"resolution=0", "resolution is '0'; expected a whole number from 1 to 1000000000, or auto"},
      {"evaluate=never", "evaluate is 'never'; expected lookahead or interpolate"},
      {"planner=abcdefghijklmnopqrstuvwxyz-abcdef", "expected the name of a planner"},
      {"discount=1.5", "discount is '1.5'"},
      {"horizon=-1", "horizon is '-1'; expected an integer from 0"},
      {"horizon=1.5", "horizon is '1.5'"},
      {"start=[1]", "start is a list of 1; expected a list of 2 numbers"},
      {"start=[0.5, 0.6]", "start sums to 1.1"},
      {"start=c", "the state 'c' is unknown; expected one of a, b"},
      {"aplha=1",
       "the key 'aplha' is unknown; did you mean 'alpha'? Expected one of planner, alpha"},
      {"foo=1",
       "the key 'foo' is unknown; expected one of planner, alpha, beta, eta, temperature, weights, "
       "perseverance, lapse, prior_weight, evidence_weight, delay_rate, sensor_capacity, "
       "resolution, evaluate, surprise, recognition, alpha_unit, tolerance, gap, "
       "decision_capacity, "
       "specification_capacity, recognition_capacity, discounting, asymmetry, fictive, hidden, "
       "layer, sweeps, "
       "seed, budget, step_power, exploration, nodes, choice, discount, horizon, start, "
       "utility.ACTION, utility.ACTION.STATE, transition.NAME, emission.NAME"},
      {"agent.discount=0.5", "the key 'agent.discount' is unknown"},
      {"agent.wieghts=1", "the key 'agent.wieghts' is unknown"},
      {"utility=1", "the key 'utility' is unknown"},
      {"utility.fly=1",
       "'fly' names no action, nor an action and a state; expected utility.ACTION"},
      {"utility.go.c=1", "'go.c' names no action"},
      {"utility.go", "there is no KEY=VALUE"},
      {"utility.go=", "utility has no value"},
      {"utility.go=[1]", "utility.go is a list of 1; expected a list of 2 entries"},
      {"utility.go=inf", "utility.go is 'inf'; expected a finite number"},
      {"utility.go.a=[1]", "utility.go is a list of 1; expected a finite number or the name"},
      {"utility.go={a: 1}", "utility.go lacks the state 'b'"},
  };
  idm_problem *p = make(text);
  idm_problem *untouched = make(text);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_error error = {0};
    char buffer[200];
    if (idm_problem_set(p, cases[i].assignment, &error) != IDM_USAGE)
      fail_msg("'%s' was taken", cases[i].assignment);
    if (!strstr(error.message, cases[i].words) || strncmp(error.message, "--set ", 6) != 0)
      fail_msg("'%s' lacks '%s'", error.message, cases[i].words);
    if (!idm_problem_compare(p, untouched, 0, buffer, sizeof buffer))
      fail_msg("'%s' changed %s", cases[i].assignment, buffer);
    assert_int_equal(idm_problem_set(p, cases[i].assignment, NULL), IDM_USAGE);
  }
  idm_problem_destroy(p);
  idm_problem_destroy(untouched);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_agent_keys), cmocka_unit_test(test_setting_keys),
      cmocka_unit_test(test_utility),    cmocka_unit_test(test_odd_labels),
      cmocka_unit_test(test_bound),      cmocka_unit_test(test_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
