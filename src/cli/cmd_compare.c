/* idm compare: how far two agents of one problem are apart. */
#include "cli/cli.h"
#include "cli/common.h"

static void print_words(const idm_agent_distance *c)
{
  if (c->has_distance)
    printf("utilities: canonical distance %.6g (0: the same but for shaping, scale and shift; 1: "
           "opposite)\n",
           c->distance);
  else
    printf("utilities: none to compare; a planner has no utility\n");
  if (c->has_divergence)
    printf("policies:  KL(first || second) %.6g, KL(second || first) %.6g nats a decision, over "
           "the states that the one before the bars comes to\n",
           c->kl[0], c->kl[1]);
  else
    printf("policies:  none by state: states are hidden, there is a horizon, or a planner has a "
           "memory of its own; `idm score --trials` shows both at the decisions of a log\n");
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

/* A problem, or a run of one vector for all. */
static idm_status open_input(cli_call *call, const char *path, cli_input *input)
{
  idm_status status = cli_input_open(call, path, input);
  if (status == IDM_OK) status = cli_check_utilities(call, input->problem);
  if (status == IDM_OK && input->posterior && input->posterior->series_count)
    status = idm_fail(&call->error, IDM_USAGE,
                      "the run '%.300s' is of people, each with numbers of their own; expected one "
                      "of one vector for all",
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
    .summary = "Compare two agents of one problem: what they want, and what they do",
    .description =
        "The canonical distance of two utilities, which is blind to shaping, scale and shift, "
        "under "
        "the\n"
        "environment's dynamics; of a RUN that of its centre. Where states are observed also how "
        "far the\n"
        "policies diverge; that of a RUN is the mean over its draws. Both are of one environment: "
        "names,\n"
        "dynamics, start and discount are the same.",
    .options = options,
    .run = run,
};
