/* Findings: what an inverse planner says of its answer beside the numbers themselves. */
#ifndef IDM_FINDING_H
#define IDM_FINDING_H

#include "idm/setting.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of an answer that is no posterior by the likelihood: how good it is, and what the data leave
 * open. */
typedef struct idm_optimality {
  double objective;     /* value of the row's own expression */
  char certificate[32]; /* what shows that it is attained: "duality gap", "gradient norm", ... */
  double attained;      /* how far it is from being shown, in the certificate's own measure */
  double closed;        /* and how far it may be: at most this, or it is not shown */
  size_t free;          /* free numbers, in the order of the answer's coordinates */
  bool evaluated;       /* what the data leave open was looked for */
  size_t open;       /* directions in which the numbers can move without changing what they say */
  double *direction; /* [open][free]; NULL where there is none */
  double *range;     /* [free][2]: of an answer that is a set; NULL elsewhere */
  bool *at_box;      /* [free][2]: whether that end is the box's and not the data's */
  idm_labels state;  /* of the policy; empty where there is none */
  idm_labels action;
  double *policy;  /* [state][action]: of the planner at the answer, where states are observed, or
                      the one that the inverse planner itself finds */
  double *count;   /* [state][action] of the log, where the policy is to have the frequencies of its
                      actions; NULL elsewhere */
  bool compared;   /* trajectories were compared, not imitated: the log is not how whoever has this
                      utility behaves */
  idm_notes words; /* what to know, as sentences */
  idm_notes faults; /* why it is not to be trusted, whatever the certificate says */
} idm_optimality;

IDM_API idm_status idm_optimality_create(size_t numbers, idm_optimality **ret_finding,
                                         idm_error *opt_error);
IDM_API idm_status idm_optimality_copy(const idm_optimality *finding, idm_optimality **ret_finding,
                                       idm_error *opt_error);
/* Takes NULL. */
IDM_API void idm_optimality_destroy(idm_optimality *finding);
/* Whether the certificate is closed. */
IDM_API bool idm_optimality_certified(const idm_optimality *finding);

#ifdef __cplusplus
}
#endif
#endif
