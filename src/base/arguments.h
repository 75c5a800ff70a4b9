/* Checks of the pointer arguments of public functions. */
#ifndef IDM_BASE_ARGUMENTS_H
#define IDM_BASE_ARGUMENTS_H

#include <stddef.h>

#include "idm/status.h"

/* Marks a function that refuses arguments that are NULL or belong to another problem;
 * tests/arguments.py calls each. */
#define IDM_CHECKED

/* IDM_USAGE with the name of the first NULL among pointers[count]; `names` is "a, b, c". Else
 * IDM_OK. */
idm_status idm_check_arguments(const char *function, const void *const *pointers, size_t count,
                               const char *names, idm_error *opt_error);

/* Copy a struct of a caller, whose first field is its size, into `to` of `known` bytes, zeroed
 * before. `least` is the size of its version 1.0, and the least accepted; a struct of a later
 * version may be longer, if the fields that this version lacks are 0. Else IDM_USAGE with the name
 * of the struct. */
idm_status idm_struct_read(void *to, size_t known, size_t least, const void *from, const char *name,
                           idm_error *opt_error);
/* Size of a struct whose last field is `field`, without padding. */
#define IDM_SIZE_UP_TO(type, field) (offsetof(type, field) + sizeof((type){0}.field))

/* Return from the calling function where an argument is NULL. That function has a parameter
 * opt_error and returns an idm_status. */
#define idm_require(...)                                                                           \
  do {                                                                                             \
    const void *const pointers_[] = {__VA_ARGS__};                                                 \
    const idm_status check_ = idm_check_arguments(                                                 \
        __func__, pointers_, sizeof pointers_ / sizeof pointers_[0], #__VA_ARGS__, opt_error);     \
    if (check_ != IDM_OK) return check_;                                                           \
  } while (0)

#endif
