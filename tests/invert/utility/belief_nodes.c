/* Policy graphs of demonstrators on beliefs: nodes of a log against beliefs by hand, and refused
 * logs. */
#include "invert/utility/belief_mdp.h"

#include <string.h>

#include "invert/utility/hidden_support.h"

typedef struct room {
  hidden h;
  idm_problem *problem;
  idm_pomdp *pomdp;
  idm_policy_graph graph;
  idm_notes notes;
} room;

static idm_status read(room *r, const char *csv, idm_error *error)
{
  idm_data *data = support_data(r->problem, csv);
  idm_policy_graph_free(&r->graph);
  const idm_status status =
      idm_belief_nodes_read(r->pomdp, data, "somebody", &r->graph, &r->notes, error);
  idm_data_destroy(data);
  return status;
}

static int set_up(void **state)
{
  static room r;
  r = (room){.h = hidden_tiger()};
  r.problem = hidden_problem(&r.h, NULL, NULL, NULL);
  idm_data data = {.sizes = r.problem->theta->sizes};
  check(idm_pomdp_create(r.problem, &data, "somebody", &r.pomdp, &support_error));
  *state = &r;
  return 0;
}

static int tear_down(void **state)
{
  room *r = *state;
  idm_policy_graph_free(&r->graph);
  idm_notes_clear(&r->notes);
  idm_pomdp_destroy(r->pomdp);
  idm_problem_destroy(r->problem);
  return 0;
}

/* A belief reached in two ways is one node; a belief without a decision is not a node. */
static void test_nodes(void **state)
{
  room *r = *state;
  check(read(r,
             "trajectory,action,observation\n"
             "1,u0,x0\n1,u0,x1\n1,u0,x1\n1,u0,x1\n1,u1,x0\n"
             "2,u0,x1\n2,u0,x1\n2,u1,x1\n2,u0,x0\n2,u0,\n",
             &support_error));
  assert_int_equal(r->notes.count, 0);
  assert_int_equal(r->graph.count, 4);
  const size_t right = idm_policy_graph_find(&r->graph, (const double[]){0.15, 0.85});
  const size_t sure =
      idm_policy_graph_find(&r->graph, (const double[]){0.0225 / 0.745, 0.7225 / 0.745});
  assert_int_equal(idm_policy_graph_find(&r->graph, (const double[]){0.5, 0.5}), 0);
  assert_int_equal(r->graph.action[right], 0);
  assert_int_equal(r->graph.action[sure], 1);
  assert_int_equal(r->graph.next[right * 2 + 1], sure);
  assert_int_equal(r->graph.next[sure * 2], 0);
  /* Observing left twice leads to a belief without a decision. */
  const size_t left = idm_policy_graph_find(&r->graph, (const double[]){0.85, 0.15});
  assert_true(r->graph.approximate[left * 2]);
  assert_int_equal(r->graph.next[left * 2], left);
}

static void test_gaps(void **state)
{
  room *r = *state;
  check(read(r, "trajectory,action,observation\n1,u0,x0\n1,,x0\n1,u2,x0\n2,u0,\n2,u1,x0\n3,u0,\n",
             &support_error));
  assert_int_equal(r->graph.count, 1);
  assert_int_equal(r->notes.count, 1);
  assert_non_null(strstr(r->notes.text[0], "2 trajectories are used up to the first"));
}

/* A missed response is not a decision at its belief, but it changes the belief. */
static void test_missed(void **state)
{
  room *r = *state;
  SUPPORT_NAMES(&r->problem->columns.missed, "late");
  r->problem->columns.missed_action = 1;
  check(read(r, "trajectory,action,observation\n1,late,x1\n1,u0,x1\n1,u1,x0\n", &support_error));
  assert_int_equal(r->graph.count, 2);
  assert_true(idm_policy_graph_find(&r->graph, (const double[]){0.5, 0.5}) == IDM_NO_NODE);
  assert_int_equal(r->graph.action[idm_policy_graph_find(&r->graph, (const double[]){0.15, 0.85})],
                   0);
  idm_data *data = support_data(r->problem, "trajectory,action,observation\n1,late,x1\n1,u0,x1\n");
  idm_pomdp *pomdp;
  check(idm_pomdp_create(r->problem, data, "somebody", &pomdp, &support_error));
  idm_pomdp_destroy(pomdp);
  idm_data_destroy(data);
}

static void refuse(room *r, const char *csv, long line, const char *words)
{
  idm_error error = {0};
  assert_int_equal(read(r, csv, &error), IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in '%s'", words, error.message);
  assert_int_equal(error.line, line);
}

static void test_refusals(void **state)
{
  room *r = *state;
  refuse(
      r, "trajectory,action,observation\n1,u0,x0\n1,u0,x1\n2,u0,x0\n2,u2,x1\n3,u1,x0\n", 0,
      "'somebody' needs one action per belief, and the log has more at 2 beliefs: 'u0' and 'u1' at "
      "(0.5 s0, 0.5 s1); 'u0' and 'u2' at (0.85 s0, 0.15 s1)");
  refuse(r, "trajectory,action,observation\n1,,x0\n1,u0,x1\n", 0, "nothing was demonstrated");
  idm_pomdp *whole = r->pomdp;
  idm_data data = {.sizes = r->problem->theta->sizes};
  /* With perfect hearing the other side cannot be observed next. */
  double *heard = r->problem->setting->emission;
  heard[0] = heard[3] = 1;
  heard[1] = heard[2] = 0;
  check(idm_pomdp_create(r->problem, &data, "somebody", &r->pomdp, &support_error));
  refuse(r, "trajectory,action,observation\n1,u0,x0\n1,u0,x1\n", 3, "'x1' is observed here");
  idm_pomdp_destroy(r->pomdp);
  r->pomdp = whole;
  double prior[] = {0.5, 0.5, 0};
  const double *kept = whole->prior;
  whole->prior = prior;
  refuse(r, "trajectory,action,observation\n1,u0,x0\n1,u2,x0\n", 3, "action prior excludes it");
  whole->prior = kept;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_nodes, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_gaps, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_missed, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
