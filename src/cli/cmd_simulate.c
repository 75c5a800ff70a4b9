/* idm simulate: a log of decisions from an agent in its environment. */
#include <string.h>

#include "cli/cli.h"

static idm_status report(cli_call *call, const idm_data *data, long seed)
{
  if (!cli_given(call, "json")) {
    fprintf(stderr, "idm: simulated %zu trajectories, %zu decisions (seed %ld)\n",
            data->trajectories, data->rows, seed);
    return IDM_OK;
  }
  json_t *object = json_object();
  idm_json_set(&object, "trajectories", json_integer((json_int_t)data->trajectories));
  idm_json_set(&object, "rows", json_integer((json_int_t)data->rows));
  idm_json_set(&object, "seed", json_integer(seed));
  idm_json_set(&object, "file", idm_json_text(cli_text(call, "output")));
  return cli_print_json(call, object);
}

/* Give numbers to utilities that came from columns of the run's log: a simulation has no log. What
 * was inferred, and what was held meanwhile, stays. */
static idm_status set_utilities(cli_call *call, idm_problem *problem)
{
  const char *const *settings;
  const size_t count = cli_list(call, "set", &settings);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    const size_t sources = problem->utility_sources;
    const bool utility = sources && strncmp(settings[i], "utility.", 8) == 0;
    if (utility) status = idm_problem_set(problem, settings[i], &call->error);
    if (status == IDM_OK && (!utility || problem->utility_sources == sources))
      status = idm_fail(&call->error, IDM_USAGE,
                        "--set does not change what a run has inferred or held: it only gives a "
                        "number to a utility that comes from a data column, as "
                        "utility.ACTION.STATE=1");
  }
  if (status == IDM_OK && count && idm_problem_validate(problem, &call->error) != IDM_OK)
    status = IDM_USAGE;
  return status == IDM_OK ? cli_need_utilities(call, problem) : status;
}

/* Posterior predictive data: each trajectory by a draw of the run. */
static idm_status simulate_run(cli_call *call, const idm_simulation *simulation,
                               idm_problem **ret_problem, idm_data **ret_data)
{
  idm_posterior *posterior = NULL;
  idm_status status =
      idm_run_read(call->argument[0], ret_problem, NULL, &posterior, &call->notes, &call->error);
  if (status == IDM_OK) status = set_utilities(call, *ret_problem);
  if (status == IDM_OK)
    status = idm_posterior_simulate(*ret_problem, posterior, simulation, ret_data, &call->error);
  idm_posterior_destroy(posterior);
  return status;
}

static idm_status simulate_problem(cli_call *call, const idm_simulation *simulation,
                                   idm_problem **ret_problem, idm_data **ret_data)
{
  idm_workspace *workspace = NULL;
  idm_plan_report plan;
  idm_status status = cli_read_problem(call, call->argument[0], ret_problem);
  if (status == IDM_OK) status = cli_need_utilities(call, *ret_problem);
  if (status == IDM_OK) status = cli_plan(call, *ret_problem, &workspace, &plan);
  idm_simulation paid = *simulation;
  if (status == IDM_OK) idm_simulation_pay(&paid, *ret_problem);
  if (status == IDM_OK)
    status = idm_simulate((*ret_problem)->setting, idm_workspace_behavior(workspace), &paid,
                          ret_data, &call->error);
  idm_workspace_destroy(workspace);
  return status;
}

static idm_status run(cli_call *call)
{
  idm_problem *problem = NULL;
  idm_data *data = NULL;
  const long seed = cli_integer(call, "seed");
  const idm_simulation simulation = {.trajectories = (size_t)cli_integer(call, "number"),
                                     .steps = (int)cli_integer(call, "steps"),
                                     .seed = (uint64_t)seed};
  idm_status status = cli_check_target(call, cli_text(call, "output"));
  if (status == IDM_OK)
    status = idm_run_is(call->argument[0]) ? simulate_run(call, &simulation, &problem, &data)
                                           : simulate_problem(call, &simulation, &problem, &data);
  if (status == IDM_OK)
    status = idm_data_write_csv(data, problem->setting, cli_text(call, "output"), &call->error);
  if (status == IDM_OK) status = report(call, data, seed);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return status;
}

static const cli_option options[] = {
    {.name = "number",
     .letter = 'n',
     .kind = CLI_INTEGER,
     .value = "N",
     .standard = "1000",
     .low = 1,
     .high = 1e9,
     .help = "trajectories"},
    {.name = "seed",
     .kind = CLI_INTEGER,
     .value = "SEED",
     .standard = "1",
     .high = 9e18,
     .help = "seed; trajectory i uses stream i"},
    {.name = "steps",
     .kind = CLI_INTEGER,
     .value = "N",
     .standard = "0",
     .high = 1e9,
     .help = "most steps a trajectory (0: the horizon, or 1000)"},
    CLI_OUTPUT_OPTION("CSV file to write"),
    CLI_SET_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_simulate = {
    .name = "simulate",
    .arguments = "PROBLEM|RUN",
    .least = 1,
    .most = 1,
    .summary = "Simulate a log of decisions",
    .description =
        "Lets the agent act in the environment (never in its own models) and writes one row a "
        "decision:\n"
        "agent, trajectory, step, action, and what was observed after it. The same seed gives the "
        "same "
        "log. A RUN simulates by its posterior, each trajectory by another draw; utilities that "
        "came\n"
        "from columns of its log need a number: --set utility.ACTION.STATE=NUMBER.",
    .options = options,
    .run = run,
};
