/* Tests the context of the checks: draws by index over all chains, subsamples, the centre, and the
 * assessed quantities. */
#include "invert/assess/context.h"

#include <math.h>
#include <string.h>

#include "invert/assess/context_support.h"
#include "invert/assess/crowd_support.h"

enum { CHAINS = 3, DRAWS = 7, ALL = CHAINS * DRAWS };

/* Two coordinates: draw i is i in the first, 100 + i in the second. */
static double numbers[2 * ALL];

static idm_posterior make_posterior(size_t chains, size_t draws)
{
  for (size_t i = 0; i < ALL; i++) {
    numbers[i] = (double)i;
    numbers[ALL + i] = 100 + (double)i;
  }
  return (idm_posterior){.chains = chains, .draws = draws, .unconstrained = numbers};
}

static void test_draw(void **state)
{
  (void)state;
  described_fit a;
  described_fit_open(&a);
  const idm_posterior posterior = make_posterior(CHAINS, DRAWS);
  const check_context q = {.f = &a.f, .posterior = &posterior};
  for (size_t i = 0; i < ALL; i++) {
    double y[2] = {-1, -1};
    idm_context_draw(&q, i, y);
    assert_true(y[0] == (double)i && y[1] == 100 + (double)i);
    /* Without bounds the coordinate is the value itself. */
    assert_true(idm_context_coordinate(&q, &a.f.parameters->item[1], i) == 100 + (double)i);
  }
  /* Between bounds the coordinate is transformed to the value. */
  parameter bounded = a.f.parameters->item[0];
  bounded.lower = 0;
  bounded.upper = INFINITY;
  assert_near(idm_context_coordinate(&q, &bounded, 2), exp(2), 1e-14);
  described_fit_close(&a);
}

/* All draws if there are few, else 200 evenly spaced, and fewer where each requires many plans: 16
 * per term of a quadratic function, then 20. */
static void test_sample(void **state)
{
  (void)state;
  described_fit a;
  described_fit_open(&a);
  idm_posterior posterior = make_posterior(CHAINS, DRAWS);
  const check_context q = {.f = &a.f, .posterior = &posterior};
  assert_int_equal(idm_context_sample(&q, 100), ALL);
  assert_int_equal(idm_context_sample(&q, 5000), 20);
  for (size_t k = 0; k < ALL; k++) assert_int_equal(idm_context_sample_at(&q, k, ALL), k);
  posterior.draws = 1000;
  assert_int_equal(idm_context_sample(&q, 400), 200);
  assert_int_equal(idm_context_sample(&q, 401), 16 * 6); /* six terms for two parameters */
  assert_int_equal(idm_context_sample(&q, 2000), 16 * 6);
  assert_int_equal(idm_context_sample(&q, 2001), 20);
  for (size_t k = 0; k < 200; k++) assert_int_equal(idm_context_sample_at(&q, k, 200), 15 * k);
  described_fit_close(&a);
}

/* The centre is the draw of highest density, or the first draw if none has a density. */
static void test_centre(void **state)
{
  (void)state;
  described_fit a;
  described_fit_open(&a);
  idm_statistics density[ALL] = {0};
  idm_posterior posterior = make_posterior(CHAINS, DRAWS);
  posterior.statistics = density;
  const check_context q = {.f = &a.f, .posterior = &posterior};
  double y[2];
  idm_context_centre(&q, y);
  assert_true(y[0] == 0);
  density[5].log_density = 1;
  idm_context_centre(&q, y);
  assert_true(y[0] == 5 && y[1] == 105);
  described_fit_close(&a);
}

/* In a population only the coefficients of the means are assessed, with their names in files. */
static void test_judged(void **state)
{
  (void)state;
  population p;
  char name[128];
  idm_problem *problem = population_bandit();
  population_open(&p, problem, population_learners(problem, 3, 1, 0, 1), POPULATION_RATES, 20);
  size_t judged = 0;
  for (size_t i = 0; i < p.posterior->quantity.count; i++) {
    const char *own = p.posterior->quantity.name[i];
    assert_int_equal(idm_context_is_assessed(&p.q, i), strstr(own, "_coefficient[") != NULL);
    judged += idm_context_is_assessed(&p.q, i);
    assert_string_equal(idm_context_quantity_name(&p.q, i, name, sizeof name), own);
  }
  assert_int_equal(judged, 2);
  population_close(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_draw), cmocka_unit_test(test_sample),
                                     cmocka_unit_test(test_centre), cmocka_unit_test(test_judged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
