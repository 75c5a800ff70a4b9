/* One writer at a time: a lock that ends with the process that holds it. */
#ifndef IDM_IO_RUN_LOCK_H
#define IDM_IO_RUN_LOCK_H

#include "io/place.h"

/* Zero-initialise. */
typedef struct idm_lock {
  char *path;     /* of the file that is locked; NULL where nothing is held */
  char *name;     /* the same relative to the folder */
  int folder;     /* descriptor of the folder; borrowed */
  int descriptor; /* of the file */
} idm_lock;

/* Take the lock that is a file at that place. IDM_SYSTEM where another process, or another caller
 * in this one, holds it; IDM_INPUT where the place is no regular file. A process that is killed
 * while it holds the lock leaves the file, and no lock. Only a file that this call created is
 * written to: one that exists may be another name of somebody's file. */
idm_status idm_lock_take(idm_lock *lock, const idm_place *place, idm_error *opt_error);
/* Release it, and remove its file. */
void idm_lock_release(idm_lock *lock);

#endif
