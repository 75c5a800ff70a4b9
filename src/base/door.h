/* The door of a public function: what it is given, looked at before it is used. */
#ifndef IDM_BASE_DOOR_H
#define IDM_BASE_DOOR_H

#include "idm/status.h"

/* IDM_USAGE with the name of the first of `count` pointers that is NULL; names are "a, b, c". */
idm_status idm_check_arguments(const char *function, const void *const *pointers, size_t count,
                               const char *names, idm_error *opt_error);

/* Return from a function that has opt_error and gives a status, unless all pointers are given. */
#define idm_require(...)                                                                           \
  do {                                                                                             \
    const void *const pointers_[] = {__VA_ARGS__};                                                 \
    const idm_status check_ = idm_check_arguments(                                                 \
        __func__, pointers_, sizeof pointers_ / sizeof pointers_[0], #__VA_ARGS__, opt_error);     \
    if (check_ != IDM_OK) return check_;                                                           \
  } while (0)

#endif
