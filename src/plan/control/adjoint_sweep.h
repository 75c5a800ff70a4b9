/* The derivative of one layer of values and tables. */
#ifndef IDM_PLAN_CONTROL_ADJOINT_SWEEP_H
#define IDM_PLAN_CONTROL_ADJOINT_SWEEP_H

#include "plan/control/adjoint.h"

/* One layer of one variant. */
typedef struct adjoint_layer {
  size_t variant;
  double arrivals;             /* what an award of 1 for certainty pays on arrival */
  const double *v;             /* [padded]: the values that follow */
  const double *quality;       /* [action][padded] */
  const double *decision;      /* the policy shown */
  const double *specification; /* [action][model][padded] */
  const double *opt_decision_slope;
  const double *opt_specification_slope;
  const bool *touched;      /* [slice]; with the slopes */
  const double *opt_lambda; /* [padded]: derivative with respect to the layer's own values */
} adjoint_layer;

/* Numbers of scratch that a sweep needs. */
size_t idm_adjoint_lanes(const control *c);
/* What the tables' slopes alone ask of v, added to `to`. */
void idm_adjoint_direct(adjoint *a, const adjoint_layer *layer, double *to);
/* Add everything that the layer asks of theta, and where wanted of v. */
void idm_adjoint_sweep(adjoint *a, const adjoint_layer *layer, double *opt_to);

#endif
