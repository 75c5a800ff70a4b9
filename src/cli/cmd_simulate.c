/* idm simulate: a log of decisions from an agent in its environment. */

#include "cli/cli.h"

static idm_status report(cli_call *call, const idm_data *data, long seed)
{
  if (!cli_given(call, "json")) {
    fprintf(stderr, "idm: simulated %zu trajectories, %zu decisions (seed %ld)\n",
            data->trajectories, data->rows, seed);
    return IDM_OK;
  }
  json_t *object = json_object();
  json_object_set_new(object, "trajectories", json_integer((json_int_t)data->trajectories));
  json_object_set_new(object, "rows", json_integer((json_int_t)data->rows));
  json_object_set_new(object, "seed", json_integer(seed));
  json_object_set_new(object, "file", json_string(cli_text(call, "output")));
  return cli_print_json(call, object);
}

static idm_status run(cli_call *call)
{
  idm_problem *problem = NULL;
  idm_workspace *workspace = NULL;
  idm_data *data = NULL;
  idm_plan_report plan;
  const long seed = cli_integer(call, "seed");
  const idm_simulation simulation = {.trajectories = (size_t)cli_integer(call, "number"),
                                     .steps = (int)cli_integer(call, "steps"),
                                     .seed = (uint64_t)seed};
  idm_status status = cli_check_target(call, cli_text(call, "output"));
  if (status == IDM_OK) status = cli_read_problem(call, call->argument[0], &problem);
  if (status == IDM_OK) status = cli_need_utilities(call, problem);
  if (status == IDM_OK) status = cli_plan(call, problem, &workspace, &plan);
  if (status == IDM_OK)
    status = idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &data,
                          &call->error);
  if (status == IDM_OK)
    status = idm_data_write_csv(data, problem->setting, cli_text(call, "output"), &call->error);
  if (status == IDM_OK) status = report(call, data, seed);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
  return status;
}

static const cli_option options[] = {
    {"number", 'n', CLI_INTEGER, "N", "1000", 1, 1e9, "trajectories"},
    {"seed", 0, CLI_INTEGER, "SEED", "1", 0, 9e18, "seed; trajectory i uses stream i"},
    {"steps", 0, CLI_INTEGER, "N", "0", 0, 1e9,
     "most steps a trajectory (0: the horizon, or 1000)"},
    CLI_OUTPUT_OPTION("CSV file to write"),
    CLI_SET_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_simulate = {
    "simulate",
    "PROBLEM",
    1,
    1,
    "Simulate a log of decisions",
    "Lets the agent act in the environment (never in its own models) and writes one row a "
    "decision:\n"
    "agent, trajectory, step, action, and what was observed after it. The same seed gives the same "
    "log.",
    options,
    run,
};
