/* The kernel made from a POMDP equals the kernel made from the problem. */
#include "invert/utility/belief_mdp.h"

#include <string.h>

#include "support.h"

/* Dynamics with zeros, so that some observations are impossible after some actions. */
static idm_problem *sparse_problem(uint64_t seed)
{
  enum { S = 3, U = 2, X = 3 };
  idm_random random;
  idm_random_init(&random, seed, 0);
  idm_problem *problem = support_problem((support_shape){S, U, X, 1, 5}, &random);
  idm_setting *setting = problem->setting;
  for (size_t row = 0; row < U * S; row++) {
    double *tau = setting->transition + row * S, *omega = setting->emission + row * X;
    tau[row % S] = 0;
    omega[(row + 1) % X] = 0;
    if (row < S) omega[0] = 0;
    idm_random_uniform(&random);
    double sum = 0;
    for (size_t k = 0; k < S; k++) sum += tau[k];
    for (size_t k = 0; k < S; k++) tau[k] /= sum;
    sum = omega[0] + omega[1] + omega[2];
    if (!(sum > 0)) omega[2] = sum = 1;
    for (size_t k = 0; k < X; k++) omega[k] /= sum;
  }
  memcpy(problem->theta->block[IDM_TRANSITION].value, setting->transition,
         U * S * S * sizeof(double));
  memcpy(problem->theta->block[IDM_EMISSION].value, setting->emission, U * S * X * sizeof(double));
  problem->agent.planner = idm_planner_find("deterministic-optimal");
  return problem;
}

static void test_same(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 5; seed++) {
    idm_problem *problem = sparse_problem(seed);
    if (seed == 5) problem->setting->terminal[0] = problem->setting->ends[0] = true;
    idm_data data = {.sizes = problem->theta->sizes};
    idm_pomdp *pomdp;
    kernel *a, *b;
    check(idm_pomdp_create(problem, &data, "somebody", &pomdp, &support_error));
    check(idm_pomdp_kernel(pomdp, &a, &support_error));
    check(idm_kernel_create(problem->setting, pomdp->theta, &b, &support_error));
    const size_t rows = a->states * a->actions;
    assert_memory_equal(a->outcome, b->outcome, (a->actions + 1) * sizeof *a->outcome);
    const size_t outcomes = a->outcome[a->actions];
    assert_true(outcomes < 6);
    assert_memory_equal(a->cell, b->cell, (outcomes + 1) * sizeof *a->cell);
    assert_memory_equal(a->state, b->state, a->cell[outcomes] * sizeof *a->state);
    assert_memory_equal(a->entry, b->entry, (rows + 1) * sizeof *a->entry);
    assert_memory_equal(a->at, b->at, a->entry[rows] * sizeof *a->at);
    for (size_t i = 0; i < a->entry[rows]; i++) assert_near(a->value[i], b->value[i], 1e-15);
    assert_int_equal(a->max_cells, b->max_cells);
    assert_int_equal(a->max_outcomes, b->max_outcomes);
    idm_kernel_destroy(a);
    idm_kernel_destroy(b);
    idm_pomdp_destroy(pomdp);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
