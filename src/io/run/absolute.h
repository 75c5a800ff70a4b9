/* Paths that are good from every folder. */
#ifndef IDM_IO_RUN_ABSOLUTE_H
#define IDM_IO_RUN_ABSOLUTE_H

#include "idm/request.h"

/* Let a request name problem and log by absolute paths; a path stays as it was given where its
 * absolute form cannot be had, or could not be named. */
void idm_request_make_absolute(idm_request *request);

#endif
