/* Entries of transitions and emissions that share a free number: patterns of letters in a problem
 * file, --free and --set. */
#include "io/problem/reader.h"

#include "idm/extension/dynamics.h"
#include "io/problem/problem_support.h"

/* Two states and actions that move alike, and one that ends; models may follow. */
static char *reversal(const char *rest)
{
  static char text[4096];
  snprintf(text, sizeof text,
           "states: [l, r]\nactions: [a, b, stop]\nobservations: [win, loss, draw]\n"
           "discount: 0.9\nterminal: [stop]\n"
           "transition: {a: [[0.9, 0.1], [0.1, 0.9]], b: [[0.9, 0.1], [0.1, 0.9]]}\n"
           "observation: {a: [[0.8, 0.2, 0], [0.5, 0.3, 0.2]], b: [[0.4, 0.4, 0.2], [0.2, 0.8, "
           "0]]}\nutility: {a: 1, b: 2, stop: 0}\n%s\n",
           rest);
  return text;
}
enum { LINE = 9 };

static void expect_ties(const char *rest, idm_block_id id, const int *coordinate, size_t count,
                        const char *expected)
{
  idm_problem *problem = parse(reversal(rest), NULL);
  const idm_block *b = &problem->theta->block[id];
  assert_int_equal(b->role, IDM_DESCRIPTIVE);
  assert_non_null(b->share);
  for (size_t i = 0; i < b->size; i++)
    if (b->coordinate[i] != coordinate[i % count])
      fail_msg("%s: entry %zu is %d, expected %d", rest, i, b->coordinate[i],
               coordinate[i % count]);
  char names[200] = "";
  for (size_t i = 0; i < b->coordinate_name.count; i++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "",
             b->coordinate_name.name[i]);
  assert_string_equal(names, expected);
  expect_round_trip(problem);
  idm_problem_destroy(problem);
}

static void test_patterns(void **state)
{
  (void)state;
  const int off[12] = {-1, 0, 0, -1, -1, 0, 0, -1, -1, -1, -1, -1};
  /* Of two letters the first takes what the second leaves; one letter beside dots says the same. */
  expect_ties("free: {transition: {hazard: [[a, b], [b, a]]}}", IDM_TRANSITION, off, 12, "hazard");
  expect_ties("free: {transition: {hazard: [[., h], [h, .]]}}", IDM_TRANSITION, off, 12, "hazard");
  expect_ties("free: {transition: {hazard: {\"*\": [[., h], [h, .]]}}}", IDM_TRANSITION, off, 12,
              "hazard");
  /* By action, two names. */
  expect_ties("free: {transition: {u: {a: [[., h], [h, .]]}, v: {b: [[., x], [., .]]}}}",
              IDM_TRANSITION, (int[]){-1, 0, 0, -1, -1, 1, -1, -1, -1, -1, -1, -1}, 12, "u v");
  /* What is seen; an entry of 0 is no part of it. */
  expect_ties("free: {emission: {sure: {a: [[g, h, .], [., ., .]], b: [[., ., .], [h, g, .]]}}}",
              IDM_EMISSION,
              (int[]){-1, 0, -1, -1, -1, -1, -1, -1, -1, 0, -1, -1, -1, -1, -1, -1, -1, -1}, 18,
              "sure");
  /* Models that agree are tied alike. */
  expect_ties("models: [{}, {observation: {a: [[0.5, 0.4, 0.1], [0.2, 0.3, 0.5]]}}]\n"
              "free: {transition: {hazard: [[a, b], [b, a]]}}",
              IDM_TRANSITION, off, 12, "hazard");
}

static void test_scales(void **state)
{
  (void)state;
  idm_problem *p = parse(reversal("free: {transition: {h: [[a, b], [b, a]]}}"), NULL);
  const idm_block *b = &p->theta->block[IDM_TRANSITION];
  assert_int_equal(b->scale, IDM_SCALE_LOGIT);
  assert_int_equal(b->prior.kind, IDM_PRIOR_NORMAL);
  assert_near(b->prior.argument[1], 1.5, 0);
  idm_problem_destroy(p);
  p = parse(reversal("free: {transition: {scale: identity, h: [[a, b], [b, a]]}}"), NULL);
  assert_int_equal(p->theta->block[IDM_TRANSITION].prior.kind, IDM_PRIOR_BETA);
  idm_problem_destroy(p);
  p = parse(reversal("free: {transition: {scale: identity, prior: {beta: [1, 9]}, h: [[a, b], [b, "
                     "a]]}}"),
            NULL);
  assert_near(p->theta->block[IDM_TRANSITION].prior.argument[1], 9, 0);
  expect_round_trip(p);
  idm_problem_destroy(p);
}

/* --free takes the file's place, and --set gives the number a value of the agent's. */
static void test_options(void **state)
{
  (void)state;
  idm_error error = {0};
  idm_problem *p = parse(reversal("free: [alpha]"), NULL);
  check(idm_problem_set_free(p, "{transition: {hazard: {a: [[u, v], [v, u]]}}}", &support_error));
  check(idm_problem_set(p, "transition.hazard=0.25", &support_error));
  const double *t = p->theta->block[IDM_TRANSITION].value;
  const double expected[8] = {0.75, 0.25, 0.25, 0.75, 0.9, 0.1, 0.1, 0.9};
  expect_near(t, expected, 8);
  assert_near(p->setting->transition[1], 0.1, 0);
  expect_round_trip(p);
  assert_int_equal(idm_problem_set(p, "transition.hazard=1", &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "expected a number between 0 and 1"));
  assert_int_equal(idm_problem_set(p, "transition.other=0.3", &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "transition.NAME"));
  expect_near(t, expected, 8);
  /* Nothing may take the place of what is tied. */
  assert_int_equal(idm_problem_apply_rule(p, &(idm_model_rule){.uniform = 0.2}, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "entries of transition are free"));
  idm_problem_destroy(p);
}

static void test_errors(void **state)
{
  (void)state;
  static const struct {
    const char *rest;
    long column;
    const char *words;
  } cases[] = {
      {"free: {transition: {prior: {normal: [0, 1]}}}", 29, "flat or dirichlet"},
      {"free: {transition: {h: a}}", 24, "expected rows of letters"},
      {"free: {transition: {h: [[a, b]]}}", 24, "rows, one per state"},
      {"free: {transition: {h: [[a], [b]]}}", 25, "letters, one per column"},
      {"free: {transition: {h: [[0.1, b], [b, .]]}}", 26, "expected a letter, or ."},
      {"free: {transition: {h: [[., .], [., .]]}}", 24, "ties no entry"},
      {"free: {transition: {h: [[a, b], [c, a]]}}", 34, "expected one letter, or two"},
      {"free: {transition: {h: [[a, a], [., .]]}}", 25, "expected numbers of the agent's models"},
      {"free: {transition: {h: {stop: [[a, b], [b, a]]}}}", 24, "ties no entry"},
      {"free: {transition: {h: {fly: [[a, b], [b, a]]}}}", 25, "fly"},
      {"free: {transition: {g: [[., h], [., .]], h: [[h, .], [., .]]}}", 46,
       "expected one name per row"},
      {"free: {transition: {h: [[h, .], [h, .]]}}", 33, "for 0.9 and for 0.1"},
      {"free: {transition: {h/i: [[., h], [h, .]]}}", 21, "one without '/'"},
      {"free: {transition: {prior: {dirichlet: [1, 1]}, h: [[., h], [h, .]]}}", 29,
       "a prior of numbers"},
      {"free: {emission: {h: {a: [[., ., h], [., ., .]]}}}", 27, "which stays 0; expected . there"},
      {"free: {emission: {h: {a: [[., ., .], [g, h, .]]}}}", 38,
       "cannot be expressed by one number"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    expect_error(reversal(cases[i].rest), LINE, cases[i].column, cases[i].words);
  /* Models that differ where they are tied do not move as one. */
  expect_error(reversal("models: [{}, {transition: {\"*\": uniform}}]\n"
                        "free: {transition: {hazard: [[a, b], [b, a]]}}"),
               LINE + 1, 30, "for 0.9 and for 0.5");
  expect_error("states: [a, b]\nactions: [u]\nobservations: states\ndiscount: 0.9\n"
               "transition: uniform\nutility: {u: 0}\nfree: {emission: {h: [[a, b], [b, a]]}}\n",
               7, 18, "observations are the states");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_patterns),
      cmocka_unit_test(test_scales),
      cmocka_unit_test(test_options),
      cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
