/* The door of a public function: what it is given, looked at before it is used. */
#ifndef IDM_BASE_DOOR_H
#define IDM_BASE_DOOR_H

#include "idm/status.h"

/* IDM_USAGE with the name of the first of `count` pointers that is NULL; names are "a, b, c". */
idm_status idm_door(const char *function, const void *const *given, size_t count, const char *names,
                    idm_error *opt_error);

/* Return from a function that has opt_error and gives a status, unless all pointers are given. */
#define idm_require(...)                                                                           \
  do {                                                                                             \
    const void *const given_[] = {__VA_ARGS__};                                                    \
    const idm_status door_ =                                                                       \
        idm_door(__func__, given_, sizeof given_ / sizeof given_[0], #__VA_ARGS__, opt_error);     \
    if (door_ != IDM_OK) return door_;                                                             \
  } while (0)

#endif
