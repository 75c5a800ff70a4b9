/* Tests the clamps of the agents in the paper: each sets the values of the table and nothing else.
 */
#include "plan/workspace.h"

#include <math.h>
#include <string.h>

#include "support.h"

/* A row of the table; NAN: the parameter is not changed. */
typedef struct agent_row {
  const char *name;
  double alpha, beta, eta;
  bool uniform;     /* action prior */
  bool environment; /* Dirac model prior: every model equals the environment */
} agent_row;

static const agent_row rows[] = {
    {"rational", 0, INFINITY, 0, false, false},
    {"uniformly-random", INFINITY, INFINITY, 0, true, true},
    {"deterministic-optimal", 0, INFINITY, 0, true, true},
    {"minimum-information", 1, INFINITY, 1, false, true},
    {"maximum-entropy", NAN, INFINITY, 0, true, true},
    {"kl-regularised", NAN, INFINITY, 0, false, true},
    {"kl-penalised-robust", 0, NAN, 0, true, false},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* Draws a problem with different values in every block and an environment that is none of the
 * models. */
static idm_problem *drawn(idm_random *random)
{
  const support_shape shape = {3, 4, 2, 2, 5};
  idm_problem *problem = support_problem(shape, random), *other = support_problem(shape, random);
  const idm_sizes n = idm_setting_sizes(problem->setting);
  memcpy(problem->setting->transition, other->setting->transition,
         n.actions * n.states * n.states * sizeof(double));
  memcpy(problem->setting->emission, other->setting->emission,
         n.actions * n.states * n.observations * sizeof(double));
  idm_problem_destroy(other);
  idm_theta *theta = problem->theta;
  check(idm_theta_resize(theta, IDM_WEIGHTS, n.actions * (n.states + 1), 1, &support_error));
  check(idm_theta_resize(theta, IDM_BELIEF_PRIOR, n.states, 1, &support_error));
  const idm_block_id fill[] = {IDM_WEIGHTS, IDM_BELIEF_PRIOR, IDM_CERTAINTY, IDM_TEMPERATURE,
                               IDM_DISCOUNT};
  for (size_t b = 0; b < sizeof fill / sizeof fill[0]; b++)
    for (size_t i = 0; i < theta->block[fill[b]].size; i++)
      theta->block[fill[b]].value[i] = idm_random_uniform(random);
  support_set(problem, 0.7, -1.5, 0.25);
  theta->block[IDM_ALPHA].role = IDM_DESCRIPTIVE;
  theta->block[IDM_ALPHA].scale = IDM_SCALE_LOG;
  return problem;
}

/* Changes `before` to the expected result of the clamp. */
static void expect(const agent_row *row, const idm_setting *setting, idm_theta *before)
{
  const double limits[] = {row->alpha, row->beta, row->eta};
  const idm_block_id ids[] = {IDM_ALPHA, IDM_BETA, IDM_ETA};
  for (size_t i = 0; i < 3; i++)
    if (!isnan(limits[i])) idm_theta_set_scalar(before, ids[i], limits[i]);
  for (size_t u = 0; row->uniform && u < before->sizes.actions; u++)
    before->block[IDM_ACTION_PRIOR].value[u] = 1.0 / (double)before->sizes.actions;
  for (size_t m = 0; row->environment && m < before->models; m++) {
    before->block[IDM_MODEL_PRIOR].value[m] = 1.0 / (double)before->models;
    const size_t transition = before->block[IDM_TRANSITION].size / before->models;
    const size_t emission = before->block[IDM_EMISSION].size / before->models;
    memcpy(before->block[IDM_TRANSITION].value + m * transition, setting->transition,
           transition * sizeof(double));
    memcpy(before->block[IDM_EMISSION].value + m * emission, setting->emission,
           emission * sizeof(double));
  }
}

static void same_theta(const char *name, const idm_theta *a, const idm_theta *b)
{
  assert_int_equal(a->models, b->models);
  for (int id = 0; id < IDM_BLOCK_COUNT; id++) {
    const idm_block *x = &a->block[id], *y = &b->block[id];
    assert_int_equal(x->size, y->size);
    assert_int_equal(x->variants, y->variants);
    assert_int_equal(x->role, y->role);
    assert_int_equal(x->scale, y->scale);
    for (size_t i = 0; i < x->size * x->variants; i++)
      if (x->value[i] != y->value[i] || signbit(x->value[i]) != signbit(y->value[i])) {
        print_error("%s: %s[%zu] is %g, not %g\n", name, idm_block_name((idm_block_id)id), i,
                    x->value[i], y->value[i]);
        fail();
      }
  }
}

static void each_agent_is_its_row_of_the_table(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 51, 0);
  for (size_t i = 0; i < ROWS; i++) {
    idm_problem *problem = drawn(&random);
    idm_theta *expected;
    check(idm_theta_copy(problem->theta, &expected, &support_error));
    expect(&rows[i], problem->setting, expected);
    check(idm_clamp_apply(idm_planner_find(rows[i].name), problem->setting, problem->theta,
                          &support_error));
    same_theta(rows[i].name, problem->theta, expected);
    /* Clamping twice equals clamping once. */
    check(idm_clamp_apply(idm_planner_find(rows[i].name), problem->setting, problem->theta,
                          &support_error));
    same_theta(rows[i].name, problem->theta, expected);
    idm_theta_destroy(expected);
    idm_problem_destroy(problem);
  }
}

static void refuses(const char *planner, const idm_problem *problem, const char *words)
{
  idm_error error = {0};
  assert_int_equal(
      idm_clamp_apply(idm_planner_find(planner), problem->setting, problem->theta, &error),
      IDM_INPUT);
  if (!strstr(error.message, words)) print_error("'%s' lacks '%s'\n", error.message, words);
  assert_non_null(strstr(error.message, words));
  assert_int_equal(
      idm_clamp_apply(idm_planner_find(planner), problem->setting, problem->theta, NULL),
      IDM_INPUT);
}

static void numbers_that_no_such_agent_has_are_refused(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 52, 0);
  idm_problem *problem = drawn(&random);
  const double alphas[] = {0.0, -0.0, -1, INFINITY, -INFINITY, NAN};
  const double betas[] = {0.0, -0.0, 1, INFINITY, -INFINITY, NAN};
  for (size_t i = 0; i < 6; i++) {
    support_set(problem, alphas[i], -1, 0);
    refuses("maximum-entropy", problem, "positive, finite alpha");
    refuses("kl-regularised", problem, "positive, finite alpha");
    support_set(problem, 1, betas[i], 0);
    refuses("kl-penalised-robust", problem, "negative, finite beta");
  }
  /* The other planners set these numbers themselves and accept any. */
  for (size_t i = 0; i < ROWS; i++) {
    support_set(problem, isnan(rows[i].alpha) ? 2 : NAN, isnan(rows[i].beta) ? -2 : NAN, NAN);
    check(idm_clamp_apply(idm_planner_find(rows[i].name), problem->setting, problem->theta,
                          &support_error));
  }
  idm_problem_destroy(problem);
}

static void an_unknown_environment_cannot_be_known(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 53, 0);
  for (int missing = 0; missing < 2; missing++) {
    idm_problem *problem = drawn(&random);
    double **gone = missing ? &problem->setting->transition : &problem->setting->emission;
    double *kept = *gone;
    *gone = NULL;
    for (size_t i = 0; i < ROWS; i++) {
      support_set(problem, 0.7, -1.5, 0.25);
      if (rows[i].environment)
        refuses(rows[i].name, problem, "dynamics are not given");
      else
        check(idm_clamp_apply(idm_planner_find(rows[i].name), problem->setting, problem->theta,
                              &support_error));
    }
    *gone = kept;
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_agent_is_its_row_of_the_table),
      cmocka_unit_test(numbers_that_no_such_agent_has_are_refused),
      cmocka_unit_test(an_unknown_environment_cannot_be_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
