/* An explanation as CSV: its columns, ties, one trajectory of several. */
#include <stdio.h>
#include <string.h>

#include "support.h"

static void columns_and_ties(void **state)
{
  (void)state;
  static const char yaml[] =
      "states: [a, b]\nactions: [look, 'go, now']\nobservations: [x, y]\ndiscount: 0.5\n"
      "transition: {'*': identity}\nobservation: {'*': [[0.5, 0.5], [0.5, 0.5]]}\n"
      "utility: {look: [1, 0], 'go, now': [0, 1]}\nagent: {alpha: inf, resolution: 4}\n";
  idm_problem *problem;
  check(idm_problem_parse_yaml(yaml, strlen(yaml), "test", &problem, NULL, &support_error));
  idm_data *data = support_data(problem, "agent,trajectory,action,observation\np,1,look,x\n"
                                         "p,2,look,\np,2,\"go, now\",\n");
  idm_explanation *e;
  check(idm_explain_log(problem, NULL, data, NULL, &e, NULL, &support_error));
  char path[SUPPORT_PATH], line[800];
  support_path(path);
  check(idm_explanation_write_csv(e, data, problem->setting, 1, path, &support_error));
  FILE *stream = fopen(path, "r");
  assert_non_null(stream);
  assert_non_null(fgets(line, sizeof line, stream));
  assert_string_equal(
      line, "agent,trajectory,step,line,action,observation,surprise,regret,rational,"
            "rational_at_belief,belief.a,belief.b,probability.look,\"probability.go, now\","
            "rational_belief.a,rational_belief.b,rational.look,\"rational.go, now\","
            "rational_at_belief.look,\"rational_at_belief.go, now\",q.look,\"q.go, now\"\n");
  assert_non_null(fgets(line, sizeof line, stream));
  static const char first[] =
      "p,2,1,3,look,,0.6931471805599453,0,\"look|go, now\",\"look|go, now\",0.5,0.5,0.5,0.5,";
  assert_memory_equal(line, first, strlen(first));
  assert_non_null(fgets(line, sizeof line, stream));
  assert_null(fgets(line, sizeof line, stream));
  fclose(stream);
  remove(path);
  idm_explanation_destroy(e);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(columns_and_ties)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
