/* Bad and hostile YAML problem files: every error to its line and column, and in good time. */
#include "io/problem/problem_support.h"

#include <time.h>

/* --- bad files ------------------------------------------------------------------------------ */

typedef struct bad_line {
  const char *line; /* given to with() */
  long at_line, at_column;
  const char *words;
} bad_line;

static void expect_bad(const bad_line *cases, size_t count)
{
  for (size_t i = 0; i < count; i++)
    expect_error(with(cases[i].line), cases[i].at_line, cases[i].at_column, cases[i].words);
}
#define EXPECT_BAD(cases) expect_bad(cases, sizeof(cases) / sizeof *(cases))

static void test_bad_spaces(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"discont: 0.9", 11, 1,
       "in the problem, the key 'discont' is unknown; did you mean 'discount'?"},
      {"<<: {a: 1}", 11, 1, "the key '<<' is unknown"},
      {"discount: 0.5\ndiscount: 0.6", 7, 1, "'discount' is given twice"},
      {"name: [x]", 1, 7, "name is a list of 1; expected a text"},
      {"states:", 1, 1, "the key 'states' is missing"},
      {"actions:", 1, 1, "the key 'actions' is missing"},
      {"observations:", 1, 1, "the key 'observations' is missing"},
      {"states: ", 2, 8, "states is empty; expected a list of labels or their number"},
      {"states: []", 2, 9, "states is a list of 0; expected a list of labels"},
      {"states: many", 2, 9, "states is 'many'; expected a list of labels or their number"},
      {"states: 0", 2, 9, "states is '0'; expected an integer from 1"},
      {"states: 1.5", 2, 9, "states is '1.5'; expected an integer"},
      {"states: -2", 2, 9, "states is '-2'; expected an integer"},
      {"states: nan", 2, 9, "states is 'nan'; expected an integer"},
      {"states: {a: 1}", 2, 9, "states is a mapping of 1; expected a list"},
      {"states: [a, [b]]", 2, 13, "a state is a list of 1; expected a label"},
      {"states: [a, \"\"]", 2, 13, "a state is empty; expected a label"},
      {"states: [a, b, c, a]", 2, 19, "state 'a' is named twice"},
      {"actions: [stay, go, stop, go]", 3, 27, "action 'go' is named twice"},
      {"actions: [stay, go, stop, \"*\"]", 3, 27, "an action is called '*'"},
      {"observations: [x, x]", 4, 19, "observation 'x' is named twice"},
      {"observations: {}", 4, 15, "observations is a mapping of 0; expected 1 to 16 factors"},
      {"observations: {p: [n, n], q: [a, b]}", 4, 15, "observation 'n/a' is named twice"},
      {"observations: {p: [n/a, n], q: [b, a/b]}", 4, 15, "observation 'n/a/b' is named twice"},
      {"observations: {p: yes}", 4, 19, "observations.p is 'yes'; expected a list"},
      {"observations: {p: 1e1}", 4, 19,
       "observations.p is '1e1'; expected a number in plain digits"},
      {"observations: {p: [[1]]}", 4, 20, "an observation is a list of 1; expected a label"},
      {"observations: states", 9, 14, "observation is identity; expected no matrices"},
      {"observation_from: [before]", 11, 19, "observation_from is a list of 1; expected after or"},
      {"observation_from: befor", 11, 19, "observation_from"},
  };
  EXPECT_BAD(cases);
  expect_error("", 1, 1, "empty");
  expect_error("[1, 2]", 1, 1, "the problem is a list of 2; expected a mapping");
  expect_error("diag", 1, 1, "the problem is 'diag'; expected a mapping");
  expect_error("a: [", 2, 1, "not YAML");
  expect_error("a: 1\n--- \nb: 1\n", 2, 1, "second YAML document");
}

static void test_bad_episode(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"start: [0.5, 0.4]", 5, 8, "start sums to 0.9; expected probabilities that sum to 1"},
      {"start: [0.5]", 5, 8, "start is a list of 1; expected a list of 2 numbers"},
      {"start: [-1, 2]", 5, 9, "start is '-1'; expected a number of at least 0"},
      {"start: [x, 2]", 5, 9, "start is 'x'; expected a finite number"},
      {"start: [inf, 0]", 5, 9, "start is 'inf'; expected a finite number"},
      {"start: c", 5, 8, "in start, the state 'c' is unknown; expected one of a, b"},
      {"start: {a: 1}", 5, 8, "start is a mapping of 1; expected a list of probabilities, a state"},
      {"discount: 1", 6, 11, "discount is 1 and there is no horizon"},
      {"discount: 1.01", 6, 11, "discount is '1.01'; expected a number in [0, 1)"},
      {"discount: -0.1", 6, 11, "discount is '-0.1'"},
      {"discount: 0x1", 6, 11, "discount is '0x1'; expected a finite number"},
      {"discount: [1]", 6, 11, "discount is a list of 1"},
      {"horizon: 0", 11, 10, "horizon is '0'; expected an integer from 1"},
      {"horizon: 2.5", 11, 10, "horizon is '2.5'"},
      {"horizon: 99999999999", 11, 10, "horizon is '99999999999'"},
      {"ends: stay", 11, 7, "ends is 'stay'; expected a list of actions"},
      {"ends: [stya]", 11, 8, "in ends, the action 'stya' is unknown; did you mean 'stay'?"},
      {"terminal: [[stay]]", 7, 12, "in terminal, the action is a list of 1; expected a label"},
  };
  EXPECT_BAD(cases);
}

static void test_bad_dynamics(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"transition: {stay: identity}", 8, 13, "transition lacks the action 'go'"},
      {"transition: {stay: identity, gon: uniform}", 8, 30,
       "the action 'gon' is unknown; did you mean 'go'?"},
      {"transition: {stay: identity, \"0\": uniform}", 8, 30, "the action 'stay' is given twice"},
      {"transition: sticky", 8, 13,
       "transition.stay is 'sticky'; expected a matrix, identity or uniform"},
      {"transition: [[1, 0]]", 8, 13, "transition.stay is a list of 1; expected a list of 2 rows"},
      {"transition: [[1, 0], [0, 1], [0, 1]]", 8, 13,
       "transition.stay is a list of 3; expected a list of 2 rows"},
      {"transition: [[1, 0], [0, 1, 0]]", 8, 22,
       "row 2 ('b') of transition.stay is a list of 3; expected a list of 2"},
      {"transition: [[1, 0], [0.5, 0.4]]", 8, 22,
       "row 2 ('b') of transition.stay sums to 0.9; expected"},
      {"transition: [[1, 0], [1.5, -0.5]]", 8, 28,
       "row 2 ('b') of transition.stay is '-0.5'; expected a number of at least 0"},
      {"transition: [[1, 0], [.nan, 1]]", 8, 23, "is '.nan'; expected a finite number"},
      {"transition: [[1, 0], 7]", 8, 22, "row 2 ('b') of transition.stay is '7'"},
      {"transition: {go: {a: 1}, stay: identity}", 8, 18, "transition.go is a mapping of 1"},
      {"transition:", 1, 1, "the key 'transition' is missing; expected it here, or in every model"},
      {"observation:", 1, 1, "the key 'observation' is missing"},
      {"observation: {stay: uniform}", 9, 14, "observation lacks the action 'go'"},
      {"observation: {\"*\": [[0.5, 0.5]]}", 9, 20, "observation.stay is a list of 1"},
  };
  EXPECT_BAD(cases);
  static const char head[] = "states: [s, t]\nactions: [u, v]\nobservations: {p: [n, y], q: 3}\n"
                             "discount: 0.5\ntransition: identity\nutility: {\"*\": 0}\n";
  static const bad_line factored[] = {
      {"observation: {p: identity}", 7, 14, "observation.u.q is missing"},
      {"observation: {u: {p: identity, r: uniform}, v: uniform}", 7, 32, "the key 'r' is unknown"},
      {"observation: {u: {p: identity, q: identity}, v: uniform}", 7, 35,
       "observation.u.q is identity with 2 rows and 3 columns; expected a square matrix"},
      {"observation: {r: identity}", 7, 15, "the action 'r' is unknown"},
      {"observation: {u: {p: identity, q: [[1, 0, 0], [0, 1]]}, v: uniform}", 7, 47,
       "row 2 ('t') of observation.u.q is a list of 2; expected a list of 3"},
  };
  for (size_t i = 0; i < sizeof factored / sizeof factored[0]; i++) {
    char text[1000];
    snprintf(text, sizeof text, "%s%s\n", head, factored[i].line);
    expect_error(text, factored[i].at_line, factored[i].at_column, factored[i].words);
  }
}

static void test_bad_models(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"models: three", 11, 9, "models is 'three'; expected a list of models"},
      {"models: []", 11, 9, "models is a list of 0"},
      {"models: [1]", 11, 10, "models, item 1 is '1'; expected a mapping"},
      {"models: [{wieght: 1}]", 11, 11, "the key 'wieght' is unknown; did you mean 'weight'?"},
      {"models: [{weight: -1}]", 11, 19, "weight is '-1'; expected a number of at least 0"},
      {"models: [{weight: inf}]", 11, 19, "weight is 'inf'; expected a finite number"},
      {"models: [{weight: 0}, {weight: 0}]", 11, 9, "the weights of the models sum to 0"},
      {"models: [{weight: 1e308}, {weight: 1e308}]", 11, 9, "or to infinity"},
      {"models: [{observation: {go: [[1, 0], [0, 2]]}}]", 11, 38, "sums to 2"},
      {"models: {}", 11, 9, "models lacks the key 'perturb'"},
      {"models: {perturb: {}}", 11, 19, "models.perturb is a mapping of 0; expected observation"},
      {"models: {perturb: 0.1}", 11, 19, "models.perturb is '0.1'; expected a mapping"},
      {"models: {perturb: {observation: 0}}", 11, 33,
       "observation is '0'; expected a number between 0 and 1"},
      {"models: {perturb: {observation: 1}}", 11, 33, "observation is '1'"},
      {"models: {perturb: {emission: 0.1}}", 11, 20, "the key 'emission' is unknown"},
      {"models: {perturb: {observation: 0.1}, independent: maybe}", 11, 52,
       "independent is 'maybe'; expected false or true"},
      {"models: {perturb: {observation: 0.1, transition: 0.1}, independent: true}", 11, 9,
       "8 rows that move by themselves make 3^8 = 6561 models; expected at most 3^6 = 729"},
  };
  EXPECT_BAD(cases);
  expect_error("states: 2\nactions: 1\nobservations: 2\ntransition: identity\nmodels: "
               "[{observation: uniform}, {}]\n",
               5, 34, "model 2 has no observation, nor has the problem");
  expect_error("states: 2\nactions: 1\nobservations: 2\ntransition: identity\nmodels: {perturb: "
               "{transition: 0.1}}\n",
               5, 9, "the problem has no observation");
  expect_error("states: 2\nactions: 1\nobservations: states\ntransition: identity\nmodels: "
               "{perturb: {observation: 0.1}}\n",
               5, 33, "observations are the states and cannot move");
  expect_error("states: 2\nactions: 1\nobservations: states\ntransition: identity\nmodels: "
               "[{observation: uniform}]\n",
               5, 24, "expected no matrices here");
}

static void test_bad_utility(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"utility: 1", 10, 10, "utility is '1'; expected a mapping of actions"},
      {"utility: {stay: 1, go: 2}", 10, 10, "utility lacks the action 'stop'"},
      {"utility: {stay: 1, go: 2, stp: 1}", 10, 27,
       "the action 'stp' is unknown; did you mean 'stop'?"},
      {"utility: {stay: [1], \"*\": 0}", 10, 17,
       "utility.stay is a list of 1; expected a list of 2 entries"},
      {"utility: {stay: [1, [2]], \"*\": 0}", 10, 21,
       "utility.stay is a list of 1; expected a finite number or the name"},
      {"utility: {stay: inf, \"*\": 0}", 10, 17, "utility.stay is 'inf'; expected a finite number"},
      {"utility: {stay: [0, nan], \"*\": 0}", 10, 21, "utility.stay is 'nan'"},
      {"utility: {stay: , \"*\": 0}", 10, 17, "utility.stay is empty"},
      {"utility: {stay: \"-\", \"*\": 0}", 10, 17, "utility.stay is '-'"},
      {"utility: {stay: 0x10, \"*\": 0}", 10, 17, "utility.stay is '0x10'"},
  };
  EXPECT_BAD(cases);
}

static void test_bad_agent(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"agent: [alpha]", 11, 8, "agent is a list of 1; expected a mapping"},
      {"agent: {aplha: 1}", 11, 9, "in agent, the key 'aplha' is unknown; did you mean 'alpha'?"},
      {"agent: {alpha: nan}", 11, 16, "alpha is 'nan'; expected a number, inf or -inf"},
      {"agent: {alpha: 0x1p3}", 11, 16, "alpha is '0x1p3'"},
      {"agent: {alpha: 1e400}", 11, 16, "alpha is '1e400'"},
      {"agent: {beta: high}", 11, 15, "beta is 'high'; expected a number"},
      {"agent: {eta: inf}", 11, 14, "eta is 'inf'; expected a finite number"},
      {"agent: {temperature: -1}", 11, 22,
       "temperature is '-1'; expected a finite number of at least 0"},
      {"agent: {tolerance: 0}", 11, 20, "tolerance is '0'; expected a finite number above 0"},
      {"agent: {decision_capacity: -1}", 11, 28, "decision_capacity is '-1'"},
      {"agent: {resolution: 0}", 11, 21,
       "resolution is '0'; expected a whole number from 1 to 1000000000, or auto"},
      {"agent: {evaluate: guess}", 11, 19,
       "evaluate is 'guess'; expected lookahead or interpolate"},
      {"agent: {surprise: none}", 11, 19, "surprise is 'none'; expected belief or observation"},
      {"agent: {recognition: [mean]}", 11, 22,
       "recognition is a list of 1; expected mean or sampled"},
      {"agent: {planner: }", 11, 18, "planner is empty; expected the name of a planner"},
      {"agent: {planner: abcdefghijklmnopqrstuvwxyz-abcdef}", 11, 18,
       "expected the name of a planner"},
      {"agent: {weights: {go: [1]}}", 11, 23,
       "weights.go is a list of 1; expected a list of 2 numbers, or of 3"},
      {"agent: {weights: {go: [1, x]}}", 11, 27, "weights.go is 'x'; expected a finite number"},
      {"agent: {weights: [1]}", 11, 18, "weights is a list of 1; expected a mapping of actions"},
      {"action_prior: [1, 1]", 11, 15, "action_prior is a list of 2; expected a list of 3 numbers"},
      {"action_prior: [1, -1, 1]", 11, 19, "action_prior is '-1'"},
      {"action_prior: [0, 0, 0]", 11, 15, "action_prior sums to 0"},
      {"action_prior: {stay: 1}", 11, 15, "action_prior lacks the action 'go'"},
      {"action_prior: {stay: -1, \"*\": 1}", 11, 22, "action_prior is '-1'"},
      {"belief_prior: [1, 1]", 11, 15, "belief_prior is a list of 2; expected a mapping"},
      {"belief_prior: {}", 11, 15, "expected the key 'dirichlet'"},
      {"belief_prior: {dirichlet: [1]}", 11, 27,
       "belief_prior.dirichlet is a list of 1; expected a list of 2"},
      {"belief_prior: {dirichlet: [1, 0]}", 11, 31,
       "belief_prior.dirichlet is '0'; expected a finite number above 0"},
      {"certainty: {above: 1, award: 1}", 11, 20,
       "certainty.above is '1'; expected a number in [0, 1)"},
      {"certainty: {above: 0.5}", 11, 12, "certainty lacks the key 'award'"},
      {"certainty: {above: 0.5, award: inf}", 11, 32, "certainty.award is 'inf'"},
      {"data: {agnet: who}", 11, 8, "the key 'agnet' is unknown; did you mean 'agent'?"},
      {"data: {agent: []}", 11, 15, "data.agent is a list of 0; expected a list of names"},
      {"data: {agent: \"\"}", 11, 15, "data.agent is empty"},
      {"data: {agent: [a, b, a]}", 11, 22, "data.agent 'a' is named twice"},
      {"data: {agent: {a: b}}", 11, 15, "data.agent is a mapping of 1"},
      {"data: {codes: names}", 11, 15, "data.codes.action is 'names'; expected"},
      {"data: {codes: [index]}", 11, 15, "data.codes is a list of 1; expected index, or a mapping"},
      {"data: {codes: {state: index}}", 11, 16, "in data.codes, the key 'state' is unknown"},
      {"data: {codes: {action: {0: walk}}}", 11, 28, "data.codes.action"},
      {"data: {codes: {action: {go: stay}}}", 11, 25,
       "'go' is the name of an action itself and cannot stand for 'stay'"},
      {"data: {codes: {action: {0: stay, 0: go}}}", 11, 34, "'0' is given twice"},
      {"data: {codes: {action: {0: [stay]}}}", 11, 28, "expected a label for every text"},
      {"data: {codes: {action: {}}}", 11, 24, "expected index, labels or a map"},
      {"data: {codes: {action: [index, index]}}", 11, 24,
       "data.codes.action lists 2 codes for 1 column; expected one a column"},
      {"data: {action: [a, b], codes: {action: [index, index]}}", 11, 40,
       "the label 'stay' is not joined from 2 parts by '/'"},
      {"data: {action: [a, b], codes: index}", 11, 31, "is not joined from 2 parts"},
      {"data: {missing: [NA, go]}", 11, 22, "data.missing: 'go' is an action, an observation or"},
      {"data: {missing: NA, codes: {action: {NA: go}}}", 11, 17, "data.missing: 'NA' is an action"},
      {"data: {missing: []}", 11, 17, "data.missing is a list of 0"},
  };
  EXPECT_BAD(cases);
}

static void test_bad_free(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"free: alpha", 11, 7, "free is 'alpha'; expected a list of blocks"},
      {"free: [gamma]", 11, 8, "in free, the block 'gamma' is unknown"},
      {"free: [alhpa]", 11, 8, "did you mean 'alpha'?"},
      {"free: [transition]", 11, 8, "the block 'transition' is unknown"},
      {"free: [alpha, alpha]", 11, 15, "'alpha' is given twice"},
      {"free: [[alpha]]", 11, 8, "free is a list of 1; expected names of blocks"},
      {"free: [weights]", 11, 8, "'weights' has no values; expected agent.weights"},
      {"free: {alpha: log}", 11, 15, "free.alpha is 'log'; expected a mapping"},
      {"free: {alpha: {scal: log}}", 11, 16, "the key 'scal' is unknown; did you mean 'scale'?"},
      {"free: {alpha: {scale: cube}}", 11, 23,
       "free.alpha.scale is 'cube'; expected identity, log, inverse or signed-log"},
      {"free: {discount: {scale: log}}", 11, 26, "free.discount.scale is 'log'; expected identity"},
      {"free: {utility: {scale: log}}", 11, 25, "expected identity or signed-log"},
      {"free: {alpha: {prior: normal}}", 11, 23,
       "free.alpha.prior is 'normal'; expected flat, or a prior with its arguments"},
      {"free: {alpha: {prior: {flat: []}}}", 11, 23, "expected flat without arguments"},
      {"free: {alpha: {prior: {nromal: [0, 1]}}}", 11, 24,
       "free.alpha.prior 'nromal' is unknown; did you mean 'normal'?"},
      {"free: {alpha: {prior: {normal: [0, 1], beta: [1, 1]}}}", 11, 23,
       "free.alpha.prior is a mapping of 2"},
      {"free: {alpha: {prior: {normal: [0]}}}", 11, 32,
       "free.alpha.prior.normal is a list of 1; expected a list of 2 numbers"},
      {"free: {alpha: {prior: {normal: [0, 0]}}}", 11, 36,
       "free.alpha.prior.normal is '0'; expected a positive number"},
      {"free: {alpha: {prior: {normal: [0, inf]}}}", 11, 36, "is 'inf'; expected a finite number"},
      {"free: {alpha: {prior: {exponential: [-1]}}}", 11, 38,
       "free.alpha.prior.exponential is '-1'; expected a positive"},
      {"free: {alpha: {prior: {uniform: [1, 1]}}}", 11, 33,
       "free.alpha.prior.uniform is [1, 1]; expected the lower bound first"},
      {"free: {alpha: {prior: {dirichlet: [1]}}}", 11, 24, "dirichlet is for action_prior"},
      {"free: {action_prior: {prior: {dirichlet: [1, 1]}}}", 11, 42,
       "is a list of 2; expected a list of 3 numbers"},
  };
  EXPECT_BAD(cases);
}

/* --- hostile files -------------------------------------------------------------------------- */

static double seconds(void)
{
  return (double)clock() / CLOCKS_PER_SEC;
}

static void test_million_states(void **state)
{
  (void)state;
  const size_t count = 1000000;
  char *text = malloc(count * 3 + 200);
  assert_non_null(text);
  size_t length = (size_t)sprintf(text, "actions: 1\nobservations: 2\nstates: [");
  for (size_t i = 0; i < count; i++) length += (size_t)sprintf(text + length, "s,");
  sprintf(text + length, "s]\n");
  const double before = seconds();
  expect_error(text, 3, 9,
               "1000001 states, 1 actions, 2 observations and 1 models make matrices of");
  /* Twice through libyaml, under a sanitizer: seconds, where pairwise work would take hours. */
  assert_true(seconds() - before < 60);
  free(text);
  expect_error("states: 1000000000\nactions: 1000000000\nobservations: 1000000000\n", 1, 9,
               "expected at most 1 GiB");
  expect_error(
      "states: 1\nactions: 1\nobservations: {a: 1000000000, b: 1000000000, c: 1000000000}\n", 1, 9,
      "expected at most 1 GiB");
  expect_error(
      "states: 3000\nactions: 2\nobservations: 2\ntransition: identity\nobservation: uniform\n"
      "models: [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}]\n",
      1, 9, "and 10 models make matrices of");
}

/* Many actions: labels are looked up by search, not one by one. */
static void test_many_actions(void **state)
{
  (void)state;
  const size_t count = 30000;
  char *text = malloc(count * 30 + 200);
  assert_non_null(text);
  size_t length =
      (size_t)sprintf(text, "states: 1\nobservations: 1\ndiscount: 0\ntransition: identity\n"
                            "observation: identity\nactions: [");
  for (size_t i = 0; i < count; i++) length += (size_t)sprintf(text + length, "u%zu, ", i);
  length += (size_t)sprintf(text + length, "]\nutility: {");
  for (size_t i = 0; i < count; i++) length += (size_t)sprintf(text + length, "u%zu: c%zu, ", i, i);
  sprintf(text + length, "}\n");
  const double before = seconds();
  idm_problem *p = parse(text, NULL);
  assert_true(seconds() - before < 30);
  assert_int_equal(p->columns.utility.count, count);
  assert_string_equal(p->columns.utility.name[count - 1], "c29999");
  idm_problem_destroy(p);
  free(text);
}

static void test_alias_bombs(void **state)
{
  (void)state;
  /* Ten levels of nine aliases would be 3.5e9 nodes if anyone unfolded them. */
  char text[1000] = "";
  size_t length = (size_t)sprintf(text, "a: &a0 [x]\n");
  for (int i = 1; i <= 10; i++)
    length += (size_t)sprintf(text + length,
                              "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n",
                              i, i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
  expect_error(text, 1, 1, "the key 'a' is unknown");
  expect_error("states: &s [*s]\nactions: 1\nobservations: 1\n", 1, 9,
               "a state is a list of 1; expected a label");
  expect_error(with("models: &m [*m]"), 11, 9, "models, item 1 is a list of 1");
  expect_error(with("transition: &t [*t, *t]"), 8, 13, "is a list of 2; expected a finite number");
  /* Sharing is fine where it means something. */
  idm_problem *p = parse(with("transition: {stay: &m [[0.5, 0.5], [0, 1]], go: *m}"), NULL);
  expect_numbers(p->setting->transition + 4, (double[]){.5, .5, 0, 1}, 4);
  idm_problem_destroy(p);
}

static void test_odd_text(void **state)
{
  (void)state;
  idm_problem *p =
      parse("{\"states\": [\"\\u00e9t\\u00e9\", \"x y: z\"], \"actions\": [\"yes\"], "
            "\"observations\": 1, \"discount\": \"0.5\", \"transition\": \"identity\", "
            "\"observation\": \"uniform\", \"utility\": {\"yes\": \"-1e0\"}, "
            "\"agent\": {\"beta\": \"-inf\"}}",
            NULL);
  assert_string_equal(p->setting->states.name[0], "\xc3\xa9t\xc3\xa9");
  assert_true(idm_theta_scalar(p->theta, IDM_BETA) == -INFINITY);
  assert_true(block(p, IDM_UTILITY)[1] == -1);
  idm_problem_destroy(p);
  char text[2000] = "states: [";
  memset(text + 9, 'x', 1001);
  strcpy(text + 1010, "]\nactions: 1\nobservations: 1\n");
  expect_error(text, 1, 10, "a state has 1001 bytes; expected at most 1000");
  expect_error("states: [a, a]\nactions: 1\nobservations: 1\n", 1, 13, "state 'a' is named twice");
  /* Labels that some output or some table could not hold. */
  expect_error("states: [\"a\\nb\\e\"]\nactions: 1\nobservations: 1\n", 1, 10,
               "a state is 'a?b?'; expected a label in UTF-8 without control characters");
  expect_error("states: 1\nactions: [\"a\\x85\"]\nobservations: 1\n", 2, 11,
               "expected a label in UTF-8 without control characters");
  expect_error("states: 1\nactions: 1\nobservations: [a, \" b\"]\n", 3, 19,
               "expected a label without blanks at its ends");
  expect_error("states: 1\nactions: 1\nobservations: {a: [\"b \"]}\n", 3, 20,
               "expected a label without blanks at its ends");
  expect_error("states: 1\nactions: [a, \"b|c\"]\nobservations: 1\n", 2, 14,
               "an action is 'b|c'; expected a label without '|'");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bad_spaces),   cmocka_unit_test(test_bad_episode),
      cmocka_unit_test(test_bad_dynamics), cmocka_unit_test(test_bad_models),
      cmocka_unit_test(test_bad_utility),  cmocka_unit_test(test_bad_agent),
      cmocka_unit_test(test_bad_free),     cmocka_unit_test(test_million_states),
      cmocka_unit_test(test_many_actions), cmocka_unit_test(test_alias_bombs),
      cmocka_unit_test(test_odd_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
