/* Whether YAML can hold a problem: told before a file is touched, and why not. */
#include "io/problem/problem_support.h"
#include "io/problem/yaml.h"

static void expect_refusal(const idm_problem *problem, const char *words)
{
  idm_error error = {0};
  assert_int_equal(idm_yaml_check_writable(problem, &error), IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
}

static void expect_writable(const idm_problem *problem)
{
  check(idm_yaml_check_writable(problem, &support_error));
  expect_round_trip(problem);
}

static void rename_label(idm_labels *labels, const char *text)
{
  check(idm_labels_set(labels, 0, text, strlen(text), &support_error));
}

static void test_labels(void **state)
{
  (void)state;
  idm_problem *p = parse(with("data: {missing: NA, agent: who, codes: {action: {0: go}}}"), NULL);
  idm_setting *s = p->setting;
  char longer[1002];
  memset(longer, 'x', 1001);
  longer[1001] = '\0';
  const struct {
    idm_labels *labels;
    const char *what;
  } all[] = {{&s->states, "a state"},
             {&s->actions, "an action"},
             {&s->observations, "an observation"},
             {&p->columns.missing, "a text for missing values"},
             {&p->columns.role[IDM_COLUMN_AGENT], "a column"},
             {&p->columns.codes[IDM_COLUMN_ACTION].code[0].text, "a code"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    char words[80], old[20];
    snprintf(old, sizeof old, "%s", all[i].labels->name[0]);
    snprintf(words, sizeof words, "%s is not UTF-8 text", all[i].what);
    rename_label(all[i].labels, "\xed\xa0\x80");
    expect_refusal(p, words);
    snprintf(words, sizeof words, "%s 'xxx", all[i].what);
    rename_label(all[i].labels, longer);
    expect_refusal(p, words);
    snprintf(words, sizeof words, "%s is ' a'; expected a label without blanks", all[i].what);
    rename_label(all[i].labels, " a");
    expect_refusal(p, words);
    rename_label(all[i].labels, old);
    expect_writable(p);
  }
  longer[1000] = '\0';
  rename_label(&s->states, longer); /* as long as may be */
  expect_writable(p);
  rename_label(&s->actions, "a|b");
  expect_refusal(p, "expected a label without '|'");
  idm_problem_destroy(p);
}

/* What may stand in memory and has no words in a file. */
static void test_numbers(void **state)
{
  (void)state;
  idm_problem *p = parse(with("utility: {stay: [pay, 0], go: 1, stop: 0}"), NULL);
  p->utility_source[0].scale = 0.5;
  expect_refusal(p, "a utility of 0.5 times the column 'pay' has no form in YAML");
  p->utility_source[0].scale = -1;
  expect_writable(p);
  rename_label(&p->columns.utility, "-x"); /* --x is read as the column '-x', less */
  expect_writable(p);
  p->utility_source[0].scale = 1;
  expect_refusal(p, "the column '-x' has no form");
  idm_problem_destroy(p);
  p = parse(with(NULL), NULL);
  check(idm_theta_resize(p->theta, IDM_ALPHA, 1, 2, &support_error));
  expect_refusal(p, "alpha that varies by trial has no form in YAML");
  idm_problem_destroy(p);
}

/* The file of an MDP does not speak of observations. */
static void test_observed(void **state)
{
  (void)state;
  idm_problem *p =
      parse("states: [a, b]\nactions: [u]\nobservations: states\ndiscount: 0.5\n"
            "transition: uniform\nutility: {u: [0, 1]}\nmodels: [{}, {transition: identity}]\n",
            NULL);
  expect_writable(p);
  double *model = p->theta->block[IDM_EMISSION].value + 4;
  model[0] = model[1] = 0.5;
  expect_refusal(p, "a fully observed problem whose observations are not its states");
  model[0] = 1;
  model[1] = 0;
  expect_writable(p);
  rename_label(&p->setting->observations, "seen");
  expect_refusal(p, "a fully observed problem whose observations are not its states");
  idm_problem_destroy(p);
}

static void test_identity(void **state)
{
  (void)state;
  assert_true(idm_yaml_is_identity((double[]){1, 0, 0, 1}, 2, 2));
  assert_false(idm_yaml_is_identity((double[]){1, 0, 0, 1 - 1e-16 * 2}, 2, 2));
  assert_false(idm_yaml_is_identity((double[]){1, -0.0, 0, 1}, 2, 2)); /* bit for bit */
  assert_false(idm_yaml_is_identity((double[]){1, 0}, 1, 2));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_labels), cmocka_unit_test(test_numbers),
                                     cmocka_unit_test(test_observed),
                                     cmocka_unit_test(test_identity)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
