/* Tests free blocks: the default priors of each family and scale, and their dependence on the range
 * of the utilities. */
#include <math.h>
#include <string.h>

#include "setting/model.h"
#include "support.h"

static void check_prior(const idm_theta *theta, idm_block_id id, idm_prior_kind kind, double first,
                        double second)
{
  const idm_prior *prior = &theta->block[id].prior;
  assert_int_equal(prior->kind, kind);
  assert_near(prior->argument[0], first, 1e-15);
  if (prior->count > 1) assert_near(prior->argument[1], second, 1e-15);
  assert_true(theta->block[id].default_prior);
}

/* The table of defaults at a range of 46, which is that of DIAG. */
static void test_defaults(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_theta *theta = problem->theta;
  const double R = 46;
  assert_near(idm_theta_utility_range(theta), R, 0);
  const struct {
    idm_block_id id;
    idm_scale scale;
    idm_prior_kind kind;
    double first;
    double second;
  } rows[] = {{IDM_ALPHA, IDM_SCALE_LOG, IDM_PRIOR_NORMAL, log(R / 20), 2},
              {IDM_ALPHA, IDM_SCALE_INVERSE, IDM_PRIOR_NORMAL, 0, 20 / R},
              {IDM_BETA, IDM_SCALE_INVERSE, IDM_PRIOR_NORMAL, 0, 20 / R},
              {IDM_ETA, IDM_SCALE_IDENTITY, IDM_PRIOR_NORMAL, 0, R},
              {IDM_ETA, IDM_SCALE_SIGNED_LOG, IDM_PRIOR_NORMAL, 0, log1p(R)},
              {IDM_TEMPERATURE, IDM_SCALE_IDENTITY, IDM_PRIOR_HALFNORMAL, R, 0},
              {IDM_TEMPERATURE, IDM_SCALE_INVERSE, IDM_PRIOR_EXPONENTIAL, R / 20, 0},
              {IDM_UTILITY, IDM_SCALE_IDENTITY, IDM_PRIOR_NORMAL, 0, 2 * R},
              {IDM_DISCOUNT, IDM_SCALE_IDENTITY, IDM_PRIOR_BETA, 1, 1},
              {IDM_DISCOUNT, IDM_SCALE_LOGIT, IDM_PRIOR_NORMAL, 0, 1.5},
              {IDM_ACTION_PRIOR, IDM_SCALE_IDENTITY, IDM_PRIOR_DIRICHLET, 1, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    theta->block[rows[i].id].scale = rows[i].scale;
    check(idm_theta_set_default_prior(theta, rows[i].id, R, &support_error));
    check_prior(theta, rows[i].id, rows[i].kind, rows[i].first, rows[i].second);
  }
  idm_theta_clamp(theta);
  assert_false(theta->block[IDM_ALPHA].default_prior);
  idm_problem_destroy(problem);
}

/* The text of a default prior contains its numbers, with R for the range. */
static void test_words(void **state)
{
  (void)state;
  char text[80];
  const struct {
    idm_block_info info;
    const char *words;
  } rows[] = {{*idm_block_describe(IDM_ALPHA), "normal(log(R/20), 2)"},
              {*idm_block_describe(IDM_BETA), "normal(0, 20/R)"},
              {*idm_block_describe(IDM_UTILITY), "normal(0, 2R)"},
              {*idm_block_describe(IDM_TEMPERATURE), "halfnormal(R)"},
              {*idm_block_describe(IDM_DISCOUNT), "beta(1, 1)"},
              {*idm_block_describe(IDM_ACTION_PRIOR), "dirichlet(1, ...)"},
              {*idm_block_describe(IDM_WEIGHTS), "normal(0, 5)"},
              {*idm_block_describe(IDM_TRANSITION), "normal(0, 1.5)"},
              {*idm_block_describe(IDM_BELIEF_PRIOR), "normal(log(20/20), 2)"},
              {*idm_block_describe(IDM_CERTAINTY), "normal(0, 2R)"},
              {{.scales = IDM_SCALES_ALL, .scale = IDM_SCALE_SIGNED_LOG, .spread = 3},
               "normal(0, log(1 + 3))"},
              {{.scales = IDM_SCALES_ALL,
                .scale = IDM_SCALE_INVERSE,
                .support = IDM_POSITIVE,
                .spread = 4,
                .in_utility = true},
               "exponential(4R/20)"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    assert_string_equal(idm_block_prior_text(&rows[i].info, text, sizeof text), rows[i].words);
}

static void test_range(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_block *utility = &problem->theta->block[IDM_UTILITY];
  for (size_t i = 0; i < utility->size; i++) utility->value[i] = 3;
  assert_near(idm_theta_utility_range(problem->theta), 1,
              0); /* equal utilities have no range; 1 is used */
  utility->value[0] = 1e200;
  assert_near(idm_theta_utility_range(problem->theta), 1e100, 0);
  idm_problem_destroy(problem);
}

/* Utilities from columns are known once the log is read. Default priors are then updated; other
 * priors are not. */
static void test_bound_utilities(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_read("example:beads", &problem, NULL, &support_error));
  check(idm_problem_set_free(problem, "{alpha: , eta: {prior: {normal: [1, 2]}}}", &support_error));
  check_prior(problem->theta, IDM_ALPHA, IDM_PRIOR_NORMAL, log(1.0 / 20), 2);
  const size_t columns = problem->columns.utility.count;
  double values[2][8] = {{0}};
  assert_true(columns <= 8);
  values[1][0] = 170;
  double flat[16];
  for (size_t v = 0; v < 2; v++) memcpy(flat + v * columns, values[v], columns * sizeof(double));
  check(idm_problem_bind(problem, 2, flat, &support_error));
  const double R = idm_theta_utility_range(problem->theta);
  assert_true(R >= 170);
  check_prior(problem->theta, IDM_ALPHA, IDM_PRIOR_NORMAL, log(R / 20), 2);
  assert_false(problem->theta->block[IDM_ETA].default_prior);
  assert_near(problem->theta->block[IDM_ETA].prior.argument[0], 1, 0);
  idm_problem_destroy(problem);
}

/* If alpha is in units of the range, its default prior is that of a range of 1, whenever the unit
 * is set. Other priors do not change. */
static void test_alpha_by_range(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(1, 1, 0);
  check(idm_problem_set_free(problem, "[alpha, eta]", &support_error));
  check_prior(problem->theta, IDM_ALPHA, IDM_PRIOR_NORMAL, log(46.0 / 20), 2);
  support_assign(problem, "alpha_unit=range");
  check_prior(problem->theta, IDM_ALPHA, IDM_PRIOR_NORMAL, log(1.0 / 20), 2);
  check_prior(problem->theta, IDM_ETA, IDM_PRIOR_NORMAL, 0, 46);
  support_assign(problem, "utility.monitor=-82");
  check_prior(problem->theta, IDM_ETA, IDM_PRIOR_NORMAL, 0, 92);
  assert_near(idm_problem_prior_range(problem, IDM_ALPHA), 1, 0);
  assert_near(idm_problem_prior_range(problem, IDM_ETA), 92, 0);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults),       cmocka_unit_test(test_words),
      cmocka_unit_test(test_range),          cmocka_unit_test(test_bound_utilities),
      cmocka_unit_test(test_alpha_by_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
