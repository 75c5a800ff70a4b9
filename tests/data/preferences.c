/* Tests preferences: rejected input, and the detection of cycles against the transitive closure. */
#include <math.h>
#include <string.h>

#include "data/log.h"
#include "support.h"

static idm_preferences *make(size_t count, const uint32_t pair[][2])
{
  idm_preferences *p;
  check(idm_preferences_create(count, &p, &support_error));
  for (size_t i = 0; i < count; i++) {
    p->worse[i] = pair[i][0];
    p->better[i] = pair[i][1];
  }
  return p;
}

static void test_check(void **state)
{
  (void)state;
  idm_preferences *p = make(2, (const uint32_t[][2]){{0, 1}, {1, 2}});
  assert_true(p->weight[0] == 1 && p->weight[1] == 1);
  check(idm_preferences_check(p, 3, &support_error));
  assert_int_equal(idm_preferences_check(p, 2, &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "preference 2 is of trajectory 3"));
  const double bad[] = {0, -1, NAN, INFINITY};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    p->weight[1] = bad[i];
    assert_int_equal(idm_preferences_check(p, 3, &support_error), IDM_INPUT);
    assert_non_null(strstr(support_error.message, "preference 2 has the weight"));
  }
  p->weight[1] = 0.5;
  p->worse[1] = 2;
  assert_int_equal(idm_preferences_check(p, 3, &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "above itself"));
  idm_preferences_destroy(p);
}

/* Returns whether the preferences contain a cycle, by Warshall's transitive closure. */
static bool has_circle(const idm_preferences *p, size_t n)
{
  bool above[8][8] = {{false}};
  for (size_t i = 0; i < p->count; i++) above[p->better[i]][p->worse[i]] = true;
  for (size_t k = 0; k < n; k++)
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < n; j++) above[i][j] |= above[i][k] && above[k][j];
  bool found = false;
  for (size_t i = 0; i < n; i++) found |= above[i][i];
  return found;
}

static bool says(const idm_preferences *p, uint32_t better, uint32_t worse)
{
  for (size_t i = 0; i < p->count; i++)
    if (p->better[i] == better && p->worse[i] == worse) return true;
  return false;
}

static void test_circles(void **state)
{
  (void)state;
  enum { n = 8, tries = 4000 };
  idm_random random;
  size_t found = 0;
  idm_random_init(&random, 1, 0);
  for (size_t k = 0; k < tries; k++) {
    uint32_t pair[9][2], cycle[n];
    size_t length;
    const size_t count = 1 + k % 9;
    for (size_t i = 0; i < count; i++) {
      pair[i][0] = (uint32_t)(idm_random_uniform(&random) * n);
      pair[i][1] = (pair[i][0] + 1 + (uint32_t)(idm_random_uniform(&random) * (n - 1))) % n;
    }
    idm_preferences *p = make(count, (const uint32_t(*)[2])pair);
    check(idm_preferences_cycle(p, n, cycle, &length, &support_error));
    assert_int_equal(length > 0, has_circle(p, n));
    for (size_t i = 0; i < length; i++) assert_true(says(p, cycle[i], cycle[(i + 1) % length]));
    found += length > 0;
    idm_preferences_destroy(p);
  }
  assert_in_range(found, tries / 10, tries * 9 / 10); /* both outcomes occur */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_check),
      cmocka_unit_test(test_circles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
