/* The operating system: threads and shared libraries.
 *
 * Contents: parallel · library */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system.h"

/* === parallel =============================================================================== */

/* Independent tasks on several threads, with a periodic callback on the calling thread. */

typedef struct thread_pool {
  size_t count;
  void (*task)(void *context, size_t index);
  void *context;
  atomic_size_t next;
  pthread_mutex_t mutex;
  pthread_cond_t finished; /* signalled when a thread has no more tasks */
  int working;
} thread_pool;

static void run_tasks(thread_pool *c)
{
  for (size_t i = atomic_fetch_add(&c->next, 1); i < c->count; i = atomic_fetch_add(&c->next, 1))
    c->task(c->context, i);
}

static void *run_thread(void *content)
{
  thread_pool *c = content;
  run_tasks(c);
  pthread_mutex_lock(&c->mutex);
  c->working--;
  pthread_cond_signal(&c->finished);
  pthread_mutex_unlock(&c->mutex);
  return NULL;
}

/* Wait a tenth of a second, or until a thread ends. Returns whether any thread is still working. */
static bool wait_for_threads(thread_pool *c)
{
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 100000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  pthread_mutex_lock(&c->mutex);
  if (c->working > 0) pthread_cond_timedwait(&c->finished, &c->mutex, &until);
  const bool working = c->working > 0;
  pthread_mutex_unlock(&c->mutex);
  return working;
}

idm_status idm_parallel(size_t count, int threads, void (*task)(void *context, size_t index),
                        void (*opt_watch)(void *context), void *context, idm_error *opt_error)
{
  thread_pool c = {.count = count, .task = task, .context = context};
  const size_t thread_count = threads < 1 ? 1 : (size_t)threads < count ? (size_t)threads : count;
  if (thread_count <= 1 && !opt_watch) {
    run_tasks(&c);
    return IDM_OK;
  }
  pthread_t *thread = idm_new(thread_count, sizeof *thread);
  if (!thread) return idm_fail_memory(opt_error);
  pthread_mutex_init(&c.mutex, NULL);
  pthread_cond_init(&c.finished, NULL);
  if (opt_watch) opt_watch(context); /* short work, too, has one call */
  size_t started = 0;
  c.working = (int)thread_count;
  while (started < thread_count && pthread_create(&thread[started], NULL, run_thread, &c) == 0)
    started++;
  pthread_mutex_lock(&c.mutex);
  c.working -= (int)(thread_count - started);
  pthread_mutex_unlock(&c.mutex);
  while (started && wait_for_threads(&c))
    if (opt_watch) opt_watch(context);
  for (size_t i = 0; i < started; i++) pthread_join(thread[i], NULL);
  pthread_cond_destroy(&c.finished);
  pthread_mutex_destroy(&c.mutex);
  free(thread);
  return started || !count ? IDM_OK : idm_fail(opt_error, IDM_SYSTEM, "cannot start a thread");
}

int idm_processors(void)
{
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : (int)count;
}

/* === library ================================================================================ */

/* Shared libraries that are loaded on first use. */

bool idm_library_load(const char *file, const idm_symbol *symbols, size_t count)
{
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  bool complete = true;
  for (size_t i = 0; i < count; i++) {
    void *address = dlsym(library, symbols[i].name);
    /* C has no conversion from an object pointer to a function pointer; POSIX requires both to have
     * the same representation. */
    memcpy(symbols[i].pointer, &address, sizeof address);
    complete = complete && address;
  }
  return complete;
}
