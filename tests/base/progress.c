/* Tests progress of work that has no description and no checkpoint. */
#include "idm/extension/progress.h"

#include "support.h"

static void test_silent_work(void **state)
{
  (void)state;
  const idm_progress_state work = {.done = 0.5};
  char words[8] = "before", *bytes = words;
  size_t length = 1;
  assert_string_equal(idm_progress_describe(&work, words, sizeof words), "");
  assert_int_equal(idm_progress_save(&work, &bytes, &length, NULL), IDM_USAGE);
  assert_null(bytes);
  assert_int_equal(length, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_silent_work)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
