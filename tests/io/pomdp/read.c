/* Cassandra's format: reading, round trips of other people's files. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "idm/extension/planner.h"
#include "io/file.h"
#include "io/pomdp/pomdp_support.h"

/* --- files of others ------------------------------------------------------------------------ */

static const char *const shared_files[] = {"1d.POMDP",         "4x3.95.POMDP",   "cheese.95.POMDP",
                                           "network.POMDP",    "paint.95.POMDP", "parr95.95.POMDP",
                                           "shuttle.95.POMDP", "tiger.95.POMDP"};

static idm_problem *read_shared(const char *name, idm_notes *opt_notes)
{
  char file[64];
  snprintf(file, sizeof file, "pomdp/%s", name);
  const char *path = support_shared(file);
  char *bytes = NULL;
  size_t length = 0;
  idm_error error = {0};
  assert_int_equal(idm_file_read(path, 1 << 20, &bytes, &length, &error), IDM_OK);
  idm_problem *problem = parse_as(bytes, path, opt_notes);
  free(bytes);
  return problem;
}

static void test_shared_round_trip(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof shared_files / sizeof shared_files[0]; i++) {
    idm_problem *problem = read_shared(shared_files[i], NULL);
    idm_notes notes = {0};
    char *bytes = NULL;
    idm_problem *again = write_and_read(problem, &notes, &bytes);
    assert_same(problem, again);
    assert_int_equal(notes.count, 0);
    idm_notes_clear(&notes);
    free(bytes);
    idm_problem_destroy(problem);
    idm_problem_destroy(again);
  }
}

static void test_tiger(void **state)
{
  (void)state;
  idm_notes notes = {0};
  idm_problem *p = read_shared("tiger.95.POMDP", &notes);
  assert_string_equal(p->setting->name, "tiger.95");
  assert_string_equal(p->setting->states.name[1], "tiger-right");
  assert_string_equal(p->setting->actions.name[0], "listen");
  assert_string_equal(idm_agent_planner(&p->agent)->name, "bounded-rational");
  assert_int_equal(notes.count, 0);
  assert_false(p->setting->fully_observed);
  assert_true(idm_theta_scalar(p->theta, IDM_DISCOUNT) == 0.95);
  assert_true(idm_theta_scalar(p->theta, IDM_ALPHA) == 0);
  assert_true(idm_theta_scalar(p->theta, IDM_BETA) == INFINITY);
  assert_true(idm_theta_scalar(p->theta, IDM_ETA) == 0);
  assert_true(p->setting->start[0] == 0.5);
  assert_true(transition(p, 0, 1, 1) == 1 && transition(p, 0, 1, 0) == 0);
  assert_true(transition(p, 1, 0, 1) == 0.5);
  assert_true(emission(p, 0, 0, 0) == 0.85 && emission(p, 0, 0, 1) == 0.15);
  assert_true(emission(p, 2, 1, 0) == 0.5);
  const double expected[3][2] = {{-1, -1}, {-100, 10}, {10, -100}};
  for (size_t u = 0; u < 3; u++)
    for (size_t s = 0; s < 2; s++) assert_true(utility(p, u, s) == expected[u][s]);
  assert_memory_equal(p->theta->block[IDM_TRANSITION].value, p->setting->transition,
                      3 * 2 * 2 * sizeof(double));
  assert_memory_equal(p->theta->block[IDM_EMISSION].value, p->setting->emission,
                      3 * 2 * 2 * sizeof(double));
  idm_problem_destroy(p);
}

static void test_1d(void **state)
{
  (void)state;
  idm_notes notes = {0};
  idm_problem *p = read_shared("1d.POMDP", &notes);
  assert_int_equal(notes.count, 1);
  assert_int_equal(count_notes(&notes, "2 rows of T"), 1);
  assert_near(transition(p, 0, 3, 0), 1.0 / 3, 1e-15);
  for (size_t u = 0; u < 2; u++)
    for (size_t s = 0; s < 4; s++)
      assert_true(utility(p, u, s) == ((u == 0 && s == 2) || (u == 1 && s == 1) ? 1 : 0));
  idm_notes_clear(&notes);
  idm_problem_destroy(p);
}

static void test_other_shared(void **state)
{
  (void)state;
  idm_problem *p = read_shared("network.POMDP", NULL);
  for (size_t s = 0; s < 7; s++) assert_true(p->setting->start[s] == 1.0 / 7);
  assert_true(utility(p, 1, 3) == 40.000004 && utility(p, 3, 0) == -40);
  idm_problem_destroy(p);

  p = read_shared("parr95.95.POMDP", NULL);
  for (size_t s = 0; s < 7; s++) assert_true(p->setting->start[s] == (s == 0 ? 1 : 0));
  assert_true(utility(p, 2, 5) == 2 && utility(p, 2, 6) == 0);
  assert_true(transition(p, 1, 0, 1) == 0.5 && emission(p, 2, 2, 1) == 1);
  idm_problem_destroy(p);

  p = read_shared("shuttle.95.POMDP", NULL);
  assert_string_equal(p->setting->states.name[7], "7");
  assert_true(p->setting->start[7] == 1);
  assert_near(utility(p, 2, 3), 7, 1e-14);
  assert_true(utility(p, 1, 6) == -3);
  idm_problem_destroy(p);
}

/* --- forms ---------------------------------------------------------------------------------- */

static void test_free_of_lines(void **state)
{
  (void)state;
  idm_problem *p = parse("\xef\xbb\xbf# comment: T: u\r\nactions:u v#glued\nstates:a b values:cost "
                         "observations:x y start:a discount:+.5e0 "
                         "T:u identity T:v:* uniform O:*:a:x 1 O:*:b 0.25 7.5e-1 "
                         "R:u:*:*:* - 2 R:v:b:b:y +4");
  assert_true(idm_theta_scalar(p->theta, IDM_DISCOUNT) == 0.5);
  assert_true(p->setting->start[0] == 1);
  assert_true(emission(p, 1, 1, 1) == 0.75 && emission(p, 0, 0, 0) == 1);
  assert_true(utility(p, 0, 0) == 2 && utility(p, 0, 1) == 2);
  assert_true(utility(p, 1, 0) == 0 && !signbit(utility(p, 1, 0)));
  assert_true(utility(p, 1, 1) == -0.5 * 0.75 * 4);
  idm_problem_destroy(p);
}

/* Words of the format may be names: what follows them tells which they are. */
static void test_words_as_names(void **state)
{
  (void)state;
  idm_problem *p = parse("discount: 0 values: reward actions: T states: start reset R inf "
                         "observations: O cost start include: R reset "
                         "T: T : * : start 1 O: T : * : cost 1 R: T : R : * : O 3 "
                         "R: T : inf : start : cost 5");
  assert_int_equal(p->theta->sizes.states, 4);
  assert_true(p->setting->start[1] == 0.5 && p->setting->start[2] == 0.5);
  assert_true(transition(p, 0, 3, 0) == 1 && utility(p, 0, 3) == 5 && utility(p, 0, 2) == 0);
  idm_problem_destroy(p);
}

static void test_later_overrides(void **state)
{
  (void)state;
  idm_problem *p = parse(TWO TWO_O "T: * uniform T: u : a : * 0 T: u : a : b 1 T: v identity "
                                   "T: v : b 0.25 0.75 O: u : b : * 0 O: u : b : z 1 "
                                   "R: * : * : * : * 7 R: u : a : * : * 1e-3 R: u : a : a : x 9");
  assert_true(transition(p, 0, 0, 1) == 1 && transition(p, 0, 0, 0) == 0);
  assert_true(transition(p, 0, 1, 0) == 0.5);
  assert_true(transition(p, 1, 0, 0) == 1 && transition(p, 1, 1, 1) == 0.75);
  assert_true(emission(p, 0, 1, 2) == 1 && emission(p, 0, 1, 0) == 0);
  assert_true(emission(p, 0, 0, 2) == 1.0 / 3);
  assert_true(utility(p, 0, 0) == 1e-3); /* a is never reached: the last word is exact */
  assert_true(utility(p, 1, 0) == 7);
  idm_problem_destroy(p);
}

static void test_starts(void **state)
{
  (void)state;
  static const struct {
    const char *start;
    double expected[4];
  } cases[] = {
      {"", {0.25, 0.25, 0.25, 0.25}},
      {"start: uniform", {0.25, 0.25, 0.25, 0.25}},
      {"start: c", {0, 0, 1, 0}},
      {"start: 3", {0, 0, 0, 1}},
      {"start: 0 1 0 0", {0, 1, 0, 0}},
      {"start: 0.125 0.25 5e-1 .125", {0.125, 0.25, 0.5, 0.125}},
      {"start include: d 1", {0, 0.5, 0, 0.5}},
      {"start include : *", {0.25, 0.25, 0.25, 0.25}},
      {"start exclude: d 1 d", {0.5, 0, 0.5, 0}},
      {"start exclude:c a b", {0, 0, 0, 1}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    /* reset means the start, be it known before the row or only after it. */
    for (int after = 0; after < 2; after++) {
      char file[512];
      snprintf(file, sizeof file,
               "discount: 0.9 values: reward states: a b c d actions: u observations: 1\n"
               "%s\nT: u identity T: u : b reset O: u uniform\n%s",
               after ? "" : cases[i].start, after ? cases[i].start : "");
      idm_problem *p = parse(file);
      for (size_t s = 0; s < 4; s++) {
        assert_true(p->setting->start[s] == cases[i].expected[s]);
        assert_true(transition(p, 0, 1, s) == cases[i].expected[s]);
        assert_true(transition(p, 0, 2, s) == (s == 2 ? 1 : 0));
      }
      idm_problem_destroy(p);
    }
  }
}

static void test_reset_overridden(void **state)
{
  (void)state;
  idm_problem *p = parse(TWO TWO_O "T: * : * reset T: u : a : b 0.5 T: v : a uniform "
                                   "T: u : a : a 0.5 start: b");
  assert_true(transition(p, 0, 0, 0) == 0.5 && transition(p, 0, 0, 1) == 0.5);
  assert_true(transition(p, 1, 0, 0) == 0.5);
  assert_true(transition(p, 0, 1, 1) == 1 && transition(p, 1, 1, 1) == 1);
  idm_problem_destroy(p);
}

static void test_single_state(void **state)
{
  (void)state;
  static const char *const starts[] = {"start: 0", "start: 1", "start: 1.0", "start: s", ""};
  for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
    char file[256];
    snprintf(file, sizeof file,
             "discount: 0 values: reward states: s actions: 1 observations: 1 %s T: 0 identity "
             "O: 0 identity R: 0 : 0 2.5",
             starts[i]);
    idm_problem *p = parse(file);
    assert_true(p->setting->start[0] == 1 && utility(p, 0, 0) == 2.5);
    idm_problem_destroy(p);
  }
}

static void test_without_observations(void **state)
{
  (void)state;
  idm_problem *p = parse("discount: 0.9 values: reward states: a b actions: u v\n"
                         "T: u 0.5 0.5 0.25 0.75 T: v uniform\n"
                         "R: u 1 2 3 4 R: u : b 5 6 R: v : a : b 8 R: v : b : b : b 10");
  assert_true(p->setting->fully_observed);
  assert_int_equal(p->theta->sizes.observations, 2);
  assert_string_equal(p->setting->observations.name[1], "b");
  for (size_t u = 0; u < 2; u++)
    for (size_t s = 0; s < 2; s++)
      for (size_t x = 0; x < 2; x++) assert_true(emission(p, u, s, x) == (s == x ? 1 : 0));
  assert_true(utility(p, 0, 0) == 1.5 && utility(p, 0, 1) == 5.75);
  assert_true(utility(p, 1, 0) == 4 && utility(p, 1, 1) == 5);
  char *bytes = NULL;
  idm_problem *again = write_and_read(p, NULL, &bytes);
  assert_same(p, again);
  assert_null(strstr(bytes, "observations"));
  assert_null(strstr(bytes, "O:"));
  free(bytes);
  idm_problem_destroy(p);
  idm_problem_destroy(again);
}

static void test_names_of_files(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {"a/b.c/my.model.POMDP", "my.model"}, {"plain", "plain"}, {"/x/.POMDP", ".POMDP"}, {"", ""}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *p = parse_as(TWO TWO_O "T: * identity", cases[i][0], NULL);
    assert_string_equal(p->setting->name, cases[i][1]);
    idm_problem_destroy(p);
  }
}

static void test_notes(void **state)
{
  (void)state;
  idm_notes notes = {0};
  idm_problem *p = parse_as("discount: 0.9 states: a b actions: u v observations: x y\n"
                            "start: 0.50001 0.5 T: * 0.33333 0.66666 0.5 0.5 T: u : b 0.5 0.50002\n"
                            "O: u uniform O: v 0.3 0.6999999999 0.1 0.9",
                            "n.POMDP", &notes);
  assert_int_equal(notes.count, 3);
  assert_int_equal(count_notes(&notes, "no values:"), 1);
  assert_int_equal(count_notes(&notes, "1 row of start summed to 1 only within 1e-05"), 1);
  assert_int_equal(count_notes(&notes, "3 rows of T summed to 1 only within 2e-05"), 1);
  assert_near(p->setting->start[0], 0.50001 / 1.00001, 1e-15);
  assert_near(transition(p, 1, 0, 1), 2.0 / 3, 1e-15);
  idm_notes_clear(&notes);
  idm_problem_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shared_round_trip),
      cmocka_unit_test(test_tiger),
      cmocka_unit_test(test_1d),
      cmocka_unit_test(test_other_shared),
      cmocka_unit_test(test_free_of_lines),
      cmocka_unit_test(test_words_as_names),
      cmocka_unit_test(test_later_overrides),
      cmocka_unit_test(test_starts),
      cmocka_unit_test(test_reset_overridden),
      cmocka_unit_test(test_single_state),
      cmocka_unit_test(test_without_observations),
      cmocka_unit_test(test_names_of_files),
      cmocka_unit_test(test_notes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
