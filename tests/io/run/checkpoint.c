/* Checkpoints in a folder: written when a stop of the work is requested and when it is over, and
 * read again by a run that goes on. */
#include "io/run/folder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

static idm_status save_some(const void *content, char **ret_bytes, size_t *ret_length,
                            idm_error *opt_error)
{
  if (!content) return idm_fail(opt_error, IDM_MEMORY, "no room");
  *ret_length = strlen(content);
  *ret_bytes = malloc(*ret_length);
  assert_non_null(*ret_bytes);
  memcpy(*ret_bytes, content, *ret_length);
  return IDM_OK;
}

static bool stop_at(void *context, const idm_progress_state *work)
{
  return work->done >= *(double *)context;
}

static void checkpoints_are_kept_and_found(void **state)
{
  (void)state;
  char path[] = "/tmp/idm-checkpoint-XXXXXX";
  double stop = 0.5;
  idm_folder folder;
  idm_checkpointer checkpointer;
  assert_non_null(mkdtemp(path));
  check(idm_folder_open(&folder, path, &support_error));
  check(
      idm_checkpointer_begin(&checkpointer, &folder, IDM_RUN_NEW, stop_at, &stop, &support_error));
  idm_fit_monitor watch = idm_checkpointer_watch(&checkpointer, 3);
  assert_null(watch.checkpoint);
  assert_false(watch.progress(watch.context, &(idm_progress_state){0.1, "early", NULL, save_some}));
  assert_false(idm_folder_has(&folder, IDM_FILE_CHECKPOINT)); /* it is not due yet */
  assert_true(watch.progress(watch.context, &(idm_progress_state){0.6, "half", NULL, save_some}));
  assert_true(checkpointer.stop_requested);
  idm_checkpointer_end(&checkpointer);
  stop = 2;
  check(
      idm_checkpointer_begin(&checkpointer, &folder, IDM_RUN_NEW, stop_at, &stop, &support_error));
  assert_null(checkpointer.bytes); /* a new run begins from the start */
  idm_checkpointer_end(&checkpointer);
  check(idm_checkpointer_begin(&checkpointer, &folder, IDM_RUN_RESUME, stop_at, &stop,
                               &support_error));
  watch = idm_checkpointer_watch(&checkpointer, 3);
  assert_int_equal(watch.checkpoint_length, 4);
  assert_memory_equal(watch.checkpoint, "half", 4);
  assert_false(watch.progress(watch.context, &(idm_progress_state){1, "whole", NULL, save_some}));
  idm_checkpointer_end(&checkpointer);
  check(idm_checkpointer_begin(&checkpointer, &folder, IDM_RUN_RESUME, NULL, NULL, &support_error));
  assert_int_equal(checkpointer.length, 5);
  /* What cannot be saved stops the work, and says why. */
  watch = idm_checkpointer_watch(&checkpointer, 3);
  assert_true(watch.progress(watch.context, &(idm_progress_state){1, NULL, NULL, save_some}));
  assert_int_equal(checkpointer.status, IDM_MEMORY);
  assert_string_equal(checkpointer.error.message, "no room");
  idm_checkpointer_end(&checkpointer);
  idm_folder_remove(&folder, IDM_FILE_CHECKPOINT);
  idm_folder_close(&folder);
  assert_int_equal(rmdir(path), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(checkpoints_are_kept_and_found)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
