/* From rows as they came to evidence. */
#ifndef IDM_IO_LOG_BUILD_H
#define IDM_IO_LOG_BUILD_H

#include "io/log/log.h"

/* Group, order and check the rows, and move what the log holds into evidence. */
idm_status idm_log_build(idm_log *log, idm_data **ret_data, idm_error *opt_error);

#endif
