/* Rows that are held until they are coded: derived columns and rules, as `data:` states them.
 *
 * While rows come in, each gets the derived cells that it alone decides, and rules on rows drop it
 * or not. Rows that are left are held, by the columns that somebody reads, until all are known;
 * then cut points in standard deviations are found, rules on trajectories apply, the rest is
 * derived, and the rows go on to the log in the order of the files. Memory follows the rows that
 * rules on rows leave. */
#ifndef IDM_IO_LOG_CODING_H
#define IDM_IO_LOG_CODING_H

#include "idm/intake.h"
#include "io/log/header.h"

struct idm_log;
typedef struct idm_coding idm_coding;
typedef idm_status idm_coding_sink(struct idm_log *log, const idm_csv_field *field,
                                   idm_error *opt_error);

/* Add the derived columns to a header of the log, whose roles are not mapped yet. A log that holds
 * them already, and none that they are made from, is read as it stands. */
idm_status idm_coding_extend(struct idm_log *log, idm_log_header *header, idm_error *opt_error);
/* Once the log's header is mapped: find the columns of derivations and rules in it. */
idm_status idm_coding_map(struct idm_log *log, idm_error *opt_error);
/* Take a record of the file. */
idm_status idm_coding_take(struct idm_log *log, const idm_csv_field *field, idm_error *opt_error);
/* All files are read: hand the rows that are left to `sink`. */
idm_status idm_coding_finish(struct idm_log *log, idm_coding_sink *sink, idm_error *opt_error);
/* Derived columns whose cut points were found in the log. */
size_t idm_coding_cuts(const idm_coding *coding);
idm_status idm_coding_report(const idm_coding *coding, idm_intake *intake, idm_error *opt_error);
/* Takes NULL. */
void idm_coding_destroy(idm_coding *coding);

#endif
