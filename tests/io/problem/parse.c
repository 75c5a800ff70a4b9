/* The YAML problem file: every key, to exact numbers. */
#include "idm/extension/planner.h"
#include "io/problem/problem_support.h"
#include "io/problem_file.h"

static const char diag[] =
    "name: diag\n"
    "states: [healthy, diseased]\n"
    "actions: [declare_healthy, declare_diseased, monitor]\n"
    "observations: [negative, positive]\n"
    "start: [0.5, 0.5]\n"
    "discount: 0.95\n"
    "ends: [declare_healthy, declare_diseased]           # the log stops there\n"
    "transition: {monitor: identity, declare_healthy: uniform, declare_diseased: uniform}\n"
    "observation: {\"*\": [[0.7, 0.3], [0.3, 0.7]]}\n"
    "utility: {monitor: -1, declare_healthy: [10, -36], declare_diseased: [-36, 10]}\n"
    "models:\n"
    "  - {weight: 1, observation: {\"*\": [[0.6, 0.4], [0.4, 0.6]]}}\n"
    "  - {weight: 1}\n"
    "  - {weight: 1, observation: {\"*\": [[0.8, 0.2], [0.2, 0.8]]}}\n"
    "agent: {planner: bounded-rational, alpha: 0.5, beta: inf, eta: 0, resolution: 99, evaluate: "
    "interpolate}\n"
    "free: {alpha: {scale: log, prior: {normal: [0, 2]}}}\n";

static void test_diag(void **state)
{
  (void)state;
  idm_notes notes = {0};
  idm_problem *p = parse(diag, &notes);
  assert_int_equal(notes.count, 0);
  const idm_setting *s = p->setting;
  assert_string_equal(s->name, "diag");
  assert_int_equal(s->states.count, 2);
  assert_int_equal(s->actions.count, 3);
  assert_string_equal(s->states.name[1], "diseased");
  assert_string_equal(s->actions.name[2], "monitor");
  assert_string_equal(s->observations.name[0], "negative");
  assert_int_equal(s->horizon, 0);
  assert_false(s->fully_observed);
  assert_true(s->ends[0] && s->ends[1] && !s->ends[2]);
  assert_true(!s->terminal[0] && !s->terminal[1] && !s->terminal[2]);
  expect_numbers(s->start, (double[]){.5, .5}, 2);
  const double transition[] = {.5, .5, .5, .5, .5, .5, .5, .5, 1, 0, 0, 1};
  const double emission[] = {.7, .3, .3, .7, .7, .3, .3, .7, .7, .3, .3, .7};
  expect_numbers(s->transition, transition, 12);
  expect_numbers(s->emission, emission, 12);
  assert_int_equal(p->theta->models, 3);
  expect_numbers(block(p, IDM_MODEL_PRIOR), (double[]){1.0 / 3, 1.0 / 3, 1.0 / 3}, 3);
  for (size_t m = 0; m < 3; m++) expect_numbers(block(p, IDM_TRANSITION) + 12 * m, transition, 12);
  for (size_t u = 0; u < 3; u++) {
    expect_numbers(block(p, IDM_EMISSION) + 4 * u, (double[]){.6, .4, .4, .6}, 4);
    expect_numbers(block(p, IDM_EMISSION) + 12 + 4 * u, (double[]){.7, .3, .3, .7}, 4);
    expect_numbers(block(p, IDM_EMISSION) + 24 + 4 * u, (double[]){.8, .2, .2, .8}, 4);
  }
  expect_numbers(block(p, IDM_UTILITY), (double[]){10, -36, -36, 10, -1, -1}, 6);
  assert_true(idm_theta_scalar(p->theta, IDM_DISCOUNT) == 0.95);
  assert_true(idm_theta_scalar(p->theta, IDM_ALPHA) == 0.5);
  assert_true(idm_theta_scalar(p->theta, IDM_BETA) == INFINITY);
  assert_true(idm_theta_scalar(p->theta, IDM_ETA) == 0);
  assert_string_equal(idm_agent_planner(&p->agent)->name, "bounded-rational");
  assert_int_equal(p->agent.resolution, 99);
  assert_int_equal(p->agent.evaluate, IDM_INTERPOLATE);
  const idm_block *alpha = &p->theta->block[IDM_ALPHA];
  assert_int_equal(alpha->role, IDM_DESCRIPTIVE);
  assert_int_equal(alpha->scale, IDM_SCALE_LOG);
  assert_int_equal(alpha->prior.kind, IDM_PRIOR_NORMAL);
  expect_numbers(alpha->prior.argument, (double[]){0, 2}, 2);
  assert_int_equal(p->theta->block[IDM_BETA].role, IDM_NORMATIVE);
  idm_problem_destroy(p);
}

static void test_agent(void **state)
{
  (void)state;
  idm_problem *p = parse(
      with("agent: {planner: decision-rule, alpha: -0.0, beta: -inf, eta: -3, temperature: 0.25, "
           "resolution: 7, evaluate: lookahead, surprise: observation, recognition: sampled, "
           "tolerance: 1e-6, decision_capacity: 0.1, specification_capacity: 0.2, "
           "recognition_capacity: 0.3, weights: {go: [1, 2], stop: [3, 4, 5]}}"),
      NULL);
  const idm_agent_options *agent = &p->agent;
  assert_string_equal(idm_agent_planner(agent)->name, "decision-rule");
  const double alpha = idm_theta_scalar(p->theta, IDM_ALPHA);
  assert_true(alpha == 0 && signbit(alpha));
  assert_true(idm_theta_scalar(p->theta, IDM_BETA) == -INFINITY);
  assert_true(idm_theta_scalar(p->theta, IDM_ETA) == -3);
  assert_true(idm_theta_scalar(p->theta, IDM_TEMPERATURE) == 0.25);
  assert_int_equal(agent->resolution, 7);
  assert_int_equal(agent->evaluate, IDM_LOOKAHEAD);
  assert_int_equal(agent->surprise, IDM_SURPRISE_OBSERVATION);
  assert_int_equal(agent->recognition, IDM_RECOGNITION_SAMPLED);
  assert_true(agent->tolerance == 1e-6 && agent->decision_capacity == 0.1 &&
              agent->specification_capacity == 0.2 && agent->recognition_capacity == 0.3);
  assert_int_equal(p->theta->block[IDM_WEIGHTS].size, 9);
  expect_numbers(block(p, IDM_WEIGHTS), (double[]){0, 0, 0, 0, 1, 2, 3, 4, 5}, 9);
  idm_problem_destroy(p);
}

static void test_priors(void **state)
{
  (void)state;
  idm_problem *p = parse(
      with(
          "action_prior: {stay: 2, \"*\": 1}\nbelief_prior: {dirichlet: [0.5, 2]}\n"
          "certainty: {above: 0.9, award: 2.5}\n"
          "data: {agent: doctor, trajectory: [ward, patient], time: day, action: act, observation: "
          "seen, available: open}\n"),
      NULL);
  expect_numbers(block(p, IDM_ACTION_PRIOR), (double[]){.5, .25, .25}, 3);
  assert_int_equal(p->theta->block[IDM_BELIEF_PRIOR].size, 2);
  expect_numbers(block(p, IDM_BELIEF_PRIOR), (double[]){.5, 2}, 2);
  expect_numbers(block(p, IDM_CERTAINTY), (double[]){.9, 2.5, 0}, 3);
  assert_string_equal(p->columns.role[IDM_COLUMN_AGENT].name[0], "doctor");
  assert_int_equal(p->columns.role[IDM_COLUMN_TRAJECTORY].count, 2);
  assert_string_equal(p->columns.role[IDM_COLUMN_TRAJECTORY].name[1], "patient");
  assert_string_equal(p->columns.role[IDM_COLUMN_TIME].name[0], "day");
  assert_string_equal(p->columns.role[IDM_COLUMN_ACTION].name[0], "act");
  assert_string_equal(p->columns.role[IDM_COLUMN_OBSERVATION].name[0], "seen");
  assert_string_equal(p->columns.role[IDM_COLUMN_AVAILABLE].name[0], "open");
  idm_problem_destroy(p);
  p = parse(with("action_prior: [0, 1, 3]"), NULL);
  expect_numbers(block(p, IDM_ACTION_PRIOR), (double[]){0, .25, .75}, 3);
  idm_problem_destroy(p);
}

static void test_notes(void **state)
{
  (void)state;
  idm_notes notes = {0};
  idm_problem *p = parse(
      "states: 3\nactions: 2\nobservations: 2\nstart: [0.333333, 0.333333, 0.333333]\n"
      "transition: [[0.33333, 0.33333, 0.33333], [0.5, 0.5, 0], [0.33333, 0.33333, 0.33333]]\n"
      "observation: uniform\n",
      &notes);
  assert_int_equal(notes.count, 4);
  assert_non_null(strstr(notes.text[0], "no discount is given: 0.95 is used"));
  assert_non_null(strstr(notes.text[1], "start sums to 0.999999 and was normalised"));
  assert_non_null(strstr(notes.text[2], "no utility is given"));
  assert_non_null(strstr(notes.text[3], "transition: 2 rows missed a sum of 1, by at most 1e-05"));
  expect_near(p->setting->transition, (double[]){1. / 3, 1. / 3, 1. / 3}, 3);
  idm_notes_clear(&notes);
  idm_problem_destroy(p);
}

/* What is no problem at all. */
static void test_documents(void **state)
{
  (void)state;
  expect_error("", 1, 1, "empty");
  expect_error("[1, 2]", 1, 1, "the problem is a list of 2; expected a mapping");
  expect_error("diag", 1, 1, "the problem is 'diag'; expected a mapping");
  expect_error("a: [", 2, 1, "not YAML");
  expect_error("a: 1\n--- \nb: 1\n", 2, 1, "second YAML document");
  expect_error(with("discont: 0.9"), 11, 1,
               "in the problem, the key 'discont' is unknown; did you mean 'discount'?");
  expect_error(with("<<: {a: 1}"), 11, 1, "the key '<<' is unknown");
  expect_error(with("discount: 0.5\ndiscount: 0.6"), 7, 1, "'discount' is given twice");
  expect_error(with("name: [x]"), 1, 7, "name is a list of 1; expected a text");
}

static void test_alias_bombs(void **state)
{
  (void)state;
  /* Ten levels of nine aliases would be 3.5e9 nodes if anyone unfolded them. */
  char text[1000] = "";
  size_t length = (size_t)sprintf(text, "a: &a0 [x]\n");
  for (int i = 1; i <= 10; i++)
    length += (size_t)sprintf(text + length,
                              "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n",
                              i, i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
  expect_error(text, 1, 1, "the key 'a' is unknown");
  expect_error("states: &s [*s]\nactions: 1\nobservations: 1\n", 1, 9,
               "a state is a list of 1; expected a label");
  expect_error(with("models: &m [*m]"), 11, 9, "models, item 1 is a list of 1");
  expect_error(with("transition: &t [*t, *t]"), 8, 13, "is a list of 2; expected a finite number");
  /* Sharing is fine where it means something. */
  idm_problem *p = parse(with("transition: {stay: &m [[0.5, 0.5], [0, 1]], go: *m}"), NULL);
  expect_numbers(p->setting->transition + 4, (double[]){.5, .5, 0, 1}, 4);
  idm_problem_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_diag),      cmocka_unit_test(test_agent),
      cmocka_unit_test(test_priors),    cmocka_unit_test(test_notes),
      cmocka_unit_test(test_documents), cmocka_unit_test(test_alias_bombs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
