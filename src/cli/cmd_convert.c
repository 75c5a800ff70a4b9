/* idm convert: conversion of a problem to another format. */
#include <string.h>
#include <strings.h>

#include "cli/cli.h"
#include "cli/common.h"

static bool is_pomdp(const char *path)
{
  const size_t length = strlen(path);
  return length >= 6 && strcasecmp(path + length - 6, ".pomdp") == 0;
}

/* Target file: the argument OUT, or -o. */
static idm_status find_target(cli_call *call, const char **ret_target)
{
  const char *option = cli_text(call, "output");
  *ret_target = option ? option : call->argument[1];
  if ((call->arguments == 2) == (option == NULL)) return IDM_OK;
  return idm_fail(&call->error, IDM_USAGE,
                  "%s; expected one file to write to: `idm convert IN OUT` or `idm convert IN -o "
                  "OUT`",
                  option ? "OUT and -o are both given" : "no output file is given");
}

/* Set the problem to a draw of the run or its centre, with no free blocks. */
static idm_status set_to_centre(cli_call *call, cli_input *input)
{
  idm_problem *problem = input->problem;
  const idm_status status = cli_set_to_draw(call, input, cli_text(call, "draw"));
  idm_theta_clamp(problem->theta);
  for (size_t i = 0; i < problem->theta->blocks; i++)
    problem->theta->block[i].population = (idm_population){0};
  problem->correlation = 0;
  return status;
}

/* Comment that names the draw of the run; empty for a problem. */
static void describe(const cli_call *call, const cli_input *input, char *head, size_t size)
{
  const char *draw = cli_text(call, "draw");
  head[0] = '\0';
  if (!input->posterior) return;
  if (strcmp(draw, "centre") == 0)
    snprintf(head, size,
             "Numbers inferred by %.300s, at the centre of its posterior:\n"
             "the mean of the draws in the sampler's coordinates.",
             call->argument[0]);
  else
    snprintf(head, size, "Numbers inferred by %.300s, at draw %.20s of its posterior.",
             call->argument[0], draw);
}

static idm_status write(cli_call *call, const cli_input *input, const char *target)
{
  char head[480];
  describe(call, input, head, sizeof head);
  return is_pomdp(target)
             ? idm_problem_write_pomdp(input->problem, target, &call->notes, &call->error)
             : idm_problem_write_yaml_headed(input->problem, head, target, &call->error);
}

static idm_status run(cli_call *call)
{
  const char *target;
  cli_input input = {0};
  idm_status status = find_target(call, &target);
  if (status == IDM_OK) status = cli_check_target(call, target);
  if (status != IDM_OK) return status;
  status = cli_input_open(call, call->argument[0], &input);
  if (status == IDM_OK) status = cli_check_draw(call, &input);
  if (status == IDM_OK && input.posterior) status = set_to_centre(call, &input);
  if (status == IDM_OK) status = cli_check_planable(call, input.posterior);
  if (status == IDM_OK) status = write(call, &input, target);
  cli_input_close(&input);
  return status == IDM_OK ? cli_report_file(call, target) : status;
}

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .value = "OUT",
     .help = "file to write, instead of a second argument"},
    CLI_SET_OPTION,
    CLI_PROBLEM_OPTION,
    CLI_DRAW_OPTION("centre", "for a RUN: the draw to write, or the posterior's `centre`"),
    CLI_PLUGIN_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_convert = {
    .name = "convert",
    .arguments = "PROBLEM|RUN OUT",
    .min_arguments = 1,
    .max_arguments = 2,
    .summary = "Convert a problem between YAML and Cassandra's .POMDP, or write that of a run",
    .description =
        "The format of OUT depends on its name: .POMDP (any case), else YAML. Content that the\n"
        "format cannot express is listed; if its omission would change the problem (terminal\n"
        "actions, a horizon), the conversion is refused. For a RUN the problem is written with\n"
        "the inferred parameters, at the centre of its posterior or at --draw N, and without free\n"
        "blocks: `idm solve` computes the same plan for both.",
    .options = options,
    .run = run,
};
