/* The paper's proposition, after Ho and Ermon: under a soft planner, utilities at a price on their
 * squares and occupancies near in squares less entropy are two sides of one problem. */
#ifndef IDM_PROPOSITION_H
#define IDM_PROPOSITION_H

#include "idm/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* maximum-entropy after regularised-margin, and the decision rule after distribution-matching
 * (squared, entropy alpha), each found without the other. */
typedef struct idm_proposition {
  double alpha;
  double lambda;
  double margin;     /* objective of regularised-margin, */
  double slope;      /* and the largest entry of its gradient there */
  double matching;   /* objective of distribution-matching, */
  double gap;        /* and how far from the least it can be */
  double constant;   /* -alpha log|U|: what the two objectives add up to */
  double difference; /* largest between the two policies, in states that are come to */
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
