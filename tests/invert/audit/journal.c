/* The journal of an audit: what is put in comes out, also after a checkpoint, and damage is
 * refused. */
#include "invert/audit/journal.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

static void put(audit_journal *journal, uint64_t step, double value)
{
  idm_record record;
  idm_journal_begin(step, &record);
  idm_record_pass(&record, &value, sizeof value);
  check(idm_journal_put(journal, step, &record, &support_error));
}

static double get(audit_journal *journal, uint64_t step)
{
  idm_record record;
  double value = -1;
  assert_true(idm_journal_get(journal, step, &record));
  idm_record_pass(&record, &value, sizeof value);
  check(idm_record_close(&record, true, &support_error));
  return value;
}

static void steps_have_numbers_of_their_own(void **state)
{
  (void)state;
  uint64_t seen[4 * 3 * 3];
  size_t count = 0;
  for (int step = 0; step < 4; step++)
    for (size_t way = 0; way < 3; way++)
      for (size_t index = 0; index < 3; index++) {
        const uint64_t one = idm_journal_step((audit_step)step, way, index << 16);
        for (size_t k = 0; k < count; k++) assert_true(seen[k] != one);
        seen[count++] = one;
      }
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

/* Twenty steps and the work under way, through a checkpoint. */
static void what_is_put_in_comes_out(void **state)
{
  (void)state;
  enum { steps = 20 };
  const uint64_t running = idm_journal_step(AUDIT_STEP_SAMPLE, 1, 0);
  const idm_work work = {.content = "half of it", .save = save_some};
  audit_journal *journal, *again;
  idm_record record;
  char *bytes;
  size_t length;
  check(idm_journal_create(&(idm_fit_watch){.label = 5}, &journal, &support_error));
  assert_int_equal(idm_journal_count(journal), 0);
  assert_int_equal(idm_journal_count(journal), 1);
  for (size_t i = 0; i < steps; i++)
    put(journal, idm_journal_step(AUDIT_STEP_OPEN, 0, i), (double)i);
  assert_false(idm_journal_get(journal, running, &record));
  check(idm_journal_save(journal, running, &work, &bytes, &length, &support_error));
  idm_fit_watch watch = {.label = 5, .checkpoint = bytes, .checkpoint_length = length};
  check(idm_journal_create(&watch, &again, &support_error));
  for (size_t i = 0; i < steps; i++)
    assert_near(get(again, idm_journal_step(AUDIT_STEP_OPEN, 0, i)), (double)i, 0);
  idm_fit_watch inner = {0};
  idm_journal_go_on(again, idm_journal_step(AUDIT_STEP_SAMPLE, 2, 0), &inner);
  assert_null(inner.checkpoint);
  idm_journal_go_on(again, running, &inner);
  assert_int_equal(inner.checkpoint_length, strlen("half of it"));
  assert_memory_equal(inner.checkpoint, "half of it", inner.checkpoint_length);
  idm_journal_destroy(again);
  idm_journal_destroy(journal);
  /* Cut short anywhere, changed in any byte, or of another request it is refused. */
  for (size_t i = 0; i < length; i += 7) {
    watch.checkpoint_length = i;
    assert_int_equal(idm_journal_create(&watch, &again, &support_error), IDM_INPUT);
    watch.checkpoint_length = length;
    bytes[i] = (char)(bytes[i] ^ 1);
    assert_int_equal(idm_journal_create(&watch, &again, &support_error), IDM_INPUT);
    bytes[i] = (char)(bytes[i] ^ 1);
  }
  watch.label = 6;
  assert_int_equal(idm_journal_create(&watch, &again, &support_error), IDM_INPUT);
  assert_null(again);
  free(bytes);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_have_numbers_of_their_own),
                                     cmocka_unit_test(what_is_put_in_comes_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
