/* Problems written as YAML: what is read back is the same, bit for bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/file.h"
#include "io/path_support.h"
#include "io/problem_file.h"

/* --- support -------------------------------------------------------------------------------- */

static idm_problem *parse(const char *text)
{
  idm_error error = {0};
  idm_problem *problem = NULL;
  if (idm_problem_parse_yaml(text, strlen(text), "p.yaml", &problem, NULL, &error) != IDM_OK)
    fail_msg("%ld:%ld: %s", error.line, error.column, error.message);
  return problem;
}

/* Write, read, compare; then write again and compare the texts. The text is the caller's to free.
 */
static char *round_trip(const idm_problem *problem)
{
  idm_error error = {0};
  idm_notes notes = {0};
  idm_problem *again = NULL;
  char *text = NULL;
  char *second = NULL;
  size_t length = 0;
  char buffer[400];
  if (idm_problem_write_yaml(problem, path, &notes, &error) != IDM_OK)
    fail_msg("%s", error.message);
  assert_int_equal(notes.count, 0);
  assert_int_equal(idm_file_read(path, 1 << 26, &text, &length, &error), IDM_OK);
  if (idm_problem_read(path, &again, &notes, &error) != IDM_OK)
    fail_msg("%ld:%ld: %s in\n%s", error.line, error.column, error.message, text);
  assert_int_equal(notes.count, 0);
  if (!idm_problem_compare(problem, again, 0, buffer, sizeof buffer))
    fail_msg("%s\n%s", buffer, text);
  assert_string_equal(problem->setting->name, again->setting->name);
  assert_int_equal(idm_problem_write_yaml(again, path, NULL, &error), IDM_OK);
  assert_int_equal(idm_file_read(path, 1 << 26, &second, &length, &error), IDM_OK);
  assert_string_equal(text, second);
  free(second);
  idm_problem_destroy(again);
  return text;
}

static void round_trip_text(const char *yaml, const char *const *words)
{
  idm_problem *problem = parse(yaml);
  char *text = round_trip(problem);
  for (; words && *words; words++)
    if (!strstr(text, *words)) fail_msg("'%s' is not in\n%s", *words, text);
  free(text);
  idm_problem_destroy(problem);
}

/* --- tests ---------------------------------------------------------------------------------- */

static void test_examples(void **state)
{
  (void)state;
  static const char *const examples[] = {"diag",   "tiger",       "beads",
                                         "clinic", "maintenance", "reversal"};
  for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
    char name[100];
    snprintf(name, sizeof name, "../examples/%s.yaml", examples[i]);
    idm_error error = {0};
    idm_problem *problem = NULL;
    assert_int_equal(idm_problem_read(name, &problem, NULL, &error), IDM_OK);
    free(round_trip(problem));
    idm_problem_destroy(problem);
  }
}

/* Where states are observed a prior of beliefs is weights, and one of them is the reference. */
static void test_state_weights(void **state)
{
  (void)state;
  static const char *const words[] = {"belief_prior: [3, 1]", "reference: b", NULL};
  round_trip_text("name: m\nstates: [a, b]\nactions: [u]\nobservations: states\ndiscount: 0.5\n"
                  "transition: uniform\nutility: {u: 0}\nbelief_prior: {a: 3, b: 1}\n"
                  "free: {belief_prior: {reference: b}}\n",
                  words);
}

static void test_every_key(void **state)
{
  (void)state;
  static const char yaml[] =
      "name: \"all: of # it\"\nstates: [a, b]\nactions: [stay, go, stop]\n"
      "observations: {p: [u, v, w], q: [\"1\"]}\nobservation_from: before\n"
      "start: [0.1, 0.9]\ndiscount: 1\nhorizon: 12\nends: [go]\nterminal: [stop]\n"
      "transition: {stay: identity, go: [[0.3333333, 0.6666667], [0.2, 0.8]]}\n"
      "observation: {\"*\": [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]], go: uniform}\n"
      "utility: {stay: -fee, go: [pay, -0.0], stop: 1e-3}\n"
      "models:\n  - {weight: 2, transition: {go: uniform}}\n"
      "  - {weight: 1, observation: uniform, transition: identity}\n"
      "agent: {planner: rational, alpha: -0.0, beta: -inf, eta: -3, temperature: 0.1, resolution: "
      "7, "
      "evaluate: interpolate, surprise: observation, recognition: sampled, tolerance: 1e-6, "
      "decision_capacity: 0.1, specification_capacity: 0.2, recognition_capacity: 0.3, "
      "weights: {go: [1, 2], stop: [3, 4, 5]}}\n"
      "action_prior: [1, 1, 5]\nbelief_prior: {dirichlet: [0.5, 2]}\n"
      "certainty: {above: 0.9, award: 2.5}\n"
      "belief_utility: {guess: 0.25, pieces: [[-1, 0.1], 2, {a: 1e-3, \"*\": 0}]}\n"
      "free:\n  alpha: {scale: log, prior: flat}\n  beta:\n  eta: {prior: {uniform: [-1, 1]}}\n"
      "  utility: {scale: signed-log}\n  discount:\n  action_prior: {prior: {dirichlet: [1, 2, "
      "3]}}\n"
      "  model_prior:\n  weights:\n  temperature: {prior: {gamma: [2, 3]}}\n"
      "data: {agent: \"who did\", trajectory: [w, \"1\"], time: t, action: u, observation: [x, y], "
      "available: open, codes: {action: {0: stay, no: go}, observation: [index, {none: \"1\"}]}, "
      "missing: [NA, \"\\\"?\\\"\"]}\n";
  static const char *const words[] = {"name: \"all: of # it\"",
                                      "observations: [\"u/1\", \"v/1\", \"w/1\"]",
                                      "observation_from: before",
                                      "observation: [index, {none: \"1\"}]",
                                      "action: {\"0\": stay, \"no\": go}",
                                      "horizon: 12",
                                      "ends: [go]",
                                      "terminal: [stop]",
                                      "stay: identity",
                                      "go: uniform",
                                      "stay: \"-fee\"",
                                      "go: [pay, -0.0]",
                                      "stop: 0.001",
                                      "planner: rational",
                                      "alpha: -0.0",
                                      "beta: -inf",
                                      "recognition_capacity: 0.3",
                                      "go: [0, 1, 2]",
                                      "stop: uniform",
                                      "belief_prior: {dirichlet: [0.5, 2]}",
                                      "certainty: {above: 0.9, award: 2.5}",
                                      "belief_utility: {entropy: 0, guess: 0.25, pieces: [[-1, "
                                      "0.1], [2, 2], [0.001, 0]]}",
                                      "alpha: {scale: log, prior: flat}",
                                      "agent: \"who did\"",
                                      "trajectory: [w, \"1\"]",
                                      NULL};
  round_trip_text(yaml, words);
}

static void test_forms(void **state)
{
  (void)state;
  /* Unknown environment, an MDP, perturbed models, nothing but terminal actions. */
  static const char *const texts[] = {
      "states: 2\nactions: 1\nobservations: 2\ndiscount: 0.5\nutility: {0: 1}\nmodels:\n"
      "  - {weight: 3, transition: identity, observation: [[0.1, 0.9], [0.2, 0.8]]}\n"
      "  - {weight: 1, transition: uniform, observation: identity}\n",
      "states: 2\nactions: 1\nobservations: 2\ndiscount: 0.5\nutility: {0: 1}\nobservation: "
      "identity\n"
      "models: [{transition: uniform}]\n",
      "states: 3\nactions: 2\nobservations: states\ndiscount: 0.5\nutility: {\"*\": 1}\n"
      "transition: uniform\nmodels: {perturb: {transition: 0.07}}\n",
      "states: 2\nactions: [a, b]\nobservations: 2\nterminal: [a, b]\ndiscount: 0\nutility: {a: 1, "
      "b: "
      "[0, 3]}\n",
      "states: 2\nactions: 1\nobservations: 3\ndiscount: 0.3\nutility: {0: 0.1}\n"
      "transition: [[0.1, 0.9], [0.7, 0.3]]\nobservation: [[0.1, 0.2, 0.7], [0.7, 0.1, 0.2]]\n"
      "models: {perturb: {observation: 0.1, transition: 0.3}, independent: true}\n",
      "states: 1\nactions: 1\nobservations: 1\ndiscount: 0\nutility: {0: 4.9e-324}\n"
      "transition: [[1]]\nobservation: [[1]]\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) round_trip_text(texts[i], NULL);
}

static void test_labels(void **state)
{
  (void)state;
  static const char *const labels[] = {
      "plain",
      "yes",
      "No",
      "NULL",
      "~",
      "inf",
      "nan",
      "1",
      "-",
      "- x",
      "a: b",
      "a #b",
      "a\"b\\c",
      "[x]",
      "{y}",
      "&anchor",
      "!tag",
      "%d",
      "@at",
      "`tick",
      ">",
      "?",
      "'quote'",
      "\xc3\xa9t\xc3\xa9",
      "\xef\xbb\xbf mark",
      "\xc2\xa0nbsp",
      "\xf0\x9f\x99\x82",
      "\xef\xbf\xbf",
      "<<",
      "=",
      "a-b_c9",
      "0x1",
      "*x",
  };
  const size_t count = sizeof labels / sizeof labels[0];
  idm_problem *problem = NULL;
  idm_error error = {0};
  assert_int_equal(
      idm_problem_create((idm_sizes){count, count + 1, count}, 1, true, true, &problem, &error),
      IDM_OK);
  idm_labels *const lists[] = {&problem->setting->states, &problem->setting->actions,
                               &problem->setting->observations};
  for (size_t k = 0; k < 3; k++)
    for (size_t i = 0; i < count; i++)
      idm_labels_set(lists[k], i, labels[i], strlen(labels[i]), &error);
  /* A key too long for YAML's short form, made of characters that are escaped. */
  char longest[1001];
  memset(longest, '"', 1000);
  longest[1000] = '\0';
  idm_labels_set(lists[1], count, longest, 1000, &error);
  const size_t size = count * count;
  for (size_t u = 0; u <= count; u++)
    for (size_t s = 0; s < count; s++) {
      const size_t to = (s + u) % count;
      problem->setting->transition[u * size + s * count + to] = 1;
      problem->setting->emission[u * size + s * count + to] = 1;
      problem->theta->block[IDM_TRANSITION].value[u * size + s * count + to] = 1;
      problem->theta->block[IDM_EMISSION].value[u * size + s * count + to] = 1;
      problem->theta->block[IDM_UTILITY].value[u * count + s] = (double)(u * s) / 7;
    }
  free(round_trip(problem));
  /* What a reader would refuse is not written. */
  static const char *const refused[] = {"tab\there",    "line\nbreak", " lead", "trail ",
                                        "\x01\x1f\x7f", "\xc2\x85nel", "\xff",  "a|b"};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
    for (size_t k = 0; k < 3; k++) {
      const bool good = k != 1 && i == 7;
      idm_labels_set(lists[k], 0, refused[i], strlen(refused[i]), &error);
      assert_int_equal(idm_problem_write_yaml(problem, "/dev/null", NULL, &error),
                       good ? IDM_OK : IDM_INPUT);
      idm_labels_set(lists[k], 0, labels[0], strlen(labels[0]), &error);
    }
  idm_problem_destroy(problem);
}

static void test_numbers(void **state)
{
  (void)state;
  static const double numbers[] = {0.1,
                                   1.0 / 3,
                                   2.0 / 3,
                                   1e300,
                                   -1e-300,
                                   4.9e-324,
                                   123456789,
                                   1e15,
                                   1e16,
                                   0.7,
                                   5e-5,
                                   -0.0,
                                   1.7976931348623157e308,
                                   3.141592653589793};
  idm_problem *problem =
      parse("states: 14\nactions: 1\nobservations: 1\ndiscount: 0.1\ntransition: identity\n"
            "observation: uniform\nutility: {0: 0}\n");
  assert_int_equal(sizeof numbers / sizeof numbers[0], 14);
  memcpy(problem->theta->block[IDM_UTILITY].value, numbers, sizeof numbers);
  char *text = round_trip(problem);
  assert_non_null(strstr(text, "[0.1, 0.3333333333333333, 0.6666666666666666, 1e+300, -1e-300, "));
  assert_non_null(strstr(text, "123456789, 1e+15, 1e+16, 0.7, 5e-05, -0.0, "));
  free(text);
  idm_problem_destroy(problem);
}

/* Entries that are free, tied and held; labels that need care as pairs and as names. */
static void test_entries(void **state)
{
  (void)state;
  static const char head[] = "states: [a, \"b.c\", \"x/y\", \"1\"]\nactions: [go, \"go.a\", "
                             "\"[u]\", \"- v\"]\nobservations: 2\ndiscount: 0.5\n"
                             "transition: uniform\nobservation: uniform\n"
                             "utility: {go: [pay, 0, 1, 2], \"*\": 1}\n";
  static const char *const entries[] = {
      "entries: [go.a]",
      "entries: [[\"[u]\", \"x/y\"], \"- v\", [go, \"1\"]]",
      "entries: {t: [go.a, [\"[u]\", a]], \"2\": [[go, b.c]], \"a: b # c\": [[go, \"1\"]]}",
      "entries: {t: [go.a]}, prior: flat, scale: signed-log",
      "reference: [go]",
      "reference: [[go.a, b.c]], prior: {normal: [-0.0, 0.1]}",
  };
  char text[1000];
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
    snprintf(text, sizeof text, "%sfree: {utility: {%s}, beta: {}}\n", head, entries[i]);
    round_trip_text(text, NULL);
  }
  snprintf(text, sizeof text, "%sfree: {utility: {%s}}\n", head, entries[2]);
  static const char *const words[] = {"t: [[\"go.a\", a], [\"go.a\", \"b.c\"]",
                                      "\"2\": [[go, \"b.c\"]]", "\"a: b # c\": [[go, \"1\"]]",
                                      NULL};
  round_trip_text(text, words);
}

static void expect_refusal(const idm_problem *problem, const char *words)
{
  idm_error error = {0};
  char *before = NULL;
  char *after = NULL;
  size_t length = 0;
  assert_int_equal(idm_file_read(path, 1 << 26, &before, &length, &error), IDM_OK);
  assert_int_equal(idm_problem_write_yaml(problem, path, NULL, &error), IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
  assert_int_equal(idm_file_read(path, 1 << 26, &after, &length, &error), IDM_OK);
  assert_string_equal(before, after);
  free(before);
  free(after);
}

static void test_refusals(void **state)
{
  (void)state;
  static const char yaml[] = "states: [a, b]\nactions: [u, v]\nobservations: 2\ndiscount: 0.5\n"
                             "transition: uniform\nobservation: uniform\nutility: {u: pay, v: 0}\n";
  idm_problem *p = parse(yaml);
  idm_labels_set(&p->setting->states, 0, "\xff", 1, NULL);
  expect_refusal(p, "a state is not UTF-8 text");
  idm_labels_set(&p->setting->states, 0, "\xc0\xaf", 2, NULL);
  expect_refusal(p, "a state is not UTF-8 text");
  idm_labels_set(&p->setting->states, 0, "\xed\xa0\x80", 3, NULL);
  expect_refusal(p, "a state is not UTF-8 text");
  idm_labels_set(&p->setting->states, 0, "a", 1, NULL);
  idm_labels_set(&p->setting->actions, 0, "*", 1, NULL);
  expect_refusal(p, "an action called '*'");
  idm_labels_set(&p->setting->actions, 0, "u", 1, NULL);
  idm_labels_set(&p->columns.utility, 0, "12", 2, NULL);
  expect_refusal(p, "the column '12' has no form in YAML");
  idm_labels_set(&p->columns.utility, 0, "-x", 2, NULL);
  expect_refusal(p, "the column '-x' has no form in YAML");
  idm_labels_set(&p->columns.utility, 0, "x", 1, NULL);
  p->utility_source[0].scale = 2;
  expect_refusal(p, "a utility of 2 times the column 'x'");
  p->utility_source[0].scale = 1;
  p->theta->block[IDM_CERTAINTY].role = IDM_DESCRIPTIVE;
  expect_refusal(p, "a free certainty has no form in YAML");
  p->theta->block[IDM_CERTAINTY].role = IDM_NORMATIVE;
  p->theta->block[IDM_CERTAINTY].value[0] = 2;
  expect_refusal(p, "a certainty above 2");
  p->theta->block[IDM_CERTAINTY].value[0] = 1;
  p->setting->fully_observed = true;
  expect_refusal(p, "fully observed");
  p->setting->fully_observed = false;
  idm_theta_set_scalar(p->theta, IDM_DISCOUNT, 1);
  expect_refusal(p, "the discount is 1");
  idm_theta_set_scalar(p->theta, IDM_DISCOUNT, 0.5);
  free(round_trip(p));
  idm_error error = {0};
  assert_int_equal(idm_problem_write_yaml(p, "no/such/folder/x.yaml", NULL, &error), IDM_SYSTEM);
  idm_problem_destroy(p);
}

/* A bound problem writes its columns, not the values of a trial. */
static void test_bound(void **state)
{
  (void)state;
  idm_problem *p =
      parse("states: 2\nactions: 1\nobservations: 2\ndiscount: 0.5\ntransition: uniform\n"
            "observation: uniform\nutility: {0: [pay, 3]}\n");
  assert_int_equal(idm_problem_bind(p, 2, (double[]){5, 6}, NULL), IDM_OK);
  assert_int_equal(idm_problem_write_yaml(p, path, NULL, NULL), IDM_OK);
  char *text = NULL;
  size_t length = 0;
  assert_int_equal(idm_file_read(path, 1 << 20, &text, &length, NULL), IDM_OK);
  assert_non_null(strstr(text, "\"0\": [pay, 3]\n"));
  free(text);
  idm_problem_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_examples),  cmocka_unit_test(test_state_weights),
      cmocka_unit_test(test_every_key), cmocka_unit_test(test_forms),
      cmocka_unit_test(test_labels),    cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_refusals),  cmocka_unit_test(test_bound),
      cmocka_unit_test(test_entries),
  };
  return cmocka_run_group_tests(tests, make_path, remove_path);
}
