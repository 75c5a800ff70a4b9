/* A wish to stop reaches every thread, and the owner alone asks. */
#include "invert/matching/halt.h"

#include "support.h"

typedef struct wish {
  int asked;
  int after; /* questions that are answered with "go on" */
  pthread_t owner;
} wish;

static bool answer(void *context, const idm_work *work)
{
  wish *w = context;
  char words[64];
  assert_true(pthread_equal(pthread_self(), w->owner));
  assert_string_equal(idm_work_words(work, words, sizeof words), "doing things");
  return ++w->asked > w->after;
}

static void test_check(void **state)
{
  (void)state;
  wish w = {.after = 1, .owner = pthread_self()};
  const idm_fit_watch watch = {.progress = answer, .context = &w};
  idm_halt halt;
  idm_error error = {0};
  assert_int_equal(idm_halt_check(NULL, &error), IDM_OK);
  idm_halt_begin(&halt, NULL, "doing things");
  assert_int_equal(idm_halt_check(&halt, &error), IDM_OK);
  idm_halt_begin(&halt, &watch, "doing things");
  assert_int_equal(idm_halt_check(&halt, &error), IDM_OK); /* too soon to ask */
  assert_int_equal(w.asked, 0);
  halt.asked = 0;
  assert_int_equal(idm_halt_check(&halt, &error), IDM_OK);
  halt.asked = 0;
  assert_int_equal(idm_halt_check(&halt, &error), IDM_UNTRUSTED);
  assert_int_equal(w.asked, 2);
  assert_int_equal(idm_halt_check(&halt, &error), IDM_UNTRUSTED); /* for good */
}

/* Work that ends only when it is stopped. */
static void work(void *context, size_t index)
{
  (void)index;
  while (idm_halt_check(context, NULL) == IDM_OK) continue;
}

static void test_threads(void **state)
{
  (void)state;
  for (int threads = 1; threads < 4; threads++) {
    wish w = {.owner = pthread_self()};
    const idm_fit_watch watch = {.progress = answer, .context = &w};
    idm_halt halt;
    idm_halt_begin(&halt, &watch, "doing things");
    check(idm_halt_parallel(&halt, 4, threads, work, &halt, &support_error));
    assert_int_equal(w.asked, 1);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_check), cmocka_unit_test(test_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
