/* Tests the life cycle of a run through the public functions: interrupted, killed and resumed runs
 * are compared byte by byte with undisturbed ones, and refused requests leave folders unchanged. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "invert/assess/uncertain_support.h"
#include "io/run/run_support.h"

/* --- support -------------------------------------------------------------------------------- */

/* The objects of a host program: a problem, a log in a file, a request. */
typedef struct host {
  const folder *f;
  idm_problem *problem;
  idm_data *data;
  idm_request request;
  char log[96];
} host;

static const char *in(const host *h, const char *name)
{
  static char paths[4][128];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", h->f->path, name);
  return path;
}

/* Writes the log to a file and makes a request for it. */
static void file_log(host *h)
{
  snprintf(h->log, sizeof h->log, "%s/log.csv", h->f->path);
  check(idm_data_write_csv(h->data, h->problem, h->log, &support_error));
  idm_request_default(&h->request);
  check(idm_request_set_inputs(&h->request, "example:diag", h->log, &support_error));
}

static host open_host(const folder *f, long draws, long thin)
{
  host h = {.f = f, .problem = support_diag(0.5, 1.25, 0.3)};
  h.problem->agent.resolution = 15;
  check(idm_problem_set_free(h.problem, "beta", &support_error));
  const idm_simulation simulation = {.trajectories = 40, .seed = 1};
  h.data = support_simulate(h.problem, simulation);
  file_log(&h);
  idm_data_destroy(h.data);
  check(idm_data_read_csv(h.log, h.problem, NULL, &h.data, NULL, &support_error));
  h.request.settings.chains = 2;
  h.request.settings.draws = draws;
  h.request.settings.warmup = 30;
  h.request.settings.thin = thin;
  h.request.settings.threads = 2;
  h.request.settings.keep = IDM_KEEP_NOTHING;
  return h;
}

/* Removes a subfolder of the test's folder with its contents. */
static void remove_run(const host *h, const char *name)
{
  folder inner = {0};
  snprintf(inner.path, sizeof inner.path, "%.40s/%.20s", h->f->path, name);
  entries(&inner, 1);
  assert_int_equal(rmdir(inner.path), 0);
}

static void close_host(host *h)
{
  idm_data_destroy(h->data);
  idm_problem_destroy(h->problem);
}

static bool has(const char *run, const char *file)
{
  char path[256];
  struct stat info;
  snprintf(path, sizeof path, "%s/%s", run, file);
  return stat(path, &info) == 0;
}

static void same_file(const char *a, const char *b, const char *file)
{
  char path[256], *x, *y;
  size_t n, m;
  snprintf(path, sizeof path, "%s/%s", a, file);
  check(idm_file_read(path, 1 << 26, &x, &n, &support_error));
  snprintf(path, sizeof path, "%s/%s", b, file);
  check(idm_file_read(path, 1 << 26, &y, &m, &support_error));
  assert_int_equal(n, m);
  assert_memory_equal(x, y, n);
  free(x);
  free(y);
}

static void put(const char *run, const char *file, const char *text)
{
  char path[256];
  snprintf(path, sizeof path, "%s/%s", run, file);
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  fputs(text, stream);
  assert_int_equal(fclose(stream), 0);
}

/* Stops once this fraction of the work is done. */
typedef struct stopper {
  double after;
  int calls;
  bool stopped;
} stopper;

static bool stop(void *context, const idm_progress_state *work)
{
  stopper *s = context;
  s->calls++;
  s->stopped = s->stopped || (work->done >= s->after && work->done < 1);
  return s->stopped;
}

static idm_status fit(const host *h, const char *run, idm_run_mode mode, stopper *opt_stopper,
                      idm_run *found, idm_error *error)
{
  return idm_run_fit(run, mode, h->problem, h->data, &h->request, opt_stopper ? stop : NULL,
                     opt_stopper, found, NULL, error);
}

/* --- fitting -------------------------------------------------------------------------------- */

static void test_fit_and_read(void **state)
{
  host h = open_host(*state, 60, 0);
  const char *run = in(&h, "run");
  idm_run found;
  stopper s = {.after = 2};
  h.request.stan = true;
  check(fit(&h, run, IDM_RUN_NEW, &s, &found, &support_error));
  assert_false(found.stopped);
  assert_true(s.calls > 0);
  assert_int_equal(found.posterior->draws, 60);
  assert_true(found.assessment->identified && found.projection.decisions > 0);
  static const char *const files[] = {"config.yaml", "run.nc", "summary.json", "chain-1.csv",
                                      "chain-2.csv"};
  for (size_t i = 0; i < 5; i++) assert_true(has(run, files[i]));
  assert_true(idm_run_is(run) && idm_run_complete(run));

  idm_problem *problem;
  idm_request request;
  idm_posterior *posterior;
  idm_assessment *assessment;
  char difference[400];
  check(idm_run_read(run, &problem, &request, &posterior, NULL, &support_error));
  assert_true(idm_problem_compare(problem, h.problem, 0, difference, sizeof difference));
  assert_true(posterior->request == idm_request_label(h.problem, &h.request));
  assert_memory_equal(posterior->value, found.posterior->value, 120 * sizeof(double));
  for (const idm_key *key = idm_request_keys(); key->name; key++)
    assert_true(idm_key_same(key, &request, &h.request, 0));
  check(idm_run_assess(run, posterior, &assessment, &support_error));
  assert_int_equal(assessment->trusted, found.assessment->trusted);
  assert_int_equal(assessment->failures.count, found.assessment->failures.count);
  assert_int_equal(assessment->remarks.count, found.assessment->remarks.count);
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  idm_problem_destroy(problem);
  idm_run_clear(&found);

  /* Overwriting requires IDM_RUN_OVERWRITE and removes all files of the first run. */
  idm_error error = {0};
  assert_int_equal(fit(&h, run, IDM_RUN_NEW, NULL, &found, &error), IDM_USAGE);
  assert_true(has(run, "chain-1.csv"));
  h.request.stan = false;
  check(fit(&h, run, IDM_RUN_OVERWRITE, NULL, &found, &support_error));
  assert_false(has(run, "chain-1.csv"));
  idm_run_clear(&found);
  remove_run(&h, "run");
  close_host(&h);
}

/* A run that is stopped twice and resumed has the same bytes as an uninterrupted run. */
static void check_stop_and_resume(const folder *f, int resolution)
{
  host h = open_host(f, 1500, 20);
  h.problem->agent.resolution = resolution;
  const char *whole = in(&h, "whole"), *part = in(&h, "part");
  static const double shares[] = {0, 0.3};
  idm_run found;
  check(fit(&h, whole, IDM_RUN_NEW, NULL, &found, &support_error));
  idm_run_clear(&found);
  for (size_t i = 0; i < 2; i++) {
    idm_error error = {0};
    stopper s = {.after = shares[i]};
    const idm_status status = fit(&h, part, i ? IDM_RUN_RESUME : IDM_RUN_NEW, &s, &found, &error);
    assert_true(s.stopped && found.stopped);
    assert_int_equal(status, IDM_UNTRUSTED);
    assert_true(has(part, "checkpoint"));
    assert_int_equal(has(part, "run.nc"), found.posterior != NULL);
    assert_non_null(strstr(error.message, "continue with"));
    if (found.assessment) assert_false(found.assessment->trusted);
    idm_run_clear(&found);
  }
  idm_problem *problem;
  check(idm_run_read_unfinished(part, &problem, &h.request, NULL, &support_error));
  check(idm_request_set_log(&h.request, NULL, &support_error));
  idm_problem_destroy(h.problem);
  h.problem = problem;
  check(fit(&h, part, IDM_RUN_RESUME, NULL, &found, &support_error));
  assert_true(idm_run_complete(part));
  same_file(whole, part, "run.nc");
  same_file(whole, part, "summary.json");
  same_file(whole, part, "config.yaml");
  idm_run_clear(&found);
  remove_run(&h, "whole");
  remove_run(&h, "part");
  close_host(&h);
}

static void test_stop_and_resume(void **state)
{
  check_stop_and_resume(*state, 15);
}

/* The automatic resolution is chosen again and is the same. */
static void test_stop_and_resume_under_auto(void **state)
{
  check_stop_and_resume(*state, 0);
}

/* A run with automatic resolution is planned on the lattice that it was fitted on; its request
 * stays automatic. */
static void test_resolution_of_a_run(void **state)
{
  host h = open_host(*state, 60, 0);
  const char *run = in(&h, "run");
  idm_run found;
  idm_problem *problem;
  idm_posterior *posterior;
  h.problem->agent.resolution = 0;
  check(fit(&h, run, IDM_RUN_NEW, NULL, &found, &support_error));
  assert_true(found.assessment->refinement.steps > 0);
  assert_int_equal(found.posterior->resolution, found.assessment->refinement.resolution);
  assert_true(found.posterior->resolution >= 99);
  check(idm_run_read(run, &problem, NULL, &posterior, NULL, &support_error));
  assert_int_equal(posterior->resolution, found.posterior->resolution);
  assert_int_equal(problem->agent.resolution, posterior->resolution);
  idm_problem_destroy(problem);
  check(idm_run_read(run, &problem, NULL, NULL, NULL, &support_error));
  assert_int_equal(problem->agent.resolution, 0);
  idm_problem_destroy(problem);
  idm_posterior_destroy(posterior);
  idm_run_clear(&found);
  remove_run(&h, "run");
  close_host(&h);
}

/* --- looking at the draws ------------------------------------------------------------------- */

/* Stops the checks before one of their parts, but not the draws. */
typedef struct late {
  int parts;
  idm_problem *opt_broken; /* receives a utility that no planner can use, once all draws are made */
} late;

static bool stop_late(void *context, const idm_progress_state *work)
{
  late *l = context;
  if (work->save && work->done >= 1 && l->opt_broken)
    l->opt_broken->theta->block[IDM_UTILITY].value[0] = 1e308;
  return !work->save && !l->opt_broken && l->parts-- <= 0;
}

static void test_stop_while_looking(void **state)
{
  host h = open_host(*state, 60, 0);
  const char *whole = in(&h, "whole"), *part = in(&h, "part");
  idm_run found;
  check(fit(&h, whole, IDM_RUN_NEW, NULL, &found, &support_error));
  idm_run_clear(&found);
  for (int parts = 0; parts < 3; parts++) {
    idm_error error = {0};
    late l = {.parts = parts};
    assert_int_equal(idm_run_fit(part, parts ? IDM_RUN_RESUME : IDM_RUN_NEW, h.problem, h.data,
                                 &h.request, stop_late, &l, &found, NULL, &error),
                     IDM_UNTRUSTED);
    assert_true(found.stopped && !found.assessment->trusted);
    assert_int_equal(found.posterior->draws, 60);
    assert_non_null(strstr(error.message, "--resume"));
    same_file(whole, part, "run.nc");
    assert_true(has(part, "checkpoint") && !idm_run_complete(part));
    idm_run_clear(&found);
  }
  check(fit(&h, part, IDM_RUN_RESUME, NULL, &found, &support_error));
  assert_true(idm_run_complete(part));
  same_file(whole, part, "run.nc");
  same_file(whole, part, "summary.json");
  idm_run_clear(&found);
  remove_run(&h, "whole");
  remove_run(&h, "part");
  close_host(&h);
}

/* Stops in the draws that are repeated after the checks of the first ones. */
typedef struct second {
  bool evaluated, stopped;
} second;

static bool stop_second(void *context, const idm_progress_state *work)
{
  second *s = context;
  char words[80];
  s->evaluated = s->evaluated ||
                 strstr(idm_progress_describe(work, words, sizeof words), "checking the answer");
  s->stopped = s->stopped || (s->evaluated && work->save && work->done > 0.4);
  return s->stopped;
}

/* If the draws differ from the importance sample by more than its Monte Carlo error allows, they
 * are repeated with more steps. A run stopped in the repeated draws resumes to the same bytes. */
static void test_draws_made_again(void **state)
{
  host h = {.f = *state};
  idm_fit_settings settings;
  uncertain_learner(&h.problem, &h.data, &settings);
  file_log(&h);
  h.request.settings = settings;
  const char *whole = in(&h, "whole"), *part = in(&h, "part");
  idm_run found;
  idm_notes notes = {0};
  idm_error error = {0};
  second s = {0};
  check(idm_run_fit(whole, IDM_RUN_NEW, h.problem, h.data, &h.request, NULL, NULL, &found, &notes,
                    &support_error));
  assert_true(found.posterior->steps > 2);
  assert_int_equal(found.assessment->checks.of[IDM_CHECK_IMPORTANCE].outcome, IDM_CHECK_PASSED);
  assert_true(support_mentions(&notes, "the chains were run again with"));
  idm_run_clear(&found);
  assert_int_equal(idm_run_fit(part, IDM_RUN_NEW, h.problem, h.data, &h.request, stop_second, &s,
                               &found, NULL, &error),
                   IDM_UNTRUSTED);
  assert_true(s.stopped && found.stopped && has(part, "checkpoint"));
  idm_run_clear(&found);
  check(fit(&h, part, IDM_RUN_RESUME, NULL, &found, &support_error));
  same_file(whole, part, "run.nc");
  same_file(whole, part, "summary.json");
  idm_run_clear(&found);
  idm_notes_clear(&notes);
  remove_run(&h, "whole");
  remove_run(&h, "part");
  close_host(&h);
}

/* A numerical failure after the draws: the draws are kept and not trusted. */
static void test_failure_while_looking(void **state)
{
  host h = open_host(*state, 60, 0);
  const char *run = in(&h, "run");
  idm_run found;
  idm_posterior *posterior;
  idm_assessment *assessment;
  late l = {.opt_broken = h.problem};
  check(idm_run_fit(run, IDM_RUN_NEW, h.problem, h.data, &h.request, stop_late, &l, &found, NULL,
                    &support_error));
  assert_false(found.stopped || found.assessment->trusted);
  assert_true(idm_run_complete(run));
  check(idm_run_read(run, NULL, NULL, &posterior, NULL, &support_error));
  assert_int_equal(posterior->draws, 60);
  check(idm_run_assess(run, posterior, &assessment, &support_error));
  assert_false(assessment->trusted);
  const idm_notes *failures = &assessment->failures;
  assert_non_null(
      strstr(failures->text[failures->count - 1], "the checks that read the log failed"));
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  idm_run_clear(&found);
  remove_run(&h, "run");
  close_host(&h);
}

/* --- overwriting ---------------------------------------------------------------------------- */

/* Returns the seed of the run in a folder. */
static uint64_t seed_of(const char *run)
{
  idm_posterior *posterior;
  idm_assessment *assessment;
  check(idm_run_read(run, NULL, NULL, &posterior, NULL, &support_error));
  check(idm_run_assess(run, posterior, &assessment, &support_error));
  const uint64_t seed = posterior->seed;
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  return seed;
}

/* After a stopped, failed or impossible request to overwrite, the old run remains; after --resume
 * the new one replaces it. */
static void test_overwrite(void **state)
{
  host h = open_host(*state, 60, 0);
  const char *run = in(&h, "run"), *fresh = in(&h, "fresh");
  idm_error error = {0};
  idm_run found;
  late l = {0};
  const idm_request old = h.request;
  check(fit(&h, run, IDM_RUN_NEW, NULL, &found, &support_error));
  idm_run_clear(&found);
  put(run, "notes.txt", "mine");
  h.request.settings.draws = 1000000000;
  h.request.settings.chains = 1000;
  assert_int_not_equal(fit(&h, run, IDM_RUN_OVERWRITE, NULL, &found, &error), IDM_OK);
  assert_true(idm_run_complete(run));
  h.request = old;
  h.request.settings.seed = 2;
  check(fit(&h, fresh, IDM_RUN_NEW, NULL, &found, &support_error));
  idm_run_clear(&found);
  assert_int_equal(idm_run_fit(run, IDM_RUN_OVERWRITE, h.problem, h.data, &h.request, stop_late, &l,
                               &found, NULL, &error),
                   IDM_UNTRUSTED);
  assert_non_null(strstr(error.message, "is unchanged"));
  idm_run_clear(&found);
  assert_int_equal(seed_of(run), old.settings.seed);
  assert_false(idm_run_complete(run));
  assert_int_equal(fit(&h, run, IDM_RUN_NEW, NULL, &found, &error), IDM_USAGE);
  idm_problem *problem;
  idm_request request;
  check(idm_run_read_unfinished(run, &problem, &request, NULL, &support_error));
  assert_int_equal(request.settings.seed, 2);
  idm_problem_destroy(problem);
  check(fit(&h, run, IDM_RUN_RESUME, NULL, &found, &support_error));
  idm_run_clear(&found);
  assert_int_equal(seed_of(run), 2);
  same_file(run, fresh, "run.nc");
  same_file(run, fresh, "summary.json");
  assert_true(has(run, "notes.txt") && idm_run_complete(run));
  remove_run(&h, "fresh");
  remove_run(&h, "run");
  close_host(&h);
}

/* After a kill at any time the folder contains the old or the new run complete, and can be
 * overwritten or resumed. */
static void test_kills(void **state)
{
  host h = open_host(*state, 60, 0);
  const char *run = in(&h, "run");
  enum { attempts = 12 };
  idm_run found;
  struct timespec begun, ended;
  uint64_t seed = h.request.settings.seed;
  int killed = 0;
  h.request.settings.threads = 1;
  clock_gettime(CLOCK_MONOTONIC, &begun);
  check(fit(&h, run, IDM_RUN_NEW, NULL, &found, &support_error));
  clock_gettime(CLOCK_MONOTONIC, &ended);
  idm_run_clear(&found);
  const double seconds =
      (double)(ended.tv_sec - begun.tv_sec) + 1e-9 * (double)(ended.tv_nsec - begun.tv_nsec);
  for (int i = 0; i < attempts; i++) {
    h.request.settings.seed = seed + 1;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(fit(&h, run, IDM_RUN_OVERWRITE, NULL, &found, NULL) != IDM_OK);
    /* Kills are spread over the duration of a fit. */
    const double delay = seconds * (i + 0.5) / attempts;
    const struct timespec wait = {.tv_sec = (time_t)delay,
                                  .tv_nsec = (long)(1e9 * (delay - floor(delay)))};
    int ending;
    nanosleep(&wait, NULL);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &ending, 0), child);
    killed += WIFSIGNALED(ending) && WTERMSIG(ending) == SIGKILL;
    const uint64_t left = seed_of(run);
    assert_true(left == seed || left == seed + 1);
    seed = left;
  }
  assert_true(killed > 0);
  /* Files left by the last kill do not prevent a new run. */
  h.request.settings.seed = seed + 1;
  check(fit(&h, run, IDM_RUN_OVERWRITE, NULL, &found, &support_error));
  idm_run_clear(&found);
  assert_int_equal(seed_of(run), seed + 1);
  for (size_t i = 0; i < 3; i++) {
    static const char *const files[] = {"config.yaml", "run.nc", "summary.json"};
    assert_true(has(run, files[i]));
  }
  folder inner = {0};
  snprintf(inner.path, sizeof inner.path, "%.60s", run);
  assert_int_equal(entries(&inner, 0), 3);
  remove_run(&h, "run");
  close_host(&h);
}

/* --- refusals ------------------------------------------------------------------------------- */

static void test_failures_leave_nothing(void **state)
{
  host h = open_host(*state, 20, 0);
  const char *run = in(&h, "run");
  idm_error error = {0};
  idm_run found;
  const idm_request good = h.request;
  snprintf(h.request.inverse, sizeof h.request.inverse, "nobody");
  assert_int_equal(fit(&h, run, IDM_RUN_NEW, NULL, &found, &error), IDM_USAGE);
  h.request = good;
  snprintf(h.request.settings.sampler, sizeof h.request.settings.sampler, "nobody");
  assert_int_equal(fit(&h, run, IDM_RUN_NEW, NULL, &found, &error), IDM_USAGE);
  assert_false(idm_run_is(run));
  h.request = good;
  assert_int_equal(fit(&h, run, IDM_RUN_RESUME, NULL, &found, &error), IDM_USAGE);
  /* The fit fails after the folder has been created: the draws exceed any memory. */
  h.request.settings.draws = 1000000000;
  h.request.settings.chains = 1000;
  assert_int_not_equal(fit(&h, run, IDM_RUN_NEW, NULL, &found, &error), IDM_OK);
  assert_false(idm_run_is(run));
  close_host(&h);
}

/* An input file is not overwritten, whatever its path. */
static void test_inputs(void **state)
{
  host h = open_host(*state, 20, 0);
  const char *run = in(&h, "run");
  idm_error error = {0};
  idm_run found;
  check(fit(&h, run, IDM_RUN_NEW, NULL, &found, &support_error));
  idm_run_clear(&found);
  snprintf(h.request.problem, sizeof h.request.problem, "%s/../run/config.yaml", run);
  assert_int_equal(fit(&h, run, IDM_RUN_OVERWRITE, NULL, &found, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "config.yaml"));
  assert_true(idm_run_complete(run));
  remove_run(&h, "run");
  close_host(&h);
}

/* A log named by the request must be unchanged; another file can replace it. */
static void test_logs_that_change(void **state)
{
  host h = open_host(*state, 20, 0);
  idm_error error = {0};
  idm_request request = h.request;
  char link[128], other[128];
  snprintf(link, sizeof link, "%s/link.csv", h.f->path);
  snprintf(other, sizeof other, "%s/other.csv", h.f->path);
  assert_int_equal(symlink("log.csv", link), 0);
  check(idm_request_set_inputs(&request, "example:diag", NULL, &support_error));
  check(idm_request_set_inputs(&request, "example:diag", link, &support_error));
  FILE *stream = fopen(h.log, "ab");
  assert_non_null(stream);
  fputs("1,999,1,declare_healthy,\n", stream);
  assert_int_equal(fclose(stream), 0);
  check(idm_data_write_csv(h.data, h.problem, other, &support_error));
  const char *const same[] = {NULL, link, h.log};
  for (size_t i = 0; i < 3; i++) {
    request = h.request;
    assert_int_equal(idm_request_set_inputs(&request, "example:diag", same[i], &error), IDM_INPUT);
    assert_non_null(strstr(error.message, "has changed"));
  }
  assert_int_equal(idm_request_check_log(&h.request, link, &error), IDM_INPUT);
  check(idm_request_check_log(&h.request, other, &support_error));
  request = h.request;
  check(idm_request_set_inputs(&request, "example:diag", other, &support_error));
  assert_string_equal(request.data, other);
  /* A name that config.yaml cannot represent. */
  assert_int_equal(idm_request_set_inputs(&request, "example:diag", "caf\xe9.csv", &error),
                   IDM_USAGE);
  assert_non_null(strstr(error.message, "'caf?.csv' is not UTF-8"));
  assert_int_equal(idm_request_set_inputs(&request, "caf\xe9.yaml", other, &error), IDM_USAGE);
  close_host(&h);
}

static void test_parts_that_do_not_fit(void **state)
{
  host h = open_host(*state, 20, 0);
  const char *run = in(&h, "run");
  idm_error error = {0};
  idm_run found;
  idm_problem *problem;
  idm_posterior *posterior;
  idm_assessment *assessment;
  check(fit(&h, run, IDM_RUN_NEW, NULL, &found, &support_error));
  idm_run_clear(&found);
  /* A summary of another request, and one of another number of draws. */
  check(idm_run_read(run, NULL, NULL, &posterior, NULL, &support_error));
  posterior->request++;
  assert_int_equal(idm_run_assess(run, posterior, &assessment, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "another run"));
  posterior->request--;
  posterior->draws--;
  assert_int_equal(idm_run_assess(run, posterior, &assessment, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "20 draws per chain, and run.nc has 19"));
  posterior->draws++;
  /* A discount that differs from that of the draws: every reader that needs the draws refuses the
   * folder. */
  char config[128];
  snprintf(config, sizeof config, "%s/config.yaml", run);
  support_assign(h.problem, "discount=0.5");
  check(idm_request_write(h.problem, &h.request, config, &support_error));
  idm_posterior *other;
  assert_int_equal(idm_run_read(run, &problem, NULL, &other, NULL, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "do not belong together"));
  assert_true(!problem && !other);
  assert_int_equal(idm_run_read(run, NULL, NULL, &other, NULL, &error), IDM_INPUT);
  assert_null(other);
  check(idm_run_read(run, &problem, NULL, NULL, NULL, &support_error));
  put(run, "summary.json", "{}");
  assert_int_equal(idm_run_assess(run, posterior, &assessment, &error), IDM_INPUT);
  assert_null(assessment);
  idm_posterior_destroy(posterior);
  /* A foreign checkpoint is refused with its path in the error. A log is refused if it differs in
   * its contents or does not exist. */
  put(run, "checkpoint", "garbage");
  assert_false(idm_run_complete(run));
  assert_int_equal(fit(&h, run, IDM_RUN_RESUME, NULL, &found, &error), IDM_INPUT);
  assert_non_null(strstr(error.file, "run/checkpoint"));
  assert_int_equal(idm_request_set_log(&h.request, config, &error), IDM_INPUT);
  assert_int_equal(idm_request_set_log(&h.request, "no/such.csv", &error), IDM_INPUT);
  assert_string_equal(h.request.data, h.log);
  assert_int_equal(idm_run_read(h.log, NULL, NULL, &posterior, NULL, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "is no run"));
  assert_null(posterior);
  idm_problem_destroy(problem);
  remove_run(&h, "run");
  close_host(&h);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_fit_and_read),
      IN_FOLDER(test_stop_and_resume),
      IN_FOLDER(test_stop_and_resume_under_auto),
      IN_FOLDER(test_resolution_of_a_run),
      IN_FOLDER(test_stop_while_looking),
      IN_FOLDER(test_draws_made_again),
      IN_FOLDER(test_failure_while_looking),
      IN_FOLDER(test_overwrite),
      IN_FOLDER(test_kills),
      IN_FOLDER(test_inputs),
      IN_FOLDER(test_logs_that_change),
      IN_FOLDER(test_failures_leave_nothing),
      IN_FOLDER(test_parts_that_do_not_fit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
