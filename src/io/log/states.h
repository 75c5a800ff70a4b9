/* States of a log, where they are observed. */
#ifndef IDM_IO_LOG_STATES_H
#define IDM_IO_LOG_STATES_H

#include "io/log/log.h"

/* Let the state on a row say what was seen on the row before, and where its trajectory starts. A
 * last row with a state and no action only says what was seen: it leaves `first` and the order,
 * which is made where there was none. *ret_closing counts such rows. */
idm_status idm_log_settle_states(idm_log *log, size_t *first, uint32_t **order, size_t *ret_closing,
                                 idm_error *opt_error);

#endif
