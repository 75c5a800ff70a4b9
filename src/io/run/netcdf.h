/* run.nc: what its writer and its reader agree on.
 *
 * The file is a netCDF-4 (HDF5) image followed by a seal, the SHA-256 of the image. HDF5 reads up
 * to the end that its own header states and does not see the seal; we look at the seal first,
 * because HDF5 does not withstand damaged bytes (flipped ones crash or hang libhdf5 1.10.8). */
#ifndef IDM_IO_RUN_NETCDF_H
#define IDM_IO_RUN_NETCDF_H

#include <stddef.h>

#include "idm/status.h"

/* What stands before the 64 hexadecimal digits; a newline ends the seal. */
#define IDM_SEAL_PREFIX "\n# idm run, SHA-256 "
enum { IDM_SEAL_LENGTH = sizeof IDM_SEAL_PREFIX - 1 + 64 + 1 };

/* What idm_answer is called, in its order; NULL at the end. */
extern const char *const idm_netcdf_answers[];

/* The seal of an image, NUL-terminated. */
void idm_seal(const void *image, size_t length, char seal[IDM_SEAL_LENGTH + 1]);
/* Write an image and its seal. */
idm_status idm_seal_write(const void *image, size_t length, const char *path, idm_error *opt_error);

#endif
