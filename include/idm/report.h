/* Reports: what a run found, as one page that a person can read and send on. */
#ifndef IDM_REPORT_H
#define IDM_REPORT_H

#include "idm/plot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a study: its folder and what was read of it. Of a run or an audit: its folder, its problem as
 * it was fitted, its posterior and assessment, and its log where that is still to be had: without
 * it parts of the report say so. The page is for the caller to free. */
IDM_API idm_status idm_report_make(const idm_plot_subject *subject, char **ret_text,
                                   idm_notes *opt_notes, idm_error *opt_error);
/* The same into a file. */
IDM_API idm_status idm_report_write(const idm_plot_subject *subject, const char *path,
                                    idm_notes *opt_notes, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
