/* Quantities as arrays: whole blocks, rectangles of them, and what stays by itself. */
#include <stdio.h>
#include <string.h>

#include "support.h"

#include "io/run/netcdf.h"

typedef struct expected {
  const char *free_blocks;
  size_t count;      /* arrays and quantities by themselves */
  size_t at;         /* one of them */
  size_t quantities; /* its quantities */
  size_t rank;
  size_t length[IDM_ARRAY_RANK];
} expected;

/* Names as parameters make them. */
static void names_are_cut_into_arrays(void **state)
{
  (void)state;
  static const expected cases[] = {
      {"alpha, beta", 3, 1, 1, 0, {0}}, /* alpha, beta, inverse_beta */
      {"utility", 1, 0, 6, 2, {3, 2}},
      {"alpha, utility, action_prior", 3, 0, 6, 2, {3, 2}},
      {"{utility: {entries: [monitor]}}", 1, 0, 2, 2, {1, 2}},
      {"{utility: {reference: monitor}}", 1, 0, 4, 2, {2, 2}},
      {"{utility: {entries: [monitor.healthy, declare_healthy.healthy]}}", 1, 0, 2, 2, {2, 1}},
      {"{utility: {entries: [monitor.healthy]}}", 1, 0, 1, 0, {0}},
      /* Not all combinations, and entries that are tied: by themselves. */
      {"{utility: {entries: [monitor, declare_healthy.healthy]}}", 3, 0, 1, 0, {0}},
      {"{utility: {entries: {right: [declare_healthy.healthy, monitor]}}}", 1, 0, 1, 0, {0}},
      {"model_prior", 1, 0, 3, 1, {3}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const expected *e = &cases[i];
    idm_problem *problem = support_diag(0.5, 1.25, 0.1);
    idm_parameters *parameters;
    check(idm_problem_set_free(problem, e->free_blocks, &support_error));
    check(idm_parameters_create(problem, &parameters, &support_error));
    const idm_labels *names = idm_parameters_quantities(parameters);
    idm_array *arrays;
    size_t count;
    check(idm_arrays_create(names, NULL, NULL, problem, &arrays, &count, &support_error));
    if (count != e->count) fail_msg("%s: %zu arrays", e->free_blocks, count);
    const idm_array *a = &arrays[e->at];
    assert_int_equal(a->count, e->quantities);
    assert_int_equal(a->rank, e->rank);
    assert_memory_equal(a->length, e->length, sizeof e->length);
    /* Its quantities are the combinations of its places, in order. */
    for (size_t q = 0; a->rank == 2 && q < a->count; q++) {
      char name[100];
      snprintf(name, sizeof name, "utility[%s,%s]",
               problem->setting->actions.name[a->place[0][q / a->length[1]]],
               problem->setting->states.name[a->place[1][q % a->length[1]]]);
      assert_string_equal(names->name[a->first + q], name);
    }
    idm_arrays_destroy(arrays, count);
    idm_parameters_destroy(parameters);
    idm_problem_destroy(problem);
  }
}

/* A flag that changes ends an array, and an opaque block is none. */
static void flags_and_opaque_blocks_stay_apart(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.1);
  check(idm_problem_set_free(problem, "action_prior", &support_error));
  idm_labels names = {0};
  SUPPORT_NAMES(&names, "action_prior[declare_healthy]", "action_prior[declare_diseased]",
                "action_prior[monitor]");
  idm_array *arrays;
  size_t count;
  const bool flag[] = {true, true, false};
  check(idm_arrays_create(&names, NULL, flag, problem, &arrays, &count, &support_error));
  assert_int_equal(count, 2);
  assert_int_equal(arrays[0].count, 2);
  idm_arrays_destroy(arrays, count);
  const size_t size[] = {5, 1, 1};
  check(idm_arrays_create(&names, size, NULL, problem, &arrays, &count, &support_error));
  assert_int_equal(count, 2);
  assert_int_equal(arrays[1].count, 2);
  idm_arrays_destroy(arrays, count);
  idm_labels_destroy(&names);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_cut_into_arrays),
                                     cmocka_unit_test(flags_and_opaque_blocks_stay_apart)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
