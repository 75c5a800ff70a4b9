/* Draws in files: run.nc and CSV as of CmdStan.
 *
 * Contents: netcdf · netcdf read · netcdf write · arrays · statistics · stan */
#ifndef IDM_IO_RUN_NETCDF_H
#define IDM_IO_RUN_NETCDF_H

#include <netcdf.h>
#include <netcdf_mem.h>

#include "base/system.h"
#include "idm/posterior.h"
#include "idm/run.h"
#include "idm/sampler.h"
#include "idm/status.h"
#include "io/file.h"

/* === netcdf ================================================================================= */

/* run.nc: what its writer and its reader agree on.
 *
 * The file is a netCDF-4 (HDF5) image followed by a seal, the SHA-256 of the image. HDF5 reads up
 * to the end that its own header states and does not see the seal; we look at the seal first,
 * because HDF5 does not withstand damaged bytes (flipped ones crash or hang libhdf5 1.10.8). */

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

/* What idm_estimate_kind is called, in its order; NULL at the end. */
extern const char *const idm_netcdf_answers[];

/* === netcdf read ============================================================================ */

/* run.nc read from a place: see idm/run.h. */

idm_status idm_posterior_read_netcdf_at(const idm_location *place, idm_posterior **ret_posterior,
                                        idm_error *opt_error);

/* === netcdf write =========================================================================== */

/* run.nc written to a place: see idm/run.h. */

idm_status idm_posterior_write_netcdf_at(const idm_posterior *posterior, const idm_problem *problem,
                                         const idm_data *opt_data, const idm_location *place,
                                         idm_error *opt_error);

/* === arrays ================================================================================= */

/* Quantities that are the numbers of one block, side by side: arrays of a run's file. */

enum { IDM_ARRAY_RANK = 4 };

/* A part of a block that is whole along each of its axes: some places of every axis, and all their
 * combinations. */
typedef struct idm_array {
  size_t first;                 /* the first of its quantities */
  size_t count;                 /* how many; 1: a quantity by itself, without axes */
  const idm_block *block;       /* of several; borrowed */
  const idm_series *opt_series; /* where they lie along an axis of the posterior; borrowed */
  size_t rank;
  size_t length[IDM_ARRAY_RANK];
  size_t *place[IDM_ARRAY_RANK]; /* [length]: places along the axis */
} idm_array;

/* Cut a list of names into arrays, as long as they can be. Names of opaque blocks, of tied entries
 * and of parts that are not whole stay by themselves, and so do those that differ in opt_flag. */
idm_status idm_arrays_create(const idm_labels *names, const size_t *opt_size, const bool *opt_flag,
                             const idm_problem *problem, idm_array **ret_arrays, size_t *ret_count,
                             idm_error *opt_error);
/* The arrays that the quantities of a posterior lie in, and those by themselves. */
idm_status idm_arrays_series(const idm_posterior *posterior, idm_array **ret_arrays,
                             size_t *ret_count, idm_error *opt_error);
void idm_arrays_destroy(idm_array *arrays, size_t count);

/* === statistics ============================================================================= */

/* What a draw leaves beside its position, as files call it: one table for those that write and
 * read. */

typedef struct idm_statistic {
  const char *name; /* in ArviZ's schema */
  const char *stan; /* in CmdStan's CSV */
  nc_type type;     /* double: a double; else an int, a long or a bool by `size` */
  size_t offset;    /* in idm_statistics */
  size_t size;
  bool optional; /* left out where no draw has it: NaN, or -1 */
} idm_statistic;

enum { IDM_STATISTIC_COUNT = 7 };
extern const idm_statistic idm_statistic_list[IDM_STATISTIC_COUNT];

double idm_statistic_get(const idm_statistic *statistic, const idm_statistics *from);
void idm_statistic_set(const idm_statistic *statistic, idm_statistics *to, double value);
/* Whether a draw has it. */
bool idm_statistic_given(const idm_statistic *statistic, const idm_statistics *from);

/* === stan =================================================================================== */

/* CmdStan's CSV at a place: see idm/run.h. */

idm_status idm_posterior_write_stan_at(const idm_posterior *posterior, size_t chain,
                                       const idm_location *place, idm_error *opt_error);

#endif
