/* idm convert: a problem in another format. */
#include <string.h>
#include <strings.h>

#include "cli/common.h"

static bool is_pomdp(const char *path)
{
  const size_t length = strlen(path);
  return length >= 6 && strcasecmp(path + length - 6, ".pomdp") == 0;
}

static idm_status run(cli_call *call)
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
  return status == IDM_OK ? cli_report_file(call, target) : status;
}

static const cli_option options[] = {CLI_SET_OPTION, CLI_PLUGIN_OPTION, CLI_JSON_OPTION, CLI_END};

const cli_command cli_convert = {
    .name = "convert",
    .arguments = "IN OUT",
    .least = 2,
    .most = 2,
    .summary = "Convert a problem between YAML and Cassandra's .POMDP",
    .description =
        "The format of OUT follows its name: .POMDP (any case), else YAML. What the target cannot "
        "express\n"
        "is listed; where leaving it out would change the problem (terminal actions, a horizon), "
        "the\n"
        "conversion is refused.",
    .options = options,
    .run = run,
};
