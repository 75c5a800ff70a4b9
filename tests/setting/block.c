/* Tests descriptors of blocks: sizes, names of entries, and for every shared block that its values,
 * files and errors agree with its descriptor. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

/* --- sizes and names ------------------------------------------------------------------------ */

static void sizes_are_products_of_axes(void **state)
{
  (void)state;
  const idm_sizes n = {.states = 3, .actions = 5, .observations = 7};
  const size_t models = 2;
  static const struct {
    idm_block_id id;
    size_t size;
  } cases[] = {{IDM_UTILITY, 5 * 3},
               {IDM_CERTAINTY, 3},
               {IDM_DISCOUNT, 1},
               {IDM_ALPHA, 1},
               {IDM_ACTION_PRIOR, 5},
               {IDM_MODEL_PRIOR, 2},
               {IDM_BELIEF_PRIOR, 3},
               {IDM_TRANSITION, 2 * 5 * 3 * 3},
               {IDM_EMISSION, 2 * 5 * 3 * 7},
               {IDM_WEIGHTS, 5 * (3 + 1)}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_int_equal(idm_block_size(idm_block_describe(cases[i].id), n, models), cases[i].size);
  const idm_block_info opaque = {.name = "w", .opaque = true, .count = 11};
  assert_int_equal(idm_block_size(&opaque, n, models), 11);
}

static void check_entry(const idm_setting *setting, idm_block_id id, size_t i, const char *expected)
{
  char buffer[100];
  const char *entry =
      idm_block_entry_name(idm_block_describe(id), setting, 2, i, buffer, sizeof buffer);
  assert_ptr_equal(entry, buffer);
  assert_string_equal(entry, expected);
}

static void entries_are_named_by_their_labels(void **state)
{
  const idm_setting *setting = ((const idm_problem *)*state)->setting;
  check_entry(setting, IDM_ALPHA, 0, "");
  check_entry(setting, IDM_UTILITY, 0, "healthy!,healthy");
  check_entry(setting, IDM_UTILITY, 5, "monitor,diseased");
  check_entry(setting, IDM_CERTAINTY, 1, "award");
  check_entry(setting, IDM_MODEL_PRIOR, 1, "2");
  check_entry(setting, IDM_WEIGHTS, 3, "diseased!,constant");
  check_entry(setting, IDM_WEIGHTS, 5, "diseased!,diseased");
  check_entry(setting, IDM_TRANSITION, 12 + 4 + 2 + 0, "2,diseased!,diseased,healthy");
  check_entry(setting, IDM_EMISSION, 1, "1,healthy!,healthy,positive");
}

/* A buffer that is too small receives the beginning of the name and is not overrun. */
static void names_are_cut_to_their_room(void **state)
{
  const idm_setting *setting = ((const idm_problem *)*state)->setting;
  for (size_t room = 1; room < 40; room++) {
    char buffer[60];
    memset(buffer, '#', sizeof buffer);
    idm_block_entry_name(idm_block_describe(IDM_TRANSITION), setting, 2, 18, buffer, room);
    assert_true(strlen(buffer) < room);
    assert_int_equal(buffer[room], '#');
    assert_int_equal(strncmp(buffer, "2,diseased!,diseased,healthy", strlen(buffer)), 0);
  }
}

static void words_are_found(void **state)
{
  (void)state;
  for (int id = 0; id < IDM_BLOCK_COUNT; id++)
    assert_int_equal(idm_block_find(idm_block_name((idm_block_id)id)), id);
  assert_int_equal(idm_block_find("nothing"), -1);
  for (int scale = 0; IDM_SCALES_ALL >> scale; scale++)
    assert_int_equal(idm_scale_find(idm_scale_name((idm_scale)scale)), scale);
  assert_int_equal(idm_scale_find("nothing"), -1);
  for (int axis = IDM_AXIS_END + 1; axis < IDM_AXIS_COUNT; axis++)
    for (int other = IDM_AXIS_END + 1; other < axis; other++)
      assert_string_not_equal(idm_axis_name((idm_axis)axis), idm_axis_name((idm_axis)other));
}

/* --- the shared table ----------------------------------------------------------------------- */

static void descriptors_are_consistent(void **state)
{
  (void)state;
  for (int id = 0; id < IDM_BLOCK_COUNT; id++) {
    const idm_block_info *info = idm_block_describe((idm_block_id)id);
    support_legal_block(info);
    /* Blocks of the shared table have names for their numbers. */
    assert_false(info->opaque);
    assert_null(idm_key_find(idm_agent_option_keys(), info->name));
    for (const idm_field *field = info->field; field && field->name; field++)
      assert_true(field->least < field->below && field->default_number >= field->least &&
                  field->default_number <= field->below);
  }
}

/* The default values of a theta are valid. Dynamics have no default. */
static void default_values_are_valid(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 21, 0);
  idm_problem *problem = support_problem((support_shape){3, 4, 2, 2, 4}, &random);
  idm_theta *fresh;
  check(idm_theta_create(problem->theta->sizes, 2, &fresh, &support_error));
  for (size_t id = 0; id < fresh->blocks; id++) {
    const idm_block_info *info = fresh->block[id].info;
    assert_int_equal(fresh->block[id].size == 0, info->optional);
    if (info->form == IDM_FORM_MODELS && info->axis[1])
      memcpy(fresh->block[id].value, problem->theta->block[id].value,
             fresh->block[id].size * sizeof(double));
  }
  check(idm_theta_validate(fresh, problem->setting, &support_error));
  idm_theta_destroy(fresh);
  idm_problem_destroy(problem);
}

/* Numbers outside the range of a descriptor are rejected, and the error contains the name of the
 * block. */
static void illegal_values_are_refused(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 22, 0);
  idm_problem *problem = support_problem((support_shape){3, 4, 2, 2, 4}, &random);
  idm_theta *theta = problem->theta;
  for (size_t id = 0; id < theta->blocks; id++) {
    const idm_block_info *info = theta->block[id].info;
    support_redraw(theta, id, &random);
    double *last = &theta->block[id].value[theta->block[id].size - 1];
    const double legal = *last;
    const double bad[] = {NAN,
                          info->infinite ? NAN : INFINITY,
                          info->support == IDM_REAL ? NAN : -0.5,
                          info->support == IDM_FRACTION ? 1.5 : NAN,
                          info->support == IDM_POSITIVE ? 0 : NAN,
                          info->support == IDM_DISTRIBUTION ? legal + 0.01 : NAN};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
      *last = bad[i];
      assert_int_equal(idm_theta_validate(theta, problem->setting, &support_error), IDM_INPUT);
      assert_non_null(strstr(support_error.message, info->name));
    }
    *last = legal;
    check(idm_theta_validate(theta, problem->setting, &support_error));
  }
  idm_problem_destroy(problem);
}

/* --- files ---------------------------------------------------------------------------------- */

static void same_when_read_back(const idm_problem *problem)
{
  char path[SUPPORT_PATH];
  char difference[300] = "";
  support_path(path);
  idm_problem *again;
  check(idm_problem_write_yaml(problem, path, NULL, &support_error));
  check(idm_problem_read(path, &again, NULL, &support_error));
  unlink(path);
  /* Weights are normalised when they are read, which changes the last bit. */
  if (!idm_problem_compare(problem, again, 1e-14, difference, sizeof difference))
    fail_msg("%s", difference);
  idm_problem_destroy(again);
}

/* A problem with drawn values in every block is unchanged after writing and reading, for every
 * planner. */
static void every_form_is_written_and_read(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 23, 0);
  for (size_t i = 0; idm_planner_at(i); i++)
    for (int draw = 0; draw < 5; draw++) {
      const support_shape shape = {2 + (size_t)draw % 3, 1 + (size_t)draw, 2, 1 + (size_t)draw % 3,
                                   4};
      idm_problem *problem = support_problem(shape, &random);
      check(idm_problem_set_planner(problem, idm_planner_at(i), &support_error));
      for (size_t id = 0; id < problem->theta->blocks; id++)
        support_redraw(problem->theta, id, &random);
      check(idm_problem_validate(problem, &support_error));
      same_when_read_back(problem);
      for (size_t id = 0; id < problem->theta->blocks; id++) {
        const idm_block_info *info = problem->theta->block[id].info;
        const bool below = info->support == IDM_REAL && draw % 2 == 0;
        if (info->infinite) idm_theta_set_scalar(problem->theta, id, below ? -INFINITY : INFINITY);
      }
      same_when_read_back(problem);
      idm_problem_destroy(problem);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_are_products_of_axes),
      cmocka_unit_test_setup_teardown(entries_are_named_by_their_labels, support_set_up,
                                      support_tear_down),
      cmocka_unit_test_setup_teardown(names_are_cut_to_their_room, support_set_up,
                                      support_tear_down),
      cmocka_unit_test(words_are_found),
      cmocka_unit_test(descriptors_are_consistent),
      cmocka_unit_test(default_values_are_valid),
      cmocka_unit_test(illegal_values_are_refused),
      cmocka_unit_test(every_form_is_written_and_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
