/* Tests the erasure channel of a limited sensor against its definition. */
#include "belief/belief.h"

#include <string.h>

#include "plan/choice.h"
#include "support.h"

enum { MOST = 4 };

/* p(x|z,u), with the models mixed by their weights. */
static long double plain_probability(const idm_problem *problem, const double *z, size_t u,
                                     size_t x)
{
  const idm_theta *theta = problem->theta;
  const idm_sizes n = theta->sizes;
  long double p = 0;
  for (size_t m = 0; m < theta->models; m++)
    for (size_t s = 0; s < n.states; s++)
      for (size_t t = 0; t < n.states; t++) {
        const size_t at = m * n.actions + u;
        const size_t emitter = problem->setting->emits_before ? s : t;
        p += (long double)theta->block[IDM_MODEL_PRIOR].value[m] * z[s] *
             theta->block[IDM_TRANSITION].value[(at * n.states + s) * n.states + t] *
             theta->block[IDM_EMISSION].value[(at * n.states + emitter) * n.observations + x];
      }
  return p;
}

/* H(X|z,u). */
static double plain_entropy(const idm_problem *problem, const double *z, size_t u)
{
  long double entropy = 0;
  for (size_t x = 0; x < problem->theta->sizes.observations; x++) {
    const long double p = plain_probability(problem, z, u, x);
    if (p > 0) entropy -= p * logl(p);
  }
  return (double)entropy;
}

/* I(X;Y) of the channel that passes x with probability a and nothing otherwise, from the joint
 * distribution: Y is x or, with probability 1 - a, the erasure. */
static double plain_information(const idm_problem *problem, const double *z, size_t u, double a)
{
  long double information = 0;
  for (size_t x = 0; x < problem->theta->sizes.observations; x++) {
    const long double p = plain_probability(problem, z, u, x), passed = a * p, erased = (1 - a) * p;
    if (passed > 0) information += passed * logl(passed / (p * passed));
    if (erased > 0) information += erased * logl(erased / (p * (1 - (long double)a)));
  }
  return (double)information;
}

/* The probability a of perception satisfies a H = C if C < H, and a = 1 otherwise. The channel's
 * mutual information, from its joint distribution, is min(C, H). */
static void test_capacity(void **state)
{
  (void)state;
  for (int way = 0; way < 4; way++) {
    idm_random random;
    idm_random_init(&random, 31, (uint64_t)way);
    const support_shape shape = {way % 2 ? 3 : 2, 2, 4, 2, 6};
    idm_problem *problem = support_problem(shape, &random);
    problem->setting->emits_before = way > 1;
    double z[MOST], scratch[16];
    size_t below = 0, above = 0;
    assert_true(idm_sensor_scratch(problem->theta->sizes) <= 16);
    for (int i = 0; i < 40; i++) {
      const size_t u = (size_t)i % 2;
      const double capacity = 0.05 * i;
      support_distribution(&random, z, shape.states);
      idm_theta_set_scalar(problem->theta, IDM_SENSOR_CAPACITY, capacity);
      const idm_sensor sensor = idm_sensor_of(problem->setting, problem->theta);
      const double entropy = plain_entropy(problem, z, u);
      const double a = idm_sensor_passes(&sensor, z, u, scratch);
      assert_near(idm_sensor_entropy(&sensor, z, u, scratch), entropy, 1e-14);
      if (capacity < entropy)
        assert_near(a * entropy, capacity, 1e-14);
      else
        assert_true(a == 1);
      assert_near(plain_information(problem, z, u, a), fmin(capacity, entropy), 1e-13);
      below += capacity < entropy;
      above += capacity >= entropy;
    }
    assert_true(below > 5 && above > 5);
    idm_problem_destroy(problem);
  }
}

/* Limits: infinite capacity, capacity 0, a certain observation, and observed states. */
static void test_limits(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 32, 0);
  idm_problem *problem = support_problem((support_shape){2, 2, 2, 1, 6}, &random);
  const double z[2] = {0.4, 0.6};
  double scratch[4];
  idm_sensor sensor = idm_sensor_of(problem->setting, problem->theta);
  assert_false(idm_sensor_is_limited(&sensor));
  assert_true(idm_sensor_passes(&sensor, z, 0, scratch) == 1);
  assert_false(idm_sensor_may_limit(problem->setting, problem->theta));
  idm_theta_set_scalar(problem->theta, IDM_SENSOR_CAPACITY, 0);
  sensor = idm_sensor_of(problem->setting, problem->theta);
  assert_true(idm_sensor_is_limited(&sensor));
  assert_true(idm_sensor_may_limit(problem->setting, problem->theta));
  assert_true(idm_sensor_passes(&sensor, z, 0, scratch) == 0);
  double *emission = problem->theta->block[IDM_EMISSION].value;
  emission[0] = emission[2] = 1;
  emission[1] = emission[3] = 0;
  assert_true(idm_sensor_entropy(&sensor, z, 0, scratch) == 0);
  assert_true(idm_sensor_passes(&sensor, z, 0, scratch) ==
              0); /* capacity 0: nothing is perceived */
  sensor.capacity = 1e-300;
  assert_true(idm_sensor_passes(&sensor, z, 0, scratch) == 1);
  problem->setting->fully_observed = true;
  sensor = idm_sensor_of(problem->setting, problem->theta);
  assert_false(idm_sensor_is_limited(&sensor));
  assert_false(idm_sensor_may_limit(problem->setting, problem->theta));
  problem->setting->fully_observed = false;
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_capacity),
                                     cmocka_unit_test(test_limits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
