/* idm explain: single cases step by step, beside what a rational agent would have done. */
#include <string.h>

#include "cli/common.h"
#include "cli/csv.h"
#include "cli/explained.h"
#include "cli/options.h"

static idm_status read_settings(cli_call *call, const idm_setting *setting, const idm_data *data,
                                idm_explain_settings *settings)
{
  idm_explain_settings_default(settings);
  settings->top = (size_t)cli_integer(call, "top");
  const char *due = cli_text(call, "due");
  for (size_t u = 0; due && u < setting->actions.count; u++)
    if (strcmp(setting->actions.name[u], due) == 0) settings->due = (int32_t)u;
  if (due && settings->due == IDM_MISSING)
    return idm_fail(&call->error, IDM_USAGE,
                    "--due is '%s', which is no action of the problem; "
                    "the first is '%s'",
                    due, setting->actions.name[0]);
  const char *name = cli_text(call, "trajectory");
  size_t trajectory = 0;
  const idm_status status = name ? idm_data_find(data, name, &trajectory, &call->error) : IDM_OK;
  if (name && status == IDM_OK) settings->trajectory = (int64_t)trajectory;
  return status;
}

/* The log: every argument but the first. Of a run, its own log must be what it was. */
static idm_status read_data(cli_call *call, cli_subject *subject, idm_data **ret_data)
{
  char paths[sizeof((idm_request *)0)->data];
  char where[sizeof((idm_request *)0)->where];
  const idm_request *opt_request = subject->posterior ? subject->request : NULL;
  idm_status status = cli_data_paths(call, 1, paths, sizeof paths);
  if (status == IDM_OK && opt_request)
    status = idm_request_check_log(opt_request, paths, &call->error);
  if (status == IDM_OK) status = cli_where_of_run(call, opt_request, where, sizeof where);
  return status == IDM_OK
             ? cli_read_people(call, paths, where, opt_request, false, subject->problem, ret_data)
             : status;
}

static idm_status write_table(const void *content, const char *path, idm_error *error)
{
  const cli_explained *x = content;
  return idm_explanation_write_csv(x->e, x->data, x->setting, x->trajectory, path, error);
}

static idm_status put_out(const cli_explained *x)
{
  const char *path = cli_text(x->call, "output");
  idm_status status = IDM_OK;
  if (path) status = cli_write_csv(x->call, path, write_table, x);
  if (status == IDM_OK && path && strcmp(path, "-") == 0) return IDM_OK;
  if (status == IDM_OK)
    status = cli_given(x->call, "json") ? cli_print_explained_json(x) : cli_print_explained(x);
  if (status == IDM_OK && path && !cli_given(x->call, "json"))
    fprintf(stderr, "idm: wrote %s\n", path);
  return status;
}

static idm_status run(cli_call *call)
{
  cli_subject subject = {0};
  idm_data *data = NULL;
  idm_explanation *e = NULL;
  idm_explain_settings settings;
  const char *path = cli_text(call, "output");
  idm_status status = path ? cli_check_target(call, path) : IDM_OK;
  if (status != IDM_OK) return status;
  status = cli_open_subject(call, call->argument[0], &subject);
  if (status == IDM_OK) status = cli_warn_of_run(call, subject.posterior);
  if (status == IDM_OK) status = read_data(call, &subject, &data);
  if (status == IDM_OK) status = read_settings(call, subject.problem->setting, data, &settings);
  if (subject.posterior && cli_people_column(subject.request)[0])
    settings.by = cli_people_column(subject.request);
  if (status == IDM_OK)
    status = idm_explain(subject.problem, subject.posterior, data, &settings, &e, &call->notes,
                         &call->error);
  if (status == IDM_OK)
    status = put_out(&(cli_explained){.call = call,
                                      .setting = subject.problem->setting,
                                      .data = data,
                                      .e = e,
                                      .trajectory = settings.trajectory});
  idm_explanation_destroy(e);
  idm_data_destroy(data);
  cli_close_subject(&subject);
  return status;
}

static const cli_option options[] = {
    {.name = "trajectory",
     .kind = CLI_TEXT,
     .value = "ID",
     .help = "show one trajectory step by step (default: the ranked lists)"},
    {.name = "due",
     .kind = CLI_TEXT,
     .value = "ACTION",
     .help = "what a trajectory may be late with (default: any action that ends it)"},
    {.name = "top",
     .kind = CLI_INTEGER,
     .value = "N",
     .standard = "10",
     .low = 0,
     .high = 10000,
     .help = "length of the ranked lists"},
    CLI_SAFE_OPTION,
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "CSV file to write, a line a step (- : on standard output, in place of tables)"},
    CLI_WHERE_OPTION,
    CLI_SET_OPTION,
    CLI_PROBLEM_OPTION,
    CLI_PLUGIN_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_explain = {
    .name = "explain",
    .arguments = "PROBLEM|RUN DATA...",
    .least = 2,
    .most = CLI_ANY_NUMBER,
    .summary = "Explain single cases, step by step, beside a rational agent",
    .description =
        "For every step of DATA: what the agent believed, how probable each action was, how\n"
        "surprising the one taken, and what a rational agent (alpha 0, beta inf, eta 0, knowing "
        "the\n"
        "environment) would have done: at its own Bayes belief on the same history, where the "
        "regret of\n"
        "the action is counted in units of the utility, and at this agent's belief. Then the most\n"
        "surprising decisions, the trajectories that ended, or took --due ACTION, later than they "
        "would\n"
        "have, and for every agent its reaction to evidence, its weight of the base rate, its "
        "noise. A RUN\n"
        "gives means and 5 % and 95 % quantiles over its draws, and reads the rows that it was "
        "fitted to\n"
        "unless --where says otherwise.",
    .options = options,
    .run = run,
};
