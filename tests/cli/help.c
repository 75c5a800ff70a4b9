/* Tests the help (exact text), the overview and the man pages (in parts) of a small command table.
 */
#include "cli/cli.h"
#include "cli/command_support.h"

#include <stdlib.h>
#include <string.h>

static const cli_command *const commands[] = {&command_try, NULL};

static void test_find(void **state)
{
  (void)state;
  assert_ptr_equal(cli_find(commands, "try"), &command_try);
  assert_null(cli_find(commands, "tr"));
  assert_null(cli_find(commands, ""));
}

static void test_help(void **state)
{
  (void)state;
  static const char format[] = "idm try ONE [TWO]\n\nTry it.\n\n"
                               "A line.\n.Another - with a \\ and a hyphen.\n\nOptions:\n"
                               "  -n, --number N           how many (default 7)\n"
                               "  -o, --output FILE        where to\n"
                               "  --set KEY=VALUE          several times\n"
                               "  --json                   as JSON\n"
                               "  --starts %-15s %s (default %zu)\n"
                               "  --hold %-17s %s (default nothing)\n";
  char expected[2000];
  const idm_key *starts = idm_key_find(idm_learn_keys(), "starts");
  const idm_key *hold = idm_key_find(idm_learn_keys(), "hold");
  cli_settings usual;
  printed p;
  command_defaults(&usual);
  snprintf(expected, sizeof expected, format, starts->value, starts->help, usual.learn.starts,
           hold->value, hold->help);
  printed_open(&p);
  cli_print_help(p.out, &command_try);
  printed_expect(&p, expected);
}

static void expect_words(printed *p, const char *const *words)
{
  char *text = printed_close(p);
  const char *at = text;
  for (; *words; words++) {
    at = strstr(at, *words);
    if (!at) fail_msg("'%s' is not, or not in its place, in\n%s", *words, text);
  }
  free(text);
}

static void test_overview(void **state)
{
  (void)state;
  printed p;
  printed_open(&p);
  cli_print_overview(p.out, commands);
  expect_words(&p, (const char *const[]){"idm ", idm_version(), "Commands:\n",
                                         "  try ONE [TWO]                Try it\n",
                                         "Exit codes: 0 done", NULL});
}

/* Text that roff would interpret as a request, an escape or a dash is escaped. */
static void test_man(void **state)
{
  (void)state;
  printed p;
  printed_open(&p);
  cli_print_man(p.out, commands, &command_try);
  expect_words(&p, (const char *const[]){
                       ".TH IDM-TRY 1 \"\" \"idm ", ".SH NAME\nidm\\-try \\- Try it\n",
                       ".B idm try\n.I ONE [TWO]\n[options]\n",
                       ".SH DESCRIPTION\nA line.\n\\&.Another \\- with a \\e and a hyphen.\n",
                       ".TP\n.B \\-n, \\-\\-number N\nhow many (default 7)\n",
                       ".TP\n.B \\-\\-set KEY=VALUE\nseveral times\n", ".SH SEE ALSO\n", NULL});
  printed_open(&p);
  cli_print_man(p.out, commands, NULL);
  expect_words(&p, (const char *const[]){".TH IDM 1 ", ".TP\n.B try ONE [TWO]\nTry it\n",
                                         ".SH EXIT STATUS\n0 done", NULL});
}

/* In a table of Markdown, '|' is escaped. Without a command, a list of links precedes the tables.
 */
static void test_markdown(void **state)
{
  (void)state;
  static const cli_option options[] = {
      {.name = "way", .kind = CLI_TEXT, .value = "UP|DOWN", .help = "up | down"}, {.name = NULL}};
  cli_command bar = command_try;
  bar.options = options;
  printed p;
  printed_open(&p);
  cli_print_markdown(p.out, commands, &command_try);
  expect_words(
      &p, (const char *const[]){"\n## `idm try`\n\n    idm try ONE [TWO]\n\nTry it.\n\nA line.\n",
                                "| option | default | effect |\n|---|---|---|\n",
                                "| `-n, --number N` | 7 | how many |\n",
                                "| `--set KEY=VALUE` | | several times |\n", NULL});
  printed_open(&p);
  cli_print_markdown(p.out, commands, NULL);
  expect_words(&p,
               (const char *const[]){"| [`idm try`](#idm-try) | Try it |\n", "## `idm try`", NULL});
  printed_open(&p);
  cli_print_markdown(p.out, (const cli_command *const[]){&bar, NULL}, &bar);
  expect_words(&p, (const char *const[]){"| `--way UP\\|DOWN` | | up \\| down |\n", NULL});
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_find), cmocka_unit_test(test_help),
                                     cmocka_unit_test(test_overview), cmocka_unit_test(test_man),
                                     cmocka_unit_test(test_markdown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
