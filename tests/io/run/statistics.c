/* What a draw leaves beside its position: every field once, set and got. */
#include "io/run/netcdf.h"

#include <math.h>
#include <string.h>

#include "support.h"

static const idm_statistic *statistic(const char *name)
{
  for (size_t i = 0; i < IDM_STATISTIC_COUNT; i++)
    if (strcmp(idm_statistic_list[i].name, name) == 0) return &idm_statistic_list[i];
  fail_msg("there is no '%s'", name);
  return NULL;
}

/* Names of ArviZ's schema and of CmdStan's columns, each of a field of its own. */
static void test_fields(void **state)
{
  (void)state;
  const idm_statistics s = {.log_density = -1.5,
                            .acceptance = 0.8,
                            .step_size = 0.25,
                            .energy = 7.5,
                            .tree_depth = 5,
                            .evaluations = 31,
                            .diverging = true};
  static const struct {
    const char *name;
    const char *stan;
    double value;
  } expected[] = {{"lp", "lp__", -1.5},
                  {"acceptance_rate", "accept_stat__", 0.8},
                  {"step_size", "stepsize__", 0.25},
                  {"tree_depth", "treedepth__", 5},
                  {"n_steps", "n_leapfrog__", 31},
                  {"diverging", "divergent__", 1},
                  {"energy", "energy__", 7.5}};
  for (size_t i = 0; i < IDM_STATISTIC_COUNT; i++) {
    const idm_statistic *it = statistic(expected[i].name);
    idm_statistics alone = {0};
    assert_string_equal(it->stan, expected[i].stan);
    assert_true(idm_statistic_get(it, &s) == expected[i].value);
    /* What is set is got, and nothing else is. */
    idm_statistic_set(it, &alone, expected[i].value);
    for (size_t k = 0; k < IDM_STATISTIC_COUNT; k++)
      assert_true(idm_statistic_get(&idm_statistic_list[k], &alone) ==
                  (&idm_statistic_list[k] == it ? expected[i].value : 0));
  }
}

/* Whole numbers beyond what a 32-bit field holds. */
static void test_long(void **state)
{
  (void)state;
  idm_statistics s = {0};
  idm_statistic_set(statistic("n_steps"), &s, 5e9);
  assert_true(s.evaluations == 5000000000L);
  assert_true(idm_statistic_get(statistic("n_steps"), &s) == 5e9);
}

static void test_given(void **state)
{
  (void)state;
  idm_statistics s = {.tree_depth = -1, .step_size = NAN, .energy = NAN, .log_density = -1};
  assert_false(idm_statistic_given(statistic("tree_depth"), &s));
  assert_false(idm_statistic_given(statistic("step_size"), &s));
  assert_false(idm_statistic_given(statistic("energy"), &s));
  assert_true(idm_statistic_given(statistic("lp"), &s)); /* -1 is a density like others */
  s.tree_depth = 0;
  s.energy = 0;
  assert_true(idm_statistic_given(statistic("tree_depth"), &s));
  assert_true(idm_statistic_given(statistic("energy"), &s));
  s = (idm_statistics){.acceptance = NAN, .evaluations = -1, .log_density = NAN};
  assert_false(idm_statistic_given(statistic("lp"), &s));
  assert_false(idm_statistic_given(statistic("acceptance_rate"), &s));
  assert_false(idm_statistic_given(statistic("n_steps"), &s));
  /* All but the flag, which is always known, may be left out. */
  for (size_t i = 0; i < IDM_STATISTIC_COUNT; i++)
    assert_int_equal(idm_statistic_list[i].optional,
                     strcmp(idm_statistic_list[i].name, "diverging") != 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields), cmocka_unit_test(test_long),
                                     cmocka_unit_test(test_given)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
