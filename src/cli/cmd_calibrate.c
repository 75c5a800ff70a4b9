/* idm recover and idm sbc: is the question answerable with this much data?
 *
 * Contents: results on disk · running · recovery · calibration · the commands */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

/* Seconds between writes of the results. */
static const double save_seconds = 5;
enum { bins = 20 };

typedef struct calibrating {
  cli_call *call;
  cli_progress progress;
  char *path;   /* of the results; NULL: they are not kept */
  char *asked;  /* path of the request until the results are known to be its own */
  char *config; /* and from then on */
  double saved;
  size_t written; /* replications in the file */
  char label[IDM_HASH];
  idm_status status;
} calibrating;

/* --- results on disk ------------------------------------------------------------------------ */

static size_t count_done(const idm_calibration *c)
{
  size_t done = 0;
  for (size_t i = 0; i < c->settings.replications; i++) done += c->done[i];
  return done;
}

/* One replication as a line: index, R-hat, draws, then six numbers a quantity. */
static json_t *replication_json(const idm_calibration *c, size_t i)
{
  json_t *line = json_object();
  json_object_set_new(line, "replication", json_integer((json_int_t)i));
  json_object_set_new(line, "r_hat", idm_json_number(c->rhat[i]));
  json_object_set_new(line, "draws", json_integer(c->draws[i]));
  for (size_t q = 0; q < c->quantity.count; q++) {
    const idm_recovery *r = &c->recovery[i * c->quantity.count + q];
    const double numbers[] = {r->truth, r->mean, r->sd, r->low, r->high, (double)r->rank};
    json_object_set_new(line, c->quantity.name[q], cli_numbers(numbers, 6));
  }
  return line;
}

static idm_status save(calibrating *work, const idm_calibration *c)
{
  work->saved = cli_seconds();
  if (!work->path || count_done(c) == work->written) return IDM_OK;
  idm_file *file = NULL;
  const idm_status status = idm_file_create(work->path, &file, &work->call->error);
  if (status != IDM_OK) return status;
  idm_file_printf(file, "{\"request\": \"%s\"}\n", work->label);
  for (size_t i = 0; i < c->settings.replications; i++) {
    if (!c->done[i]) continue;
    json_t *line = replication_json(c, i);
    char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(line);
    if (text) idm_file_printf(file, "%s\n", text);
    free(text);
  }
  work->written = count_done(c);
  return idm_file_commit(file, &work->call->error);
}

/* One number of a line: JSON null is NaN, infinities are texts. */
static bool take_number(const json_t *array, size_t at, double *value)
{
  const json_t *item = json_array_get(array, at);
  const char *text = json_string_value(item);
  if (text && (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0)) {
    *value = text[0] == '-' ? -INFINITY : INFINITY;
    return true;
  }
  if (!json_is_number(item) && !json_is_null(item)) return false;
  *value = json_is_null(item) ? NAN : json_number_value(item);
  return true;
}

/* A line back into the calibration; false where it is not one of ours. */
static bool take_line(const json_t *line, idm_calibration *c)
{
  const json_t *index = json_object_get(line, "replication");
  if (!json_is_integer(index)) return false;
  const json_int_t i = json_integer_value(index);
  if (i < 0 || (size_t)i >= c->settings.replications) return true; /* of a longer campaign */
  c->rhat[i] = json_number_value(json_object_get(line, "r_hat"));
  c->draws[i] = (long)json_integer_value(json_object_get(line, "draws"));
  for (size_t q = 0; q < c->quantity.count; q++) {
    idm_recovery *r = &c->recovery[(size_t)i * c->quantity.count + q];
    const json_t *numbers = json_object_get(line, c->quantity.name[q]);
    double *const to[] = {&r->truth, &r->mean, &r->sd, &r->low, &r->high};
    double rank;
    for (size_t k = 0; k < 5; k++)
      if (!take_number(numbers, k, to[k])) return false;
    if (!take_number(numbers, 5, &rank) || !(rank >= 0 && rank <= IDM_RANKS)) return false;
    r->rank = (int)rank;
  }
  c->done[i] = true;
  return true;
}

/* Take in what an earlier call of the same request has done. */
static idm_status load(calibrating *work, idm_calibration *c)
{
  struct stat info;
  if (!work->path || stat(work->path, &info) != 0) return IDM_OK;
  char *text = NULL;
  size_t length = 0;
  const idm_status status =
      idm_file_read(work->path, (size_t)1 << 30, &text, &length, &work->call->error);
  if (status != IDM_OK) return status;
  const char *wrong = NULL;
  long number = 0;
  for (char *line = text, *next; *line && !wrong; line = next) {
    next = strchr(line, '\n');
    const size_t size = next ? (size_t)(next - line) : strlen(line);
    next = line + size + (next != NULL);
    json_t *object = json_loadb(line, size, 0, NULL);
    const char *request = json_string_value(json_object_get(object, "request"));
    if (++number == 1 && (!request || strcmp(request, work->label) != 0))
      wrong = "belongs to another request; take another folder";
    else if (number > 1 && !take_line(object, c))
      wrong = "is no line of results";
    json_decref(object);
  }
  free(text);
  work->written = count_done(c);
  if (!wrong) return IDM_OK;
  return idm_fail_at(&work->call->error, work->path, number, 0, "%s", wrong);
}

/* --- running -------------------------------------------------------------------------------- */

static bool watch(void *context, const idm_calibration *c)
{
  calibrating *work = context;
  const size_t done = count_done(c);
  char words[64];
  snprintf(words, sizeof words, "%zu of %zu fits", done, c->settings.replications);
  cli_progress_show(&work->progress, (double)done / (double)c->settings.replications, words);
  if (cli_interrupted() || cli_seconds() - work->saved > save_seconds ||
      done == c->settings.replications)
    work->status = save(work, c);
  return cli_interrupted() || work->status != IDM_OK;
}

/* What a request is: the problem as it stands, and the numbers that change results. */
static idm_status make_label(calibrating *work, const idm_problem *problem,
                             const idm_calibration_settings *s, const char *folder)
{
  idm_request request;
  idm_request_default(&request);
  request.settings = s->fit;
  request.settings.seed = s->seed;
  snprintf(request.data, sizeof request.data, "simulated: %zu trajectories of at most %d steps",
           s->trajectories, s->steps);
  work->asked = cli_run_path(folder, "config.yaml.new");
  work->config = cli_run_path(folder, "config.yaml");
  if (!work->asked || !work->config) return idm_fail_memory(&work->call->error);
  idm_status status = idm_request_write(problem, &request, work->asked, &work->call->error);
  if (status == IDM_OK) status = idm_file_hash(work->asked, work->label, &work->call->error);
  return status;
}

/* The request takes its name once the results in the folder are known to be its own. */
static idm_status settle_label(calibrating *work, idm_status status)
{
  if (!work->asked) return status;
  if (status == IDM_OK && rename(work->asked, work->config) != 0)
    status = idm_fail(&work->call->error, IDM_SYSTEM, "cannot write '%s': %s", work->config,
                      strerror(errno));
  if (status != IDM_OK) remove(work->asked);
  return status;
}

static idm_status open_results(calibrating *work, const idm_problem *problem,
                               const idm_calibration_settings *s)
{
  const char *folder = cli_text(work->call, "output");
  if (!folder) return IDM_OK;
  if (!cli_is_run(folder) && mkdir(folder, 0777) != 0)
    return idm_fail(&work->call->error, IDM_SYSTEM, "cannot make the folder '%s': %s", folder,
                    strerror(errno));
  work->path = cli_run_path(folder, "replications.jsonl");
  char *other = cli_run_path(folder, "run.nc");
  struct stat info;
  const bool fitted = other && stat(other, &info) == 0;
  free(other);
  if (!work->path) return idm_fail_memory(&work->call->error);
  if (fitted)
    return idm_fail(&work->call->error, IDM_USAGE, "'%s' holds a run; take another folder", folder);
  return make_label(work, problem, s, folder);
}

static void take_settings(cli_call *call, idm_calibration_settings *s)
{
  idm_calibration_settings_default(s);
  s->replications = (size_t)cli_integer(call, "replications");
  s->trajectories = (size_t)cli_integer(call, "number");
  s->steps = (int)cli_integer(call, "steps");
  s->seed = (uint64_t)cli_integer(call, "seed");
  if (cli_given(call, "threads")) s->threads = (int)cli_integer(call, "threads");
  s->fit.chains = (size_t)cli_integer(call, "chains");
  s->fit.draws = cli_integer(call, "draws");
  s->fit.warmup = cli_integer(call, "warmup");
  const char *sampler = cli_text(call, "sampler");
  if (sampler) snprintf(s->fit.sampler, sizeof s->fit.sampler, "%s", sampler);
}

typedef idm_status (*reporter)(cli_call *call, const idm_calibration *c);

static idm_status run(cli_call *call, reporter report)
{
  idm_problem *problem = NULL;
  idm_calibration *c = NULL;
  idm_calibration_settings settings;
  calibrating work = {.call = call};
  take_settings(call, &settings);
  cli_progress_begin(&work.progress);
  work.saved = cli_seconds();
  idm_status status = cli_read_problem(call, call->argument[0], &problem);
  if (status == IDM_OK) status = cli_need_utilities(call, problem);
  if (status == IDM_OK && cli_text(call, "free"))
    status = idm_problem_free(problem, cli_text(call, "free"), &call->error);
  if (status == IDM_OK) {
    status = idm_calibration_create(problem, &settings, &c, &call->error);
    /* The file was sound: what is wrong now came from the command line. */
    if (status == IDM_INPUT && cli_text(call, "free")) status = IDM_USAGE;
  }
  if (status == IDM_OK) status = open_results(&work, problem, &settings);
  if (status == IDM_OK) status = load(&work, c);
  status = settle_label(&work, status);
  if (status == IDM_OK) {
    cli_catch_signals();
    status = idm_calibration_run(c, watch, &work, &call->error);
    cli_progress_end(&work.progress);
  }
  if (status == IDM_OK) status = work.status;
  if (status == IDM_OK && count_done(c) < settings.replications)
    status =
        idm_fail(&call->error, IDM_UNTRUSTED, "interrupted after %zu of %zu fits%s", count_done(c),
                 settings.replications, work.path ? "; the same command goes on" : "");
  if (status == IDM_OK) status = report(call, c);
  free(work.path);
  free(work.asked);
  free(work.config);
  idm_calibration_destroy(c);
  idm_problem_destroy(problem);
  return status;
}

/* --- recovery ------------------------------------------------------------------------------- */

typedef struct recovered {
  double coverage;    /* of 90 % intervals */
  double bias;        /* mean of (mean - truth) / sd */
  double error;       /* root mean square of mean - truth */
  double correlation; /* of mean and truth */
} recovered;

static recovered sum_up(const idm_calibration *c, size_t q)
{
  const size_t n = c->settings.replications;
  recovered r = {0};
  double mt = 0, mm = 0, tt = 0, mean_m = 0, mean_t = 0;
  for (size_t i = 0; i < n; i++) {
    const idm_recovery *x = &c->recovery[i * c->quantity.count + q];
    r.coverage += (x->low <= x->truth && x->truth <= x->high) / (double)n;
    r.bias += (x->mean - x->truth) / x->sd / (double)n;
    r.error += (x->mean - x->truth) * (x->mean - x->truth) / (double)n;
    mean_m += x->mean / (double)n;
    mean_t += x->truth / (double)n;
  }
  for (size_t i = 0; i < n; i++) {
    const idm_recovery *x = &c->recovery[i * c->quantity.count + q];
    mt += (x->mean - mean_m) * (x->truth - mean_t);
    mm += (x->mean - mean_m) * (x->mean - mean_m);
    tt += (x->truth - mean_t) * (x->truth - mean_t);
  }
  r.error = sqrt(r.error);
  r.correlation = mt / sqrt(mm * tt);
  return r;
}

static idm_status report_recovery(cli_call *call, const idm_calibration *c)
{
  const bool json = cli_given(call, "json");
  const size_t n = c->settings.replications;
  json_t *object = json_object();
  if (!json) {
    printf("%zu logs of %zu trajectories, each of an agent drawn from the prior\n\n", n,
           c->settings.trajectories);
    printf("%-24s %10s %10s %12s %12s\n", "", "90% covers", "bias (sd)", "rms error",
           "correlation");
  }
  for (size_t q = 0; q + 1 < c->quantity.count; q++) {
    const recovered r = sum_up(c, q);
    json_t *one = json_object();
    json_object_set_new(one, "coverage_90", idm_json_number(r.coverage));
    json_object_set_new(one, "bias_in_sd", idm_json_number(r.bias));
    json_object_set_new(one, "rms_error", idm_json_number(r.error));
    json_object_set_new(one, "correlation", idm_json_number(r.correlation));
    json_object_set_new(object, c->quantity.name[q], one);
    if (!json)
      printf("%-24s %9.0f%% %10.2f %12.4g %12.3f\n", c->quantity.name[q], 100 * r.coverage, r.bias,
             r.error, r.correlation);
  }
  if (json) return cli_print_json(call, object);
  json_decref(object);
  printf("\nof %zu intervals of 90 %%, %.0f +- %.0f should cover the truth\n", n, 0.9 * (double)n,
         1.645 * sqrt(0.09 * (double)n));
  return IDM_OK;
}

/* --- calibration ---------------------------------------------------------------------------- */

static void print_ranks(const char *name, const size_t *count, double statistic, double p)
{
  size_t most = 1;
  for (size_t b = 0; b < bins; b++) most = count[b] > most ? count[b] : most;
  printf("%-24s ", name);
  static const char *const levels[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  for (size_t b = 0; b < bins; b++) fputs(levels[8 * count[b] / most], stdout);
  printf("  chi-square %6.1f  p = %.4f\n", statistic, p);
}

static idm_status report_ranks(cli_call *call, const idm_calibration *c)
{
  const bool json = cli_given(call, "json");
  json_t *object = json_object();
  double worst = 1;
  if (!json)
    printf("ranks of the truth among %d draws, %zu replications, %d bins\n\n", IDM_RANKS,
           c->settings.replications, bins);
  for (size_t q = 0; q < c->quantity.count; q++) {
    size_t count[bins];
    const double statistic = idm_calibration_uniformity(c, q, bins, count);
    const double p = idm_chi_square_tail(statistic, bins - 1);
    worst = fmin(worst, p);
    json_t *one = json_object();
    json_t *counts = json_array();
    for (size_t b = 0; b < bins; b++)
      json_array_append_new(counts, json_integer((json_int_t)count[b]));
    json_object_set_new(one, "counts", counts);
    json_object_set_new(one, "chi_square", idm_json_number(statistic));
    json_object_set_new(one, "p", idm_json_number(p));
    json_object_set_new(object, c->quantity.name[q], one);
    if (!json) print_ranks(c->quantity.name[q], count, statistic, p);
  }
  double rhat = 0;
  for (size_t i = 0; i < c->settings.replications; i++) rhat = fmax(rhat, c->rhat[i]);
  if (!json) printf("\nlargest R-hat %.4f; least p %.4f\n", rhat, worst);
  idm_status status = IDM_OK;
  if (json)
    status = cli_print_json(call, object);
  else
    json_decref(object);
  if (status == IDM_OK && worst < 0.001)
    status =
        idm_fail(&call->error, IDM_UNTRUSTED,
                 "ranks are not uniform (p %.2g): posterior and simulation do not agree", worst);
  return status;
}

/* --- the commands --------------------------------------------------------------------------- */

static idm_status run_recover(cli_call *call)
{
  return run(call, report_recovery);
}

static idm_status run_sbc(cli_call *call)
{
  return run(call, report_ranks);
}

#define CALIBRATION_OPTIONS(replications)                                                          \
  {"number", 'n', CLI_INTEGER, "N", "100", 1, 1e9, "trajectories of each simulated log"},          \
      {"steps", 0, CLI_INTEGER, "N",                                                               \
       "0",     0, 1e9,         "most steps a trajectory (0: the horizon, or 1000)"},              \
      {"replications", 0, CLI_INTEGER, "N", replications, 1, 1e6, "simulated logs"},               \
      {"seed", 0, CLI_INTEGER, "SEED", "1", 0, 9e18, "seed"},                                      \
      {"threads", 0, CLI_INTEGER, "N", NULL, 1, 1024, "threads (default: the processors)"},        \
      {"chains", 0, CLI_INTEGER, "N", "2", 1, 1000, "chains of each fit"},                         \
      {"draws", 0, CLI_INTEGER, "N", "500", 50, 1e9, "draws of each chain, before extensions"},    \
      {"warmup", 0, CLI_INTEGER, "N", "300", 0, 1e9, "warm-up of each chain"},                     \
      {"sampler", 0, CLI_TEXT, "NAME", NULL, 0, 0, "metropolis, nuts or slice"},                   \
      {"free", 0, CLI_TEXT, "BLOCKS", NULL, 0, 0, "what to infer instead of the file's `free`"},   \
      {"output", 'o',                                                                              \
       CLI_TEXT, "FOLDER",                                                                         \
       NULL,     0,                                                                                \
       0,        "folder for the results; the same command goes on where it stopped"},             \
      CLI_SET_OPTION, CLI_JSON_OPTION, CLI_END

static const cli_option recover_options[] = {CALIBRATION_OPTIONS("100")};
static const cli_option sbc_options[] = {CALIBRATION_OPTIONS("500")};

const cli_command cli_recover = {
    "recover",
    "PROBLEM",
    1,
    1,
    "See whether a log of this size answers the question",
    "Draws agents from the prior, simulates a log of each, fits it, and reports how often the 90 "
    "%\n"
    "interval covers the truth, the bias, the error, and the correlation with the truth.",
    recover_options,
    run_recover,
};

const cli_command cli_sbc = {
    "sbc",
    "PROBLEM",
    1,
    1,
    "Simulation-based calibration of the whole program",
    "The same as recover, but ranks the truth among the draws: for a sound program the ranks are\n"
    "uniform. Exit code 1 where a chi-square test over 20 bins says they are not (p < .001).",
    sbc_options,
    run_sbc,
};
