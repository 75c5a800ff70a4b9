/* Draws in files: run.nc, and CSV in the layout of CmdStan.
 *
 * Contents: netcdf · netcdf read · netcdf write · arrays · statistics · stan */
#ifndef IDM_IO_RUN_NETCDF_H
#define IDM_IO_RUN_NETCDF_H

#include <netcdf.h>
#include <netcdf_mem.h>

#include "base/system.h"
#include "idm/extension/posterior.h"
#include "idm/extension/sampler.h"
#include "idm/status.h"
#include "io/file.h"
#include "io/run.h"

/* === netcdf ================================================================================= */

/* run.nc: definitions for its writer and its reader.
 *
 * The file is a netCDF-4 (HDF5) image followed by a trailer, the SHA-256 of the image. HDF5 reads
 * up to the end given in its own header and ignores the trailer. The reader checks the trailer
 * first, because HDF5 is not robust against damaged bytes (flipped ones crash or hang libhdf5
 * 1.10.8). */

/* The netCDF functions in use. The library is loaded with the first run.nc, since it loads HDF5,
 * curl and LDAP, forty libraries that no other file needs. */
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

/* Load netCDF if it is not loaded yet; IDM_SYSTEM if it is not installed. */
idm_status idm_netcdf_load(idm_error *opt_error);

/* Names of idm_estimate_kind, in its order; NULL at the end. */
extern const char *const idm_netcdf_answers[];

/* === netcdf read ============================================================================ */

/* Read run.nc at a location; see io/run.h. */

idm_status idm_posterior_read_netcdf_at(const idm_location *place, idm_posterior **ret_posterior,
                                        idm_error *opt_error);

/* === netcdf write =========================================================================== */

/* Write run.nc at a location; see io/run.h. */

idm_status idm_posterior_write_netcdf_at(const idm_posterior *posterior, const idm_problem *problem,
                                         const idm_data *opt_data, const idm_location *place,
                                         idm_error *opt_error);

/* === arrays ================================================================================= */

/* Arrays of a run's file: adjacent quantities that are numbers of one block. */

enum { IDM_ARRAY_RANK = 4 };

/* A part of a block that is a Cartesian product: some indices of every axis, in all combinations.
 */
typedef struct idm_array {
  size_t first;                 /* index of its first quantity */
  size_t count;                 /* number of quantities; 1: a single quantity, without axes */
  const idm_block *block;       /* if there are several; borrowed */
  const idm_series *opt_series; /* if they are along an axis of the posterior; borrowed */
  size_t rank;
  size_t length[IDM_ARRAY_RANK];
  size_t *place[IDM_ARRAY_RANK]; /* [length]: indices along the axis */
} idm_array;

/* Partition a list of names into arrays of maximal length. Names of opaque blocks, of tied entries
 * and of parts that are not Cartesian products are single quantities. An array ends where opt_flag
 * changes. */
idm_status idm_arrays_create(const idm_labels *names, const size_t *opt_size, const bool *opt_flag,
                             const idm_problem *problem, idm_array **ret_arrays, size_t *ret_count,
                             idm_error *opt_error);
/* Arrays of the quantities of a posterior along its axes, and its single quantities. */
idm_status idm_arrays_series(const idm_posterior *posterior, idm_array **ret_arrays,
                             size_t *ret_count, idm_error *opt_error);
void idm_arrays_destroy(idm_array *arrays, size_t count);

/* === statistics ============================================================================= */

/* Statistics of a draw in files: one table for writers and readers. */

typedef struct idm_statistic {
  const char *name; /* in ArviZ's schema */
  const char *stan; /* in CmdStan's CSV */
  nc_type type;     /* double: a double; otherwise an int, a long or a bool by `size` */
  size_t offset;    /* in idm_statistics */
  size_t size;
  bool optional; /* omitted if no draw has it: NaN, or -1 */
} idm_statistic;

enum { IDM_STATISTIC_COUNT = 7 };
extern const idm_statistic idm_statistic_list[IDM_STATISTIC_COUNT];

double idm_statistic_get(const idm_statistic *statistic, const idm_statistics *from);
void idm_statistic_set(const idm_statistic *statistic, idm_statistics *to, double value);
/* Returns true if a draw has it. */
bool idm_statistic_given(const idm_statistic *statistic, const idm_statistics *from);

/* === stan =================================================================================== */

/* Write CSV in the layout of CmdStan at a location; see io/run.h. */

idm_status idm_posterior_write_stan_at(const idm_posterior *posterior, size_t chain,
                                       const idm_location *place, idm_error *opt_error);

#endif
