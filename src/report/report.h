/* Pages: reports of runs, audits and studies, and the interactive page of an agent.
 *
 * Contents: report · explorer */
#ifndef IDM_REPORT_REPORT_H
#define IDM_REPORT_REPORT_H

#include "base/arguments.h"
#include "idm/extension/problem.h"
#include "report/plot.h"

/* === report ================================================================================= */

/* Reports: the results of a run, an audit or a study as one HTML page. */

/* Write a report as HTML text. For a study, the subject holds its folder and its calibration. For a
 * run or an audit, it holds the folder, the problem as fitted, the posterior, the assessment and,
 * if available, the log; without a log, the sections that need it are replaced by a remark.
 * *ret_text is freed by the caller with free(). */
IDM_CHECKED idm_status idm_report_make(const idm_plot_subject *subject, char **ret_text,
                                       idm_notes *opt_notes, idm_error *opt_error);
/* The same into a file; "-" is standard output. */
IDM_CHECKED idm_status idm_report_write(const idm_plot_subject *subject, const char *path,
                                        idm_notes *opt_notes, idm_error *opt_error);

/* === explorer =============================================================================== */

/* Interactive page of an agent: parameters, policy, an episode and a log in one HTML file that
 * needs neither a network connection nor this library. */

/* True if this build can write such pages. The page contains the library compiled to WebAssembly,
 * which needs a suitable compiler at build time. */
IDM_CHECKED bool idm_explorer_available(void);
/* Write the page of a problem to a file; path "-" is standard output. IDM_SYSTEM if this build has
 * no WebAssembly support; the message names the packages to install. */
IDM_CHECKED idm_status idm_explorer_write(const idm_problem *problem, const char *path,
                                          idm_error *opt_error);

#endif
