/* The paper's proposition, after Ho and Ermon: under a soft planner, utilities at a price zeta and
 * occupancies near by its conjugate zeta*, less entropy, are two sides of one problem. */
#ifndef IDM_PROPOSITION_H
#define IDM_PROPOSITION_H

#include "idm/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Regularisers zeta of utilities v, by entries, and their conjugates, by which occupancies p of the
 * demonstrator and q are apart. `gail` is that of generative adversarial imitation learning. */
typedef enum idm_zeta {
  IDM_ZETA_SQUARED,  /* sum v^2 / (2 scale), scale/2 sum (p - q)^2 */
  IDM_ZETA_ABSOLUTE, /* scale sum |v|, 0 where no |p - q| is above the scale */
  IDM_ZETA_ENTROPY,  /* scale sum v log v - v of v >= 0, scale sum exp((p - q) / scale) */
  IDM_ZETA_GAIL,     /* sum p (v - log(1 - exp(-v))) of v > 0, 2 js - log 4 */
  IDM_ZETA_BOX,      /* 0 where no |v| is above the scale, scale sum |p - q| */
  IDM_ZETA_COUNT
} idm_zeta;
IDM_API const char *idm_zeta_name(idm_zeta zeta);

/* maximum-entropy after a margin with zeta, and a decision rule or a network after matching by
 * zeta* with a weight alpha of entropy, each found without the other. */
typedef struct idm_proposition {
  double alpha;
  idm_zeta zeta;
  double lambda;       /* scale of zeta */
  int units;           /* of the network's hidden layer; 0: a rule of all policies */
  double margin;       /* objective of the margin, */
  double gradient_max; /* and the largest entry of its gradient there */
  double matching;     /* objective of the matching, */
  double gap;          /* and how far from the least it can be, or the largest entry of its gradient
                          and how far it is beyond where zeta* is finite */
  double constant;     /* -alpha log|U|: what the two objectives add up to */
  double difference;   /* largest between the two policies, in states that are come to, */
  double occupancy_difference; /* and between their occupancies of states and actions */
  idm_labels state;
  idm_labels action;
  double *demonstrated; /* [state][action]: the demonstrator's policy */
  double *planned;      /* [state][action]: that of the planner under the utility found */
  double *matched;      /* [state][action]: the one whose occupancy is nearest */
  double *occupancy;    /* [state]: of the latter */
} idm_proposition;

/* Of a problem whose states are observed, its own agent demonstrating. alpha and lambda are above 0
 * and finite; every entry of the utility is free. */
IDM_API idm_status idm_proposition_create(const idm_problem *problem, double alpha, double lambda,
                                          idm_proposition **ret_proposition, idm_error *opt_error);
/* The same of any regulariser, and of a network with so many hidden units (0: a rule): the margin
 * by Newton's method over utilities, the matching by slopes over the numbers of the policy.
 * IDM_INPUT where `gail` has no utility: the demonstrator never takes an action of a state that it
 * comes to.
 */
IDM_API idm_status idm_proposition_create_with(const idm_problem *problem, double alpha,
                                               idm_zeta zeta, double scale, int units,
                                               idm_proposition **ret_proposition,
                                               idm_error *opt_error);
/* Takes NULL. */
IDM_API void idm_proposition_destroy(idm_proposition *proposition);
/* Line `index` of what there is to show, as text: both policies side by side, the objectives, their
 * sum. Returns buffer, or NULL past the last. */
IDM_API const char *idm_proposition_line(const idm_proposition *proposition, size_t index,
                                         char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
