/* One writer at a time: a lock that ends with whoever holds it. */
#ifndef IDM_IO_RUN_LOCK_H
#define IDM_IO_RUN_LOCK_H

#include "idm/status.h"

/* Zero-initialise. */
typedef struct idm_lock {
  char *path;     /* of the file that is locked; NULL where nothing is held */
  int descriptor; /* of it */
} idm_lock;

/* Take the lock that is a file of that path. IDM_SYSTEM where another process, or another caller in
 * this one, has it. One that was killed while it had it leaves the file, and no lock. */
idm_status idm_lock_take(idm_lock *lock, const char *path, idm_error *opt_error);
/* Give it back, and remove its file. */
void idm_lock_release(idm_lock *lock);

#endif
