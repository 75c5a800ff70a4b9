/* Functions of the rows of the table of checks (idm/check.h). */
#ifndef IDM_INVERT_ASSESS_CHECKS_H
#define IDM_INVERT_ASSESS_CHECKS_H

#include "invert/assess/inquiry.h"
#include "invert/check.h"

/* Measures, records in q->assessment->checks, and adds sentences to its notes. Rows of the log have
 * an open fit q->f, other rows none. What is not recorded is not run, for want of what the row
 * needs. */
typedef idm_status idm_check_function(const inquiry *q, idm_error *opt_error);

#define DECLARE(id, function, ...) idm_check_function function;
#define IGNORE(...)
IDM_CHECK_LIST(DECLARE, IGNORE)
#undef DECLARE
#undef IGNORE

/* Run the rows of the log, or those that need none, in the order of the table. IDM_UNTRUSTED where
 * the watch stops it. */
idm_status idm_check_rows(const inquiry *q, bool log, const idm_fit_watch *opt_watch,
                          idm_error *opt_error);
/* Whether a row of the log judges the model, or modes that draws miss. */
bool idm_check_is_of_model(idm_check_id id);
/* Settings of the fit that is opened to assess a posterior. */
idm_fit_settings idm_assess_settings(const idm_posterior *posterior, int threads);
/* The kind of answer that a posterior is. */
idm_check_kind idm_check_kind_of(const idm_posterior *posterior);
/* Whether it does not come from the likelihood of the decisions. */
bool idm_check_is_elsewhere(const idm_posterior *posterior);

#endif
