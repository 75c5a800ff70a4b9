/* Free blocks of a problem file: scales, priors, and those taken where none is given. */
#include "io/problem/reader.h"

#include "io/problem/problem_support.h"

static void expect_prior(const idm_problem *p, idm_block_id id, idm_scale scale,
                         idm_prior_kind kind, size_t count, const double *argument)
{
  const idm_block *b = &p->theta->block[id];
  assert_int_equal(b->role, IDM_DESCRIPTIVE);
  assert_int_equal(b->scale, scale);
  assert_int_equal(b->prior.kind, kind);
  assert_int_equal(b->prior.count, count);
  expect_near(b->prior.argument, argument, count);
}

static void test_free_defaults(void **state)
{
  (void)state;
  /* The utility runs from -1 to 2: R = 3. */
  idm_problem *p = parse(with("free: [alpha, beta, eta, utility, discount, action_prior, "
                              "model_prior, weights, temperature]"
                              "\nagent: {weights: {stay: [0, 0]}}"),
                         NULL);
  expect_prior(p, IDM_ALPHA, IDM_SCALE_LOG, IDM_PRIOR_NORMAL, 2, (double[]){log(3. / 20), 2});
  expect_prior(p, IDM_BETA, IDM_SCALE_INVERSE, IDM_PRIOR_NORMAL, 2, (double[]){0, 20. / 3});
  expect_prior(p, IDM_ETA, IDM_SCALE_IDENTITY, IDM_PRIOR_NORMAL, 2, (double[]){0, 3});
  expect_prior(p, IDM_UTILITY, IDM_SCALE_IDENTITY, IDM_PRIOR_NORMAL, 2, (double[]){0, 6});
  expect_prior(p, IDM_DISCOUNT, IDM_SCALE_IDENTITY, IDM_PRIOR_BETA, 2, (double[]){1, 1});
  expect_prior(p, IDM_ACTION_PRIOR, IDM_SCALE_IDENTITY, IDM_PRIOR_DIRICHLET, 3,
               (double[]){1, 1, 1});
  expect_prior(p, IDM_MODEL_PRIOR, IDM_SCALE_IDENTITY, IDM_PRIOR_DIRICHLET, 1, (double[]){1});
  expect_prior(p, IDM_WEIGHTS, IDM_SCALE_IDENTITY, IDM_PRIOR_NORMAL, 2, (double[]){0, 5});
  expect_prior(p, IDM_TEMPERATURE, IDM_SCALE_IDENTITY, IDM_PRIOR_HALFNORMAL, 1, (double[]){3});
  idm_problem_destroy(p);
  /* A utility by column says nothing of its range: R = 1. */
  p = parse(with("utility: {stay: fee, go: 5, stop: 0}\n"
                 "free:\n  alpha: {scale: inverse}\n  beta:\n  eta: {scale: signed-log}\n"
                 "  temperature: {scale: inverse}\n"),
            NULL);
  expect_prior(p, IDM_ALPHA, IDM_SCALE_INVERSE, IDM_PRIOR_NORMAL, 2, (double[]){0, 20});
  expect_prior(p, IDM_BETA, IDM_SCALE_INVERSE, IDM_PRIOR_NORMAL, 2, (double[]){0, 20});
  expect_prior(p, IDM_ETA, IDM_SCALE_SIGNED_LOG, IDM_PRIOR_NORMAL, 2, (double[]){0, log1p(1)});
  expect_prior(p, IDM_TEMPERATURE, IDM_SCALE_INVERSE, IDM_PRIOR_EXPONENTIAL, 1,
               (double[]){1. / 20});
  idm_problem_destroy(p);
}

static void test_free_priors(void **state)
{
  (void)state;
  static const struct {
    const char *prior;
    idm_prior_kind kind;
    size_t count;
    double argument[2];
  } cases[] = {{"flat", IDM_PRIOR_FLAT, 0, {0}},
               {"{normal: [-1, 2]}", IDM_PRIOR_NORMAL, 2, {-1, 2}},
               {"{lognormal: [0, 2]}", IDM_PRIOR_LOGNORMAL, 2, {0, 2}},
               {"{halfnormal: [2]}", IDM_PRIOR_HALFNORMAL, 1, {2}},
               {"{halfnormal: 2}", IDM_PRIOR_HALFNORMAL, 1, {2}},
               {"{uniform: [-1, 1]}", IDM_PRIOR_UNIFORM, 2, {-1, 1}},
               {"{exponential: [3]}", IDM_PRIOR_EXPONENTIAL, 1, {3}},
               {"{gamma: [1, 2]}", IDM_PRIOR_GAMMA, 2, {1, 2}},
               {"{beta: [1, 2]}", IDM_PRIOR_BETA, 2, {1, 2}}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char line[200];
    snprintf(line, sizeof line, "free: {eta: {scale: log, prior: %s}}", cases[i].prior);
    idm_problem *p = parse(with(line), NULL);
    expect_prior(p, IDM_ETA, IDM_SCALE_LOG, cases[i].kind, cases[i].count, cases[i].argument);
    idm_problem_destroy(p);
  }
  idm_problem *p = parse(with("free: {action_prior: {prior: {dirichlet: [1, 2, 3]}}}"), NULL);
  expect_prior(p, IDM_ACTION_PRIOR, IDM_SCALE_IDENTITY, IDM_PRIOR_DIRICHLET, 3,
               (double[]){1, 2, 3});
  idm_problem_destroy(p);
}

static void test_bad_free(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"free: alpha", 11, 7, "free is 'alpha'; expected a list of blocks"},
      {"free: [gamma]", 11, 8, "in free, the block 'gamma' is unknown"},
      {"free: [alhpa]", 11, 8, "did you mean 'alpha'?"},
      {"free: {transition: {prior: {dirichlet: [1]}}}", 11, 40, "free.transition.prior.dirichlet"},
      {"free: [belief_prior]", 11, 8, "'belief_prior' has no values; expected belief_prior in"},
      {"free: [alpha, alpha]", 11, 15, "'alpha' is given twice"},
      {"free: [[alpha]]", 11, 8, "free is a list of 1; expected names of blocks"},
      {"free: [weights]", 11, 8, "'weights' has no values; expected agent.weights"},
      {"free: {alpha: log}", 11, 15, "free.alpha is 'log'; expected a mapping"},
      {"free: {alpha: {scal: log}}", 11, 16, "the key 'scal' is unknown; did you mean 'scale'?"},
      {"free: {alpha: {scale: cube}}", 11, 23,
       "free.alpha.scale is 'cube'; expected identity, log, inverse or signed-log"},
      {"free: {discount: {scale: log}}", 11, 26,
       "free.discount.scale is 'log'; expected identity or logit"},
      {"free: {utility: {scale: log}}", 11, 25, "expected identity or signed-log"},
      {"free: {alpha: {prior: normal}}", 11, 23,
       "free.alpha.prior is 'normal'; expected flat, or a prior with its arguments"},
      {"free: {alpha: {prior: {flat: []}}}", 11, 23, "expected flat without arguments"},
      {"free: {alpha: {prior: {nromal: [0, 1]}}}", 11, 24,
       "free.alpha.prior 'nromal' is unknown; did you mean 'normal'?"},
      {"free: {alpha: {prior: {normal: [0, 1], beta: [1, 1]}}}", 11, 23,
       "free.alpha.prior is a mapping of 2"},
      {"free: {alpha: {prior: {normal: [0]}}}", 11, 32,
       "free.alpha.prior.normal is a list of 1; expected a list of 2 numbers"},
      {"free: {alpha: {prior: {normal: [0, 0]}}}", 11, 36,
       "free.alpha.prior.normal is '0'; expected a positive number"},
      {"free: {alpha: {prior: {normal: [0, inf]}}}", 11, 36, "is 'inf'; expected a finite number"},
      {"free: {alpha: {prior: {exponential: [-1]}}}", 11, 38,
       "free.alpha.prior.exponential is '-1'; expected a positive"},
      {"free: {alpha: {prior: {uniform: [1, 1]}}}", 11, 33,
       "free.alpha.prior.uniform is [1, 1]; expected the lower bound first"},
      {"free: {alpha: {prior: {dirichlet: [1]}}}", 11, 24, "dirichlet is for distributions"},
      {"free: {action_prior: {prior: {dirichlet: [1, 1]}}}", 11, 42,
       "is a list of 2; expected a list of 3 numbers"},
  };
  EXPECT_BAD(cases);
}

/* Numbers of which only differences matter are told from one action, or from nobody; then a
 * constant, which the weights of all states make up for, stays as well. */
static void test_reference(void **state)
{
  (void)state;
  static const struct {
    const char *line;
    long fixed; /* the action whose weights stay; -1: every number moves */
  } cases[] = {{"agent: {weights: {go: [1, 2]}}\nfree: [weights]", 0},
               {"agent: {weights: {go: [1, 2]}}\nfree: {weights: {reference: go}}", 1},
               {"agent: {weights: {go: [1, 2]}}\nfree: {weights: {reference: none}}", -1},
               {"agent: {weights: {go: [1, 2]}}\nfree: {weights: {reference: []}}", -1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *p = parse(with(cases[i].line), NULL);
    const int32_t *coordinate = p->theta->block[IDM_WEIGHTS].coordinate;
    assert_int_equal(!coordinate, cases[i].fixed < 0);
    for (long k = 0; coordinate && k < 9; k++)
      assert_int_equal(coordinate[k] < 0, k / 3 == cases[i].fixed || k % 3 == 0);
    expect_round_trip(p);
    idm_problem_destroy(p);
  }
  static const bad_line bad[] = {
      {"agent: {weights: {go: [1, 2]}}\nfree: {weights: {reference: run}}", 12, 29,
       "free.weights.reference is 'run'; expected an action, or none"},
      {"agent: {weights: {go: [1, 2]}}\nfree: {weights: {reference: [go]}}", 12, 29,
       "expected an action, or none"},
      {"free: {alpha: {entries: {a: [[go, a]]}}}", 11, 25, "free.alpha has no entries to choose"}};
  EXPECT_BAD(bad);
}

static void test_round_trip(void **state)
{
  (void)state;
  static const char *const lines[] = {
      "free: [alpha, beta, eta, utility, discount, action_prior]",
      "free: {alpha: {scale: inverse}, beta: , eta: {scale: signed-log}}",
      "free: {alpha: {scale: log, prior: {normal: [0.1, 2]}}}",
      "free: {alpha: {prior: flat}, temperature: {prior: {halfnormal: 2}}}",
      "free: {action_prior: {prior: {dirichlet: [1, 2, 3]}}}",
      "free: {discount: {prior: {beta: [2, 3]}}, eta: {prior: {uniform: [-1, 1]}}}"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) expect_line_round_trip(lines[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_free_defaults), cmocka_unit_test(test_free_priors),
      cmocka_unit_test(test_bad_free), cmocka_unit_test(test_reference),
      cmocka_unit_test(test_round_trip)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
