/* Cassandra's format: reading, rewards in expectation, every bad input with its place, writing. */
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

#include "idm/io.h"

/* --- helpers ------------------------------------------------------------------------------- */

static idm_problem *parse_as(const char *text, const char *file, idm_notes *opt_notes)
{
  idm_problem *problem = NULL;
  idm_error error = {0};
  char message[1200];
  if (idm_problem_parse_pomdp(text, strlen(text), file, &problem, opt_notes, &error) != IDM_OK)
    fail_msg("%s", idm_error_text(&error, message, sizeof message));
  if (idm_problem_validate(problem, &error) != IDM_OK) fail_msg("%s", error.message);
  return problem;
}

static idm_problem *parse(const char *text)
{
  return parse_as(text, "test.POMDP", NULL);
}

static double utility(const idm_problem *problem, size_t action, size_t state)
{
  return problem->theta->block[IDM_UTILITY].value[action * problem->theta->sizes.states + state];
}

static double transition(const idm_problem *problem, size_t action, size_t state, size_t next)
{
  const idm_sizes n = problem->theta->sizes;
  return problem->setting->transition[(action * n.states + state) * n.states + next];
}

static double emission(const idm_problem *problem, size_t action, size_t next, size_t observation)
{
  const idm_sizes n = problem->theta->sizes;
  return problem->setting->emission[(action * n.states + next) * n.observations + observation];
}

static void assert_near(double found, double expected, double tolerance)
{
  if (!(fabs(found - expected) <= tolerance))
    fail_msg("found %.17g, expected %.17g", found, expected);
}

/* A fresh temporary name; the file exists and is empty. */
static void temporary_path(char *path, size_t size)
{
  const char *folder = getenv("TMPDIR");
  snprintf(path, size, "%s/idm-pomdp-XXXXXX", folder ? folder : "/tmp");
  const int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  close(descriptor);
}

/* Write, read back as text and as a problem; the caller frees both. */
static idm_problem *write_and_read(const idm_problem *problem, idm_notes *opt_notes,
                                   char **ret_text)
{
  char path[512];
  size_t length = 0;
  idm_error error = {0};
  temporary_path(path, sizeof path);
  if (idm_problem_write_pomdp(problem, path, opt_notes, &error) != IDM_OK)
    fail_msg("%s", error.message);
  assert_int_equal(idm_file_read(path, (size_t)1 << 30, ret_text, &length, &error), IDM_OK);
  unlink(path);
  return parse_as(*ret_text, path, NULL);
}

static void assert_same(const idm_problem *a, const idm_problem *b)
{
  char difference[256] = "";
  if (!idm_problem_compare(a, b, 0, difference, sizeof difference)) fail_msg("%s", difference);
}

static size_t count_notes(const idm_notes *notes, const char *part)
{
  size_t count = 0;
  for (size_t i = 0; i < notes->count; i++)
    if (strstr(notes->text[i], part)) count++;
  return count;
}

/* Text that grows. */
typedef struct text {
  char *bytes;
  size_t length;
  size_t capacity;
} text;

static void __attribute__((format(printf, 2, 3))) append(text *t, const char *format, ...)
{
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  const size_t length = (size_t)vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  assert_true(length < sizeof line);
  if (t->length + length + 1 > t->capacity) {
    t->capacity = 2 * (t->capacity + length + 1);
    t->bytes = realloc(t->bytes, t->capacity);
    assert_non_null(t->bytes);
  }
  memcpy(t->bytes + t->length, line, length + 1);
  t->length += length;
}

/* --- files of others ----------------------------------------------------------------------- */

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
  assert_string_equal(p->agent.planner, "bounded-rational");
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

/* --- forms --------------------------------------------------------------------------------- */

#define TWO   "discount: 0.5 values: reward states: a b actions: u v observations: x y z\n"
#define TWO_O "O: * uniform\n"

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

/* --- rewards ------------------------------------------------------------------------------- */

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

/* A small generator, so that the cases are the same on every machine. */
static unsigned draw(uint64_t *seed, unsigned below)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)((*seed >> 33) % below);
}

enum { RA = 2, RS = 3, RX = 3 };

/* One coordinate: an index, or -1 for all, written to the text. */
static int draw_element(uint64_t *seed, text *t, unsigned count)
{
  const int element = (int)draw(seed, count + 1) - 1;
  if (element < 0)
    append(t, " : *");
  else
    append(t, " : %d", element);
  return element;
}

/* Append one rule and apply it to the full array of rewards. */
static void draw_rule(uint64_t *seed, text *t, double reward[RA][RS][RS][RX])
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
    text t = {0};
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
  text t = {0};
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

/* --- bad input ----------------------------------------------------------------------------- */

typedef struct bad {
  const char *text;
  long line;
  long column;
  const char *part; /* of the message */
} bad;

static void assert_bad(const char *bytes, size_t length, const bad *c)
{
  idm_problem *problem = (idm_problem *)&problem;
  idm_error error = {0};
  idm_notes notes = {0};
  const idm_status status =
      idm_problem_parse_pomdp(bytes, length, "bad.POMDP", &problem, &notes, &error);
  idm_notes_clear(&notes);
  if (status != IDM_INPUT || problem) fail_msg("accepted: %s", c->text);
  if (error.status != IDM_INPUT || strcmp(error.file, "bad.POMDP") != 0 || error.line != c->line ||
      error.column != c->column || !strstr(error.message, c->part))
    fail_msg("%s\n%s:%ld:%ld: %s\nexpected %ld:%ld: %s", c->text, error.file, error.line,
             error.column, error.message, c->line, c->column, c->part);
}

static void assert_all_bad(const bad *cases, size_t count)
{
  for (size_t i = 0; i < count; i++) assert_bad(cases[i].text, strlen(cases[i].text), &cases[i]);
}

#define ASSERT_ALL_BAD(cases) assert_all_bad(cases, sizeof(cases) / sizeof((cases)[0]))

static void test_bad_preamble(void **state)
{
  (void)state;
  static const bad cases[] = {
      {"", 1, 1, "found the end of the file, expected discount:"},
      {"discount: 0.9\n", 2, 1, "expected states:"},
      {"discount: 0.9 states: 2", 1, 24, "expected actions:"},
      {"states: 2 actions: 2 observations: 2 T: * identity O: * uniform", 1, 64, "discount:"},
      {"discount: 0.9 states: 2 actions: 1 observations: 1", 1, 51, "T: for every action"},
      {"\n  discount: 1.0", 2, 13, "found '1.0', expected a discount in [0, 1)"},
      {"discount: -0.1", 1, 11, "found '-0.1'"},
      {"discount: nan", 1, 11, "found 'nan', expected a discount"},
      {"discount: inf", 1, 11, "found 'inf'"},
      {"discount: 1e999", 1, 11, "fits into a double"},
      {"discount: 0.9\ndiscount: 0.9", 2, 1, "found 'discount', expected each key"},
      {"values: reward\nvalues: cost", 2, 1, "found 'values'"},
      {"values: money", 1, 9, "found 'money', expected reward or cost"},
      {"states: 2\n states: a b", 2, 2, "found 'states'"},
      {"actions: 2\n actions: 2", 2, 2, "found 'actions'"},
      {"observations: 2\n observations: 2", 2, 2, "found 'observations'"},
      {"states: 0", 1, 9, "found '0', expected a count from 1"},
      {"states: -3", 1, 9, "found '-3'"},
      {"states: 2.5", 1, 9, "found '2.5'"},
      {"states: 99999999999999999999999", 1, 9, "expected a count from 1 to 1000000"},
      {"states: actions: 2", 1, 9, "found 'actions', expected a count, or the name of a state"},
      {"states:", 1, 8, "found the end of the file"},
      {"states: a b\n  c a", 2, 5, "found 'a', expected a name that is not taken"},
      {"states: a 2 b", 1, 11, "found '2', expected the name of a state"},
      {"states: a * b", 1, 11, "found '*'"},
      {"states: a :: b", 1, 9, "found 'a'"},
      {"states: \xc3\xa9t\xc3\xa9 b\x01 c", 1, 13, "without control characters"},
      {"states: \xff\xfe c", 1, 9, "expected the name of a state in UTF-8"},
      {"states: 2 3", 1, 11, "found '3', expected a key"},
      {"stats: 2", 1, 1, "found 'stats', expected discount:"},
      {"states 2", 1, 1, "found 'states', expected a key with its colon"},
      {": states", 1, 1, "found ':'"},
      {"T: 0 identity", 1, 1, "found 'T', expected states: first"},
      {"states: 2\nR: 0 : 0 : 0 : 0 1", 2, 1, "found 'R', expected actions: first"},
      {TWO "T: * identity\nobservations: 2", 3, 1, "found 'observations'"},
      {"states: 2 actions: 2 T: * identity observations: 2", 1, 36, "before the first T:"},
      {"states: 2 actions: 2 T: * identity O: * uniform", 1, 36, "observations: in the preamble"},
  };
  ASSERT_ALL_BAD(cases);
}

static void test_bad_sizes(void **state)
{
  (void)state;
  static const bad cases[] = {
      {"states: 11586 actions: 1 observations: 1\nT: 0 identity", 2, 1, "to fit into 1 GiB"},
      {"states: 10 actions: 1000000 observations: 14\nT: 0 identity", 2, 1, "observation prob"},
      {"states: 1000000 actions: 1000000 observations: 1000000\n R: * : * : * : * 0", 2, 2,
       "transition probabilities"},
      {"states: 12000 actions: 1 T: * uniform", 1, 26, "1 GiB"},
  };
  ASSERT_ALL_BAD(cases);
}

static void test_bad_start(void **state)
{
  (void)state;
  static const bad cases[] = {
      {"start: uniform states: 2", 1, 1, "found 'start', expected states: before start"},
      {TWO "start: a\nstart: b", 3, 1, "found 'start', expected each key"},
      {TWO "start: c", 2, 8, "found 'c', expected probabilities, uniform, or a state"},
      {TWO "start:\nT: u identity", 3, 1, "found 'T'"},
      {TWO "start: 2", 2, 8, "found '2', expected a state: a number from 0 to 1"},
      {TWO "start: 0.5", 2, 11,
       "found the end of the file, expected a probability of start, "
       "number 2 of 2"},
      {TWO "start: 0.5 0.5 0.5", 2, 16, "found '0.5', expected a key"},
      {TWO "start: 0.5 -0.5", 2, 12, "found '-0.5', expected a probability of start from 0 to 1"},
      {TWO "start: 1.1 0", 2, 8, "found '1.1'"},
      {TWO "start:\n 0.5 0.4 T: * identity " TWO_O, 3, 2, "start that sum to 0.9"},
      {TWO "start include: a c", 2, 18, "found 'c', expected a state: one of the names"},
      {TWO "start include:", 2, 15, "found the end of the file"},
      {TWO "start exclude: a b", 2, 1, "to leave a state"},
      {TWO "start include a", 2, 7,
       "found 'include', expected the name of an observation, or a key"},
      {"states: 2 start uniform", 1, 11, "found 'start', expected a key with its colon"},
  };
  ASSERT_ALL_BAD(cases);
}

static void test_bad_tables(void **state)
{
  (void)state;
  static const bad cases[] = {
      {TWO "T: w identity", 2, 4,
       "found 'w', expected an action: one of the names, a number from 0 "
       "to 1, or *"},
      {TWO "T: 2 identity", 2, 4, "found '2', expected an action"},
      {TWO "T: -1 identity", 2, 4, "found '-1', expected an action"},
      {TWO "T: 1.0 identity", 2, 4, "found '1.0', expected an action"},
      {TWO "T: u : c 1 0", 2, 8, "found 'c', expected a state"},
      {TWO "T: u : a : 7 1", 2, 12, "found '7', expected a state"},
      {TWO "O: u : a : w 1", 2, 12, "found 'w', expected an observation"},
      {TWO "T: u : a : b : x 1", 2, 14, "found ':', expected a probability of T:"},
      {TWO "T: u\n1 0\n0", 4, 2,
       "found the end of the file, expected a probability of T:, number 2"},
      {TWO "T: u\n1 0\n0 1 1", 4, 5, "found '1', expected a key"},
      {TWO "T: u : a 1 O: u uniform", 2, 12,
       "found 'O', expected a probability of T:, number 2 of 2"},
      {TWO "T: u : a identity", 2, 10,
       "found 'identity', expected a row of 2 probabilities, reset"},
      {TWO "T: u reset", 2, 6, "found 'reset', expected 2 rows of 2 probabilities, identity"},
      {TWO "O: u identity", 2, 6,
       "found 'identity', expected 2 rows of 3 probabilities or uniform"},
      {TWO "O: u : a reset", 2, 10, "found 'reset', expected a row of 3 probabilities or uniform"},
      {TWO "T: u : a : b -1e-9", 2, 14, "found '-1e-9', expected a probability of T: from 0 to 1"},
      {TWO "T: u : a : b nan", 2, 14, "found 'nan'"},
      {TWO "T: u : a : b 2", 2, 14, "found '2', expected a probability"},
      {TWO "T: u", 2, 5, "found the end of the file"},
      {TWO "T:", 2, 3, "found the end of the file, expected an action"},
      {TWO "T: u identity junk", 2, 15, "found 'junk', expected a key"},
      {TWO TWO_O "T: u identity T: v : a 1 0\n", 4, 1,
       "expected a row of T: for action 'v' and state 'b'"},
      {TWO "T: * identity O: u uniform\nO: v : b uniform", 3, 17,
       "expected a row of O: for action 'v' and state 'a'"},
      {TWO TWO_O "T: *\n1 0\n 0.5 0.4", 5, 2, "T: u : b that sum to 0.9"},
      {TWO TWO_O "T: v identity T: u identity\nT: u : b : a 0.1", 4, 14, "sum to 1.1, expected"},
      {TWO "T: * identity\nO: v : * uniform\nO: u : * : x 0.999", 4, 14, "O: u : a that sum to"},
      {TWO TWO_O "T: * : * reset T: u : a : a 1 start: b", 3, 29, "T: u : a that sum to 2"},
  };
  ASSERT_ALL_BAD(cases);
}

static void test_bad_rewards(void **state)
{
  (void)state;
  static const bad cases[] = {
      {TWO "R: u 1", 2, 6, "found '1', expected ':' and a state"},
      {TWO "R: u : a 1 2 3 4 5", 2, 19,
       "found the end of the file, expected a reward, number 6 of 6"},
      {TWO "R: u : a : b 1 2\nT: u identity", 3, 1, "found 'T', expected a reward, number 3 of 3"},
      {TWO "R: u : a : b : x", 2, 17, "expected a reward"},
      {TWO "R: u : a : b : x inf", 2, 18, "found 'inf', expected a reward"},
      {TWO "R: u : a : b : x -1e400", 2, 18, "found '-1e400', expected a reward that fits"},
      {TWO "R: u : a : b : w 1", 2, 16, "found 'w', expected an observation"},
      {TWO "R: u : a : b : x 1 2", 2, 20, "found '2', expected a key"},
      {TWO "R: u : a : b : x : 2", 2, 18, "found ':', expected a reward"},
  };
  ASSERT_ALL_BAD(cases);
}

/* Bytes that are no text, and tokens too long for a message. */
static void test_bad_bytes(void **state)
{
  (void)state;
  static const char nul[] = "states: a\0b c";
  const bad c = {"a NUL byte", 1, 9, "found 'a?b'"};
  assert_bad(nul, sizeof nul - 1, &c);

  char number[2000] = "discount: 0.";
  memset(number + 12, '3', sizeof number - 12);
  const bad d = {"a long number", 1, 11, "...', expected a discount"};
  assert_bad(number, sizeof number, &d);

  idm_problem *problem = NULL;
  assert_int_equal(idm_problem_parse_pomdp("x", 1, NULL, &problem, NULL, NULL), IDM_INPUT);
  assert_null(problem);
}

/* --- writing ------------------------------------------------------------------------------- */

static void test_written_text(void **state)
{
  (void)state;
  idm_problem *p = parse("discount: 0.75 values: reward states: a b actions: u v observations: 2\n"
                         "start: b T: u identity T: v uniform O: * 0.1 0.9 1 0\n"
                         "R: u : * : * : * -0.1 R: v : a : * : * 1e-7");
  char *bytes = NULL;
  idm_notes notes = {0};
  idm_problem *again = write_and_read(p, &notes, &bytes);
  assert_string_equal(bytes, "# test\ndiscount: 0.75\nvalues: reward\nstates: a b\nactions: u v\n"
                             "observations: 2\nstart: b\n\nT: u\nidentity\n\nT: v\nuniform\n\n"
                             "O: *\n0.1 0.9\n1 0\n\nR: u : * : * : * -0.1\n"
                             "R: v : a : * : * 1.0e-07\n");
  assert_same(p, again);
  assert_int_equal(notes.count, 0);
  free(bytes);
  idm_problem_destroy(p);
  idm_problem_destroy(again);
}

/* Numbers that need all 17 digits, signs of zero, sums of rewards: all come back bit for bit. */
static void test_exact_numbers(void **state)
{
  (void)state;
  uint64_t seed = 7;
  idm_problem *p = parse(TWO TWO_O "T: * identity");
  double *value = p->theta->block[IDM_UTILITY].value;
  for (int trial = 0; trial < 200; trial++) {
    for (size_t i = 0; i < 4; i++)
      value[i] = ldexp((double)draw(&seed, 1u << 30) / 3 - 1e8, (int)draw(&seed, 1900) - 950);
    value[draw(&seed, 4)] = -0.0;
    idm_theta_set_scalar(p->theta, IDM_DISCOUNT, draw(&seed, 1u << 30) / 1073741825.0);
    const double half = draw(&seed, 1000) / 2001.0;
    p->setting->transition[0] = p->theta->block[IDM_TRANSITION].value[0] = half;
    p->setting->transition[1] = p->theta->block[IDM_TRANSITION].value[1] = 1 - half;
    char *bytes = NULL;
    idm_problem *again = write_and_read(p, NULL, &bytes);
    assert_same(p, again);
    free(bytes);
    idm_problem_destroy(again);
  }
  idm_problem_destroy(p);
}

static void test_labels_left_out(void **state)
{
  (void)state;
  static const struct {
    const char *label;
    const char *why;
  } cases[] = {{"two words", "has a character"}, {"a:b", "has a character"},
               {"a#b", "has a character"},       {"a/b", "has a character"},
               {"12", "reads as a number"},      {"-1e5", "reads as a number"},
               {"_a", "does not start"},         {"9a", "does not start"},
               {"uniform", "is a word"},         {"T", "is a word"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *p = parse(TWO TWO_O "start: b T: * identity R: u : b : * : * 4");
    assert_int_equal(
        idm_labels_set(&p->setting->states, 1, cases[i].label, strlen(cases[i].label), NULL),
        IDM_OK);
    idm_notes notes = {0};
    char *bytes = NULL;
    idm_problem *again = write_and_read(p, &notes, &bytes);
    assert_int_equal(notes.count, 1);
    assert_int_equal(count_notes(&notes, "names of states are left out"), 1);
    assert_int_equal(count_notes(&notes, cases[i].why), 1);
    assert_non_null(strstr(bytes, "states: 2\n"));
    assert_non_null(strstr(bytes, "start: 1\n"));
    assert_non_null(strstr(bytes, "R: u : 1 : * : * 4\n"));
    assert_true(again->setting->start[1] == 1 && utility(again, 0, 1) == 4);
    idm_notes_clear(&notes);
    free(bytes);
    idm_problem_destroy(p);
    idm_problem_destroy(again);
  }
}

static idm_problem *writable(void)
{
  return parse(TWO TWO_O "T: * identity R: u : a : * : * 1");
}

static void assert_refused(idm_problem *problem, const char *part)
{
  char path[512];
  temporary_path(path, sizeof path);
  assert_int_equal(unlink(path), 0);
  idm_error error = {0};
  idm_notes notes = {0};
  assert_int_equal(idm_problem_write_pomdp(problem, path, &notes, &error), IDM_INPUT);
  if (!strstr(error.message, part)) fail_msg("'%s' lacks '%s'", error.message, part);
  assert_true(access(path, F_OK) != 0);
  idm_notes_clear(&notes);
  idm_problem_destroy(problem);
}

static void test_refusals(void **state)
{
  (void)state;
  idm_problem *p = writable();
  p->setting->terminal[1] = p->setting->ends[1] = true;
  assert_refused(p, "a terminal action, as 'v' is");

  p = writable();
  p->setting->horizon = 5;
  assert_refused(p, "a horizon");

  p = writable();
  free(p->setting->transition);
  p->setting->transition = NULL;
  assert_refused(p, "unknown transitions");

  p = writable();
  free(p->setting->emission);
  p->setting->emission = NULL;
  assert_refused(p, "unknown observation");

  p = writable();
  p->utility_source = calloc(1, sizeof *p->utility_source);
  p->utility_sources = 1;
  assert_refused(p, "utilities by column");

  p = writable();
  assert_int_equal(idm_theta_resize(p->theta, IDM_UTILITY, 4, 2, NULL), IDM_OK);
  assert_refused(p, "settings that vary");

  p = writable();
  idm_theta_set_scalar(p->theta, IDM_DISCOUNT, 1);
  assert_refused(p, "a discount of 1");

  p = writable();
  p->theta->block[IDM_UTILITY].value[0] = NAN;
  assert_refused(p, "utility");

  p = parse("discount: 0 values: reward states: 2 actions: 1 T: 0 identity");
  p->setting->emission[0] = p->setting->emission[1] = 0.5;
  assert_refused(p, "a fully observed setting");
}

static void assert_noted(idm_problem *problem, const char *part)
{
  idm_notes notes = {0};
  char *bytes = NULL;
  idm_problem *again = write_and_read(problem, &notes, &bytes);
  if (notes.count != 1 || count_notes(&notes, part) != 1)
    fail_msg("%zu notes, expected one with '%s'", notes.count, part);
  idm_notes_clear(&notes);
  free(bytes);
  idm_problem_destroy(problem);
  idm_problem_destroy(again);
}

static void test_notes_of_writing(void **state)
{
  (void)state;
  static const struct {
    idm_block_id id;
    double value;
  } parameters[] = {{IDM_ALPHA, 0.5}, {IDM_ALPHA, -0.0}, {IDM_BETA, 1}, {IDM_ETA, 2}};
  for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
    idm_problem *p = writable();
    idm_theta_set_scalar(p->theta, parameters[i].id, parameters[i].value);
    assert_noted(p, "parameters");
  }
  idm_problem *p = writable();
  p->theta->block[IDM_EMISSION].value[0] = 0.5;
  p->theta->block[IDM_EMISSION].value[1] = 0.5;
  p->theta->block[IDM_EMISSION].value[2] = 0;
  assert_noted(p, "candidate models");

  p = writable();
  p->theta->block[IDM_ACTION_PRIOR].value[0] = 0.25;
  p->theta->block[IDM_ACTION_PRIOR].value[1] = 0.75;
  assert_noted(p, "action prior");

  p = writable();
  assert_int_equal(idm_theta_resize(p->theta, IDM_BELIEF_PRIOR, 2, 1, NULL), IDM_OK);
  p->theta->block[IDM_BELIEF_PRIOR].value[0] = p->theta->block[IDM_BELIEF_PRIOR].value[1] = 2;
  assert_noted(p, "belief prior");

  p = writable();
  p->theta->block[IDM_CERTAINTY].value[1] = 2.5;
  assert_noted(p, "certainty");

  p = writable();
  p->theta->block[IDM_ALPHA].role = IDM_DESCRIPTIVE;
  assert_noted(p, "free");

  p = writable();
  assert_int_equal(idm_labels_create(&p->columns.agent, 1, NULL), IDM_OK);
  assert_int_equal(idm_labels_set(&p->columns.agent, 0, "who", 3, NULL), IDM_OK);
  assert_noted(p, "columns");

  p = writable();
  p->setting->ends[0] = true;
  assert_noted(p, "end the log");

  p = writable();
  p->agent.resolution = 7;
  assert_noted(p, "planner");
}

static void test_unwritable(void **state)
{
  (void)state;
  idm_problem *p = writable();
  idm_error error = {0};
  assert_int_equal(idm_problem_write_pomdp(p, "/nonexistent-folder/of-idm/x.POMDP", NULL, &error),
                   IDM_SYSTEM);
  assert_non_null(strstr(error.message, "/nonexistent-folder"));
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
      cmocka_unit_test(test_bad_preamble),
      cmocka_unit_test(test_bad_sizes),
      cmocka_unit_test(test_bad_start),
      cmocka_unit_test(test_bad_tables),
      cmocka_unit_test(test_bad_rewards),
      cmocka_unit_test(test_bad_bytes),
      cmocka_unit_test(test_written_text),
      cmocka_unit_test(test_exact_numbers),
      cmocka_unit_test(test_labels_left_out),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_notes_of_writing),
      cmocka_unit_test(test_unwritable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
