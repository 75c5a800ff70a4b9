/* idm fit: inference of the free parameters from a log.
 *
 * Contents: classes · cmd fit */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/common.h"
#include "io/file.h"

/* === classes ================================================================================ */

/* idm fit --class all: all classes on one log, with the distance of each from the log. */

/* Result of a class. */
typedef struct class_result {
  const idm_class *model_class;
  const idm_class *duplicate_of; /* equal class before it, if states are observed; NULL: none */
  idm_projection projection;
  double seconds;
  bool done;
  bool evaluated; /* unidentified directions were computed */
  size_t open;
  char failure_reason[600]; /* if not done */
} class_result;

/* Refuse --set of a key that the class determines. */
static idm_status cli_class_check(cli_call *call, const idm_class *model_class)
{
  const char *const *settings;
  const size_t count = cli_list(call, "set", &settings);
  for (size_t i = 0; i < count; i++) {
    char key[64];
    cli_setting_key(settings[i], key, sizeof key);
    if (idm_class_decides(model_class, key))
      return idm_fail(&call->error, IDM_USAGE,
                      "--class %s determines '%s'; leave out --set %s, or replace --class by "
                      "--inverse and --free",
                      model_class->name, key, key);
  }
  return IDM_OK;
}

static idm_status fit_class(cli_call *call, const idm_class *model_class, idm_problem *problem,
                            const idm_data *data, idm_request *request, class_result *o)
{
  const idm_inverse *inverse = idm_inverse_find(model_class->inverse);
  idm_posterior *posterior = NULL;
  idm_error error = {0};
  const idm_fit_settings saved_settings = request->settings;
  const double begun = idm_seconds();
  idm_class_settings(model_class, &request->settings);
  cli_take_keys(call, request);
  idm_status status = idm_class_apply(model_class, problem, &error);
  if (status == IDM_OK && !inverse)
    status = idm_fail(&error, IDM_INPUT, "there is no inverse planner '%s'", model_class->inverse);
  if (status == IDM_OK) status = idm_inverse_check(inverse, problem, data, &error);
  if (status == IDM_OK)
    status = idm_project(problem, data, inverse, &request->settings, NULL, &posterior,
                         &o->projection, &call->notes, &error);
  if (status == IDM_OK && posterior->answer == IDM_POSTERIOR)
    status = idm_projection_draws(problem, posterior, data, &o->projection, &error);
  request->settings = saved_settings;
  o->seconds = idm_seconds() - begun;
  o->done = status == IDM_OK;
  if (o->done && posterior->optimality) {
    o->evaluated = posterior->optimality->evaluated;
    o->open = posterior->optimality->open;
  }
  idm_posterior_destroy(posterior);
  if (status == IDM_MEMORY || status == IDM_SYSTEM) {
    call->error = error;
    return status;
  }
  if (!o->done) snprintf(o->failure_reason, sizeof o->failure_reason, "%.590s", error.message);
  return IDM_OK;
}

/* With observed states there is no emission to learn, so classes that differ only in hidden states
 * are equal: the first is fitted, the others copy its result. */
static bool is_same_problem(const idm_problem *problem, const idm_class *a, const idm_class *b)
{
  char blocks[2][200];
  const char *held[] = {a->fixed ? a->fixed : "", b->fixed ? b->fixed : ""};
  return strcmp(a->planner, b->planner) == 0 && strcmp(a->inverse, b->inverse) == 0 &&
         strcmp(held[0], held[1]) == 0 && a->deterministic == b->deterministic &&
         idm_class_blocks(a, problem, blocks[0], sizeof blocks[0]) &&
         idm_class_blocks(b, problem, blocks[1], sizeof blocks[1]) &&
         strcmp(blocks[0], blocks[1]) == 0;
}

static bool copy_duplicate(const idm_problem *problem, class_result *list, size_t index)
{
  const idm_class *model_class = list[index].model_class;
  if (!problem->setting->fully_observed) return false;
  for (size_t i = 0; i < index; i++) {
    if (!is_same_problem(problem, list[i].model_class, model_class)) continue;
    list[index] = list[i];
    list[index].model_class = model_class;
    list[index].duplicate_of = list[i].model_class;
    return true;
  }
  return false;
}

static json_t *object_of(const class_result *o)
{
  json_t *object = cli_entry(o->model_class->name, o->model_class->question);
  idm_json_set(&object, "planner", json_string(o->model_class->planner));
  idm_json_set(&object, "inverse", json_string(o->model_class->inverse));
  if (o->duplicate_of) idm_json_set(&object, "same_as", json_string(o->duplicate_of->name));
  if (!o->done) {
    idm_json_set(&object, "why_not", idm_json_text(o->failure_reason));
    return object;
  }
  idm_json_set(&object, "log_loss", idm_json_number(o->projection.log_loss));
  idm_json_set(&object, "brier", idm_json_number(o->projection.brier));
  idm_json_set(&object, "divergence", idm_json_number(o->projection.divergence));
  idm_json_set(&object, "seconds", idm_json_number(o->seconds));
  if (o->evaluated) idm_json_set(&object, "open_directions", json_integer((json_int_t)o->open));
  idm_json_set(&object, "leaves_open", json_string(o->model_class->open));
  return object;
}

static idm_status print_list(cli_call *call, const class_result *list, size_t count)
{
  json_t *array = json_array();
  json_t *object = json_object();
  for (size_t i = 0; i < count; i++) idm_json_append(&array, object_of(&list[i]));
  idm_json_set(&object, "classes", array);
  return cli_print_json(call, object);
}

/* Print a row as soon as it is available, since some classes take minutes. */
static void print_row(const class_result *o, bool first)
{
  if (first)
    printf("%-12s %9s %9s %9s %9s  %s\n", "class", "log-loss", "Brier", "KL", "seconds",
           "what it leaves open");
  if (o->duplicate_of) {
    printf("%-12s as %s: states are observed\n", o->model_class->name, o->duplicate_of->name);
  } else if (o->done) {
    printf("%-12s %9.4f %9.4f %9.4f %9.1f  %s", o->model_class->name, o->projection.log_loss,
           o->projection.brier, o->projection.divergence, o->seconds, o->model_class->open);
    if (o->evaluated) printf(" (%zu %s)", o->open, o->open == 1 ? "direction" : "directions");
    printf("\n");
  } else {
    printf("%-12s not possible: %s\n", o->model_class->name, o->failure_reason);
  }
  fflush(stdout);
}

static void print_end(void)
{
  printf("\n"
         "log-loss and Brier score per decision; KL to the empirical policy at repeated histories; "
         "lower numbers are closer to the log.\n"
         "Policies of posteriors are averaged over their draws. `idm fit --class NAME` checks "
         "whether an answer can be trusted.\n");
}

/* Fit each class to the problem as given in the file. */
static idm_status fit_all(cli_call *call, const char *paths, const char *where, class_result *list,
                          size_t *ret_count)
{
  idm_status status = IDM_OK;
  idm_request request;
  idm_request_default(&request);
  /* Few posterior draws are sufficient for the comparison. */
  request.settings.chains = 2;
  request.settings.warmup = 300;
  request.settings.draws = 200;
  request.settings.keep = IDM_KEEP_NOTHING;
  cli_take_keys(call, &request);
  for (size_t i = 0; idm_class_at(i) && status == IDM_OK; i++) {
    idm_problem *problem = NULL;
    idm_data *data = NULL;
    const idm_class *model_class = idm_class_at(i);
    const idm_inverse *inverse = idm_inverse_find(model_class->inverse);
    status = cli_class_check(call, model_class);
    if (status == IDM_OK)
      status = idm_problem_read(call->argument[0], &problem, i ? NULL : &call->notes, &call->error);
    if (status == IDM_OK) status = cli_override(call, problem);
    if (status == IDM_OK)
      status =
          cli_read_log_with(call, paths, where, problem,
                            (idm_csv_options){.columns = inverse ? inverse->columns : 0}, &data);
    list[i].model_class = model_class;
    if (status == IDM_OK && !copy_duplicate(problem, list, i))
      status = fit_class(call, model_class, problem, data, &request, &list[i]);
    if (status == IDM_OK && !cli_given(call, "json")) print_row(&list[i], i == 0);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
    *ret_count = i + 1;
  }
  return status;
}

idm_status cli_fit_classes(cli_call *call)
{
  enum { most = 32 };
  idm_request *request = calloc(1, sizeof *request);
  class_result *list = calloc(most, sizeof *list);
  size_t count = 0;
  idm_status status = request && list ? IDM_OK : idm_fail_memory(&call->error);
  if (status == IDM_OK && cli_given(call, "output"))
    status = idm_fail(&call->error, IDM_USAGE,
                      "--class all prints a table and keeps no run; leave -o out");
  if (status == IDM_OK && call->arguments < 2)
    status = idm_fail(&call->error, IDM_USAGE, "usage: idm fit PROBLEM DATA... --class all");
  if (status == IDM_OK) status = cli_data_paths(call, 1, request->data, sizeof request->data);
  if (status == IDM_OK && cli_given(call, "where"))
    status = cli_where(call, request->where, sizeof request->where);
  if (status == IDM_OK) status = fit_all(call, request->data, request->where, list, &count);
  if (status == IDM_OK && cli_given(call, "json"))
    status = print_list(call, list, count);
  else if (status == IDM_OK)
    print_end();
  free(request);
  free(list);
  return status;
}

/* === cmd fit ================================================================================ */

/* idm fit: posterior of one model. */

static const char usage[] = "usage: idm fit PROBLEM DATA... -o RUN";

/* --- the request ---------------------------------------------------------------------------- */

/* Options that the inverse planner does not use. Options of single inverse planners are refused;
 * options of samplers are noted, so that one command line can be used with several inverse
 * planners. */
static idm_status check_unused_options(cli_call *call, const idm_request *r)
{
  const idm_inverse *inverse = idm_inverse_find(r->inverse);
  char unused[128] = "";
  cli_option option;
  for (size_t i = 0; inverse && cli_option_at(call->command, i, &option); i++) {
    const idm_key *key = cli_key(call->command, &option);
    if (!key || !idm_key_find(idm_fit_keys(), key->name) || !call->counts[i] ||
        idm_inverse_reads(inverse, key->name))
      continue;
    if (key->later)
      return idm_fail(&call->error, IDM_USAGE,
                      "--%s has no effect with inverse planner '%s'; see `idm list inverses`",
                      option.name, inverse->name);
    if (strcmp(key->name, "seed") == 0 || strcmp(key->name, "checks") == 0) continue;
    const size_t used = strlen(unused);
    snprintf(unused + used, sizeof unused - used, "%s--%s", used ? ", " : "", option.name);
  }
  if (unused[0])
    idm_notes_add(&call->notes, "'%s' does not use %s: the result does not depend on it",
                  r->inverse, unused);
  return IDM_OK;
}

/* Apply the class given by --class to the problem. */
static idm_status take_class(cli_call *call, idm_problem *problem, idm_request *r)
{
  const idm_class *model_class = idm_class_find(r->of_class);
  if (!model_class)
    return idm_fail(&call->error, IDM_USAGE, "the class '%s' is not known; see `idm list classes`",
                    r->of_class);
  if (cli_given(call, "inverse") || cli_given(call, "free"))
    return idm_fail(&call->error, IDM_USAGE,
                    "--class determines the inverse planner and the free blocks; leave out "
                    "--inverse and --free");
  const idm_status status = cli_class_check(call, model_class);
  if (status != IDM_OK) return status;
  snprintf(r->inverse, sizeof r->inverse, "%s", model_class->inverse);
  idm_class_settings(model_class, &r->settings);
  cli_take_keys(call, r);
  return idm_class_apply(model_class, problem, &call->error);
}

static idm_status take_options(cli_call *call, idm_problem *problem, idm_request *r)
{
  const char *free_blocks = cli_text(call, "free");
  idm_status status = IDM_OK;
  cli_take_keys(call, r);
  if (cli_given(call, "class")) {
    status = take_class(call, problem, r);
    if (status != IDM_OK) return status;
  }
  cli_note_unread_settings(call, problem);
  if (r->dynamics[0]) {
    status = idm_request_hash_dynamics(r, &call->error);
    if (status != IDM_OK) return status;
  } else if (cli_given(call, "dynamics-draws")) {
    return idm_fail(&call->error, IDM_USAGE,
                    "--dynamics-draws counts draws of a run of dynamics; expected --dynamics RUN");
  }
  if (cli_given(call, "preferences")) r->preferences_hash[0] = '\0'; /* hash of another table */
  status = idm_request_hash_preferences(r, &call->error);
  if (status != IDM_OK) return status;
  const idm_sampler *sampler = idm_sampler_find(r->settings.sampler);
  const bool plain = sampler && sampler->plain;
  if (plain && cli_given(call, "sampler")) {
    idm_fit_settings_plain(&r->settings);
    cli_take_keys(call, r);
  }
  status = check_unused_options(call, r);
  if (status != IDM_OK) return status;
  if (free_blocks) status = idm_problem_set_free(problem, free_blocks, &call->error);
  if (status != IDM_OK) return status;
  if (plain) {
    idm_problem_set_flat_priors(problem);
    idm_notes_add(
        &call->notes,
        "--sampler %s: a fixed random walk of step 0.1 with flat priors (on the logarithms of "
        "alpha, beta, eta), as in the paper; by default one chain of 100 + 1000 draws of 10 steps",
        sampler->name);
  }
  /* Check for something to infer before any file is written. */
  status = idm_request_check(problem, r, &call->error);
  /* The file is valid, so this error is due to an option. */
  return status == IDM_INPUT && free_blocks ? IDM_USAGE : status;
}

/* Formulas of --model, one per line. */
static idm_status take_models(cli_call *call, idm_request *r)
{
  const char *const *given;
  const size_t count = cli_list(call, "model", &given);
  idm_status status = IDM_OK;
  r->model[0] = '\0';
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    status = idm_texts_add(r->model, sizeof r->model, given[i], &call->error);
  return status;
}

/* New request: the problem (or the config.yaml of another run), options, and the log. */
static idm_status make_request(cli_call *call, idm_problem **ret_problem, idm_request *r)
{
  if (call->arguments < 1) return idm_fail(&call->error, IDM_USAGE, "%s", usage);
  for (int i = 0; i < call->arguments; i++)
    if (strcmp(call->argument[i], "-") == 0)
      return idm_fail(&call->error, IDM_USAGE,
                      "a run names its problem and its log; expected files, not standard input");
  const char *path = call->argument[0];
  idm_status status = idm_request_read(path, ret_problem, r, &call->notes, &call->error);
  if (status == IDM_OK) status = cli_override(call, *ret_problem);
  if (status != IDM_OK) return status;
  char paths[sizeof r->data];
  status = cli_data_paths(call, 1, paths, sizeof paths);
  if (status == IDM_OK && cli_given(call, "where"))
    status = cli_where(call, r->where, sizeof r->where);
  if (status == IDM_OK && cli_given(call, "model")) status = take_models(call, r);
  if (status == IDM_OK && !paths[0] && !r->data[0])
    status = idm_fail(&call->error, IDM_USAGE, "%s", usage);
  if (status == IDM_OK)
    status = idm_request_set_inputs(r, path, paths[0] ? paths : NULL, &call->error);
  return status == IDM_OK ? take_options(call, *ret_problem, r) : status;
}

/* Request of a run that is resumed; *ret_complete is true if the run is complete. */
static idm_status resume_request(cli_call *call, const char *run, idm_problem **ret_problem,
                                 idm_request *r, bool *ret_complete)
{
  idm_status status = cli_check_unchanged(call, run);
  if (status == IDM_OK && !idm_run_is(run))
    status = idm_fail(&call->error, IDM_USAGE, "there is no run at '%s' to resume", run);
  if (status != IDM_OK) return status;
  const bool whole = idm_run_complete(run);
  status = idm_run_read_unfinished(run, ret_problem, r, &call->notes, &call->error);
  *ret_complete = idm_run_complete(run) && !cli_given(call, "stan");
  /* An audit is resumed by `idm audit`; a complete one that had not been moved to its place has
   * been moved by now. */
  if (status == IDM_INPUT && *ret_complete && !whole)
    call->error = (idm_error){0};
  else if (status != IDM_OK)
    return status;
  if (*ret_complete) return IDM_OK;
  if (cli_given(call, "preferences") && !r->preferences[0])
    return idm_fail(&call->error, IDM_USAGE,
                    "--resume continues the request in %s/config.yaml, which has no preferences",
                    run);
  cli_take_keys(call, r);
  char paths[sizeof r->data];
  status = cli_data_paths(call, 1, paths, sizeof paths);
  if (status == IDM_OK) status = idm_request_hash_preferences(r, &call->error);
  if (status != IDM_OK) return status;
  return idm_request_set_log(r, paths[0] ? paths : NULL, &call->error);
}

/* Pseudo-R2, or a text if there is nothing to explain. */
static const char *fraction_text(double share, char *buffer, size_t size)
{
  if (isnan(share))
    snprintf(buffer, size, "undefined, since there is nothing to explain");
  else
    snprintf(buffer, size, "%.3f", share);
  return buffer;
}

/* --- the command ---------------------------------------------------------------------------- */

/* Output for people: the population, some of the people, and the verdict. */
static void print_people(const char *folder, const idm_run *found, double seconds)
{
  enum { shown = 20 };
  const size_t people = found->assessment->people;
  cli_print_people(stdout, found->posterior, found->assessment, shown);
  if (people > shown) printf("... and %zu more: `idm summary %s`\n", people - shown, folder);
  char share[48];
  printf("\n"
         "log-loss %.4f per decision (chance %.4f; pseudo-R2 %s) over %llu decisions\n"
         "\n",
         found->projection.log_loss, found->projection.uniform_log_loss,
         fraction_text(found->projection.pseudo_r2, share, sizeof share),
         (unsigned long long)found->projection.decisions);
  cli_print_verdict(stdout, found->assessment);
  if (!found->stopped)
    printf("\n%s: run.nc, summary.json, config.yaml, report.html (%.1f s)\n", folder, seconds);
}

/* Print the distance of the behaviour at the answer from the log; nothing if it is undefined. */
static void print_projection(const idm_run *found)
{
  const idm_projection *projection = &found->projection;
  char share[2][48];
  if (isnan(projection->log_loss)) return;
  printf("\n"
         "the behaviour at %s: log-loss %.4f per decision (chance %.4f, action frequencies %.4f; "
         "pseudo-R2 %s and %s), Brier %.4f",
         found->posterior->answer != IDM_POSTERIOR ? "the answer" : "the posterior's centre",
         projection->log_loss, projection->uniform_log_loss, projection->rates_log_loss,
         fraction_text(projection->pseudo_r2, share[0], sizeof share[0]),
         fraction_text(projection->pseudo_r2_rates, share[1], sizeof share[1]), projection->brier);
  if (projection->repeated)
    printf(", KL to the empirical policy %.4f over the %llu decisions with repeated histories",
           projection->divergence, (unsigned long long)projection->repeated);
  printf("\n");
}

static idm_status print(cli_call *call, const char *folder, const idm_run *found, double seconds)
{
  const idm_projection *projection = &found->projection;
  if (cli_given(call, "json"))
    return idm_posterior_write_summary(found->posterior, found->assessment, projection, "-",
                                       &call->error);
  if (found->posterior->series_count) {
    print_people(folder, found, seconds);
    return IDM_OK;
  }
  cli_print_posterior(call, stdout, found->posterior, found->assessment);
  print_projection(found);
  printf("\n");
  cli_print_verdict(stdout, found->assessment);
  printf("\n%s: run.nc, summary.json, config.yaml (%.1f s, sampler %s)\nopen %s/report.html\n",
         folder, seconds, found->posterior->sampler, folder);
  return IDM_OK;
}

/* Columns of the log that a fit of people needs. */
static idm_status list_columns(cli_call *call, const idm_problem *problem, const idm_request *r,
                               idm_labels *keep)
{
  if (!r->by[0] && !r->each[0]) return IDM_OK;
  size_t models = 0;
  char **model = idm_texts_split(r->model, &models);
  const idm_design_request design_request = {r->by[0] ? r->by : r->each, (const char *const *)model,
                                             models};
  const idm_status status = model ? idm_design_columns(problem, &design_request, keep, &call->error)
                                  : idm_fail_memory(&call->error);
  free(model);
  return status;
}

/* Write the report into the folder of the run. */
static idm_status report(cli_call *call, const char *folder, const idm_problem *problem,
                         const idm_request *request, const idm_data *data, const idm_run *found)
{
  char path[CLI_PAGE_PATH];
  return idm_report_write(&(idm_plot_subject){.folder = folder,
                                              .problem = problem,
                                              .posterior = found->posterior,
                                              .assessment = found->assessment,
                                              .data = data,
                                              .fitted = true,
                                              .request = request},
                          cli_page_path(folder, path), &call->notes, &call->error);
}

static idm_status fit(cli_call *call, const char *folder, idm_run_mode mode, idm_problem *problem,
                      const idm_request *request, cli_progress *progress)
{
  idm_data *data = NULL;
  idm_run found = {0};
  idm_labels keep = {0};
  idm_status status = list_columns(call, problem, request, &keep);
  if (status == IDM_OK)
    status =
        cli_read_log_with(call, request->data, request->where, problem,
                          (idm_csv_options){.columns = idm_inverse_find(request->inverse)->columns,
                                            .keep = (const char *const *)keep.name,
                                            .keep_count = keep.count},
                          &data);
  if (status == IDM_OK && request->preferences[0])
    status = idm_preferences_read_csv(request->preferences, data, &call->notes, &call->error);
  if (status == IDM_OK && keep.count)
    status = cli_note_equal_labels(call, data, request->by[0] ? request->by : request->each);
  if (status == IDM_OK) status = idm_data_note_duplicates(data, &call->notes, &call->error);
  if (status == IDM_OK && request->by[0])
    status = idm_population_set_priors(problem, &call->notes, &call->error);
  if (status == IDM_OK) {
    idm_assess_note_inert(problem, &call->notes);
    cli_print_notes(call);
    cli_catch_signals();
    status = idm_run_fit(folder, mode, problem, data, request, cli_progress_watch, progress, &found,
                         &call->notes, &call->error);
    cli_progress_end(progress);
  }
  if (status == IDM_OK && found.assessment && !found.stopped)
    status = report(call, folder, problem, request, data, &found);
  if (found.assessment && (status == IDM_OK || found.stopped)) {
    const idm_status was_printed = print(call, folder, &found, idm_seconds() - progress->started);
    if (status == IDM_OK) status = was_printed;
  }
  idm_run_clear(&found);
  idm_labels_destroy(&keep);
  idm_data_destroy(data);
  return status;
}

/* A fit that was killed between its summary and its report lacks only the report. */
static idm_status complete_page(cli_call *call, const char *folder)
{
  char path[CLI_PAGE_PATH];
  const idm_location page = idm_location_of(cli_page_path(folder, path));
  if (idm_location_exists(&page)) {
    idm_notes_add(&call->notes, "the run is complete: there is nothing to resume");
    return IDM_OK;
  }
  idm_notes_add(&call->notes, "the run is complete except for its report, which is written now");
  return cli_write_page(call, folder, path);
}

/* Make the request from the command line or the run, and run the fit or its remaining part. */
static idm_status fit_request(cli_call *call, const char *folder, idm_request *request)
{
  const bool resume = cli_given(call, "resume");
  const bool overwrite = cli_given(call, "overwrite");
  idm_problem *problem = NULL;
  bool complete = false;
  cli_progress progress;
  cli_progress_begin(&progress, "interrupted; saving the draws made so far");
  idm_status status = resume ? resume_request(call, folder, &problem, request, &complete)
                             : make_request(call, &problem, request);
  if (cli_given(call, "threads")) request->settings.threads = (int)cli_integer(call, "threads");
  if (status == IDM_OK && !complete && idm_inverse_find(request->inverse)->answer == IDM_POINT)
    progress.stop_message = "interrupted; stopping";
  if (status == IDM_OK && complete)
    status = complete_page(call, folder);
  else if (status == IDM_OK)
    status = fit(call, folder,
                 resume      ? IDM_RUN_RESUME
                 : overwrite ? IDM_RUN_OVERWRITE
                             : IDM_RUN_NEW,
                 problem, request, &progress);
  idm_problem_destroy(problem);
  return status;
}

static idm_status run(cli_call *call)
{
  const char *folder = cli_text(call, "output");
  if (cli_given(call, "class") && strcmp(cli_text(call, "class"), "all") == 0)
    return cli_fit_classes(call);
  if (!folder)
    return idm_fail(&call->error, IDM_USAGE, "no folder for the run is given (-o RUN); %s", usage);
  if (cli_given(call, "resume") && cli_given(call, "overwrite"))
    return idm_fail(&call->error, IDM_USAGE, "--resume and --overwrite exclude each other");
  idm_request *request = calloc(1, sizeof *request);
  if (!request) return idm_fail_memory(&call->error);
  const idm_status status = fit_request(call, folder, request);
  free(request);
  return status;
}

static const cli_option options[] = {
    CLI_RUN_OPTION,
    CLI_FREE_OPTION("blocks to infer instead of the file's `free`: beta,eta or {beta: {prior: "
                    "{normal: [0, 1]}}}"),
    CLI_KEY_OPTION("by"),
    {.name = "model",
     .kind = CLI_LIST,
     .value = "FORMULA",
     .problem = true,
     .help = "with --by: regression of the population mean, as in 'alpha, beta ~ drug * group + "
             "age'; may be repeated"},
    CLI_KEY_OPTION("each"),
    CLI_KEY_OPTION("class"),
    CLI_KEY_OPTION("inverse"),
    CLI_KEY_OPTION("preferences"),
    CLI_KEY_OPTION("sampler"),
    CLI_KEY_OPTION("chains"),
    CLI_KEY_OPTION("draws"),
    CLI_KEY_OPTION("warmup"),
    CLI_KEY_OPTION("thin"),
    CLI_KEY_OPTION("depth"),
    CLI_KEY_OPTION("seed"),
    CLI_THREADS_OPTION("threads (default: the processors); never changes a draw"),
    CLI_KEY_OPTION("log-likelihood"),
    CLI_KEY_OPTION("checks"),
    CLI_KEY_OPTION("norm"),
    CLI_KEY_OPTION("epsilon"),
    CLI_KEY_OPTION("margin"),
    CLI_KEY_OPTION("penalty"),
    CLI_KEY_OPTION("bound"),
    CLI_KEY_OPTION("lambda"),
    CLI_KEY_OPTION("occupancy"),
    CLI_KEY_OPTION("divergence"),
    CLI_KEY_OPTION("entropy"),
    CLI_KEY_OPTION("loss-scale"),
    CLI_KEY_OPTION("smoothing"),
    CLI_KEY_OPTION("stan"),
    CLI_KEY_OPTION("dynamics"),
    CLI_KEY_OPTION("dynamics-draws"),
    {.name = "resume", .kind = CLI_FLAG, .help = "continue an interrupted run"},
    {.name = "overwrite", .kind = CLI_FLAG, .help = "replace a run"},
    CLI_WHERE_OPTION,
    CLI_SET_OPTION,
    CLI_PLAIN_OPTION,
    CLI_PLUGIN_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_fit = {
    .name = "fit",
    .arguments = "PROBLEM DATA... -o RUN",
    .min_arguments = 0,
    .max_arguments = CLI_ANY_NUMBER,
    .summary = "Infer how decisions were made",
    .description =
        "Infers the free parameters from a log: Markov chains, their diagnostics, and which\n"
        "parameters are identified by the data or determined only by the prior. Writes a folder\n"
        "with run.nc (ArviZ), summary.json and config.yaml. Ctrl-C saves the draws made so far;\n"
        "--resume -o RUN continues, bit for bit as if never stopped. --by COLUMN fits a\n"
        "hierarchical model with separate parameters for each person and a population described\n"
        "by --model; --each COLUMN fits people separately.",
    .options = options,
    .run = run,
    .keys = idm_request_keys,
    .defaults = cli_request_defaults,
};
