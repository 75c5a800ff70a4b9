/* The seal of run.nc. */
#ifndef IDM_IO_RUN_SEAL_H
#define IDM_IO_RUN_SEAL_H

#include <stddef.h>

#include "io/place.h"

/* What stands before the 64 hexadecimal digits; a newline ends the seal. */
#define IDM_SEAL_PREFIX "\n# idm run, SHA-256 "
enum { IDM_SEAL_LENGTH = sizeof IDM_SEAL_PREFIX - 1 + 64 + 1 };

/* The seal of an image, NUL-terminated. */
void idm_seal(const void *image, size_t length, char seal[IDM_SEAL_LENGTH + 1]);
/* Write an image and its seal. */
idm_status idm_seal_write(const void *image, size_t length, const idm_place *place,
                          idm_error *opt_error);

#endif
