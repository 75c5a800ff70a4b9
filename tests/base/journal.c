/* Tests the journal of work in steps: stored records are read back, also after a checkpoint, and
 * damaged checkpoints are rejected. */
#include "base/record.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

static void put(idm_journal *journal, uint64_t step, double value)
{
  idm_record record;
  idm_journal_begin(step, &record);
  idm_record_transfer(&record, &value, sizeof value);
  check(idm_journal_put(journal, step, &record, &support_error));
}

static double get(idm_journal *journal, uint64_t step)
{
  idm_record record;
  double value = -1;
  assert_true(idm_journal_get(journal, step, &record));
  idm_record_transfer(&record, &value, sizeof value);
  check(idm_record_close(&record, true, &support_error));
  return value;
}

static idm_status save_some(const void *content, char **ret_bytes, size_t *ret_length,
                            idm_error *opt_error)
{
  (void)opt_error;
  const char *text = content;
  *ret_length = strlen(text);
  *ret_bytes = malloc(*ret_length);
  assert_non_null(*ret_bytes);
  memcpy(*ret_bytes, text, *ret_length);
  return IDM_OK;
}

/* Twenty steps and the state of the running step survive a checkpoint. */
static void what_is_put_in_comes_out(void **state)
{
  (void)state;
  enum { steps = 20 };
  const uint64_t running = UINT64_C(1) << 60 | 1;
  const idm_progress_state work = {.content = "half of it", .save = save_some};
  idm_journal *journal, *again;
  idm_record record;
  char *bytes;
  size_t length;
  check(idm_journal_create("journal", &(idm_fit_monitor){.label = 5}, &journal, &support_error));
  assert_int_equal(idm_journal_count(journal), 0);
  assert_int_equal(idm_journal_count(journal), 1);
  for (size_t i = 0; i < steps; i++) put(journal, i, (double)i);
  assert_false(idm_journal_get(journal, running, &record));
  const idm_journal_step under_way = {journal, running, &work};
  check(idm_journal_save(&under_way, &bytes, &length, &support_error));
  idm_fit_monitor watch = {.label = 5, .checkpoint = bytes, .checkpoint_length = length};
  check(idm_journal_create("journal", &watch, &again, &support_error));
  for (size_t i = 0; i < steps; i++) assert_near(get(again, i), (double)i, 0);
  idm_fit_monitor inner = {0};
  idm_journal_resume_step(again, UINT64_C(1) << 60 | 2, &inner);
  assert_null(inner.checkpoint);
  idm_journal_resume_step(again, running, &inner);
  assert_int_equal(inner.checkpoint_length, strlen("half of it"));
  assert_memory_equal(inner.checkpoint, "half of it", inner.checkpoint_length);
  idm_journal_destroy(again);
  idm_journal_destroy(journal);
  /* A checkpoint that is truncated, has a changed byte, or belongs to another request is rejected.
   */
  for (size_t i = 0; i < length; i += 7) {
    watch.checkpoint_length = i;
    assert_int_equal(idm_journal_create("journal", &watch, &again, &support_error), IDM_INPUT);
    watch.checkpoint_length = length;
    bytes[i] = (char)(bytes[i] ^ 1);
    assert_int_equal(idm_journal_create("journal", &watch, &again, &support_error), IDM_INPUT);
    bytes[i] = (char)(bytes[i] ^ 1);
  }
  watch.label = 6;
  assert_int_equal(idm_journal_create("journal", &watch, &again, &support_error), IDM_INPUT);
  assert_null(again);
  free(bytes);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_put_in_comes_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
