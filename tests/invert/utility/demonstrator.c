/* Demonstrators: counts, frequencies, deterministic policies and both occupancies, against values
 * by hand. */
#include "invert/utility/mdp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/walk.h"
#include "support.h"

static const char log_text[] = "trajectory,state,action\n"
                               "1,a,right\n1,b,right\n1,c,left\n1,b,\n"
                               "2,a,right\n2,a,left\n2,a,right\n2,b,\n";

typedef struct scene {
  idm_problem *problem;
  idm_data *data;
  idm_mdp *mdp;
  idm_demonstrator *demonstrator;
} scene;

static scene open_scene_of(const char *problem, const char *log)
{
  scene s = {.problem = support_yaml(problem)};
  s.data = support_data(s.problem, log);
  check(idm_mdp_create(s.problem, s.problem->setting, "somebody", &s.mdp, &support_error));
  check(idm_demonstrator_create(s.mdp, s.data, s.problem->setting, NULL, &s.demonstrator,
                                &support_error));
  return s;
}

static scene open_scene(const char *log)
{
  return open_scene_of(WALK, log);
}

static void close_scene(scene *s)
{
  idm_demonstrator_destroy(s->demonstrator);
  idm_mdp_destroy(s->mdp);
  idm_data_destroy(s->data);
  idm_problem_destroy(s->problem);
}

static void test_counts(void **state)
{
  (void)state;
  scene s = open_scene(log_text);
  const double count[] = {1, 3, 0, 1, 1, 0};
  const double policy[] = {0.25, 0.75, 0, 1, 1, 0};
  for (size_t i = 0; i < 6; i++) assert_near(s.demonstrator->count[i], count[i], 0);
  for (size_t i = 0; i < 6; i++) assert_near(s.demonstrator->policy[i], policy[i], 1e-15);
  assert_int_equal(s.demonstrator->decisions, 6);
  assert_int_equal(s.demonstrator->without_state, 0);
  close_scene(&s);
}

/* Without a recorded state a decision is not counted; an unvisited state has the action prior, and
 * a note reports its share of the occupancy. */
static void test_what_is_missing(void **state)
{
  (void)state;
  scene s = open_scene("trajectory,action,observation\n1,right,\n1,right,b\n1,right,\n");
  assert_int_equal(s.demonstrator->decisions, 2);
  assert_int_equal(s.demonstrator->without_state, 1);
  assert_near(s.demonstrator->policy[4], 0.5, 1e-15);
  double occupancy[6];
  idm_notes notes = {0};
  check(idm_demonstrator_occupancy(s.demonstrator, s.mdp, s.data, s.problem->setting, false,
                                   occupancy, &notes, &support_error));
  assert_int_equal(notes.count, 1);
  assert_non_null(strstr(notes.text[0], "states that the log never visits"));
  idm_notes_clear(&notes);
  close_scene(&s);
}

static void test_deterministic(void **state)
{
  (void)state;
  scene s = open_scene(log_text);
  int32_t action[3];
  idm_error error = {0};
  assert_int_equal(idm_demonstrator_deterministic(s.demonstrator, s.problem->setting, "somebody",
                                                  action, &error),
                   IDM_INPUT);
  assert_non_null(strstr(error.message, "the log has more in 1 state: 'a'"));
  close_scene(&s);
  s = open_scene("trajectory,state,action\n1,a,right\n1,b,left\n1,a,\n");
  check(idm_demonstrator_deterministic(s.demonstrator, s.problem->setting, "somebody", action,
                                       &support_error));
  assert_int_equal(action[0], 1);
  assert_int_equal(action[1], 0);
  assert_int_equal(action[2], IDM_MISSING);
  close_scene(&s);
}

static void test_empirical(void **state)
{
  (void)state;
  scene s = open_scene(log_text);
  double occupancy[6];
  check(idm_demonstrator_occupancy(s.demonstrator, s.mdp, s.data, s.problem->setting, true,
                                   occupancy, NULL, &support_error));
  const double total = 2 * (1 + 0.9 + 0.81);
  const double expected[] = {0.9, 2 + 0.81, 0, 0.9, 0.81, 0};
  for (size_t i = 0; i < 6; i++) assert_near(occupancy[i], expected[i] / total, 1e-15);
  close_scene(&s);
}

/* A missed response is not a decision: it is not counted, and the step is discounted. */
static void test_missed(void **state)
{
  (void)state;
  scene s = open_scene(log_text);
  const int32_t missed[] = {-1, 0, -1, -1, -1, -1};
  s.data->missed = malloc(sizeof missed);
  assert_non_null(s.data->missed);
  memcpy(s.data->missed, missed, sizeof missed);
  idm_demonstrator_destroy(s.demonstrator);
  check(idm_demonstrator_create(s.mdp, s.data, s.problem->setting, NULL, &s.demonstrator,
                                &support_error));
  const double count[] = {1, 3, 0, 0, 1, 0};
  for (size_t i = 0; i < 6; i++) assert_near(s.demonstrator->count[i], count[i], 0);
  assert_int_equal(s.demonstrator->decisions, 5);
  double occupancy[6];
  check(idm_demonstrator_occupancy(s.demonstrator, s.mdp, s.data, s.problem->setting, true,
                                   occupancy, NULL, &support_error));
  const double total = 2 + 0.9 + 2 * 0.81;
  const double expected[] = {0.9, 2 + 0.81, 0, 0, 0.81, 0};
  for (size_t i = 0; i < 6; i++) assert_near(occupancy[i], expected[i] / total, 1e-15);
  close_scene(&s);
}

/* Of selected trajectories only; and of none. */
static void test_selection(void **state)
{
  (void)state;
  scene s = open_scene(log_text);
  idm_demonstrator *second = NULL;
  check(idm_demonstrator_create(s.mdp, s.data, s.problem->setting, (const bool[]){false, true},
                                &second, &support_error));
  assert_near(second->policy[0], 1.0 / 3, 1e-15);
  idm_demonstrator_destroy(second);
  idm_error error = {0};
  assert_int_equal(idm_demonstrator_create(s.mdp, s.data, s.problem->setting,
                                           (const bool[]){false, false}, &second, &error),
                   IDM_INPUT);
  assert_non_null(strstr(error.message, "nothing was demonstrated"));
  close_scene(&s);
}

/* An episode that reaches a terminal state counts its steps and no stay there: the occupancy of the
 * log's own policy has no mass in the goal either. */
static void test_terminal(void **state)
{
  (void)state;
  static const char problem[] =
      "states: [a, goal]\nactions: [go, rest]\nobservations: states\ndiscount: 0.5\n"
      "terminal: [goal]\ntransition: {go: [[0.5, 0.5], [1, 0]], rest: identity}\n";
  scene s = open_scene_of(problem, "trajectory,state,action\n1,a,go\n1,goal,\n"
                                   "2,a,go\n2,a,go\n2,goal,\n");
  double empirical[4], planned[4];
  check(idm_demonstrator_occupancy(s.demonstrator, s.mdp, s.data, s.problem->setting, true,
                                   empirical, NULL, &support_error));
  check(idm_demonstrator_occupancy(s.demonstrator, s.mdp, s.data, s.problem->setting, false,
                                   planned, NULL, &support_error));
  assert_near(empirical[0], 0.5 * (1 + (1 + 0.5)) / 2, 1e-15);
  /* (1 - discount) / (1 - discount / 2) */
  assert_near(planned[0], 0.5 / 0.75, 1e-12);
  for (size_t i = 1; i < 4; i++) assert_true(empirical[i] == 0 && planned[i] == 0);
  close_scene(&s);
}

/* The effective number of decisions of a sum over occupancies: by hand for the log's occupancy,
 * weighted by discounts, and for a policy's occupancy, divided by the decisions of each state. */
static void test_effective(void **state)
{
  (void)state;
  scene s = open_scene(log_text);
  double occupancy[6];
  const idm_setting *setting = s.problem->setting;
  check(idm_demonstrator_occupancy(s.demonstrator, s.mdp, s.data, setting, true, occupancy, NULL,
                                   &support_error));
  const double sum = 2 * (1 + 0.9 + 0.81), squares = 2 * (1 + 0.81 + 0.81 * 0.81);
  assert_near(idm_demonstrator_ess(s.demonstrator, s.mdp, s.data, setting, true, occupancy),
              sum * sum / squares, 1e-12);
  check(idm_demonstrator_occupancy(s.demonstrator, s.mdp, s.data, setting, false, occupancy, NULL,
                                   &support_error));
  const double visits[] = {4, 1, 1};
  double mass = 0, weighed = 0;
  for (size_t i = 0; i < 3; i++) {
    const double m = occupancy[2 * i] + occupancy[2 * i + 1];
    mass += m;
    weighed += m * m / visits[i];
  }
  assert_near(idm_demonstrator_ess(s.demonstrator, s.mdp, s.data, setting, false, occupancy),
              mass / weighed, 1e-12);
  close_scene(&s);
}

/* The effective number of decisions of the log's occupancy, by hand: a trajectory that ended leaves
 * its mass after the end empty, and one that is truncated has the mass of a whole trajectory. */
static void test_effective_of_both_kinds(void **state)
{
  (void)state;
  static const char problem[] =
      "states: [a, goal]\nactions: [go, rest]\nobservations: states\ndiscount: 0.5\n"
      "terminal: [goal]\ntransition: {go: [[0.5, 0.5], [1, 0]], rest: identity}\n";
  scene s = open_scene_of(problem, "trajectory,state,action\n1,a,go\n1,goal,\n"
                                   "2,a,go\n2,a,go\n2,a,\n");
  double occupancy[4];
  const double weight[] = {0.5 / 2, 0.5 / 1.5, 0.25 / 1.5};
  double sum = 0, squares = 0;
  for (size_t i = 0; i < 3; i++) {
    sum += weight[i];
    squares += weight[i] * weight[i];
  }
  check(idm_demonstrator_occupancy(s.demonstrator, s.mdp, s.data, s.problem->setting, true,
                                   occupancy, NULL, &support_error));
  assert_near(occupancy[0], sum, 1e-15);
  assert_near(
      idm_demonstrator_ess(s.demonstrator, s.mdp, s.data, s.problem->setting, true, occupancy),
      sum / squares, 1e-12);
  close_scene(&s);
}

/* The discounted mass after the three recorded steps of each trajectory: 0.9^3, or up to the
 * horizon; 0 for a trajectory that ends in a terminal state. */
static void test_cut(void **state)
{
  (void)state;
  scene s = open_scene(log_text);
  const double left = 0.9 * 0.9 * 0.9;
  assert_near(idm_demonstrator_truncated(s.mdp, s.data, s.problem->setting), left, 1e-15);
  s.problem->setting->horizon = 6;
  const double end = pow(0.9, 6);
  assert_near(idm_demonstrator_truncated(s.mdp, s.data, s.problem->setting),
              (left - end) / (1 - end), 1e-15);
  s.problem->setting->horizon = 3;
  assert_near(idm_demonstrator_truncated(s.mdp, s.data, s.problem->setting), 0, 0);
  close_scene(&s);
  s = open_scene_of("states: [a, goal]\nactions: [go, rest]\nobservations: states\ndiscount: 0.5\n"
                    "terminal: [goal]\ntransition: {go: [[0.5, 0.5], [1, 0]], rest: identity}\n",
                    "trajectory,state,action\n1,a,go\n1,goal,\n2,a,go\n");
  assert_near(idm_demonstrator_truncated(s.mdp, s.data, s.problem->setting), 0.25, 1e-15);
  close_scene(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts),
                                     cmocka_unit_test(test_what_is_missing),
                                     cmocka_unit_test(test_deterministic),
                                     cmocka_unit_test(test_empirical),
                                     cmocka_unit_test(test_missed),
                                     cmocka_unit_test(test_selection),
                                     cmocka_unit_test(test_terminal),
                                     cmocka_unit_test(test_effective),
                                     cmocka_unit_test(test_effective_of_both_kinds),
                                     cmocka_unit_test(test_cut)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
