/* run.nc written to a place: see idm/run.h. */
#ifndef IDM_IO_RUN_NETCDF_WRITE_H
#define IDM_IO_RUN_NETCDF_WRITE_H

#include "idm/run.h"
#include "io/place.h"

idm_status idm_posterior_write_netcdf_at(const idm_posterior *posterior, const idm_problem *problem,
                                         const idm_data *opt_data, const idm_place *place,
                                         idm_error *opt_error);

#endif
