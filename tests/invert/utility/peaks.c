/* Local modes of a density: each mode of a mixture is found once, with its mass, and proposals
 * cover all of them. */
#include "invert/utility/task.h"

#include <math.h>
#include <string.h>

#include "support.h"

/* Two normal densities of different widths, 40 sds apart in the first coordinate. */
typedef struct hills {
  double share; /* log mass of the second relative to the first */
  double at, sd;
} hills;

static double log_normal(const double *x, double at, double sd)
{
  return -0.5 * ((x[0] - at) * (x[0] - at) / (sd * sd) + x[1] * x[1]) - log(sd);
}

static idm_status evaluate(void *context, const double *x, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  (void)opt_error;
  const hills *h = context;
  const double a = log_normal(x, 0, 1), b = h->share + log_normal(x, h->at, h->sd);
  const double top = fmax(a, b), p = exp(a - top) / (exp(a - top) + exp(b - top));
  *log_density = top + log(exp(a - top) + exp(b - top));
  if (opt_gradient) {
    opt_gradient[0] = -p * x[0] - (1 - p) * (x[0] - h->at) / (h->sd * h->sd);
    opt_gradient[1] = -x[1];
  }
  return IDM_OK;
}

static idm_local_modes *climb(hills *h, const double *from, size_t count, size_t most)
{
  const idm_target target = {2, true, h, evaluate};
  idm_local_modes *modes;
  check(idm_local_modes_create(2, most, &modes, &support_error));
  for (size_t i = 0; i < count; i++) {
    double x[] = {from[i], 1};
    check(idm_local_modes_ascend(modes, &target, x, &support_error));
  }
  return modes;
}

static void test_each_once(void **state)
{
  (void)state;
  static const double from[] = {-1, 1, 39.9, 2, 40.2, 40};
  hills h = {.share = log(3), .at = 40, .sd = 0.1};
  idm_local_modes *modes = climb(&h, from, 6, 5);
  assert_int_equal(modes->count, 2);
  assert_near(modes->local_mode[0].mode[0], 0, 1e-4);
  assert_near(modes->local_mode[1].mode[0], 40, 1e-4);
  assert_true(modes->local_mode[0].definite && modes->local_mode[1].definite);
  assert_near(modes->local_mode[1].covariance[0], 0.01, 1e-5);
  /* The masses are as 3 to 1, whatever the widths. */
  assert_near(modes->local_mode[1].log_mass - modes->local_mode[0].log_mass, h.share, 1e-3);
  idm_local_modes_prune(modes);
  assert_int_equal(modes->count, 2);
  idm_local_modes_destroy(modes);
  /* One mode is found once from any start; the number of modes is limited. */
  h.at = 0.5;
  h.sd = 1;
  modes = climb(&h, from, 3, 5);
  assert_int_equal(modes->count, 1);
  idm_local_modes_destroy(modes);
  h.at = 40;
  modes = climb(&h, from, 6, 1);
  assert_int_equal(modes->count, 1);
  idm_local_modes_destroy(modes);
}

static void test_next_to_nothing(void **state)
{
  (void)state;
  static const double from[] = {0, 40};
  hills h = {.share = -20, .at = 40, .sd = 0.1};
  idm_local_modes *modes = climb(&h, from, 2, 5);
  assert_int_equal(modes->count, 2);
  idm_local_modes_prune(modes);
  assert_int_equal(modes->count, 1);
  assert_near(modes->local_mode[0].mode[0], 0, 1e-4);
  idm_local_modes_destroy(modes);
  h.share = 20;
  modes = climb(&h, from, 2, 5);
  idm_local_modes_prune(modes);
  assert_int_equal(modes->count, 1);
  assert_near(modes->local_mode[0].mode[0], 40, 1e-4);
  idm_local_modes_destroy(modes);
}

static void draw_broad(const void *context, idm_random *random, double *x)
{
  (void)context;
  x[0] = 1000 + idm_random_normal(random);
  x[1] = idm_random_normal(random);
}

static double broad_log_density(const void *context, const double *x)
{
  (void)context;
  return -0.5 * ((x[0] - 1000) * (x[0] - 1000) + x[1] * x[1]) - log(2 * 3.14159265358979323846);
}

/* Draws come from both modes and from the broad distribution with the right shares: within 0.015
 * for 20,000 draws (four standard errors; the seed is fixed). */
static void test_mixture(void **state)
{
  (void)state;
  static const double from[] = {0, 40};
  hills h = {.share = log(3), .at = 40, .sd = 0.1};
  idm_local_modes *modes = climb(&h, from, 2, 5);
  idm_mixture *mixture = NULL;
  const idm_defensive_component broad = {NULL, draw_broad, broad_log_density};
  check(idm_local_modes_mixture(modes, broad, &mixture, &support_error));
  idm_random random;
  idm_random_init(&random, 3, 0);
  double share[3] = {0};
  for (int i = 0; i < 20000; i++) {
    double x[2], work[2];
    idm_mixture_draw(mixture, &random, x);
    assert_true(isfinite(idm_mixture_log_density(mixture, x, work)));
    share[x[0] < 20 ? 0 : x[0] < 500 ? 1 : 2] += 1.0 / 20000;
  }
  assert_near(share[0], 0.2, 0.015);
  assert_near(share[1], 0.6, 0.015);
  assert_near(share[2], 0.2, 0.015);
  idm_mixture_destroy(mixture);
  idm_local_modes_destroy(modes);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_once),
      cmocka_unit_test(test_next_to_nothing),
      cmocka_unit_test(test_mixture),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
