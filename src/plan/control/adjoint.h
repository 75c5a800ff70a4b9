/* The derivative of a lattice planner's policies, in reverse.
 *
 * Contents: adjoint · adjoint dynamics · adjoint look · adjoint sweep */
#ifndef IDM_PLAN_CONTROL_ADJOINT_H
#define IDM_PLAN_CONTROL_ADJOINT_H

#include <math.h>

#include "plan/control/control.h"

/* === adjoint ================================================================================ */

/* The derivative of a lattice planner's policies in reverse: its operations, and what its parts
 * share. */

/* Sums of the derivatives with respect to theta. */
typedef struct adjoint_sums {
  double discount;
  double eta;
  double inverse_beta;
  double *inverse_alpha;       /* [variant]: by 1/alpha as it counts there */
  double *inverse_temperature; /* [variant] */
  double *utility;             /* [variant][action][state] */
  double *action_prior;        /* [action] */
  double *model_prior;         /* [model] */
  double *belief_reward;       /* [term][action]: of beliefs themselves */
  double award;                /* for certainty */
  double *belief_prior;        /* [state]; NULL where it is held */
  double prior_weight;
  double evidence_weight;
  double *transition; /* [model][action][s][s']; NULL where what makes beliefs is held */
  double *emission;   /* [model][action][emitter][x]; the same */
} adjoint_sums;

/* The models of one action at a belief off the lattice: K and how it moves. */
typedef struct adjoint_lookahead {
  double *q;                  /* [action] */
  double *k;                  /* [action][model] */
  double *future;             /* [action][model]: the expected value that follows, undiscounted */
  double *surprise;           /* [action][model] */
  double *expected_certainty; /* [action][model]: expected certainty of the successors */
  double *belief_gradient_k;  /* [action][model][state]: dK/dz */
  size_t *entries;            /* [action][model] */
  uint32_t *column;  /* [action][model][observations * states]: lattice points that K stands on */
  double *value;     /* the same: their weights in `future` */
  double *emitter;   /* [state] */
  double *posterior; /* [state] */
  double *emitter_gradient; /* [state]: dK/d emitter */
  double *group_emission;   /* [state]: what an emitter gives a group of observations together */
  double *sigma;            /* [model] */
  double *weights;          /* [action or model] */
  double term[BELIEF_REWARD_TERMS]; /* what weights of the belief itself multiply */
} adjoint_lookahead;

/* A cell of the lattice around a belief. */
typedef struct adjoint_cell {
  size_t count;
  uint32_t *vertex;   /* [state] */
  uint32_t *step;     /* [state] */
  double *weight;     /* [state] */
  double *at;         /* [state]: a function at the vertices */
  double *derivative; /* [state] */
  double *locate;     /* [2 state] */
  double *logs;       /* [state + 2 action] */
} adjoint_cell;

typedef struct adjoint {
  control *c;
  adjoint_sums sums;
  double *belief; /* [state][padded]: the lattice's beliefs, state by state */
  double *term;   /* [term][padded]: what weights of beliefs themselves multiply there */
  double *value;  /* [variant][layers + 1][padded]: derivative with respect to V */
  /* Derivatives with respect to the tables of `evaluate: interpolate`; NULL elsewhere. */
  double *decision;      /* [variant][layers][action][padded]: log pi of the vertex */
  double *specification; /* [variant][layers][action][model][padded]: sigma */
  bool *has_gradient;    /* [variant][layers][slice]: the slice's tables were asked for */
  /* Q and policies of one layer where the control keeps no tables; NULL elsewhere. */
  double *own_quality;
  double *own_decision;
  double *own_specification;
  double *lanes;    /* scratch of a sweep */
  double *dynamics; /* scratch of their derivatives */
  adjoint_cell cell;
  adjoint_lookahead lookahead;
} adjoint;

/* Whether a softmax at temperature T moves at all: at 0 it is locally constant. Below 1e-300 1/T
 * overflows. */
static inline bool adjoint_moves(double temperature)
{
  return fabs(temperature) >= 1e-300;
}

/* 1/T as a factor of what passes through a softmax; 0 where it does not move. */
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

/* The derivative of K by what makes beliefs: the belief before, the dynamics of one (action,
 * model), and how they are taken up. */

/* Numbers of scratch that they need. */
size_t idm_adjoint_dynamics_scratch(const control *c);
/* Add what a slope of K(z,u,m), whose successors have the values v, asks of tau, omega and the
 * weights of the update. Where these move (control->learns). */
void idm_adjoint_dynamics(adjoint *a, const double *v, const double *z, size_t u, size_t m,
                          double derivative);
/* dK/dz into moved[state], whatever the update is. */
void idm_adjoint_belief(adjoint *a, const double *v, const double *z, size_t u, size_t m,
                        double *belief_gradient_k);
/* Add the derivative of K by the prior of beliefs, at a belief and where states are observed.
 * Where that moves (control->primes). */
void idm_adjoint_prior(adjoint *a, const double *z, size_t u, size_t m, double derivative);

/* === adjoint look =========================================================================== */

/* The derivative of the policies at one belief off the lattice. */

/* One belief by lookahead. */
void idm_adjoint_lookahead(adjoint *a, const idm_policy_adjoint *point);

/* === adjoint sweep ========================================================================== */

/* The derivative of one layer of values and tables. */

/* One layer of one variant. */
typedef struct adjoint_layer {
  size_t variant;
  double arrivals;             /* what an award of 1 for certainty pays on arrival */
  const double *v;             /* [padded]: the values that follow */
  const double *quality;       /* [action][padded] */
  const double *decision;      /* the policy shown */
  const double *specification; /* [action][model][padded] */
  const double *opt_decision_gradient;
  const double *opt_specification_gradient;
  const bool *has_gradient; /* [slice]; with the slopes */
  const double *opt_lambda; /* [padded]: derivative with respect to the layer's own values */
} adjoint_layer;

/* Numbers of scratch that a sweep needs. */
size_t idm_adjoint_lanes(const control *c);
/* What the tables' slopes alone ask of v, added to `to`. */
void idm_adjoint_direct(adjoint *a, const adjoint_layer *layer, double *to);
/* Add everything that the layer asks of theta, and where wanted of v. */
void idm_adjoint_sweep(adjoint *a, const adjoint_layer *layer, double *opt_to);

#endif
