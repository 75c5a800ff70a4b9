/* Tests random-effects model selection against exact probabilities, limits and bad input. */
#include <math.h>

#include "infer/comparison.h"
#include "support.h"

enum { MODELS = 50 };

static void exceed(const double *count, size_t models, double *exceedance)
{
  double sum = 0;
  check(idm_dirichlet_exceedance(count, models, exceedance, &support_error));
  for (size_t k = 0; k < models; k++) sum += exceedance[k];
  assert_near(sum, 1, 1e-9);
}

/* P(r_1 > 1/2) under Beta(a, b) with integers a and b: at most a - 1 of a + b - 1 coins. */
static double beta_above_half(int a, int b)
{
  double sum = 0, term = pow(0.5, a + b - 1);
  for (int j = 0; j < a; j++) {
    sum += term;
    term *= (double)(a + b - 1 - j) / (j + 1);
  }
  return sum;
}

static void test_two_models(void **state)
{
  (void)state;
  for (int a = 1; a < 40; a += 3)
    for (int b = 1; b < 400; b = 2 * b + 1) {
      double p[2];
      exceed((const double[]){a, b}, 2, p);
      assert_near(p[0], beta_above_half(a, b), 1e-9);
    }
}

static void test_many_models(void **state)
{
  (void)state;
  double count[MODELS], p[MODELS];
  for (size_t k = 0; k < MODELS; k++) count[k] = 3.5;
  exceed(count, MODELS, p);
  for (size_t k = 0; k < MODELS; k++) assert_near(p[k], 1.0 / MODELS, 1e-9);
  for (size_t k = 0; k < MODELS; k++) count[k] = 0.1 * (double)(k * k) + 0.1;
  exceed(count, MODELS, p);
  for (size_t k = 1; k < MODELS; k++) assert_true(p[k] > p[k - 1] || p[k] < 1e-9);
  /* As all counts vanish, one frequency is 1, with probabilities in proportion to the counts. */
  exceed((const double[]){1e-5, 2e-5, 5e-5}, 3, p);
  const double limit[] = {0.125, 0.25, 0.625};
  for (size_t k = 0; k < 3; k++) assert_near(p[k], limit[k], 1e-3);
  exceed((const double[]){7}, 1, p);
  exceed((const double[]){1e6, 1e6, 1}, 3, p);
  assert_near(p[0], 0.5, 1e-8);
}

typedef struct selected {
  double count[4], frequency[4], exceedance[4], protected[4];
  idm_model_selection s;
} selected;

static void select_models(const double *evidence, size_t people, size_t models, double prior,
                          selected *r)
{
  r->s = (idm_model_selection){r->count, r->frequency, r->exceedance, r->protected, 0, 0};
  check(idm_model_select(evidence, people, models, prior, &r->s, &support_error));
  double total = 0;
  for (size_t k = 0; k < models; k++) total += r->count[k];
  assert_near(total, prior * (double)models + (double)people, 1e-8);
  assert_true(r->s.omnibus_risk >= 0 && r->s.omnibus_risk <= 1);
}

/* Evidence that decides for every person: counts are numbers of people, and the evidence of the
 * frequencies is that of a Dirichlet-multinomial distribution. */
static void test_decided(void **state)
{
  (void)state;
  double evidence[10][2];
  selected r;
  for (size_t i = 0; i < 10; i++) {
    evidence[i][i < 8] = -1000;
    evidence[i][i >= 8] = -3;
  }
  select_models(&evidence[0][0], 10, 2, 1, &r);
  assert_near(r.count[0], 9, 1e-9);
  assert_near(r.frequency[0], 0.75, 1e-9);
  assert_near(r.exceedance[0], beta_above_half(9, 3), 1e-9);
  /* 8! 2! / 11! against 2^-10 */
  const double against = pow(0.5, 10) / (40320.0 * 2 / 39916800);
  assert_near(r.s.omnibus_risk, against / (1 + against), 1e-9);
  assert_near(r.protected[0], r.exceedance[0] * (1 - r.s.omnibus_risk) + r.s.omnibus_risk / 2,
              1e-15);
  for (size_t i = 0; i < 10; i++) evidence[i][i < 8] = -INFINITY;
  select_models(&evidence[0][0], 10, 2, 1, &r);
  assert_near(r.count[0], 9, 1e-9);
}

static void test_equal(void **state)
{
  (void)state;
  double evidence[5000];
  selected r;
  for (size_t i = 0; i < 5000; i++) evidence[i] = -7;
  select_models(evidence, 20, 4, 2, &r);
  for (size_t k = 0; k < 4; k++) {
    assert_near(r.count[k], 7, 1e-9);
    assert_near(r.exceedance[k], 0.25, 1e-9);
  }
  assert_true(r.s.omnibus_risk > 0.5);
  select_models(evidence, 3, 1, 1, &r);
  assert_near(r.s.omnibus_risk, 0.5, 1e-12);
  assert_near(r.protected[0], 1, 1e-12);
  /* Nearly equal evidence of many people: the fixed-point iteration alone takes over 10,000 steps.
   */
  idm_random random;
  idm_random_init(&random, 5, 0);
  for (size_t i = 0; i < 5000; i++) evidence[i] = 0.02 * idm_random_normal(&random);
  select_models(evidence, 2500, 2, 1, &r);
  assert_true(r.s.iterations < 1000);
}

/* The counts are a fixed point, whatever the order of the models. */
static void test_fixed_point(void **state)
{
  (void)state;
  double evidence[30][4], turned[30][4], next[4] = {0.5, 0.5, 0.5, 0.5};
  selected r, other;
  idm_random random;
  idm_random_init(&random, 6, 0);
  for (size_t i = 0; i < 30; i++)
    for (size_t k = 0; k < 4; k++)
      turned[i][3 - k] = evidence[i][k] = 0.4 * (double)k + 2 * idm_random_normal(&random);
  select_models(&evidence[0][0], 30, 4, 0.5, &r);
  select_models(&turned[0][0], 30, 4, 0.5, &other);
  for (size_t i = 0; i < 30; i++) {
    double share[4];
    for (size_t k = 0; k < 4; k++) share[k] = evidence[i][k] + idm_digamma(r.count[k]);
    idm_softmax(share, 4, share);
    for (size_t k = 0; k < 4; k++) next[k] += share[k];
  }
  for (size_t k = 0; k < 4; k++) {
    assert_near(r.count[k], next[k], 1e-9);
    assert_near(r.count[k], other.count[3 - k], 1e-8);
    assert_near(r.exceedance[k], other.exceedance[3 - k], 1e-8);
  }
}

static void test_bad_input(void **state)
{
  (void)state;
  double p[4];
  idm_model_selection s = {p, p, p, p, 0, 0};
  const double bad[][4] = {
      {-1, NAN, -1, -1}, {-1, INFINITY, -1, -1}, {-1, -1, -INFINITY, -INFINITY}};
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(idm_model_select(bad[i], 2, 2, 1, &s, &support_error), IDM_INPUT);
  assert_int_equal(idm_model_select(bad[2], 1, 2, 0, &s, &support_error), IDM_USAGE);
  assert_int_equal(idm_model_select(bad[2], 1, 2, NAN, &s, &support_error), IDM_USAGE);
  assert_int_equal(idm_model_select(bad[2], 0, 2, 1, &s, &support_error), IDM_USAGE);
  assert_int_equal(idm_model_select(bad[2], 1, 0, 1, &s, &support_error), IDM_USAGE);
  assert_int_equal(idm_dirichlet_exceedance(p, 0, p, &support_error), IDM_USAGE);
  for (size_t i = 0; i < 3; i++) {
    const double count[] = {1, (const double[]){0, NAN, INFINITY}[i]};
    assert_int_equal(idm_dirichlet_exceedance(count, 2, p, &support_error), IDM_INPUT);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_models),  cmocka_unit_test(test_many_models),
      cmocka_unit_test(test_decided),     cmocka_unit_test(test_equal),
      cmocka_unit_test(test_fixed_point), cmocka_unit_test(test_bad_input),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
