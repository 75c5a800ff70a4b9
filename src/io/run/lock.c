/* One writer at a time. */
#define _DEFAULT_SOURCE /* flock */
#include "io/run/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

/* Who says to hold the lock, as text; empty where that cannot be read. */
static void read_holder(int descriptor, char holder[24])
{
  const ssize_t length = pread(descriptor, holder, 23, 0);
  holder[length > 0 ? length : 0] = '\0';
  holder[strspn(holder, "0123456789")] = '\0';
}

static idm_status refuse(const idm_lock *lock, idm_error *opt_error)
{
  char holder[24];
  read_holder(lock->descriptor, holder);
  return idm_fail(opt_error, IDM_SYSTEM,
                  "another process%s%s writes there and holds the lock '%s'; wait for it, or take "
                  "another folder",
                  holder[0] ? " of number " : "", holder, lock->path);
}

/* Whether the file that was locked still has its name: who had it before may have removed it. */
static bool is_current(const idm_lock *lock)
{
  struct stat own;
  struct stat named;
  return fstat(lock->descriptor, &own) == 0 && stat(lock->path, &named) == 0 &&
         own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

static void drop(idm_lock *lock)
{
  if (lock->descriptor >= 0) close(lock->descriptor);
  free(lock->path);
  *lock = (idm_lock){0};
}

idm_status idm_lock_take(idm_lock *lock, const char *path, idm_error *opt_error)
{
  *lock = (idm_lock){.path = idm_text_copy(path, strlen(path)), .descriptor = -1};
  idm_status status = lock->path ? IDM_OK : idm_fail_memory(opt_error);
  for (bool held = false; status == IDM_OK && !held;) {
    if (lock->descriptor >= 0) close(lock->descriptor);
    lock->descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock->descriptor < 0)
      status = idm_fail(opt_error, IDM_SYSTEM, "cannot write '%s': %s", path, strerror(errno));
    else if (flock(lock->descriptor, LOCK_EX | LOCK_NB) == 0)
      held = is_current(lock);
    else if (errno == EWOULDBLOCK)
      status = refuse(lock, opt_error);
    else if (errno != EINTR)
      status = idm_fail(opt_error, IDM_SYSTEM,
                        "cannot lock '%s': %s; take a folder of another file system", path,
                        strerror(errno));
  }
  if (status != IDM_OK) {
    drop(lock);
    return status;
  }
  /* The number is for people: what counts is the lock. */
  char holder[24];
  const int length = snprintf(holder, sizeof holder, "%ld\n", (long)getpid());
  if (ftruncate(lock->descriptor, 0) != 0 ||
      pwrite(lock->descriptor, holder, (size_t)length, 0) != length)
    errno = 0;
  return IDM_OK;
}

void idm_lock_release(idm_lock *lock)
{
  if (!lock->path) return;
  unlink(lock->path); /* while it is held: nobody else has this file then */
  drop(lock);
}
