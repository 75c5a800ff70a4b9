/* One writer at a time. */
#define _XOPEN_SOURCE   700 /* openat, O_NOFOLLOW */
#define _DEFAULT_SOURCE     /* flock */
#include "io/run/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/memory.h"

/* The process number in the lock file, as text; empty where that cannot be read. */
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

/* Whether the file that was locked still has its name: its last holder may have removed it. */
static bool is_current(const idm_lock *lock)
{
  struct stat own;
  struct stat named;
  return fstat(lock->descriptor, &own) == 0 &&
         fstatat(lock->folder, lock->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

static void drop(idm_lock *lock)
{
  if (lock->descriptor >= 0) close(lock->descriptor);
  free(lock->path);
  free(lock->name);
  *lock = (idm_lock){0};
}

/* Open the file: a new one, or else the one that is there. */
static idm_status open_file(idm_lock *lock, const idm_place *place, bool *ret_made,
                            idm_error *opt_error)
{
  const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  struct stat info;
  if (lock->descriptor >= 0) close(lock->descriptor);
  lock->descriptor = openat(lock->folder, lock->name, flags | O_CREAT | O_EXCL, 0666);
  *ret_made = lock->descriptor >= 0;
  if (*ret_made) return IDM_OK;
  if (errno == EEXIST) {
    const idm_status status = idm_place_check(place, opt_error);
    if (status != IDM_OK) return status;
    lock->descriptor = openat(lock->folder, lock->name, flags);
    if (lock->descriptor < 0 && errno == ENOENT) return IDM_OK; /* released in between */
  }
  if (lock->descriptor >= 0 && fstat(lock->descriptor, &info) == 0 && S_ISREG(info.st_mode))
    return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM, "cannot write '%s': %s", place->path, strerror(errno));
}

/* Lock the file; one that a killed process left is removed, so that the next is a new one. */
static idm_status lock_file(const idm_lock *lock, bool made, bool *ret_held, idm_error *opt_error)
{
  *ret_held = false;
  if (lock->descriptor < 0) return IDM_OK;
  if (flock(lock->descriptor, LOCK_EX | LOCK_NB) == 0) {
    const bool current = is_current(lock);
    *ret_held = made && current;
    if (made || !current || unlinkat(lock->folder, lock->name, 0) == 0 || errno == ENOENT)
      return IDM_OK;
    return idm_fail(opt_error, IDM_SYSTEM, "cannot remove '%s': %s", lock->path, strerror(errno));
  }
  if (errno == EWOULDBLOCK) return refuse(lock, opt_error);
  if (errno == EINTR) return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM,
                  "cannot lock '%s': %s; take a folder of another file system", lock->path,
                  strerror(errno));
}

idm_status idm_lock_take(idm_lock *lock, const idm_place *place, idm_error *opt_error)
{
  *lock = (idm_lock){.path = idm_text_copy(place->path, strlen(place->path)),
                     .name = idm_text_copy(place->name, strlen(place->name)),
                     .folder = place->folder,
                     .descriptor = -1};
  idm_status status = lock->path && lock->name ? IDM_OK : idm_fail_memory(opt_error);
  for (bool held = false; status == IDM_OK && !held;) {
    bool made = false;
    status = open_file(lock, place, &made, opt_error);
    if (status == IDM_OK) status = lock_file(lock, made, &held, opt_error);
  }
  if (status != IDM_OK) {
    drop(lock);
    return status;
  }
  /* The number is for people: what counts is the lock. */
  char holder[24];
  const int length = snprintf(holder, sizeof holder, "%ld\n", (long)getpid());
  if (pwrite(lock->descriptor, holder, (size_t)length, 0) != length) errno = 0;
  return IDM_OK;
}

void idm_lock_release(idm_lock *lock)
{
  if (!lock->path) return;
  unlinkat(lock->folder, lock->name, 0); /* while it is held: nobody else has this file then */
  drop(lock);
}
