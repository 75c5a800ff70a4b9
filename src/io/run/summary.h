/* summary.json at places: see idm/request.h. */
#ifndef IDM_IO_RUN_SUMMARY_H
#define IDM_IO_RUN_SUMMARY_H

#include "idm/request.h"
#include "io/place.h"

idm_status idm_summary_write_at(const idm_posterior *posterior, const idm_assessment *assessment,
                                const idm_projection *opt_projection, const idm_place *place,
                                idm_error *opt_error);
idm_status idm_summary_read_at(const idm_place *place, const idm_posterior *posterior,
                               idm_assessment *assessment, idm_error *opt_error);

#endif
