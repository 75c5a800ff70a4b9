/* The planner `value-iteration-network`.
 *
 * Contents: value iteration network · value iteration adjoint · value iteration sweep */
#ifndef IDM_PLAN_NETWORK_VALUE_ITERATION_NETWORK_H
#define IDM_PLAN_NETWORK_VALUE_ITERATION_NETWORK_H

#include "idm/extension/planner.h"

/* === value iteration network ================================================================ */

/* The planner `value-iteration-network`: a fixed number of sweeps of soft value iteration, each
 * with its own weights (docs/method/learners.md, 3).
 *
 *   V_0 = 0;  Q_k = a_k u + b_k gamma P V_(k-1);
 *   V_k = c_k alpha log sum pi~ exp(Q_k / (c_k alpha))
 *
 * for k = 1 .. sweeps, with P the mean of the models' transitions. The policy is pi ~ pi~ exp(Q /
 * (c alpha)), with Q and c of the last sweep; at a belief, with the mean of Q. With a = b = c = 1
 * this is planning over `sweeps` steps. */

/* Weights of a sweep, in the order of its block. */
enum { SWEEP_UTILITY, SWEEP_FUTURE, SWEEP_TEMPERATURE, SWEEP_WEIGHTS };

typedef struct value_iteration {
  const idm_setting *setting; /* borrowed */
  idm_sizes sizes;
  size_t models;
  size_t variants;
  size_t sweeps;
  bool free_dynamics; /* derivatives with respect to the dynamics are required */
  double discount;
  double alpha;
  double *weight;       /* [sweep][SWEEP_WEIGHTS] */
  double *utility;      /* [variant][action][state] */
  double *action_prior; /* [action] */
  double *model_prior;  /* [model] */
  double *dynamics; /* [model][action][state][next]: of the models; NULL if the setting has sparse
                       transitions */
  const idm_sparse_rows *moves; /* P: that of the setting, or `mean` */
  idm_sparse_rows *mean;        /* mean of the models' transitions, or NULL */
  double *value;                /* [variant][sweeps + 1][state] */
  double *quality;              /* [variant][state][action]: of the last sweep */
} value_iteration;

/* Temperature of a sweep, counted from 0. */
static inline double idm_sweep_temperature(const value_iteration *v, size_t sweep)
{
  return v->weight[sweep * SWEEP_WEIGHTS + SWEEP_TEMPERATURE] * v->alpha;
}

/* === value iteration adjoint ================================================================ */

/* Derivatives of value iteration with a fixed number of sweeps. */

/* The content is a value_iteration. */
extern const idm_adjoint_ops idm_value_iteration_adjoint;

/* === value iteration sweep ================================================================== */

/* One sweep of value iteration. */

/* Q of a sweep at a state, [action], given V of the previous one; opt_future, [action]: P V alone.
 */
void idm_sweep_quality(const value_iteration *v, size_t variant, size_t sweep, size_t state,
                       double *quality, double *opt_future);

#endif
