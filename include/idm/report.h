/* Reports: what a run found, as one page that a person can read and send on. */
#ifndef IDM_REPORT_H
#define IDM_REPORT_H

#include "idm/plot.h"
#include "idm/request.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a report is of. */
typedef struct idm_report_subject {
  idm_plot_subject of; /* folder, problem (as the run has it), posterior and assessment; the log
                          where it is still to be had: without it parts of the report say so */
  const idm_request *request; /* of the run */
} idm_report_subject;

/* The page, for the caller to free. */
IDM_API idm_status idm_report_make(const idm_report_subject *subject, char **ret_text,
                                   idm_notes *opt_notes, idm_error *opt_error);
/* The same into a file. */
IDM_API idm_status idm_report_write(const idm_report_subject *subject, const char *path,
                                    idm_notes *opt_notes, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
