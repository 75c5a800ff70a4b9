/* A normal approximation is trusted where it is the posterior, and nowhere else. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { CHAINS = 4, DRAWS = 500, ALL = CHAINS * DRAWS };

/* Log density, as a function of the squared distance from the mode and of one coordinate. */
typedef double density(double square, double x);

static double normal(double square, double x)
{
  (void)x;
  return -0.5 * square;
}

/* Cauchy: heavier tails than any normal has. */
static double cauchy(double square, double x)
{
  (void)x;
  return -1.5 * log1p(square);
}

/* A normal with half the sd: too wide an approximation wastes draws. */
static double narrow(double square, double x)
{
  (void)x;
  return -8 * square;
}

/* Half of the normal. */
static double half(double square, double x)
{
  return x > 1 ? -0.5 * square : -INFINITY;
}

/* Independent normal draws of two numbers, whose true density is `log_density`. */
static idm_assessment *assess(const char *inverse, density *log_density)
{
  idm_posterior *p = calloc(1, sizeof *p);
  assert_non_null(p);
  p->answer = IDM_POSTERIOR;
  p->chains = CHAINS;
  p->draws = DRAWS;
  snprintf(p->inverse, sizeof p->inverse, "%s", inverse);
  support_names(&p->quantity, (const char *const[]){"a", "b"}, 2);
  support_names(&p->coordinate, (const char *const[]){"a", "b"}, 2);
  p->summarised = calloc(2, sizeof *p->summarised);
  p->value = calloc(2 * ALL, sizeof *p->value);
  p->unconstrained = calloc(2 * ALL, sizeof *p->unconstrained);
  p->statistics = calloc(ALL, sizeof *p->statistics);
  assert_true(p->summarised && p->value && p->unconstrained && p->statistics);
  p->summarised[0] = p->summarised[1] = true;
  idm_random random;
  idm_random_init(&random, 8, 0);
  for (size_t i = 0; i < ALL; i++) {
    const double x = idm_random_normal(&random), y = idm_random_normal(&random);
    p->value[i] = p->unconstrained[i] = 1e3 + 10 * x;
    p->value[ALL + i] = p->unconstrained[ALL + i] = 0.1 * (x + y);
    p->statistics[i].log_density = 55 + log_density(x * x + y * y, x);
    p->statistics[i].energy = NAN;
  }
  idm_assessment *a;
  check(idm_assess_draws(p, &a, &support_error));
  idm_posterior_destroy(p);
  return a;
}

static void test_weights(void **state)
{
  (void)state;
  density *const densities[] = {normal, cauchy, narrow, half};
  for (size_t i = 0; i < 4; i++) {
    idm_assessment *a = assess("laplace", densities[i]);
    assert_int_equal(a->trusted, i == 0);
    if (i) assert_non_null(strstr(a->failures.text[0], "use --inverse bayes"));
    idm_assessment_destroy(a);
    /* Draws by chains are of the density itself: nothing is to be weighed. */
    a = assess("bayes", densities[i]);
    assert_true(a->trusted);
    idm_assessment_destroy(a);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_weights)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
