/* Where a file lies: at a path, or in a folder that is open.
 *
 * A path is the caller's own, and its links are followed. A folder may come from a stranger: a name
 * in it must be a regular file. It is opened relative to the folder's descriptor and without
 * following links, so that nothing outside the folder is read or changed, and opening it never
 * waits for the other end of a pipe. */
#ifndef IDM_IO_PLACE_H
#define IDM_IO_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "idm/status.h"

typedef struct idm_place {
  int folder;       /* descriptor, borrowed; AT_FDCWD for a path */
  const char *name; /* relative to the folder; borrowed */
  const char *path; /* the file's name in messages; borrowed */
} idm_place;

/* A path as it was given. */
idm_place idm_place_of(const char *path);
/* Whether a place is in a folder, so that only a regular file is accepted there. */
bool idm_place_inside(const idm_place *place);
/* Whether something has that name, a dangling link included. */
bool idm_place_exists(const idm_place *place);
/* IDM_INPUT, with the name and the kind, where a place in a folder is neither free nor a regular
 * file. Any path is accepted. */
idm_status idm_place_check(const idm_place *place, idm_error *opt_error);
/* IDM_INPUT where a path leads to a pipe or a socket, for a file that is read more than once. */
idm_status idm_place_check_again(const idm_place *place, idm_error *opt_error);
/* Open a file for reading. */
idm_status idm_place_open(const idm_place *place, int *ret_descriptor, idm_error *opt_error);
/* Open a file that another file names: a path too must lead to a regular file. */
idm_status idm_place_open_named(const idm_place *place, int *ret_descriptor, idm_error *opt_error);
/* What a mode describes: "a folder", "a symbolic link", ... */
const char *idm_place_kind(mode_t mode);

#endif
