/* idm fit: from a log to a posterior. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/texts.h"
#include "cli/classes.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/page.h"
#include "cli/people.h"
#include "cli/progress.h"
#include "io/place.h"

static const char usage[] = "usage: idm fit PROBLEM DATA... -o RUN";

/* --- the request ---------------------------------------------------------------------------- */

/* An option of some inverse planners that this one does not read would change nothing in silence.
 */
static idm_status refuse_idle(cli_call *call, const idm_request *r)
{
  const idm_inverse *inverse = idm_inverse_find(r->inverse);
  cli_option option;
  for (size_t i = 0; inverse && cli_option_at(call->command, i, &option); i++) {
    const idm_key *key = cli_key(call->command, &option);
    if (key && key->later && idm_key_find(idm_fit_keys(), key->name) && call->counts[i] &&
        !idm_inverse_reads(inverse, key->name))
      return idm_fail(&call->error, IDM_USAGE, "--%s says nothing to '%s'; see `idm list inverses`",
                      option.name, inverse->name);
  }
  return IDM_OK;
}

/* Make the problem one of the class that --class names. */
static idm_status take_class(cli_call *call, idm_problem *problem, idm_request *r)
{
  const idm_class *of = idm_class_find(r->of_class);
  if (!of)
    return idm_fail(&call->error, IDM_USAGE, "the class '%s' is not known; see `idm list classes`",
                    r->of_class);
  if (cli_given(call, "inverse") || cli_given(call, "free"))
    return idm_fail(&call->error, IDM_USAGE,
                    "--class says which inverse planner and what is free; leave --inverse and "
                    "--free out");
  const idm_status status = cli_class_check(call, of);
  if (status != IDM_OK) return status;
  snprintf(r->inverse, sizeof r->inverse, "%s", of->inverse);
  idm_class_settings(of, &r->settings);
  cli_take_keys(call, r);
  return idm_class_apply(of, problem, &call->error);
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
  cli_remark_on_settings(call, problem);
  if (r->dynamics[0]) {
    status = idm_request_locate_dynamics(r, &call->error);
    if (status != IDM_OK) return status;
  } else if (cli_given(call, "dynamics-draws")) {
    return idm_fail(&call->error, IDM_USAGE,
                    "--dynamics-draws counts draws of a run of dynamics; expected --dynamics RUN");
  }
  if (cli_given(call, "preferences")) r->preferences_hash[0] = '\0'; /* those of another table */
  status = idm_request_locate_preferences(r, &call->error);
  if (status != IDM_OK) return status;
  const idm_sampler *sampler = idm_sampler_find(r->settings.sampler);
  const bool plain = sampler && sampler->plain;
  if (plain && cli_given(call, "sampler")) {
    idm_fit_settings_plain(&r->settings);
    cli_take_keys(call, r);
  }
  status = refuse_idle(call, r);
  if (status != IDM_OK) return status;
  if (free_blocks) status = idm_problem_free(problem, free_blocks, &call->error);
  if (status != IDM_OK) return status;
  if (plain) {
    idm_problem_flatten(problem);
    idm_notes_add(&call->notes,
                  "--sampler %s: a fixed random walk of step 0.1 with flat priors (on the "
                  "logarithms of alpha, beta, eta), as in the paper; one chain of 100 + 1000 draws "
                  "of 10 steps unless asked otherwise",
                  sampler->name);
  }
  /* Before anything is written: is there something to infer? */
  status = idm_request_check(problem, r, &call->error);
  /* The file was sound: what is wrong now came from the command line. */
  return status == IDM_INPUT && free_blocks ? IDM_USAGE : status;
}

/* The formulas of --model, one a line. */
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

/* A fresh request: the problem (or another run's config.yaml), options over it, the log. */
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
  if (status == IDM_OK) status = idm_request_locate(r, path, paths[0] ? paths : NULL, &call->error);
  return status == IDM_OK ? take_options(call, *ret_problem, r) : status;
}

/* The request of a run that goes on; *ret_complete: there is nothing left to do. */
static idm_status resume_request(cli_call *call, const char *run, idm_problem **ret_problem,
                                 idm_request *r, bool *ret_complete)
{
  idm_status status = cli_refuse_changes(call, run);
  if (status == IDM_OK && !idm_run_is(run))
    status = idm_fail(&call->error, IDM_USAGE, "there is no run at '%s' to resume", run);
  if (status != IDM_OK) return status;
  const bool whole = idm_run_complete(run);
  status = idm_run_read_unfinished(run, ret_problem, r, &call->notes, &call->error);
  *ret_complete = idm_run_complete(run) && !cli_given(call, "stan");
  /* An audit is resumed by `idm audit`, but one that waited for its place is there now. */
  if (status == IDM_INPUT && *ret_complete && !whole)
    call->error = (idm_error){0};
  else if (status != IDM_OK)
    return status;
  if (*ret_complete) return IDM_OK;
  if (cli_given(call, "preferences") && !r->preferences[0])
    return idm_fail(&call->error, IDM_USAGE,
                    "--resume goes on with the request in %s/config.yaml, which has no preferences",
                    run);
  cli_take_keys(call, r);
  char paths[sizeof r->data];
  status = cli_data_paths(call, 1, paths, sizeof paths);
  if (status == IDM_OK) status = idm_request_locate_preferences(r, &call->error);
  if (status != IDM_OK) return status;
  return idm_request_relocate(r, paths[0] ? paths : NULL, &call->error);
}

/* A share of what there is to explain, where there is anything. */
static const char *share_text(double share, char *buffer, size_t size)
{
  if (isnan(share))
    snprintf(buffer, size, "none, as nothing is left to explain");
  else
    snprintf(buffer, size, "%.3f", share);
  return buffer;
}

/* --- the command ---------------------------------------------------------------------------- */

/* People: the population, some of them, and the verdict. */
static void print_people(const char *folder, const idm_run *found, double seconds)
{
  enum { shown = 20 };
  const size_t people = found->assessment->people;
  cli_print_people(stdout, found->posterior, found->assessment, shown);
  if (people > shown) printf("... and %zu more: `idm summary %s`\n", people - shown, folder);
  char share[48];
  printf("\nlog-loss %.4f a decision (chance %.4f; pseudo-R2 %s) over %llu decisions\n\n",
         found->projection.log_loss, found->projection.uniform_log_loss,
         share_text(found->projection.pseudo_r2, share, sizeof share),
         (unsigned long long)found->projection.decisions);
  cli_print_verdict(stdout, found->assessment);
  if (!found->stopped)
    printf("\n%s: run.nc, summary.json, config.yaml, report.html (%.1f s)\n", folder, seconds);
}

/* How far the behaviour at the answer is from the log; nothing where that cannot be said. */
static void print_projection(const idm_run *found)
{
  const idm_projection *projection = &found->projection;
  char share[2][48];
  if (isnan(projection->log_loss)) return;
  printf("\nthe behaviour at %s: log-loss %.4f a decision (chance %.4f, the "
         "actions' own rates %.4f; pseudo-R2 %s and %s), Brier %.4f",
         found->posterior->answer != IDM_POSTERIOR ? "the answer" : "the posterior's centre",
         projection->log_loss, projection->uniform_log_loss, projection->rates_log_loss,
         share_text(projection->pseudo_r2, share[0], sizeof share[0]),
         share_text(projection->pseudo_r2_rates, share[1], sizeof share[1]), projection->brier);
  if (projection->repeated)
    printf(", KL to the empirical policy %.4f over the %llu decisions whose history repeats",
           projection->divergence, (unsigned long long)projection->repeated);
  printf("\n");
}

static idm_status print(cli_call *call, const char *folder, const idm_run *found, double seconds)
{
  const idm_projection *projection = &found->projection;
  if (cli_given(call, "json"))
    return idm_summary_write(found->posterior, found->assessment, projection, "-", &call->error);
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

/* Columns that a fit of people keeps of the log. */
static idm_status list_columns(cli_call *call, const idm_problem *problem, const idm_request *r,
                               idm_labels *keep)
{
  if (!r->by[0] && !r->each[0]) return IDM_OK;
  size_t models = 0;
  char **model = idm_texts_split(r->model, &models);
  const idm_design_request asked = {r->by[0] ? r->by : r->each, (const char *const *)model, models};
  const idm_status status = model ? idm_design_columns(problem, &asked, keep, &call->error)
                                  : idm_fail_memory(&call->error);
  free(model);
  return status;
}

/* A page beside the run's files. */
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
    status = cli_note_twins(call, data, request->by[0] ? request->by : request->each);
  if (status == IDM_OK) status = idm_data_note_copies(data, &call->notes, &call->error);
  if (status == IDM_OK && request->by[0])
    status = idm_population_settle(problem, &call->notes, &call->error);
  if (status == IDM_OK) {
    idm_assess_inert(problem, &call->notes);
    cli_print_notes(call);
    cli_catch_signals();
    status = idm_run_fit(folder, mode, problem, data, request, cli_progress_watch, progress, &found,
                         &call->notes, &call->error);
    cli_progress_end(progress);
  }
  if (status == IDM_OK && found.assessment && !found.stopped)
    status = report(call, folder, problem, request, data, &found);
  if (found.assessment && (status == IDM_OK || found.stopped)) {
    const idm_status printed = print(call, folder, &found, idm_seconds() - progress->started);
    if (status == IDM_OK) status = printed;
  }
  idm_run_clear(&found);
  idm_labels_destroy(&keep);
  idm_data_destroy(data);
  return status;
}

/* A fit that was killed between its summary and its page is complete but for the page. */
static idm_status complete_page(cli_call *call, const char *folder)
{
  char path[CLI_PAGE_PATH];
  const idm_place page = idm_place_of(cli_page_path(folder, path));
  if (idm_place_exists(&page)) {
    idm_notes_add(&call->notes, "the run is complete: there is nothing to resume");
    return IDM_OK;
  }
  idm_notes_add(&call->notes, "the run is complete but for its page, which is written now");
  return cli_write_page(call, folder, path);
}

/* The request, from the command line or from the run, and the fit or what is left of it. */
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
    progress.farewell = "interrupted; stopping";
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
  if (!folder) return idm_fail(&call->error, IDM_USAGE, "where should the run go? %s", usage);
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
    CLI_FREE_OPTION("what to infer instead of the file's `free`: beta,eta or {beta: {prior: "
                    "{normal: [0, 1]}}}"),
    CLI_KEY_OPTION("by"),
    {.name = "model",
     .kind = CLI_LIST,
     .value = "FORMULA",
     .problem = true,
     .help =
         "with --by: what the population's mean depends on, as in 'alpha, beta ~ drug * group + "
         "age'; may be given several times"},
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
    {.name = "resume", .kind = CLI_FLAG, .help = "go on with an interrupted run"},
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
    .least = 0,
    .most = CLI_ANY_NUMBER,
    .summary = "Infer how decisions were made",
    .description =
        "Infers the free parameters from a log: simulated chains, their diagnostics, what the data "
        "bound\n"
        "and what only the prior does. Leaves a folder with run.nc (ArviZ), summary.json and "
        "config.yaml.\n"
        "Ctrl-C saves the draws made so far; --resume -o RUN goes on, bit for bit as if never "
        "stopped.\n"
        "--by COLUMN gives everybody numbers of their own, drawn from a population that --model "
        "describes;\n"
        "--each COLUMN fits people one by one.",
    .options = options,
    .run = run,
    .keys = idm_request_keys,
    .defaults = cli_request_defaults,
};
