/* Tests the setting: creation, labels, validation of every part, normalisation of rows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "idm/extension/setting.h"
#include "setting/model.h"

static const idm_sizes sizes = {2, 3, 2};

/* A valid setting: states do not change, observations are correct with probability .7. */
static idm_setting *create(void)
{
  idm_setting *setting;
  idm_error error = {0};
  assert_int_equal(idm_setting_create(sizes, true, true, &setting, &error), IDM_OK);
  for (size_t u = 0; u < 3; u++)
    for (size_t s = 0; s < 2; s++)
      for (size_t t = 0; t < 2; t++) {
        setting->transition[(u * 2 + s) * 2 + t] = s == t;
        setting->emission[(u * 2 + s) * 2 + t] = s == t ? 0.7 : 0.3;
      }
  assert_int_equal(idm_setting_validate(setting, &error), IDM_OK);
  return setting;
}

static void check_invalid(const idm_setting *setting, const char *words)
{
  idm_error error = {0};
  assert_int_equal(idm_setting_validate(setting, &error), IDM_INPUT);
  assert_int_equal(error.status, IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' does not speak of '%s'", error.message, words);
  assert_int_equal(idm_setting_validate(setting, NULL), IDM_INPUT);
}

static void name(idm_labels *labels, size_t index, const char *text)
{
  assert_int_equal(idm_labels_set(labels, index, text, strlen(text), NULL), IDM_OK);
}

static long find(const idm_labels *labels, const char *text)
{
  return idm_labels_find(labels, text, strlen(text));
}

static void test_create(void **state)
{
  (void)state;
  idm_setting *setting;
  assert_int_equal(idm_setting_create(sizes, true, false, &setting, NULL), IDM_OK);
  const idm_sizes found = idm_setting_sizes(setting);
  assert_int_equal(found.states, 2);
  assert_int_equal(found.actions, 3);
  assert_int_equal(found.observations, 2);
  assert_string_equal(setting->name, "");
  assert_string_equal(setting->states.name[1], "1");
  assert_string_equal(setting->actions.name[2], "2");
  assert_string_equal(setting->observations.name[0], "0");
  for (size_t i = 0; i < 12; i++) assert_true(setting->transition[i] == 0);
  assert_null(setting->emission);
  assert_true(setting->start[0] == 0.5 && setting->start[1] == 0.5);
  for (size_t u = 0; u < 3; u++) assert_false(setting->terminal[u] || setting->ends[u]);
  assert_int_equal(setting->horizon, 0);
  assert_false(setting->fully_observed);
  idm_setting_destroy(setting);
  idm_setting_destroy(NULL);
}

static void test_create_refuses_empty_spaces(void **state)
{
  (void)state;
  const idm_sizes empty[] = {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}};
  for (size_t i = 0; i < 3; i++) {
    idm_setting *setting = (idm_setting *)&setting;
    idm_error error = {0};
    assert_int_equal(idm_setting_create(empty[i], true, true, &setting, &error), IDM_USAGE);
    assert_null(setting);
    assert_non_null(strstr(error.message, "at least one"));
  }
}

static void test_unknown_dynamics_are_valid(void **state)
{
  (void)state;
  idm_setting *setting;
  assert_int_equal(idm_setting_create(sizes, false, false, &setting, NULL), IDM_OK);
  assert_null(setting->transition);
  assert_null(setting->emission);
  assert_int_equal(idm_setting_validate(setting, NULL), IDM_OK);
  idm_setting_destroy(setting);
}

/* --- labels --------------------------------------------------------------------------------- */

static void test_labels_are_copied(void **state)
{
  (void)state;
  idm_labels labels;
  assert_int_equal(idm_labels_create(&labels, 2, NULL), IDM_OK);
  assert_int_equal(labels.count, 2);
  char text[] = "monitoring";
  assert_int_equal(idm_labels_set(&labels, 0, text, 7, NULL), IDM_OK);
  text[0] = 'X';
  assert_string_equal(labels.name[0], "monitor");
  name(&labels, 0, "again");
  assert_string_equal(labels.name[0], "again");
  /* The other label has no name yet: it is not found and does not prevent finding the first. */
  assert_int_equal(find(&labels, "x"), -1);
  assert_int_equal(find(&labels, "again"), 0);
  idm_labels_destroy(&labels);
  assert_int_equal(labels.count, 0);
  assert_null(labels.name);
  idm_labels_destroy(&labels);
  assert_int_equal(find(&labels, "again"), -1);
}

static void test_a_label_beats_a_number(void **state)
{
  (void)state;
  idm_labels labels;
  assert_int_equal(idm_labels_create(&labels, 4, NULL), IDM_OK);
  name(&labels, 0, "low");
  name(&labels, 1, "0");
  name(&labels, 2, "high");
  name(&labels, 3, "-1");
  assert_int_equal(find(&labels, "low"), 0);
  assert_int_equal(find(&labels, "0"), 1);
  assert_int_equal(find(&labels, "1"), 1);
  assert_int_equal(find(&labels, "2"), 2);
  assert_int_equal(find(&labels, "3"), 3);
  assert_int_equal(find(&labels, "-1"), 3);
  const char *const absent[] = {"4",
                                "99",
                                "",
                                "lo",
                                "lowe",
                                "LOW",
                                "1.0",
                                "+1",
                                " 1",
                                "1 ",
                                "0x1",
                                "-2",
                                "1e0",
                                "³",
                                "low ",
                                "4294967296",
                                "18446744073709551617"};
  for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++)
    assert_int_equal(find(&labels, absent[i]), -1);
  /* Only the first `length` bytes are compared, and a NUL counts as any other byte. */
  assert_int_equal(idm_labels_find(&labels, "highest", 4), 2);
  assert_int_equal(idm_labels_find(&labels, "low\0", 4), -1);
  assert_int_equal(idm_labels_find(NULL, "low", 3), -1);
  assert_int_equal(idm_labels_find(&labels, NULL, 3), -1);
  idm_labels_destroy(&labels);
}

/* --- validation ----------------------------------------------------------------------------- */

static void test_labels_must_be_unique_and_named(void **state)
{
  (void)state;
  idm_setting *setting = create();
  idm_labels *const lists[] = {&setting->states, &setting->actions, &setting->observations};
  const char *const twice[] = {"state 'same' is named twice", "action 'same' is named twice",
                               "observation 'same' is named twice"};
  const char *const empty[] = {"state 1 has an empty name", "action 1 has an empty name",
                               "observation 1 has an empty name"};
  for (size_t i = 0; i < 3; i++) {
    name(lists[i], 0, "same");
    name(lists[i], 1, "same");
    check_invalid(setting, twice[i]);
    name(lists[i], 1, "");
    check_invalid(setting, empty[i]);
    name(lists[i], 1, "other");
    assert_int_equal(idm_setting_validate(setting, NULL), IDM_OK);
  }
  /* The same name in two spaces is allowed. */
  assert_string_equal(setting->states.name[0], setting->actions.name[0]);
  idm_setting_destroy(setting);
}

/* Replaces two neighbouring entries of a row by invalid and by valid values. */
static void check_row(const idm_setting *setting, double *row, const char *words)
{
  const double good[] = {row[0], row[1]};
  const double bad[][2] = {{0.5, 0.6}, {0.5, 0.4},      {-0.1, 1.1},    {NAN, 1},
                           {1, NAN},   {INFINITY, 0.5}, {0.5, 0.50011}, {0, 0}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    memcpy(row, bad[i], sizeof bad[i]);
    check_invalid(setting, words);
  }
  const double fair[][2] = {{0.5, 0.50009}, {0.5, 0.49991}, {1, 0}, {1, -0.0}, {0.25, 0.75}};
  for (size_t i = 0; i < sizeof fair / sizeof fair[0]; i++) {
    memcpy(row, fair[i], sizeof fair[i]);
    assert_int_equal(idm_setting_validate(setting, NULL), IDM_OK);
    /* Rows are checked, not renormalised. */
    assert_memory_equal(row, fair[i], sizeof fair[i]);
  }
  memcpy(row, good, sizeof good);
}

static void test_rows_must_be_distributions(void **state)
{
  (void)state;
  idm_setting *setting = create();
  check_row(setting, setting->start, "start");
  for (size_t i = 0; i < 6; i++) {
    char words[48];
    snprintf(words, sizeof words, "row %zu of the transition", i);
    check_row(setting, setting->transition + 2 * i, words);
    snprintf(words, sizeof words, "row %zu of the observation", i);
    check_row(setting, setting->emission + 2 * i, words);
  }
  idm_setting_destroy(setting);
}

static void test_horizon_must_not_be_negative(void **state)
{
  (void)state;
  idm_setting *setting = create();
  setting->horizon = -1;
  check_invalid(setting, "horizon is -1");
  setting->horizon = 23;
  assert_int_equal(idm_setting_validate(setting, NULL), IDM_OK);
  idm_setting_destroy(setting);
}

static void test_terminal_implies_ends(void **state)
{
  (void)state;
  idm_setting *setting = create();
  name(&setting->actions, 1, "declare");
  setting->terminal[1] = true;
  check_invalid(setting, "'declare' is terminal");
  setting->ends[1] = true;
  assert_int_equal(idm_setting_validate(setting, NULL), IDM_OK);
  setting->terminal[1] = false;
  assert_int_equal(idm_setting_validate(setting, NULL), IDM_OK);
  idm_setting_destroy(setting);
}

static void test_fully_observed_needs_equal_spaces(void **state)
{
  (void)state;
  idm_setting *setting;
  assert_int_equal(idm_setting_create((idm_sizes){2, 1, 3}, false, false, &setting, NULL), IDM_OK);
  setting->fully_observed = true;
  check_invalid(setting, "fully observed");
  idm_setting_destroy(setting);
  setting = create();
  setting->fully_observed = true;
  assert_int_equal(idm_setting_validate(setting, NULL), IDM_OK);
  idm_setting_destroy(setting);
}

/* --- normalisation -------------------------------------------------------------------------- */

static void test_normalise(void **state)
{
  (void)state;
  double row[] = {0.333333, 0.333333, 0.333333};
  const double off = idm_normalise(row, 3);
  assert_true(fabs(off - 1e-6) < 1e-12);
  for (size_t i = 0; i < 3; i++) assert_true(fabs(row[i] - 1.0 / 3) < 1e-15);
  /* A second normalisation changes no bit. */
  const double once[] = {row[0], row[1], row[2]};
  assert_true(idm_normalise(row, 3) <= 1.2e-15);
  assert_memory_equal(row, once, sizeof once);
}

static void test_normalise_leaves_rounding_alone(void **state)
{
  (void)state;
  double row[] = {0.1, 0.2, 0.3, 0.4};
  const double before[] = {0.1, 0.2, 0.3, 0.4};
  assert_true(idm_normalise(row, 4) >= 0);
  assert_memory_equal(row, before, sizeof before);
}

static void test_normalise_refuses(void **state)
{
  (void)state;
  double bad[][2] = {{0.5, 0.6}, {-0.1, 1.1}, {NAN, 1}, {INFINITY, 0}, {0, 0}, {0.5, 0.4998}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    double row[2];
    memcpy(row, bad[i], sizeof row);
    assert_true(idm_normalise(row, 2) < 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_create),
      cmocka_unit_test(test_create_refuses_empty_spaces),
      cmocka_unit_test(test_unknown_dynamics_are_valid),
      cmocka_unit_test(test_labels_are_copied),
      cmocka_unit_test(test_a_label_beats_a_number),
      cmocka_unit_test(test_labels_must_be_unique_and_named),
      cmocka_unit_test(test_rows_must_be_distributions),
      cmocka_unit_test(test_horizon_must_not_be_negative),
      cmocka_unit_test(test_terminal_implies_ends),
      cmocka_unit_test(test_fully_observed_needs_equal_spaces),
      cmocka_unit_test(test_normalise),
      cmocka_unit_test(test_normalise_leaves_rounding_alone),
      cmocka_unit_test(test_normalise_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
