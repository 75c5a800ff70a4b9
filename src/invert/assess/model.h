/* The model's half of the verdict: is it better than chance, does every free number matter, are the
 * agents alike, are the log's own summaries what it predicts? */
#ifndef IDM_INVERT_ASSESS_MODEL_H
#define IDM_INVERT_ASSESS_MODEL_H

#include "invert/assess/inquiry.h"

idm_status idm_assess_model(const inquiry *q, idm_error *opt_error);
/* The row of the checks that a test is recorded in. */
idm_check_id idm_model_test_row(idm_model_test test);

#endif
