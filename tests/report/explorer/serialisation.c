/* Parcels: what comes out plans to the same bits and reads the same logs as what went in. */
#include "report/explorer/explorer.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

static idm_problem *there_and_back(const idm_problem *problem)
{
  char *bytes;
  size_t length;
  idm_problem *back;
  check(idm_problem_serialise(problem, &bytes, &length, &support_error));
  check(idm_problem_deserialise(bytes, length, &back, &support_error));
  free(bytes);
  return back;
}

/* Behaviours of both along one simulated log, and its likelihood: not a bit differs. */
static void compare_plans(const idm_problem *problem, const idm_problem *back)
{
  idm_workspace *a = support_plan(problem, NULL), *b = support_plan(back, NULL);
  const idm_simulation simulation = {.trajectories = 20, .steps = 6, .seed = 5};
  idm_data *data = support_simulate(problem, simulation);
  const double first = support_score(a, data), second = support_score(b, data);
  assert_memory_equal(&first, &second, sizeof first);
  if (idm_workspace_planner(a)->belief && idm_workspace_planner(a)->belief->value) {
    const double *z = problem->setting->start;
    const double mine = idm_plan_value(a, 0, z), its = idm_plan_value(b, 0, z);
    assert_memory_equal(&mine, &its, sizeof mine);
  }
  idm_data_destroy(data);
  idm_workspace_destroy(a);
  idm_workspace_destroy(b);
}

static void every_example_plans_to_the_same_bits(void **state)
{
  (void)state;
  for (size_t i = 0; idm_example_name(i); i++) {
    idm_problem *problem = support_yaml(idm_example_text(i));
    if (!problem->utility_sources) {
      idm_problem *back = there_and_back(problem);
      assert_true(idm_labels_same(&problem->setting->states, &back->setting->states));
      compare_plans(problem, back);
      idm_problem_destroy(back);
    }
    idm_problem_destroy(problem);
  }
}

static void agents_of_every_form_come_back(void **state)
{
  (void)state;
  static const char *const agents[] = {"planner=boltzmann-exploratory",
                                       "planner=rational",
                                       "planner=decision-network",
                                       "planner=td-learner",
                                       "planner=point-based",
                                       "horizon=4",
                                       "alpha_unit=range",
                                       "evidence_weight=0.4",
                                       "resolution=17",
                                       "beta=-3",
                                       "seed=18446744073709551615"};
  for (size_t i = 0; i < sizeof agents / sizeof agents[0]; i++) {
    idm_problem *problem = support_diag(0.5, 1.25, 0.001);
    support_assign(problem, agents[i]);
    idm_problem *back = there_and_back(problem);
    assert_ptr_equal(idm_agent_planner(&back->agent), idm_agent_planner(&problem->agent));
    for (const idm_key *key = idm_agent_option_keys(); key->name; key++)
      assert_true(idm_key_same(key, &problem->agent, &back->agent, 0));
    compare_plans(problem, back);
    idm_problem_destroy(back);
    idm_problem_destroy(problem);
  }
}

static void moves_come_back(void **state)
{
  (void)state;
  idm_problem *problem =
      support_yaml("states: [a, b, c]\nactions: [go, stay]\nobservations: states\n"
                   "transition: {go: {a: {b: 1}, b: {c: 0.5, a: 0.5}, c: {a: 1}}, stay: {a: {a: "
                   "1}, b: {b: 1}, c: {c: 1}}}\n"
                   "utility: {go: [0, 1, 5], stay: 0.5}\nagent: {alpha: 1}\n");
  idm_problem *back = there_and_back(problem);
  assert_non_null(problem->setting->moves);
  assert_true(idm_sparse_rows_same(problem->setting->moves, back->setting->moves));
  compare_plans(problem, back);
  idm_problem_destroy(back);
  idm_problem_destroy(problem);
}

static void logs_are_read_alike(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(
      "states: [s, t]\nactions: [go, stay]\nobservations: [n, p]\nstart: [0.5, 0.5]\n"
      "transition: {\"*\": identity}\nobservation: {\"*\": [[0.7, 0.3], [0.3, 0.7]]}\n"
      "utility: {go: [1, 0], stay: 0}\nagent: {alpha: 1}\n"
      "data: {action: did, observation: saw, trajectory: [site, id], missing: [\"?\"],\n"
      "  missed: {values: late, action: stay},\n"
      "  codes: {action: {G: go, S: stay}}}\n");
  idm_problem *back = there_and_back(problem);
  static const char csv[] = "site,id,did,saw\nx,1,G,n\nx,1,S,?\ny,1,late,p\n";
  idm_data *a = support_data(problem, csv), *b = support_data(back, csv);
  assert_true(idm_problem_has_log_reader(problem));
  assert_int_equal(a->rows, 3);
  assert_int_equal(b->rows, 3);
  assert_int_equal(b->trajectories, 2);
  assert_memory_equal(a->action, b->action, 3 * sizeof *a->action);
  assert_memory_equal(a->observation, b->observation, 3 * sizeof *a->observation);
  assert_memory_equal(a->missed, b->missed, 3 * sizeof *a->missed);
  assert_int_equal(b->action[2], 1);
  idm_data_destroy(a);
  idm_data_destroy(b);
  idm_problem_destroy(back);
  idm_problem_destroy(problem);
}

static void what_is_damaged_is_refused(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001), *back;
  char *bytes;
  size_t length;
  idm_error error = {0};
  check(idm_problem_serialise(problem, &bytes, &length, &support_error));
  for (size_t cut = 0; cut < length; cut += 13) {
    assert_int_equal(idm_problem_deserialise(bytes, cut, &back, &error), IDM_INPUT);
    assert_null(back);
  }
  for (size_t i = 0; i < length; i += 7) {
    bytes[i] = (char)(bytes[i] ^ 0x10);
    assert_int_equal(idm_problem_deserialise(bytes, length, &back, &error), IDM_INPUT);
    bytes[i] = (char)(bytes[i] ^ 0x10);
  }
  free(bytes);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_example_plans_to_the_same_bits),
      cmocka_unit_test(agents_of_every_form_come_back),
      cmocka_unit_test(moves_come_back),
      cmocka_unit_test(logs_are_read_alike),
      cmocka_unit_test(what_is_damaged_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
