/* Requirements of inverse planners on the problem and its data: every violated requirement is
 * refused with its message. */
#include "plan/learner_support.h"

#include <string.h>

/* An inverse planner with the given requirements; its fit is never called. */
static idm_inverse demanding(idm_planner_family family, unsigned columns)
{
  return (idm_inverse){.name = "demanding", .family = family, .columns = columns};
}

static void refused(const idm_inverse *inverse, const idm_problem *problem, const idm_data *data,
                    const char *words)
{
  idm_error error = {0};
  assert_int_equal(idm_inverse_check(inverse, problem, data, &error), IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in '%s'", words, error.message);
}

/* Planner families follow from the planners' tables. */
static void families(void **state)
{
  (void)state;
  const idm_inverse any = demanding(IDM_ANY_PLANNER, 0);
  const idm_inverse belief = demanding(IDM_BELIEF_PLANNER, 0);
  const idm_inverse lattice = demanding(IDM_LATTICE_PLANNER, 0);
  for (size_t i = 0; support_planner_at(i); i++) {
    const idm_planner *planner = support_planner_at(i);
    idm_problem *problem = support_reversal(planner);
    idm_data *data = support_data(problem, "agent,action,observation,reward\na,left,win,1\n");
    check(idm_inverse_check(&any, problem, data, &support_error));
    if (planner->belief)
      check(idm_inverse_check(&belief, problem, data, &support_error));
    else
      refused(&belief, problem, data, "does not decide by a belief");
    if (planner->lattice)
      check(idm_inverse_check(&lattice, problem, data, &support_error));
    else
      refused(&lattice, problem, data, "solves no lattice");
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* A requirement of derivatives is met by the behaviour's derivative. */
static void derivatives(void **state)
{
  (void)state;
  idm_inverse inverse = demanding(IDM_ANY_PLANNER, 0);
  inverse.gradient = true;
  for (size_t i = 0; support_planner_at(i); i++) {
    idm_problem *problem = support_reversal(support_planner_at(i));
    idm_data *data = support_data(problem, "agent,action,observation,reward\na,left,win,1\n");
    if (idm_planner_behavior(support_planner_at(i))->derivative)
      check(idm_inverse_check(&inverse, problem, data, &support_error));
    else
      refused(&inverse, problem, data, "needs derivatives");
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* The likelihood does not identify the weights of a decision rule that always takes its best
 * action. */
static void choices(void **state)
{
  (void)state;
  idm_inverse inverse = demanding(IDM_ANY_PLANNER, 0);
  idm_problem *problem = support_reversal(idm_planner_find("decision-rule"));
  idm_data *data = support_data(problem, "agent,action,observation,reward\na,left,win,1\n");
  problem->agent.choice = IDM_CHOICE_BEST;
  check(idm_problem_set_free(problem, "lapse", &support_error));
  check(idm_inverse_check(&inverse, problem, data, &support_error));
  check(idm_problem_set_free(problem, "weights", &support_error));
  refused(&inverse, problem, data, "choice: drawn");
  inverse.target_block = "weights";
  check(idm_inverse_check(&inverse, problem, data, &support_error));
  inverse.target_block = NULL;
  problem->agent.choice = IDM_CHOICE_DRAWN;
  check(idm_inverse_check(&inverse, problem, data, &support_error));
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A likelihood of controllers is rough in the numbers of their plan; those of the choice after it
 * can be free, whatever the budget. */
static void controllers(void **state)
{
  (void)state;
  const idm_inverse inverse = demanding(IDM_ANY_PLANNER, 0);
  static const char *const cases[][2] = {{"lapse", NULL},
                                         {"perseverance", NULL},
                                         {"utility", "it cannot infer utility"},
                                         {"discount", "it cannot infer discount"},
                                         {"lapse,discount", "it cannot infer discount"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    idm_problem *problem = support_reversal(idm_planner_find("controller"));
    idm_data *data = support_data(problem, "agent,action,observation,reward\na,left,win,1\n");
    problem->agent.budget = 1;
    check(idm_problem_set_free(problem, cases[i][0], &support_error));
    if (cases[i][1])
      refused(&inverse, problem, data, cases[i][1]);
    else
      check(idm_inverse_check(&inverse, problem, data, &support_error));
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Every kind of evidence can be required, and the error names the missing column. */
static void columns(void **state)
{
  (void)state;
  idm_problem *problem = support_reversal(idm_planner_at(0));
  static const char with[] = "agent,action,observation,reward,score,batch,environment\n"
                             "a,left,win,1,2,1,home\n";
  static const char without[] = "agent,action,observation\na,left,win\n";
  const idm_csv_options all = {.columns = (1u << IDM_COLUMN_COUNT) - 1};
  idm_data *rich, *poor = support_data(problem, without);
  check(idm_data_parse_csv(with, strlen(with), "test.csv", problem, &all, &rich, NULL,
                           &support_error));
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    const idm_column_info *info = idm_column_describe((idm_column)c);
    if (!info->evidence) continue;
    const idm_inverse inverse = demanding(IDM_ANY_PLANNER, 1u << c);
    check(idm_inverse_check(&inverse, problem, rich, &support_error));
    refused(&inverse, problem, poor, info->what);
    refused(&inverse, problem, poor, info->key);
  }
  idm_data_destroy(rich);
  idm_data_destroy(poor);
  idm_problem_destroy(problem);
}

/* Columns that the planner learns from are required by every inverse planner. */
static void rewards_of_the_planner(void **state)
{
  (void)state;
  const idm_inverse inverse = demanding(IDM_ANY_PLANNER, 0);
  idm_problem *problem = support_reversal(&idm_learner);
  idm_data *data = support_data(problem, "agent,action,observation\na,left,win\n");
  refused(&inverse, problem, data, "the reward");
  refused(&inverse, problem, data, idm_learner.name);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* An inverse planner with a target block requires that block to be free, and no other. */
static void blocks(void **state)
{
  (void)state;
  idm_inverse inverse = demanding(IDM_ANY_PLANNER, 0);
  inverse.target_block = "utility";
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  idm_data *data = support_data(problem, "trajectory,action,observation\n1,monitor,negative\n");
  check(idm_problem_set_free(problem, "beta", &support_error));
  refused(&inverse, problem, data, "beta is free");
  check(idm_problem_set_free(problem, "utility, beta", &support_error));
  refused(&inverse, problem, data, "beta is free");
  inverse.alone = "nothing else enters";
  refused(&inverse, problem, data, "beta is free: nothing else enters");
  check(idm_problem_set_free(problem, "lapse", &support_error));
  refused(&inverse, problem, data, "lapse is free: it changes choices after planning");
  check(idm_problem_set_free(problem, "[]", &support_error));
  refused(&inverse, problem, data, "none is free");
  check(idm_problem_set_free(problem, "utility", &support_error));
  check(idm_inverse_check(&inverse, problem, data, &support_error));
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Preferences are accepted only by inverse planners that use them. */
static void preferences(void **state)
{
  (void)state;
  idm_inverse reader = demanding(IDM_ANY_PLANNER, 0);
  const idm_inverse other = reader;
  reader.preferences = true;
  idm_problem *problem = support_reversal(idm_planner_at(0));
  idm_data *data = support_data(problem, "trajectory,action,observation\n1,left,win\n2,left,win\n");
  check(idm_inverse_check(&other, problem, data, &support_error));
  refused(&reader, problem, data, "--preferences FILE");
  check(idm_preferences_create(1, &data->preferences, &support_error));
  data->preferences->better[0] = 1;
  check(idm_inverse_check(&reader, problem, data, &support_error));
  refused(&other, problem, data, "have no effect with 'demanding'");
  data->preferences->better[0] = 0;
  refused(&reader, problem, data, "above itself");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(families),    cmocka_unit_test(derivatives),
      cmocka_unit_test(choices),     cmocka_unit_test(controllers),
      cmocka_unit_test(columns),     cmocka_unit_test(rewards_of_the_planner),
      cmocka_unit_test(preferences), cmocka_unit_test(blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
