/* idm init and idm convert: files from files. */
#include <string.h>
#include <strings.h>

#include "cli/cli.h"

static bool is_pomdp(const char *path)
{
  const size_t length = strlen(path);
  return length >= 6 && strcasecmp(path + length - 6, ".pomdp") == 0;
}

static idm_status finish(cli_call *call, const char *path)
{
  if (!cli_given(call, "json")) {
    if (strcmp(path, "-") != 0) fprintf(stderr, "idm: wrote %s\n", path);
    return IDM_OK;
  }
  json_t *notes = json_array();
  for (size_t i = 0; i < call->notes.count; i++)
    json_array_append_new(notes, json_string(call->notes.text[i]));
  json_t *object = json_object();
  json_object_set_new(object, "file", json_string(path));
  json_object_set_new(object, "notes", notes);
  return cli_print_json(call, object);
}

static idm_status run_convert(cli_call *call)
{
  const char *target = call->argument[1];
  idm_problem *problem;
  idm_status status = cli_check_target(call, target);
  if (status != IDM_OK) return status;
  status = cli_read_problem(call, call->argument[0], &problem);
  if (status != IDM_OK) return status;
  status = is_pomdp(target) ? idm_problem_write_pomdp(problem, target, &call->notes, &call->error)
                            : idm_problem_write_yaml(problem, target, &call->notes, &call->error);
  idm_problem_destroy(problem);
  return status == IDM_OK ? finish(call, target) : status;
}

static idm_status run_init(cli_call *call)
{
  const char *target = cli_text(call, "output");
  idm_status status = cli_check_target(call, target);
  if (status == IDM_OK)
    status = idm_init_write(call->argument[0], target, &call->notes, &call->error);
  return status == IDM_OK ? finish(call, target) : status;
}

static const cli_option convert_options[] = {CLI_SET_OPTION, CLI_JSON_OPTION, CLI_END};
static const cli_option init_options[] = {CLI_OUTPUT_OPTION("problem file to write"),
                                          CLI_JSON_OPTION, CLI_END};

const cli_command cli_convert = {
    "convert",
    "IN OUT",
    2,
    2,
    "Convert a problem between YAML and Cassandra's .POMDP",
    "The format of OUT follows its name: .POMDP (any case), else YAML. What the target cannot "
    "express\n"
    "is listed; where leaving it out would change the problem (terminal actions, a horizon), the\n"
    "conversion is refused.",
    convert_options,
    run_convert,
};

const cli_command cli_init = {
    "init",
    "DATA",
    1,
    1,
    "Start a problem file from a table of decisions",
    "Finds the columns, actions and observations of a CSV file and writes a legal problem file "
    "with\n"
    "blanks to fill, each marked by a comment.",
    init_options,
    run_init,
};
