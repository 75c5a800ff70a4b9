/* Tests that parallel tasks run exactly once each, on the permitted number of threads, while the
 * caller's callback runs. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/system.h"
#include "support.h"

enum { MOST = 5000 };

typedef struct work {
  atomic_int times[MOST]; /* runs of each task */
  atomic_int running;
  atomic_int most_running;
  atomic_int abroad; /* tasks on threads other than the caller's */
  long nanoseconds;  /* duration of a task */
  pthread_t caller;
  atomic_size_t order; /* tasks started so far */
  atomic_bool ordered;
  int together; /* a task waits until this many tasks are running, for at most five seconds */
  int watched;
  bool watched_abroad;
} work;

static void pause_for(long nanoseconds)
{
  const struct timespec time = {.tv_nsec = nanoseconds};
  nanosleep(&time, NULL);
}

static void task(void *context, size_t index)
{
  work *w = context;
  if (atomic_fetch_add(&w->order, 1) != index) atomic_store(&w->ordered, false);
  const int running = atomic_fetch_add(&w->running, 1) + 1;
  int most = atomic_load(&w->most_running);
  while (running > most && !atomic_compare_exchange_weak(&w->most_running, &most, running)) {
  }
  atomic_fetch_add(&w->times[index], 1);
  if (!pthread_equal(pthread_self(), w->caller)) atomic_fetch_add(&w->abroad, 1);
  if (w->nanoseconds) pause_for(w->nanoseconds);
  for (int i = 0; i < 5000 && atomic_load(&w->most_running) < w->together; i++) pause_for(1000000);
  atomic_fetch_sub(&w->running, 1);
}

static void watch(void *context)
{
  work *w = context;
  w->watched++;
  if (!pthread_equal(pthread_self(), w->caller)) w->watched_abroad = true;
}

static work *make_work(void)
{
  work *w = calloc(1, sizeof *w);
  assert_non_null(w);
  w->caller = pthread_self();
  return w;
}

static void every_task_once(size_t count, int threads, bool watched)
{
  work *w = make_work();
  check(idm_parallel(count, threads, task, watched ? watch : NULL, w, &support_error));
  for (size_t i = 0; i < MOST; i++) assert_int_equal(atomic_load(&w->times[i]), i < count);
  assert_int_equal(atomic_load(&w->running), 0);
  assert_true(atomic_load(&w->most_running) <= (threads < 1 ? 1 : threads));
  free(w);
}

static void test_every_task_once(void **state)
{
  (void)state;
  static const size_t counts[] = {0, 1, 2, 3, 17, MOST};
  static const int threads[] = {-1, 0, 1, 2, 3, 8, 40};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    for (size_t k = 0; k < sizeof threads / sizeof threads[0]; k++)
      for (int watched = 0; watched < 2; watched++) every_task_once(counts[i], threads[k], watched);
}

static void test_one_thread_is_the_caller(void **state)
{
  (void)state;
  for (int threads = -1; threads <= 1; threads++) {
    work *w = make_work();
    atomic_store(&w->ordered, true);
    check(idm_parallel(100, threads, task, NULL, w, NULL));
    assert_int_equal(atomic_load(&w->abroad), 0);
    assert_true(atomic_load(&w->ordered));
    free(w);
  }
}

/* With a callback, or with several threads, the caller runs no task. */
static void test_the_caller_watches(void **state)
{
  (void)state;
  work *w = make_work();
  w->nanoseconds = 120000000;
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  check(idm_parallel(3, 1, task, watch, w, &support_error));
  clock_gettime(CLOCK_MONOTONIC, &after);
  assert_int_equal(atomic_load(&w->abroad), 3);
  assert_int_equal(atomic_load(&w->most_running), 1);
  /* At least 0.36 s, and at most ten calls per second. */
  const double seconds =
      (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
  assert_true(w->watched >= 1 && w->watched <= 1 + (int)(10 * seconds));
  assert_false(w->watched_abroad);
  free(w);
}

/* Threads run concurrently: three waiting tasks are running at the same time. */
static void test_side_by_side(void **state)
{
  (void)state;
  work *w = make_work();
  w->together = 3;
  check(idm_parallel(3, 8, task, NULL, w, &support_error));
  assert_int_equal(atomic_load(&w->most_running), 3);
  assert_int_equal(atomic_load(&w->abroad), 3);
  free(w);
}

static void test_processors(void **state)
{
  (void)state;
  assert_true(idm_processors() >= 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_task_once),    cmocka_unit_test(test_one_thread_is_the_caller),
      cmocka_unit_test(test_the_caller_watches), cmocka_unit_test(test_side_by_side),
      cmocka_unit_test(test_processors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
