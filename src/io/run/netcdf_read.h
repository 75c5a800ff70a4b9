/* run.nc read from a place: see idm/run.h. */
#ifndef IDM_IO_RUN_NETCDF_READ_H
#define IDM_IO_RUN_NETCDF_READ_H

#include "idm/run.h"
#include "io/place.h"

idm_status idm_posterior_read_netcdf_at(const idm_place *place, idm_posterior **ret_posterior,
                                        idm_error *opt_error);

#endif
