/* Cassandra's format: reading, rewards in expectation, round trips of other people's files. */
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

#include "idm/file.h"
#include "idm/planner.h"
#include "io/pomdp/pomdp_support.h"

/* --- files of others ------------------------------------------------------------------------ */

static const char *const shared_files[] = {"1d.POMDP",         "4x3.95.POMDP",   "cheese.95.POMDP",
                                           "network.POMDP",    "paint.95.POMDP", "parr95.95.POMDP",
                                           "shuttle.95.POMDP", "tiger.95.POMDP"};

/* A shared problem, or NULL where the shared data is absent. */
static idm_problem *read_shared(const char *name, idm_notes *opt_notes)
{
  const char *shared = getenv("IDM_SHARED");
  char path[512];
  snprintf(path, sizeof path, "%s/data/pomdp/%s", shared ? shared : "../../shared", name);
  if (access(path, R_OK) != 0) {
    print_message("skipped: %s is not there (set IDM_SHARED)\n", path);
    return NULL;
  }
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
    if (!problem) skip();
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
  if (!p) skip();
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
  if (!p) skip();
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
  if (!p) skip();
  for (size_t s = 0; s < 7; s++) assert_true(p->setting->start[s] == 1.0 / 7);
  assert_true(utility(p, 1, 3) == 40.000004 && utility(p, 3, 0) == -40);
  idm_problem_destroy(p);

  p = read_shared("parr95.95.POMDP", NULL);
  assert_non_null(p);
  for (size_t s = 0; s < 7; s++) assert_true(p->setting->start[s] == (s == 0 ? 1 : 0));
  assert_true(utility(p, 2, 5) == 2 && utility(p, 2, 6) == 0);
  assert_true(transition(p, 1, 0, 1) == 0.5 && emission(p, 2, 2, 1) == 1);
  idm_problem_destroy(p);

  p = read_shared("shuttle.95.POMDP", NULL);
  assert_non_null(p);
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

/* --- rewards -------------------------------------------------------------------------------- */

static void test_rewards_by_hand(void **state)
{
  (void)state;
  idm_problem *p = parse(TWO "T: u 0.5 0.5 0.25 0.75 T: v identity\n"
                             "O: u 0.5 0.25 0.25 0 1 0 O: v 0.125 0.375 0.5 1 0 0\n"
                             "R: u : a 1 2 3 4 5 6\n"  /* matrix [s'][o] */
                             "R: u : * : b 10 20 30\n" /* row over o, later than the matrix */
                             "R: * : * : * : z 100\n"  /* one observation everywhere */
                             "R: v : a : a : x -8\n");
  /* u, a: s'=a: .5*1 + .25*2 + .25*100 = 26; s'=b: y surely = 20. */
  assert_true(utility(p, 0, 0) == 0.5 * 26 + 0.5 * 20);
  /* u, b: s'=a: .25*100 = 25; s'=b: 20. */
  assert_true(utility(p, 0, 1) == 0.25 * 25 + 0.75 * 20);
  assert_true(utility(p, 1, 0) == 0.125 * -8 + 0.5 * 100);
  assert_true(utility(p, 1, 1) == 0);
  idm_problem_destroy(p);
}

enum { RA = 2, RS = 3, RX = 3 };

/* One coordinate: an index, or -1 for all, written to the text. */
static int draw_element(uint64_t *seed, growing *t, unsigned count)
{
  const int element = (int)draw(seed, count + 1) - 1;
  if (element < 0)
    append(t, " : *");
  else
    append(t, " : %d", element);
  return element;
}

/* Append one rule and apply it to the full array of rewards. */
static void draw_rule(uint64_t *seed, growing *t, double reward[RA][RS][RS][RX])
{
  const unsigned form = draw(seed, 4);
  append(t, "R");
  const int u = draw_element(seed, t, RA);
  const int s = draw_element(seed, t, RS);
  const int next = form >= 1 ? draw_element(seed, t, RS) : -1;
  const int x = form >= 2 ? draw_element(seed, t, RX) : -1;
  const unsigned count = form == 0 ? RS * RX : form == 1 ? RX : 1;
  double number[RS * RX];
  for (unsigned i = 0; i < count; i++) {
    number[i] = (double)draw(seed, 41) - 20;
    append(t, " %g", number[i]);
  }
  append(t, "\n");
  for (int a = 0; a < RA; a++)
    for (int b = 0; b < RS; b++)
      for (int c = 0; c < RS; c++)
        for (int d = 0; d < RX; d++)
          if ((u < 0 || u == a) && (s < 0 || s == b) && (next < 0 || next == c) &&
              (x < 0 || x == d))
            reward[a][b][c][d] = number[form == 0 ? c * RX + d : form == 1 ? d : 0];
}

static void test_rewards_against_brute_force(void **state)
{
  (void)state;
  uint64_t seed = 1;
  for (int trial = 0; trial < 300; trial++) {
    growing t = {0};
    double reward[RA][RS][RS][RX] = {{{{0}}}};
    append(&t, "discount: 0.5 values: reward states: 3 actions: 2 observations: 3\n"
               "T: 0 0.5 0.5 0 0.25 0.25 0.5 0 0 1 T: 1 uniform\n"
               "O: 0 0.5 0.5 0 0 1 0 0.2 0.3 0.5 O: 1 1 0 0 0.1 0.2 0.7 0.5 0 0.5\n");
    const unsigned rules = draw(&seed, 12);
    for (unsigned i = 0; i < rules; i++) draw_rule(&seed, &t, reward);
    idm_problem *p = parse(t.bytes);
    for (size_t u = 0; u < RA; u++)
      for (size_t s = 0; s < RS; s++) {
        double expected = 0;
        for (size_t next = 0; next < RS; next++)
          for (size_t x = 0; x < RX; x++)
            expected += transition(p, u, s, next) * emission(p, u, next, x) * reward[u][s][next][x];
        assert_near(utility(p, u, s), expected, 1e-13);
      }
    char *bytes = NULL;
    idm_problem *again = write_and_read(p, NULL, &bytes);
    assert_same(p, again);
    free(bytes);
    free(t.bytes);
    idm_problem_destroy(p);
    idm_problem_destroy(again);
  }
}

/* 200,000 rules and named states by the thousand, in one line: nothing may be quadratic. */
static void test_large(void **state)
{
  (void)state;
  enum { STATES = 1000, RULES = 200000 };
  growing t = {0};
  append(&t, "discount: 0.5 values: reward actions: u v observations: 4 states:");
  for (int s = 0; s < STATES; s++) append(&t, " state-%d", s);
  append(&t, " T: * identity O: * uniform");
  for (int s = 0; s < STATES; s++) append(&t, " T: v : state-%d : state-%d 1", s, s);
  for (int i = 0; i < RULES; i++) {
    const int s = i % STATES;
    append(&t, " R: v : state-%d : state-%d : %d %d", s, (i / 4000) % 2 ? s : (s + 1) % STATES,
           (i / STATES) % 4, i);
  }
  idm_problem *p = parse(t.bytes);
  assert_int_equal(p->theta->sizes.states, STATES);
  for (int s = 0; s < STATES; s++) {
    assert_true(utility(p, 0, (size_t)s) == 0);
    double expected = 0;
    for (int x = 0; x < 4; x++) expected += 0.25 * (RULES - 4 * STATES + x * STATES + s);
    assert_near(utility(p, 1, (size_t)s), expected, 1e-6);
  }
  free(t.bytes);
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
      cmocka_unit_test(test_rewards_by_hand),
      cmocka_unit_test(test_rewards_against_brute_force),
      cmocka_unit_test(test_large),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
