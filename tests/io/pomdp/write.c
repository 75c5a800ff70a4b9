/* Cassandra's format: what is written, refused and noted. */
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

#include "io/pomdp/pomdp_support.h"
#include "io/problem_file.h"

/* --- writing -------------------------------------------------------------------------------- */

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

/* Where states are observed, episodes may end by themselves: a discount of 1 needs no horizon. */
static void test_discount_of_one(void **state)
{
  (void)state;
  idm_problem *p = parse("discount: 1 values: reward states: 2 actions: 1 T: 0 identity");
  idm_notes notes = {0};
  char *bytes = NULL;
  idm_problem *again = write_and_read(p, &notes, &bytes);
  assert_non_null(strstr(bytes, "discount: 1\n"));
  char difference[256] = "";
  if (!idm_problem_compare(p, again, 0, difference, sizeof difference)) fail_msg("%s", difference);
  idm_notes_clear(&notes);
  free(bytes);
  idm_problem_destroy(p);
  idm_problem_destroy(again);
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
  p->setting->emits_before = true;
  assert_refused(p, "observations that come from the state acted in");

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
  assert_refused(p, "the discount is 1 and there is no horizon");

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
    assert_noted(p, idm_block_name(parameters[i].id));
  }
  idm_problem *p = writable();
  p->theta->block[IDM_EMISSION].value[0] = 0.5;
  p->theta->block[IDM_EMISSION].value[1] = 0.5;
  p->theta->block[IDM_EMISSION].value[2] = 0;
  assert_noted(p, "candidate models");

  p = writable();
  p->theta->block[IDM_ACTION_PRIOR].value[0] = 0.25;
  p->theta->block[IDM_ACTION_PRIOR].value[1] = 0.75;
  assert_noted(p, "action_prior");

  p = writable();
  assert_int_equal(idm_theta_resize(p->theta, IDM_BELIEF_PRIOR, 2, 1, NULL), IDM_OK);
  p->theta->block[IDM_BELIEF_PRIOR].value[0] = p->theta->block[IDM_BELIEF_PRIOR].value[1] = 2;
  assert_noted(p, "belief_prior");

  p = writable();
  p->theta->block[IDM_CERTAINTY].value[1] = 2.5;
  assert_noted(p, "certainty");

  p = writable();
  assert_int_equal(idm_theta_resize(p->theta, IDM_BELIEF_UTILITY,
                                    p->theta->sizes.actions * (2 + p->theta->sizes.states), 1,
                                    NULL),
                   IDM_OK);
  assert_noted(p, "belief_utility");

  p = writable();
  p->theta->block[IDM_ALPHA].role = IDM_DESCRIPTIVE;
  assert_noted(p, "free");

  p = writable();
  assert_int_equal(idm_labels_create(&p->columns.role[IDM_COLUMN_AGENT], 1, NULL), IDM_OK);
  assert_int_equal(idm_labels_set(&p->columns.role[IDM_COLUMN_AGENT], 0, "who", 3, NULL), IDM_OK);
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
      cmocka_unit_test(test_written_text),    cmocka_unit_test(test_exact_numbers),
      cmocka_unit_test(test_labels_left_out), cmocka_unit_test(test_discount_of_one),
      cmocka_unit_test(test_refusals),        cmocka_unit_test(test_notes_of_writing),
      cmocka_unit_test(test_unwritable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
