/* Shared functions of the commands.
 *
 * Contents: common · people · plan */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/common.h"
#include "io/run/folder.h"
#include "setting/model.h"
#include "study/study.h"

/* === common ================================================================================= */

/* Reading, overriding, output targets, JSON. */

void cli_setting_key(const char *assignment, char *key, size_t size)
{
  static const char prefix[] = "agent.";
  if (strncmp(assignment, prefix, sizeof prefix - 1) == 0) assignment += sizeof prefix - 1;
  const size_t length = strcspn(assignment, "=");
  idm_print(key, size, "%.*s", length < size ? (int)length : 0, assignment);
}

static void note_unread_setting(cli_call *call, const idm_problem *problem, const char *assignment)
{
  char key[64];
  cli_setting_key(assignment, key, sizeof key);
  const int block = idm_theta_find(problem->theta, key);
  const bool of_agent = block >= 0 ? problem->theta->block[block].info->of_agent
                                   : idm_key_find(idm_agent_option_keys(), key) != NULL;
  if (of_agent && !idm_agent_uses_key(problem, key))
    idm_notes_add(&call->notes, "--set %s: no effect with planner '%s'", key,
                  idm_agent_planner(&problem->agent)->name);
}

void cli_note_unread_settings(cli_call *call, const idm_problem *problem)
{
  const char *const *settings;
  const size_t count = cli_list(call, "set", &settings);
  for (size_t i = 0; i < count; i++) note_unread_setting(call, problem, settings[i]);
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
  /* The file is valid, so this error is due to an option. */
  return status == IDM_INPUT && sound ? IDM_USAGE : status;
}

idm_status cli_read_problem(cli_call *call, const char *path, idm_problem **ret_problem)
{
  idm_status status = idm_problem_read(path, ret_problem, &call->notes, &call->error);
  if (status == IDM_OK) idm_agent_note_unused(*ret_problem, &call->notes);
  if (status == IDM_OK) status = cli_override(call, *ret_problem);
  if (status == IDM_OK) cli_note_unread_settings(call, *ret_problem);
  if (status != IDM_OK) {
    idm_problem_destroy(*ret_problem);
    *ret_problem = NULL;
  }
  return status;
}

/* True if an assignment changes the environment, not the agent. */
static bool is_of_environment(const char *assignment)
{
  char key[64];
  cli_setting_key(assignment, key, sizeof key);
  return strcmp(key, "environment") == 0 || strcmp(key, "start") == 0;
}

/* For a run: select another environment of its family, or another start. */
static idm_status set_environment(cli_call *call, const cli_input *input, const char *assignment)
{
  if (input->posterior->drawn)
    return idm_fail(&call->error, IDM_USAGE,
                    "--set %.200s: the run was fitted over learnt dynamics, which differ between "
                    "draws; use --problem OTHER.yaml for other dynamics",
                    assignment);
  const idm_status status = idm_problem_check_models(input->problem, &call->error);
  return status == IDM_OK ? idm_problem_set(input->problem, assignment, &call->error) : status;
}

/* Apply --set to a run: environment, start, and utilities that come from columns of its log.
 * Parameters that were inferred or fixed cannot be changed. */
static idm_status apply_settings_to_run(cli_call *call, const cli_input *input)
{
  const char *const *settings;
  const size_t count = cli_list(call, "set", &settings);
  idm_problem *problem = input->problem;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    const size_t sources = problem->utility_sources;
    const bool utility = sources && strncmp(settings[i], "utility.", 8) == 0;
    if (is_of_environment(settings[i])) {
      status = set_environment(call, input, settings[i]);
      continue;
    }
    if (utility) status = idm_problem_set(problem, settings[i], &call->error);
    if (status == IDM_OK && (!utility || problem->utility_sources == sources))
      status = idm_fail(&call->error, IDM_USAGE,
                        "--set cannot change the parameters of a run: expected environment=NAME, "
                        "start=..., or a number for a utility that comes from a data column, as "
                        "utility.ACTION.STATE=1; use --problem OTHER.yaml for other dynamics");
  }
  if (status == IDM_OK && count && idm_problem_validate(problem, &call->error) != IDM_OK)
    status = IDM_USAGE;
  return status;
}

idm_status cli_check_relocation(cli_call *call, bool run)
{
  if (run || !cli_given(call, "problem")) return IDM_OK;
  return idm_fail(&call->error, IDM_USAGE,
                  "--problem changes the environment of a run; '%s' is a problem",
                  call->argument[0]);
}

/* Move the agent of a run to the environment of the problem given by --problem. */
static idm_status relocate_run(cli_call *call, cli_input *input)
{
  const char *path = cli_text(call, "problem");
  char unused[120] = "";
  idm_problem *other = NULL;
  if (!path) return IDM_OK;
  idm_status status = cli_check_relocation(call, input->posterior);
  if (status == IDM_OK) status = idm_problem_read(path, &other, NULL, &call->error);
  if (status == IDM_OK) status = idm_problem_transfer(input->problem, other, &call->error);
  if (status == IDM_INPUT && !call->error.file[0])
    snprintf(call->error.file, sizeof call->error.file, "%s", path);
  if (status == IDM_OK) idm_problem_name_unused(input->problem, other, unused, sizeof unused);
  idm_problem_destroy(other);
  if (status != IDM_OK) return status;
  /* The learnt dynamics belong to the former environment, so they are removed from the draws. */
  idm_dynamics_sets_destroy(input->posterior->drawn);
  input->posterior->drawn = NULL;
  idm_notes_add(&call->notes,
                "dynamics, start and endings are those of %.300s; all parameters of the agent are "
                "those of the run",
                path);
  if (unused[0]) idm_notes_add(&call->notes, "not used of %.300s: %s", path, unused);
  return IDM_OK;
}

static idm_status keep_columns(cli_call *call, cli_input *input)
{
  const idm_problem *problem = input->problem;
  const size_t size = problem->utility_sources * sizeof *problem->utility_source;
  if (!size) return IDM_OK;
  input->utility_source = malloc(size);
  if (!input->utility_source) return idm_fail_memory(&call->error);
  memcpy(input->utility_source, problem->utility_source, size);
  input->utility_sources = problem->utility_sources;
  return idm_labels_copy(&problem->columns.utility, &input->utility_column, &call->error);
}

void cli_restore_columns(cli_input *input)
{
  idm_problem *problem = input->problem;
  idm_labels_destroy(&problem->columns.utility);
  free(problem->utility_source);
  problem->columns.utility = input->utility_column;
  problem->utility_source = input->utility_source;
  problem->utility_sources = input->utility_sources;
  input->utility_column = (idm_labels){0};
  input->utility_source = NULL;
}

static idm_status open_subject(cli_call *call, const char *path, bool by_rows, cli_input *input)
{
  *input = (cli_input){0};
  idm_status (*const read)(const char *, idm_problem **, idm_notes *, idm_error *) =
      by_rows ? idm_problem_read_by_rows : idm_problem_read;
  const bool run = idm_run_is(path);
  if (run) input->request = malloc(sizeof *input->request);
  if (run && !input->request) return idm_fail_memory(&call->error);
  idm_status status = run ? idm_run_read(path, &input->problem, input->request, &input->posterior,
                                         &call->notes, &call->error)
                          : read(path, &input->problem, &call->notes, &call->error);
  if (status == IDM_OK && !run) idm_agent_note_unused(input->problem, &call->notes);
  if (status == IDM_OK) status = keep_columns(call, input);
  if (status == IDM_OK) status = relocate_run(call, input);
  if (status == IDM_OK)
    status = run ? apply_settings_to_run(call, input) : cli_override(call, input->problem);
  if (status == IDM_OK && !run) cli_note_unread_settings(call, input->problem);
  return status;
}

idm_status cli_input_open(cli_call *call, const char *path, cli_input *input)
{
  return open_subject(call, path, false, input);
}

idm_status cli_input_open_by_rows(cli_call *call, const char *path, cli_input *input)
{
  return open_subject(call, path, true, input);
}

idm_status cli_check_planable(cli_call *call, const idm_posterior *opt_posterior)
{
  idm_assessment *a = NULL;
  if (!opt_posterior) return IDM_OK;
  const idm_status status = idm_run_assess(call->argument[0], opt_posterior, &a, &call->error);
  if (status == IDM_OK && !a->trusted)
    idm_notes_add(&call->notes,
                  "the run is not to be trusted, and neither are these results; `idm check %.300s` "
                  "lists the reasons",
                  call->argument[0]);
  idm_assessment_destroy(a);
  return status;
}

void cli_input_close(cli_input *input)
{
  idm_labels_destroy(&input->utility_column);
  free(input->utility_source);
  free(input->request);
  idm_posterior_destroy(input->posterior);
  idm_problem_destroy(input->problem);
}

/* Read problem and posterior of an audit. */
static idm_status open_audit(cli_call *call, const char *folder, cli_input *input)
{
  idm_audit_request *request = malloc(sizeof *request);
  if (!request) return idm_fail_memory(&call->error);
  const idm_status status = idm_audit_read_run(folder, &input->problem, request, &input->posterior,
                                               &call->notes, &call->error);
  if (status == IDM_OK) input->request = malloc(sizeof *input->request);
  if (input->request) *input->request = request->request;
  free(request);
  return status == IDM_OK && !input->request ? idm_fail_memory(&call->error) : status;
}

idm_status cli_plot_input_open(cli_call *call, const char *path, cli_plot_input *shown)
{
  *shown = (cli_plot_input){0};
  if (idm_replications_is(path)) return idm_replications_read(path, &shown->study, &call->error);
  idm_status status = idm_audit_is(path) ? open_audit(call, path, &shown->input)
                                         : cli_input_open(call, path, &shown->input);
  if (status == IDM_OK && shown->input.posterior)
    status = idm_run_assess(path, shown->input.posterior, &shown->assessment, &call->error);
  return status;
}

void cli_plot_input_close(cli_plot_input *shown)
{
  idm_assessment_destroy(shown->assessment);
  idm_data_destroy(shown->data);
  idm_calibration_destroy(shown->study);
  cli_input_close(&shown->input);
}

void cli_print_notes(cli_call *call)
{
  for (size_t i = 0; i < call->notes.count; i++)
    fprintf(stderr, "idm: note: %s\n", call->notes.text[i]);
  idm_notes_clear(&call->notes);
}

idm_status cli_read_people(cli_call *call, const char *paths, const char *where,
                           const idm_request *opt_request, bool history, idm_problem *problem,
                           idm_data **ret_data)
{
  idm_labels keep = {0};
  idm_status status = IDM_OK;
  if (idm_request_people(opt_request)[0]) {
    const idm_design_request who = {.by = idm_request_people(opt_request)};
    status = idm_design_columns(problem, &who, &keep, &call->error);
  }
  if (status == IDM_OK)
    status = idm_log_read(
        history ? idm_data_read_history : idm_data_read_files, paths, where, problem,
        (idm_csv_options){.keep = (const char *const *)keep.name, .keep_count = keep.count},
        ret_data, &call->notes, &call->error);
  idm_labels_destroy(&keep);
  return status;
}

idm_status cli_read_run_data(cli_call *call, cli_input *input, idm_data **ret_data)
{
  return idm_run_read_log(input->request, input->problem, ret_data, &call->notes, &call->error);
}

/* Parse the index of a draw, counted over all chains. */
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

idm_status cli_check_draw(cli_call *call, const cli_input *input)
{
  if (input->posterior || !cli_given(call, "draw")) return IDM_OK;
  return idm_fail(&call->error, IDM_USAGE, "--draw applies to a run; '%s' is a problem",
                  call->argument[0]);
}

idm_status cli_set_to_draw(cli_call *call, cli_input *input, const char *draw)
{
  const idm_posterior *posterior = input->posterior;
  idm_parameters *parameters = NULL;
  idm_status status = idm_parameters_create(input->problem, &parameters, &call->error);
  size_t at = 0;
  const bool centre = strcmp(draw, "centre") == 0;
  if (status == IDM_OK && !centre) status = parse_draw(call, posterior, draw, &at);
  if (status == IDM_OK)
    status = centre ? idm_posterior_central_theta(posterior, parameters, input->problem->theta,
                                                  &call->error)
                    : idm_posterior_agent(posterior, parameters, at, input->problem, &call->error);
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

idm_status cli_run_where(cli_call *call, const idm_request *opt_request, char *where, size_t size)
{
  if (!opt_request || !opt_request->where[0] || cli_given(call, "where"))
    return cli_where(call, where, size);
  snprintf(where, size, "%s", opt_request->where);
  idm_notes_add(
      &call->notes,
      "rows are those that the run was fitted to, by its own --where; give --where for others");
  return IDM_OK;
}

/* A label that is a decimal number. */
typedef struct numeric_label {
  double number;
  const char *label;
} numeric_label;

static int by_number(const void *a, const void *b)
{
  const numeric_label *x = a;
  const numeric_label *y = b;
  if (x->number != y->number) return x->number > y->number ? 1 : -1;
  return strcmp(x->label, y->label);
}

idm_status cli_note_equal_labels(cli_call *call, const idm_data *data, const char *opt_column)
{
  const long kept =
      opt_column ? idm_labels_find(&data->covariate_name, opt_column, strlen(opt_column)) : -1;
  const idm_labels *labels = kept < 0 ? &data->agent_name : &data->covariate_level[kept];
  numeric_label *list = calloc(labels->count + 1, sizeof *list);
  size_t count = 0;
  size_t equal_pairs = 0;
  if (!list) return idm_fail_memory(&call->error);
  for (size_t i = 0; i < labels->count; i++) {
    list[count].label = labels->name[i];
    count += idm_number_decimal(labels->name[i], strlen(labels->name[i]), &list[count].number);
  }
  qsort(list, count, sizeof *list, by_number);
  for (size_t i = 1; i < count; i++) {
    if (list[i].number != list[i - 1].number || equal_pairs++)
      continue; /* one note, for the first pair */
    idm_notes_add(&call->notes,
                  "%s '%.60s' and '%.60s' are equal as numbers but are different labels; use one "
                  "spelling if they are the same",
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
  return idm_log_read(idm_data_read_files, paths, where, problem, options, ret_data, &call->notes,
                      &call->error);
}

idm_status cli_read_data(cli_call *call, const char *paths, idm_problem *problem, unsigned columns,
                         idm_data **ret_data)
{
  char where[sizeof((idm_request *)0)->where];
  const idm_status status = cli_where(call, where, sizeof where);
  return status == IDM_OK ? cli_read_log(call, paths, where, problem, columns, ret_data) : status;
}

idm_status cli_check_utilities(cli_call *call, const idm_problem *problem)
{
  if (!problem->utility_sources) return IDM_OK;
  const idm_utility_source *source = &problem->utility_source[0];
  return idm_fail(
      &call->error, IDM_USAGE,
      "the utility of '%s' comes from the data column '%s'; set a number, as in --set "
      "utility.%s.%s=1%s",
      problem->setting->actions.name[source->action], problem->columns.utility.name[source->column],
      problem->setting->actions.name[source->action], problem->setting->states.name[source->state],
      strcmp(call->command->name, "simulate") == 0 ? ", or a log, as in --like DATA" : "");
}

/* An output path inside an input folder must not lead out of it by links. */
static idm_status check_inside(cli_call *call, const char *folder, const char *path)
{
  idm_folder opened;
  if (!idm_folder_is(folder)) return IDM_OK;
  idm_status status = idm_folder_open(&opened, folder, &call->error);
  if (status != IDM_OK) return status;
  const idm_location place = idm_folder_output(&opened, path);
  status = idm_location_check(&place, &call->error);
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
                        "'%s' is a file of the run '%s', which is an input; write to another file",
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

idm_status cli_check_unchanged(cli_call *call, const char *run)
{
  cli_option option;
  for (size_t i = 0; cli_option_at(call->command, i, &option); i++) {
    const idm_key *key = cli_key(call->command, &option);
    const bool fixed = key ? !key->place : option.problem;
    if (fixed && call->counts[i])
      return idm_fail(&call->error, IDM_USAGE,
                      "--resume continues the request in %s/config.yaml; --%s cannot change it",
                      run, option.name);
  }
  return IDM_OK;
}

/* === people ================================================================================= */

/* Tables of people: the population, then each person. */

static bool is_of_people(const idm_posterior *p, const idm_series *series)
{
  return strcmp(p->axis[series->axis].name, "person") == 0;
}

/* True if a quantity is indexed by person. */
static bool is_personal(const idm_posterior *p, size_t quantity)
{
  const size_t series = idm_posterior_series(p, quantity);
  return series < p->series_count && is_of_people(p, &p->series[series]);
}

static int max_width(const idm_posterior *p)
{
  int width = 12;
  for (size_t i = 0; i < p->quantity.count; i++)
    if (!is_personal(p, i) && cli_width(p->quantity.name[i]) > width)
      width = cli_width(p->quantity.name[i]);
  return width < 60 ? width : 60;
}

/* Posterior probability that a coefficient is positive; empty for quantities without an axis. */
static const char *positive_text(const idm_posterior *p, size_t quantity, char *buffer, size_t size)
{
  const size_t all = p->chains * p->draws;
  size_t positive_count = 0;
  if (idm_posterior_series(p, quantity) == p->series_count) return "";
  for (size_t i = 0; i < all; i++) positive_count += p->value[quantity * all + i] > 0;
  snprintf(buffer, size, "%.3f", (double)positive_count / (double)all);
  return buffer;
}

static void print_population(FILE *out, const idm_posterior *p, const idm_assessment *a)
{
  const int width = max_width(p);
  bool any = false;
  for (size_t i = 0; i < p->quantity.count; i++) {
    char positive_count[16];
    if (is_personal(p, i)) continue;
    if (!any) cli_print_quantity_heading(out, width, "P(>0)");
    any = true;
    cli_print_quantity(out, width, p->quantity.name[i], &a->diagnosis[i],
                       positive_text(p, i, positive_count, sizeof positive_count));
  }
  if (any) fprintf(out, "\n");
}

/* Print mean (median for heavy tails), interval and R-hat of every number of a person, and the
 * share of information from their own decisions. A point estimate has neither interval nor R-hat.
 */
static void print_numbers(FILE *out, const idm_posterior *p, const idm_assessment *a,
                          const idm_person *who, size_t index)
{
  size_t effect = 0;
  for (size_t i = 0; i < p->series_count; i++) {
    if (!is_of_people(p, &p->series[i])) continue;
    if (who->absent) {
      fprintf(out, " %8s %19s %5s %6s", "-", "-", "-", "-");
      continue;
    }
    const idm_diagnosis *d = &a->diagnosis[p->series[i].first + index];
    const double own = who->own[effect++];
    if (p->answer != IDM_POSTERIOR) {
      fprintf(out, " %8.3g %19s %5s %6s", d->mean, "-", "-", "-");
      continue;
    }
    fprintf(out, " %8.3g [%8.3g,%8.3g] ", idm_diagnosis_heavy_tailed(d) ? d->q50 : d->mean, d->q05,
            d->q95);
    if (isnan(own)) /* undefined under a prior without variance */
      fprintf(out, "%5s", "-");
    else
      fprintf(out, "%5.2f", own);
    fprintf(out, " %6.3f", d->rhat);
  }
}

static int widest_name(const idm_labels *names)
{
  int width = 6;
  for (size_t i = 0; i < names->count; i++)
    if (cli_width(names->name[i]) > width) width = cli_width(names->name[i]);
  return width < 40 ? width : 40;
}

void cli_print_people(FILE *out, const idm_posterior *p, const idm_assessment *a, size_t most)
{
  const int width = widest_name(&a->person_name);
  char display_name[256];
  print_population(out, p, a);
  fprintf(out, "%-*s", width, "");
  for (size_t i = 0; i < p->series_count; i++)
    if (is_of_people(p, &p->series[i]))
      fprintf(out, " %28.28s %5s %6s",
              idm_quantity_label(p->series[i].name, display_name, sizeof display_name), "own",
              "r_hat");
  fprintf(out, " %9s %8s %8s  verdict\n", "decisions", "log-loss", "chance");
  for (size_t i = 0, at = 0; i < a->people && i < most; i++) {
    const idm_person *who = &a->person[i];
    cli_print_truncated(out, width, a->person_name.name[i]);
    print_numbers(out, p, a, who, at);
    fprintf(out, " %9llu %8.4f %8.4f  %s\n", (unsigned long long)who->decisions, who->log_loss,
            who->uniform_log_loss, idm_person_verdict_name(who->verdict));
    at += !who->absent;
  }
}

/* === plan =================================================================================== */

/* Planning: with capacities, and from the transitions of a log (--batch, --rewards). */

/* Note actions that a log never takes in visited states; a few by name. */
static idm_status note_missing_actions(cli_call *call, const idm_setting *setting,
                                       const idm_batch *batch)
{
  enum { named = 5 };
  const size_t states = setting->states.count, actions = setting->actions.count;
  bool *tried = calloc(states * (actions + 1), sizeof *tried); /* last row: state visited */
  if (!tried) return idm_fail_memory(&call->error);
  for (size_t i = 0; i < batch->count; i++)
    tried[batch->state[i] * actions + batch->action[i]] =
        tried[states * actions + batch->state[i]] = true;
  char list[700] = "";
  size_t missing_pair = 0;
  for (size_t pair = 0; pair < states * actions; pair++) {
    const size_t s = pair / actions;
    if (tried[pair] || !tried[states * actions + s]) continue;
    const size_t used = strlen(list);
    if (missing_pair++ < named)
      snprintf(list + used, sizeof list - used, "%s'%.50s' in '%.50s'", used ? ", " : "",
               setting->actions.name[pair % actions], setting->states.name[s]);
  }
  free(tried);
  if (missing_pair > named)
    snprintf(list + strlen(list), sizeof list - strlen(list), ", ... (%zu in all)", missing_pair);
  if (missing_pair)
    idm_notes_add(&call->notes,
                  "the log never takes %s: the consequences are unknown, and the policy does not "
                  "take these actions there",
                  list);
  return IDM_OK;
}

/* Let the workspace learn from the log given by --batch. */
static idm_status study(cli_call *call, idm_problem *problem, idm_workspace *workspace)
{
  const char *path = cli_text(call, "batch");
  const bool rewards = cli_given(call, "rewards");
  idm_data *data = NULL;
  idm_batch *batch = NULL;
  idm_status status =
      cli_read_log(call, path, "", problem, rewards ? 1u << IDM_COLUMN_REWARD : 0, &data);
  if (status == IDM_OK)
    status = idm_batch_create(problem->setting, data, rewards, &batch, &call->error);
  if (status == IDM_OK) status = idm_workspace_set_batch(workspace, batch, &call->error);
  if (status == IDM_OK) status = note_missing_actions(call, problem->setting, batch);
  if (status == IDM_OK && batch->omitted)
    idm_notes_add(&call->notes,
                  "%zu rows of %s give no transition: a state or an action is missing",
                  batch->omitted, path);
  idm_batch_destroy(batch);
  idm_data_destroy(data);
  return status;
}

/* Check --batch and --rewards; *ret_given is true if --batch is given. */
static idm_status check_batch(cli_call *call, const idm_problem *problem, bool *ret_given)
{
  *ret_given = cli_text(call, "batch") != NULL;
  if (!*ret_given && cli_given(call, "rewards"))
    return idm_fail(&call->error, IDM_USAGE, "--rewards needs a log; give it by --batch");
  if (*ret_given && problem->utility_sources)
    return idm_fail(&call->error, IDM_USAGE,
                    "--batch needs utilities by state; here they come from the data column '%s'",
                    problem->columns.utility.name[problem->utility_source[0].column]);
  return IDM_OK;
}

idm_status cli_plan(cli_call *call, idm_problem *problem, const idm_solver *opt_solver,
                    idm_workspace **ret_workspace, idm_plan_report *report)
{
  bool given;
  idm_status status = check_batch(call, problem, &given);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, problem->theta, &problem->agent, ret_workspace,
                                  &call->error);
  if (status != IDM_OK) return status;
  if (given) status = study(call, problem, *ret_workspace);
  if (status == IDM_OK)
    status = idm_plan_capacity(problem->theta, &problem->agent, opt_solver, *ret_workspace, report,
                               &call->notes, &call->error);
  if (status == IDM_OK && report->stop == IDM_STOP_LIMIT)
    idm_notes_add(
        &call->notes,
        "planning stopped at its iteration limit: the certified error of the value is %.1e",
        report->bound);
  if (status == IDM_OK && report->stop == IDM_STOP_MEMORY)
    idm_notes_add(&call->notes,
                  "planning stopped at its memory limit, with its bounds %.1e apart; a larger gap "
                  "needs less memory",
                  report->bound);
  if (status == IDM_OK && (report->stop == IDM_STOP_SECONDS || report->stop == IDM_STOP_INTERRUPT))
    idm_notes_add(&call->notes, "planning was stopped with its bounds %.1e apart", report->bound);
  if (status != IDM_OK) {
    idm_workspace_destroy(*ret_workspace);
    *ret_workspace = NULL;
  }
  return status;
}
