/* Rules that take rows and trajectories. */
#ifndef IDM_IO_LOG_RULES_H
#define IDM_IO_LOG_RULES_H

#include "io/log/held.h"

/* Which rule on rows takes a record (`rules`: none), and whether its cell is missing. */
idm_status idm_rules_take_row(const idm_log *log, size_t *ret_rule, bool *ret_missing,
                              idm_error *opt_error);
/* Order the held rows, and let rules on trajectories take theirs: fills order and reason. */
idm_status idm_rules_take_trajectories(idm_log *log, idm_error *opt_error);

#endif
