/* The registry of commands. */
#include "cli/cli.h"

#define COMMANDS(X)                                                                                \
  X(cli_init)                                                                                      \
  X(cli_lint)                                                                                      \
  X(cli_solve)                                                                                     \
  X(cli_simulate)                                                                                  \
  X(cli_score)                                                                                     \
  X(cli_learn)                                                                                     \
  X(cli_explain)                                                                                   \
  X(cli_fit)                                                                                       \
  X(cli_audit)                                                                                     \
  X(cli_summary)                                                                                   \
  X(cli_compare)                                                                                   \
  X(cli_check)                                                                                     \
  X(cli_recover)                                                                                   \
  X(cli_sbc)                                                                                       \
  X(cli_report_command)                                                                            \
  X(cli_plot)                                                                                      \
  X(cli_explore)                                                                                   \
  X(cli_convert)                                                                                   \
  X(cli_list_command)                                                                              \
  X(cli_help)

#define DECLARE(command) extern const cli_command command;
COMMANDS(DECLARE)

#define ENTRY(command) &(command),
const cli_command *const cli_commands[] = {COMMANDS(ENTRY) NULL};
