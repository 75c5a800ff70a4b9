/* A paragraph for the methods of a paper: data, model, priors, hierarchy and inference. */
#ifndef IDM_REPORT_METHODS_H
#define IDM_REPORT_METHODS_H

#include "idm/report.h"
#include "report/markup.h"

void idm_methods_write(const idm_plot_subject *subject, idm_markup *to);
/* Works that the paragraph refers to; NULL at the end. */
extern const char *const idm_methods_references[];

#endif
