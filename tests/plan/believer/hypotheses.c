/* Tests hypotheses step by step: weighting, marginalisation and rejection against hand
 * computations. believer.c compares likelihoods with enumeration, slope.c derivatives with
 * differences. */
#include "plan/believer/believer.h"

#include <math.h>
#include <string.h>

#include "plan/workspace.h"
#include "support.h"

typedef struct scene {
  idm_problem *problem;
  idm_workspace *workspace;
  const belief_agent *b;
  step_scratch scratch;
  hypotheses now;
  hypotheses updated;
} scene;

static scene open_scene(const char *yaml)
{
  scene s;
  check(idm_problem_parse_yaml(yaml, strlen(yaml), "t", &s.problem, NULL, &support_error));
  s.workspace = support_plan(s.problem, NULL);
  s.b = &s.workspace->belief_agent;
  check(idm_step_scratch_init(s.b, &s.scratch, &support_error));
  check(idm_hypotheses_init(s.b, &s.now, &support_error));
  check(idm_hypotheses_init(s.b, &s.updated, &support_error));
  check(
      idm_hypotheses_begin(s.b, &s.scratch, &s.now, 0, s.problem->setting->start, &support_error));
  return s;
}

static void close_scene(scene *s)
{
  idm_hypotheses_free(&s->now);
  idm_hypotheses_free(&s->updated);
  idm_step_scratch_free(&s->scratch);
  idm_workspace_destroy(s->workspace);
  idm_problem_destroy(s->problem);
}

static idm_status try_event(scene *s, idm_event event, const bool *open, update_result *result)
{
  check(idm_hypotheses_decide(s->b, &s->scratch, &s->now, &support_error));
  const idm_status status = idm_hypotheses_update(s->b, &s->scratch, &s->now, &event, open,
                                                  &s->updated, result, NULL, &support_error);
  if (status != IDM_OK) return status;
  const hypotheses swapped = s->now;
  s->now = s->updated;
  s->updated = swapped;
  return IDM_OK;
}

static double happens(scene *s, int action, int observation)
{
  update_result result;
  check(try_event(s, (idm_event){.action = action, .observation = observation}, NULL, &result));
  return result.log_evidence;
}

/* A test of accuracy .8 in the environment, which the agent believes to be .6. */
static const char *const tests =
    "states: [a, b]\nactions: [test, stop]\nobservations: [x, y]\ntransition: {\"*\": identity}\n"
    "observation: {\"*\": [[0.8, 0.2], [0.2, 0.8]]}\nutility: {test: 0, stop: [1, 0]}\n"
    "start: [0.5, 0.5]\nends: [stop]\nagent: {alpha: 1}\n"
    "models: [{weight: 1, observation: {\"*\": [[0.6, 0.4], [0.4, 0.6]]}}]\n";

/* A missing observation is weighted by the environment, not by the agent's expectation. The next
 * observation reweights it. */
static void the_environment_weighs(void **state)
{
  (void)state;
  scene s = open_scene(tests);
  assert_false(s.now.set.tracks_environment);
  assert_true(happens(&s, 0, 0) == 0);
  assert_false(s.now.set.tracks_environment);
  assert_near(s.now.known[0], 0.8, 1e-15);
  assert_near(happens(&s, 0, IDM_MISSING), 0, 1e-15);
  assert_true(s.now.set.tracks_environment);
  assert_int_equal(s.now.set.count, 2);
  assert_near(s.now.set.weight[0], 0.8 * 0.8 + 0.2 * 0.2, 1e-15);
  assert_near(s.now.set.belief[0], 0.36 / (0.36 + 0.16), 1e-15);
  assert_near(s.now.set.env_belief[0], 0.64 / (0.64 + 0.04), 1e-15);
  assert_near(s.now.set.belief[2], 0.5, 1e-15);
  assert_near(s.now.set.env_belief[2], 0.5, 1e-15);
  assert_near(s.now.known[0], 0.8,
              1e-15); /* without a model of the agent, given the recorded cells only */
  check(idm_hypotheses_decide(s.b, &s.scratch, &s.now, &support_error));
  /* The probability of y is .2 * .941 + .8 * .059 after x x, and .5 after x y; it is .32 without a
   * model of the agent. */
  const double first = 0.68 * s.now.set.decision[0], second = 0.32 * s.now.set.decision[2];
  const double after[2] = {(0.64 * 0.2 + 0.04 * 0.8) / 0.68, 0.5};
  const double expected =
      log((first * after[0] + second * after[1]) / (first + second)) - log(0.8 * 0.2 + 0.2 * 0.8);
  assert_near(happens(&s, 0, 1), expected, 1e-14);
  assert_near(s.now.set.weight[0] / s.now.set.weight[1], first * after[0] / (second * after[1]),
              1e-12);
  close_scene(&s);
}

/* A missing observation between two tests: x y and y x are equivalent for both agent and
 * environment. */
static void equal_histories_are_one(void **state)
{
  (void)state;
  scene s = open_scene(tests);
  happens(&s, 0, IDM_MISSING);
  happens(&s, 0, IDM_MISSING);
  assert_int_equal(s.now.set.count, 3);
  happens(&s, 0, IDM_MISSING);
  assert_int_equal(s.now.set.count, 4);
  double total = 0;
  for (size_t i = 0; i < 4; i++) total += s.now.set.weight[i];
  assert_near(total, 1, 1e-15);
  close_scene(&s);
}

/* If an action is missing and the trajectory continues, the action was not a terminating one. This
 * evidence is counted, and none is counted where the trajectory ends. */
static void going_on_is_evidence(void **state)
{
  (void)state;
  scene s = open_scene(tests);
  check(idm_hypotheses_decide(s.b, &s.scratch, &s.now, &support_error));
  const double goes_on = s.now.set.decision[0];
  assert_near(happens(&s, IDM_MISSING, 0), log(goes_on), 1e-14);
  update_result result;
  const idm_event last = {.action = IDM_MISSING, .observation = 0, .last = true};
  check(try_event(&s, last, NULL, &result));
  assert_near(result.log_evidence, 0, 1e-14); /* both actions have the same emissions */
  close_scene(&s);
  s = open_scene(tests);
  const bool forced[2] = {false, true};
  const idm_event middle = {.action = IDM_MISSING, .observation = 0};
  assert_int_equal(try_event(&s, middle, forced, &result), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "would have ended"));
  close_scene(&s);
}

/* For an agent that never tests a continuation is impossible, and the rest has no further effect.
 */
static void after_what_never_happens_nothing_is_left(void **state)
{
  (void)state;
  scene s = open_scene(tests);
  support_set(s.problem, 0, INFINITY, 0);
  check(idm_plan(s.problem->theta, NULL, s.workspace, NULL, &support_error));
  assert_true(happens(&s, IDM_MISSING, 0) == -INFINITY);
  assert_int_equal(s.now.set.count, 0);
  assert_true(happens(&s, 0, 1) == 0);
  assert_int_equal(s.now.set.count, 0);
  close_scene(&s);
}

/* An observation that is impossible in the environment is rejected where its weight is needed, and
 * only there. */
static void the_environment_may_exclude_what_the_agent_does_not(void **state)
{
  (void)state;
  scene s = open_scene(
      "states: [a, b]\nactions: [test]\nobservations: [x, y]\ntransition: {\"*\": identity}\n"
      "observation: {\"*\": [[1, 0], [0, 1]]}\nutility: {test: 0}\nstart: [0.5, 0.5]\n"
      "models: [{weight: 1, observation: {\"*\": [[0.6, 0.4], [0.4, 0.6]]}}]\n");
  update_result result;
  assert_true(happens(&s, 0, 0) == 0);
  assert_true(happens(&s, 0, 1) == 0);
  const idm_event blank = {.action = 0, .observation = IDM_MISSING};
  assert_int_equal(try_event(&s, blank, NULL, &result), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "impossible in the environment"));
  close_scene(&s);
}

/* In an MDP an observed state removes all uncertainty. */
static void a_state_that_was_seen_ends_all_doubt(void **state)
{
  (void)state;
  scene s = open_scene("states: [a, b, c]\nobservations: states\nactions: [go]\nutility: {go: 0}\n"
                       "transition: {go: [[0.2, 0.3, 0.5], [0.1, 0.8, 0.1], [0.6, 0.2, 0.2]]}\n"
                       "start: [0.5, 0.25, 0.25]\n");
  assert_int_equal(s.now.set.count, 3);
  assert_true(s.now.set.tracks_environment);
  assert_near(happens(&s, 0, IDM_MISSING), 0, 1e-15);
  assert_int_equal(s.now.set.count, 3);
  assert_near(s.now.set.weight[0], 0.5 * 0.2 + 0.25 * 0.1 + 0.25 * 0.6, 1e-15);
  assert_near(happens(&s, 0, 2), 0, 1e-14); /* one action: no information on the agent */
  assert_int_equal(s.now.set.count, 1);
  assert_false(s.now.set.tracks_environment);
  const idm_event next = {.action = 0, .observation = 1};
  assert_true(idm_hypotheses_is_single(s.b, &s.now, &next));
  close_scene(&s);
}

int main(void)
{
  const struct CMUnitTest all[] = {
      cmocka_unit_test(the_environment_weighs),
      cmocka_unit_test(equal_histories_are_one),
      cmocka_unit_test(going_on_is_evidence),
      cmocka_unit_test(after_what_never_happens_nothing_is_left),
      cmocka_unit_test(the_environment_may_exclude_what_the_agent_does_not),
      cmocka_unit_test(a_state_that_was_seen_ends_all_doubt),
  };
  return cmocka_run_group_tests(all, NULL, NULL);
}
