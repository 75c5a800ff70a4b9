/* Soft plans where states are observed: V = alpha log sum_u pi~ exp((u + discount P V) / alpha),
 * the policy, how often it is where, and how that bends with the utility. */
#ifndef IDM_INVERT_UTILITY_SOFT_PLAN_H
#define IDM_INVERT_UTILITY_SOFT_PLAN_H

#include "base/envelope.h"
#include "invert/utility/mdp.h"

typedef struct idm_soft_plan {
  const idm_mdp *world;
  double alpha;
  const double *prior; /* [action]: borrowed */
  size_t layers;       /* steps of the horizon, each with its own policy; 1 where there is none */
  double *v;           /* [layer][state]: values */
  double *policy;      /* [layer][state][action] */
  double *mass;        /* [layer][state]: occupancy; sums to 1 where no action ends */
  double *chain;       /* [state][state]: I - discount P of the policy, factored; endless only */
  idm_edge *edge;      /* [state]: of that */
  double *advantage;   /* [layer][state][action]: of the direction last bent along */
  double *work;
} idm_soft_plan;

/* `world` and `prior` are borrowed. IDM_INPUT where the discount is 1 and there is no horizon. */
idm_status idm_soft_plan_create(const idm_mdp *world, double alpha, const double *prior,
                                idm_soft_plan **ret_plan, idm_error *opt_error);
void idm_soft_plan_destroy(idm_soft_plan *plan);

/* Plan for utility[action][state], from the values held; *value is that of the start, weighed as
 * occupancies are (idm_mdp_share). IDM_NUMERICAL where values do not settle. */
idm_status idm_soft_plan_solve(idm_soft_plan *plan, const double *utility, double *value,
                               idm_error *opt_error);
/* occupancy[action][state] of the plan: the derivative of its value by the utility. */
void idm_soft_plan_occupancy(const idm_soft_plan *plan, double *occupancy);
/* change[action][state] of the occupancy along a direction [action][state] of the utility: the
 * second derivative of the value times it. */
void idm_soft_plan_bend(idm_soft_plan *plan, const double *direction, double *change);

#endif
