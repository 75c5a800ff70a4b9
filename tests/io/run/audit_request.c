/* Requests of audits: which groups, which columns, which words. */
#include <stdlib.h>

#include "io/folder_support.h"
#include "io/run.h"

static void exactly_one_way_of_grouping_is_asked_for(void **state)
{
  (void)state;
  static idm_audit_request r;
  idm_audit_request_default(&r);
  assert_int_equal(idm_audit_request_check(&r, NULL), IDM_USAGE);
  strcpy(r.by, "site");
  check(idm_audit_request_check(&r, &support_error));
  strcpy(r.group, "AGE>75");
  assert_int_equal(idm_audit_request_check(&r, NULL), IDM_USAGE);
}

static void columns_are_those_of_the_predicates_once(void **state)
{
  (void)state;
  static idm_audit_request r;
  idm_labels columns;
  idm_audit_request_default(&r);
  strcpy(r.group, "AGE>75\nPTGENDER=Female\nAGE<=60");
  check(idm_audit_columns(&r, &columns, &support_error));
  assert_int_equal(columns.count, 2);
  assert_string_equal(columns.name[0], "AGE");
  assert_string_equal(columns.name[1], "PTGENDER");
  idm_labels_destroy(&columns);
  strcpy(r.group, "AGE");
  assert_int_equal(idm_audit_columns(&r, &columns, NULL), IDM_USAGE);
}

static void a_label_goes_by_what_results_depend_on(void **state)
{
  (void)state;
  static idm_audit_request r, other;
  idm_problem *problem = support_diag(0.5, 2, 0);
  idm_audit_request_default(&r);
  strcpy(r.by, "site");
  other = r;
  const uint64_t label = idm_audit_request_label(problem, &r);
  assert_true(idm_audit_request_label(problem, &other) == label);
  other.pool = IDM_POOL_NONE;
  assert_false(idm_audit_request_label(problem, &other) == label);
  other = r;
  other.dynamics = IDM_AUDIT_BY_GROUP;
  assert_false(idm_audit_request_label(problem, &other) == label);
  idm_problem_destroy(problem);
}

/* What stands in the section `audit` is checked at its place. */
static void a_section_is_read_with_its_places(void **state)
{
  const folder *f = *state;
  static idm_audit_request r;
  idm_problem *problem;
  idm_error error = {0};
  FILE *file = fopen(f->file, "w");
  assert_non_null(file);
  fputs("states: 2\nactions: [a, b]\nobservations: 2\n"
        "transition: {\"*\": identity}\nobservation: {\"*\": uniform}\nutility: {a: 1, b: 0}\n"
        "audit:\n  by: site\n  pool: somehow\n",
        file);
  fclose(file);
  assert_int_equal(idm_audit_request_read(f->file, &problem, &r, NULL, &error), IDM_INPUT);
  assert_int_equal(error.line, 9);
  assert_non_null(strstr(error.message, "partial, none or holm"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exactly_one_way_of_grouping_is_asked_for),
      cmocka_unit_test(columns_are_those_of_the_predicates_once),
      cmocka_unit_test(a_label_goes_by_what_results_depend_on),
      cmocka_unit_test_setup_teardown(a_section_is_read_with_its_places, make_folder,
                                      remove_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
