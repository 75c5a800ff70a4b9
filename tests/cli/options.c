/* Tests the parsing of command-line words by the option table: every form of an option, and the
 * message of every refusal. */
#include "cli/cli.h"
#include "cli/command_support.h"

#include <string.h>

static void test_forms(void **state)
{
  (void)state;
  cli_call call;
  const char *const *list;
  check(TRY(&call, "--number=3", "in", "-oout", "--set", "a=1", "--json", "--set=b=2", "--starts",
            "4"));
  assert_int_equal(call.arguments, 1);
  assert_string_equal(call.argument[0], "in");
  assert_int_equal(cli_integer(&call, "number"), 3);
  assert_string_equal(cli_text(&call, "output"), "out");
  assert_int_equal(cli_list(&call, "set", &list), 2);
  assert_string_equal(list[0], "a=1");
  assert_string_equal(list[1], "b=2");
  assert_true(cli_given(&call, "json"));
  assert_int_equal(call.settings.learn.starts, 4);
  cli_call_free(&call);
  /* Words after -- are arguments, and - alone is always an argument. */
  check(TRY(&call, "-n", "20", "-", "--", "--json"));
  assert_int_equal(cli_integer(&call, "number"), 20);
  assert_int_equal(call.arguments, 2);
  assert_string_equal(call.argument[0], "-");
  assert_string_equal(call.argument[1], "--json");
  assert_false(cli_given(&call, "json"));
  cli_call_free(&call);
  check(TRY(&call, "in", "-n1")); /* the smallest accepted value */
  assert_int_equal(cli_integer(&call, "number"), 1);
  cli_call_free(&call);
}

static void test_defaults(void **state)
{
  (void)state;
  cli_call call;
  cli_settings usual;
  const char *const *list;
  command_defaults(&usual);
  check(TRY(&call, "in"));
  assert_int_equal(cli_integer(&call, "number"), 7);
  assert_null(cli_text(&call, "output"));
  assert_int_equal(cli_list(&call, "set", &list), 0);
  assert_false(cli_given(&call, "number"));
  /* An option that the command does not have counts as not given. */
  assert_false(cli_given(&call, "draws"));
  assert_null(cli_text(&call, "draws"));
  for (const idm_key *key = idm_learn_keys(); key->name; key++)
    assert_true(idm_key_same(key, &call.settings, &usual, 0));
  cli_call_free(&call);
}

/* Only the keys given as options replace those of other settings. */
static void test_take_keys(void **state)
{
  (void)state;
  cli_call call;
  idm_learn_settings settings;
  idm_learn_settings_default(&settings);
  settings.starts = 9;
  settings.hold = IDM_LEARN_FIX_NOTHING;
  check(TRY(&call, "in", "--hold", "start"));
  cli_take_keys(&call, &settings);
  assert_int_equal(settings.starts, 9);
  assert_int_equal(settings.hold, IDM_LEARN_FIX_START);
  cli_call_free(&call);
}

/* An option of a key has the help and the value name of the key. */
static void test_keys(void **state)
{
  (void)state;
  cli_option option;
  const idm_key *key = idm_key_find(idm_learn_keys(), "starts");
  assert_true(cli_option_at(&command_try, 4, &option));
  assert_ptr_equal(cli_key(&command_try, &option), key);
  assert_ptr_equal(option.help, key->help);
  assert_ptr_equal(option.value, key->value);
  assert_true(cli_option_at(&command_try, 3, &option));
  assert_null(cli_key(&command_try, &option));
  assert_false(cli_option_at(&command_try, 6, &option));
}

static void expect_refusal(idm_status status, cli_call *call, const char *words)
{
  assert_int_equal(status, IDM_USAGE);
  assert_string_equal(call->error.message, words);
  cli_call_free(call);
}

static void test_refusals(void **state)
{
  (void)state;
  cli_call c;
  expect_refusal(TRY(&c, "in", "--nubmer", "3"), &c,
                 "unknown option '--nubmer'; see `idm help try`");
  expect_refusal(TRY(&c, "in", "--num", "3"), &c, "unknown option '--num'; see `idm help try`");
  expect_refusal(TRY(&c, "in", "-x"), &c, "unknown option '-x'; see `idm help try`");
  expect_refusal(TRY(&c, "in", "--output"), &c,
                 "a value is missing after '--output'; see `idm help try`");
  expect_refusal(TRY(&c, "in", "-o"), &c, "a value is missing after '-o'; see `idm help try`");
  expect_refusal(TRY(&c, "in", "--json=yes"), &c,
                 "no value is expected in '--json=yes'; see `idm help try`");
  expect_refusal(TRY(&c, "in", "-oa", "--output=b"), &c, "--output is given twice");
  expect_refusal(TRY(&c, "a", "b", "c"), &c, "one argument too many: 'c'; see `idm help try`");
  expect_refusal(TRY(&c, "--json"), &c, "usage: idm try ONE [TWO] [options]; see `idm help try`");
  static char *const numbers[] = {"0", "21", "3.5", "x", "", "99999999999999999999"};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    char words[120];
    snprintf(words, sizeof words, "--number is '%s'; expected a whole number from 1 to 20",
             numbers[i]);
    expect_refusal(TRY(&c, "in", "--number", numbers[i]), &c, words);
  }
  expect_refusal(TRY(&c, "in", "--hold", "everything"), &c,
                 "--hold is 'everything'; expected nothing or start");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_defaults),
                                     cmocka_unit_test(test_take_keys), cmocka_unit_test(test_keys),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
