/* Tests problems: creation, validation, variants of the utility, and comparison. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "idm/extension/planner.h"
#include "setting/model.h"

/* A valid problem with two states, three actions, two observations and two models, in which two
 * entries of the utility come from columns. */
static idm_problem *create(void)
{
  idm_problem *problem;
  idm_error error = {0};
  assert_int_equal(idm_problem_create((idm_sizes){2, 3, 2}, 2, true, true, &problem, &error),
                   IDM_OK);
  for (size_t i = 0; i < 12; i++) {
    problem->setting->transition[i] = 0.5;
    problem->setting->emission[i] = i % 2 ? 0.3 : 0.7;
  }
  for (size_t i = 0; i < 24; i++) {
    problem->theta->block[IDM_TRANSITION].value[i] = 0.5;
    problem->theta->block[IDM_EMISSION].value[i] = i % 2 ? 0.4 : 0.6;
  }
  for (size_t i = 0; i < 6; i++) problem->theta->block[IDM_UTILITY].value[i] = (double)i - 2;
  idm_labels *utility = &problem->columns.utility;
  assert_int_equal(idm_labels_create(utility, 2, NULL), IDM_OK);
  assert_int_equal(idm_labels_set(utility, 0, "reward", 6, NULL), IDM_OK);
  assert_int_equal(idm_labels_set(utility, 1, "cost", 4, NULL), IDM_OK);
  problem->utility_sources = 2;
  problem->utility_source = calloc(2, sizeof *problem->utility_source);
  assert_non_null(problem->utility_source);
  problem->utility_source[0] = (idm_utility_source){1, 0, 0, 1};
  problem->utility_source[1] = (idm_utility_source){2, 1, 1, -2};
  assert_int_equal(idm_problem_validate(problem, &error), IDM_OK);
  return problem;
}

static void test_agent_default(void **state)
{
  (void)state;
  idm_agent_options agent;
  memset(&agent, 0x7f, sizeof agent);
  idm_agent_options_default(&agent);
  assert_null(agent.planner); /* NULL is the first planner of the registry */
  assert_int_equal(agent.resolution, 0);
  assert_int_equal(agent.evaluate, IDM_LOOKAHEAD);
  assert_int_equal(agent.surprise, IDM_SURPRISE_BELIEF);
  assert_int_equal(agent.recognition, IDM_RECOGNITION_MEAN);
  assert_true(agent.tolerance > 0 && agent.tolerance < 1e-6);
  assert_true(isnan(agent.decision_capacity));
  assert_true(isnan(agent.specification_capacity));
  assert_true(isnan(agent.recognition_capacity));
}

static void test_create_and_destroy(void **state)
{
  (void)state;
  idm_problem *problem;
  assert_int_equal(idm_problem_create((idm_sizes){2, 3, 4}, 5, false, true, &problem, NULL),
                   IDM_OK);
  assert_null(problem->setting->transition);
  assert_non_null(problem->setting->emission);
  assert_int_equal(problem->theta->models, 5);
  assert_int_equal(problem->theta->sizes.observations, 4);
  assert_null(problem->agent.planner);
  assert_int_equal(problem->columns.role[IDM_COLUMN_AGENT].count, 0);
  assert_int_equal(problem->utility_sources, 0);
  idm_problem_destroy(problem);
  idm_problem_destroy(NULL);
  idm_problem_destroy(calloc(1, sizeof *problem));
}

static void test_create_reports_both_floors(void **state)
{
  (void)state;
  idm_problem *problem = (idm_problem *)&problem;
  idm_error error = {0};
  assert_int_equal(idm_problem_create((idm_sizes){0, 1, 1}, 1, true, true, &problem, &error),
                   IDM_USAGE);
  assert_null(problem);
  assert_non_null(strstr(error.message, "state"));
  problem = (idm_problem *)&problem;
  assert_int_equal(idm_problem_create((idm_sizes){1, 1, 1}, 0, true, true, &problem, &error),
                   IDM_USAGE);
  assert_null(problem);
  assert_non_null(strstr(error.message, "model"));
}

static void test_validate_covers_setting_and_theta(void **state)
{
  (void)state;
  idm_problem *problem = create();
  idm_error error = {0};
  problem->setting->start[0] = 0.9;
  assert_int_equal(idm_problem_validate(problem, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "start"));
  problem->setting->start[0] = 0.5;
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 2);
  assert_int_equal(idm_problem_validate(problem, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "discount"));
  idm_problem_destroy(problem);
}

/* --- variants ------------------------------------------------------------------------------- */

static void test_bind_makes_variants(void **state)
{
  (void)state;
  idm_problem *problem = create();
  const double values[] = {10, 1, 20, 2, 30, 3};
  assert_int_equal(idm_problem_bind(problem, 3, values, NULL), IDM_OK);
  assert_int_equal(problem->theta->block[IDM_UTILITY].variants, 3);
  assert_int_equal(idm_theta_variants(problem->theta), 3);
  for (size_t v = 0; v < 3; v++) {
    const double *utility = idm_theta_values(problem->theta, IDM_UTILITY, v);
    for (size_t i = 0; i < 6; i++) {
      const double expected = i == 2   ? values[2 * v]
                              : i == 5 ? -2 * values[2 * v + 1]
                                       : (double)i - 2;
      assert_true(utility[i] == expected);
    }
  }
  /* Another log with another number of variants: entries that do not come from columns are
   * unchanged. */
  assert_int_equal(idm_problem_bind(problem, 1, (const double[]){-1, 0.5}, NULL), IDM_OK);
  const double expected[] = {-2, -1, -1, 1, 2, -1};
  assert_int_equal(idm_theta_variants(problem->theta), 1);
  assert_memory_equal(idm_theta_values(problem->theta, IDM_UTILITY, 0), expected, sizeof expected);
  assert_int_equal(idm_problem_validate(problem, NULL), IDM_OK);
  idm_problem_destroy(problem);
}

static void test_bind_without_columns_changes_nothing(void **state)
{
  (void)state;
  idm_problem *problem = create();
  problem->utility_sources = 0;
  assert_int_equal(idm_problem_bind(problem, 3, NULL, NULL), IDM_OK);
  assert_int_equal(problem->theta->block[IDM_UTILITY].variants, 1);
  assert_true(idm_theta_values(problem->theta, IDM_UTILITY, 0)[5] == 3);
  idm_problem_destroy(problem);
}

/* --- comparison ----------------------------------------------------------------------------- */

static void check_same(const idm_problem *a, const idm_problem *b, double tolerance)
{
  char difference[128] = "";
  if (!idm_problem_compare(a, b, tolerance, difference, sizeof difference) ||
      !idm_problem_compare(b, a, tolerance, difference, sizeof difference))
    fail_msg("%s", difference);
}

static void check_differ(const idm_problem *a, const idm_problem *b, double tolerance,
                         const char *words)
{
  for (int turn = 0; turn < 2; turn++) {
    char difference[128] = "";
    if (idm_problem_compare(turn ? b : a, turn ? a : b, tolerance, difference, sizeof difference))
      fail_msg("no difference of '%s' found", words);
    if (!strstr(difference, words)) fail_msg("'%s' does not speak of '%s'", difference, words);
  }
}

static void test_equal_problems_compare_equal(void **state)
{
  (void)state;
  idm_problem *a = create();
  idm_problem *b = create();
  check_same(a, a, 0);
  check_same(a, b, 0);
  check_same(a, b, 1e-9);
  idm_problem_destroy(a);
  idm_problem_destroy(b);
}

/* Each applies one change to a new problem. */
typedef void (*change)(idm_problem *problem);

static void rename_label(idm_labels *labels)
{
  assert_int_equal(idm_labels_set(labels, 1, "renamed", 7, NULL), IDM_OK);
}

static void add_column(idm_labels *labels)
{
  assert_int_equal(idm_labels_create(labels, 1, NULL), IDM_OK);
  assert_int_equal(idm_labels_set(labels, 0, "who", 3, NULL), IDM_OK);
}

static void forget(double **array)
{
  free(*array);
  *array = NULL;
}

static void set_prior(idm_problem *p, double first)
{
  idm_prior *prior = &p->theta->block[IDM_ALPHA].prior;
  prior->kind = IDM_PRIOR_HALFNORMAL;
  prior->count = 1;
  prior->argument = calloc(1, sizeof(double));
  assert_non_null(prior->argument);
  prior->argument[0] = first;
}

#define CHANGE(name, statement)                                                                    \
  static void name(idm_problem *p)                                                                 \
  {                                                                                                \
    statement;                                                                                     \
  }
CHANGE(state_name, rename_label(&p->setting->states))
CHANGE(action_name, rename_label(&p->setting->actions))
CHANGE(observation_name, rename_label(&p->setting->observations))
CHANGE(transition, p->setting->transition[11] = 0.25)
CHANGE(emission, p->setting->emission[11] = 0.25)
CHANGE(no_transition, forget(&p->setting->transition))
CHANGE(no_emission, forget(&p->setting->emission))
CHANGE(start, p->setting->start[1] = 0.25)
CHANGE(terminal, p->setting->terminal[2] = true)
CHANGE(ends, p->setting->ends[2] = true)
CHANGE(horizon, p->setting->horizon = 4)
CHANGE(fully_observed, p->setting->fully_observed = true)
CHANGE(emits_before, p->setting->emits_before = true)
CHANGE(alpha_value, idm_theta_set_scalar(p->theta, IDM_ALPHA, 0.5))
CHANGE(beta_value, idm_theta_set_scalar(p->theta, IDM_BETA, 1))
CHANGE(utility_value, p->theta->block[IDM_UTILITY].value[5] += 1)
CHANGE(model_value, p->theta->block[IDM_EMISSION].value[23] = 0.1)
CHANGE(alpha_role, p->theta->block[IDM_ALPHA].role = IDM_DESCRIPTIVE)
CHANGE(alpha_scale, p->theta->block[IDM_ALPHA].scale = IDM_SCALE_LOG)
CHANGE(alpha_prior, set_prior(p, 1))
CHANGE(block_size, idm_theta_resize(p->theta, IDM_BELIEF_PRIOR, 2, 1, NULL))
CHANGE(variants, idm_problem_bind(p, 2, (const double[]){1, 2, 3, 4}, NULL))
CHANGE(planner, p->agent.planner = idm_planner_find("rational"))
CHANGE(resolution, p->agent.resolution = 5)
CHANGE(evaluate, p->agent.evaluate = IDM_INTERPOLATE)
CHANGE(surprise, p->agent.surprise = IDM_SURPRISE_OBSERVATION)
CHANGE(recognition, p->agent.recognition = IDM_RECOGNITION_SAMPLED)
CHANGE(tolerance, p->agent.tolerance = 1e-3)
CHANGE(decision_capacity, p->agent.decision_capacity = 1)
CHANGE(specification_capacity, p->agent.specification_capacity = 1)
CHANGE(recognition_capacity, p->agent.recognition_capacity = 1)
CHANGE(agent_column, add_column(&p->columns.role[IDM_COLUMN_AGENT]))
CHANGE(trajectory_column, add_column(&p->columns.role[IDM_COLUMN_TRAJECTORY]))
CHANGE(time_column, add_column(&p->columns.role[IDM_COLUMN_TIME]))
CHANGE(action_column, add_column(&p->columns.role[IDM_COLUMN_ACTION]))
CHANGE(observation_column, add_column(&p->columns.role[IDM_COLUMN_OBSERVATION]))
CHANGE(available_column, add_column(&p->columns.role[IDM_COLUMN_AVAILABLE]))
CHANGE(utility_column, rename_label(&p->columns.utility))
CHANGE(source_count, p->utility_sources = 1)
CHANGE(source_action, p->utility_source[1].action = 0)
CHANGE(source_state, p->utility_source[1].state = 0)
CHANGE(source_column, p->utility_source[1].column = 0)
CHANGE(source_scale, p->utility_source[1].scale = 2)

static const struct {
  change apply;
  const char *words;
} changes[] = {
    {state_name, "states 1: "},
    {action_name, "actions 1: "},
    {observation_name, "observations 1: "},
    {transition, "transition[11]"},
    {emission, "emission[11]"},
    {no_transition, "only one of the problems has transition"},
    {no_emission, "only one of the problems has emission"},
    {start, "start[1]"},
    {terminal, "episodes end"},
    {ends, "episodes end"},
    {horizon, "episodes end"},
    {fully_observed, "episodes end"},
    {emits_before, "where observations come from"},
    {alpha_value, "alpha[0]"},
    {beta_value, "beta[0]"},
    {utility_value, "utility[5]"},
    {model_value, "emission[23]"},
    {alpha_role, "alpha"},
    {alpha_scale, "alpha"},
    {alpha_prior, "alpha"},
    {block_size, "belief_prior"},
    {variants, "utility"},
    {planner, "agent"},
    {resolution, "agent"},
    {evaluate, "agent"},
    {surprise, "agent"},
    {recognition, "agent"},
    {tolerance, "agent"},
    {decision_capacity, "agent"},
    {specification_capacity, "agent"},
    {recognition_capacity, "agent"},
    {agent_column, "agent columns"},
    {trajectory_column, "trajectory columns"},
    {time_column, "time columns"},
    {action_column, "action columns"},
    {observation_column, "observation columns"},
    {available_column, "available columns"},
    {utility_column, "utility columns"},
    {source_count, "utilities by column"},
    {source_action, "utilities by column"},
    {source_state, "utilities by column"},
    {source_column, "utilities by column"},
    {source_scale, "utilities by column"},
};

static void check_changes(double slack)
{
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    idm_problem *a = create();
    idm_problem *b = create();
    changes[i].apply(b);
    check_differ(a, b, slack, changes[i].words);
    idm_problem_destroy(a);
    idm_problem_destroy(b);
  }
}

static void test_every_difference_is_found_bit_for_bit(void **state)
{
  (void)state;
  check_changes(0);
}

static void test_every_difference_is_found_with_a_tolerance(void **state)
{
  (void)state;
  check_changes(1e-6);
}

static void test_prior_arguments_are_compared(void **state)
{
  (void)state;
  idm_problem *a = create();
  idm_problem *b = create();
  set_prior(a, 1);
  set_prior(b, 2);
  check_differ(a, b, 0, "alpha");
  b->theta->block[IDM_ALPHA].prior.argument[0] = 1;
  check_same(a, b, 0);
  idm_problem_destroy(a);
  idm_problem_destroy(b);
}

static void test_sizes_are_compared(void **state)
{
  (void)state;
  idm_problem *a = create();
  idm_problem *b;
  assert_int_equal(idm_problem_create((idm_sizes){2, 4, 2}, 2, true, true, &b, NULL), IDM_OK);
  check_differ(a, b, 0, "actions");
  idm_problem_destroy(a);
  idm_problem_destroy(b);
}

static void test_tolerance(void **state)
{
  (void)state;
  idm_problem *a = create();
  idm_problem *b = create();
  b->setting->start[0] += 1e-10;
  b->theta->block[IDM_UTILITY].value[5] *= 1 + 1e-10;
  check_same(a, b, 1e-9);
  check_differ(a, b, 1e-12, "start[0]");
  check_differ(a, b, 0, "start[0]");
  b->setting->start[0] = a->setting->start[0];
  check_differ(a, b, 1e-12, "utility[5]");
  idm_problem_destroy(a);
  idm_problem_destroy(b);
}

/* With tolerance 0 the signs of zero (argmin and argmax) differ. */
static void test_signs_of_zero_differ_bit_for_bit(void **state)
{
  (void)state;
  idm_problem *a = create();
  idm_problem *b = create();
  idm_theta_set_scalar(b->theta, IDM_ALPHA, -0.0);
  check_differ(a, b, 0, "alpha[0]");
  idm_problem_destroy(a);
  idm_problem_destroy(b);
}

static void test_infinities_equal_themselves_only(void **state)
{
  (void)state;
  idm_problem *a = create();
  idm_problem *b = create();
  check_same(a, b, 1e-6);
  const double others[] = {-INFINITY, 1, 0, 1e300, -1e300};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    idm_theta_set_scalar(b->theta, IDM_BETA, others[i]);
    check_differ(a, b, 0, "beta[0]");
    check_differ(a, b, 1e-6, "beta[0]");
  }
  idm_problem_destroy(a);
  idm_problem_destroy(b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_agent_default),
      cmocka_unit_test(test_create_and_destroy),
      cmocka_unit_test(test_create_reports_both_floors),
      cmocka_unit_test(test_validate_covers_setting_and_theta),
      cmocka_unit_test(test_bind_makes_variants),
      cmocka_unit_test(test_bind_without_columns_changes_nothing),
      cmocka_unit_test(test_equal_problems_compare_equal),
      cmocka_unit_test(test_every_difference_is_found_bit_for_bit),
      cmocka_unit_test(test_every_difference_is_found_with_a_tolerance),
      cmocka_unit_test(test_prior_arguments_are_compared),
      cmocka_unit_test(test_sizes_are_compared),
      cmocka_unit_test(test_tolerance),
      cmocka_unit_test(test_signs_of_zero_differ_bit_for_bit),
      cmocka_unit_test(test_infinities_equal_themselves_only),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
