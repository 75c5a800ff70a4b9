/* Options of a call: parsed, and asked for. */
#ifndef IDM_CLI_OPTIONS_H
#define IDM_CLI_OPTIONS_H

#include "cli/cli.h"

/* Option i of a command, complete; false past the last. */
bool cli_option_at(const cli_command *command, size_t index, cli_option *option);
/* The key of an option; NULL where it is none. */
const idm_key *cli_key(const cli_command *command, const cli_option *option);
idm_status cli_parse(cli_call *call, const cli_command *command, int count, char **words);
void cli_call_free(cli_call *call);
bool cli_given(const cli_call *call, const char *option);
/* Text of an option: as given, or its default, or NULL. */
const char *cli_text(const cli_call *call, const char *option);
long cli_integer(const cli_call *call, const char *option);
size_t cli_list(const cli_call *call, const char *option, const char *const **ret_values);
/* Put the keys that were given into settings that came from elsewhere. */
void cli_take_keys(const cli_call *call, void *fields);

#endif
