/* Tests integrals over the effects of people against closed forms of normal likelihoods and against
 * quadrature on fine grids. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/hierarchy/hierarchy.h"
#include "support.h"

enum { PEOPLE = 2, DRAWS = 40, MAX = IDM_MAX_INTEGRATED_EFFECTS };

/* Means, sds and the common correlation of the population by draw: wide, narrow, and in between. */
static double mean_of(size_t draw)
{
  return draw == DRAWS - 1 ? 1.2 : 0.4 * sin((double)draw);
}

static double sd_of(size_t draw, size_t effect)
{
  static const double sd[] = {1.5, 0.7, 0.4, 0.15, 0.02};
  return sd[(draw + 2 * effect) % 5];
}

static double correlation_of(size_t draw)
{
  return 0.3 * fabs(cos((double)draw));
}

/* One cell per person, and one effect per number. */
typedef struct made {
  idm_design design;
  uint32_t cell_person[PEOPLE];
  uint32_t effect_coordinate[MAX];
  double share[PEOPLE * MAX];
  size_t coefficients[MAX];
  double one[PEOPLE];
  double *regressor[MAX];
  size_t first[MAX + 1];
  double coefficient[MAX * DRAWS], sd[MAX * DRAWS], correlation[MAX * MAX * DRAWS];
  double effect[MAX * PEOPLE * DRAWS];
  idm_people people;
} made;

/* Draws of people are normal about `centre` with sd `spread`. */
static made *make(size_t effects, double centre, double spread)
{
  made *m = calloc(1, sizeof *m);
  idm_random random;
  assert_non_null(m);
  idm_random_init(&random, 5, effects);
  for (size_t i = 0; i < PEOPLE; i++) {
    m->cell_person[i] = (uint32_t)i;
    m->one[i] = 1;
  }
  for (size_t i = 0; i < PEOPLE * MAX; i++) m->share[i] = 1;
  for (size_t j = 0; j < effects; j++) {
    m->effect_coordinate[j] = (uint32_t)j;
    m->coefficients[j] = 1;
    m->regressor[j] = m->one;
    m->first[j + 1] = j + 1;
    for (size_t s = 0; s < DRAWS; s++) {
      m->coefficient[j * DRAWS + s] = mean_of(s);
      m->sd[j * DRAWS + s] = sd_of(s, j);
      for (size_t k = 0; k < j; k++)
        m->correlation[(j * (j - 1) / 2 + k) * DRAWS + s] = correlation_of(s);
      for (size_t i = 0; i < PEOPLE; i++)
        m->effect[(j * PEOPLE + i) * DRAWS + s] = centre + spread * idm_random_normal(&random);
    }
  }
  m->design = (idm_design){.people = PEOPLE,
                           .cells = PEOPLE,
                           .cell_person = m->cell_person,
                           .coordinates = effects,
                           .effects = effects,
                           .effect_coordinate = m->effect_coordinate,
                           .share = m->share,
                           .coefficients = m->coefficients,
                           .regressor = m->regressor};
  m->people = (idm_people){.chains = 2,
                           .draws = DRAWS / 2,
                           .people = PEOPLE,
                           .effects = effects,
                           .coefficient_first = m->first,
                           .effect = m->effect,
                           .coefficient = m->coefficient,
                           .sd = m->sd,
                           .correlation = m->correlation};
  return m;
}

/* A log-likelihood of `effects` numbers. */
typedef struct function {
  size_t effects;
  double (*value)(size_t effects, size_t person, const double *x);
} function;

static idm_status exact(void *context, const leaf_worker *worker, size_t leaf, const double *x,
                        double *log_likelihood, idm_error *opt_error)
{
  const function *f = context;
  (void)worker;
  (void)opt_error;
  *log_likelihood = f->value(f->effects, leaf, x);
  return IDM_OK;
}

static idm_integrated *integrate(const made *m, function *f, int threads)
{
  const leaf_source leaves = {.context = f, .exact = exact};
  idm_integrated *integrated;
  check(idm_hierarchy_integrate(&m->design, &leaves, &m->people, threads, NULL, &integrated,
                                &support_error));
  return integrated;
}

/* Normal about 0.1 (person + effect), with sd 0.5. */
static double normal(size_t effects, size_t person, const double *x)
{
  double square = 0;
  for (size_t j = 0; j < effects; j++) square += pow((x[j] - 0.1 * (double)(person + j)) / 0.5, 2);
  return -square / 2;
}

/* log of the integral: normal(c; m, Sigma + 0.25 I) (2 pi 0.25)^(k/2). */
static double normal_integral(size_t k, size_t person, size_t draw)
{
  double a[MAX * MAX], d[MAX], result = 0;
  for (size_t i = 0; i < k; i++) {
    d[i] = 0.1 * (double)(person + i) - mean_of(draw);
    for (size_t j = 0; j < k; j++)
      a[i * k + j] = (i == j ? 1 : correlation_of(draw)) * sd_of(draw, i) * sd_of(draw, j) +
                     (i == j ? 0.25 : 0);
  }
  /* Gaussian elimination: pivots give the determinant and the quadratic form. */
  for (size_t i = 0; i < k; i++) {
    result += -0.5 * (log(a[i * k + i] / 0.25) + d[i] * d[i] / a[i * k + i]);
    for (size_t r = i + 1; r < k; r++) {
      const double factor = a[r * k + i] / a[i * k + i];
      for (size_t c = i; c < k; c++) a[r * k + c] -= factor * a[i * k + c];
      d[r] -= factor * d[i];
    }
  }
  return result;
}

static void test_normal(void **state)
{
  (void)state;
  for (size_t k = 1; k <= MAX; k++) {
    function f = {k, normal};
    made *m = make(k, 0.15, 0.4);
    idm_integrated *x = integrate(m, &f, 1);
    for (size_t i = 0; i < PEOPLE; i++) {
      assert_true(x->error[i] < 0.01);
      for (size_t s = 0; s < DRAWS; s++)
        assert_near(x->log_likelihood[s * PEOPLE + i], normal_integral(k, i, s), 1e-3);
    }
    idm_integrated_destroy(x);
    free(m);
  }
}

/* Skewed, with one flat side: choices of an option with probability 1 / (1 + exp(-2 x)). */
static double flat(size_t effects, size_t person, const double *x)
{
  double sum = 0;
  for (size_t j = 0; j < effects; j++)
    sum -= 6 * log1p(exp(-2 * x[j])) + (person ? 2 : 0) * log1p(exp(2 * x[j]));
  return effects < 2 ? sum : sum - 0.5 * pow(x[1] - x[0] * x[0], 2);
}

/* The trapezoidal rule over 8 sds of the population. */
static double quadrature(const function *f, size_t person, size_t draw)
{
  enum { POINTS = 401 };
  const double step = 16.0 / (POINTS - 1), r = f->effects > 1 ? correlation_of(draw) : 0;
  const size_t second = f->effects > 1 ? POINTS : 1;
  double sum = 0;
  for (size_t i = 0; i < POINTS; i++)
    for (size_t j = 0; j < second; j++) {
      const double u = -8 + step * (double)i, v = second > 1 ? -8 + step * (double)j : 0;
      const double x[2] = {mean_of(draw) + sd_of(draw, 0) * u,
                           mean_of(draw) + sd_of(draw, 1) * (r * u + sqrt(1 - r * r) * v)};
      sum += exp(f->value(f->effects, person, x) - (u * u + v * v) / 2);
    }
  return log(sum * pow(step / sqrt(2 * 3.14159265358979323846), (double)f->effects));
}

static void test_skewed(void **state)
{
  (void)state;
  for (size_t k = 1; k <= 2; k++) {
    function f = {k, flat};
    made *m = make(k, 0.8, 0.5);
    idm_integrated *x = integrate(m, &f, 1);
    for (size_t i = 0; i < PEOPLE; i++) {
      assert_true(x->error[i] < 0.1);
      for (size_t s = 0; s < DRAWS; s += k)
        assert_near(x->log_likelihood[s * PEOPLE + i], quadrature(&f, i, s), 2e-3);
    }
    idm_integrated_destroy(x);
    free(m);
  }
}

/* Results are equal at any number of threads. */
static void test_threads(void **state)
{
  (void)state;
  function f = {2, flat};
  made *m = make(2, 0.8, 0.5);
  idm_integrated *x = integrate(m, &f, 1), *y = integrate(m, &f, 2);
  assert_memory_equal(x->log_likelihood, y->log_likelihood,
                      DRAWS * PEOPLE * sizeof *x->log_likelihood);
  assert_memory_equal(x->error, y->error, PEOPLE * sizeof *x->error);
  idm_integrated_destroy(x);
  idm_integrated_destroy(y);
  free(m);
}

/* A likelihood that is 0 everywhere but at the centre has no known error; nor have people whose
 * draws are all equal. */
static double spike(size_t effects, size_t person, const double *x)
{
  (void)person;
  double square = 0;
  for (size_t j = 0; j < effects; j++) square += x[j] * x[j];
  return square < 1e-3 ? 0 : -INFINITY;
}

static void test_unknown_errors(void **state)
{
  (void)state;
  function f = {1, spike};
  made *m = make(1, 0, 0.5);
  idm_integrated *x = integrate(m, &f, 1);
  assert_true(x->error[0] > 0.1);
  idm_integrated_destroy(x);
  free(m);
  f.value = normal;
  m = make(1, 0.1, 0);
  x = integrate(m, &f, 1);
  assert_true(isinf(x->error[0]));
  idm_integrated_destroy(x);
  free(m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_normal),
      cmocka_unit_test(test_skewed),
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_unknown_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
