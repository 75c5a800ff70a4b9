/* Tests the evidence of few decisions against quadrature over the prior. */
#include "invert/assess/context.h"

#include <math.h>

#include "invert/assess/context_support.h"
#include "invert/matching.h"
#include "invert/predict.h"

static void open_few(assessed_fit *a, const char *free_blocks)
{
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  problem->agent.resolution = 20;
  idm_data *data = support_data(problem, "trajectory,action,observation\n"
                                         "1,monitor,negative\n1,monitor,positive\n"
                                         "1,declare_diseased,\n2,declare_healthy,\n");
  assessed_fit_open(a, problem, data, free_blocks);
}

/* The mean over 400 draws is within four of its standard errors of the quadrature (6e-5). */
static void evidence_is_the_mean_over_the_prior(void **state)
{
  (void)state;
  enum { POINTS = 400, DRAWS = 400 };
  assessed_fit a;
  idm_chance chance;
  double factor, sum = 0, squares = 0, weights = 0;
  open_few(&a, "{alpha: {scale: log, prior: {normal: [0, 2]}}}");
  check(idm_chance_measure(a.data, &chance, &support_error));
  check(idm_evidence_against_chance(&a.q, chance.uniform, &factor, &support_error));
  for (size_t i = 0; i < POINTS; i++) {
    const double z = -5 + 10 * ((double)i + 0.5) / POINTS, y = 2 * z;
    double log_likelihood;
    check(idm_matching_log_likelihood(a.f.matching[0], &y, &log_likelihood, NULL, &support_error));
    const double weight = exp(-z * z / 2), ratio = exp(log_likelihood - chance.uniform);
    sum += weight * ratio;
    squares += weight * ratio * ratio;
    weights += weight;
  }
  const double mean = sum / weights, sd = sqrt(squares / weights - mean * mean);
  assert_near(factor, mean, 4 * sd / sqrt(DRAWS));
  assert_true(factor > 0.05);
  assessed_fit_close(&a);
}

static void an_improper_prior_has_none(void **state)
{
  (void)state;
  assessed_fit a;
  double factor;
  open_few(&a, "{alpha: {scale: log, prior: flat}}");
  check(idm_evidence_against_chance(&a.q, -3, &factor, &support_error));
  assert_true(isnan(factor));
  assessed_fit_close(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(evidence_is_the_mean_over_the_prior),
      cmocka_unit_test(an_improper_prior_has_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
