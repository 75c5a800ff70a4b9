/* Several chains: identical draws for any number of threads, checkpoints that change nothing, and
 * refused checkpoints. */
#include "infer/chains.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <time.h>

#include "infer/sampler_support.h"

/* --- support -------------------------------------------------------------------------------- */

enum { CHAINS = 4, DIMENSION = 2, WARMUP = 40, DRAWS = 60, LABEL = 77 };

/* The target of one chain, with an optional delay. */
typedef struct slow_target {
  normal_target normal;
  long nanoseconds; /* delay per evaluation */
} slow_target;

typedef struct job {
  slow_target slow[CHAINS];
  idm_target target[CHAINS];
  idm_chains *chains;
} job;

static idm_status slow_evaluate(void *context, const double *x, double *log_density,
                                double *opt_gradient, idm_error *opt_error)
{
  slow_target *t = context;
  struct timespec left = {.tv_nsec = t->nanoseconds};
  while (t->nanoseconds && nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
  return normal_evaluate(&t->normal, x, log_density, opt_gradient, opt_error);
}

/* A sampler for tests that do not depend on it. */
static const idm_sampler *any_sampler(void)
{
  return idm_sampler_at(0);
}

static idm_chains_settings usual_settings(const idm_sampler *sampler, int threads)
{
  idm_chains_settings settings = {
      .sampler = sampler, .chains = CHAINS, .draws = DRAWS, .seed = 5, .threads = threads};
  idm_sampler_settings_default(&settings.kernel);
  settings.kernel.warmup = WARMUP;
  settings.kernel.thin = 2;
  return settings;
}

/* Chains over a correlated normal density, not started. */
static void open_job(job *j, const idm_chains_settings *settings)
{
  memset(j, 0, sizeof *j);
  for (size_t i = 0; i < CHAINS; i++) {
    j->slow[i].normal =
        (normal_target){.n = DIMENSION, .mean = {1, -2}, .sd = {0.5, 3}, .correlation = 0.6};
    j->target[i] = (idm_target){DIMENSION, true, &j->slow[i], slow_evaluate};
  }
  check(idm_chains_create(settings, DIMENSION, &j->chains, &support_error));
}

/* The first two chains start with a guess of centre and covariance, the others without. */
static void start_job(job *j)
{
  static const double centre[DIMENSION] = {0.9, -1.8};
  static const double covariance[DIMENSION * DIMENSION] = {0.3, 0.2, 0.2, 8};
  for (size_t i = 0; i < j->chains->settings.chains; i++) {
    const double x[DIMENSION] = {(double)i / 3, -(double)i};
    check(idm_chains_start(j->chains, i, &j->target[i], x, i < 2 ? centre : NULL,
                           i < 2 ? covariance : NULL, &support_error));
  }
}

static void close_job(job *j)
{
  idm_chains_destroy(j->chains);
}

static void run_job(job *j)
{
  check(idm_chains_run(j->chains, j->target, NULL, NULL, &support_error));
}

static void same_bits(double a, double b, const char *what)
{
  if (memcmp(&a, &b, sizeof a) != 0) fail_msg("%s: %.17g and %.17g", what, a, b);
}

static void same_statistics(const idm_statistics *a, const idm_statistics *b)
{
  same_bits(a->log_density, b->log_density, "log_density");
  same_bits(a->acceptance, b->acceptance, "acceptance");
  same_bits(a->step_size, b->step_size, "step_size");
  same_bits(a->energy, b->energy, "energy");
  assert_int_equal(a->tree_depth, b->tree_depth);
  assert_int_equal(a->evaluations, b->evaluations);
  assert_int_equal(a->diverging, b->diverging);
}

/* Compares draws, statistics, states and random streams. */
static void same_chains(const idm_chains *a, const idm_chains *b)
{
  const size_t draws = a->settings.chains * (size_t)a->settings.draws;
  assert_int_equal(a->numbers, b->numbers);
  for (size_t i = 0; i < a->settings.chains; i++) assert_int_equal(a->done[i], b->done[i]);
  assert_memory_equal(a->draw, b->draw, draws * a->dimension * sizeof *a->draw);
  for (size_t i = 0; i < draws; i++) same_statistics(&a->statistics[i], &b->statistics[i]);
  assert_memory_equal(a->state, b->state, a->settings.chains * a->numbers * sizeof *a->state);
  for (size_t i = 0; i < a->settings.chains; i++) {
    idm_random x = a->random[i], y = b->random[i];
    for (int k = 0; k < 4; k++)
      same_bits(idm_random_uniform(&x), idm_random_uniform(&y), "the stream");
  }
}

/* --- threads -------------------------------------------------------------------------------- */

static void test_threads_change_nothing(void **state)
{
  (void)state;
  for (size_t k = 0; idm_sampler_at(k); k++) {
    job one;
    idm_chains_settings settings = usual_settings(idm_sampler_at(k), 1);
    open_job(&one, &settings);
    start_job(&one);
    run_job(&one);
    assert_int_equal(idm_chains_min_draws(one.chains), DRAWS);
    for (int threads = 2; threads <= 8; threads *= 2) {
      job many;
      settings.threads = threads;
      open_job(&many, &settings);
      start_job(&many);
      run_job(&many);
      same_chains(one.chains, many.chains);
      close_job(&many);
    }
    /* Streams differ between chains. */
    for (size_t i = 1; i < CHAINS; i++)
      assert_memory_not_equal(one.chains->draw, one.chains->draw + i * DRAWS * DIMENSION,
                              DRAWS * DIMENSION * sizeof(double));
    /* A finished run makes no further evaluations. */
    const long evaluations = one.slow[0].normal.evaluations;
    run_job(&one);
    assert_int_equal(one.slow[0].normal.evaluations, evaluations);
    close_job(&one);
  }
}

/* A sampler whose draws are its guess plus noise; its state is one number longer than that of
 * any_sampler, and constant. */
static size_t guess_numbers(size_t dimension)
{
  return any_sampler()->numbers(dimension) + 1;
}

static idm_status guess_start(double *state, const idm_sampler_settings *settings,
                              const idm_target *target, const double *x, idm_random *random,
                              idm_error *opt_error)
{
  (void)settings, (void)x, (void)random, (void)opt_error;
  memset(state, 0, guess_numbers(target->dimension) * sizeof *state);
  return IDM_OK;
}

static idm_status guess_step(double *state, const idm_sampler_settings *settings,
                             const idm_target *target, long iteration, idm_random *random,
                             double *x, idm_statistics *statistics, idm_error *opt_error)
{
  (void)state, (void)iteration, (void)opt_error;
  const size_t n = target->dimension;
  for (size_t i = 0; i < n; i++) {
    x[i] = settings->centre ? settings->centre[i] : 0;
    x[i] += (settings->covariance ? sqrt(settings->covariance[i * n + i]) : 1) *
            idm_random_normal(random);
  }
  *statistics = (idm_statistics){0};
  return IDM_OK;
}

static const idm_sampler guess_sampler = {
    .name = "guess", .numbers = guess_numbers, .start = guess_start, .step = guess_step};

/* A guess affects only the draws of its own chain. */
static void test_guesses(void **state)
{
  (void)state;
  const idm_chains_settings settings = usual_settings(&guess_sampler, 1);
  job with, without;
  open_job(&with, &settings);
  start_job(&with);
  run_job(&with);
  open_job(&without, &settings);
  for (size_t i = 0; i < CHAINS; i++) {
    const double x[DIMENSION] = {(double)i / 3, -(double)i};
    check(idm_chains_start(without.chains, i, &without.target[i], x, NULL, NULL, &support_error));
  }
  run_job(&without);
  for (size_t i = 0; i < CHAINS; i++) {
    const size_t first = i * DRAWS * DIMENSION, size = DRAWS * DIMENSION * sizeof(double);
    const bool same = memcmp(with.chains->draw + first, without.chains->draw + first, size) == 0;
    assert_int_equal(same, i >= 2);
  }
  close_job(&with);
  close_job(&without);
}

/* --- checkpoints ---------------------------------------------------------------------------- */

enum { MOST_SAVED = 12 };

typedef struct saved {
  size_t count;
  char *bytes[MOST_SAVED];
  size_t length[MOST_SAVED];
  bool midway[MOST_SAVED]; /* some chain was unfinished */
  pthread_t thread;
} saved;

static bool save_in_monitor(void *context, const idm_chains *c)
{
  saved *s = context;
  if (!pthread_equal(pthread_self(), s->thread)) fail_msg("the monitor is on another thread");
  if (s->count == MOST_SAVED) free(s->bytes[--s->count]); /* on a slow machine: keep the last one */
  s->midway[s->count] = false;
  check(idm_chains_save(c, LABEL, &s->bytes[s->count], &s->length[s->count], &support_error));
  for (size_t i = 0; i < c->settings.chains; i++)
    if (c->done[i] < c->settings.kernel.warmup + c->settings.draws) s->midway[s->count] = true;
  s->count++;
  return false;
}

/* Loads a checkpoint into new chains and finishes with another number of threads. */
static void finish_from(const idm_chains *whole, const saved *s, size_t at)
{
  job again;
  const idm_chains_settings settings = usual_settings(whole->settings.sampler, 1 + (int)(at % 3));
  open_job(&again, &settings);
  start_job(&again);
  check(idm_chains_load(again.chains, LABEL, s->bytes[at], s->length[at], &support_error));
  run_job(&again);
  same_chains(whole, again.chains);
  close_job(&again);
}

static void check_checkpoints(const idm_sampler *sampler)
{
  job whole, watched;
  idm_chains_settings settings = usual_settings(sampler, 2);
  open_job(&whole, &settings);
  start_job(&whole);
  run_job(&whole);
  open_job(&watched, &settings);
  start_job(&watched);
  /* Slow enough for several calls of the monitor: two chains per thread, a third of a second in
   * all. */
  for (size_t i = 0; i < CHAINS; i++)
    watched.slow[i].nanoseconds = 160000000 / whole.slow[i].normal.evaluations;
  saved s = {.thread = pthread_self()};
  check(idm_chains_run(watched.chains, watched.target, save_in_monitor, &s, &support_error));
  same_chains(whole.chains, watched.chains);
  assert_true(s.count >= 2);
  assert_true(s.midway[0]);
  assert_false(s.midway[s.count - 1]);
  for (size_t i = 0; i < s.count; i++) {
    finish_from(whole.chains, &s, i);
    free(s.bytes[i]);
  }
  close_job(&watched);
  close_job(&whole);
}

static void test_checkpoints_change_nothing(void **state)
{
  (void)state;
  for (size_t k = 0; idm_sampler_at(k); k++) check_checkpoints(idm_sampler_at(k));
}

/* --- refusals ------------------------------------------------------------------------------- */

/* Two chains with few draws, started. */
static void open_small(job *j, const idm_sampler *sampler)
{
  idm_chains_settings settings = usual_settings(sampler, 1);
  settings.chains = 2;
  settings.draws = 5;
  settings.kernel.warmup = 3;
  open_job(j, &settings);
  start_job(j);
}

static uint64_t plain_checksum(const char *bytes, size_t length)
{
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < length; i++) {
    hash ^= (unsigned char)bytes[i];
    hash *= 0x100000001b3u;
  }
  return hash;
}

/* Recompute the checksum after a change. */
static void seal(char *bytes, size_t length)
{
  const uint64_t sum = plain_checksum(bytes, length - sizeof sum);
  memcpy(bytes + length - sizeof sum, &sum, sizeof sum);
}

static void expect_refusal(const char *bytes, size_t length, uint64_t label, const char *words)
{
  job j;
  idm_error error = {0};
  /* A copy of exact size, so that a sanitizer detects reads past the end. */
  char *copy = malloc(length ? length : 1);
  assert_non_null(copy);
  memcpy(copy, bytes, length);
  open_small(&j, any_sampler());
  assert_int_equal(idm_chains_load(j.chains, label, copy, length, &error), IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
  assert_int_equal(error.status, IDM_INPUT);
  assert_int_equal(idm_chains_load(j.chains, label, copy, length, NULL), IDM_INPUT);
  free(copy);
  close_job(&j);
}

static char *small_checkpoint(size_t *length)
{
  job j;
  char *bytes;
  open_small(&j, any_sampler());
  run_job(&j);
  check(idm_chains_save(j.chains, LABEL, &bytes, length, &support_error));
  check(idm_chains_load(j.chains, LABEL, bytes, *length, &support_error));
  close_job(&j);
  return bytes;
}

static void test_damaged_bytes(void **state)
{
  (void)state;
  size_t length;
  char *bytes = small_checkpoint(&length);
  seal(bytes, length);
  for (size_t cut = 0; cut < length; cut++) expect_refusal(bytes, cut, LABEL, "the checkpoint is ");
  for (size_t i = 0; i < length; i++)
    for (int bit = 0; bit < 8; bit += 5) {
      bytes[i] = (char)(bytes[i] ^ (1 << bit));
      expect_refusal(bytes, length, LABEL, i < 8 ? "no checkpoint of this version" : "is damaged");
      bytes[i] = (char)(bytes[i] ^ (1 << bit));
    }
  free(bytes);
}

/* With a valid checksum, the contents are checked. */
static void test_sealed_bytes(void **state)
{
  (void)state;
  enum {
    SHAPE = 64,
    HEADER = SHAPE + sizeof(long)
  }; /* the shape is followed by the steps per draw */
  size_t length;
  char *bytes = small_checkpoint(&length);
  expect_refusal(bytes, length, LABEL + 1, "belongs to another request");
  for (size_t field = 8; field < SHAPE; field += 8) {
    uint64_t number;
    memcpy(&number, bytes + field, sizeof number);
    const uint64_t other = number + 1;
    memcpy(bytes + field, &other, sizeof other);
    seal(bytes, length);
    expect_refusal(bytes, length, LABEL, "belongs to another request");
    memcpy(bytes + field, &number, sizeof number);
  }
  const long steps = 2, none = -1;
  assert_memory_equal(bytes + SHAPE, &steps, sizeof steps);
  memcpy(bytes + SHAPE, &none, sizeof none);
  seal(bytes, length);
  expect_refusal(bytes, length, LABEL, "damaged");
  memcpy(bytes + SHAPE, &steps, sizeof steps);
  static const long impossible[] = {-1, LONG_MIN, 9, LONG_MAX};
  long done;
  memcpy(&done, bytes + HEADER, sizeof done);
  assert_int_equal(done, 8);
  for (size_t i = 0; i < sizeof impossible / sizeof impossible[0]; i++) {
    memcpy(bytes + HEADER, &impossible[i], sizeof impossible[i]);
    seal(bytes, length);
    expect_refusal(bytes, length, LABEL, "damaged");
  }
  /* With too few draws, the rest is read as the next chain. */
  const long fewer = 4;
  memcpy(bytes + HEADER, &fewer, sizeof fewer);
  seal(bytes, length);
  expect_refusal(bytes, length, LABEL, "the checkpoint ");
  memcpy(bytes + HEADER, &done, sizeof done);
  for (size_t cut = HEADER + 8; cut < length; cut++) {
    char *copy = malloc(cut);
    assert_non_null(copy);
    memcpy(copy, bytes, cut);
    seal(copy, cut);
    expect_refusal(copy, cut, LABEL, "is cut short");
    free(copy);
  }
  char *more = calloc(1, length + 40);
  assert_non_null(more);
  memcpy(more, bytes, length - 8);
  for (size_t tail = 1; tail <= 40; tail += 13) {
    seal(more, length + tail);
    expect_refusal(more, length + tail, LABEL, "is longer than expected");
    memset(more + length - 8, 0, 48);
  }
  free(more);
  free(bytes);
}

/* Reading a bool from a byte other than 0 or 1 is undefined. */
static void test_bytes_that_are_no_bool(void **state)
{
  (void)state;
  size_t length;
  char *bytes = small_checkpoint(&length);
  bytes[length - sizeof(uint64_t) - 1] = 2; /* `diverging` of the last draw */
  seal(bytes, length);
  expect_refusal(bytes, length, LABEL, "damaged");
  free(bytes);
}

static void test_other_shapes(void **state)
{
  (void)state;
  size_t length;
  char *bytes = small_checkpoint(&length);
  const idm_sampler *const same = any_sampler();
  const struct {
    const idm_sampler *sampler;
    size_t chains;
    size_t dimension;
    long draws;
    long warmup;
    uint64_t seed;
  } others[] = {{same, 1, 2, 5, 3, 5}, {same, 2, 1, 5, 3, 5}, {same, 2, 2, 6, 3, 5},
                {same, 2, 2, 5, 2, 5}, {same, 2, 2, 5, 3, 6}, {&guess_sampler, 2, 2, 5, 3, 5}};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    idm_chains_settings settings = usual_settings(others[i].sampler, 1);
    settings.chains = others[i].chains;
    settings.draws = others[i].draws;
    settings.seed = others[i].seed;
    settings.kernel.warmup = others[i].warmup;
    idm_chains *chains;
    check(idm_chains_create(&settings, others[i].dimension, &chains, &support_error));
    assert_int_equal(idm_chains_load(chains, LABEL, bytes, length, &support_error), IDM_INPUT);
    assert_non_null(strstr(support_error.message, "belongs to another request"));
    idm_chains_destroy(chains);
  }
  free(bytes);
}

/* --- stops, errors, counts ------------------------------------------------------------------ */

/* Stops at the second call; the first is before the first draw. */
static bool stop_soon(void *context, const idm_chains *chains)
{
  (void)chains;
  return ++*(long *)context > 1;
}

static void test_monitor_stops(void **state)
{
  (void)state;
  const idm_chains_settings settings = usual_settings(any_sampler(), 2);
  job whole, stopped;
  open_job(&whole, &settings);
  start_job(&whole);
  run_job(&whole);
  open_job(&stopped, &settings);
  start_job(&stopped);
  long calls = 1;
  check(idm_chains_run(stopped.chains, stopped.target, stop_soon, &calls, &support_error));
  assert_int_equal(stopped.chains->done[0], 0);
  calls = 0;
  for (size_t i = 0; i < CHAINS; i++)
    stopped.slow[i].nanoseconds = 400000000 / whole.slow[i].normal.evaluations;
  check(idm_chains_run(stopped.chains, stopped.target, stop_soon, &calls, &support_error));
  assert_true(calls >= 3); /* before the first draw, during the run, and at the end */
  assert_true(stopped.chains->done[0] > 0);
  assert_true(stopped.chains->done[0] < WARMUP + DRAWS);
  /* Two threads: the later chains have not started. */
  assert_int_equal(stopped.chains->done[CHAINS - 1], 0);
  assert_int_equal(idm_chains_min_draws(stopped.chains), 0);
  for (size_t i = 0; i < CHAINS; i++) stopped.slow[i].nanoseconds = 0;
  run_job(&stopped);
  same_chains(whole.chains, stopped.chains);
  close_job(&stopped);
  close_job(&whole);
}

static void test_errors_are_passed_on(void **state)
{
  (void)state;
  for (size_t k = 0; idm_sampler_at(k); k++)
    for (int threads = 1; threads <= 2; threads++) {
      const idm_chains_settings settings = usual_settings(idm_sampler_at(k), threads);
      job j;
      idm_error error = {0};
      open_job(&j, &settings);
      start_job(&j);
      j.slow[1].normal.fails_at = j.slow[1].normal.evaluations + 30;
      long calls = 0;
      assert_int_equal(idm_chains_run(j.chains, j.target, NULL, NULL, &error), IDM_NUMERICAL);
      assert_int_equal(error.status, IDM_NUMERICAL);
      assert_non_null(strstr(error.message, "fails"));
      assert_true(j.chains->done[1] < WARMUP + DRAWS);
      /* One thread runs the chains in order: those after the failure never start. */
      if (threads == 1) assert_int_equal(j.chains->done[2], 0);
      j.slow[1].normal.fails_at = j.slow[1].normal.evaluations + 1;
      assert_int_equal(idm_chains_run(j.chains, j.target, stop_soon, &calls, NULL), IDM_NUMERICAL);
      close_job(&j);
    }
}

static void test_start_needs_a_density(void **state)
{
  (void)state;
  for (size_t k = 0; idm_sampler_at(k); k++) {
    const idm_chains_settings settings = usual_settings(idm_sampler_at(k), 1);
    const idm_target half = {1, true, NULL, half_evaluate};
    idm_chains *chains;
    idm_error error = {0};
    check(idm_chains_create(&settings, 1, &chains, &support_error));
    assert_int_not_equal(idm_chains_start(chains, 0, &half, (double[]){-1}, NULL, NULL, &error),
                         IDM_OK);
    assert_true(error.message[0]);
    idm_chains_destroy(chains);
  }
}

static void test_common(void **state)
{
  (void)state;
  const idm_chains_settings settings = usual_settings(any_sampler(), 1);
  job j;
  open_job(&j, &settings);
  assert_int_equal(idm_chains_min_draws(j.chains), 0);
  for (size_t i = 0; i < CHAINS; i++) j.chains->done[i] = WARMUP + 10 + (long)i;
  assert_int_equal(idm_chains_min_draws(j.chains), 10);
  j.chains->done[2] = WARMUP + 3;
  assert_int_equal(idm_chains_min_draws(j.chains), 3);
  j.chains->done[3] = WARMUP - 1;
  assert_int_equal(idm_chains_min_draws(j.chains), 0);
  for (size_t i = 0; i < CHAINS; i++) j.chains->done[i] = WARMUP + DRAWS;
  assert_int_equal(idm_chains_min_draws(j.chains), DRAWS);
  close_job(&j);
}

static void test_create_refuses(void **state)
{
  (void)state;
  idm_chains *chains = (idm_chains *)&chains;
  for (int wrong = 0; wrong < 4; wrong++) {
    idm_chains_settings settings = usual_settings(any_sampler(), 1);
    if (wrong == 0) settings.chains = 0;
    if (wrong == 1) settings.draws = 0;
    if (wrong == 2) settings.kernel.warmup = -1;
    assert_int_equal(idm_chains_create(&settings, wrong == 3 ? 0 : 1, &chains, &support_error),
                     IDM_USAGE);
    assert_null(chains);
  }
  idm_chains_destroy(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_threads_change_nothing),
      cmocka_unit_test(test_guesses),
      cmocka_unit_test(test_checkpoints_change_nothing),
      cmocka_unit_test(test_damaged_bytes),
      cmocka_unit_test(test_sealed_bytes),
      cmocka_unit_test(test_bytes_that_are_no_bool),
      cmocka_unit_test(test_other_shapes),
      cmocka_unit_test(test_monitor_stops),
      cmocka_unit_test(test_errors_are_passed_on),
      cmocka_unit_test(test_start_needs_a_density),
      cmocka_unit_test(test_common),
      cmocka_unit_test(test_create_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
