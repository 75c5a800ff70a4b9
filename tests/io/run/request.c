/* config.yaml: a problem and a request that come back bit for bit, and sections that are refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/run/run_support.h"

/* --- support -------------------------------------------------------------------------------- */

static const char hash_of_nothing[] =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

static idm_problem *parse(const char *text)
{
  idm_problem *problem;
  check(idm_problem_parse_yaml(text, strlen(text), "p.yaml", &problem, NULL, &support_error));
  return problem;
}

static const char *config(const folder *f)
{
  static char path[96];
  snprintf(path, sizeof path, "%s/config.yaml", f->path);
  return path;
}

static void same_request(const idm_request *a, const idm_request *b)
{
  for (const idm_key *key = idm_request_keys(); key->name; key++)
    if (!idm_key_same(key, a, b, 0)) fail_msg("%s is another", key->name);
}

/* Write, read, compare with `expected` (the problem itself, unless it was bound to data). */
static void round_trip(const folder *f, const idm_problem *problem, const idm_problem *expected,
                       const idm_request *request)
{
  idm_problem *again;
  idm_request read;
  idm_notes notes = {0};
  char difference[400];
  memset(&read, 'x', sizeof read);
  check(idm_request_write(problem, request, config(f), &support_error));
  check(idm_request_read(config(f), &again, &read, &notes, &support_error));
  assert_int_equal(notes.count, 0);
  if (!idm_problem_compare(expected, again, 0, difference, sizeof difference))
    fail_msg("%s", difference);
  same_request(request, &read);
  assert_true(idm_request_label(problem, request) == idm_request_label(again, &read));
  assert_int_equal(entries(f, 0), 1);
  /* Writing what was read gives the same bytes. */
  char *text, *second;
  size_t length, second_length;
  check(idm_file_read(config(f), 1 << 24, &text, &length, &support_error));
  check(idm_request_write(again, &read, config(f), &support_error));
  check(idm_file_read(config(f), 1 << 24, &second, &second_length, &support_error));
  assert_int_equal(length, second_length);
  assert_memory_equal(text, second, length);
  free(text);
  free(second);
  idm_problem_destroy(again);
}

static idm_request odd_request(void)
{
  idm_request r;
  idm_request_default(&r);
  strcpy(r.inverse, "map");
  strcpy(r.settings.sampler, "nuts");
  r.settings.chains = 7;
  r.settings.draws = 1000000000;
  r.settings.warmup = 0;
  r.settings.thin = 3;
  r.settings.seed = UINT64_MAX;
  r.settings.keep = IDM_KEEP_DECISION;
  r.settings.prior_draws = 0;
  r.stan = true;
  strcpy(r.data, "a folder/it's: \"odd\" # \xc3\xa9t\xc3\xa9\n- second.csv");
  strcpy(r.data_hash, hash_of_nothing);
  strcpy(r.where, "group=a, b\nblock!=1");
  strcpy(r.preferences, "a folder/p#.csv");
  strcpy(r.preferences_hash, hash_of_nothing);
  strcpy(r.problem, "example:diag");
  strcpy(r.problem_hash, hash_of_nothing);
  return r;
}

/* --- round trips ---------------------------------------------------------------------------- */

static void test_defaults(void **state)
{
  idm_request r;
  memset(&r, 'x', sizeof r);
  idm_request_default(&r);
  assert_string_equal(r.inverse, "bayes");
  assert_string_equal(r.settings.sampler, "");
  assert_int_equal(r.settings.chains, 4);
  assert_false(r.stan || r.data[0] || r.data_hash[0] || r.problem[0] || r.problem_hash[0]);
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  round_trip(*state, problem, problem, &r);
  idm_problem_destroy(problem);
}

static void test_every_example(void **state)
{
  const idm_request r = odd_request();
  for (size_t i = 0; idm_example_name(i); i++) {
    idm_problem *problem = parse(idm_example_text(i));
    round_trip(*state, problem, problem, &r);
    idm_problem_destroy(problem);
  }
}

static void test_seeds(void **state)
{
  static const uint64_t seeds[] = {0,
                                   1,
                                   1000000001,
                                   (uint64_t)1 << 53,
                                   ((uint64_t)1 << 53) + 1,
                                   INT64_MAX,
                                   (uint64_t)INT64_MAX + 1,
                                   UINT64_MAX - 1};
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  idm_request r = odd_request();
  for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
    r.settings.seed = seeds[i];
    round_trip(*state, problem, problem, &r);
  }
  for (int keep = 0; keep < 3; keep++) {
    r.settings.keep = (idm_keep_likelihood)keep;
    round_trip(*state, problem, problem, &r);
  }
  idm_problem_destroy(problem);
}

static void test_limits(void **state)
{
  static const double limits[] = {INFINITY, -INFINITY, 0.0, -0.0, 4.9e-324, 1.0 / 3};
  const idm_request r = odd_request();
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    idm_problem *problem = support_diag(limits[i], limits[5 - i], -0.0);
    round_trip(*state, problem, problem, &r);
    idm_problem_destroy(problem);
  }
}

static void test_freedom(void **state)
{
  static const char *const free_texts[] = {
      "alpha, beta",
      "{alpha: {scale: log, prior: flat}, beta: {scale: inverse, prior: flat}}",
      "{eta: {scale: signed-log, prior: {normal: [-0.0, 0.1]}}}",
      "{utility: {entries: [monitor], prior: flat}}",
      "{utility: {reference: declare_healthy.healthy}}",
      "{utility: {entries: {cost: [monitor], d: [[declare_healthy, healthy]]}}, discount: }",
  };
  const idm_request r = odd_request();
  for (size_t i = 0; i < sizeof free_texts / sizeof free_texts[0]; i++) {
    idm_problem *problem = support_diag(0.5, 1.25, 0.001);
    check(idm_problem_set_free(problem, free_texts[i], &support_error));
    round_trip(*state, problem, problem, &r);
    idm_problem_destroy(problem);
  }
}

/* Pay by column: the config names the columns, so that the log it is read with fills them in. */
static void test_columns(void **state)
{
  static const double pay[] = {1, 70, 10, 0, 2, 40, -0.0, -5};
  const idm_request r = odd_request();
  idm_problem *problem, *bound, *again;
  idm_request read;
  char difference[400];
  check(idm_problem_read("../examples/beads.yaml", &problem, NULL, &support_error));
  check(idm_problem_read("../examples/beads.yaml", &bound, NULL, &support_error));
  assert_int_equal(problem->columns.utility.count, 4);
  round_trip(*state, problem, problem, &r);
  check(idm_problem_bind(bound, 2, pay, &support_error));
  check(idm_request_write(bound, &r, config(*state), &support_error));
  check(idm_request_read(config(*state), &again, &read, NULL, &support_error));
  if (!idm_problem_compare(problem, again, 0, difference, sizeof difference))
    fail_msg("%s", difference);
  check(idm_problem_bind(again, 2, pay, &support_error));
  if (!idm_problem_compare(bound, again, 0, difference, sizeof difference))
    fail_msg("%s", difference);
  idm_problem_destroy(again);
  idm_problem_destroy(bound);
  idm_problem_destroy(problem);
}

/* A problem file without the section, and one of another format, leave the defaults. */
static void test_no_section(void **state)
{
  static const char *const paths[] = {"../examples/diag.yaml", "example:diag"};
  idm_request usual;
  idm_request_default(&usual);
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    idm_problem *problem;
    idm_request read;
    check(idm_request_read(paths[i], &problem, &read, NULL, &support_error));
    same_request(&usual, &read);
    idm_problem_destroy(problem);
  }
}

/* --- refusals ------------------------------------------------------------------------------- */

static const char plain_problem[] = "states: [a, b]\nactions: [u]\nobservations: [x]\n"
                                    "discount: 0.5\ntransition: identity\nobservation: uniform\n"
                                    "utility: {u: 0}\n";

static void put(const folder *f, const char *section)
{
  FILE *stream = fopen(config(f), "wb");
  assert_non_null(stream);
  fprintf(stream, "%s%s", plain_problem, section);
  assert_int_equal(fclose(stream), 0);
}

static void test_bad_sections(void **state)
{
  static const struct {
    const char *section;
    long line;
    long column;
    const char *words;
  } cases[] = {
      {"fit: 3\n", 8, 6, "fit"},
      {"fit: [1]\n", 8, 6, "fit"},
      {"fit: {chain: 1}\n", 8, 7, "did you mean 'chains'?"},
      {"fit: {chains: 1, chains: 2}\n", 8, 18, "given twice"},
      {"fit: {chains: 0}\n", 8, 15, "fit.chains is '0'"},
      {"fit: {chains: -1}\n", 8, 15, "fit.chains is '-1'"},
      {"fit: {chains: many}\n", 8, 15, "fit.chains is 'many'"},
      {"fit: {chains: 1.5}\n", 8, 15, "fit.chains"},
      {"fit: {chains: 1e300}\n", 8, 15, "fit.chains"},
      {"fit: {chains: nan}\n", 8, 15, "fit.chains"},
      {"fit: {chains: }\n", 8, 15, "fit.chains"},
      {"fit: {chains: [1]}\n", 8, 15, "fit.chains"},
      {"fit:\n  draws: 0\n", 9, 10, "fit.draws"},
      {"fit:\n  warmup: -1\n", 9, 11, "fit.warmup"},
      {"fit:\n  thin: x\n", 9, 9, "fit.thin is 'x'; expected an integer from 0 to 1000000000"},
      {"fit:\n  prior_draws: -3\n", 9, 16, "fit.prior_draws"},
      {"fit:\n  seed: -1\n", 9, 9, "fit.seed is '-1'"},
      {"fit:\n  seed: 18446744073709551616\n", 9, 9, "expected a whole number below 2^64"},
      {"fit:\n  seed: 1e3\n", 9, 9, "fit.seed is '1e3'"},
      {"fit:\n  seed: ' 1'\n", 9, 9, "fit.seed is ' 1'"},
      {"fit:\n  seed: ''\n", 9, 9, "fit.seed"},
      {"fit:\n  seed: {}\n", 9, 9, "fit.seed"},
      {"fit:\n  log_likelihood: all\n", 9, 19, "fit.log_likelihood is 'all'"},
      {"fit:\n  stan: 2\n", 9, 9, "fit.stan is '2'"},
      {"fit:\n  data: {a: b}\n", 9, 9, "fit.data is a mapping of 1; expected texts"},
      {"fit:\n  data: [a, [b]]\n", 9, 13, "fit.data is a list of 1; expected texts"},
      {"fit:\n  where: [a=1, '']\n", 9, 16, "fit.where is ''; expected texts"},
      {"fit:\n  data_sha256: {a: b}\n", 9, 16, "fit.data_sha256"},
      {"fit:\n  inverse: bayesbayesbayesbayesbayesbayesba\n", 9, 12,
       "expected a text of fewer than 32 bytes"},
      {"fit:\n  inverse: fly\n", 9, 12, "fit.inverse is 'fly'; expected bayes, map, laplace"},
      {"fit: {inverse: ''}\n", 8, 16, "fit.inverse"},
      {"fit:\n  chains: 2\n  sampler: fly\n", 10, 12, "fit.sampler is 'fly'; expected "},
      {"fit: {\n", 9, 1, "not YAML"},
      {"fut: {}\n", 8, 1, "fut"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem = (idm_problem *)&problem;
    idm_request read;
    idm_error error = {0};
    put(*state, cases[i].section);
    if (idm_request_read(config(*state), &problem, &read, NULL, &error) != IDM_INPUT)
      fail_msg("accepted: %s", cases[i].section);
    assert_null(problem);
    assert_string_equal(error.file, config(*state));
    support_expect_place(&error, cases[i].line, cases[i].column, cases[i].words);
  }
  put(*state, "fit: {}\n");
  idm_problem *problem;
  idm_request read;
  check(idm_request_read(config(*state), &problem, &read, NULL, &support_error));
  idm_problem_destroy(problem);
}

static void test_long_texts(void **state)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  idm_request r = odd_request();
  memset(r.data, 'd', sizeof r.data - 1);
  r.data[sizeof r.data - 1] = '\0';
  round_trip(*state, problem, problem, &r);
  idm_problem_destroy(problem);
}

/* The table of preferences is kept by its contents; who needs one says so, and who does not read
 * one too. */
static void test_preferences(void **state)
{
  const folder *f = *state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  idm_request r;
  char path[SUPPORT_PATH]; /* of a table that holds nothing */
  support_path(path);
  idm_request_default(&r);
  check(idm_problem_set_free(problem, "utility", &support_error));
  check(idm_request_hash_preferences(&r, &support_error));
  const uint64_t without = idm_request_label(problem, &r);
  strcpy(r.inverse, "preference");
  assert_int_equal(idm_request_hash_preferences(&r, &support_error), IDM_INPUT);
  assert_int_equal(idm_request_check(problem, &r, &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "expected --preferences FILE"));
  strcpy(r.preferences, path);
  check(idm_request_hash_preferences(&r, &support_error));
  assert_string_equal(r.preferences_hash, hash_of_nothing);
  check(idm_request_check(problem, &r, &support_error));
  round_trip(f, problem, problem, &r);
  remove(config(f));
  check(idm_request_hash_preferences(&r, &support_error)); /* it has not changed */
  strcpy(r.each, "agent");
  assert_int_equal(idm_request_check(problem, &r, &support_error), IDM_USAGE);
  r.each[0] = '\0';
  strcpy(r.inverse, "bayes");
  assert_true(idm_request_label(problem, &r) != without);
  assert_int_equal(idm_request_check(problem, &r, &support_error), IDM_USAGE);
  assert_non_null(
      strstr(support_error.message, "--preferences has no effect with inverse planner 'bayes'"));
  strcpy(r.inverse, "preference");
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  fputs("worse,better\n", stream);
  fclose(stream);
  assert_int_equal(idm_request_hash_preferences(&r, &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "does not hold the preferences"));
  assert_string_equal(r.preferences_hash, hash_of_nothing);
  remove(path);
  assert_int_equal(idm_request_hash_preferences(&r, &support_error), IDM_INPUT);
  idm_problem_destroy(problem);
}

static void test_missing(void **state)
{
  idm_problem *problem = (idm_problem *)&problem;
  idm_request read;
  idm_error error = {0};
  assert_int_equal(idm_request_read("no/such.yaml", &problem, &read, NULL, &error), IDM_INPUT);
  assert_null(problem);
  problem = support_diag(0.5, 1.25, 0.001);
  const idm_request r = odd_request();
  assert_int_equal(idm_request_write(problem, &r, "no/such/config.yaml", &error), IDM_SYSTEM);
  /* A problem that YAML cannot hold leaves no file. */
  problem->theta->block[IDM_CERTAINTY].role = IDM_DESCRIPTIVE;
  assert_int_equal(idm_request_write(problem, &r, config(*state), &error), IDM_INPUT);
  assert_int_equal(entries(*state, 0), 0);
  idm_problem_destroy(problem);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_defaults),   IN_FOLDER(test_every_example), IN_FOLDER(test_seeds),
      IN_FOLDER(test_limits),     IN_FOLDER(test_freedom),       IN_FOLDER(test_columns),
      IN_FOLDER(test_no_section), IN_FOLDER(test_bad_sections),  IN_FOLDER(test_long_texts),
      IN_FOLDER(test_missing),    IN_FOLDER(test_preferences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
