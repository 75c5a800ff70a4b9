/* A command with an option of every kind, for tests of parsing and help. */
#ifndef IDM_TESTS_CLI_COMMAND_SUPPORT_H
#define IDM_TESTS_CLI_COMMAND_SUPPORT_H

#include "cli/cli.h"
#include "cli/cli_support.h"

static inline void command_defaults(cli_settings *settings)
{
  idm_learn_settings_default(&settings->learn);
}

static const cli_option command_options[] = {
    {.name = "number",
     .letter = 'n',
     .kind = CLI_INTEGER,
     .value = "N",
     .default_value = "7",
     .low = 1,
     .high = 20,
     .help = "how many"},
    {.name = "output", .letter = 'o', .kind = CLI_TEXT, .value = "FILE", .help = "where to"},
    {.name = "set", .kind = CLI_LIST, .value = "KEY=VALUE", .help = "several times"},
    {.name = "json", .kind = CLI_FLAG, .help = "as JSON"},
    CLI_KEY_OPTION("starts"),
    CLI_KEY_OPTION("hold"),
    CLI_END,
};

static const cli_command command_try = {
    .name = "try",
    .arguments = "ONE [TWO]",
    .min_arguments = 1,
    .max_arguments = 2,
    .summary = "Try it",
    .description = "A line.\n.Another - with a \\ and a hyphen.",
    .options = command_options,
    .keys = idm_learn_keys,
    .defaults = command_defaults,
};

/* Parses words for this command; the caller frees the call. */
#define TRY(call, ...)                                                                             \
  cli_parse((call), &command_try, sizeof((char *[]){__VA_ARGS__}) / sizeof(char *),                \
            (char *[]){__VA_ARGS__})

#endif
