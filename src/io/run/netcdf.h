/* run.nc: what its writer and its reader agree on.
 *
 * The file is a netCDF-4 (HDF5) image followed by a seal, the SHA-256 of the image. HDF5 reads up
 * to the end that its own header states and does not see the seal; we look at the seal first,
 * because HDF5 does not withstand damaged bytes (flipped ones crash or hang libhdf5 1.10.8). */
#ifndef IDM_IO_RUN_NETCDF_H
#define IDM_IO_RUN_NETCDF_H

#include <netcdf.h>
#include <netcdf_mem.h>

#include "base/library.h"
#include "idm/status.h"

/* The functions of netCDF that are called. The library is loaded with the first run.nc: HDF5, curl
 * and LDAP come with it, forty libraries that no other file needs. */
#define IDM_NETCDF_FUNCTIONS(X)                                                                    \
  X(nc_close)                                                                                      \
  X(nc_close_memio)                                                                                \
  X(nc_create_mem)                                                                                 \
  X(nc_def_dim)                                                                                    \
  X(nc_def_grp)                                                                                    \
  X(nc_def_var)                                                                                    \
  X(nc_def_var_chunking)                                                                           \
  X(nc_def_var_deflate)                                                                            \
  X(nc_free_string)                                                                                \
  X(nc_get_att)                                                                                    \
  X(nc_get_att_string)                                                                             \
  X(nc_get_var_double)                                                                             \
  X(nc_get_var_string)                                                                             \
  X(nc_inq_att)                                                                                    \
  X(nc_inq_dimid)                                                                                  \
  X(nc_inq_dimlen)                                                                                 \
  X(nc_inq_dimname)                                                                                \
  X(nc_inq_grp_ncid)                                                                               \
  X(nc_inq_vardimid)                                                                               \
  X(nc_inq_varid)                                                                                  \
  X(nc_inq_varids)                                                                                 \
  X(nc_inq_varname)                                                                                \
  X(nc_inq_varndims)                                                                               \
  X(nc_inq_vartype)                                                                                \
  X(nc_open_mem)                                                                                   \
  X(nc_put_att_int)                                                                                \
  X(nc_put_att_double)                                                                             \
  X(nc_put_att_longlong)                                                                           \
  X(nc_put_att_string)                                                                             \
  X(nc_put_att_ulonglong)                                                                          \
  X(nc_put_var_double)                                                                             \
  X(nc_put_var_int)                                                                                \
  X(nc_put_var_longlong)                                                                           \
  X(nc_put_var_string)                                                                             \
  X(nc_put_vara_double)                                                                            \
  X(nc_set_fill)                                                                                   \
  X(nc_strerror)

typedef struct idm_netcdf_functions {
  IDM_NETCDF_FUNCTIONS(IDM_LIBRARY_POINTER)
} idm_netcdf_functions;

/* Filled by idm_netcdf_load. */
extern idm_netcdf_functions idm_netcdf;

/* Load netCDF if it is not loaded yet; IDM_SYSTEM if this machine has none. */
idm_status idm_netcdf_load(idm_error *opt_error);

/* What idm_answer is called, in its order; NULL at the end. */
extern const char *const idm_netcdf_answers[];

#endif
