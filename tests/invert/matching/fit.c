/* Opening of a fit: checks before allocation, random keys, and likelihoods by segments against
 * those of the whole log. */
#include "invert/matching/fit.h"

#include <math.h>
#include <string.h>

#include "invert/cancel.h"
#include "support.h"

typedef struct bench {
  idm_problem *problem;
  idm_data *data;
  idm_fit_settings settings;
} bench;

static bench open_bench(void)
{
  bench b = {.problem = support_diag(0.5, 1.25, 0.3)};
  b.problem->agent.resolution = 5;
  check(idm_problem_set_free(b.problem, "{alpha: {scale: log}, beta: {scale: inverse}}",
                             &support_error));
  b.data = support_data(b.problem, "trajectory,action,observation\n1,monitor,negative\n"
                                   "1,declare_healthy,\n2,declare_diseased,\n");
  idm_fit_settings_default(&b.settings);
  return b;
}

static void close_bench(bench *b)
{
  idm_data_destroy(b->data);
  idm_problem_destroy(b->problem);
}

/* For observed states a fit divides the log into segments: log-likelihoods, gradients and their
 * parts equal those of the whole log. */
static void test_pieces(void **state)
{
  (void)state;
  enum { ROWS = 240, TRAJECTORIES = 30 };
  idm_problem *problem = support_yaml(
      "states: [a, b]\nactions: [stay, go]\nobservations: states\ndiscount: 0.8\n"
      "transition: {stay: [[0.7, 0.3], [0.1, 0.9]], go: [[0.2, 0.8], [0.6, 0.4]]}\n"
      "utility: {stay: [1, 0], go: [0, 0.5]}\nagent: {planner: maximum-entropy, alpha: 0.7}\n"
      "free: {utility: {prior: {normal: [0, 1]}}, transition: {prior: {dirichlet: [2, 2]}}}\n");
  idm_data *data = support_simulate(
      problem, (idm_simulation){.trajectories = TRAJECTORIES, .steps = 8, .seed = 5});
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  fit_context f;
  check(idm_fit_open(&f, idm_inverse_find("map"), problem, data, &settings, 1, &support_error));
  assert_non_null(f.segments);
  assert_true(idm_fit_histories(&f) <= 2 * 2 * 3 && f.tree->nodes > ROWS / 2);
  fit_context whole = f;
  whole.segments = NULL;
  idm_matching *plain;
  check(idm_fit_create_matching(&whole, problem, &plain, &support_error));
  const size_t d = idm_parameters_dimension(f.parameters);
  double y[16] = {0.3, -0.2, 0.1, 0.4, 0.2, -0.1, 0.3, 0.5}, slope[2][16], value[2];
  double part[2][ROWS], row[2 * 8];
  assert_true(d <= 16);
  for (int by = 0; by < 2; by++) {
    settings.keep = by ? IDM_KEEP_DECISION : IDM_KEEP_TRAJECTORY;
    check(idm_matching_log_likelihood(f.matching[0], y, &value[0], slope[0], &support_error));
    check(idm_matching_log_likelihood(plain, y, &value[1], slope[1], &support_error));
    assert_near(value[0], value[1], 1e-10);
    for (size_t i = 0; i < d; i++) assert_near(slope[0][i], slope[1][i], 1e-8);
    check(idm_matching_log_likelihood(f.matching[0], y, &value[0], NULL, &support_error));
    check(idm_matching_log_likelihood(plain, y, &value[1], NULL, &support_error));
    idm_fit_unit_likelihoods(&f, f.matching[0], idm_fit_longest(&f), row, part[0]);
    idm_fit_unit_likelihoods(&whole, plain, idm_fit_longest(&f), row, part[1]);
    for (size_t i = 0; i < (by ? (size_t)ROWS : (size_t)TRAJECTORIES); i++) {
      assert_true(part[1][i] < 0);
      assert_near(part[0][i], part[1][i], 1e-11);
    }
  }
  idm_matching_destroy(plain);
  idm_fit_close(&f);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Observations at the end of a segment are still checked for probability 0. */
static void test_pieces_are_possible(void **state)
{
  (void)state;
  idm_problem *problem =
      support_yaml("states: [a, b]\nactions: [stay, go]\nobservations: states\ndiscount: 0.8\n"
                   "transition: {stay: identity, go: [[0, 1], [1, 0]]}\n"
                   "utility: {stay: [1, 0], go: 0}\nagent: {planner: maximum-entropy, alpha: 1}\n"
                   "free: {alpha: {scale: log}}\n");
  idm_data *data = support_data(problem, "trajectory,state,action\n1,a,stay\n1,a,stay\n1,a,stay\n"
                                         "1,a,stay\n1,a,stay\n1,a,stay\n1,a,\n");
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  fit_context f;
  idm_error error = {0};
  check(idm_fit_open(&f, NULL, problem, data, &settings, 1, &support_error));
  assert_non_null(f.segments);
  idm_fit_close(&f);
  data->observation[5] = 1;
  assert_int_equal(idm_fit_open(&f, NULL, problem, data, &settings, 1, &error), IDM_INPUT);
  if (error.line != 7) fail_msg("%s:%ld: %s", error.file, error.line, error.message);
  idm_data_destroy(data);
  /* Isolated steps have as many segments as histories: the log is not divided. */
  data = support_data(problem, "trajectory,state,action\n1,a,stay\n2,a,go\n");
  check(idm_fit_open(&f, NULL, problem, data, &settings, 1, &support_error));
  assert_null(f.segments);
  assert_int_equal(idm_fit_histories(&f), f.tree->nodes);
  idm_fit_close(&f);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void test_open(void **state)
{
  (void)state;
  bench b = open_bench();
  fit_context f;
  check(
      idm_fit_open(&f, idm_inverse_find("map"), b.problem, b.data, &b.settings, 3, &support_error));
  assert_ptr_equal(f.problem, b.problem);
  assert_ptr_equal(f.data, b.data);
  assert_int_equal(idm_parameters_dimension(f.parameters), 2);
  assert_int_equal(f.matchings, 3);
  /* All matchings compute the same function, each in its own memory. */
  const double y[] = {log(0.7), 0.4};
  double value[3];
  for (size_t i = 0; i < 3; i++) {
    const idm_target target = idm_matching_target(f.matching[i]);
    check(target.evaluate(target.context, y, &value[i], NULL, &support_error));
    assert_true(isfinite(value[i]) && value[i] == value[0]);
    for (size_t j = 0; j < i; j++) assert_ptr_not_equal(f.matching[i], f.matching[j]);
  }
  for (size_t i = 0; i < 2; i++) assert_true(f.unit[i] > 0 && isfinite(f.unit[i]));
  idm_fit_close(&f);
  assert_null(f.matching);
  assert_null(f.tree);
  idm_fit_close(&f); /* a second close has no effect */
  close_bench(&b);
}

/* Random streams depend on the request only. */
static void test_key(void **state)
{
  (void)state;
  bench b = open_bench();
  fit_context f, g;
  const idm_inverse *map = idm_inverse_find("map");
  check(idm_fit_open(&f, map, b.problem, b.data, &b.settings, 1, &support_error));
  check(idm_fit_open(&g, map, b.problem, b.data, &b.settings, 2, &support_error));
  assert_true(f.key == g.key);
  idm_fit_close(&g);
  b.settings.seed++;
  check(idm_fit_open(&g, map, b.problem, b.data, &b.settings, 1, &support_error));
  assert_true(f.key != g.key);
  idm_fit_close(&g);
  idm_fit_close(&f);
  close_bench(&b);
}

static void expect_refusal(const bench *b, const idm_inverse *inverse, idm_status status,
                           const char *words)
{
  idm_error error = {0};
  fit_context f;
  assert_int_equal(idm_fit_open(&f, inverse, b->problem, b->data, &b->settings, 1, &error), status);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in '%s'", words, error.message);
  assert_true(!f.parameters && !f.tree && !f.matching && !f.unit && !f.scratch);
}

static void test_refusals(void **state)
{
  (void)state;
  bench b = open_bench();
  double *const capacity[] = {&b.problem->agent.decision_capacity,
                              &b.problem->agent.specification_capacity,
                              &b.problem->agent.recognition_capacity};
  const idm_inverse *map = idm_inverse_find("map");
  for (size_t i = 0; i < 3; i++) {
    *capacity[i] = 0.1;
    assert_int_equal(idm_fit_check_capacity(b.problem, NULL), IDM_INPUT);
    expect_refusal(&b, map, IDM_INPUT, "leave the capacity out");
    *capacity[i] = NAN;
  }
  check(idm_fit_check_capacity(b.problem, &support_error));
  b.settings.chains = 0;
  expect_refusal(&b, map, IDM_USAGE, "chains is '0'");
  idm_fit_settings_default(&b.settings);
  check(idm_problem_set_free(b.problem, "[]", &support_error));
  expect_refusal(&b, map, IDM_INPUT, "free");
  close_bench(&b);
}

/* A cancelled opening frees everything. */
static void test_halted(void **state)
{
  (void)state;
  bench b = open_bench();
  fit_context f;
  idm_cancel cancel;
  idm_cancel_init(&cancel, NULL, "");
  cancel.stop = true;
  assert_int_equal(
      idm_fit_open_cancel(&f, NULL, b.problem, b.data, &b.settings, 2, &cancel, &support_error),
      IDM_UNTRUSTED);
  assert_true(!f.parameters && !f.tree && !f.matching && !f.unit && !f.scratch);
  /* Later evaluations check for cancellation, too. */
  cancel.stop = false;
  check(idm_fit_open_cancel(&f, NULL, b.problem, b.data, &b.settings, 1, &cancel, &support_error));
  const idm_target target = idm_matching_target(f.matching[0]);
  const double y[] = {log(0.7), 0.4};
  double value;
  cancel.stop = true;
  assert_int_equal(target.evaluate(target.context, y, &value, NULL, &support_error), IDM_UNTRUSTED);
  idm_fit_close(&f);
  close_bench(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_open),
                                     cmocka_unit_test(test_pieces),
                                     cmocka_unit_test(test_pieces_are_possible),
                                     cmocka_unit_test(test_key),
                                     cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_halted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
