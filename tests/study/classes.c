/* Tests the application of each class of the taxonomy to a problem: planner, choice rule and free
 * parameters against the class's definition. */
#include "study/study.h"

#include <string.h>

#include "support.h"

#define OBSERVED                                                                                   \
  "states: [a, b]\nactions: [u, v]\nobservations: states\ndiscount: 0.9\n"                         \
  "transition: {u: [[0.9, 0.1], [0.2, 0.8]], v: uniform}\nutility: {u: 1, v: [0, 2]}\n"            \
  "agent: {planner: maximum-entropy, alpha: 1}\n"

/* Every class can be applied to a problem of its kind; the free parameters are those that the class
 * lists. */
static void test_apply(void **state)
{
  (void)state;
  for (size_t i = 0; idm_class_at(i); i++) {
    const idm_class *of = idm_class_at(i);
    idm_problem *problem = support_yaml(OBSERVED);
    idm_error error = {0};
    problem->agent.choice = of->deterministic ? IDM_CHOICE_DRAWN : IDM_CHOICE_BEST;
    const idm_status status = idm_class_apply(of, problem, &error);
    if (status != IDM_OK) fail_msg("%s: %s", of->name, error.message);
    assert_int_equal(problem->agent.choice,
                     strcmp(of->name, "det-dm-il") == 0 ? IDM_CHOICE_BEST : IDM_CHOICE_DRAWN);
    assert_string_equal(idm_agent_planner(&problem->agent)->name, of->planner);
    for (size_t b = 0; b < problem->theta->blocks; b++) {
      const idm_block *block = &problem->theta->block[b];
      const bool listed = strstr(of->free, block->info->name) && b != IDM_EMISSION;
      assert_int_equal(block->role == IDM_DESCRIPTIVE, listed);
    }
    idm_problem_destroy(problem);
  }
}

/* A problem that frees the same blocks keeps its own entries; free parameters of other blocks
 * become fixed. */
static void test_own_freedom(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(OBSERVED "free: {utility: {entries: [v.b]}}\n");
  check(idm_class_apply(idm_class_find("stoc-irl"), problem, &support_error));
  assert_int_equal(problem->theta->block[IDM_UTILITY].coordinate_name.count, 1);
  check(idm_class_apply(idm_class_find("ibrc"), problem, &support_error));
  assert_int_equal(problem->theta->block[IDM_UTILITY].role, IDM_NORMATIVE);
  assert_int_equal(problem->theta->block[IDM_ETA].role, IDM_DESCRIPTIVE);
  idm_problem_destroy(problem);
}

static void test_refusals(void **state)
{
  (void)state;
  idm_error error = {0};
  idm_problem *diag = support_diag(1, 1, 1);
  assert_int_equal(idm_class_apply(idm_class_find("me-irl"), diag, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "needs observed states"));
  check(idm_class_apply(idm_class_find("subj-po-irl"), diag, &support_error));
  idm_problem_destroy(diag);
}

/* Subjective dynamics have one model, initially that of the environment, even if the problem lists
 * several; classes with a belief over models keep all of them. */
static void test_one_model(void **state)
{
  (void)state;
  idm_problem *diag = NULL;
  check(idm_problem_read("example:diag", &diag, NULL, &support_error));
  assert_int_equal(diag->theta->models, 3);
  check(idm_class_apply(idm_class_find("stoc-po-irl"), diag, &support_error));
  assert_int_equal(diag->theta->models, 3);
  check(idm_class_apply(idm_class_find("subj-po-irl"), diag, &support_error));
  assert_int_equal(diag->theta->models, 1);
  const idm_block *emission = &diag->theta->block[IDM_EMISSION];
  assert_int_equal(emission->role, IDM_DESCRIPTIVE);
  for (size_t i = 0; i < emission->size; i++)
    assert_true(emission->value[i] == diag->setting->emission[i]);
  idm_parameters *parameters = NULL;
  check(idm_parameters_create(diag, &parameters, &support_error));
  idm_parameters_destroy(parameters);
  idm_problem_destroy(diag);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_apply), cmocka_unit_test(test_own_freedom),
      cmocka_unit_test(test_refusals), cmocka_unit_test(test_one_model)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
