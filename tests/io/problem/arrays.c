/* Problems from arrays against the same problems from YAML; views of a problem. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idm/problem.h"
#include "support.h"

#define ARRAYS .size = sizeof(idm_problem_arrays)

static const char *const ward_state[] = {"well", "ill"};
static const char *const ward_action[] = {"test", "treat", "wait"};
static const char *const ward_observation[] = {"negative", "positive"};
static const double ward_start[] = {0.6, 0.4};
static const double ward_transition[] = {1, 0, 0, 1, 1, 0, 0.7, 0.3, 0.8, 0.2, 1. / 3, 2. / 3};
static const double ward_emission[] = {0.8, 0.2, 0.3, 0.7, 0.5, 0.5, 0.5, 0.5, 0.6, 0.4, 0.4, 0.6};
static const double ward_utility[] = {-1, -1, -2, 5, 0, -1e-7};

static idm_problem_arrays ward(void)
{
  return (idm_problem_arrays){ARRAYS,
                              .states = 2,
                              .state = ward_state,
                              .actions = 3,
                              .action = ward_action,
                              .observations = 2,
                              .observation = ward_observation,
                              .opt_start = ward_start,
                              .transition = ward_transition,
                              .opt_emission = ward_emission,
                              .utility = ward_utility,
                              .discount = 0.9};
}

static const char ward_yaml[] =
    "states: [well, ill]\nactions: [test, treat, wait]\nobservations: [negative, positive]\n"
    "start: [0.6, 0.4]\ndiscount: 0.9\n"
    "transition: {test: identity, treat: [[1, 0], [0.7, 0.3]],\n"
    "             wait: [[0.8, 0.2], [0.33333333333333331, 0.66666666666666663]]}\n"
    "observation: {test: [[0.8, 0.2], [0.3, 0.7]], treat: uniform, wait: [[0.6, 0.4], [0.4, "
    "0.6]]}\n"
    "utility: {test: -1, treat: [-2, 5], wait: [0, -1e-7]}\n";

static idm_problem *make(const idm_problem_arrays *arrays)
{
  idm_problem *problem;
  check(idm_problem_from_arrays(arrays, &problem, &support_error));
  check(idm_problem_validate(problem, &support_error));
  return problem;
}

static void expect_same(idm_problem *a, idm_problem *b)
{
  char difference[400];
  if (!idm_problem_compare(a, b, 0, difference, sizeof difference)) fail_msg("%s", difference);
  idm_problem_destroy(a);
  idm_problem_destroy(b);
}

/* --- the same problem ----------------------------------------------------------------------- */

static void arrays_equal_yaml(void **state)
{
  (void)state;
  const idm_problem_arrays a = ward();
  expect_same(make(&a), support_yaml(ward_yaml));
}

/* Further sections, and no start. */
static void more_sections(void **state)
{
  (void)state;
  static const char more[] =
      "agent: {alpha: 2, beta: inf, eta: 0.5, resolution: 20}\nends: [treat]\n"
      "models:\n  - {weight: 1}\n"
      "  - {weight: 3, observation: {\"*\": [[0.9, 0.1], [0.1, 0.9]]}}\n"
      "free: {alpha: {scale: log, prior: {normal: [0, 2]}}}\n";
  char yaml[2000];
  idm_problem_arrays a = ward();
  a.opt_more = more;
  a.opt_start = NULL;
  snprintf(yaml, sizeof yaml, "%s%s", ward_yaml, more);
  char *start = strstr(yaml, "start: [0.6, 0.4]\n");
  memcpy(start, "start: uniform    ", 18);
  start[17] = '\n';
  expect_same(make(&a), support_yaml(yaml));
}

/* Observed states; an emission is then not read. */
static void observed_states(void **state)
{
  (void)state;
  static const double utility[] = {1, 0, 0, 1};
  static const double transition[] = {0.25, 0.75, 1, 0, 0.5, 0.5, 0, 1};
  idm_problem_arrays a = ward();
  a.actions = 2;
  a.transition = transition;
  a.utility = utility;
  a.observations = 0;
  a.observation = NULL;
  a.discount = 0;
  for (int emission = 0; emission < 2; emission++) {
    a.opt_emission = emission ? ward_emission : NULL;
    expect_same(make(&a),
                support_yaml("states: [well, ill]\nactions: [test, treat]\nobservations: states\n"
                             "start: [0.6, 0.4]\ndiscount: 0\n"
                             "transition: {test: [[0.25, 0.75], [1, 0]], treat: [[0.5, 0.5], [0, "
                             "1]]}\nutility: {test: [1, 0], treat: [0, 1]}\n"));
  }
}

/* Names that YAML would read as something else: they come back as they are. */
static void names_are_texts(void **state)
{
  (void)state;
  static const char *const states[] = {"yes", "a: b # c", "\xc3\xa9t\xc3\xa9 \"1\"", "~"};
  static const char *const actions[] = {"1", "- x", "null", "{y}"};
  static const char *const observations[] = {"'", "\\", "2e5", "\xf0\x9f\x98\x80"};
  double matrix[4 * 4 * 4], utility[16];
  for (size_t i = 0; i < 64; i++) matrix[i] = 0.25;
  for (size_t i = 0; i < 16; i++) utility[i] = (double)i;
  idm_problem *problem = make(
      &(idm_problem_arrays){ARRAYS, .states = 4, .state = states, .actions = 4, .action = actions,
                            .observations = 4, .observation = observations, .transition = matrix,
                            .opt_emission = matrix, .utility = utility, .discount = 0.5});
  for (size_t i = 0; i < 4; i++) {
    assert_string_equal(idm_problem_state_name(problem, i), states[i]);
    assert_string_equal(idm_problem_action_name(problem, i), actions[i]);
    assert_string_equal(idm_problem_observation_name(problem, i), observations[i]);
  }
  const double *values;
  size_t length;
  check(idm_problem_numbers(problem, "utility", &values, &length, &support_error));
  assert_int_equal(length, 16);
  assert_memory_equal(values, utility, sizeof utility);
  idm_problem_destroy(problem);
}

/* 60 states and 6 actions with every bit of their numbers; the arrays are copied. */
static void numbers_are_exact(void **state)
{
  (void)state;
  enum { STATES = 60, ACTIONS = 6, OBSERVATIONS = 9 };
  static char text[STATES + ACTIONS + OBSERVATIONS][8];
  static double transition[ACTIONS * STATES * STATES], emission[ACTIONS * STATES * OBSERVATIONS];
  static double utility[ACTIONS * STATES], start[STATES], copy[ACTIONS * STATES * STATES];
  const char *name[STATES + ACTIONS + OBSERVATIONS];
  idm_random random;
  idm_random_init(&random, 3, 0);
  for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
    snprintf(text[i], sizeof text[i], "n%zu", i);
    name[i] = text[i];
  }
  for (size_t row = 0; row < ACTIONS * STATES; row++) {
    support_distribution(&random, transition + row * STATES, STATES);
    support_distribution(&random, emission + row * OBSERVATIONS, OBSERVATIONS);
    utility[row] = support_signed(&random, 1e-3, 1e3);
  }
  support_distribution(&random, start, STATES);
  memcpy(copy, transition, sizeof copy);
  idm_problem *problem = make(&(idm_problem_arrays){
      ARRAYS, .states = STATES, .state = name, .actions = ACTIONS, .action = name + STATES,
      .observations = OBSERVATIONS, .observation = name + STATES + ACTIONS, .opt_start = start,
      .transition = transition, .opt_emission = emission, .utility = utility, .discount = 0.99});
  const double *values;
  size_t length;
  memset(transition, 0, sizeof transition);
  strcpy(text[0], "other");
  assert_string_equal(idm_problem_state_name(problem, 0), "n0");
  check(idm_problem_numbers(problem, "environment.transition", &values, &length, &support_error));
  assert_int_equal(length, ACTIONS * STATES * STATES);
  for (size_t i = 0; i < length; i++) assert_near(values[i], copy[i], 1e-15);
  check(idm_problem_numbers(problem, "environment.observation", &values, &length, &support_error));
  assert_int_equal(length, ACTIONS * STATES * OBSERVATIONS);
  for (size_t i = 0; i < length; i++) assert_near(values[i], emission[i], 1e-15);
  check(idm_problem_numbers(problem, "start", &values, &length, &support_error));
  assert_int_equal(length, STATES);
  for (size_t i = 0; i < length; i++) assert_near(values[i], start[i], 1e-15);
  check(idm_problem_numbers(problem, "utility", &values, &length, &support_error));
  assert_int_equal(length, ACTIONS * STATES);
  assert_memory_equal(values, utility, sizeof utility);
  idm_problem_destroy(problem);
}

/* --- views ---------------------------------------------------------------------------------- */

static double scalar(const idm_problem *problem, const char *name)
{
  const double *values;
  size_t length;
  check(idm_problem_numbers(problem, name, &values, &length, &support_error));
  assert_int_equal(length, 1);
  return values[0];
}

static void views_of_a_problem(void **state)
{
  (void)state;
  static const double sensor[] = {0.9, 0.1, 0.2, 0.8};
  idm_problem_arrays a = ward();
  a.opt_more = "agent: {alpha: 2, eta: 0.5}\nmodels:\n  - {weight: 1}\n"
               "  - {weight: 3, observation: {\"*\": [[0.9, 0.1], [0.2, 0.8]]}}\n";
  idm_problem *problem = make(&a);
  const double *values;
  size_t length;
  assert_int_equal(idm_problem_states(problem), 2);
  assert_int_equal(idm_problem_actions(problem), 3);
  assert_int_equal(idm_problem_observations(problem), 2);
  assert_string_equal(idm_problem_state_name(problem, 1), "ill");
  assert_string_equal(idm_problem_action_name(problem, 2), "wait");
  assert_string_equal(idm_problem_observation_name(problem, 0), "negative");
  assert_null(idm_problem_state_name(problem, 2));
  assert_null(idm_problem_action_name(problem, 3));
  assert_null(idm_problem_observation_name(problem, SIZE_MAX));
  assert_true(scalar(problem, "alpha") == 2 && scalar(problem, "eta") == 0.5);
  /* Models of the agent: the environment, then the other sensor. */
  check(idm_problem_numbers(problem, "transition", &values, &length, &support_error));
  assert_int_equal(length, 24);
  for (size_t i = 0; i < 24; i++) assert_true(values[i] == ward_transition[i % 12]);
  check(idm_problem_numbers(problem, "emission", &values, &length, &support_error));
  assert_int_equal(length, 24);
  for (size_t i = 0; i < 12; i++) assert_true(values[i] == ward_emission[i]);
  for (size_t i = 12; i < 24; i++) assert_true(values[i] == sensor[i % 4]);
  /* A view shows what is set. */
  check(idm_problem_set(problem, "alpha=0.25", &support_error));
  assert_true(scalar(problem, "alpha") == 0.25);
  check(idm_problem_set(problem, "utility.treat.ill=9", &support_error));
  check(idm_problem_numbers(problem, "utility", &values, &length, &support_error));
  assert_true(values[3] == 9 && values[2] == -2);

  idm_error error = {0};
  static const char *const none[] = {"", "alpha ", "environment", "observation", "belief_prior"};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    values = ward_start;
    length = 7;
    if (idm_problem_numbers(problem, none[i], &values, &length, &error) != IDM_USAGE)
      fail_msg("'%s' has %zu numbers", none[i], length);
    assert_non_null(strstr(error.message, none[i]));
    assert_true(!values && !length);
  }
  assert_int_equal(idm_problem_numbers(NULL, "alpha", &values, &length, &error), IDM_USAGE);
  assert_int_equal(idm_problem_numbers(problem, NULL, &values, &length, &error), IDM_USAGE);
  assert_int_equal(idm_problem_numbers(problem, "alpha", NULL, &length, &error), IDM_USAGE);
  assert_int_equal(idm_problem_numbers(problem, "alpha", &values, NULL, &error), IDM_USAGE);
  idm_problem_destroy(problem);
  assert_int_equal(idm_problem_states(NULL) + idm_problem_actions(NULL), 0);
  assert_int_equal(idm_problem_observations(NULL), 0);
  assert_null(idm_problem_state_name(NULL, 0));
  assert_null(idm_problem_action_name(NULL, 0));
  assert_null(idm_problem_observation_name(NULL, 0));
  idm_problem_destroy(NULL);
}

/* --- refusals ------------------------------------------------------------------------------- */

static void expect_refusal(const idm_problem_arrays *arrays, idm_status status, const char *words)
{
  idm_error error = {0};
  idm_problem *problem;
  const idm_status found = idm_problem_from_arrays(arrays, &problem, &error);
  if (found != status || !strstr(error.message, words))
    fail_msg("%s '%s', expected %s '%s'", idm_status_name(found), error.message,
             idm_status_name(status), words);
  assert_null(problem);
}

static void missing_arrays_are_refused(void **state)
{
  (void)state;
  idm_problem_arrays a = ward();
  idm_error error = {0};
  idm_problem *problem;
  a.size -= sizeof a.opt_more;
  expect_refusal(&a, IDM_USAGE, "size");
  a.size = 0;
  expect_refusal(&a, IDM_USAGE, "size is 0");
  /* A later version has more fields, which are 0. */
  struct {
    idm_problem_arrays arrays;
    double more[3];
  } later = {.arrays = ward()};
  later.arrays.size = sizeof later;
  check(idm_problem_from_arrays(&later.arrays, &problem, &support_error));
  idm_problem_destroy(problem);
  later.more[0] = 1;
  expect_refusal(&later.arrays, IDM_USAGE, "fields of a later version");
#define WITHOUT(field, words)                                                                      \
  do {                                                                                             \
    a = ward();                                                                                    \
    a.field = 0;                                                                                   \
    expect_refusal(&a, IDM_USAGE, words);                                                          \
  } while (0)
  WITHOUT(states, "needs states");
  WITHOUT(state, "needs states");
  WITHOUT(actions, "actions");
  WITHOUT(action, "actions");
  WITHOUT(transition, "transition");
  WITHOUT(utility, "utility");
  WITHOUT(observation, "observations need names");
  WITHOUT(opt_emission, "an emission");
  static const char *const names[] = {"one", NULL, "three"};
  a = ward();
  a.state = names;
  expect_refusal(&a, IDM_USAGE, "name 1 of the states");
  a = ward();
  a.action = names;
  expect_refusal(&a, IDM_USAGE, "name 1 of the actions");
  a = ward();
  a.observation = names;
  expect_refusal(&a, IDM_USAGE, "name 1 of the observations");
  assert_int_equal(idm_problem_from_arrays(NULL, &problem, &error), IDM_USAGE);
  assert_int_equal(idm_problem_from_arrays(&a, NULL, &error), IDM_USAGE);
}

/* Arrays that are no problem. */
static void bad_numbers_are_refused(void **state)
{
  (void)state;
  static const double bad[] = {0.5, -0.1, 1.5, NAN, INFINITY, -INFINITY};
  idm_problem_arrays a;
  double transition[12], emission[12], utility[6], start[2];
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    memcpy(transition, ward_transition, sizeof transition);
    memcpy(emission, ward_emission, sizeof emission);
    memcpy(utility, ward_utility, sizeof utility);
    memcpy(start, ward_start, sizeof start);
    transition[6] = emission[2] = start[0] = bad[i];
    a = ward();
    a.transition = transition;
    expect_refusal(&a, IDM_INPUT, "");
    a = ward();
    a.opt_emission = emission;
    expect_refusal(&a, IDM_INPUT, "");
    a = ward();
    a.opt_start = start;
    expect_refusal(&a, IDM_INPUT, "");
    if (i == 0) continue;
    a = ward();
    a.discount = bad[i];
    expect_refusal(&a, IDM_INPUT, "discount");
    utility[4] = bad[i];
    a = ward();
    a.utility = utility;
    if (!isfinite(bad[i])) expect_refusal(&a, IDM_INPUT, "");
  }
}

static void bad_names_are_refused(void **state)
{
  (void)state;
  static const char *const twice[] = {"same", "same", "other"};
  static const char *const empty[] = {"", "b", "c"};
  static const char *const bytes[] = {"a\xff", "b", "c"};
  static const char *const *const all[] = {twice, empty, bytes};
  for (size_t i = 0; i < 3; i++) {
    idm_problem_arrays a = ward();
    a.state = all[i];
    expect_refusal(&a, IDM_INPUT, "");
    a = ward();
    a.action = all[i];
    expect_refusal(&a, IDM_INPUT, "");
    a = ward();
    a.observation = all[i];
    expect_refusal(&a, IDM_INPUT, "");
  }
}

static void bad_sections_are_refused(void **state)
{
  (void)state;
  static const char *const more[] = {"states: [a, b]",   "agent: {alpha: .nan}", "agent: [",
                                     "nothing: 1",       "free: [nothing]",      "free: [alpha",
                                     "agent: {alpha: x}"};
  for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
    idm_problem_arrays a = ward();
    a.opt_more = more[i];
    expect_refusal(&a, IDM_INPUT, "");
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_equal_yaml),
      cmocka_unit_test(more_sections),
      cmocka_unit_test(observed_states),
      cmocka_unit_test(names_are_texts),
      cmocka_unit_test(numbers_are_exact),
      cmocka_unit_test(views_of_a_problem),
      cmocka_unit_test(missing_arrays_are_refused),
      cmocka_unit_test(bad_numbers_are_refused),
      cmocka_unit_test(bad_names_are_refused),
      cmocka_unit_test(bad_sections_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
