/* Whether estimated utilities are finite without a penalty: against all deterministic policies,
 * with one free number or one free feature weight. */
#include "invert/utility/task.h"

#include <math.h>

#include "idm/extension/random.h"
#include "invert/utility/mdp_support.h"

enum { STATES = 4, ACTIONS = 2, ENTRIES = STATES * ACTIONS };

/* Moment of the free number under policy[state][action]: value[entry] summed over the occupancy.
 * Stores the occupancy in `demonstrated`. */
static double moment_of(const idm_mdp *mdp, const double *value, const double *policy,
                        double *demonstrated)
{
  double occupancy[ENTRIES], sum = 0;
  check(idm_mdp_occupancy(mdp, policy, occupancy, &support_error));
  for (size_t e = 0; e < ENTRIES; e++) {
    demonstrated[e] = occupancy[e % STATES * ACTIONS + e / STATES];
    sum += value[e] * demonstrated[e];
  }
  return sum;
}

/* The extreme moments over policies are attained by deterministic policies. */
static bool is_inside(const idm_mdp *mdp, const double *value, double moment)
{
  double low = INFINITY, high = -INFINITY, scratch[ENTRIES];
  for (unsigned bits = 0; bits < 1U << STATES; bits++) {
    double policy[ENTRIES] = {0};
    for (size_t s = 0; s < STATES; s++) policy[s * ACTIONS + (bits >> s & 1U)] = 1;
    const double own = moment_of(mdp, value, policy, scratch);
    low = fmin(low, own);
    high = fmax(high, own);
  }
  return high - low < 1e-9 || (moment > low + 1e-9 && moment < high - 1e-9);
}

/* Every state has one action, and occasionally both. */
static void draw_policy(idm_random *random, double *policy)
{
  for (size_t s = 0; s < STATES; s++) {
    const double first = idm_random_uniform(random);
    policy[s * ACTIONS] = first < 0.48 ? 0 : first < 0.96 ? 1 : first;
    policy[s * ACTIONS + 1] = 1 - policy[s * ACTIONS];
  }
}

/* One trial: entries tied to one number, or all entries by one feature. Returns whether utilities
 * are finite. */
static bool try_one(uint64_t trial, bool features, idm_random *random)
{
  idm_problem *problem = support_mdp(STATES, ACTIONS, 3, 1, trial + 1);
  idm_mdp *mdp = support_create_mdp(problem);
  int32_t number[ENTRIES];
  double held[ENTRIES], value[ENTRIES], policy[ENTRIES], demonstrated[ENTRIES];
  for (size_t e = 0; e < ENTRIES; e++) {
    const bool one = e == trial % ENTRIES || idm_random_uniform(random) < 0.4;
    value[e] = features ? one * idm_random_normal(random) : one;
    number[e] = one && !features ? 0 : -1;
    held[e] = features ? 0 : 3; /* no direction changes held entries */
  }
  draw_policy(random, policy);
  const idm_features f = {.value = value};
  idm_free_utility free_utility = {.entries = ENTRIES,
                                   .count = 1,
                                   .number = number,
                                   .held = held,
                                   .unit = 1,
                                   .features = features ? &f : NULL};
  idm_task task = {.problem = problem, .mdp = mdp, .free_utility = &free_utility};
  idm_cancel_init(&task.cancel, NULL, "checking");
  const double moment = moment_of(mdp, value, policy, demonstrated);
  const bool inside = is_inside(mdp, value, moment);
  const idm_status status = idm_attainable_check(&task, demonstrated, &support_error);
  assert_int_equal(status, inside ? IDM_OK : IDM_INPUT);
  idm_mdp_destroy(mdp);
  idm_problem_destroy(problem);
  return inside;
}

static void one_number_is_finite_inside_the_range_of_policies(void **state)
{
  (void)state;
  enum { TRIALS = 60 };
  for (int features = 0; features < 2; features++) {
    size_t finite = 0;
    idm_random random;
    idm_random_init(&random, 5, 0);
    for (uint64_t trial = 0; trial < TRIALS; trial++) finite += try_one(trial, features, &random);
    assert_in_range(finite, 10, TRIALS - 10);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_number_is_finite_inside_the_range_of_policies)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
