/* Independent tasks on a few threads, watched by the caller. */
#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

typedef struct crew {
  size_t count;
  void (*task)(void *context, size_t index);
  void *context;
  atomic_size_t next;
  pthread_mutex_t mutex;
  pthread_cond_t left; /* a thread has run out of tasks */
  int working;
} crew;

static void work(crew *c)
{
  for (size_t i = atomic_fetch_add(&c->next, 1); i < c->count; i = atomic_fetch_add(&c->next, 1))
    c->task(c->context, i);
}

static void *run_thread(void *content)
{
  crew *c = content;
  work(c);
  pthread_mutex_lock(&c->mutex);
  c->working--;
  pthread_cond_signal(&c->left);
  pthread_mutex_unlock(&c->mutex);
  return NULL;
}

/* Wait a tenth of a second, or until a thread leaves; returns whether any is still at work. */
static bool wait_a_while(crew *c)
{
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 100000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  pthread_mutex_lock(&c->mutex);
  if (c->working > 0) pthread_cond_timedwait(&c->left, &c->mutex, &until);
  const bool working = c->working > 0;
  pthread_mutex_unlock(&c->mutex);
  return working;
}

idm_status idm_parallel(size_t count, int threads, void (*task)(void *context, size_t index),
                        void (*opt_watch)(void *context), void *context, idm_error *opt_error)
{
  crew c = {.count = count, .task = task, .context = context};
  const size_t wanted = threads < 1 ? 1 : (size_t)threads < count ? (size_t)threads : count;
  if (wanted <= 1 && !opt_watch) {
    work(&c);
    return IDM_OK;
  }
  pthread_t *thread = idm_new(wanted, sizeof *thread);
  if (!thread) return idm_fail_memory(opt_error);
  pthread_mutex_init(&c.mutex, NULL);
  pthread_cond_init(&c.left, NULL);
  size_t started = 0;
  c.working = (int)wanted;
  while (started < wanted && pthread_create(&thread[started], NULL, run_thread, &c) == 0) started++;
  pthread_mutex_lock(&c.mutex);
  c.working -= (int)(wanted - started);
  pthread_mutex_unlock(&c.mutex);
  while (started && wait_a_while(&c))
    if (opt_watch) opt_watch(context);
  for (size_t i = 0; i < started; i++) pthread_join(thread[i], NULL);
  pthread_cond_destroy(&c.left);
  pthread_mutex_destroy(&c.mutex);
  free(thread);
  return started || !count ? IDM_OK : idm_fail(opt_error, IDM_SYSTEM, "cannot start a thread");
}

int idm_processors(void)
{
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : (int)count;
}
