/* Main program: find the command, parse its options, run it, report errors. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "cli/cli.h"
#include "cli/common.h"

static int report(cli_call *call, idm_status status)
{
  cli_print_notes(call);
  if (status != IDM_OK) {
    char text[3 * IDM_PATH_SIZE + 64];
    fprintf(stderr, "idm: %s\n", idm_error_text(&call->error, text, sizeof text));
  }
  return idm_status_exit_code(status);
}

static idm_status load_plugins(cli_call *call)
{
  const char *const *path;
  idm_status status = IDM_OK;
  for (size_t i = 0, count = cli_list(call, "plugin", &path); i < count && status == IDM_OK; i++)
    status = idm_plugin_load(path[i], &call->error);
  return status;
}

/* A call contains a whole request, which is too large for the stack. */
static int execute(const cli_command *command, int count, char **words)
{
  cli_call *call = malloc(sizeof *call);
  if (!call) {
    fprintf(stderr, "idm: out of memory\n");
    return idm_status_exit_code(IDM_MEMORY);
  }
  idm_status status = cli_parse(call, command, count, words);
  call->commands = cli_commands;
  idm_level level;
  if (status == IDM_OK) status = idm_level_parse(getenv("IDM_LEVEL"), &level, &call->error);
  if (status == IDM_OK) status = load_plugins(call);
  if (status == IDM_OK) status = command->run(call);
  const int code = report(call, status);
  cli_call_free(call);
  free(call);
  return code;
}

static int run(int count, char **words)
{
  if (count < 2) {
    cli_print_overview(stderr, cli_commands);
    return idm_status_exit_code(IDM_USAGE);
  }
  const bool help = strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0;
  if (help) {
    cli_print_overview(stdout, cli_commands);
    return 0;
  }
  if (strcmp(words[1], "--version") == 0) {
    printf("idm %s\n", idm_version());
    return 0;
  }
  const cli_command *command = cli_find(cli_commands, words[1]);
  if (!command) {
    fprintf(stderr, "idm: unknown command '%s'; `idm help` lists the commands\n", words[1]);
    return idm_status_exit_code(IDM_USAGE);
  }
  for (int i = 2; i < count && strcmp(words[i], "--") != 0; i++)
    if (strcmp(words[i], "--help") == 0) {
      cli_print_help(stdout, command);
      return 0;
    }
  return execute(command, count - 2, words + 2);
}

int main(int count, char **words)
{
#ifdef SIGXFSZ
  /* With the signal ignored, a file that exceeds the size limit fails to write, and is removed and
   * reported. */
  signal(SIGXFSZ, SIG_IGN);
#endif
  int code = run(count, words);
  /* A full disk is detected only when the output is flushed. */
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "idm: cannot write to standard output\n");
    if (code == 0) code = idm_status_exit_code(IDM_SYSTEM);
  }
  return code;
}
