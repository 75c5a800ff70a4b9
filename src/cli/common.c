/* What several commands do: reading, planning, JSON. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/texts.h"
#include "cli/common.h"
#include "cli/options.h"
#include "io/run/files.h"
#include "setting/transfer.h"

void cli_setting_key(const char *assignment, char *key, size_t size)
{
  static const char prefix[] = "agent.";
  if (strncmp(assignment, prefix, sizeof prefix - 1) == 0) assignment += sizeof prefix - 1;
  const size_t length = strcspn(assignment, "=");
  idm_print(key, size, "%.*s", length < size ? (int)length : 0, assignment);
}

static void remark_on(cli_call *call, const idm_problem *problem, const char *assignment)
{
  char key[64];
  cli_setting_key(assignment, key, sizeof key);
  const int block = idm_theta_find(problem->theta, key);
  const bool of_agent = block >= 0 ? problem->theta->block[block].info->of_agent
                                   : idm_key_find(idm_agent_keys(), key) != NULL;
  if (of_agent && !idm_agent_heeds(problem, key))
    idm_notes_add(&call->notes, "--set %s: the planner '%s' makes nothing of it", key,
                  idm_agent_planner(&problem->agent)->name);
}

void cli_remark_on_settings(cli_call *call, const idm_problem *problem)
{
  const char *const *settings;
  const size_t count = cli_list(call, "set", &settings);
  for (size_t i = 0; i < count; i++) remark_on(call, problem, settings[i]);
}

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
  if (status == IDM_OK) idm_agent_remark(*ret_problem, &call->notes);
  if (status == IDM_OK) status = cli_override(call, *ret_problem);
  if (status == IDM_OK) cli_remark_on_settings(call, *ret_problem);
  if (status != IDM_OK) {
    idm_problem_destroy(*ret_problem);
    *ret_problem = NULL;
  }
  return status;
}

/* Whether an assignment changes where the agent acts, not the agent. */
static bool is_of_environment(const char *assignment)
{
  char key[64];
  cli_setting_key(assignment, key, sizeof key);
  return strcmp(key, "environment") == 0 || strcmp(key, "start") == 0;
}

/* Of a run: another environment of its family, or another start. */
static idm_status set_environment(cli_call *call, const cli_subject *subject,
                                  const char *assignment)
{
  if (subject->posterior->drawn)
    return idm_fail(&call->error, IDM_USAGE,
                    "--set %.200s: the run was fitted over learnt dynamics, each draw with its "
                    "own; other dynamics come from --problem OTHER.yaml",
                    assignment);
  const idm_status status = idm_problem_check_models(subject->problem, &call->error);
  return status == IDM_OK ? idm_problem_set(subject->problem, assignment, &call->error) : status;
}

/* Apply --set to a run: to its environment and start, and to utilities that came from columns of
 * its log. What was inferred, and what was held meanwhile, stays. */
static idm_status set_run(cli_call *call, const cli_subject *subject)
{
  const char *const *settings;
  const size_t count = cli_list(call, "set", &settings);
  idm_problem *problem = subject->problem;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    const size_t sources = problem->utility_sources;
    const bool utility = sources && strncmp(settings[i], "utility.", 8) == 0;
    if (is_of_environment(settings[i])) {
      status = set_environment(call, subject, settings[i]);
      continue;
    }
    if (utility) status = idm_problem_set(problem, settings[i], &call->error);
    if (status == IDM_OK && (!utility || problem->utility_sources == sources))
      status = idm_fail(&call->error, IDM_USAGE,
                        "--set does not change what a run has inferred or held: it takes "
                        "environment=NAME, start=..., and a number for a utility that comes from a "
                        "data column, as utility.ACTION.STATE=1; other dynamics come from "
                        "--problem OTHER.yaml");
  }
  if (status == IDM_OK && count && idm_problem_validate(problem, &call->error) != IDM_OK)
    status = IDM_USAGE;
  return status;
}

idm_status cli_check_move(cli_call *call, bool run)
{
  if (run || !cli_given(call, "problem")) return IDM_OK;
  return idm_fail(&call->error, IDM_USAGE,
                  "--problem gives a run another environment; '%s' is a problem",
                  call->argument[0]);
}

/* Put the agent of a run into the environment of the problem that --problem names. */
static idm_status move_run(cli_call *call, cli_subject *subject)
{
  const char *path = cli_text(call, "problem");
  char unused[120] = "";
  idm_problem *other = NULL;
  if (!path) return IDM_OK;
  idm_status status = cli_check_move(call, subject->posterior);
  if (status == IDM_OK) status = idm_problem_read(path, &other, NULL, &call->error);
  if (status == IDM_OK) status = idm_problem_transfer(subject->problem, other, &call->error);
  if (status == IDM_INPUT && !call->error.file[0])
    snprintf(call->error.file, sizeof call->error.file, "%s", path);
  if (status == IDM_OK) idm_problem_name_unused(subject->problem, other, unused, sizeof unused);
  idm_problem_destroy(other);
  if (status != IDM_OK) return status;
  /* The draws are taken without the learnt dynamics, which are of the environment left. */
  idm_drawn_destroy(subject->posterior->drawn);
  subject->posterior->drawn = NULL;
  idm_notes_add(&call->notes,
                "dynamics, start and endings are those of %.300s; all numbers of the agent are "
                "those of the run",
                path);
  if (unused[0]) idm_notes_add(&call->notes, "not used of %.300s: %s", path, unused);
  return IDM_OK;
}

static idm_status keep_columns(cli_call *call, cli_subject *subject)
{
  const idm_problem *problem = subject->problem;
  const size_t size = problem->utility_sources * sizeof *problem->utility_source;
  if (!size) return IDM_OK;
  subject->utility_source = malloc(size);
  if (!subject->utility_source) return idm_fail_memory(&call->error);
  memcpy(subject->utility_source, problem->utility_source, size);
  subject->utility_sources = problem->utility_sources;
  return idm_labels_copy(&problem->columns.utility, &subject->utility_column, &call->error);
}

void cli_restore_columns(cli_subject *subject)
{
  idm_problem *problem = subject->problem;
  idm_labels_destroy(&problem->columns.utility);
  free(problem->utility_source);
  problem->columns.utility = subject->utility_column;
  problem->utility_source = subject->utility_source;
  problem->utility_sources = subject->utility_sources;
  subject->utility_column = (idm_labels){0};
  subject->utility_source = NULL;
}

static idm_status open_subject(cli_call *call, const char *path, bool by_rows, cli_subject *subject)
{
  *subject = (cli_subject){0};
  idm_status (*const read)(const char *, idm_problem **, idm_notes *, idm_error *) =
      by_rows ? idm_problem_read_by_rows : idm_problem_read;
  const bool run = idm_run_is(path);
  if (run) subject->request = malloc(sizeof *subject->request);
  if (run && !subject->request) return idm_fail_memory(&call->error);
  idm_status status = run ? idm_run_read(path, &subject->problem, subject->request,
                                         &subject->posterior, &call->notes, &call->error)
                          : read(path, &subject->problem, &call->notes, &call->error);
  if (status == IDM_OK && !run) idm_agent_remark(subject->problem, &call->notes);
  if (status == IDM_OK) status = keep_columns(call, subject);
  if (status == IDM_OK) status = move_run(call, subject);
  if (status == IDM_OK)
    status = run ? set_run(call, subject) : cli_override(call, subject->problem);
  if (status == IDM_OK && !run) cli_remark_on_settings(call, subject->problem);
  return status;
}

idm_status cli_open_subject(cli_call *call, const char *path, cli_subject *subject)
{
  return open_subject(call, path, false, subject);
}

idm_status cli_open_subject_by_rows(cli_call *call, const char *path, cli_subject *subject)
{
  return open_subject(call, path, true, subject);
}

idm_status cli_warn_of_run(cli_call *call, const idm_posterior *opt_posterior)
{
  idm_assessment *a = NULL;
  if (!opt_posterior) return IDM_OK;
  const idm_status status = idm_run_assess(call->argument[0], opt_posterior, &a, &call->error);
  if (status == IDM_OK && !a->trusted)
    idm_notes_add(&call->notes,
                  "the run is not to be trusted, and so neither is what is said of the agent here; "
                  "`idm check %.300s` says why",
                  call->argument[0]);
  idm_assessment_destroy(a);
  return status;
}

void cli_close_subject(cli_subject *subject)
{
  idm_labels_destroy(&subject->utility_column);
  free(subject->utility_source);
  free(subject->request);
  idm_posterior_destroy(subject->posterior);
  idm_problem_destroy(subject->problem);
}

/* An audit's problem and posterior. */
static idm_status open_audit(cli_call *call, const char *folder, cli_subject *subject)
{
  idm_audit_request *request = malloc(sizeof *request);
  if (!request) return idm_fail_memory(&call->error);
  const idm_status status = idm_audit_read_run(folder, &subject->problem, request,
                                               &subject->posterior, &call->notes, &call->error);
  if (status == IDM_OK) subject->request = malloc(sizeof *subject->request);
  if (subject->request) *subject->request = request->request;
  free(request);
  return status == IDM_OK && !subject->request ? idm_fail_memory(&call->error) : status;
}

idm_status cli_open_shown(cli_call *call, const char *path, cli_shown *shown)
{
  *shown = (cli_shown){0};
  if (idm_campaign_is(path)) return idm_campaign_read(path, &shown->study, &call->error);
  idm_status status = idm_audit_is(path) ? open_audit(call, path, &shown->subject)
                                         : cli_open_subject(call, path, &shown->subject);
  if (status == IDM_OK && shown->subject.posterior)
    status = idm_run_assess(path, shown->subject.posterior, &shown->assessment, &call->error);
  return status;
}

void cli_close_shown(cli_shown *shown)
{
  idm_assessment_destroy(shown->assessment);
  idm_data_destroy(shown->data);
  idm_calibration_destroy(shown->study);
  cli_close_subject(&shown->subject);
}

void cli_print_notes(cli_call *call)
{
  for (size_t i = 0; i < call->notes.count; i++)
    fprintf(stderr, "idm: note: %s\n", call->notes.text[i]);
  idm_notes_clear(&call->notes);
}

const char *cli_people_column(const idm_request *opt_request)
{
  if (!opt_request) return "";
  return opt_request->by[0] ? opt_request->by : opt_request->each;
}

/* idm_data_read_files, or idm_data_read_history. */
typedef idm_status reader(const char *const *paths, size_t count, const idm_problem *problem,
                          const idm_csv_options *options, idm_data **ret_data, idm_notes *opt_notes,
                          idm_error *opt_error);

static idm_status read_log_by(reader *read, cli_call *call, const char *paths, const char *where,
                              idm_problem *problem, idm_csv_options options, idm_data **ret_data)
{
  size_t files = 0;
  size_t conditions = 0;
  char **file = idm_texts_split(paths, &files);
  char **condition = idm_texts_split(where, &conditions);
  options.where = (const char *const *)condition;
  options.where_count = conditions;
  idm_status status = file && condition ? read((const char *const *)file, files, problem, &options,
                                               ret_data, &call->notes, &call->error)
                                        : idm_fail_memory(&call->error);
  free(file);
  free(condition);
  if (status != IDM_OK) return status;
  status = idm_problem_freeze(problem, (*ret_data)->intake, &call->error);
  if (status == IDM_OK)
    status =
        idm_problem_bind(problem, (*ret_data)->variants, (*ret_data)->variant_value, &call->error);
  if (status == IDM_OK) status = idm_problem_validate(problem, &call->error);
  if (status != IDM_OK) {
    idm_data_destroy(*ret_data);
    *ret_data = NULL;
  }
  return status;
}

idm_status cli_read_people(cli_call *call, const char *paths, const char *where,
                           const idm_request *opt_request, bool history, idm_problem *problem,
                           idm_data **ret_data)
{
  idm_labels keep = {0};
  idm_status status = IDM_OK;
  if (cli_people_column(opt_request)[0]) {
    const idm_design_request who = {.by = cli_people_column(opt_request)};
    status = idm_design_columns(problem, &who, &keep, &call->error);
  }
  if (status == IDM_OK)
    status = read_log_by(
        history ? idm_data_read_history : idm_data_read_files, call, paths, where, problem,
        (idm_csv_options){.keep = (const char *const *)keep.name, .keep_count = keep.count},
        ret_data);
  idm_labels_destroy(&keep);
  return status;
}

idm_status cli_read_run_data(cli_call *call, cli_subject *subject, idm_data **ret_data)
{
  const idm_status status = idm_request_relocate(subject->request, NULL, &call->error);
  if (status != IDM_OK) return status;
  return cli_read_people(call, subject->request->data, subject->request->where, subject->request,
                         false, subject->problem, ret_data);
}

/* The number of a draw, over all chains. */
static idm_status parse_draw(cli_call *call, const idm_posterior *posterior, const char *text,
                             size_t *ret_draw)
{
  char *end;
  const size_t all = posterior->chains * posterior->draws;
  errno = 0;
  const long number = strtol(text, &end, 10);
  if (errno || end == text || *end || number < 1 || (size_t)number > all)
    return idm_fail(&call->error, IDM_USAGE,
                    "--draw is '%s'; expected `centre`, or a number from 1 to %zu", text, all);
  *ret_draw = (size_t)number - 1;
  return IDM_OK;
}

idm_status cli_check_draw(cli_call *call, const cli_subject *subject)
{
  if (subject->posterior || !cli_given(call, "draw")) return IDM_OK;
  return idm_fail(&call->error, IDM_USAGE, "--draw is of a run; '%s' is a problem",
                  call->argument[0]);
}

idm_status cli_settle(cli_call *call, cli_subject *subject, const char *draw)
{
  const idm_posterior *posterior = subject->posterior;
  idm_parameters *parameters = NULL;
  idm_status status = idm_parameters_create(subject->problem, &parameters, &call->error);
  size_t at = 0;
  const bool centre = strcmp(draw, "centre") == 0;
  if (status == IDM_OK && !centre) status = parse_draw(call, posterior, draw, &at);
  if (status == IDM_OK)
    status = centre
                 ? idm_posterior_central_theta(posterior, parameters, subject->problem->theta,
                                               &call->error)
                 : idm_posterior_agent(posterior, parameters, at, subject->problem, &call->error);
  idm_parameters_destroy(parameters);
  return status;
}

idm_status cli_data_paths(cli_call *call, int first, char *paths, size_t size)
{
  idm_status status = IDM_OK;
  paths[0] = '\0';
  for (int i = first; i < call->arguments && status == IDM_OK; i++)
    status = idm_texts_add(paths, size, call->argument[i], &call->error);
  return status;
}

idm_status cli_where(cli_call *call, char *where, size_t size)
{
  const char *const *given;
  const size_t count = cli_list(call, "where", &given);
  idm_status status = IDM_OK;
  where[0] = '\0';
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    status = idm_texts_add(where, size, given[i], &call->error);
  return status;
}

idm_status cli_where_of_run(cli_call *call, const idm_request *opt_request, char *where,
                            size_t size)
{
  if (!opt_request || !opt_request->where[0] || cli_given(call, "where"))
    return cli_where(call, where, size);
  snprintf(where, size, "%s", opt_request->where);
  idm_notes_add(&call->notes,
                "rows are those that the run was fitted to, by its own --where; give --where to "
                "read others");
  return IDM_OK;
}

/* A label that is a number. */
typedef struct numbered {
  double number;
  const char *label;
} numbered;

static int by_number(const void *a, const void *b)
{
  const numbered *x = a;
  const numbered *y = b;
  if (x->number != y->number) return x->number > y->number ? 1 : -1;
  return strcmp(x->label, y->label);
}

idm_status cli_note_twins(cli_call *call, const idm_data *data, const char *opt_column)
{
  const long kept =
      opt_column ? idm_labels_find(&data->covariate_name, opt_column, strlen(opt_column)) : -1;
  const idm_labels *labels = kept < 0 ? &data->agent_name : &data->covariate_level[kept];
  numbered *list = calloc(labels->count + 1, sizeof *list);
  size_t count = 0;
  size_t twins = 0;
  if (!list) return idm_fail_memory(&call->error);
  for (size_t i = 0; i < labels->count; i++) {
    list[count].label = labels->name[i];
    count += idm_number_decimal(labels->name[i], strlen(labels->name[i]), &list[count].number);
  }
  qsort(list, count, sizeof *list, by_number);
  for (size_t i = 1; i < count; i++) {
    if (list[i].number != list[i - 1].number || twins++) continue; /* the first is told */
    idm_notes_add(&call->notes,
                  "%s '%.60s' and '%.60s' are one number and two labels, and are taken for two; "
                  "write them alike where they are one",
                  kept < 0 ? "the agents" : opt_column, list[i - 1].label, list[i].label);
  }
  free(list);
  return IDM_OK;
}

void cli_request_defaults(cli_settings *settings)
{
  idm_request_default(&settings->request);
}

idm_status cli_read_log(cli_call *call, const char *paths, const char *where, idm_problem *problem,
                        unsigned columns, idm_data **ret_data)
{
  return cli_read_log_with(call, paths, where, problem, (idm_csv_options){.columns = columns},
                           ret_data);
}

idm_status cli_read_log_with(cli_call *call, const char *paths, const char *where,
                             idm_problem *problem, idm_csv_options options, idm_data **ret_data)
{
  return read_log_by(idm_data_read_files, call, paths, where, problem, options, ret_data);
}

idm_status cli_read_data(cli_call *call, const char *paths, idm_problem *problem, unsigned columns,
                         idm_data **ret_data)
{
  char where[sizeof((idm_request *)0)->where];
  const idm_status status = cli_where(call, where, sizeof where);
  return status == IDM_OK ? cli_read_log(call, paths, where, problem, columns, ret_data) : status;
}

idm_status cli_need_utilities(cli_call *call, const idm_problem *problem)
{
  if (!problem->utility_sources) return IDM_OK;
  const idm_utility_source *source = &problem->utility_source[0];
  return idm_fail(
      &call->error, IDM_USAGE,
      "the utility of '%s' comes from the data column '%s'; give it a number, as in "
      "--set utility.%s.%s=1%s",
      problem->setting->actions.name[source->action], problem->columns.utility.name[source->column],
      problem->setting->actions.name[source->action], problem->setting->states.name[source->state],
      strcmp(call->command->name, "simulate") == 0 ? ", or a log, as in --like DATA" : "");
}

/* An output in a folder that is read must not lead out of it. */
static idm_status check_inside(cli_call *call, const char *folder, const char *path)
{
  idm_folder opened;
  if (!idm_folder_is(folder)) return IDM_OK;
  idm_status status = idm_folder_open(&opened, folder, &call->error);
  if (status != IDM_OK) return status;
  const idm_place place = idm_folder_output(&opened, path);
  status = idm_place_check(&place, &call->error);
  idm_folder_close(&opened);
  return status;
}

idm_status cli_check_target(cli_call *call, const char *path)
{
  if (cli_given(call, "json") && strcmp(path, "-") == 0)
    return idm_fail(&call->error, IDM_USAGE,
                    "--json needs a file to write to, not standard output");
  idm_status status = IDM_OK;
  for (int i = 0; i < call->arguments && status == IDM_OK; i++)
    status = check_inside(call, call->argument[i], path);
  if (status == IDM_OK) status = idm_file_check_output(path, NULL, 0, &call->error);
  for (int i = 0; i < call->arguments && status == IDM_OK; i++) {
    const char *input = call->argument[i];
    if (input == path) continue;
    if (idm_run_has(input, path))
      status = idm_fail(&call->error, IDM_USAGE,
                        "'%s' is a file of the run '%s', which is read; write to another file",
                        path, input);
    else
      status = idm_file_check_output(path, &input, 1, &call->error);
  }
  return status;
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

idm_status cli_refuse_changes(cli_call *call, const char *run)
{
  cli_option option;
  for (size_t i = 0; cli_option_at(call->command, i, &option); i++) {
    const idm_key *key = cli_key(call->command, &option);
    const bool fixed = key ? !key->place : option.problem;
    if (fixed && call->counts[i])
      return idm_fail(&call->error, IDM_USAGE,
                      "--resume goes on with the request in %s/config.yaml; --%s cannot change it",
                      run, option.name);
  }
  return IDM_OK;
}
