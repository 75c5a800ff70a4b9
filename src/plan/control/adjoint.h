/* The derivative of a lattice planner's policies in reverse: its operations, and what its parts
 * share. */
#ifndef IDM_PLAN_ADJOINT_H
#define IDM_PLAN_ADJOINT_H

#include <math.h>

#include "plan/control/control.h"

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
  double *worth;               /* [term][action]: of beliefs themselves */
  double award;                /* for certainty */
  double *belief_prior;        /* [state]; NULL where it is held */
  double prior_weight;
  double evidence_weight;
  double *transition; /* [model][action][s][s']; NULL where what makes beliefs is held */
  double *emission;   /* [model][action][emitter][x]; the same */
} adjoint_sums;

/* The models of one action at a belief off the lattice: K and how it moves. */
typedef struct adjoint_look {
  double *q;         /* [action] */
  double *k;         /* [action][model] */
  double *future;    /* [action][model]: the expected value that follows, undiscounted */
  double *surprise;  /* [action][model] */
  double *certain;   /* [action][model]: expected certainty of the successors */
  double *moved;     /* [action][model][state]: dK/dz */
  size_t *entries;   /* [action][model] */
  uint32_t *column;  /* [action][model][observations * states]: lattice points that K stands on */
  double *value;     /* the same: their weights in `future` */
  double *emitter;   /* [state] */
  double *posterior; /* [state] */
  double *gained;    /* [state]: dK/d emitter */
  double *seen;      /* [state]: what an emitter gives a group of observations together */
  double *sigma;     /* [model] */
  double *weights;   /* [action or model] */
  double term[WORTH_TERMS]; /* what weights of the belief itself multiply */
} adjoint_look;

/* A cell of the lattice around a belief. */
typedef struct adjoint_cell {
  size_t count;
  uint32_t *vertex; /* [state] */
  uint32_t *step;   /* [state] */
  double *weight;   /* [state] */
  double *at;       /* [state]: a function at the vertices */
  double *slope;    /* [state] */
  double *locate;   /* [2 state] */
  double *logs;     /* [state + 2 action] */
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
  bool *touched;         /* [variant][layers][slice]: the slice's tables were asked for */
  /* Q and policies of one layer where the control keeps no tables; NULL elsewhere. */
  double *own_quality;
  double *own_decision;
  double *own_specification;
  double *lanes;    /* scratch of a sweep */
  double *dynamics; /* scratch of their derivatives */
  adjoint_cell cell;
  adjoint_look look;
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
void idm_adjoint_point(void *content, const idm_policy_slope *point);
idm_status idm_adjoint_finish(void *content, idm_theta *slope, idm_error *opt_error);

#endif
