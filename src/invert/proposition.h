/* The paper's proposition, after Ho and Ermon: for a soft planner, the problem of maximum margin
 * with a regulariser zeta of utilities and the problem of occupancy matching with its conjugate
 * zeta*, minus entropy, are dual. */
#ifndef IDM_INVERT_PROPOSITION_H
#define IDM_INVERT_PROPOSITION_H

#include "base/arguments.h"
#include "idm/extension/problem.h"

/* Regularisers zeta of utilities v, by entry, and their conjugates, which measure the distance
 * between the occupancies p of the demonstrator and q of the policy. `gail` is the regulariser of
 * generative adversarial imitation learning. */
typedef enum idm_zeta {
  IDM_ZETA_SQUARED,  /* sum v^2 / (2 scale), scale/2 sum (p - q)^2 */
  IDM_ZETA_ABSOLUTE, /* scale sum |v|, 0 if max |p - q| <= scale, else inf */
  IDM_ZETA_ENTROPY,  /* scale sum v log v - v for v >= 0, scale sum exp((p - q) / scale) */
  IDM_ZETA_GAIL,     /* sum p (v - log(1 - exp(-v))) for v > 0, 2 js - log 4 */
  IDM_ZETA_BOX,      /* 0 if max |v| <= scale, else inf; scale sum |p - q| */
  IDM_ZETA_COUNT
} idm_zeta;
/* Name of a regulariser; NULL if out of range. */
IDM_CHECKED const char *idm_zeta_name(idm_zeta zeta);

/* Numerical check of the duality: maximum-entropy after margin maximisation with zeta, and a
 * decision rule or a network after matching by zeta* with weight alpha of entropy; the two problems
 * are solved independently. */
typedef struct idm_proposition {
  double alpha;
  idm_zeta zeta;
  double lambda; /* scale of zeta */
  int units;     /* units of the network's hidden layer; 0: a decision rule without restriction */
  double margin; /* objective of margin maximisation */
  double gradient_max; /* largest entry of its gradient at the solution */
  double matching;     /* objective of occupancy matching */
  double gap; /* its optimality gap (rule), or largest entry of its gradient and violation of the
                 domain of zeta* (network) */
  double constant;   /* -alpha log|U|: the theoretical sum of the two objectives */
  double difference; /* largest difference between the two policies in states that are visited */
  double occupancy_difference; /* largest difference between the occupancies */
  idm_labels state;
  idm_labels action;
  double *demonstrated; /* [state][action]: the demonstrator's policy */
  double *planned;      /* [state][action]: policy of the planner under the utility found */
  double *matched;      /* [state][action]: policy found by occupancy matching */
  double *occupancy;    /* [state]: occupancy under the matched policy */
} idm_proposition;

/* Solve both problems with the squared regulariser for a problem with observed states, with its own
 * agent as demonstrator. alpha and lambda must be positive and finite; every entry of the utility
 * is free. *ret_proposition is owned by the caller. */
IDM_CHECKED idm_status idm_proposition_create(const idm_problem *problem, double alpha,
                                              double lambda, idm_proposition **ret_proposition,
                                              idm_error *opt_error);
/* The same with any regulariser, and a network with `units` hidden units (0: a decision rule):
 * margin maximisation by Newton's method over utilities, occupancy matching by a gradient method
 * over the parameters of the policy. IDM_INPUT if `gail` has no utility: in a visited state the
 * demonstrator never takes some action. */
IDM_CHECKED idm_status idm_proposition_create_with(const idm_problem *problem, double alpha,
                                                   idm_zeta zeta, double scale, int units,
                                                   idm_proposition **ret_proposition,
                                                   idm_error *opt_error);
/* Free the result. Accepts NULL. */
IDM_CHECKED void idm_proposition_destroy(idm_proposition *proposition);
/* Line number `index` of a text report: both policies side by side, the objectives, and their sum.
 * Returns buffer, or NULL past the last line. */
IDM_CHECKED const char *idm_proposition_line(const idm_proposition *proposition, size_t index,
                                             char *buffer, size_t size);

#endif
