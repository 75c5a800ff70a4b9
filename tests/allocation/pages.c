/* Tests failing allocations while problems are packed, explored and written as pages. */
#include <string.h>

#include "allocation/heap_support.h"
#include "report/explorer/explorer.h"

typedef struct parcel {
  char *bytes;
  size_t length;
} parcel;

static idm_status there_and_back(const void *argument, idm_error *error)
{
  parcel p = {GARBAGE, 0};
  idm_problem *back = NULL;
  idm_status status = idm_problem_serialise(argument, &p.bytes, &p.length, error);
  assert_result(status, p.bytes);
  if (status == IDM_OK) {
    status = idm_problem_deserialise(p.bytes, p.length, &back, error);
    assert_result(status, back);
  }
  idm_problem_destroy(back);
  free(p.bytes);
  return status;
}

/* Status of the last call, which returned a text or an object, or NULL. */
static idm_status outcome(const idm_explorer *explorer, const void *result)
{
  if (result) return IDM_OK;
  return explorer ? explorer->error.status : IDM_MEMORY;
}

static idm_status explore(const void *argument, idm_error *error)
{
  static const char csv[] = "trajectory,action,observation\n1,monitor,positive\n";
  const parcel *p = argument;
  idm_explorer *e = idm_explorer_open(p->bytes, p->length);
  idm_status status = e ? e->error.status : IDM_MEMORY;
  if (status == IDM_OK) status = idm_explorer_step(e);
  if (status == IDM_OK) status = idm_explorer_plan(e, 1);
  if (status == IDM_OK) status = outcome(e, idm_explorer_draw(e, 700));
  if (status == IDM_OK) status = outcome(e, idm_explorer_tell(e));
  if (status == IDM_OK) status = idm_explorer_load(e, csv, strlen(csv));
  if (!e) return idm_fail_memory(error);
  if (status != IDM_OK) *error = e->error;
  idm_explorer_close(e);
  return status;
}

static idm_status write_page(const void *argument, idm_error *error)
{
  return idm_explorer_write(argument, in_folder("out"), error);
}

static void test_pages(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(2, 1.25, 0.001);
  parcel p;
  every_failure("parcels", there_and_back, problem, succeeds);
  check(idm_problem_serialise(problem, &p.bytes, &p.length, &support_error));
  every_failure("explorers", explore, &p, recovers);
  free(p.bytes);
  if (idm_explorer_available()) every_failure("pages", write_page, problem, succeeds);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrappers_are_linked),
      cmocka_unit_test(test_pages),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
