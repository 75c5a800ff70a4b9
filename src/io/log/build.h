/* From rows as they came to evidence. */
#ifndef IDM_IO_LOG_BUILD_H
#define IDM_IO_LOG_BUILD_H

#include "io/log/log.h"

/* Two rows of one trajectory have the same time. */
idm_status idm_log_fail_twice(const char *file, uint32_t earlier, uint32_t later, uint32_t column,
                              idm_error *opt_error);
/* Group, order and check the rows, and move what the log holds into evidence. *ret_closing counts
 * those that only say where a trajectory went: they are no decisions. */
idm_status idm_log_build(idm_log *log, idm_data **ret_data, size_t *ret_closing,
                         idm_error *opt_error);

#endif
