/* Reverse-mode derivative of a lattice planner's policies.
 *
 * Contents: adjoint · adjoint dynamics · adjoint lookahead · adjoint sweep */
#ifndef IDM_PLAN_CONTROL_ADJOINT_H
#define IDM_PLAN_CONTROL_ADJOINT_H

#include <math.h>

#include "plan/control/control.h"

/* === adjoint ================================================================================ */

/* Reverse-mode derivative of a lattice planner's policies: its operations, and the data that its
 * parts share (docs/method/likelihood.md, 7). */

/* Accumulated derivatives with respect to theta. */
typedef struct adjoint_sums {
  double discount;
  double eta;
  double inverse_beta;
  double *inverse_alpha; /* [variant]: with respect to 1/alpha, alpha in units of the utility */
  double *inverse_temperature; /* [variant] */
  double *utility;             /* [variant][action][state] */
  double *action_prior;        /* [action] */
  double *model_prior;         /* [model] */
  double *belief_reward;       /* [term][action]: weights of the utility of beliefs */
  double award;                /* award for certainty */
  double *belief_prior;        /* [state]; NULL if it is not free */
  double prior_weight;
  double evidence_weight;
  double *transition; /* [model][action][s][s']; NULL if the parameters of the belief update are not
                         free */
  double *emission;   /* [model][action][emitter][x]; likewise */
} adjoint_sums;

/* The models of one action at a belief off the lattice: K and its derivatives. */
typedef struct adjoint_lookahead {
  double *q;                  /* [action] */
  double *k;                  /* [action][model] */
  double *future;             /* [action][model]: expected value that follows, undiscounted */
  double *surprise;           /* [action][model] */
  double *expected_certainty; /* [action][model]: expected certainty of the successors */
  double *belief_gradient_k;  /* [action][model][state]: dK/dz */
  size_t *entries;            /* [action][model] */
  uint32_t *column;  /* [action][model][observations * states]: lattice points that K depends on */
  double *value;     /* the same: their weights in `future` */
  double *slope;     /* [action][model][x][state], for three states: d p(x) V(z') / d p(s',x) */
  double *emitter;   /* [state] */
  double *posterior; /* [state] */
  double *emitter_gradient;         /* [state]: dK/d emitter */
  double *group_emission;           /* [state]: emission probability of a group of observations */
  double *sigma;                    /* [model] */
  double *weights;                  /* [action or model] */
  double term[BELIEF_REWARD_TERMS]; /* factors of the weights of the utility of beliefs */
} adjoint_lookahead;

/* A cell of the lattice around a belief. */
typedef struct adjoint_cell {
  size_t count;
  uint32_t *vertex;   /* [state] */
  uint32_t *step;     /* [state] */
  double *weight;     /* [state] */
  double *at;         /* [state]: values of a function at the vertices */
  double *derivative; /* [state] */
  double *locate;     /* [2 state] */
  double *logs;       /* [state + 2 action] */
} adjoint_cell;

typedef struct adjoint {
  control *c;
  adjoint_sums sums;
  double *belief; /* [state][padded]: beliefs of the lattice, state by state */
  double *term;   /* [term][padded]: factors of the weights of the utility of beliefs */
  double *value;  /* [variant][layers + 1][padded]: derivative with respect to V */
  /* Derivatives with respect to the tables of `evaluate: interpolate`; else NULL. */
  double *decision;      /* [variant][layers][action][padded]: log pi of the vertex */
  double *specification; /* [variant][layers][action][model][padded]: sigma */
  bool *has_gradient;    /* [variant][layers][slice]: the slice's tables have derivatives */
  /* Q and policies of one layer if the control has no tables; else NULL. */
  double *own_quality;
  double *own_decision;
  double *own_specification;
  double *lanes;    /* scratch of a sweep */
  double *dynamics; /* scratch of idm_adjoint_dynamics */
  adjoint_cell cell;
  adjoint_lookahead lookahead;
} adjoint;

/* Whether a softmax at temperature T has a derivative: at 0 it is locally constant. Below 1e-300,
 * 1/T overflows. */
static inline bool adjoint_moves(double temperature)
{
  return fabs(temperature) >= 1e-300;
}

/* 1/T, the factor of derivatives through a softmax; 0 if it is locally constant. */
static inline double adjoint_inverse(double temperature)
{
  return adjoint_moves(temperature) ? 1 / temperature : 0;
}

idm_status idm_adjoint_create(void *content, void **ret_adjoint, idm_error *opt_error);
void idm_adjoint_destroy(void *content);
void idm_adjoint_begin(void *content);
void idm_adjoint_point(void *content, const idm_policy_adjoint *point);
idm_status idm_adjoint_finish(void *content, idm_theta *derivative, idm_error *opt_error);

/* === adjoint dynamics ======================================================================= */

/* Derivative of K with respect to the parameters of the belief update: the previous belief, the
 * dynamics of one (action, model), and the weights of prior and evidence. */

/* Whether all observations of an (action, model) are processed at once: three states, no surprise.
 */
bool idm_adjoint_at_once(const control *c, size_t u, size_t m);
/* Numbers of scratch that it needs. */
size_t idm_adjoint_dynamics_scratch(const control *c);
/* Adds derivatives with respect to tau, omega and the weights of the update, given the derivative
 * with respect to K(z,u,m), whose successors have the values v. Requires control->dynamics_free.
 * opt_slopes, [x][state], if all observations are processed at once: the derivatives of p(x) V(z')
 * with respect to the joint p(s',x). */
void idm_adjoint_dynamics(adjoint *a, const double *v, const double *z, size_t u, size_t m,
                          double derivative, const double *opt_slopes);
/* Computes dK/dz into belief_gradient_k, [state], for any update. */
void idm_adjoint_belief(adjoint *a, const double *v, const double *z, size_t u, size_t m,
                        double *belief_gradient_k);
/* Adds the derivative of K with respect to the belief prior, given the derivative with respect to
 * K. Requires control->belief_prior_free. */
void idm_adjoint_prior(adjoint *a, const double *z, size_t u, size_t m, double derivative);

/* === adjoint lookahead ====================================================================== */

/* Derivative of the policies at one belief off the lattice. */

/* Adds the derivatives at one belief, by one step of lookahead. */
void idm_adjoint_lookahead(adjoint *a, const idm_policy_adjoint *point);

/* === adjoint sweep ========================================================================== */

/* Derivative of one layer of values and tables. */

/* One layer of one variant. */
typedef struct adjoint_layer {
  size_t variant;
  double arrivals;             /* award of a certain successor, for an award of 1 */
  const double *v;             /* [padded]: values that follow */
  const double *quality;       /* [action][padded] */
  const double *decision;      /* [action][padded]: decision policy */
  const double *specification; /* [action][model][padded] */
  const double *opt_decision_gradient;
  const double *opt_specification_gradient;
  const bool *has_gradient; /* [slice]; together with the gradients */
  const double *opt_lambda; /* [padded]: derivative with respect to the layer's own values */
} adjoint_layer;

/* Numbers of scratch that a sweep needs. */
size_t idm_adjoint_lanes(const control *c);
/* Adds to `to` the derivatives with respect to v that come from the tables' gradients alone. */
void idm_adjoint_direct(adjoint *a, const adjoint_layer *layer, double *to);
/* Adds the derivatives with respect to theta and, if opt_to is given, with respect to v. */
void idm_adjoint_sweep(adjoint *a, const adjoint_layer *layer, double *opt_to);

#endif
