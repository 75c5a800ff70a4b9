/* Tests limits, intervals, propriety and contraction of free parameters against likelihoods planned
 * and scored directly. */
#include "invert/assess/context.h"

#include <math.h>
#include <string.h>

#include "invert/assess/bounded_support.h"

/* --- one profile ---------------------------------------------------------------------------- */

/* A profile of log alpha, against the likelihood at the ends that the scan found. */
static void test_one_profile(void **state)
{
  (void)state;
  answered f = ask_diag("map", 1.25, "alpha");
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  fit_context work;
  profile *p;
  scan s;
  search_window windows[1];
  const double step[1] = {0.1}, precision[1] = {1};
  check(idm_fit_open(&work, NULL, f.problem, f.data, &settings, 1, &support_error));
  check(idm_profile_create(&work, work.matching[0], &p, &support_error));
  check(idm_scan_create(1, &s, &support_error));
  idm_profile_windows(&work, windows);
  p->windows = windows;
  p->step = step;
  p->left = 1000;
  p->best.y[0] = p->highest.y[0] = log(f.assessment->parameter[0].maximum);
  check(idm_profile_evaluate(p, p->best.y, &p->best.log_likelihood, &support_error));
  p->highest.log_likelihood = p->best.log_likelihood;
  idm_profile_fix(p, 0, precision);
  check(idm_scan_run(p, true, &s, &support_error));
  check(idm_scan_regions(p, NULL, 0, &s, &support_error));
  const check_context q = {
      .f = &work, .posterior = f.posterior, .assessment = f.assessment, .among = 1};
  idm_identification id = {0};
  check(idm_profile_bounds(&q, &work.parameters->item[0], p, &s, &id, &support_error));
  /* The likelihood at the ends is lower than the maximum by the drop, and the limits are those of
   * alpha. */
  const double ends[2] = {log(id.low), log(id.high)};
  for (int side = 0; side < 2; side++) {
    double log_likelihood;
    check(idm_matching_log_likelihood(work.matching[0], &ends[side], &log_likelihood, NULL,
                                      &support_error));
    assert_near(p->best.log_likelihood - log_likelihood, idm_profile_drop, 0.02);
  }
  assert_true(id.limit[0] == 0 && id.limit[1] == INFINITY);
  assert_true(id.gap[0] > idm_profile_drop && id.gap[1] > idm_profile_drop);
  assert_false(id.unchecked);
  /* A search that ran out of evaluations is reported as unchecked. */
  p->left = 0;
  check(idm_profile_bounds(&q, &work.parameters->item[0], p, &s, &id, &support_error));
  assert_true(id.unchecked);
  idm_scan_destroy(&s);
  idm_profile_destroy(p);
  idm_fit_close(&work);
  answered_close(&f);
}

/* --- limits --------------------------------------------------------------------------------- */

/* The same answer assessed as posterior draws, for which the posterior must be proper; a point
 * estimate must only be a maximum. */
static idm_assessment *assess_as_draws(answered *f)
{
  idm_assessment *assessment;
  f->posterior->answer = IDM_POSTERIOR;
  check(idm_assess_monitored(f->problem, f->data, f->posterior, 1, NULL, &assessment,
                             &support_error));
  f->posterior->answer = IDM_POINT;
  return assessment;
}

/* The likelihood of a neutral agent does not bound beta above: with a flat prior the posterior is
 * improper. */
static void test_nothing_bounds(void **state)
{
  (void)state;
  answered f = ask_diag("map", INFINITY, "{beta: {scale: log, prior: flat}}");
  const idm_identification *beta = &f.assessment->parameter[0];
  assert_true(beta->limit[0] == 0 && beta->limit[1] == INFINITY);
  assert_true(beta->gap[1] < 0.5 && beta->gap[0] > 20);
  assert_false(beta->proper[0]);
  assert_false(beta->proper[1]);
  assert_true(beta->high == INFINITY && isfinite(beta->low) && beta->low > 0);
  assert_true(isnan(beta->contraction));
  idm_assessment *draws = assess_as_draws(&f);
  assert_true(support_mentions(&draws->failures, "nothing bounds beta above"));
  idm_assessment_destroy(draws);
  assert_non_null(strstr(beta->sentence, "above it is bounded neither by the data"));
  assert_non_null(strstr(beta->sentence, "nor by the prior"));
  answered_close(&f);
}

/* Under a flat prior the posterior is improper wherever the likelihood does not fall without limit
 * and fast enough, whatever its drop at the limit. */
static void test_improper(void **state)
{
  (void)state;
  const struct {
    const char *free_blocks;
    bool improper[2]; /* of the last free parameter */
    bool rises;       /* the likelihood rises towards a limit: there is no mode */
  } cases[] = {
      {"{alpha: {prior: flat}}",
       {false, true},
       false}, /* alpha = 0 gives errors probability 0; alpha = infinity is uniform choice */
      {"{alpha: {scale: inverse, prior: flat}}", {false, false}, false},
      {"{beta: {prior: flat}}",
       {true, true},
       false}, /* worst and best cases are policies like others */
      {"{beta: {scale: log, prior: flat}}", {true, true}, false},
      {"{eta: {prior: flat}}",
       {false, false},
       false}, /* at the limit, choices depend on surprise alone */
      {"{eta: {scale: signed-log, prior: flat}}", {false, false}, false},
      {"{eta: {scale: log, prior: flat}}", {true, false}, true},
      {"{eta: {scale: inverse, prior: flat}}",
       {true, true},
       false},                                              /* 1/eta at infinity is eta = 0 */
      {"{discount: {prior: flat}}", {false, false}, false}, /* a bounded range is always proper */
      {"{eta: {prior: {uniform: [-50, 50]}}}", {false, false}, false},
      /* Alpha and eta may grow together: a likelihood that falls in each alone does not fall along
       * the ridge. */
      {"{alpha: {scale: identity, prior: flat}, eta: {prior: flat}}", {true, true}, false},
      /* A proper prior of the other parameter prevents it. */
      {"{alpha: , eta: {prior: flat}}", {false, false}, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    answered f = ask_diag("map", 1.25, cases[i].free_blocks);
    const idm_identification *id = &f.assessment->parameter[f.assessment->parameters - 1];
    for (int side = 0; side < 2; side++)
      if (id->improper[side] != cases[i].improper[side])
        fail_msg("%s: improper %d on side %d; %s", cases[i].free_blocks, id->improper[side], side,
                 id->sentence);
    const bool any = cases[i].improper[0] || cases[i].improper[1];
    idm_assessment *draws = assess_as_draws(&f);
    assert_int_equal(support_mentions(&draws->failures, "is improper too and has no mean"), any);
    idm_assessment_destroy(draws);
    assert_int_equal(support_mentions(&f.assessment->failures, "there is no most probable"),
                     cases[i].rises);
    assert_int_equal(f.assessment->trusted, !cases[i].rises);
    answered_close(&f);
  }
}

/* Under a proper prior, the missing bound is a remark, not a failure. */
static void test_bounded_by_the_prior(void **state)
{
  (void)state;
  answered f = ask_diag("map", INFINITY, "{beta: {scale: log}}");
  const idm_identification *beta = &f.assessment->parameter[0];
  assert_true(beta->gap[1] < 0.5 && beta->proper[1]);
  assert_true(f.assessment->trusted);
  assert_int_equal(f.assessment->failures.count, 0);
  assert_true(support_mentions(&f.assessment->remarks,
                               "above it is bounded by the prior, not by the data"));
  assert_true(beta->high == INFINITY);
  answered_close(&f);
}

/* The interval of 1/beta of a neutral agent contains 0, so that beta has no upper bound and 1/beta
 * is reported. */
static void test_neutral_agent(void **state)
{
  (void)state;
  answered f = ask_diag("map", INFINITY, "{beta: {scale: inverse}}");
  const idm_identification *beta = &f.assessment->parameter[0];
  assert_true(beta->low < 0 && beta->high > 0);
  /* With no other free parameter the gap is the drop of the log-likelihood at the limit. */
  const double limits[2] = {-0.0, 0.0};
  for (int side = 0; side < 2; side++) {
    idm_theta_set_scalar(f.problem->theta, IDM_BETA, limits[side]);
    idm_workspace *workspace = support_plan(f.problem, NULL);
    assert_near(beta->gap[side], f.assessment->log_likelihood - support_score(workspace, f.data),
                1e-6);
    idm_workspace_destroy(workspace);
  }
  assert_non_null(strstr(beta->sentence, "beta itself is not bounded above"));
  assert_non_null(strstr(beta->sentence, "report 1/beta"));
  answered_close(&f);
}

/* A name that occurs twice in a row is below 1/2, on a scale that has no lower end: its coordinate
 * increases all the same, so that ends and limits are in ascending order. */
static void test_tied_twice(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(
      "{name: tied, states: [well, ill], actions: [leave, treat, test], ends: [leave, treat],\n"
      " observations: [low, middle, high], start: uniform, discount: 0.9,\n"
      " transition: {test: identity, leave: uniform, treat: uniform},\n"
      " observation: {'*': [[0.2, 0.2, 0.6], [0.6, 0.2, 0.2]]},\n"
      " utility: {test: -1, leave: [10, -36], treat: [-36, 10]},\n"
      " agent: {planner: bounded-rational, alpha: 2, beta: inf, eta: 0, resolution: 10},\n"
      " free: {emission: {wrong: [[x, x, .], [., x, x]]}}}");
  idm_data *data = simulate(problem, 60);
  answered f = ask("map", problem, data);
  const idm_identification *wrong = &f.assessment->parameter[0];
  assert_true(wrong->limit[0] == 0 && wrong->limit[1] == 0.5);
  assert_true(wrong->low < wrong->maximum && wrong->maximum < wrong->high);
  assert_true(wrong->low < 0.2 && 0.2 < wrong->high);
  for (size_t i = 1; i < wrong->points; i++) assert_true(wrong->value[i - 1] < wrong->value[i]);
  assert_true(wrong->points > 3);
  answered_close(&f);
}

/* A log without decisions bounds nothing, and the contraction is 0. */
static void test_no_data(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = 10;
  check(idm_problem_set_free(problem, "{beta: {scale: inverse, prior: {normal: [0, 1]}}}",
                             &support_error));
  answered f = ask("bayes", problem, support_data(problem, "trajectory,action,observation\n1,,\n"));
  const idm_identification *beta = &f.assessment->parameter[0];
  assert_true(beta->gap[0] == 0 && beta->gap[1] == 0);
  assert_true(beta->low == -INFINITY && beta->high == INFINITY);
  assert_non_null(strstr(beta->sentence, "the data do not bound 1/beta"));
  assert_non_null(strstr(beta->sentence, "below it is bounded by the prior"));
  assert_non_null(strstr(beta->sentence, "above it is bounded by the prior"));
  /* The posterior is the prior; the variance of 200 draws has a relative standard error of about
   * .2. */
  assert_true(fabs(beta->contraction) < 0.6);
  answered_close(&f);
}

/* --- contraction ---------------------------------------------------------------------------- */

static void test_contraction(void **state)
{
  (void)state;
  answered f =
      ask_diag("bayes", 1.25,
               "{discount: {prior: {beta: [8, 2]}}, beta: {scale: inverse, prior: {normal: "
               "[0, 2]}}}");
  const size_t all = f.posterior->chains * f.posterior->draws;
  /* Quantities: discount, beta, inverse_beta. Beta(8, 2) has variance 16 / (100 x 11). */
  const size_t quantity[2] = {0, 2};
  const double prior[2] = {16.0 / 1100, 4};
  for (size_t i = 0; i < 2; i++) {
    const double *x = f.posterior->value + quantity[i] * all;
    double mean = 0, square = 0;
    for (size_t k = 0; k < all; k++) mean += x[k] / (double)all;
    for (size_t k = 0; k < all; k++) square += (x[k] - mean) * (x[k] - mean) / (double)(all - 1);
    assert_int_equal(f.assessment->parameter[i].quantity, quantity[i]);
    assert_near(f.assessment->parameter[i].contraction, 1 - square / prior[i], 1e-9);
  }
  /* The limits of the discount are those of its support, and it is bounded without a prior. */
  const idm_identification *discount = &f.assessment->parameter[0];
  assert_true(discount->limit[0] == 0 && discount->limit[1] == 1);
  assert_true(discount->proper[0] && discount->proper[1]);
  assert_true(discount->low >= 0 && discount->high <= 1);
  answered_close(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_profile), cmocka_unit_test(test_nothing_bounds),
      cmocka_unit_test(test_improper),    cmocka_unit_test(test_bounded_by_the_prior),
      cmocka_unit_test(test_tied_twice),  cmocka_unit_test(test_neutral_agent),
      cmocka_unit_test(test_no_data),     cmocka_unit_test(test_contraction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
