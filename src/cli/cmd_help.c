/* idm help: help on commands and their options. */
#include "cli/cli.h"
#include "cli/common.h"

static json_t *command_json(const cli_command *command)
{
  json_t *object = cli_entry(command->name, command->summary);
  idm_json_set(&object, "arguments", json_string(command->arguments));
  json_t *options = json_array();
  cli_option option;
  for (size_t i = 0; cli_option_at(command, i, &option); i++)
    idm_json_append(&options, cli_entry(option.name, option.help));
  idm_json_set(&object, "options", options);
  return object;
}

static idm_status help_json(cli_call *call, const cli_command *opt_command)
{
  json_t *array = json_array();
  for (size_t i = 0; call->commands[i]; i++)
    if (!opt_command || opt_command == call->commands[i])
      idm_json_append(&array, command_json(call->commands[i]));
  json_t *object = json_object();
  idm_json_set(&object, "commands", array);
  return cli_print_json(call, object);
}

static idm_status run(cli_call *call)
{
  const cli_command *command = NULL;
  if (call->arguments > 0 && !(command = cli_find(call->commands, call->argument[0])))
    return idm_fail(&call->error, IDM_USAGE, "unknown command '%s'; `idm help` lists the commands",
                    call->argument[0]);
  if (cli_given(call, "markdown") && (cli_given(call, "json") || cli_given(call, "man")))
    return idm_fail(&call->error, IDM_USAGE, "--markdown excludes --json and --man");
  if (cli_given(call, "json")) return help_json(call, command);
  if (cli_given(call, "markdown"))
    cli_print_markdown(stdout, call->commands, command);
  else if (cli_given(call, "man"))
    cli_print_man(stdout, call->commands, command);
  else if (command)
    cli_print_help(stdout, command);
  else
    cli_print_overview(stdout, call->commands);
  return IDM_OK;
}

static const cli_option options[] = {
    {.name = "man", .kind = CLI_FLAG, .help = "print a man page instead"},
    {.name = "markdown",
     .kind = CLI_FLAG,
     .help = "print tables of options in Markdown instead, as in docs/reference/commands.md"},
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_help = {
    .name = "help",
    .arguments = "[COMMAND]",
    .min_arguments = 0,
    .max_arguments = 1,
    .summary = "Print help on a command",
    .description = "Without a command, lists them all.",
    .options = options,
    .run = run,
};
