/* idm score: log-likelihood of a log under an agent. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"

/* Maximum number of agents in the table. */
enum { max_listed = 20 };

/* Numbers of rows that are scored, and of trajectories with such rows. */
typedef struct scored_counts {
  size_t rows;
  size_t trajectories;
} scored_counts;

static scored_counts scope_of(const idm_data *data)
{
  scored_counts s = {0};
  for (size_t t = 0; t < data->trajectories; t++) {
    const size_t before = s.rows;
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++)
      s.rows += !data->history || !data->history[r];
    s.trajectories += s.rows > before;
  }
  return s;
}

static idm_status print_json(cli_call *call, const idm_data *data, const idm_score *score,
                             const double *agents)
{
  json_t *by_agent = json_object();
  for (size_t a = 0; a < data->agent_name.count; a++)
    idm_json_set(&by_agent, data->agent_name.name[a], idm_json_number(agents[a]));
  const scored_counts s = scope_of(data);
  json_t *object = json_object();
  idm_json_set(&object, "log_likelihood", idm_json_number(score->log_likelihood));
  idm_json_set(&object, "decisions", json_integer((json_int_t)score->decisions));
  idm_json_set(&object, "forced", json_integer((json_int_t)score->forced));
  idm_json_set(&object, "missed", json_integer((json_int_t)score->missed));
  idm_json_set(&object, "unrecorded", json_integer((json_int_t)score->unrecorded));
  idm_json_set(&object, "rows", json_integer((json_int_t)s.rows));
  idm_json_set(&object, "trajectories", json_integer((json_int_t)s.trajectories));
  idm_json_set(&object, "agents", by_agent);
  return cli_print_json(call, object);
}

static void print_table(const idm_data *data, const idm_score *score, const double *agents)
{
  const scored_counts s = scope_of(data);
  printf("log-likelihood %.6f over %llu decisions: %.6f per decision\n", score->log_likelihood,
         (unsigned long long)score->decisions,
         score->log_likelihood / (double)(score->decisions ? score->decisions : 1));
  printf("%zu rows in total: %llu decisions, %llu forced, %llu missed, %llu not recorded; %zu "
         "trajector%s, %zu agent%s, %zu variant%s\n"
         "\n",
         s.rows, (unsigned long long)score->decisions, (unsigned long long)score->forced,
         (unsigned long long)score->missed, (unsigned long long)score->unrecorded, s.trajectories,
         s.trajectories == 1 ? "y" : "ies", data->agent_name.count,
         data->agent_name.count == 1 ? "" : "s", data->variants, data->variants == 1 ? "" : "s");
  printf("%-24s %16s\n", "agent", "log-likelihood");
  for (size_t a = 0; a < data->agent_name.count && a < max_listed; a++) {
    cli_print_left(stdout, 24, data->agent_name.name[a]);
    printf(" %16.6f\n", agents[a]);
  }
  if (data->agent_name.count > max_listed)
    printf("... and %zu more (--json lists all)\n", data->agent_name.count - max_listed);
}

static idm_status print(cli_call *call, const idm_data *data, const idm_score *score,
                        const double *agents)
{
  if (score->impossible_line)
    idm_notes_add(&call->notes, "%s:%ld: a decision with probability 0 for this agent",
                  score->impossible_file, score->impossible_line);
  if (cli_given(call, "json")) return print_json(call, data, score, agents);
  print_table(data, score, agents);
  return IDM_OK;
}

typedef struct trials_output {
  const idm_trials *trials;
  const idm_data *data;
  const idm_setting *setting;
} trials_output;

static idm_status write_table(const void *content, const char *path, idm_error *error)
{
  const trials_output *s = content;
  return idm_trials_write_csv(s->trials, s->data, s->setting, path, error);
}

/* Write trials to the file given by --trials, and free them. */
static idm_status write_trials(cli_call *call, const idm_problem *problem, const idm_data *data,
                               idm_trials *trials)
{
  const char *path = cli_text(call, "trials");
  const idm_status status = cli_write_csv(call, path, write_table,
                                          &(const trials_output){trials, data, problem->setting});
  if (status == IDM_OK && !cli_given(call, "json")) fprintf(stderr, "idm: wrote %s\n", path);
  idm_trials_destroy(trials);
  return status;
}

/* Parse --history: whether rows that --where excludes are kept as history. */
static idm_status parse_history(cli_call *call, bool *ret_keep)
{
  const char *word = cli_text(call, "history");
  *ret_keep = word && strcmp(word, "keep") == 0;
  if (!word || *ret_keep || strcmp(word, "drop") == 0) return IDM_OK;
  return idm_fail(&call->error, IDM_USAGE, "--history is '%s'; expected keep or drop", word);
}

/* Check --trials: it needs its own file, since the score is printed on standard output. */
static idm_status check_trials(cli_call *call)
{
  const char *path = cli_text(call, "trials");
  bool history;
  const idm_status status = parse_history(call, &history);
  if (status != IDM_OK || !path) return status;
  if (history)
    return idm_fail(&call->error, IDM_USAGE,
                    "--trials lists every row that is read; leave out --where and --history, and "
                    "select rows from its table");
  if (strcmp(path, "-") != 0) return cli_check_target(call, path);
  return idm_fail(&call->error, IDM_USAGE,
                  "--trials needs a file to write to, not standard output");
}

static idm_status score_data(cli_call *call, const idm_problem *problem, const idm_data *data,
                             const idm_workspace *workspace)
{
  idm_prefix_tree *tree = NULL;
  idm_scorer *scorer = NULL;
  idm_score score;
  double *agents = calloc(data->agent_name.count, sizeof *agents);
  idm_status status = agents ? IDM_OK : idm_fail_memory(&call->error);
  if (status == IDM_OK) status = idm_evidence_tree(problem, data, &tree, &call->error);
  if (status == IDM_OK) status = idm_scorer_create(data, tree, &scorer, &call->error);
  if (status == IDM_OK)
    status = idm_scorer_run(scorer, idm_workspace_behavior(workspace), &score, &call->error);
  if (status == IDM_OK) {
    idm_scorer_agents(scorer, agents);
    status = print(call, data, &score, agents);
  }
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
  free(agents);
  return status;
}

/* Read the log: all arguments but the first. If it is the log of the run, its contents must be
 * unchanged. */
static idm_status read_data(cli_call *call, const idm_request *opt_request, idm_problem *problem,
                            idm_data **ret_data)
{
  enum { room = sizeof((idm_request *)0)->data };
  char where[sizeof((idm_request *)0)->where];
  char *paths = malloc(room); /* too large for the stack in addition to the caller's */
  if (!paths) return idm_fail_memory(&call->error);
  idm_status status = cli_data_paths(call, 1, paths, room);
  if (status == IDM_OK && opt_request)
    status = idm_request_check_log(opt_request, paths, &call->error);
  if (status == IDM_OK) status = cli_run_where(call, opt_request, where, sizeof where);
  bool history = false;
  if (status == IDM_OK) status = parse_history(call, &history);
  if (status == IDM_OK && history && !where[0])
    status = idm_fail(&call->error, IDM_USAGE,
                      "--history keep reads the rows that --where excludes; expected --where");
  if (status == IDM_OK)
    status = cli_read_people(call, paths, where, opt_request, history, problem, ret_data);
  free(paths);
  return status;
}

/* Predict by the draws of a run: one vector for all, or each person by their own draws. */
static idm_status predict(cli_call *call, const idm_problem *problem,
                          const idm_posterior *posterior, const idm_request *request,
                          const idm_data *data, double *by_person, idm_score *score)
{
  if (!posterior->series_count)
    return idm_posterior_predict(problem, posterior, data, by_person, score, &call->error);
  if (cli_given(call, "trials"))
    return idm_fail(
        &call->error, IDM_USAGE,
        "--trials needs a run with a single parameter vector, and this run is of people");
  return idm_people_predict(problem, posterior, data, idm_request_people(request),
                            request->settings.threads, by_person, score, &call->error);
}

/* Open a run. Its utilities come from the columns of the log, so --set of a utility is refused. */
static idm_status open_run(cli_call *call, cli_input *input)
{
  idm_status status = cli_input_open(call, call->argument[0], input);
  if (status == IDM_OK && input->problem->utility_sources != input->utility_sources)
    status = idm_fail(&call->error, IDM_USAGE,
                      "--set cannot change utilities that come from columns of the scored log");
  return status == IDM_OK ? cli_check_planable(call, input->posterior) : status;
}

/* Score by the posterior of a run: mean of each trajectory's probability over its draws. */
static idm_status score_by_run(cli_call *call)
{
  cli_input input;
  idm_data *data = NULL;
  double *by_person = NULL;
  double *agents = NULL;
  idm_score score;
  idm_status status = open_run(call, &input);
  idm_problem *problem = input.problem;
  if (status == IDM_OK) status = read_data(call, input.request, problem, &data);
  if (status == IDM_OK) {
    by_person = calloc(data->trajectories, sizeof *by_person);
    agents = calloc(data->agent_name.count, sizeof *agents);
    status = by_person && agents
                 ? predict(call, problem, input.posterior, input.request, data, by_person, &score)
                 : idm_fail_memory(&call->error);
  }
  for (size_t t = 0; status == IDM_OK && t < data->trajectories; t++)
    agents[data->agent[t]] += by_person[t];
  if (status == IDM_OK && cli_given(call, "trials")) {
    idm_trials *trials;
    status = idm_posterior_trials(problem, input.posterior, data, &trials, &call->error);
    if (status == IDM_OK) status = write_trials(call, problem, data, trials);
  }
  if (status == IDM_OK) status = print(call, data, &score, agents);
  free(by_person);
  free(agents);
  idm_data_destroy(data);
  cli_input_close(&input);
  return status;
}

static idm_status run(cli_call *call)
{
  idm_status status = check_trials(call);
  if (status != IDM_OK) return status;
  if (idm_run_is(call->argument[0])) return score_by_run(call);
  idm_problem *problem = NULL;
  idm_workspace *workspace = NULL;
  idm_data *data = NULL;
  idm_plan_report report;
  status = cli_check_relocation(call, false);
  if (status == IDM_OK) status = cli_read_problem(call, call->argument[0], &problem);
  if (status == IDM_OK) status = read_data(call, NULL, problem, &data);
  if (status == IDM_OK) status = cli_plan(call, problem, NULL, &workspace, &report);
  if (status == IDM_OK && cli_given(call, "trials")) {
    idm_trials *trials;
    status = idm_trials_create(workspace, data, &trials, &call->error);
    if (status == IDM_OK) status = write_trials(call, problem, data, trials);
  }
  if (status == IDM_OK) status = score_data(call, problem, data, workspace);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
  return status;
}

static const cli_option options[] = {
    CLI_SAFE_OPTION,
    {.name = "trials",
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "CSV file to write, one line per row: belief before it, probability and Q of each "
             "action, surprise, log-likelihood; for a RUN means and quantiles over draws"},
    CLI_WHERE_OPTION,
    {.name = "history",
     .kind = CLI_TEXT,
     .value = "keep|drop",
     .default_value = "drop",
     .help = "rows that --where excludes: keep reads them for the agent's memory and does not "
             "score them, drop does not read them"},
    CLI_SET_OPTION,
    CLI_PROBLEM_OPTION,
    CLI_BATCH_OPTIONS,
    CLI_PLUGIN_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_score = {
    .name = "score",
    .arguments = "PROBLEM|RUN DATA...",
    .min_arguments = 2,
    .max_arguments = CLI_ANY_NUMBER,
    .summary = "Score a log: its log-likelihood under an agent",
    .description =
        "Filters every trajectory of DATA with the agent's recognition policy and sums the\n"
        "log-probabilities of all recorded decisions among the actions available at each step.\n"
        "Forced decisions, missed responses (data: {missed: ...}) and unrecorded ones contribute\n"
        "nothing but are filtered; all are counted.\n"
        "A RUN scores by its posterior: the log of each trajectory's mean probability over the\n"
        "draws; a run of people (--by, --each) scores each person by their own draws. A RUN that\n"
        "was fitted with --where uses the same rows, unless --where is given. With --history "
        "keep,\n"
        "beliefs and values depend on the rows before those that are scored. The surprise of\n"
        "--trials is -log p(x|z,u) under the agent's own models, with the agent's weights;\n"
        "missing values are averaged over.",
    .options = options,
    .run = run,
};
