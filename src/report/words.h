/* Internal interface of the sentences and titles of a report.
 *
 * Contents: words · titles · methods */
#ifndef IDM_REPORT_WORDS_H
#define IDM_REPORT_WORDS_H

#include "idm/extension/posterior.h"
#include "report/markup.h"
#include "report/report.h"

/* === words ================================================================================== */

/* Sentences of a report. */

/* "Which alpha and 1/beta explain 5,000 decisions in 1,000 trajectories of diag?" */
void idm_text_question(const idm_plot_subject *subject, idm_markup *to);
/* "1/beta is 0.26, between 0.15 and 0.35 with a probability of 90 %; ..." */
void idm_text_result(const idm_plot_subject *subject, idm_markup *to);

/* === titles ================================================================================= */

/* Displayed names of the quantities of a run. */

/* Name of a quantity: "log alpha", and of people and groups "sd of log alpha", "log alpha, site 2".
 * Written to buffer, which is returned. */
const char *idm_title_quantity(const idm_posterior *posterior, size_t quantity, char *buffer,
                               size_t size);
/* Name of a series: "log alpha", "differences in log alpha". */
const char *idm_title_series(const idm_posterior *posterior, size_t series, char *buffer,
                             size_t size);
/* Name of an item of a series: its label; both labels for a pair of numbers. */
const char *idm_title_item(const idm_posterior *posterior, size_t series, size_t item, char *buffer,
                           size_t size);
/* Returns true if a series is along the axis with this name. */
bool idm_series_is_along(const idm_posterior *posterior, size_t series, const char *axis);

/* === methods ================================================================================ */

/* A paragraph for the methods of a paper: data, model, priors, hierarchy and inference. */

void idm_methods_write(const idm_plot_subject *subject, idm_markup *to);
/* References of the paragraph; NULL at the end. */
extern const char *const idm_methods_references[];

#endif
