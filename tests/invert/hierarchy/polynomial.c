/* Tests polynomial approximations of likelihoods: exact for polynomials, close for smooth
 * functions, constant outside the box, and absent where none exists. */
#include "invert/hierarchy/hierarchy.h"

#include <math.h>
#include <stdatomic.h>
#include <time.h>

#include "idm/extension/random.h"
#include "support.h"

enum { D = 4, LEAVES = 2 };
static const double low[IDM_POLYNOMIAL_DIMENSIONS + 1] = {-1, -2, 0, -3, -1, -1, -1, -1, -1};
static const double high[IDM_POLYNOMIAL_DIMENSIONS + 1] = {1, 3, 2, 0, 1, 1, 1, 1, 1};

/* A polynomial of degree four, with a constant that would lose digits. */
static double quartic(size_t leaf, const double *x)
{
  return 1e4 * (double)leaf - x[0] * x[0] * x[1] * x[1] + 0.3 * x[2] * x[3] - pow(x[3], 4) + x[1];
}

/* A log-likelihood of choices: the sum of -log(1 + exp(.)) over linear scores. */
static double smooth(const double *x)
{
  double sum = 0;
  for (int k = 0; k < 12; k++) {
    const double score = 0.4 * x[0] * (k % 3 - 1) + 0.3 * x[1] + 0.2 * x[2] * (k % 2) - 0.1 * x[3];
    sum -= log1p(exp(k % 2 ? score : -score));
  }
  return sum;
}

typedef enum kind { QUARTIC, SMOOTH, WAITS, NOWHERE, FAILS } kind;

static atomic_bool stopped;

/* Wait until the work is stopped, for 5 s at most. */
static void await_stop(void)
{
  const struct timespec wait = {.tv_nsec = 1000000};
  for (int i = 0; i < 5000 && !atomic_load(&stopped); i++) nanosleep(&wait, NULL);
}

static idm_status value(void *context, const double *x, double *column, idm_error *opt_error)
{
  const kind what = *(const kind *)context;
  if (what == WAITS) await_stop();
  for (size_t i = 0; i < LEAVES; i++)
    column[i] = what == QUARTIC ? quartic(i, x) : what <= WAITS ? smooth(x) : -INFINITY;
  return what == FAILS ? idm_fail(opt_error, IDM_MEMORY, "no room") : IDM_OK;
}

static idm_polynomials *make(kind what, size_t dimension, bool (*opt_stopped)(void *),
                             idm_status expected)
{
  idm_polynomials *made;
  idm_error error = {0};
  const polynomial_source source = {.dimension = dimension,
                                    .low = low,
                                    .high = high,
                                    .leaves = LEAVES,
                                    .value = value,
                                    .opt_stopped = opt_stopped,
                                    .context = &what};
  assert_int_equal(idm_polynomials_create(&source, 2, &made, &error), expected);
  return made;
}

static void polynomials_are_found_again(void **state)
{
  (void)state;
  idm_polynomials *p = make(QUARTIC, D, NULL, IDM_OK);
  assert_non_null(p);
  idm_random random;
  idm_random_init(&random, 1, 1);
  for (int k = 0; k < 200; k++) {
    double x[D];
    for (size_t i = 0; i < D; i++)
      x[i] = low[i] + (high[i] - low[i]) * (0.3 + 0.4 * idm_random_uniform(&random));
    for (size_t leaf = 0; leaf < LEAVES; leaf++)
      assert_near(idm_polynomials_at(p, leaf, x), quartic(leaf, x), 1e-5);
  }
  idm_polynomials_destroy(p);
}

/* The rms error over the middle of the box is small compared with the sd of the likelihood there.
 */
static void smooth_likelihoods_are_followed(void **state)
{
  (void)state;
  idm_polynomials *p = make(SMOOTH, D, NULL, IDM_OK);
  assert_non_null(p);
  idm_random random;
  idm_random_init(&random, 2, 1);
  double squares = 0, sum = 0, varies = 0;
  enum { places = 500 };
  for (int k = 0; k < places; k++) {
    double x[D];
    for (size_t i = 0; i < D; i++)
      x[i] = 0.5 * (low[i] + high[i]) + (high[i] - low[i]) / 6 * idm_random_normal(&random);
    const double exact = smooth(x), error = idm_polynomials_at(p, 1, x) - exact;
    squares += error * error;
    sum += exact;
    varies += exact * exact;
  }
  const double sd = sqrt(varies / places - sum / places * (sum / places));
  print_message("  rms error %.4f of an sd of %.3f\n", sqrt(squares / places), sd);
  assert_true(sqrt(squares / places) < 0.05 * sd);
  const double far[D] = {50, 50, 50, 50}, further[D] = {5e4, 4.9951e4, 4.9951e4, 5.0026e4};
  assert_true(isfinite(idm_polynomials_at(p, 0, far)));
  assert_near(idm_polynomials_at(p, 0, far), idm_polynomials_at(p, 0, further), 0.5);
  idm_polynomials_destroy(p);
}

static bool at_once(void *context)
{
  (void)context;
  atomic_store(&stopped, true);
  return true;
}

static void there_may_be_none(void **state)
{
  (void)state;
  assert_null(make(NOWHERE, D, NULL, IDM_OK));
  assert_null(make(SMOOTH, IDM_POLYNOMIAL_DIMENSIONS + 1, NULL, IDM_OK));
  assert_null(make(FAILS, D, NULL, IDM_MEMORY));
  idm_polynomials *p = make(SMOOTH, IDM_POLYNOMIAL_DIMENSIONS, NULL, IDM_OK);
  assert_non_null(p);
  idm_polynomials_destroy(p);
  assert_null(make(WAITS, D, at_once, IDM_OK));
  assert_true(atomic_load(&stopped));
  idm_polynomials_destroy(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(polynomials_are_found_again),
                                     cmocka_unit_test(smooth_likelihoods_are_followed),
                                     cmocka_unit_test(there_may_be_none)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
