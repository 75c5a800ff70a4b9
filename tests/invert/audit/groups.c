/* Tests groups of trajectories by levels and by predicates, and the columns and predicates that are
 * rejected. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/audit/audit_support.h"

typedef struct fixture {
  idm_problem *problem;
  idm_data *data;
} fixture;

/* Six patients: p5 has no colour, p6 is the only one of its colour; `dose` changes within p2. */
static int set_up(void **state)
{
  static const char text[] = "agent,trajectory,action,observation,colour,size,dose,empty,same\n"
                             "p1,p1,monitor,positive,red,1.5,1,,x\n"
                             "p1,p1,declare_healthy,,red,1.5,1,,x\n"
                             "p2,p2,monitor,positive,blue,80,1,,x\n"
                             "p2,p2,declare_healthy,,,80,2,,x\n"
                             "p3,p3,declare_healthy,,red,9,1,,x\n"
                             "p4,p4,declare_healthy,,blue,10,1,,x\n"
                             "p5,p5,declare_healthy,,,11,1,,x\n"
                             "p6,p6,declare_healthy,,green,large,1,,x\n";
  const idm_csv_options options = {
      .keep = (const char *const[]){"colour", "size", "dose", "empty", "same"}, .keep_count = 5};
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->problem = audit_problem(1);
  check(idm_data_parse_csv(text, sizeof text - 1, "log.csv", f->problem, &options, &f->data, NULL,
                           &support_error));
  *state = f;
  return 0;
}

static int tear_down(void **state)
{
  fixture *f = *state;
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
  free(f);
  return 0;
}

static void levels_are_groups_in_alphabetical_order(void **state)
{
  const fixture *f = *state;
  static const bool member[3][6] = {{0, 1, 0, 1, 0, 0}, {0, 0, 0, 0, 0, 1}, {1, 0, 1, 0, 0, 0}};
  idm_groups *g;
  idm_notes notes = {0};
  check(idm_groups_by(f->data, "colour", &g, &notes, &support_error));
  assert_true(g->partition);
  assert_int_equal(g->name.count, 3);
  assert_string_equal(g->name.name[0], "blue");
  assert_string_equal(g->name.name[1], "green");
  assert_string_equal(g->name.name[2], "red");
  assert_memory_equal(g->member, member, sizeof member);
  assert_int_equal(g->missing[0], 1);
  assert_int_equal(notes.count, 2);
  assert_non_null(strstr(notes.text[0], "1 of 6 trajectories have no 'colour'"));
  assert_non_null(strstr(notes.text[1], "the group 'green' is one trajectory"));
  idm_notes_clear(&notes);
  idm_groups_destroy(g);
}

static void a_missing_value_meets_no_predicate(void **state)
{
  const fixture *f = *state;
  static const bool member[6] = {1, 0, 1, 0, 0, 0};
  idm_groups *g;
  idm_notes notes = {0};
  check(idm_groups_where(f->data, (const char *const[]){"colour=red"}, 1, &g, &notes,
                         &support_error));
  assert_memory_equal(g->member, member, sizeof member);
  assert_false(g->partition);
  assert_int_equal(g->missing[0], 1);
  assert_non_null(strstr(notes.text[0], "1 of 6 trajectories have no 'colour'"));
  idm_notes_clear(&notes);
  idm_groups_destroy(g);
}

/* Check that a column or predicates are rejected with this message. */
static void refused_by(const fixture *f, const char *column, const char *words)
{
  idm_groups *g;
  idm_error error = {0};
  assert_int_equal(idm_groups_by(f->data, column, &g, NULL, &error), IDM_INPUT);
  assert_null(g);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
}

static void refused_where(const fixture *f, const char *one, const char *other, idm_status status,
                          const char *words)
{
  const char *const predicate[] = {one, other};
  idm_groups *g;
  idm_error error = {0};
  assert_int_equal(idm_groups_where(f->data, predicate, other ? 2 : 1, &g, NULL, &error), status);
  assert_null(g);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
}

static void columns_that_make_no_groups_are_refused(void **state)
{
  const fixture *f = *state;
  idm_groups *g;
  refused_by(f, "nothing", "no column 'nothing'");
  refused_by(f, "empty", "is empty in every row");
  refused_by(f, "same", "an audit compares at least two groups");
  idm_error error = {0};
  assert_int_equal(idm_groups_by(f->data, "dose", &g, NULL, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "'dose' varies within trajectory 'p2': found 2 after 1"));
  assert_int_equal(error.line, 5);
  assert_string_equal(error.file, "log.csv");
}

/* Reserved names: `all`, and `rest` if there are more than ten groups. */
static void names_of_others_are_refused(void **state)
{
  const fixture *f = *state;
  static const struct {
    const char *name;
    size_t levels;
    const char *opt_words;
  } cases[] = {{"all", 2, "reserved name of all groups together"},
               {"rest", 10, NULL},
               {"rest", 11, "reserved name of the complement of a group"}};
  for (size_t k = 0; k < 3; k++) {
    char text[600];
    size_t used = (size_t)snprintf(text, sizeof text, "trajectory,action,observation,ward\n");
    for (size_t i = 0; i < cases[k].levels; i++)
      used += (size_t)snprintf(text + used, sizeof text - used, "%zu,declare_healthy,,%s%.0zu\n", i,
                               i ? "ward" : cases[k].name, i);
    const idm_csv_options options = {.keep = (const char *const[]){"ward"}, .keep_count = 1};
    fixture own = {f->problem, NULL};
    idm_groups *groups = NULL;
    check(idm_data_parse_csv(text, used, "log.csv", f->problem, &options, &own.data, NULL,
                             &support_error));
    if (cases[k].opt_words)
      refused_by(&own, "ward", cases[k].opt_words);
    else
      check(idm_groups_by(own.data, "ward", &groups, NULL, &support_error));
    idm_groups_destroy(groups);
    idm_data_destroy(own.data);
  }
}

static void predicates_that_make_no_groups_are_refused(void **state)
{
  const fixture *f = *state;
  refused_where(f, "colour=purple", NULL, IDM_INPUT,
                "no trajectory satisfies 'colour=purple'; the "
                "column 'colour' contains 'red', 'blue', 'green'");
  refused_where(f, "same=x", NULL, IDM_INPUT, "every trajectory satisfies");
  refused_where(f, "size>10", NULL, IDM_INPUT, "'large', which is not a number");
  refused_where(f, "dose=1", NULL, IDM_INPUT, "'dose=1' varies within trajectory 'p2'");
  refused_where(f, "colour=red", "colour=red", IDM_INPUT,
                "a linear combination of the other predicates");
  refused_where(f, "colour", NULL, IDM_USAGE, "colour");
}

static void an_order_is_of_numbers(void **state)
{
  const fixture *f = *state;
  const idm_csv_options options = {.keep = (const char *const[]){"age"}, .keep_count = 1};
  static const char text[] = "agent,trajectory,action,observation,age\n"
                             "p1,p1,declare_healthy,,9\np2,p2,declare_healthy,,75\n"
                             "p3,p3,declare_healthy,,75.5\np4,p4,declare_healthy,,\n"
                             "p5,p5,declare_healthy,,100\n";
  static const bool member[5] = {0, 0, 1, 0, 1};
  idm_data *data;
  idm_groups *g;
  check(idm_data_parse_csv(text, sizeof text - 1, "ages.csv", f->problem, &options, &data, NULL,
                           &support_error));
  check(idm_groups_where(data, (const char *const[]){"age>75"}, 1, &g, NULL, &support_error));
  assert_memory_equal(g->member, member, sizeof member);
  assert_int_equal(g->missing[0], 1);
  idm_groups_destroy(g);
  idm_data_destroy(data);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(levels_are_groups_in_alphabetical_order, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_missing_value_meets_no_predicate, set_up, tear_down),
      cmocka_unit_test_setup_teardown(columns_that_make_no_groups_are_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(names_of_others_are_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(predicates_that_make_no_groups_are_refused, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(an_order_is_of_numbers, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
