/* A run: the folder that `idm fit` leaves behind.
 *
 * netCDF and HDF5 are not safe to use from several threads: no two calls of the netCDF functions
 * below may run at the same time, whatever the files. */
#ifndef IDM_RUN_H
#define IDM_RUN_H

#include "idm/invert.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Write a posterior as netCDF-4 in the layout of ArviZ's InferenceData: groups posterior,
 * unconstrained_posterior, sample_stats, log_likelihood (variable `choice`), prior, observed_data,
 * constant_data (blocks of theta that are clamped; NaN where one is inferred in part). The file
 * appears whole or not at all, holds no date (the same posterior gives the same bytes) and ends in
 * a checksum. It is made in memory first. opt_data NULL: no observed_data.
 *
 * A variable's attribute `long_name` is the exact name of its quantity; the variable has the same
 * name as far as netCDF allows ('/' is written %2F). */
IDM_API idm_status idm_posterior_write_netcdf(const idm_posterior *posterior,
                                              const idm_problem *problem, const idm_data *opt_data,
                                              const char *path, idm_error *opt_error);
/* Read back what the program itself needs: posterior, unconstrained_posterior, sample_stats and
 * attributes; log_likelihood, prior and data stay in the file. A file that is damaged, cut short,
 * or was changed by another program is IDM_INPUT. */
IDM_API idm_status idm_posterior_read_netcdf(const char *path, idm_posterior **ret_posterior,
                                             idm_error *opt_error);
/* One chain in CmdStan's CSV layout: lp__, accept_stat__, of stepsize__, treedepth__, n_leapfrog__
 * (evaluations of the target), divergent__ and energy__ those that the sampler has, then the
 * quantities. Indices are numbers from 1, as readers of the format expect
 * (utility[declare_healthy,healthy] is utility.1.1); comments say which is which. */
IDM_API idm_status idm_posterior_write_stan(const idm_posterior *posterior, size_t chain,
                                            const char *path, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
