/* The price on utilities of regularised-margin, chosen by held-out decisions. */
#ifndef IDM_INVERT_UTILITY_LAMBDA_H
#define IDM_INVERT_UTILITY_LAMBDA_H

#include "invert/utility/asked.h"
#include "invert/utility/soft_agent.h"

typedef struct idm_lambda {
  double value;    /* of least loss; of several the least */
  double log_loss; /* of held-out decisions at it, in nats a decision */
  double least;    /* of the values that were compared */
  double most;
  size_t folds;
  bool trajectories; /* folds are of whole trajectories; else of runs of decisions */
} idm_lambda;

/* After idm_asked_demonstrator: compare decades of alpha by cross-validation, with the occupancy of
 * the policy. The folds follow from the seed of the settings. With fewer than 10 decisions there
 * are no folds, and it is 100. */
idm_status idm_lambda_choose(idm_asked *asked, const idm_soft_agent *agent, idm_lambda *ret_lambda,
                             idm_error *opt_error);

#endif
