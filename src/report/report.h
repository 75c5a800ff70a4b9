/* Reports: the results of a run, an audit or a study as one HTML page. */
#ifndef IDM_REPORT_REPORT_H
#define IDM_REPORT_REPORT_H

#include "base/door.h"
#include "report/plot.h"

/* Write a report as HTML text. For a study, the subject holds its folder and its calibration. For a
 * run or an audit, it holds the folder, the problem as fitted, the posterior, the assessment and,
 * if available, the log; without a log, the sections that need it are replaced by a remark.
 * *ret_text is freed by the caller with free(). */
IDM_CHECKED idm_status idm_report_make(const idm_plot_subject *subject, char **ret_text,
                                       idm_notes *opt_notes, idm_error *opt_error);
/* The same into a file; "-" is standard output. */
IDM_CHECKED idm_status idm_report_write(const idm_plot_subject *subject, const char *path,
                                        idm_notes *opt_notes, idm_error *opt_error);

#endif
