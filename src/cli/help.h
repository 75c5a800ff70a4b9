/* Help and man pages, from the table of options. */
#ifndef IDM_CLI_HELP_H
#define IDM_CLI_HELP_H

#include "cli/cli.h"

void cli_print_help(FILE *out, const cli_command *command);
/* Commands are a list that ends with NULL. */
void cli_print_overview(FILE *out, const cli_command *const *commands);
/* A man page of one command, or where it is NULL of all. */
void cli_print_man(FILE *out, const cli_command *const *commands, const cli_command *opt_command);
const cli_command *cli_find(const cli_command *const *commands, const char *name);

#endif
