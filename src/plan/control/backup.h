/* The operator B* on the lattice, and its derivative.
 *
 * The award for certainty jumps where a belief becomes certain, and a lattice would blur that by a
 * cell. All actions earn it alike, so values on the lattice leave out that of the point itself, and
 * K has that of the successors, each at its own belief. */
#ifndef IDM_PLAN_CONTROL_BACKUP_H
#define IDM_PLAN_CONTROL_BACKUP_H

#include "plan/control/control.h"

/* What one application of B* at V leaves behind. NULL: not wanted. */
typedef struct backup_output {
  double *value;         /* [padded]: B*V */
  double *quality;       /* [action][padded]; goes with decision */
  double *decision;      /* [action][padded]: the policy shown, at control_numbers.temperature */
  double *specification; /* [action][model][padded] */
  bool mix;              /* fill control->mix and control->constant */
  double lowest;         /* min and max of B*V - V over the points */
  double highest;
  double size; /* max |B*V| */
} backup_output;

/* Point an output at the tables of a variant and layer, where there are any. */
void idm_control_tables(const control *c, size_t variant, int layer, backup_output *out);
/* Apply B* at v; with `hold` the decision policy is control->held instead of the optimal one. */
void idm_control_backup(control *c, const double *v, bool hold, backup_output *out);
/* Hold the optimal decision policy at v. */
void idm_control_hold(control *c, const double *v);
/* Fold the weights in control->mix into the derivative, where it has that form. Call before a
 * series of products. */
void idm_control_fold(control *c);
/* y = x - gamma P x with the weights in control->mix; context is the control. */
void idm_control_derivative(const void *context, const double *x, double *y);
/* y = x - gamma P' x, after the same fold. */
void idm_control_transposed(const void *context, const double *x, double *y);
/* to += scale[lane] times the successor row of each lane of a slice. */
void idm_control_scatter(const control *c, size_t u, size_t m, size_t slice, const double *scale,
                         double *to);
/* Compute the immediate utility of a variant on the lattice. */
void idm_control_rewards(control *c, size_t variant);
/* Make a variant the one that the operator works on. */
void idm_control_select(control *c, size_t variant);
/* Immediate utility at a belief, without the award for certainty. */
double idm_control_reward(const control *c, size_t variant, const double *z, size_t action);
/* The award for certainty at a belief, which values and Q leave out; 0 at corners, whose rewards
 * have it. */
double idm_control_award(const control *c, const double *z);
/* What a certain belief earns where a decision with `left` steps left leads to it: 0 past the
 * horizon. It goes into control_numbers.arrival before a backup. */
double idm_control_arrival(const control *c, int left);
/* The same of an award of 1, and what that adds to every reward at corners: 0 elsewhere. */
double idm_control_arrivals(const control *c, int left);
double idm_control_corner_share(const control *c);
/* At lattice point i, from next values v: K [action][model], Q [action]; returns V. */
double idm_control_point(const control *c, const double *v, size_t point, double *k, double *q);

#endif
