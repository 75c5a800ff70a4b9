/* Model classes: their properties against the paper's table, and their settings and free blocks. */
#include "invert/classes.h"

#include <string.h>

#include "support.h"

/* Table "Inverse Decision Modeling" of the paper, row by row: tau_env, omega_env, upsilon,
 * subjective dynamics, pi, knowledge, alpha, beta, eta. */
static const struct {
  const char *name;
  const char *ticks;
} paper[] = {
    {"bc-il", "xx--x----"},       {"subj-bc-il", "xx-xx----"},  {"det-dm-il", "x--------"},
    {"stoc-dm-il", "x---x----"},  {"det-irl", "x-x------"},     {"stoc-irl", "x-x-x----"},
    {"subj-irl", "x-xxx----"},    {"rs-irl", "x-xx-x---"},      {"det-po-irl", "xxx------"},
    {"stoc-po-irl", "xxx-x----"}, {"subj-po-irl", "xxxxx----"}, {"me-irl", "x-x-x-x--"},
    {"subj-me-irl", "x-xxx-x--"}, {"ibrc", "xxxxxxxxx"}};

static void test_ticks(void **state)
{
  (void)state;
  size_t count = 0;
  while (idm_class_at(count)) count++;
  assert_int_equal(count, sizeof paper / sizeof *paper);
  for (size_t i = 0; i < count; i++) {
    const idm_class *of = idm_class_at(i);
    assert_string_equal(of->name, paper[i].name);
    assert_ptr_equal(idm_class_find(of->name), of);
    assert_non_null(idm_planner_find(of->planner));
    char ticks[IDM_PROPERTY_COUNT + 1] = "";
    for (size_t t = 0; t < IDM_PROPERTY_COUNT; t++)
      ticks[t] = idm_class_has_property(of, (idm_class_property)t) ? 'x' : '-';
    assert_string_equal(ticks, paper[i].ticks);
  }
  assert_null(idm_class_find("irl"));
}

static void test_decides(void **state)
{
  (void)state;
  for (size_t i = 0; idm_class_at(i); i++) {
    const idm_class *of = idm_class_at(i);
    const bool held = strcmp(of->name, "rs-irl") == 0;
    assert_true(idm_class_decides(of, "planner") && idm_class_decides(of, "choice"));
    assert_int_equal(idm_class_decides(of, "alpha"), held);
    assert_int_equal(idm_class_decides(of, "eta"), held);
    assert_false(idm_class_decides(of, "temperature") || idm_class_decides(of, ""));
  }
}

/* The KL divergence between a deterministic policy and most demonstrators is infinite; this class
 * uses another divergence. */
static void test_settings(void **state)
{
  (void)state;
  for (size_t i = 0; idm_class_at(i); i++) {
    idm_fit_settings usual, own;
    idm_fit_settings_default(&usual);
    own = usual;
    idm_class_settings(idm_class_at(i), &own);
    const bool best = strcmp(idm_class_at(i)->name, "det-dm-il") == 0;
    assert_int_equal(own.divergence, best ? IDM_DIVERGENCE_JS : usual.divergence);
  }
}

/* With observed states there is no emission to learn. */
static void test_blocks(void **state)
{
  (void)state;
  char list[64];
  idm_problem *diag = support_diag(1, 1, 1);
  const idm_class *own = idm_class_find("subj-po-irl");
  assert_string_equal(idm_class_blocks(own, diag, list, sizeof list),
                      "utility, transition, emission");
  diag->setting->fully_observed = true;
  assert_string_equal(idm_class_blocks(own, diag, list, sizeof list), "utility, transition");
  assert_string_equal(idm_class_blocks(idm_class_find("bc-il"), diag, list, sizeof list),
                      "weights");
  assert_null(idm_class_blocks(own, diag, list, 10));
  diag->setting->fully_observed = false;
  idm_problem_destroy(diag);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ticks), cmocka_unit_test(test_decides),
                                     cmocka_unit_test(test_settings),
                                     cmocka_unit_test(test_blocks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
