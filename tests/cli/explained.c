/* Tests printed explanations: sentences on delays, tables of steps and lists, and the JSON output,
 * against the explanation of the library. */
#include "cli/common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cli_support.h"

static const cli_option options[] = {
    {.name = "due", .kind = CLI_TEXT, .value = "ACTION", .help = "what is due"},
    CLI_JSON_OPTION,
    CLI_END,
};
static const cli_command command = {.name = "explain", .max_arguments = 1, .options = options};

/* Two agents and three trajectories of DIAG; the last trajectory has a row without a recorded
 * action. */
typedef struct bench {
  cli_call call;
  idm_problem *problem;
  idm_data *data;
  idm_explanation *e;
  cli_explained x;
} bench;

static void open_bench(bench *b, bool due)
{
  check(cli_parse(&b->call, &command, due, (char *[]){"--due=monitor"}));
  b->problem = support_diag(0.5, INFINITY, 0);
  b->problem->agent.resolution = 20;
  b->data = support_data(b->problem, "agent,trajectory,time,action,observation\n"
                                     "ann,t1,1,monitor,positive\nann,t1,2,monitor,positive\n"
                                     "ann,t1,3,declare_diseased,\nbo,t2,1,declare_healthy,\n"
                                     "bo,t3,1,monitor,negative\nbo,t3,2,,negative\n");
  check(idm_explain_log(b->problem, NULL, b->data, NULL, &b->e, &b->call.notes, &support_error));
  b->x = (cli_explained){.call = &b->call,
                         .setting = b->problem->setting,
                         .data = b->data,
                         .e = b->e,
                         .trajectory = -1};
}

static void close_bench(bench *b)
{
  idm_explanation_destroy(b->e);
  idm_data_destroy(b->data);
  idm_problem_destroy(b->problem);
  cli_call_free(&b->call);
}

static char *printed_by(idm_status (*print)(const cli_explained *x), const cli_explained *x)
{
  captured c;
  captured_open(&c, stdout);
  const idm_status status = print(x);
  char *text = captured_close(&c);
  check(status);
  return text;
}

/* --- tables --------------------------------------------------------------------------------- */

static void expect_delay(const idm_case_summary *one, bool due, const char *words)
{
  bench b;
  open_bench(&b, due);
  b.e->one[0] = *one;
  b.x.trajectory = 0;
  char *text = printed_by(cli_print_explained, &b.x);
  char expected[200];
  snprintf(expected, sizeof expected, "trajectory t1 of agent ann: %s; total regret 0.250\n\n",
           words);
  assert_memory_equal(text, expected, strlen(expected));
  free(text);
  close_bench(&b);
}

static void test_delays(void **state)
{
  (void)state;
  expect_delay(&(idm_case_summary){.step = 3, .due = 2, .delayed = 1, .regret = 0.25}, false,
               "it ended at step 3; a rational agent would have done so at step 2: belated by 1");
  expect_delay(&(idm_case_summary){.step = 3, .due = 3, .regret = 0.25}, false,
               "it ended at step 3; a rational agent would have done so at step 3: on time");
  expect_delay(&(idm_case_summary){.step = 3, .delayed = -1, .regret = 0.25}, false,
               "it ended at step 3; a rational agent would not have done so within it");
  expect_delay(
      &(idm_case_summary){.step = 4, .due = 2, .delayed = 2, .censored = true, .regret = 0.25},
      true,
      "it never took the due action; a rational agent would have done so at step 2: belated by at "
      "least 2");
}

/* One row per step with its numbers; only the agent of the trajectory is listed. */
static void test_trajectory(void **state)
{
  (void)state;
  bench b;
  open_bench(&b, false);
  b.x.trajectory = 0;
  char *text = printed_by(cli_print_explained, &b.x);
  char row[200];
  for (size_t r = 0; r < 3; r++) {
    snprintf(row, sizeof row, "\n%4zu  %7.3f  %7.3f | ", r + 1,
             idm_explanation_interval(b.e, r, IDM_EXPLAIN_BELIEF, 0).mean,
             idm_explanation_interval(b.e, r, IDM_EXPLAIN_BELIEF, 1).mean);
    assert_non_null(strstr(text, row));
  }
  snprintf(row, sizeof row, "%8.3f %8.3f\n", idm_explanation_surprise(b.e, b.data, 2).mean,
           idm_explanation_interval(b.e, 2, IDM_EXPLAIN_REGRET, 0).mean);
  assert_non_null(strstr(text, row));
  assert_non_null(strstr(text, "| monitor          positive | "));
  assert_non_null(strstr(text, "| declare_diseased          | "));
  assert_non_null(strstr(text, "\nann    "));
  assert_null(strstr(text, "\nbo    "));
  free(text);
  /* An action that was not recorded is printed as a question mark. */
  b.x.trajectory = 2;
  text = printed_by(cli_print_explained, &b.x);
  assert_non_null(strstr(text, "| ?                negative | "));
  assert_non_null(strstr(text, "\nbo    "));
  free(text);
  close_bench(&b);
}

static void test_lists(void **state)
{
  (void)state;
  bench b;
  open_bench(&b, false);
  assert_int_equal(b.e->surprising,
                   1); /* of five decisions, the one with a probability below one third */
  const size_t row = b.e->surprising_row[0];
  assert_int_equal(row, 3); /* t2 declares at its first step */
  char first[900];
  snprintf(first, sizeof first,
           "most surprising decisions\n"
           "agent            trajectory            step action           surprise rational        "
           "     regret\n"
           "bo               t2                       1 declare_healthy  %8.3f monitor          "
           "%10.3f\n",
           idm_explanation_surprise(b.e, b.data, row).mean,
           idm_explanation_interval(b.e, row, IDM_EXPLAIN_REGRET, 0).mean);
  char *text = printed_by(cli_print_explained, &b.x);
  assert_memory_equal(text, first, strlen(first));
  assert_true(strstr(text, "\nann    ") && strstr(text, "\nbo    "));
  free(text);
  /* Late trajectories with the least delay of those that were censored. */
  b.e->delayed = 1;
  free(b.e->delayed_case);
  b.e->delayed_case = calloc(1, sizeof *b.e->delayed_case);
  b.e->delayed_case[0] = 2;
  b.e->one[2] =
      (idm_case_summary){.step = 3, .due = 1, .delayed = 2, .censored = true, .regret = 4};
  text = printed_by(cli_print_explained, &b.x);
  assert_non_null(strstr(
      text, "\nbo               t3                       never         1      >= 2      4.000\n"));
  free(text);
  b.e->delayed = 0;
  text = printed_by(cli_print_explained, &b.x);
  assert_non_null(strstr(text, "would have ended earlier)\nnone\n"));
  free(text);
  close_bench(&b);
}

/* --- JSON ----------------------------------------------------------------------------------- */

static double number_at(const json_t *object, const char *key, const char *opt_label)
{
  const json_t *value = json_object_get(object, key);
  if (opt_label) value = json_object_get(value, opt_label);
  assert_true(json_is_number(value));
  return json_number_value(value);
}

static json_t *parsed(const bench *b)
{
  json_error_t error;
  char *text = printed_by(cli_print_explained_json, &b->x);
  json_t *all = json_loads(text, 0, &error);
  if (!all) fail_msg("%s in\n%s", error.text, text);
  free(text);
  return all;
}

static void test_json(void **state)
{
  (void)state;
  bench b;
  open_bench(&b, false);
  idm_notes_add(&b.call.notes, "one note");
  json_t *all = parsed(&b);
  assert_int_equal(json_integer_value(json_object_get(all, "draws")), 1);
  assert_string_equal(json_string_value(json_array_get(json_object_get(all, "notes"), 0)),
                      "one note");
  assert_int_equal(json_object_size(json_object_get(all, "people")), 2);
  const json_t *cases = json_object_get(all, "trajectories");
  assert_int_equal(json_array_size(cases), 3);
  for (size_t t = 0, row = 0; t < 3; t++) {
    const json_t *one = json_array_get(cases, t), *steps = json_object_get(one, "steps");
    assert_string_equal(json_string_value(json_object_get(one, "trajectory")),
                        b.data->trajectory_name.name[t]);
    assert_int_equal(json_array_size(steps), b.data->first[t + 1] - b.data->first[t]);
    for (size_t k = 0; k < json_array_size(steps); k++, row++) {
      const json_t *step = json_array_get(steps, k);
      assert_int_equal(json_integer_value(json_object_get(step, "step")), k + 1);
      assert_int_equal(json_integer_value(json_object_get(step, "line")), row + 2);
      assert_near(number_at(step, "belief", "diseased"),
                  idm_explanation_interval(b.e, row, IDM_EXPLAIN_BELIEF, 1).mean, 1e-12);
      assert_near(number_at(step, "probability", "monitor"),
                  idm_explanation_interval(b.e, row, IDM_EXPLAIN_PROBABILITY, 2).mean, 1e-12);
      assert_null(
          json_object_get(step, "belief_q5")); /* a single parameter value has no quantiles */
      if (row < 5)
        assert_near(number_at(step, "regret", NULL),
                    idm_explanation_interval(b.e, row, IDM_EXPLAIN_REGRET, 0).mean, 1e-12);
    }
  }
  /* An action that was not recorded is null. */
  const json_t *last = json_array_get(json_object_get(json_array_get(cases, 2), "steps"), 1);
  assert_true(json_is_null(json_object_get(last, "action")));
  assert_true(json_is_null(json_object_get(last, "surprise")));
  json_decref(all);
  /* A selected trajectory only. */
  b.x.trajectory = 1;
  all = parsed(&b);
  cases = json_object_get(all, "trajectories");
  assert_int_equal(json_array_size(cases), 1);
  assert_string_equal(json_string_value(json_object_get(json_array_get(cases, 0), "trajectory")),
                      "t2");
  json_decref(all);
  close_bench(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_delays),
                                     cmocka_unit_test(test_trajectory),
                                     cmocka_unit_test(test_lists), cmocka_unit_test(test_json)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
