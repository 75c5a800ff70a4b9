/* Tests replications stored in a folder (stop, resume, refuse, read) through the public functions,
 * against replications in memory. */
#include "io/run/run_support.h"

static idm_problem *make_problem(void)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = 5;
  check(idm_problem_set_free(problem, "{beta: {scale: inverse, prior: {normal: [0.5, 0.5]}}}",
                             &support_error));
  return problem;
}

static idm_calibration *make(const idm_problem *problem, size_t replications, uint64_t seed)
{
  idm_calibration_settings settings;
  idm_calibration *c;
  idm_calibration_settings_default(&settings);
  settings.replications = replications;
  settings.trajectories = 10;
  settings.seed = seed;
  settings.threads = 2;
  settings.fit.draws = 400;
  settings.fit.warmup = 100;
  check(idm_calibration_create(problem, &settings, &c, &support_error));
  return c;
}

static char *text_of(const folder *f, const char *file)
{
  char path[128], *text;
  size_t length;
  snprintf(path, sizeof path, "%s/%s", f->path, file);
  check(idm_file_read(path, 1 << 20, &text, &length, &support_error));
  return text;
}

static void put(const folder *f, const char *text, size_t length)
{
  char path[128];
  snprintf(path, sizeof path, "%s/replications.jsonl", f->path);
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  assert_int_equal(fwrite(text, 1, length, stream), length);
  assert_int_equal(fclose(stream), 0);
}

static bool stop(void *context, const idm_progress_state *work)
{
  char words[96];
  assert_non_null(strstr(idm_progress_describe(work, words, sizeof words), " of 4 fits"));
  return *(const bool *)context;
}

/* Stored replications are read back bit for bit and are not repeated. */
static void test_going_on(void **state)
{
  const folder *f = *state;
  idm_problem *problem = make_problem();
  idm_calibration *whole = make(problem, 4, 5), *again = make(problem, 4, 5);
  bool wish = false;
  check(idm_replications_run(whole, NULL, stop, &wish, &support_error));
  assert_int_equal(entries(f, 0), 0);
  check(idm_replications_run(again, f->path, stop, &wish, &support_error));
  assert_int_equal(entries(f, 0), 2);
  char *text = text_of(f, "replications.jsonl");
  /* The label and two replications. */
  const char *cut = text;
  for (int i = 0; i < 3; i++) cut = strchr(cut, '\n') + 1;
  put(f, text, (size_t)(cut - text));
  idm_calibration_destroy(again);
  again = make(problem, 4, 5);
  check(idm_replications_run(again, f->path, NULL, NULL, &support_error));
  for (size_t i = 0; i < 8; i++) {
    assert_true(whole->recovery[i].truth == again->recovery[i].truth);
    assert_true(whole->recovery[i].mean == again->recovery[i].mean);
    assert_int_equal(whole->recovery[i].rank, again->recovery[i].rank);
  }
  char *second = text_of(f, "replications.jsonl");
  assert_string_equal(text, second);
  /* A campaign of fewer replications is a part of this one; a campaign with another seed is
   * refused. */
  idm_calibration *shorter = make(problem, 2, 5), *other = make(problem, 4, 6);
  idm_error error = {0};
  check(idm_replications_run(shorter, f->path, NULL, NULL, &support_error));
  assert_true(shorter->recovery[0].mean == whole->recovery[0].mean);
  char *config = text_of(f, "config.yaml");
  assert_int_equal(idm_replications_run(other, f->path, NULL, NULL, &error), IDM_INPUT);
  assert_int_equal(error.line, 1);
  assert_non_null(strstr(error.message, "another request"));
  char *kept = text_of(f, "config.yaml");
  assert_string_equal(config, kept);
  free(kept);
  free(config);
  free(second);
  free(text);
  idm_calibration_destroy(other);
  idm_calibration_destroy(shorter);
  idm_calibration_destroy(again);
  idm_calibration_destroy(whole);
  idm_problem_destroy(problem);
}

static void test_stopping(void **state)
{
  const folder *f = *state;
  idm_problem *problem = make_problem();
  idm_calibration *c = make(problem, 4, 5);
  c->settings.threads = 1;
  bool wish = true;
  idm_error error = {0};
  const idm_status status = idm_replications_run(c, f->path, stop, &wish, &error);
  assert_true(idm_calibration_done(c) < 4);
  assert_int_equal(status, IDM_UNTRUSTED);
  assert_non_null(strstr(error.message, "continue with the same command"));
  wish = false;
  check(idm_replications_run(c, f->path, stop, &wish, &support_error));
  assert_int_equal(idm_calibration_done(c), 4);
  idm_calibration_destroy(c);
  idm_problem_destroy(problem);
}

static void test_refusals(void **state)
{
  const folder *f = *state;
  static const char *const lines[] = {"garbage", "{\"replication\": \"x\"}", "{\"replication\": 0}",
                                      "{\"replication\": 0, \"inverse_beta\": 1}",
                                      "{\"replication\": 0, \"inverse_beta\": [1,2,3,4,5,100]}"};
  idm_problem *problem = make_problem();
  idm_calibration *c = make(problem, 1, 5);
  idm_error error = {0};
  char path[128];
  check(idm_replications_run(c, f->path, NULL, NULL, &support_error));
  char *text = text_of(f, "replications.jsonl");
  const int first = (int)strcspn(text, "\n");
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    char bad[256];
    c->done[0] = false;
    put(f, bad, (size_t)snprintf(bad, sizeof bad, "%.*s\n%s\n", first, text, lines[i]));
    assert_int_equal(idm_replications_run(c, f->path, NULL, NULL, &error), IDM_INPUT);
    assert_int_equal(error.line, 2);
  }
  put(f, "", 0);
  check(idm_replications_run(c, f->path, NULL, NULL, &support_error));
  snprintf(path, sizeof path, "%s/run.nc", f->path);
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  assert_int_equal(fclose(stream), 0);
  assert_int_equal(idm_replications_run(c, f->path, NULL, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_replications_run(c, "no/such/folder", NULL, NULL, &error), IDM_SYSTEM);
  free(text);
  idm_calibration_destroy(c);
  idm_problem_destroy(problem);
}

/* An infinite R-hat is infinite when it is read back. */
static void test_infinite_rhat(void **state)
{
  const folder *f = *state;
  idm_problem *problem = make_problem();
  idm_calibration *c = make(problem, 1, 5), *again = make(problem, 1, 5);
  check(idm_replications_run(c, f->path, NULL, NULL, &support_error));
  char *text = text_of(f, "replications.jsonl");
  char changed[4000];
  int before = 0, after = 0; /* bytes before and after the number */
  sscanf(text, "%*[^\n]\n{\"replication\":0,\"r_hat\":%n%*[^,]%n", &before, &after);
  assert_true(after > before && before > 0);
  const int length = snprintf(changed, sizeof changed, "%.*s\"inf\"%s", before, text, text + after);
  assert_true(length > 0 && (size_t)length < sizeof changed);
  put(f, changed, (size_t)length);
  check(idm_replications_run(again, f->path, NULL, NULL, &support_error));
  assert_true(isinf(again->rhat[0]) && again->done[0]);
  assert_true(isinf(idm_calibration_rhat(again)));
  free(text);
  idm_calibration_destroy(again);
  idm_calibration_destroy(c);
  idm_problem_destroy(problem);
}

/* A folder with foreign files, config.yaml in particular, is left unchanged. */
static void test_strangers(void **state)
{
  const folder *f = *state;
  idm_problem *problem = make_problem();
  idm_calibration *c = make(problem, 1, 5);
  idm_error error = {0};
  char path[128];
  snprintf(path, sizeof path, "%s/config.yaml", f->path);
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  fputs("mine", stream);
  assert_int_equal(fclose(stream), 0);
  assert_int_equal(idm_replications_run(c, f->path, NULL, NULL, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "config.yaml"));
  assert_int_equal(entries(f, 0), 1);
  char *text = text_of(f, "config.yaml");
  assert_string_equal(text, "mine");
  free(text);
  idm_calibration_destroy(c);
  idm_problem_destroy(problem);
}

/* Reads a folder without its problem: results are equal bit for bit, and missing replications are
 * not marked as done. */
static void test_reading(void **state)
{
  const folder *f = *state;
  idm_problem *problem = make_problem();
  idm_calibration *c = make(problem, 4, 5), *back;
  idm_error error = {0};
  assert_false(idm_replications_is(f->path));
  assert_int_equal(idm_replications_read(f->path, &back, &error), IDM_INPUT);
  check(idm_replications_run(c, f->path, NULL, NULL, &support_error));
  assert_true(idm_replications_is(f->path));
  char *text = text_of(f, "replications.jsonl"), *line[5];
  line[0] = text;
  for (int i = 1; i < 5; i++) line[i] = strchr(line[i - 1], '\n') + 1;
  char part[8000];
  const int length = snprintf(part, sizeof part, "%.*s%.*s", (int)(line[2] - line[0]), line[0],
                              (int)(line[4] - line[3]), line[3]);
  put(f, part, (size_t)length);
  check(idm_replications_read(f->path, &back, &support_error));
  assert_int_equal(back->settings.replications, 3);
  assert_int_equal(idm_calibration_done(back), 2);
  assert_false(back->done[1]);
  assert_int_equal(back->quantity.count, 2);
  for (size_t q = 0; q < 2; q++) assert_string_equal(back->quantity.name[q], c->quantity.name[q]);
  for (size_t i = 0; i < 6; i++)
    if (back->done[i / 2]) {
      assert_true(back->recovery[i].truth == c->recovery[i].truth);
      assert_true(back->recovery[i].mean == c->recovery[i].mean);
      assert_int_equal(back->recovery[i].rank, c->recovery[i].rank);
    }
  assert_true(back->rhat[2] == c->rhat[2] && back->draws[2] == c->draws[2]);
  idm_calibration_destroy(back);
  /* A folder without completed replications is read; invalid lines are refused. */
  put(f, text, (size_t)(line[1] - text));
  check(idm_replications_read(f->path, &back, &support_error));
  assert_int_equal(idm_calibration_done(back), 0);
  idm_calibration_destroy(back);
  static const char *const lines[] = {"garbage", "{\"replication\": -1}",
                                      "{\"replication\": 1000000000000}", "{\"replication\": 0}",
                                      "{\"replication\": 0, \"r_hat\": 1, \"a\": {}}"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    put(f, part,
        (size_t)snprintf(part, sizeof part, "%.*s%s\n", (int)(line[1] - text), text, lines[i]));
    assert_int_equal(idm_replications_read(f->path, &back, &error), IDM_INPUT);
    assert_null(back);
    assert_int_equal(error.line, 2);
  }
  free(text);
  idm_calibration_destroy(c);
  idm_problem_destroy(problem);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_going_on),      IN_FOLDER(test_stopping),  IN_FOLDER(test_refusals),
      IN_FOLDER(test_infinite_rhat), IN_FOLDER(test_strangers), IN_FOLDER(test_reading),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
