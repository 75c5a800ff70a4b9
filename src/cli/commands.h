/* The registry of commands. */
#ifndef IDM_CLI_COMMANDS_H
#define IDM_CLI_COMMANDS_H

#include "cli/cli.h"

extern const cli_command *const cli_commands[]; /* ends with NULL */

#endif
