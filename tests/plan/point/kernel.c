/* The sparse kernel against the dynamics it is made of. */
#include "plan/point/kernel.h"

#include <math.h>

#include "support.h"

/* p(s', o | s, u) of one outcome by number, from the kernel's rows. */
static double held(const kernel *k, size_t u, size_t s, size_t outcome, size_t next)
{
  const size_t first = kernel_first_cell(k, u);
  double sum = 0;
  for (size_t e = k->entry[u * k->states + s]; e < k->entry[u * k->states + s + 1]; e++) {
    const size_t cell = first + k->at[e];
    if (cell >= k->cell[outcome] && cell < k->cell[outcome + 1] && k->state[cell] == next)
      sum += k->value[e];
  }
  return sum;
}

static void holds_every_probability(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 91, 0);
  for (int before = 0; before < 2; before++) {
    idm_problem *problem = support_problem((support_shape){3, 2, 2, 2, 4}, &random);
    const idm_theta *theta = problem->theta;
    const double *trust = idm_theta_values(theta, IDM_MODEL_PRIOR, 0);
    problem->setting->emits_before = before;
    kernel *k;
    check(idm_kernel_create(problem->setting, theta, &k, &support_error));
    assert_int_equal(kernel_outcomes(k, 0), 4);
    assert_int_equal(kernel_cells(k, 1), 12);
    assert_true(k->widest == 12 && k->busiest == 4 && idm_kernel_widest(theta) == 12);
    for (size_t i = 0; i < 2 * 3 * 4 * 3; i++) {
      const size_t u = i / 36, s = i / 12 % 3, o = i / 3 % 4, next = i % 3;
      const size_t world = o / 2 * 2 + u;
      const double p =
          trust[o / 2] * idm_theta_values(theta, IDM_TRANSITION, 0)[(world * 3 + s) * 3 + next] *
          idm_theta_values(theta, IDM_EMISSION, 0)[(world * 3 + (before ? s : next)) * 2 + o % 2];
      assert_near(held(k, u, s, k->outcome[u] + o, next), p, 1e-15);
    }
    idm_kernel_destroy(k);
    idm_problem_destroy(problem);
  }
}

/* What cannot happen takes no room. */
static void leaves_zeros_out(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_read("example:tiger", &problem, NULL, &support_error));
  problem->setting->terminal[2] = true;
  kernel *k;
  check(idm_kernel_create(problem->setting, problem->theta, &k, &support_error));
  /* Listening leaves the tiger where it is: two entries a state, one an observation. */
  assert_int_equal(k->entry[2] - k->entry[0], 4);
  assert_int_equal(k->entry[4] - k->entry[2], 8);
  assert_int_equal(kernel_outcomes(k, 2), 0);
  assert_int_equal(k->entry[6] - k->entry[4], 0);
  idm_kernel_destroy(k);
  idm_kernel_destroy(NULL);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(holds_every_probability),
      cmocka_unit_test(leaves_zeros_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
