/* Tests that each command of the registry has a description and consistent options, and that
 * defaults are accepted values. */
#include "cli/cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_support.h"

static void test_described(void **state)
{
  (void)state;
  size_t count = 0;
  for (; cli_commands[count]; count++) {
    const cli_command *c = cli_commands[count];
    assert_non_null(c->run);
    assert_ptr_equal(cli_find(cli_commands, c->name), c); /* no other command has its name */
    assert_true(isupper((unsigned char)c->summary[0]));
    /* Help adds the full stop. */
    assert_true(c->summary[strlen(c->summary) - 1] != '.');
    assert_true(c->min_arguments >= 0 && c->min_arguments <= c->max_arguments);
    assert_int_equal(!c->keys, !c->defaults);
  }
  assert_true(count >= 16);
}

static void check_option(const cli_command *command, const cli_option *option)
{
  const char *what = option->name;
  if (!option->help || !option->help[0]) fail_msg("idm %s --%s has no help", command->name, what);
  if (option->kind == CLI_KEY && !cli_key(command, option))
    fail_msg("idm %s --%s is no key of its settings", command->name, what);
  if ((option->kind == CLI_FLAG) && option->value)
    fail_msg("idm %s --%s is a flag with a value", command->name, what);
  if (option->kind != CLI_FLAG && option->kind != CLI_KEY && !option->value)
    fail_msg("idm %s --%s has no name for its value", command->name, what);
  if (option->kind == CLI_INTEGER && !(option->low < option->high))
    fail_msg("idm %s --%s has no range", command->name, what);
}

static void test_options(void **state)
{
  (void)state;
  for (size_t c = 0; cli_commands[c]; c++) {
    cli_option option, other;
    size_t i = 0;
    for (; cli_option_at(cli_commands[c], i, &option); i++) {
      check_option(cli_commands[c], &option);
      for (size_t j = 0; j < i && cli_option_at(cli_commands[c], j, &other); j++) {
        assert_string_not_equal(option.name, other.name);
        assert_true(!option.letter || option.letter != other.letter);
      }
    }
    assert_true(i < CLI_MAX_OPTIONS);
  }
}

/* The default of an option is an accepted value. */
static void test_defaults(void **state)
{
  (void)state;
  for (size_t c = 0; cli_commands[c]; c++) {
    cli_command alone = *cli_commands[c];
    cli_option option;
    alone.min_arguments = 0;
    for (size_t i = 0; cli_option_at(&alone, i, &option); i++) {
      cli_call call;
      char word[200];
      if (!option.default_value) continue;
      snprintf(word, sizeof word, "--%s=%s", option.name, option.default_value);
      check(cli_parse(&call, &alone, 1, (char *[]){word}));
      cli_call_free(&call);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_described),
                                     cmocka_unit_test(test_options),
                                     cmocka_unit_test(test_defaults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
