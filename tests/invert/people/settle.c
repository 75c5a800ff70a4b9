/* Tests the priors of populations: which priors are kept, replaced by normal ones, or rejected. */
#include "invert/people/people.h"

#include <string.h>

#include "support.h"

static void normal_priors_on_whole_scales_are_left_alone(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 10, 1);
  idm_notes notes = {0};
  check(idm_problem_set_free(problem, "alpha, beta, eta", &support_error));
  check(idm_population_set_priors(problem, &notes, &support_error));
  assert_int_equal(notes.count, 0);
  assert_int_equal(problem->theta->block[IDM_BETA].prior.kind, IDM_PRIOR_NORMAL);
  idm_problem_destroy(problem);
}

static void others_need_what_a_population_is_like(void **state)
{
  (void)state;
  static const char *const free_blocks[] = {"{alpha: {prior: {gamma: [4, 2]}, scale: log}}",
                                            "{alpha: {prior: {uniform: [-1, 3]}, scale: log}}"};
  static const double mean[] = {2, 1};
  static const double sd[] = {1, 1.1547005383792515};
  for (size_t i = 0; i < 2; i++) {
    idm_problem *problem = support_diag(0.5, 10, 0);
    idm_notes notes = {0};
    idm_error error = {0};
    check(idm_problem_set_free(problem, free_blocks[i], &support_error));
    idm_block *block = &problem->theta->block[IDM_ALPHA];
    assert_int_equal(idm_population_set_priors(problem, &notes, &error), IDM_INPUT);
    assert_non_null(strstr(error.message, "population: {sd: {alpha: S}"));
    block->population = (idm_population){.sd = 1, .coefficient = 1};
    check(idm_population_set_priors(problem, &notes, &support_error));
    assert_int_equal(notes.count, 1);
    assert_int_equal(block->prior.kind, IDM_PRIOR_NORMAL);
    assert_near(block->prior.argument[0], mean[i], 1e-14);
    assert_near(block->prior.argument[1], sd[i], 1e-14);
    idm_notes_clear(&notes);
    idm_problem_destroy(problem);
  }
}

static void what_has_ends_or_no_mean_is_refused(void **state)
{
  (void)state;
  static const char *const free_blocks[] = {"discount", "action_prior",
                                            "{alpha: {prior: flat, scale: log}}"};
  for (size_t i = 0; i < 3; i++) {
    idm_problem *problem = support_diag(0.5, 10, 0);
    idm_error error = {0};
    check(idm_problem_set_free(problem, free_blocks[i], &support_error));
    for (size_t b = 0; b < problem->theta->blocks; b++)
      problem->theta->block[b].population = (idm_population){.sd = 1, .coefficient = 1};
    assert_int_equal(idm_population_set_priors(problem, NULL, &error), IDM_INPUT);
    assert_non_null(strstr(error.message, "people vary normally"));
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(normal_priors_on_whole_scales_are_left_alone),
      cmocka_unit_test(others_need_what_a_population_is_like),
      cmocka_unit_test(what_has_ends_or_no_mean_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
