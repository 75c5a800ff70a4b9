/* summary.json: one JSON object, verdicts that are read back once, hostile files. */
#include <jansson.h>

#include "io/run/run_support.h"

/* --- support -------------------------------------------------------------------------------- */

static const char *const names[] = {"inverse_beta", "beta", "utility[a/b,\xc3\xa9]"};

/* An assessment of three quantities with every part filled in. */
static idm_assessment *made_up_assessment(void)
{
  idm_assessment *a = calloc(1, sizeof *a);
  assert_non_null(a);
  a->quantities = 3;
  a->diagnosis = calloc(3, sizeof *a->diagnosis);
  a->parameter = calloc(2, sizeof *a->parameter);
  a->sensitivity = calloc(1, sizeof *a->sensitivity);
  a->finer_shift = calloc(3, sizeof *a->finer_shift);
  assert_true(a->diagnosis && a->parameter && a->sensitivity && a->finer_shift);
  for (size_t i = 0; i < 3; i++)
    a->diagnosis[i] = (idm_diagnosis){0.1 + (double)i, 2, 3, 4, 5, 6, 7, 8, 9, 1.0 / 3, NAN};
  a->diagnosis[0].rhat = NAN;
  a->divergences = 4;
  a->ebfmi = NAN;
  a->identified = true;
  a->log_likelihood = -INFINITY;
  a->parameters = 2;
  a->parameter[0] = (idm_identification){.quantity = 0,
                                         .contraction = NAN,
                                         .maximum = 0.25,
                                         .low = -INFINITY,
                                         .high = INFINITY,
                                         .regions = 2,
                                         .region = {{-INFINITY, 1}, {2, INFINITY}},
                                         .points = 3,
                                         .value = {-1, 0.25, 1e300},
                                         .drop = {-INFINITY, 0, -1.0 / 3},
                                         .limit = {0, INFINITY},
                                         .gap = {1.5, 0},
                                         .proper = {true, false},
                                         .sentence = "a \"sentence\"\n"};
  a->parameter[1] = (idm_identification){.quantity = 2, .contraction = 0.5};
  a->ridge = 0.125;
  a->ridge_sentence = strdup("a ridge");
  a->resolution = 9;
  a->finer = 18;
  a->finer_change = 0.5;
  a->refinement.steps = 1;
  a->refinement.step[0] = (idm_refinement_step){.resolution = 4, .finer = 8, .shift = 0.75};
  a->finer_shift[2] = -0.0625;
  a->sensitivities = 1;
  strcpy(a->sensitivity[0].name, "discount");
  a->sensitivity[0].value = 0.95;
  a->sensitivity[0].step = 0.0095;
  a->sensitivity[0].derivative = calloc(3, sizeof(double));
  assert_non_null(a->sensitivity[0].derivative);
  a->sensitivity[0].derivative[0] = 1e-300;
  idm_notes_add(&a->failures, "one failure");
  idm_notes_add(&a->failures, "another");
  idm_notes_add(&a->misfits, "a misfit");
  idm_notes_add(&a->remarks, "a remark");
  a->model = (idm_model_check){.evaluated = true,
                               .decisions = 10,
                               .log_likelihood = -7,
                               .uniform = -15,
                               .rates = -12.5,
                               .agents = 3,
                               .between = calloc(3, sizeof(double)),
                               .level = 0.005};
  assert_non_null(a->model.between);
  a->model.between[0] = 0.75;
  a->model.test[IDM_TEST_STEPS] = (idm_model_test_result){true, 9, 6, 0.25};
  a->model.test[IDM_TEST_HOMOGENEITY] = (idm_model_test_result){true, 2.5, 1, 0.0625};
  a->model.extensions = 1;
  a->model.extension = calloc(1, sizeof *a->model.extension);
  assert_non_null(a->model.extension);
  *a->model.extension = (idm_score_test){"lapse", 0, 0.25, 40.5, 64, 0.125};
  return a;
}

static json_t *load(const folder *f)
{
  json_error_t where;
  json_t *object = json_load_file(f->file, 0, &where);
  if (!object) fail_msg("%d:%d: %s", where.line, where.column, where.text);
  return object;
}

/* The member at a path of keys; fails where there is none. */
static const json_t *at(const json_t *object, const char *const *keys)
{
  for (; *keys; keys++) {
    object = json_object_get(object, *keys);
    if (!object) fail_msg("there is no '%s'", *keys);
  }
  return object;
}
#define AT(object, ...) at(object, (const char *const[]){__VA_ARGS__, NULL})

static void same_number(const json_t *found, double expected)
{
  assert_true(json_is_real(found));
  assert_true(json_real_value(found) == expected);
}

/* --- writing -------------------------------------------------------------------------------- */

static void test_every_part(void **state)
{
  const folder *f = *state;
  idm_posterior *p = made_up(2, 5, names, 3, false);
  idm_assessment *a = made_up_assessment();
  const idm_projection projection = {.decisions = 10,
                                     .log_loss = 0.75,
                                     .brier = INFINITY,
                                     .uniform_log_loss = 1.5,
                                     .rates_log_loss = 1.25,
                                     .pseudo_r2 = 0.5,
                                     .pseudo_r2_rates = 0.4,
                                     .divergence = NAN};
  check(idm_posterior_write_summary(p, a, &projection, f->file, &support_error));
  assert_int_equal(entries(f, 0), 1);
  json_t *j = load(f);
  assert_string_equal(json_string_value(AT(j, "inverse")), "bayes");
  assert_string_equal(json_string_value(AT(j, "sampler")), "nuts");
  assert_int_equal(json_integer_value(AT(j, "chains")), 2);
  assert_int_equal(json_integer_value(AT(j, "draws")), 5);
  assert_int_equal(json_integer_value(AT(j, "warmup")), 500);
  /* Quantities that are not to be summarised stay out. */
  assert_int_equal(json_object_size(AT(j, "posterior")), 2);
  same_number(AT(j, "posterior", names[0], "mean"), 0.1);
  same_number(AT(j, "posterior", names[2], "mean"), 2.1);
  same_number(AT(j, "posterior", names[2], "r_hat"), 1.0 / 3);
  static const char *const members[] = {"sd",  "mcse_mean", "mcse_sd",  "q5",
                                        "q50", "q95",       "ess_bulk", "ess_tail"};
  for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
    same_number(AT(j, "posterior", names[0], members[i]), (double)i + 2);
  /* NaN is null, infinities are texts. */
  assert_true(json_is_null(AT(j, "posterior", names[0], "r_hat")));
  assert_true(json_is_null(AT(j, "e_bfmi")));
  assert_string_equal(json_string_value(AT(j, "maximum_log_likelihood")), "-inf");
  const json_t *interval = AT(j, "identification", names[0], "profile_interval");
  assert_string_equal(json_string_value(json_array_get(interval, 0)), "-inf");
  assert_string_equal(json_string_value(json_array_get(interval, 1)), "inf");
  assert_true(json_is_null(AT(j, "identification", names[0], "contraction")));
  same_number(AT(j, "identification", names[2], "contraction"), 0.5);
  const json_t *bounded = AT(j, "identification", names[0], "prior_is_proper");
  assert_true(json_is_true(json_array_get(bounded, 0)));
  assert_true(json_is_false(json_array_get(bounded, 1)));
  assert_string_equal(json_string_value(AT(j, "identification", names[0], "sentence")),
                      "a \"sentence\"\n");
  assert_string_equal(json_string_value(AT(j, "ridge", "sentence")), "a ridge");
  same_number(AT(j, "sensitivity", "discount", "mean_change_per_unit", names[0]), 1e-300);
  same_number(AT(j, "sensitivity", "discount", "step"), 0.0095);
  assert_int_equal(json_integer_value(AT(j, "discretisation", "finer")), 18);
  const json_t *tried = json_array_get(AT(j, "discretisation", "refinement"), 0);
  assert_int_equal(json_integer_value(json_object_get(tried, "resolution")), 4);
  same_number(json_object_get(tried, "largest_shift_in_sd"), 0.75);
  same_number(AT(j, "discretisation", "shift_in_sd", names[2]), -0.0625);
  assert_string_equal(json_string_value(AT(j, "projection", "brier")), "inf");
  assert_true(json_is_null(AT(j, "projection", "divergence")));
  same_number(AT(j, "projection", "uniform_log_loss"), 1.5);
  same_number(AT(j, "projection", "rates_log_loss"), 1.25);
  same_number(AT(j, "projection", "pseudo_r2"), 0.5);
  same_number(AT(j, "projection", "pseudo_r2_rates"), 0.4);
  same_number(AT(j, "model", "rates_log_likelihood"), -12.5);
  assert_int_equal(json_integer_value(AT(j, "model", "agents")), 3);
  same_number(AT(j, "model", "sd_between_agents", names[0]), 0.75);
  /* Tests for which there was something to look at. */
  assert_int_equal(json_object_size(AT(j, "model", "tests")), 2);
  same_number(AT(j, "model", "extensions", "lapse", "value"), 0.25);
  same_number(AT(j, "model", "extensions", "lapse", "gain"), 40.5);
  same_number(AT(j, "model", "extensions", "lapse", "statistic"), 64);
  same_number(AT(j, "model", "extensions", "lapse", "p"), 0.125);
  same_number(AT(j, "model", "tests", "actions_by_step", "statistic"), 9);
  same_number(AT(j, "model", "tests", "agents_alike", "p"), 0.0625);
  assert_int_equal(json_integer_value(AT(j, "divergences")), 4);
  assert_true(json_is_false(AT(j, "verdict", "trusted")));
  assert_int_equal(json_array_size(AT(j, "verdict", "failures")), 2);
  assert_int_equal(json_array_size(AT(j, "verdict", "misfits")), 1);
  json_decref(j);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
}

/* Without a look at the data there is nothing to say of it. */
static void test_draws_only(void **state)
{
  const folder *f = *state;
  idm_posterior *p = made_up(2, 50, names, 3, true);
  idm_assessment *a;
  check(idm_assess_draws(p, &a, &support_error));
  check(idm_posterior_write_summary(p, a, NULL, f->file, &support_error));
  json_t *j = load(f);
  static const char *const absent[] = {"identification", "ridge",      "sensitivity",
                                       "discretisation", "projection", "maximum_log_likelihood"};
  for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++)
    assert_null(json_object_get(j, absent[i]));
  assert_int_equal(json_object_size(AT(j, "posterior")), 2);
  json_decref(j);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
}

static void test_cannot_write(void **state)
{
  (void)state;
  idm_posterior *p = made_up(1, 5, names, 3, true);
  idm_assessment *a = made_up_assessment();
  assert_int_equal(idm_posterior_write_summary(p, a, NULL, "no/such/summary.json", &support_error),
                   IDM_SYSTEM);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
}

/* --- reading -------------------------------------------------------------------------------- */

/* The file's words stand in place of those of the draws. Both must trust, and no failure or misfit
 * be listed. */
static void test_read_takes_the_verdict(void **state)
{
  const folder *f = *state;
  idm_posterior *p = made_up(1, 5, names, 3, true);
  idm_assessment *a = made_up_assessment();
  for (int trusted = 0; trusted < 4; trusted++) {
    a->trusted = trusted & 1;
    check(idm_posterior_write_summary(p, a, NULL, f->file, &support_error));
    idm_assessment *own = calloc(1, sizeof *own);
    assert_non_null(own);
    own->trusted = trusted & 2;
    idm_notes_add(&own->failures, "another");
    idm_notes_add(&own->remarks, "of my own");
    for (int again = 0; again < 2; again++) {
      check(idm_summary_read(f->file, p, own, &support_error));
      assert_int_equal(own->failures.count, 2);
      assert_int_equal(own->remarks.count, 1);
      assert_string_equal(own->failures.text[0], "one failure");
      assert_string_equal(own->failures.text[1], "another");
      assert_string_equal(own->remarks.text[0], "a remark");
      assert_false(own->trusted);
    }
    idm_assessment_destroy(own);
  }
  /* A file without failures does not hide those of the draws. */
  idm_notes_clear(&a->failures);
  check(idm_posterior_write_summary(p, a, NULL, f->file, &support_error));
  idm_assessment *own = calloc(1, sizeof *own);
  assert_non_null(own);
  idm_notes_add(&own->failures, "of my own");
  check(idm_summary_read(f->file, p, own, &support_error));
  assert_int_equal(own->failures.count, 1);
  assert_false(own->trusted);
  idm_assessment_destroy(own);
  idm_notes_clear(&a->misfits);
  for (int trusted = 0; trusted < 4; trusted++) {
    a->trusted = trusted & 1;
    check(idm_posterior_write_summary(p, a, NULL, f->file, &support_error));
    own = calloc(1, sizeof *own);
    assert_non_null(own);
    own->trusted = trusted & 2;
    check(idm_summary_read(f->file, p, own, &support_error));
    assert_int_equal(own->trusted, trusted == 3);
    idm_assessment_destroy(own);
  }
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
}

/* What a figure shows of the profiles is what was written; of lists that are not as they were
 * written there is none. */
static void test_read_takes_profiles(void **state)
{
  const folder *f = *state;
  idm_posterior *p = made_up(1, 5, names, 3, true);
  idm_assessment *a = made_up_assessment();
  idm_assessment *own = calloc(1, sizeof *own);
  assert_non_null(own);
  check(idm_posterior_write_summary(p, a, NULL, f->file, &support_error));
  check(idm_summary_read(f->file, p, own, &support_error));
  assert_int_equal(own->parameters, 2);
  const idm_identification *id = &own->parameter[0], *was = &a->parameter[0];
  assert_true(isnan(id->contraction) && id->maximum == 0.25);
  assert_true(id->low == -INFINITY && id->high == INFINITY && id->regions == 2);
  assert_memory_equal(id->region, was->region, 2 * sizeof id->region[0]);
  assert_int_equal(id->points, 3);
  assert_memory_equal(id->value, was->value, 3 * sizeof *id->value);
  assert_memory_equal(id->drop, was->drop, 3 * sizeof *id->drop);
  assert_int_equal(own->parameter[1].points, 0);
  json_t *j = load(f);
  json_t *profile = json_object_get(AT(j, "identification", names[0]), "profile");
  json_array_append_new(json_object_get(profile, "drop"), json_true());
  assert_int_equal(json_dump_file(j, f->file, 0), 0);
  check(idm_summary_read(f->file, p, own, &support_error));
  assert_int_equal(own->parameter[0].points, 0);
  json_t *list = json_object_get(profile, "value");
  while (json_array_size(list) <= IDM_PROFILE_POINTS) json_array_append_new(list, json_real(2));
  json_object_set(profile, "drop", list);
  assert_int_equal(json_dump_file(j, f->file, 0), 0);
  check(idm_summary_read(f->file, p, own, &support_error));
  assert_int_equal(own->parameter[0].points, 0);
  json_decref(j);
  idm_assessment_destroy(own);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
}

static void put_text(const folder *f, const char *text, size_t length)
{
  FILE *stream = fopen(f->file, "wb");
  assert_non_null(stream);
  assert_int_equal(fwrite(text, 1, length, stream), length);
  assert_int_equal(fclose(stream), 0);
}

static void expect_refusal(const folder *f, const char *text, size_t length)
{
  idm_assessment *a = calloc(1, sizeof *a);
  const idm_posterior p = {.draws = 5};
  idm_error error = {0};
  assert_non_null(a);
  put_text(f, text, length);
  if (idm_summary_read(f->file, &p, a, &error) != IDM_INPUT) fail_msg("accepted: %.80s", text);
  assert_string_equal(error.file, f->file);
  assert_true(error.message[0]);
  assert_int_equal(idm_summary_read(f->file, &p, a, NULL), IDM_INPUT);
  idm_assessment_destroy(a);
}

static void test_hostile_files(void **state)
{
  static const char *const texts[] = {
      "",
      "{",
      "null",
      "[]",
      "3",
      "\"verdict\"",
      "{}",
      "{\"verdict\": 1}",
      "{\"verdict\": []}",
      "{\"verdict\": {}}",
      "{\"verdict\": {\"failures\": [], \"misfits\": [], \"remarks\": []}}",
      "{\"verdict\": {\"trusted\": 1, \"failures\": [], \"misfits\": [], \"remarks\": []}}",
      "{\"verdict\": {\"trusted\": true, \"failures\": []}}",
      "{\"verdict\": {\"trusted\": true, \"misfits\": [], \"remarks\": []}}",
      "{\"verdict\": {\"trusted\": true, \"failures\": {}, \"misfits\": [], \"remarks\": []}}",
      "{\"verdict\": {\"trusted\": true, \"failures\": [1], \"misfits\": [], \"remarks\": []}}",
      "{\"verdict\": {\"trusted\": true, \"failures\": [\"x\", null], \"misfits\": [], "
      "\"remarks\": []}}",
      "{\"verdict\": {\"trusted\": true, \"failures\": [], \"misfits\": [], \"remarks\": "
      "\"none\"}}",
      "{\"verdict\": {\"trusted\": true, \"failures\": [], \"misfits\": [], \"remarks\": [[]]}}",
      "{\"verdict\": {\"trusted\": true, \"failures\": [\"a\\u0000b\"], \"misfits\": [], "
      "\"remarks\": []}}",
      "{\"verdict\": {\"trusted\": true, \"failures\": [], \"misfits\": [], \"remarks\": []}} more",
      "{\"verdict\": {\"trusted\": true, \"failures\": [\"\xff\"], \"misfits\": [], \"remarks\": "
      "[]}}",
      "\xef\xbb\xbf{}",
      "{\"verdict\": {\"trusted\": true, \"failures\": [], \"remarks\": []}}",
      "{\"verdict\": {\"trusted\": true, \"failures\": [], \"misfits\": [1], \"remarks\": []}}",
      "not JSON",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    expect_refusal(*state, texts[i], strlen(texts[i]));
  expect_refusal(*state, "{}\0{}", 5);
  /* Deep, and long. */
  enum { LONG = 1 << 20 };
  char *text = malloc(LONG);
  assert_non_null(text);
  memset(text, '[', LONG);
  expect_refusal(*state, text, LONG);
  memset(text, ' ', LONG);
  expect_refusal(*state, text, LONG);
  free(text);
}

/* A place in the file where the parser knows one. */
static void test_place(void **state)
{
  const folder *f = *state;
  static const char text[] = "{\n \"verdict\": oops\n}\n";
  idm_assessment a = {0};
  const idm_posterior p = {.draws = 5};
  idm_error error = {0};
  put_text(f, text, strlen(text));
  assert_int_equal(idm_summary_read(f->file, &p, &a, &error), IDM_INPUT);
  assert_int_equal(error.line, 2);
  assert_true(error.column > 0);
  assert_int_equal(idm_summary_read("no/such.json", &p, &a, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "cannot open 'no/such.json'"));
}

/* Every truncation of a real summary is refused or, where only the end of the line is lost, read.
 */
static void test_truncations(void **state)
{
  const folder *f = *state;
  idm_posterior *p = made_up(1, 5, names, 3, true);
  idm_assessment *a = made_up_assessment();
  check(idm_posterior_write_summary(p, a, NULL, f->file, &support_error));
  char *text;
  size_t length;
  check(idm_file_read(f->file, 1 << 20, &text, &length, &support_error));
  for (size_t cut = 0; cut + 1 < length; cut += 7) expect_refusal(f, text, cut);
  free(text);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_every_part),
      IN_FOLDER(test_draws_only),
      IN_FOLDER(test_cannot_write),
      IN_FOLDER(test_read_takes_the_verdict),
      IN_FOLDER(test_read_takes_profiles),
      IN_FOLDER(test_hostile_files),
      IN_FOLDER(test_place),
      IN_FOLDER(test_truncations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
