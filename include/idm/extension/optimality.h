/* Optimality report: certificate, unidentified directions and policy of a point estimate that is
 * not based on the likelihood. */
#ifndef IDM_EXTENSION_OPTIMALITY_H
#define IDM_EXTENSION_OPTIMALITY_H

#include "idm/extension/setting.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Quality of an answer that is not a posterior by the likelihood, and the directions that the data
 * do not identify. */
typedef struct idm_optimality {
  double objective;     /* value of the objective of the inverse planner */
  char certificate[32]; /* measure of optimality: "duality gap", "gradient norm", ... */
  double attained;      /* value of that measure at the answer */
  double closed;        /* largest value of it at which the answer counts as optimal */
  size_t free;          /* number of free numbers, in the order of the answer's coordinates */
  bool evaluated;       /* unidentified directions were computed */
  size_t open;       /* number of directions in which the numbers can change without a change of the
                        objective */
  double *direction; /* [open][free]; NULL if there are none */
  double *range; /* [free][2]: ends of the intervals of a set-valued answer; NULL for all others */
  bool *at_box;  /* [free][2]: true if that end is set by the box constraint and not by the data */
  idm_labels state; /* labels of the policy; empty if there is none */
  idm_labels action;
  double *policy;   /* [state][action]: policy of the planner at the answer, if states are observed,
                       or the policy that the inverse planner itself computes */
  double *count;    /* [state][action] of the log, if the policy is compared with the action
                       frequencies; NULL otherwise */
  bool compared;    /* trajectories were compared by preferences, not imitated: the log need not be
                       behaviour that is optimal for the utility found */
  idm_notes words;  /* remarks, as sentences */
  idm_notes faults; /* reasons not to trust the answer, regardless of the certificate */
} idm_optimality;

/* Allocate a report of an answer with that many free numbers, owned by the caller. */
IDM_API idm_status idm_optimality_create(size_t numbers, idm_optimality **ret_optimality,
                                         idm_error *opt_error);
/* Free a report. Accepts NULL. */
IDM_API void idm_optimality_destroy(idm_optimality *optimality);

#ifdef __cplusplus
}
#endif
#endif
