/* An explorer does what the library does: plans, episodes and scores are those of the same numbers
 * given to it directly. */
#include "report/explorer/explorer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/workspace.h"
#include "support.h"

static idm_explorer *open_explorer(const idm_problem *problem)
{
  char *bytes;
  size_t length;
  check(idm_problem_serialise(problem, &bytes, &length, &support_error));
  idm_explorer *explorer = idm_explorer_open(bytes, length);
  free(bytes);
  assert_non_null(explorer);
  assert_null(idm_explorer_message(explorer));
  return explorer;
}

static void numbers_that_move_are_planned_for(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_explorer *explorer = open_explorer(problem);
  assert_int_equal(idm_explorer_set(explorer, IDM_ALPHA, 0, 1, 3), IDM_OK);
  assert_int_equal(idm_explorer_set(explorer, IDM_UTILITY, 4, 2, -2), IDM_OK);
  assert_int_equal(idm_explorer_plan(explorer, 0), IDM_OK);
  support_assign(problem, "alpha=3");
  support_assign(problem, "utility.monitor=-2");
  idm_workspace *workspace = support_plan(problem, NULL);
  double policy[3];
  idm_plan_policy(workspace, 0, problem->setting->start, policy, NULL);
  for (size_t u = 0; u < 3; u++) assert_near(explorer->trace->policy[u], policy[u], 1e-7);
  /* Anew it is a function of the numbers, whatever came before. */
  assert_int_equal(idm_explorer_plan(explorer, 1), IDM_OK);
  assert_memory_equal(explorer->trace->policy, policy, sizeof policy);
  idm_workspace_destroy(workspace);
  idm_explorer_close(explorer);
  idm_problem_destroy(problem);
}

static void what_cannot_be_planned_for_leaves_the_last_plan(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_explorer *explorer = open_explorer(problem);
  double policy[3];
  memcpy(policy, explorer->trace->policy, sizeof policy);
  assert_int_equal(idm_explorer_set(explorer, IDM_DISCOUNT, 0, 1, 1), IDM_OK);
  assert_int_not_equal(idm_explorer_plan(explorer, 1), IDM_OK);
  assert_non_null(strstr(idm_explorer_message(explorer), "discount"));
  assert_memory_equal(explorer->trace->policy, policy, sizeof policy);
  assert_int_equal(idm_explorer_set(explorer, 1000, 0, 1, 1), IDM_USAGE);
  assert_int_equal(idm_explorer_set(explorer, IDM_ALPHA, 1, 1, 1), IDM_USAGE);
  assert_int_equal(idm_explorer_set(explorer, IDM_ALPHA, 0, SIZE_MAX, 1), IDM_USAGE);
  idm_explorer_close(explorer);
  idm_problem_destroy(problem);
}

static void bytes_that_are_no_parcel_are_told(void **state)
{
  (void)state;
  idm_explorer *explorer = idm_explorer_open("no parcel", 9);
  assert_non_null(explorer);
  assert_non_null(idm_explorer_message(explorer));
  idm_explorer_close(explorer);
  idm_explorer_close(NULL);
}

/* Steps until the episode is over; returns their number. */
static size_t run_out(idm_explorer *explorer)
{
  size_t steps = 0;
  for (; !idm_explorer_over(explorer) && steps < 1000; steps++)
    assert_int_equal(idm_explorer_step(explorer), IDM_OK);
  assert_true(idm_explorer_over(explorer));
  assert_int_equal(idm_explorer_step(explorer), IDM_OK);
  return steps;
}

static void an_episode_follows_the_agent_and_is_the_same_by_its_seed(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(2, INFINITY, 0);
  idm_explorer *a = open_explorer(problem), *b = open_explorer(problem);
  size_t longest = 0;
  for (unsigned seed = 1; seed < 40; seed++) {
    assert_int_equal(idm_explorer_begin(a, seed), IDM_OK);
    assert_int_equal(idm_explorer_begin(b, seed), IDM_OK);
    run_out(a);
    run_out(b);
    assert_int_equal(a->events, b->events);
    assert_int_equal(a->last, b->last);
    assert_true(problem->setting->ends[a->last]);
    if (a->events > longest) longest = a->events;
    idm_path_trace *f;
    check(idm_path_trace_events(a->problem->setting, a->workspace, NULL, a->event, a->events, &f,
                                &support_error));
    assert_memory_equal(f->belief, a->trace->belief, f->step_count * 2 * sizeof(double));
    idm_path_trace_destroy(f);
  }
  assert_true(longest > 1);
  idm_explorer_close(a);
  idm_explorer_close(b);
  idm_problem_destroy(problem);
}

/* Of 4000 first actions the shares are the policy's to five standard errors. */
static void actions_are_drawn_by_the_policy(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(20, INFINITY, 0);
  idm_explorer *explorer = open_explorer(problem);
  enum { count = 4000 };
  double times[3] = {0};
  for (unsigned seed = 1; seed <= count; seed++) {
    assert_int_equal(idm_explorer_begin(explorer, seed), IDM_OK);
    assert_int_equal(idm_explorer_step(explorer), IDM_OK);
    times[explorer->events ? explorer->event[0].action : explorer->last]++;
  }
  for (size_t u = 0; u < 3; u++) {
    const double p = explorer->trace->policy[u];
    assert_true(fabs(times[u] / count - p) < 5 * sqrt(p * (1 - p) / count));
  }
  idm_explorer_close(explorer);
  idm_problem_destroy(problem);
}

static void a_horizon_ends_an_episode(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  support_assign(problem, "horizon=3");
  support_assign(problem, "utility.monitor=50");
  idm_explorer *explorer = open_explorer(problem);
  assert_int_equal(run_out(explorer), 3);
  assert_int_equal(explorer->events, 2);
  idm_explorer_close(explorer);
  idm_problem_destroy(problem);
}

static void observed_states_begin_where_they_are(void **state)
{
  (void)state;
  idm_problem *problem =
      support_yaml("states: [good, worn]\nactions: [run, repair]\nobservations: states\n"
                   "start: [0.5, 0.5]\ntransition: {run: [[0.7, 0.3], [0, 1]], repair: [[1, 0], "
                   "[0.9, 0.1]]}\nutility: {run: [5, 1], repair: -1}\nagent: {alpha: 3}\n");
  idm_explorer *explorer = open_explorer(problem);
  bool seen[2] = {false};
  for (unsigned seed = 1; seed < 20; seed++) {
    assert_int_equal(idm_explorer_begin(explorer, seed), IDM_OK);
    seen[explorer->first] = true;
    assert_true(explorer->trace->belief[explorer->first] == 1);
    assert_int_equal(idm_explorer_step(explorer), IDM_OK);
    assert_int_equal(explorer->event[0].observation, explorer->state);
    assert_true(explorer->trace->belief[2 + explorer->state] == 1);
  }
  assert_true(seen[0] && seen[1]);
  idm_explorer_close(explorer);
  idm_problem_destroy(problem);
}

static void a_log_is_scored_as_ever(void **state)
{
  (void)state;
  static const char csv[] = "trajectory,action,observation\n1,monitor,positive\n1,monitor,\n"
                            "1,declare_diseased,\n2,,negative\n2,declare_healthy,\n";
  idm_problem *problem = support_diag(2, INFINITY, 0);
  idm_explorer *explorer = open_explorer(problem);
  assert_true(isnan(idm_explorer_score(explorer)));
  assert_int_equal(idm_explorer_load(explorer, csv, strlen(csv)), IDM_OK);
  for (int moved = 0; moved < 2; moved++) {
    idm_workspace *workspace = support_plan(problem, NULL);
    idm_data *data = support_data(problem, csv);
    assert_true(idm_explorer_score(explorer) == support_score(workspace, data));
    assert_true(idm_explorer_decisions(explorer) == 4);
    idm_data_destroy(data);
    idm_workspace_destroy(workspace);
    support_assign(problem, "alpha=5");
    idm_explorer_set(explorer, IDM_ALPHA, 0, 1, 5);
    assert_int_equal(idm_explorer_plan(explorer, 1), IDM_OK);
  }
  assert_int_equal(idm_explorer_load(explorer, "action\nfly\n", 11), IDM_INPUT);
  assert_non_null(idm_explorer_message(explorer));
  assert_true(isnan(idm_explorer_score(explorer)));
  assert_int_equal(idm_explorer_plan(explorer, 1), IDM_OK);
  idm_explorer_close(explorer);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_that_move_are_planned_for),
      cmocka_unit_test(what_cannot_be_planned_for_leaves_the_last_plan),
      cmocka_unit_test(bytes_that_are_no_parcel_are_told),
      cmocka_unit_test(an_episode_follows_the_agent_and_is_the_same_by_its_seed),
      cmocka_unit_test(actions_are_drawn_by_the_policy),
      cmocka_unit_test(a_horizon_ends_an_episode),
      cmocka_unit_test(observed_states_begin_where_they_are),
      cmocka_unit_test(a_log_is_scored_as_ever),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
