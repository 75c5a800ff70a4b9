/* Tests the parameter theta: blocks, copies, sizes, validation, and the names of its lists. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "idm/extension/theta.h"
#include "setting/model.h"

static const idm_sizes sizes = {2, 3, 4};
enum { MODELS = 2 };

/* A setting and a valid theta of its sizes. */
typedef struct pair {
  idm_setting *setting;
  idm_theta *theta;
} pair;

static pair create(void)
{
  pair p;
  idm_error error = {0};
  assert_int_equal(idm_setting_create(sizes, false, false, &p.setting, &error), IDM_OK);
  assert_int_equal(idm_theta_create(sizes, MODELS, &p.theta, &error), IDM_OK);
  for (size_t i = 0; i < MODELS * 3 * 2 * 2; i++) p.theta->block[IDM_TRANSITION].value[i] = 0.5;
  for (size_t i = 0; i < MODELS * 3 * 2 * 4; i++) p.theta->block[IDM_EMISSION].value[i] = 0.25;
  assert_int_equal(idm_theta_validate(p.theta, p.setting, &error), IDM_OK);
  return p;
}

static void destroy(pair p)
{
  idm_setting_destroy(p.setting);
  idm_theta_destroy(p.theta);
}

static void check_valid(pair p)
{
  idm_error error = {0};
  if (idm_theta_validate(p.theta, p.setting, &error) != IDM_OK) fail_msg("%s", error.message);
}

static void check_invalid(pair p, const char *words)
{
  idm_error error = {0};
  assert_int_equal(idm_theta_validate(p.theta, p.setting, &error), IDM_INPUT);
  assert_int_equal(error.status, IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' does not speak of '%s'", error.message, words);
  assert_int_equal(idm_theta_validate(p.theta, p.setting, NULL), IDM_INPUT);
}

static void test_create(void **state)
{
  (void)state;
  idm_theta *theta;
  assert_int_equal(idm_theta_create(sizes, MODELS, &theta, NULL), IDM_OK);
  const size_t size[IDM_BLOCK_COUNT] = {
      [IDM_UTILITY] = 6,        [IDM_CERTAINTY] = 3,
      [IDM_DISCOUNT] = 1,       [IDM_ALPHA] = 1,
      [IDM_BETA] = 1,           [IDM_ETA] = 1,
      [IDM_TEMPERATURE] = 1,    [IDM_ACTION_PRIOR] = 3,
      [IDM_BELIEF_UTILITY] = 6, [IDM_MODEL_PRIOR] = 2,
      [IDM_BELIEF_PRIOR] = 0,   [IDM_TRANSITION] = 24,
      [IDM_EMISSION] = 48,      [IDM_WEIGHTS] = 0,
      [IDM_PERSEVERANCE] = 1,   [IDM_LAPSE] = 1,
      [IDM_PRIOR_WEIGHT] = 1,   [IDM_EVIDENCE_WEIGHT] = 1,
      [IDM_DELAY_RATE] = 1,     [IDM_SENSOR_CAPACITY] = 1,
  };
  for (int i = 0; i < IDM_BLOCK_COUNT; i++) {
    assert_int_equal(theta->block[i].size, size[i]);
    assert_int_equal(theta->block[i].variants, 1);
    assert_int_equal(theta->block[i].role, IDM_NORMATIVE);
    assert_int_equal(theta->block[i].prior.kind, IDM_PRIOR_FLAT);
    assert_non_null(theta->block[i].value);
  }
  assert_int_equal(theta->models, MODELS);
  assert_int_equal(theta->sizes.observations, 4);
  assert_true(idm_theta_values(theta, IDM_CERTAINTY, 0)[0] == 1);
  assert_true(idm_theta_values(theta, IDM_CERTAINTY, 0)[1] == 0);
  assert_true(idm_theta_scalar(theta, IDM_DISCOUNT) == 0.95);
  assert_true(idm_theta_scalar(theta, IDM_ALPHA) == 0);
  assert_true(idm_theta_scalar(theta, IDM_BETA) == INFINITY);
  assert_true(idm_theta_scalar(theta, IDM_SENSOR_CAPACITY) == INFINITY);
  assert_true(idm_theta_scalar(theta, IDM_ETA) == 0);
  assert_true(idm_theta_scalar(theta, IDM_TEMPERATURE) == 1);
  for (size_t i = 0; i < 6; i++) assert_true(idm_theta_values(theta, IDM_UTILITY, 0)[i] == 0);
  for (size_t i = 0; i < 3; i++)
    assert_true(idm_theta_values(theta, IDM_ACTION_PRIOR, 0)[i] == 1.0 / 3);
  for (size_t i = 0; i < 2; i++) assert_true(idm_theta_values(theta, IDM_MODEL_PRIOR, 0)[i] == 0.5);
  idm_theta_destroy(theta);
  idm_theta_destroy(NULL);
}

static void test_create_needs_a_model(void **state)
{
  (void)state;
  idm_theta *theta = (idm_theta *)&theta;
  idm_error error = {0};
  assert_int_equal(idm_theta_create(sizes, 0, &theta, &error), IDM_USAGE);
  assert_null(theta);
  assert_non_null(strstr(error.message, "at least one model"));
}

static void test_scalars(void **state)
{
  (void)state;
  pair p = create();
  idm_theta_set_scalar(p.theta, IDM_ALPHA, -0.0);
  assert_true(signbit(idm_theta_scalar(p.theta, IDM_ALPHA)));
  idm_theta_set_scalar(p.theta, IDM_BETA, -2.5);
  assert_true(idm_theta_scalar(p.theta, IDM_BETA) == -2.5);
  assert_true(idm_theta_scalar(p.theta, IDM_ETA) == 0);
  destroy(p);
}

/* Any number of complete rows is allowed after the fields, only where the descriptor allows rows.
 */
static void test_rows(void **state)
{
  (void)state;
  pair p = create();
  size_t rows = 7;
  assert_non_null(idm_theta_rows(p.theta, IDM_BELIEF_UTILITY, &rows));
  assert_int_equal(rows, 0);
  assert_int_equal(idm_theta_resize(p.theta, IDM_BELIEF_UTILITY, 6 + 3 * 6, 1, NULL), IDM_OK);
  const double *row = idm_theta_rows(p.theta, IDM_BELIEF_UTILITY, &rows);
  assert_int_equal(rows, 3);
  assert_ptr_equal(row, p.theta->block[IDM_BELIEF_UTILITY].value + 6);
  assert_int_equal(idm_theta_validate(p.theta, p.setting, NULL), IDM_OK);
  p.theta->block[IDM_BELIEF_UTILITY].value[23] = INFINITY;
  assert_int_equal(idm_theta_validate(p.theta, p.setting, NULL), IDM_INPUT);
  assert_int_equal(idm_theta_resize(p.theta, IDM_BELIEF_UTILITY, 6 + 3, 1, NULL), IDM_OK);
  assert_int_equal(idm_theta_validate(p.theta, p.setting, NULL), IDM_USAGE);
  assert_int_equal(idm_theta_resize(p.theta, IDM_BELIEF_UTILITY, 1, 1, NULL), IDM_OK);
  assert_int_equal(idm_theta_validate(p.theta, p.setting, NULL), IDM_USAGE);
  assert_null(idm_theta_rows(p.theta, IDM_CERTAINTY, &rows));
  assert_int_equal(rows, 0);
  assert_null(idm_theta_rows(p.theta, 1000, &rows));
  destroy(p);
}

static void test_resize_and_variants(void **state)
{
  (void)state;
  pair p = create();
  assert_int_equal(idm_theta_variants(p.theta), 1);
  idm_theta_set_scalar(p.theta, IDM_ETA, 3);
  p.theta->block[IDM_UTILITY].value[0] = 7;
  assert_int_equal(idm_theta_resize(p.theta, IDM_UTILITY, 6, 4, NULL), IDM_OK);
  assert_int_equal(idm_theta_variants(p.theta), 4);
  for (size_t i = 0; i < 24; i++) {
    assert_true(p.theta->block[IDM_UTILITY].value[i] == 0);
    p.theta->block[IDM_UTILITY].value[i] = (double)i;
  }
  assert_true(idm_theta_values(p.theta, IDM_UTILITY, 3)[5] == 23);
  /* A block without variants has the same values for every variant. */
  assert_true(idm_theta_values(p.theta, IDM_ETA, 3)[0] == 3);
  assert_int_equal(idm_theta_resize(p.theta, IDM_BELIEF_PRIOR, 2, 1, NULL), IDM_OK);
  assert_int_equal(p.theta->block[IDM_BELIEF_PRIOR].size, 2);
  assert_int_equal(idm_theta_variants(p.theta), 4);
  assert_int_equal(idm_theta_resize(p.theta, IDM_UTILITY, 6, 1, NULL), IDM_OK);
  assert_int_equal(idm_theta_variants(p.theta), 1);
  destroy(p);
}

static void test_copy_is_deep(void **state)
{
  (void)state;
  pair p = create();
  idm_block *block = &p.theta->block[IDM_ALPHA];
  block->role = IDM_DESCRIPTIVE;
  block->scale = IDM_SCALE_LOG;
  block->prior.kind = IDM_PRIOR_NORMAL;
  block->prior.count = 2;
  block->prior.argument = calloc(2, sizeof(double));
  assert_non_null(block->prior.argument);
  block->prior.argument[1] = 2;
  idm_theta *copy;
  assert_int_equal(idm_theta_copy(p.theta, &copy, NULL), IDM_OK);
  assert_int_equal(copy->models, MODELS);
  for (int i = 0; i < IDM_BLOCK_COUNT; i++) {
    const idm_block *a = &p.theta->block[i];
    const idm_block *b = &copy->block[i];
    assert_true(a->role == b->role && a->scale == b->scale && a->prior.kind == b->prior.kind &&
                a->prior.count == b->prior.count && a->size == b->size &&
                a->variants == b->variants);
    assert_ptr_not_equal(a->value, b->value);
    assert_memory_equal(a->value, b->value, a->size * a->variants * sizeof(double));
  }
  block->prior.argument[1] = 9;
  idm_theta_set_scalar(p.theta, IDM_ALPHA, 9);
  assert_true(copy->block[IDM_ALPHA].prior.argument[1] == 2);
  assert_true(idm_theta_scalar(copy, IDM_ALPHA) == 0);
  /* The copy stays valid after the original is destroyed. */
  destroy(p);
  assert_true(idm_theta_scalar(copy, IDM_DISCOUNT) == 0.95);
  idm_theta_destroy(copy);
}

/* A free block with entries: two tied, one fixed, one with its own coordinate. */
static void free_utility(idm_theta *theta)
{
  static const int32_t coordinate[] = {0, 0, -1, 1, -1, -1};
  idm_block *block = &theta->block[IDM_UTILITY];
  block->role = IDM_DESCRIPTIVE;
  block->scale = IDM_SCALE_SIGNED_LOG;
  block->prior = (idm_prior){IDM_PRIOR_NORMAL, 2, calloc(2, sizeof(double))};
  block->coordinate = calloc(6, sizeof *block->coordinate);
  assert_non_null(block->prior.argument);
  assert_non_null(block->coordinate);
  memcpy(block->coordinate, coordinate, sizeof coordinate);
  assert_int_equal(idm_labels_create(&block->coordinate_name, 2, NULL), IDM_OK);
  assert_int_equal(idm_labels_set(&block->coordinate_name, 0, "tied", 4, NULL), IDM_OK);
  assert_int_equal(idm_labels_set(&block->coordinate_name, 1, "own", 3, NULL), IDM_OK);
}

static void test_copy_of_coordinates(void **state)
{
  (void)state;
  pair p = create();
  free_utility(p.theta);
  idm_theta *copy;
  assert_int_equal(idm_theta_copy(p.theta, &copy, NULL), IDM_OK);
  const idm_block *a = &p.theta->block[IDM_UTILITY];
  const idm_block *b = &copy->block[IDM_UTILITY];
  assert_ptr_not_equal(a->coordinate, b->coordinate);
  assert_memory_equal(a->coordinate, b->coordinate, 6 * sizeof *a->coordinate);
  assert_int_equal(b->coordinate_name.count, 2);
  assert_ptr_not_equal(a->coordinate_name.name[0], b->coordinate_name.name[0]);
  for (int i = 0; i < IDM_BLOCK_COUNT; i++)
    if (i != IDM_UTILITY) assert_null(copy->block[i].coordinate);
  /* The copy stays valid after the original is destroyed. */
  destroy(p);
  assert_int_equal(b->coordinate[3], 1);
  assert_string_equal(b->coordinate_name.name[0], "tied");
  assert_string_equal(b->coordinate_name.name[1], "own");
  idm_theta_destroy(copy);
}

/* After clamping no block is free, and the values are unchanged. */
static void test_clamp(void **state)
{
  (void)state;
  pair p = create();
  idm_theta *before;
  assert_int_equal(idm_theta_copy(p.theta, &before, NULL), IDM_OK);
  free_utility(p.theta);
  p.theta->block[IDM_ALPHA].role = IDM_DESCRIPTIVE;
  p.theta->block[IDM_ALPHA].scale = IDM_SCALE_LOG;
  for (int again = 0; again < 2; again++) {
    idm_theta_clamp(p.theta);
    for (int i = 0; i < IDM_BLOCK_COUNT; i++) {
      const idm_block *block = &p.theta->block[i];
      assert_int_equal(block->role, IDM_NORMATIVE);
      assert_int_equal(block->scale, IDM_SCALE_IDENTITY);
      assert_int_equal(block->prior.kind, IDM_PRIOR_FLAT);
      assert_int_equal(block->prior.count, 0);
      assert_null(block->prior.argument);
      assert_null(block->coordinate);
      assert_int_equal(block->coordinate_name.count, 0);
      assert_int_equal(block->size, before->block[i].size);
      assert_memory_equal(block->value, before->block[i].value, block->size * sizeof(double));
    }
  }
  idm_theta_destroy(before);
  destroy(p);
}

/* --- validation ----------------------------------------------------------------------------- */

static void test_every_sign_and_limit_of_alpha_and_beta_is_legal(void **state)
{
  (void)state;
  pair p = create();
  const double legal[] = {0.0, -0.0, 1, -1, 1e-300, 1e300, INFINITY, -INFINITY};
  for (size_t i = 0; i < sizeof legal / sizeof legal[0]; i++) {
    idm_theta_set_scalar(p.theta, IDM_ALPHA, legal[i]);
    idm_theta_set_scalar(p.theta, IDM_BETA, legal[i]);
    check_valid(p);
    idm_theta_set_scalar(p.theta, IDM_ETA, legal[i]);
    if (isfinite(legal[i]))
      check_valid(p);
    else
      check_invalid(p, "eta is");
    idm_theta_set_scalar(p.theta, IDM_ETA, 0);
  }
  destroy(p);
}

static void test_not_a_number_is_refused_everywhere(void **state)
{
  (void)state;
  pair p = create();
  assert_int_equal(idm_theta_resize(p.theta, IDM_BELIEF_PRIOR, 2, 1, NULL), IDM_OK);
  p.theta->block[IDM_BELIEF_PRIOR].value[0] = p.theta->block[IDM_BELIEF_PRIOR].value[1] = 1;
  assert_int_equal(idm_theta_resize(p.theta, IDM_WEIGHTS, 9, 1, NULL), IDM_OK);
  assert_int_equal(idm_theta_resize(p.theta, IDM_UTILITY, 6, 2, NULL), IDM_OK);
  check_valid(p);
  for (int i = 0; i < IDM_BLOCK_COUNT; i++) {
    const idm_block *block = &p.theta->block[i];
    const size_t last = block->size * block->variants - 1;
    const double before = block->value[last];
    block->value[last] = NAN;
    check_invalid(p, idm_block_name((idm_block_id)i));
    for (int sign = -1; sign <= 1; sign += 2) {
      const bool sees = i == IDM_SENSOR_CAPACITY && sign > 0; /* unlimited capacity */
      if (i == IDM_ALPHA || i == IDM_BETA || sees) continue;
      block->value[last] = copysign(INFINITY, sign);
      check_invalid(p, idm_block_name((idm_block_id)i));
    }
    block->value[last] = before;
    check_valid(p);
  }
  destroy(p);
}

static void test_discount(void **state)
{
  (void)state;
  pair p = create();
  const double legal[] = {0, 0.5, 0.999999};
  for (size_t i = 0; i < 3; i++) {
    idm_theta_set_scalar(p.theta, IDM_DISCOUNT, legal[i]);
    check_valid(p);
  }
  const double wrong[] = {-0.1, 1, 1.5};
  for (size_t i = 0; i < 3; i++) {
    idm_theta_set_scalar(p.theta, IDM_DISCOUNT, wrong[i]);
    check_invalid(p, "discount");
  }
  p.setting->horizon = 5;
  idm_theta_set_scalar(p.theta, IDM_DISCOUNT, 1);
  check_valid(p);
  idm_theta_set_scalar(p.theta, IDM_DISCOUNT, 1.001);
  check_invalid(p, "discount");
  destroy(p);
}

static void test_temperature_must_not_be_negative(void **state)
{
  (void)state;
  pair p = create();
  idm_theta_set_scalar(p.theta, IDM_TEMPERATURE, 0);
  check_valid(p);
  idm_theta_set_scalar(p.theta, IDM_TEMPERATURE, -1e-9);
  check_invalid(p, "temperature");
  destroy(p);
}

static void test_belief_prior_must_be_positive(void **state)
{
  (void)state;
  pair p = create();
  assert_int_equal(idm_theta_resize(p.theta, IDM_BELIEF_PRIOR, 2, 1, NULL), IDM_OK);
  double *value = p.theta->block[IDM_BELIEF_PRIOR].value;
  check_invalid(p, "belief_prior");
  value[0] = 0.5;
  value[1] = 3;
  check_valid(p);
  value[1] = -1;
  check_invalid(p, "belief_prior");
  destroy(p);
}

static void check_rows(pair p, idm_block_id id, size_t width)
{
  const idm_block *block = &p.theta->block[id];
  double *last = block->value + block->size - width;
  double before[8];
  memcpy(before, last, width * sizeof *last);
  last[0] += 2e-4;
  check_invalid(p, idm_block_name(id));
  last[0] -= 4e-4;
  check_invalid(p, "no distribution");
  last[0] = -0.25;
  last[1] = before[0] + before[1] + 0.25;
  check_invalid(p, idm_block_name(id));
  memcpy(last, before, width * sizeof *last);
  last[0] += 9e-5;
  check_valid(p);
  memcpy(last, before, width * sizeof *last);
}

static void test_rows_must_be_distributions(void **state)
{
  (void)state;
  pair p = create();
  check_rows(p, IDM_ACTION_PRIOR, 3);
  check_rows(p, IDM_MODEL_PRIOR, 2);
  check_rows(p, IDM_TRANSITION, 2);
  check_rows(p, IDM_EMISSION, 4);
  check_valid(p);
  destroy(p);
}

/* --- names ---------------------------------------------------------------------------------- */

static void test_words(void **state)
{
  (void)state;
  for (int id = 0; id < IDM_BLOCK_COUNT; id++)
    assert_int_equal(idm_block_find(idm_block_name((idm_block_id)id)), id);
#define CHECK_SCALE(id, name)                                                                      \
  assert_string_equal(idm_scale_name(id), name);                                                   \
  assert_int_equal(idm_scale_find(name), id);
  IDM_SCALE_LIST(CHECK_SCALE)
#undef CHECK_SCALE
#define CHECK_PRIOR(id, name, arguments)                                                           \
  assert_string_equal(idm_prior_name(id), name);                                                   \
  assert_int_equal(idm_prior_find(name), id);                                                      \
  assert_int_equal(idm_prior_arguments(id), arguments);
  IDM_PRIOR_LIST(CHECK_PRIOR)
#undef CHECK_PRIOR
  const char *const unknown[] = {"", "Alpha", "alpha ", "alph", "norma", "lin"};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
    assert_int_equal(idm_block_find(unknown[i]), -1);
    assert_int_equal(idm_scale_find(unknown[i]), -1);
    assert_int_equal(idm_prior_find(unknown[i]), -1);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_create),
      cmocka_unit_test(test_create_needs_a_model),
      cmocka_unit_test(test_scalars),
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_resize_and_variants),
      cmocka_unit_test(test_copy_is_deep),
      cmocka_unit_test(test_copy_of_coordinates),
      cmocka_unit_test(test_clamp),
      cmocka_unit_test(test_every_sign_and_limit_of_alpha_and_beta_is_legal),
      cmocka_unit_test(test_not_a_number_is_refused_everywhere),
      cmocka_unit_test(test_discount),
      cmocka_unit_test(test_temperature_must_not_be_negative),
      cmocka_unit_test(test_belief_prior_must_be_positive),
      cmocka_unit_test(test_rows_must_be_distributions),
      cmocka_unit_test(test_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
