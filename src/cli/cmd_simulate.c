/* idm simulate: a log of decisions of an agent in its environment. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"

static idm_status report(cli_call *call, const idm_data *data, long seed)
{
  if (!cli_given(call, "json")) {
    size_t decisions = 0;
    for (size_t row = 0; row < data->rows; row++) decisions += !idm_data_missed(data, row);
    fprintf(stderr, "idm: simulated %zu trajectories, %zu decisions (seed %ld)\n",
            data->trajectories, decisions, seed);
    return IDM_OK;
  }
  json_t *object = json_object();
  idm_json_set(&object, "trajectories", json_integer((json_int_t)data->trajectories));
  idm_json_set(&object, "rows", json_integer((json_int_t)data->rows));
  idm_json_set(&object, "seed", json_integer(seed));
  idm_json_set(&object, "file", idm_json_text(cli_text(call, "output")));
  return cli_print_json(call, object);
}

/* A log to simulate. */
typedef struct simulation_job {
  cli_input input;
  idm_data *design_log; /* log whose design is reproduced; NULL: none */
  idm_data *data;
} simulation_job;

static void close_job(simulation_job *j)
{
  idm_data_destroy(j->data);
  idm_data_destroy(j->design_log);
  cli_input_close(&j->input);
}

/* Refuse to overwrite the log of a run, which may consist of several files, one per line. */
static idm_status check_logs(cli_call *call, const char *output, const char *logs)
{
  idm_status status = IDM_OK;
  while (*logs && status == IDM_OK) {
    const size_t length = strcspn(logs, "\n");
    char *log = strndup(logs, length);
    if (!log) return idm_fail_memory(&call->error);
    status = idm_file_check_output(output, (const char *const[]){log}, 1, &call->error);
    free(log);
    logs += length + (logs[length] != '\0');
  }
  return status;
}

/* Read the log given by --like; for a run with the run's --where, unless the call has its own. */
static idm_status read_like(cli_call *call, const char *design_log, simulation_job *j)
{
  char where[sizeof((idm_request *)0)->where];
  const idm_status status =
      cli_run_where(call, j->input.posterior ? j->input.request : NULL, where, sizeof where);
  return status == IDM_OK
             ? cli_read_log(call, design_log, where, j->input.problem, 0, &j->design_log)
             : status;
}

/* Open the problem and the design log: --like, or the log of the run unless a number of
 * trajectories is given. */
static idm_status open_job(cli_call *call, simulation_job *j)
{
  const char *design_log = cli_text(call, "like");
  idm_status status = cli_input_open(call, call->argument[0], &j->input);
  if (status == IDM_OK) status = cli_check_planable(call, j->input.posterior);
  if (status != IDM_OK) return status;
  const char *output = cli_text(call, "output");
  if (design_log) status = idm_file_check_output(output, &design_log, 1, &call->error);
  if (status == IDM_OK && design_log) status = read_like(call, design_log, j);
  if (design_log) return status;
  /* The design of a run's log belongs to its original environment. */
  if (!j->input.posterior || cli_given(call, "number") || cli_given(call, "problem"))
    return cli_check_utilities(call, j->input.problem);
  status = check_logs(call, output, j->input.request->data);
  if (status != IDM_OK) return status;
  status = cli_read_run_data(call, &j->input, &j->design_log);
  if (status == IDM_INPUT)
    idm_notes_add(&call->notes, "a run is simulated with the design of its log; give --like DATA "
                                "if the log has moved, or -n N for a design without a log");
  return status;
}

/* Simulate the problem's agent. */
static idm_status simulate_problem(cli_call *call, simulation_job *j, idm_simulation simulation)
{
  idm_workspace *workspace = NULL;
  idm_plan_report plan;
  idm_problem *problem = j->input.problem;
  idm_status status = cli_plan(call, problem, NULL, &workspace, &plan);
  idm_simulation_adapt(&simulation, problem);
  if (status == IDM_OK)
    status = idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation,
                          &j->data, &call->error);
  idm_workspace_destroy(workspace);
  return status;
}

static idm_status simulate(cli_call *call, simulation_job *j, const idm_simulation *simulation)
{
  const char *draw = cli_text(call, "draw");
  idm_status status = cli_check_draw(call, &j->input);
  if (status != IDM_OK) return status;
  if (!j->input.posterior) return simulate_problem(call, j, *simulation);
  if (strcmp(draw, "each") == 0)
    return idm_posterior_simulate(j->input.problem, j->input.posterior, simulation, &j->data,
                                  &call->error);
  status = cli_set_to_draw(call, &j->input, draw);
  return status == IDM_OK ? simulate_problem(call, j, *simulation) : status;
}

/* Write utilities to the columns that the file reads them from, including values from --set. */
static idm_status restore_utilities(cli_call *call, simulation_job *j)
{
  const idm_theta *theta = j->input.problem->theta;
  cli_restore_columns(&j->input);
  const size_t columns = j->input.problem->columns.utility.count;
  const size_t variants = idm_theta_variants(theta);
  double *values = calloc(variants * columns + 1, sizeof *values);
  if (!values) return idm_fail_memory(&call->error);
  free(j->data->variant_value);
  j->data->variant_value = values;
  j->data->columns = columns;
  j->data->variants = variants;
  return idm_problem_unbind(j->input.problem, theta, values, &call->error);
}

/* Give trajectories unique names, since logs of several environments may be read together. */
static idm_status name_trajectories(cli_call *call, const char *environment, idm_data *data)
{
  char name[1100];
  idm_status status = idm_labels_create(&data->trajectory_name, data->trajectories, &call->error);
  for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++) {
    const int length = snprintf(name, sizeof name, "%.1000s-%zu", environment, t + 1);
    status = idm_labels_set(&data->trajectory_name, t, name, (size_t)length, &call->error);
  }
  return status;
}

/* Add the environment column, if the problem has several environments. */
static idm_status label_environment(cli_call *call, simulation_job *j)
{
  const idm_problem *problem = j->input.problem;
  idm_data *data = j->data;
  if (!problem->current_environment || data->label[IDM_COLUMN_ENVIRONMENT]) return IDM_OK;
  const char *name = problem->environment[problem->current_environment - 1].name;
  data->label[IDM_COLUMN_ENVIRONMENT] = calloc(data->trajectories, sizeof(int32_t));
  if (!data->label[IDM_COLUMN_ENVIRONMENT]) return idm_fail_memory(&call->error);
  idm_labels *labels = &data->label_name[IDM_COLUMN_ENVIRONMENT];
  idm_status status = idm_labels_create(labels, 1, &call->error);
  if (status == IDM_OK) status = idm_labels_set(labels, 0, name, strlen(name), &call->error);
  if (status == IDM_OK && !data->trajectory_name.count)
    status = name_trajectories(call, name, data);
  return status;
}

/* Note columns that the file maps but a simulation does not produce. */
static void note_not_simulated(cli_call *call, const simulation_job *j)
{
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    const idm_column_info *info = idm_column_describe((idm_column)c);
    if (info->evidence && j->input.problem->columns.role[c].count && !j->data->number[c] &&
        !j->data->label[c])
      idm_notes_add(&call->notes, "column '%s': %s is not simulated; the column is constant",
                    j->input.problem->columns.role[c].name[0], info->what);
  }
}

static idm_status write_log(const void *content, const char *path, idm_error *error)
{
  const simulation_job *j = content;
  return idm_data_write_csv(j->data, j->input.problem, path, error);
}

static idm_status run(cli_call *call)
{
  simulation_job j = {0};
  const char *output = cli_text(call, "output");
  const long seed = cli_integer(call, "seed");
  idm_status status = cli_check_target(call, output);
  if (status == IDM_OK && cli_given(call, "like") && cli_given(call, "number"))
    status = idm_fail(&call->error, IDM_USAGE, "--like and --number exclude each other");
  if (status == IDM_OK && cli_given(call, "where") && !cli_given(call, "like"))
    status =
        idm_fail(&call->error, IDM_USAGE, "--where selects rows of a log; it needs --like DATA");
  if (status == IDM_OK) status = open_job(call, &j);
  const idm_simulation simulation = {.trajectories = (size_t)cli_integer(call, "number"),
                                     .steps = (int)cli_integer(call, "steps"),
                                     .seed = (uint64_t)seed,
                                     .opt_design_log = j.design_log,
                                     .states = cli_given(call, "states")};
  if (status == IDM_OK) status = simulate(call, &j, &simulation);
  if (status == IDM_OK) status = restore_utilities(call, &j);
  if (status == IDM_OK) status = label_environment(call, &j);
  if (status == IDM_OK) note_not_simulated(call, &j);
  if (status == IDM_OK) status = cli_write_csv(call, output, write_log, &j);
  if (status == IDM_OK) status = report(call, j.data, seed);
  close_job(&j);
  return status;
}

static const cli_option options[] = {
    {.name = "number",
     .letter = 'n',
     .kind = CLI_INTEGER,
     .value = "N",
     .default_value = "1000",
     .low = 1,
     .high = 1e9,
     .help = "trajectories"},
    {.name = "like",
     .kind = CLI_TEXT,
     .value = "DATA",
     .help = "reproduce the design of a log instead of a number of trajectories (for a RUN: its "
             "own log)"},
    {.name = "states",
     .kind = CLI_FLAG,
     .help = "add a column `state`: the hidden state before each action"},
    CLI_DRAW_OPTION("each", "for a RUN: simulate all trajectories with draw N or the posterior's "
                            "`centre`; `each`: every trajectory with another draw"),
    {.name = "seed",
     .kind = CLI_INTEGER,
     .value = "SEED",
     .default_value = "1",
     .high = 9e18,
     .help = "seed; trajectory i uses stream i"},
    {.name = "steps",
     .kind = CLI_INTEGER,
     .value = "N",
     .default_value = "0",
     .high = 1e9,
     .help = "maximum number of steps per trajectory (0: the horizon, or 1000)"},
    CLI_OUTPUT_OPTION("CSV file to write"),
    CLI_SAFE_OPTION,
    CLI_WHERE_OPTION,
    CLI_SET_OPTION,
    CLI_PROBLEM_OPTION,
    CLI_BATCH_OPTIONS,
    CLI_PLUGIN_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_simulate = {
    .name = "simulate",
    .arguments = "PROBLEM|RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .summary = "Simulate a log of decisions",
    .description =
        "Simulates the agent in the environment (not in its own models) and writes one row per\n"
        "decision, in the columns that the problem maps under `data:`, so that `score` and `fit`\n"
        "can read it with the same problem: agent, trajectory, step, action, observation after "
        "it,\n"
        "and further columns of the problem. The same seed gives the same log. --like DATA\n"
        "reproduces the design of a log: its agents and trajectories with their names, utilities\n"
        "by column, available actions, missed responses, start beliefs and lengths (a trajectory\n"
        "that is not ended by an action has the same length). Covariates are not written. For a\n"
        "RUN that was fitted with --where, the same rows, unless --where is given.\n"
        "A RUN simulates the agents of its log from the posterior, every trajectory with another\n"
        "draw (the posterior predictive distribution), or with --draw the whole log with one.\n"
        "Utilities from columns need a log, or a number: --set utility.ACTION.STATE=NUMBER.",
    .options = options,
    .run = run,
};
