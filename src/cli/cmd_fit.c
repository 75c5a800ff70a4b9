/* idm fit: from a log to a posterior.
 *
 * Contents: the request · checkpoints and progress · finishing · the command */
#define _XOPEN_SOURCE 700 /* realpath: POSIX has had it since 2008, glibc shows it only so */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

/* Seconds between checkpoints. */
static const double checkpoint_seconds = 3;

/* --- the request ---------------------------------------------------------------------------- */

static idm_status take_options(cli_call *call, idm_problem *problem, idm_request *r)
{
  idm_fit_settings *s = &r->settings;
  if (cli_given(call, "inverse"))
    snprintf(r->inverse, sizeof r->inverse, "%s", cli_text(call, "inverse"));
  if (cli_given(call, "sampler"))
    snprintf(s->sampler, sizeof s->sampler, "%s", cli_text(call, "sampler"));
  const idm_sampler *sampler = idm_sampler_find(s->sampler);
  const bool plain = sampler && sampler->plain;
  if (plain && cli_given(call, "sampler")) idm_fit_settings_plain(s);
  if (cli_given(call, "chains")) s->chains = (size_t)cli_integer(call, "chains");
  if (cli_given(call, "draws")) s->draws = cli_integer(call, "draws");
  if (cli_given(call, "warmup")) s->warmup = cli_integer(call, "warmup");
  if (cli_given(call, "thin")) s->thin = cli_integer(call, "thin");
  if (cli_given(call, "seed")) s->seed = (uint64_t)cli_integer(call, "seed");
  if (cli_given(call, "stan")) r->stan = true;
  const char *keep = cli_text(call, "log-likelihood");
  if (keep) {
    if (strcmp(keep, "none") != 0 && strcmp(keep, "trajectory") != 0 &&
        strcmp(keep, "decision") != 0)
      return idm_fail(&call->error, IDM_USAGE,
                      "--log-likelihood is '%s'; expected trajectory, decision or none", keep);
    s->keep = keep[0] == 'n'   ? IDM_KEEP_NOTHING
              : keep[0] == 't' ? IDM_KEEP_TRAJECTORY
                               : IDM_KEEP_DECISION;
  }
  const char *free_blocks = cli_text(call, "free");
  if (free_blocks) {
    const idm_status status = idm_problem_free(problem, free_blocks, &call->error);
    if (status != IDM_OK) return status;
  }
  if (plain) {
    idm_problem_flatten(problem);
    idm_notes_add(&call->notes,
                  "--sampler %s: a fixed random walk of step 0.1 with flat priors (on the "
                  "logarithms of alpha, beta, eta), as in the paper; one chain of 100 + 1000 draws "
                  "of 10 steps unless asked otherwise",
                  sampler->name);
  }
  /* Before anything is written: is there something to infer? */
  const idm_status status = idm_request_check(problem, r, &call->error);
  /* The file was sound: what is wrong now came from the command line. */
  return status == IDM_INPUT && free_blocks ? IDM_USAGE : status;
}

/* A fresh request: the problem (or another run's config.yaml), options over it, the log. */
static idm_status make_request(cli_call *call, idm_problem **ret_problem, idm_request *r)
{
  const char *path = call->argument[0];
  if (call->arguments < 1)
    return idm_fail(&call->error, IDM_USAGE, "usage: idm fit PROBLEM DATA -o RUN");
  if (strcmp(path, "-") == 0 || (call->arguments > 1 && strcmp(call->argument[1], "-") == 0))
    return idm_fail(&call->error, IDM_USAGE,
                    "a run names its problem and its log; expected files, not standard input");
  idm_status status = idm_request_read(path, ret_problem, r, &call->notes, &call->error);
  if (status == IDM_OK) status = cli_override(call, *ret_problem);
  if (status != IDM_OK) return status;
  const char *data = call->arguments > 1 ? call->argument[1] : r->data;
  if (!data[0]) return idm_fail(&call->error, IDM_USAGE, "usage: idm fit PROBLEM DATA -o RUN");
  status = idm_request_locate(r, path, data, &call->error);
  if (status == IDM_OK) status = take_options(call, *ret_problem, r);
  return status;
}

/* Whether there is nothing left to do for --resume. */
static bool is_complete(const cli_call *call, const char *run)
{
  return cli_has_file(run, "run.nc") && !cli_has_file(run, "checkpoint") &&
         !cli_given(call, "stan");
}

/* The request of a run that goes on; the log must be the one it began with. */
static idm_status resume_request(cli_call *call, const char *run, idm_problem **ret_problem,
                                 idm_request *r)
{
  static const char *const fixed[] = {"free",  "set",    "inverse", "sampler",        "chains",
                                      "draws", "warmup", "thin",    "log-likelihood", "seed"};
  for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
    if (cli_given(call, fixed[i]))
      return idm_fail(&call->error, IDM_USAGE,
                      "--resume goes on with the request in %s/config.yaml; --%s cannot change it",
                      run, fixed[i]);
  if (!cli_is_run(run))
    return idm_fail(&call->error, IDM_USAGE, "there is no run at '%s' to resume", run);
  idm_status status = cli_read_run(call, run, ret_problem, r, NULL);
  if (status != IDM_OK || is_complete(call, run)) return status;
  if (cli_given(call, "stan")) r->stan = true;
  const char *path = call->arguments > 1 ? call->argument[1] : r->data;
  char hash[IDM_HASH];
  status = idm_file_hash(path, hash, &call->error);
  if (status == IDM_OK && strcmp(hash, r->data_hash) != 0)
    status = idm_fail(&call->error, IDM_INPUT,
                      "'%s' is not the log that the run began with: its SHA-256 differs from that "
                      "in config.yaml",
                      path);
  if (status == IDM_OK && path != r->data) snprintf(r->data, sizeof r->data, "%s", path);
  return status;
}

/* --- checkpoints and progress --------------------------------------------------------------- */

typedef struct fitting {
  cli_call *call;
  cli_progress progress;
  char *checkpoint; /* path */
  double saved;     /* when the last checkpoint was written */
  uint64_t label;
  bool told;         /* that an interrupt was noticed */
  bool made;         /* the folder was not there before */
  bool written;      /* the results are in it */
  idm_status status; /* of writing checkpoints */
  idm_error error;
} fitting;

static idm_status write_checkpoint(fitting *f, const idm_work *work)
{
  char *bytes = NULL;
  size_t length = 0;
  idm_file *file = NULL;
  idm_status status = idm_work_save(work, &bytes, &length, &f->error);
  if (status == IDM_OK) status = idm_file_create(f->checkpoint, &file, &f->error);
  if (status == IDM_OK) {
    idm_file_write(file, bytes, length);
    status = idm_file_commit(file, &f->error);
  }
  free(bytes);
  f->saved = cli_seconds();
  return status;
}

/* Whoever interrupts wants to see at once that it was noticed. */
static void tell_interrupt(fitting *f)
{
  if (f->told) return;
  f->told = true;
  cli_progress_end(&f->progress);
  fprintf(stderr, "idm: interrupted; saving the draws made so far\n");
}

static bool watch(void *context, const idm_work *work)
{
  fitting *f = context;
  char words[96];
  const bool stop = cli_interrupted();
  if (stop)
    tell_interrupt(f);
  else if (f->progress.terminal && cli_seconds() - f->progress.shown > 0.5)
    cli_progress_show(&f->progress, work->done, idm_work_words(work, words, sizeof words));
  if (f->status == IDM_OK && (stop || cli_seconds() - f->saved > checkpoint_seconds))
    f->status = write_checkpoint(f, work);
  return stop || f->status != IDM_OK;
}

/* --- finishing ------------------------------------------------------------------------------ */

static idm_status write_stan(cli_call *call, const char *run, const idm_posterior *posterior)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < posterior->chains && status == IDM_OK; i++) {
    char name[40];
    snprintf(name, sizeof name, "chain-%zu.csv", i + 1);
    char *path = cli_run_path(run, name);
    status = path ? idm_posterior_write_stan(posterior, i, path, &call->error)
                  : idm_fail_memory(&call->error);
    free(path);
  }
  return status;
}

static idm_status write_run(cli_call *call, const char *run, const idm_problem *problem,
                            const idm_data *data, const idm_posterior *posterior,
                            const idm_assessment *assessment, const idm_projection *projection,
                            bool stan)
{
  char *nc = cli_run_path(run, "run.nc");
  char *json = cli_run_path(run, "summary.json");
  idm_status status = nc && json ? IDM_OK : idm_fail_memory(&call->error);
  if (status == IDM_OK)
    status = idm_posterior_write_netcdf(posterior, problem, data, nc, &call->error);
  if (status == IDM_OK)
    status = idm_summary_write(posterior, assessment, projection, json, &call->error);
  if (status == IDM_OK && stan) status = write_stan(call, run, posterior);
  free(nc);
  free(json);
  return status;
}

static void print_result(const char *run, const idm_posterior *posterior,
                         const idm_assessment *assessment, const idm_projection *projection,
                         double seconds)
{
  cli_print_posterior(stdout, posterior, assessment);
  printf("\nthe behaviour at the posterior's centre: log-loss %.4f a decision, Brier %.4f",
         projection->log_loss, projection->brier);
  if (projection->repeated)
    printf(", KL to the empirical policy %.4f over the %llu decisions whose history repeats",
           projection->divergence, (unsigned long long)projection->repeated);
  printf("\n\n");
  cli_print_verdict(stdout, assessment);
  printf("\n%s: run.nc, summary.json, config.yaml (%.1f s, sampler %s)\n", run, seconds,
         posterior->sampler);
}

/* --- the command ---------------------------------------------------------------------------- */

static bool remove_file(const char *run, const char *file)
{
  char *path = cli_run_path(run, file);
  const bool removed = path && remove(path) == 0;
  free(path);
  return removed;
}

/* Results belong to the config.yaml beside them: they go before it changes. */
static void remove_results(const char *run)
{
  static const char *const files[] = {"run.nc", "summary.json", "checkpoint"};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) remove_file(run, files[i]);
  bool more = true;
  for (size_t i = 1; more; i++) {
    char name[40];
    snprintf(name, sizeof name, "chain-%zu.csv", i);
    more = remove_file(run, name);
  }
}

/* A fit that failed leaves nothing behind, unless it can be gone on with. */
static void clean_up(cli_call *call, const char *run, bool made)
{
  if (cli_given(call, "resume") || cli_has_file(run, "checkpoint")) return;
  remove_results(run);
  remove_file(run, "config.yaml");
  if (made) rmdir(run);
}

/* The folder of the run: made, or found as --resume and --overwrite allow. */
static idm_status open_folder(cli_call *call, const char *run, bool *made)
{
  *made = false;
  if (cli_is_run(run)) {
    if (cli_has_file(run, "config.yaml") && !cli_given(call, "resume") &&
        !cli_given(call, "overwrite"))
      return idm_fail(&call->error, IDM_USAGE,
                      "'%s' holds a run already; add --resume to go on with it, or --overwrite",
                      run);
    return IDM_OK;
  }
  *made = mkdir(run, 0777) == 0;
  if (*made) return IDM_OK;
  return idm_fail(&call->error, IDM_SYSTEM, "cannot make the folder '%s': %s", run,
                  strerror(errno));
}

/* A path that is good from every folder; as given where it is too long or cannot be had. */
static void make_absolute(char *path, size_t size)
{
  char *absolute = realpath(path, NULL);
  if (absolute && strlen(absolute) < size) snprintf(path, size, "%s", absolute);
  free(absolute);
}

/* Write config.yaml, unless the run goes on, and name the request. */
static idm_status settle_config(cli_call *call, const char *run, const idm_problem *problem,
                                const idm_request *r, uint64_t *label)
{
  idm_status status = IDM_OK;
  if (!cli_given(call, "resume")) {
    idm_request kept = *r;
    make_absolute(kept.data, sizeof kept.data);
    if (strncmp(kept.problem, "example:", 8) != 0) make_absolute(kept.problem, sizeof kept.problem);
    remove_results(run);
    char *path = cli_run_path(run, "config.yaml");
    status = path ? idm_request_write(problem, &kept, path, &call->error)
                  : idm_fail_memory(&call->error);
    free(path);
  }
  *label = idm_request_label(problem, r);
  return status;
}

/* The checkpoint of a run that goes on; none is a beginning from the start. */
static idm_status load_checkpoint(cli_call *call, const char *path, idm_fit_watch *watcher,
                                  char **ret_bytes)
{
  struct stat info;
  *ret_bytes = NULL;
  if (!cli_given(call, "resume") || stat(path, &info) != 0) return IDM_OK;
  const idm_status status =
      idm_file_read(path, (size_t)1 << 36, ret_bytes, &watcher->checkpoint_length, &call->error);
  watcher->checkpoint = *ret_bytes;
  return status;
}

static bool is_partial(const idm_posterior *opt_posterior, const idm_request *r)
{
  return opt_posterior && opt_posterior->answer == IDM_POSTERIOR &&
         opt_posterior->draws < (size_t)r->settings.draws;
}

/* Diagnostics and verdict. What the data say takes time, which an interrupted fit is not given:
 * without it nothing can be trusted. */
static idm_status assess(cli_call *call, const idm_problem *problem, const idm_data *data,
                         const idm_posterior *posterior, int threads, bool stopped,
                         idm_assessment **ret_assessment)
{
  if (!stopped) return idm_assess(problem, data, posterior, threads, ret_assessment, &call->error);
  const idm_status status = idm_assess_draws(posterior, ret_assessment, &call->error);
  if (status != IDM_OK) return status;
  (*ret_assessment)->trusted = false;
  idm_notes_add(&(*ret_assessment)->failures,
                "the fit was interrupted; `idm fit --resume` goes on, and then sees what the data "
                "bound");
  return IDM_OK;
}

static idm_status fit_data(cli_call *call, const char *run, const idm_problem *problem,
                           const idm_data *data, const idm_request *r, fitting *f)
{
  idm_posterior *posterior = NULL;
  idm_assessment *assessment = NULL;
  idm_projection projection;
  char *bytes = NULL;
  idm_fit_watch watcher = {
      .progress = watch, .context = f, .checkpoint_file = f->checkpoint, .label = f->label};
  idm_status status = load_checkpoint(call, f->checkpoint, &watcher, &bytes);
  if (status == IDM_OK)
    status = idm_project(problem, data, idm_inverse_find(r->inverse), &r->settings, &watcher,
                         &posterior, &projection, &call->notes, &call->error);
  free(bytes);
  cli_progress_end(&f->progress);
  const bool stopped = cli_interrupted() && (status == IDM_UNTRUSTED || is_partial(posterior, r));
  if (stopped) tell_interrupt(f);
  if (f->status != IDM_OK) {
    call->error = f->error;
    status = f->status;
  }
  if (status == IDM_OK)
    status = assess(call, problem, data, posterior, r->settings.threads, stopped, &assessment);
  if (status == IDM_OK) posterior->request = f->label;
  if (status == IDM_OK)
    status = write_run(call, run, problem, data, posterior, assessment, &projection, r->stan);
  f->written = status == IDM_OK;
  const double seconds = cli_seconds() - f->progress.started;
  if (status == IDM_OK && cli_given(call, "json"))
    status = idm_summary_write(posterior, assessment, &projection, "-", &call->error);
  else if (status == IDM_OK)
    print_result(run, posterior, assessment, &projection, seconds);
  if (status == IDM_OK && !stopped) remove(f->checkpoint);
  if (stopped && (status == IDM_OK || status == IDM_UNTRUSTED))
    status = idm_fail(
        &call->error, IDM_UNTRUSTED,
        "interrupted; the draws made so far are saved: `idm fit --resume -o %s` goes on", run);
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  return status;
}

static idm_status run(cli_call *call)
{
  const char *folder = cli_text(call, "output");
  idm_problem *problem = NULL;
  idm_data *data = NULL;
  idm_request request;
  fitting f = {.call = call};
  cli_progress_begin(&f.progress);
  if (!folder)
    return idm_fail(&call->error, IDM_USAGE,
                    "where should the run go? usage: idm fit PROBLEM DATA -o RUN");
  if (cli_given(call, "resume") && cli_given(call, "overwrite"))
    return idm_fail(&call->error, IDM_USAGE, "--resume and --overwrite exclude each other");
  idm_request_default(&request);
  idm_status status = cli_given(call, "resume") ? resume_request(call, folder, &problem, &request)
                                                : make_request(call, &problem, &request);
  if (status == IDM_OK && cli_given(call, "resume") && is_complete(call, folder)) {
    idm_notes_add(&call->notes, "the run is complete: there is nothing to resume");
    idm_problem_destroy(problem);
    return IDM_OK;
  }
  if (status == IDM_OK) status = cli_read_data(call, request.data, problem, &data);
  if (cli_given(call, "threads")) request.settings.threads = (int)cli_integer(call, "threads");
  if (status == IDM_OK) status = open_folder(call, folder, &f.made);
  const bool opened = status == IDM_OK;
  if (status == IDM_OK) status = settle_config(call, folder, problem, &request, &f.label);
  if (status == IDM_OK) {
    f.checkpoint = cli_run_path(folder, "checkpoint");
    f.saved = cli_seconds();
    cli_catch_signals();
    status = f.checkpoint ? fit_data(call, folder, problem, data, &request, &f)
                          : idm_fail_memory(&call->error);
    /* The scorer knows the line; the file is ours. */
    if (status == IDM_INPUT && call->error.line > 0 && !call->error.file[0])
      snprintf(call->error.file, sizeof call->error.file, "%.255s", request.data);
  }
  if (opened && !f.written) clean_up(call, folder, f.made);
  free(f.checkpoint);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return status;
}

static const cli_option options[] = {
    {"output", 'o', CLI_TEXT, "RUN", NULL, 0, 0, "folder for the run"},
    {"free", 0, CLI_TEXT, "BLOCKS", NULL, 0, 0,
     "what to infer instead of the file's `free`: beta,eta or {beta: {prior: {normal: [0, 1]}}}"},
    {"inverse", 0, CLI_TEXT, "NAME", "bayes", 0, 0, "inverse planner: bayes, map or laplace"},
    {"sampler", 0, CLI_TEXT, "NAME", NULL, 0, 0,
     "metropolis, nuts, slice, or paper (default: metropolis up to 4 free numbers, else nuts)"},
    {"chains", 0, CLI_INTEGER, "N", "4", 1, 1000, "chains"},
    {"draws", 0, CLI_INTEGER, "N", "1000", 1, 1e9, "draws kept of each chain"},
    {"warmup", 0, CLI_INTEGER, "N", "1000", 0, 1e9, "draws that adapt the sampler first"},
    {"thin", 0, CLI_INTEGER, "N", "0", 0, 1e6, "steps a draw (0: the sampler's own)"},
    {"seed", 0, CLI_INTEGER, "SEED", "1", 0, 9e18, "seed; chain i uses stream i"},
    {"threads", 0, CLI_INTEGER, "N", NULL, 1, 1024,
     "threads (default: the processors); never changes a draw"},
    {"log-likelihood", 0, CLI_TEXT, "UNIT", NULL, 0, 0,
     "log-likelihoods to keep in run.nc: by trajectory (default), decision, or none"},
    {"stan", 0, CLI_FLAG, NULL, NULL, 0, 0, "write chain-N.csv in CmdStan's layout as well"},
    {"resume", 0, CLI_FLAG, NULL, NULL, 0, 0, "go on with an interrupted run"},
    {"overwrite", 0, CLI_FLAG, NULL, NULL, 0, 0, "replace a run"},
    CLI_SET_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_fit = {
    "fit",
    "PROBLEM DATA -o RUN",
    0,
    2,
    "Infer how decisions were made",
    "Infers the free parameters from a log: simulated chains, their diagnostics, what the data "
    "bound\n"
    "and what only the prior does. Leaves a folder with run.nc (ArviZ), summary.json and "
    "config.yaml.\n"
    "Ctrl-C saves the draws made so far; --resume -o RUN goes on, bit for bit as if never stopped.",
    options,
    run,
};
