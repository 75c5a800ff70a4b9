/* CmdStan's CSV at a place: see idm/run.h. */
#ifndef IDM_IO_RUN_STAN_H
#define IDM_IO_RUN_STAN_H

#include "idm/run.h"
#include "io/place.h"

idm_status idm_posterior_write_stan_at(const idm_posterior *posterior, size_t chain,
                                       const idm_place *place, idm_error *opt_error);

#endif
