/* idm compare: distances between the utilities and policies of two agents of one problem. */
#include "cli/cli.h"
#include "cli/common.h"

static void print_words(const idm_agent_distance *c)
{
  if (c->has_distance)
    printf("utilities: canonical distance %.6g (0: equal up to shaping, scale and shift; 1: "
           "opposite)\n",
           c->distance);
  else
    printf("utilities: none to compare; a planner uses no utility\n");
  if (c->has_divergence)
    printf("policies:  KL(first || second) %.6g, KL(second || first) %.6g nats per decision, over "
           "the states that the policy before the bars visits\n",
           c->kl[0], c->kl[1]);
  else
    printf("policies:  none by state: states are hidden, there is a horizon, or a planner has its "
           "own memory; `idm score --trials` shows both at the decisions of a log\n");
}

static idm_status print(cli_call *call, const idm_agent_distance *c)
{
  if (!cli_given(call, "json")) {
    print_words(c);
    return IDM_OK;
  }
  json_t *object = json_object();
  idm_json_set(&object, "canonical_distance", idm_json_number(c->distance));
  json_t *kl = json_object();
  idm_json_set(&kl, "first_second", idm_json_number(c->kl[0]));
  idm_json_set(&kl, "second_first", idm_json_number(c->kl[1]));
  idm_json_set(&object, "kl", kl);
  return cli_print_json(call, object);
}

/* Open a problem, or a run with a single parameter vector. */
static idm_status open_input(cli_call *call, const char *path, cli_input *input)
{
  idm_status status = cli_input_open(call, path, input);
  if (status == IDM_OK) status = cli_check_utilities(call, input->problem);
  if (status == IDM_OK && input->posterior && input->posterior->series_count)
    status = idm_fail(&call->error, IDM_USAGE,
                      "the run '%.300s' is of people, each with their own parameters; expected a "
                      "run with a single parameter vector",
                      path);
  return status;
}

static idm_status run(cli_call *call)
{
  cli_input input[2] = {{0}, {0}};
  idm_agent_distance found = {0};
  idm_status status = IDM_OK;
  for (int i = 0; i < 2 && status == IDM_OK; i++)
    status = open_input(call, call->argument[i], &input[i]);
  if (status == IDM_OK)
    status = idm_compare(&(idm_compared_agent){input[0].problem, input[0].posterior},
                         &(idm_compared_agent){input[1].problem, input[1].posterior}, &found,
                         &call->error);
  if (status == IDM_OK) status = print(call, &found);
  for (int i = 0; i < 2; i++) cli_input_close(&input[i]);
  return status;
}

static const cli_option options[] = {CLI_PLUGIN_OPTION, CLI_JSON_OPTION, CLI_END};

const cli_command cli_compare = {
    .name = "compare",
    .arguments = "PROBLEM|RUN PROBLEM|RUN",
    .min_arguments = 2,
    .max_arguments = 2,
    .summary = "Compare two agents of one problem: their utilities and their policies",
    .description =
        "Prints the canonical distance of two utilities, which is invariant to shaping, scale and\n"
        "shift, under the environment's dynamics; for a RUN, at its centre. If states are\n"
        "observed, also the divergence of the policies; for a RUN, of the mean over its draws.\n"
        "Both agents must have the same environment: names, dynamics, start and discount.",
    .options = options,
    .run = run,
};
