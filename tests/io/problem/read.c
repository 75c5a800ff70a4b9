/* A problem from wherever it is: a YAML file, a .POMDP file, or a built-in example. */
#include "io/problem/yaml.h"

#include "io/problem/problem_support.h"

static void test_read(void **state)
{
  (void)state;
  static const char *const examples[] = {"diag",   "tiger",       "beads",
                                         "clinic", "maintenance", "reversal"};
  idm_error error = {0};
  idm_problem *p = NULL;
  for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
    char path[100];
    snprintf(path, sizeof path, "../examples/%s.yaml", examples[i]);
    idm_notes notes = {0};
    if (idm_problem_read(path, &p, &notes, &error) != IDM_OK)
      fail_msg("%s:%ld:%ld: %s", path, error.line, error.column, error.message);
    assert_int_equal(notes.count, 0);
    assert_string_equal(p->setting->name, examples[i]);
    idm_problem_destroy(p);
  }
  assert_int_equal(idm_problem_read("no/such.yaml", &p, NULL, &error), IDM_INPUT);
  assert_null(p);
  assert_int_equal(idm_problem_read("example:nothing", &p, NULL, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "there is no example 'nothing'; expected one of "));
  char name[100];
  snprintf(name, sizeof name, "example:%s", idm_example_name(0));
  assert_int_equal(idm_problem_read(name, &p, NULL, &error), IDM_OK);
  idm_problem_destroy(p);
  assert_int_equal(idm_problem_read("no/such.PoMdP", &p, NULL, &error), IDM_INPUT);
}

/* The format goes by the name, in any case; what is wrong has its place in the file. */
static void test_formats(void **state)
{
  (void)state;
  static const char pomdp[] = "discount: 0.5\nvalues: reward\nstates: 2\nactions: 1\n"
                              "observations: 1\nT: * identity\nO: * uniform\nR: * : * : * : * 1\n";
  char path[SUPPORT_PATH], named[SUPPORT_PATH + 8];
  idm_error error = {0};
  idm_problem *p = NULL;
  support_path(path);
  snprintf(named, sizeof named, "%s.Pomdp", path);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(pomdp, file);
  fclose(file);
  assert_int_equal(idm_problem_read(path, &p, NULL, &error), IDM_INPUT); /* not YAML */
  assert_null(p);
  assert_string_equal(error.file, path);
  assert_int_equal(rename(path, named), 0);
  check(idm_problem_read(named, &p, NULL, &support_error));
  assert_int_equal(p->setting->states.count, 2);
  assert_true(block(p, IDM_UTILITY)[1] == 1);
  idm_problem_destroy(p);
  remove(named);
}

static void test_example_names(void **state)
{
  (void)state;
  assert_string_equal(idm_problem_example("example:diag"), "diag");
  assert_string_equal(idm_problem_example("example:"), "");
  assert_null(idm_problem_example("examples:diag"));
  assert_null(idm_problem_example("example"));
  idm_error error = {0};
  idm_problem *p = NULL;
  assert_int_equal(idm_problem_read("example:", &p, NULL, &error), IDM_USAGE);
  for (size_t i = 0; idm_example_name(i); i++)
    assert_non_null(strstr(error.message, idm_example_name(i)));
}

/* What stands beside the problem is read once the problem is; its failure is the file's. */
static idm_status count_keys(void *context, const idm_yaml_tree *tree)
{
  *(size_t *)context = idm_yaml_count(idm_yaml_root(tree));
  return *(size_t *)context == 11 ? IDM_UNTRUSTED : IDM_OK;
}

static void test_sections(void **state)
{
  (void)state;
  char path[SUPPORT_PATH];
  size_t keys = 0;
  idm_problem *p = NULL;
  support_path(path);
  for (int extra = 0; extra < 2; extra++) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(with(extra ? "audit: {}" : NULL), file);
    fclose(file);
    const idm_location place = idm_location_of(path);
    assert_int_equal(idm_problem_read_sections(&place, count_keys, &keys, &p, NULL, NULL),
                     extra ? IDM_UNTRUSTED : IDM_OK);
    assert_int_equal(keys, extra ? 11 : 10);
    assert_int_equal(p == NULL, extra);
    idm_problem_destroy(p);
  }
  remove(path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_read), cmocka_unit_test(test_formats),
                                     cmocka_unit_test(test_example_names),
                                     cmocka_unit_test(test_sections)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
