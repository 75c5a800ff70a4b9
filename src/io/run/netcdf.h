/* run.nc: what its writer and its reader agree on.
 *
 * The file is a netCDF-4 (HDF5) image followed by a seal, the SHA-256 of the image. HDF5 reads up
 * to the end that its own header states and does not see the seal; we look at the seal first,
 * because HDF5 does not withstand damaged bytes (flipped ones crash or hang libhdf5 1.10.8). */
#ifndef IDM_IO_RUN_NETCDF_H
#define IDM_IO_RUN_NETCDF_H

#include <stddef.h>

#include "idm/status.h"

/* What idm_answer is called, in its order; NULL at the end. */
extern const char *const idm_netcdf_answers[];

#endif
