/* The log's own summaries beside what the answer predicts of them, as the verdict compares them. */
#ifndef IDM_INVERT_ASSESS_PREDICTIONS_H
#define IDM_INVERT_ASSESS_PREDICTIONS_H

#include "idm/assess.h"

/* One of them: decisions of some kind, as shares of those that could have been of it. Predictions
 * are what is left to chance by an answer that was fitted to the same decisions (see residual.h).
 * Answers that come from elsewhere, or are too far from the log's own for that, predict by
 * themselves. Rates of actions sum to 1 over a group, and every interval contains its expectation.
 */
typedef struct idm_prediction {
  idm_model_test
      test;        /* that it is a part of: steps, ends, stays, returns, responses, conditions */
  size_t group;    /* of rates of actions the step, observation or condition; else its own */
  char label[200]; /* "step 2, monitor" */
  double chances;  /* decisions that could have been; of rates all decisions of the group */
  double observed; /* of the log */
  double expected;
  double low; /* 95 % of replicates of the decisions */
  double high;
  double inner_low; /* and half of them */
  double inner_high;
} idm_prediction;

typedef struct idm_predictions {
  size_t count;
  idm_prediction *one; /* by test */
} idm_predictions;

/* At the draw of highest density; none where it cannot be planned for, or nothing was decided.
 * IDM_INPUT where the draws are not of the problem's free numbers. */
idm_status idm_predictions_find(const idm_problem *problem, const idm_data *data,
                                const idm_posterior *posterior, idm_predictions *ret_predictions,
                                idm_error *opt_error);
void idm_predictions_clear(idm_predictions *predictions);

#endif
