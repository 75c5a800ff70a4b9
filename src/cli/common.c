/* What several commands do: reading, planning, JSON. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

idm_status cli_override(cli_call *call, idm_problem *problem)
{
  const char *const *settings;
  const size_t count = cli_list(call, "set", &settings);
  const bool sound = idm_problem_validate(problem, NULL) == IDM_OK;
  idm_status status = IDM_OK;
  for (size_t i = 0; status == IDM_OK && i < count; i++)
    status = idm_problem_set(problem, settings[i], &call->error);
  if (status == IDM_OK) status = idm_problem_validate(problem, &call->error);
  /* The file was sound: what is wrong now came from the command line. */
  return status == IDM_INPUT && sound ? IDM_USAGE : status;
}

idm_status cli_read_problem(cli_call *call, const char *path, idm_problem **ret_problem)
{
  idm_status status = idm_problem_read(path, ret_problem, &call->notes, &call->error);
  if (status == IDM_OK) status = cli_override(call, *ret_problem);
  if (status != IDM_OK) {
    idm_problem_destroy(*ret_problem);
    *ret_problem = NULL;
  }
  return status;
}

idm_status cli_read_data(cli_call *call, const char *path, idm_problem *problem, unsigned columns,
                         idm_data **ret_data)
{
  const idm_csv_options options = {.columns = columns};
  idm_status status =
      idm_data_read_csv(path, problem, &options, ret_data, &call->notes, &call->error);
  if (status != IDM_OK) return status;
  status =
      idm_problem_bind(problem, (*ret_data)->variants, (*ret_data)->variant_value, &call->error);
  if (status == IDM_OK) status = idm_problem_validate(problem, &call->error);
  if (status != IDM_OK) {
    idm_data_destroy(*ret_data);
    *ret_data = NULL;
  }
  return status;
}

idm_status cli_need_utilities(cli_call *call, const idm_problem *problem)
{
  if (!problem->utility_sources) return IDM_OK;
  const idm_utility_source *source = &problem->utility_source[0];
  return idm_fail(
      &call->error, IDM_USAGE,
      "the utility of '%s' comes from the data column '%s'; give it a number, as in "
      "--set utility.%s.%s=1",
      problem->setting->actions.name[source->action], problem->columns.utility.name[source->column],
      problem->setting->actions.name[source->action], problem->setting->states.name[source->state]);
}

idm_status cli_plan(cli_call *call, idm_problem *problem, idm_workspace **ret_workspace,
                    idm_plan_report *report)
{
  idm_status status = idm_workspace_create(problem->setting, problem->theta, &problem->agent,
                                           ret_workspace, &call->error);
  if (status != IDM_OK) return status;
  status = idm_plan_capacity(problem->theta, &problem->agent, NULL, *ret_workspace, report,
                             &call->notes, &call->error);
  if (status == IDM_OK && report->stop == IDM_STOP_LIMIT)
    idm_notes_add(&call->notes, "planning stopped at its limit: the value is certain only to %.1e",
                  report->bound);
  if (status != IDM_OK) {
    idm_workspace_destroy(*ret_workspace);
    *ret_workspace = NULL;
  }
  return status;
}

idm_status cli_check_target(cli_call *call, const char *path)
{
  const char *inputs[CLI_MOST_ARGUMENTS];
  size_t count = 0;
  for (int i = 0; i < call->arguments; i++)
    if (call->argument[i] != path) inputs[count++] = call->argument[i];
  if (cli_given(call, "json") && strcmp(path, "-") == 0)
    return idm_fail(&call->error, IDM_USAGE,
                    "--json needs a file to write to, not standard output");
  for (size_t i = 0; i < count; i++)
    if (idm_run_has(inputs[i], path))
      return idm_fail(&call->error, IDM_USAGE,
                      "'%s' is a file of the run '%s', which is read; write to another file", path,
                      inputs[i]);
  return idm_file_check_output(path, inputs, count, &call->error);
}

idm_status cli_print_json(cli_call *call, json_t *object)
{
  char *text = idm_json_dump(object, JSON_INDENT(1));
  if (!text) return idm_fail_memory(&call->error);
  puts(text);
  free(text);
  return IDM_OK;
}

idm_status cli_report_file(cli_call *call, const char *path)
{
  if (!cli_given(call, "json")) {
    if (strcmp(path, "-") != 0) fprintf(stderr, "idm: wrote %s\n", path);
    return IDM_OK;
  }
  json_t *object = json_object();
  idm_json_set(&object, "file", idm_json_text(path));
  idm_json_set(&object, "notes", idm_json_texts(&call->notes));
  return cli_print_json(call, object);
}

json_t *cli_entry(const char *name, const char *summary)
{
  json_t *object = json_object();
  idm_json_set(&object, "name", json_string(name));
  if (summary) idm_json_set(&object, "summary", json_string(summary));
  return object;
}
