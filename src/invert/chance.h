/* What somebody reaches who knows nothing of what was seen. */
#ifndef IDM_INVERT_CHANCE_H
#define IDM_INVERT_CHANCE_H

#include "idm/data.h"

/* Log-likelihoods of the decisions of a log (rows with an action of which more than one was open)
 * under policies that look at nothing. */
typedef struct idm_chance {
  uint64_t decisions;
  double uniform; /* every open action alike */
  double rates;   /* each action in proportion to a weight of its own, at the best weights */
} idm_chance;

/* The log-loss of a decision, nats: never below 0, as a sum of rounded logarithms may be, nor -0.
 */
double idm_log_loss(double log_likelihood, double decisions);
/* The share of a log-loss that a better one takes away (pseudo-R2); NaN where there is none to take
 * away. */
double idm_share_explained(double log_loss, double of);
idm_status idm_chance_measure(const idm_data *data, idm_chance *chance, idm_error *opt_error);

#endif
