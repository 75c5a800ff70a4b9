/* Bounded rational control on a lattice: what solver, forward recursion and policy share. */
#ifndef IDM_PLAN_CONTROL_H
#define IDM_PLAN_CONTROL_H

#include "belief/successor.h"
#include "idm/planner.h"

/* Numbers of theta that the recursion reads, copied in at the start of planning. */
typedef struct control_numbers {
  double alpha;
  double beta;
  double eta;
  double discount;
  double temperature; /* of the decision policy: alpha, or its own */
  double certainty_above;
  double certainty_award;
  double *action_prior; /* [action] */
  double *model_prior;  /* [model] */
} control_numbers;

/* Sums kept apart in the transposed product of two states. */
enum { CONTROL_STRANDS = 8 };

typedef struct control {
  const idm_setting *setting; /* borrowed */
  idm_agent agent;
  idm_sizes sizes;
  size_t models;
  size_t variants;
  control_numbers numbers;
  bool own_temperature; /* a softmax laid over the solved Q */

  idm_lattice *lattice;
  idm_successors *successors;
  double *transition;   /* what the successors were built from: [model][action][s][s'] */
  double *emission;     /* [model][action][s'][x] */
  double *belief_prior; /* [s] or NULL */
  int *group;           /* [model][action][x]: observations with the same successor belief */
  bool built;           /* successors and folds are those of the dynamics held here */
  bool *forgetful;      /* [action]: every model forgets, so the future is one number */
  bool any_terminal;

  size_t padded;           /* points, rounded up to whole slices */
  int layers;              /* 1, or the horizon */
  double *utility;         /* [variant][action][state] */
  double *rewards;         /* [variant][action][padded]: immediate utility on the lattice */
  double *reward;          /* that of the variant being solved */
  double largest_reward;   /* over all variants and points */
  double largest_surprise; /* over all blocks */
  double largest;          /* of the terms beside V: |reward| + |eta| |surprise| */
  bool rewarded;           /* rewards belong to the utility and the award held here */
  double *value;  /* [variant][layers + 1][padded]; stationary: layer 1 is V*. Layer t has t steps
                     left */
  bool *solved;   /* [variant]: value holds a solution to start from */
  double *anchor; /* [anchors][variant][padded]: where every plan starts instead; NULL: nowhere */
  size_t anchors;

  /* Tables for `evaluate: interpolate`, else NULL. */
  double *quality;       /* [variant][layers][action][padded]: Q */
  double *decision;      /* [variant][layers][action][padded]: pi */
  double *specification; /* [variant][layers][action][model][padded]: sigma */

  /* Scratch of the solver. */
  double *mix;      /* [action][model][padded]: pi sigma, the weights of the derivative */
  double *constant; /* [action][model]: sigma of forgetful actions */
  /* Two states: the derivative with pi sigma folded into its values, all rows of an (action, model)
   * that does not forget side by side; column and column + 1 as in the paired format. */
  size_t folds;            /* entries a row; 0: not folded */
  uint32_t *folded_column; /* [padded][folds] */
  double *folded;          /* [padded][folds][2] */
  double *strands;         /* [CONTROL_STRANDS][padded]: scratch of the transposed product */
  double *held;            /* [action][padded]: a decision policy held still */
  double *penalty;         /* [padded]: alpha KL of the held policy */
  int basis;               /* basis of GMRES: smaller on very large lattices */
  double *vector;          /* vectors of length padded, see solve.c */
  double *lanes;           /* scratch of one slice */
} control;

/* --- control.c: the operations of the planners that solve a lattice ------------------------- */

idm_status idm_control_create(const idm_setting *setting, const idm_theta *theta,
                              const idm_agent *agent, void **ret_content, idm_error *opt_error);
/* The same with a decision policy of its own temperature, laid over the solved Q. */
idm_status idm_control_create_exploratory(const idm_setting *setting, const idm_theta *theta,
                                          const idm_agent *agent, void **ret_content,
                                          idm_error *opt_error);
idm_status idm_control_plan(void *content, const idm_theta *theta, const idm_solver *solver,
                            idm_plan_report *report, idm_error *opt_error);
/* Start every later plan from the values now held. */
idm_status idm_control_anchor(void *content, bool more, idm_error *opt_error);
void idm_control_release(void *content);
void idm_control_destroy(void *content);
size_t idm_control_points(const void *content);

/* --- backup.c: the operator B* and its derivative ------------------------------------------- */

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
double idm_control_reward(const control *c, size_t variant, const double *z, size_t action);
/* At lattice point i, from next values v: K [action][model], Q [action]; returns V. */
double idm_control_point(const control *c, const double *v, size_t point, double *k, double *q);

/* --- solve.c -------------------------------------------------------------------------------- */

/* Vectors of control->vector that the solver needs beside those of GMRES. */
enum { CONTROL_VECTORS = 5 };
idm_status idm_control_solve(control *c, const idm_solver *solver, idm_plan_report *report,
                             idm_error *opt_error);

/* --- evaluate.c: policies off the lattice --------------------------------------------------- */

void idm_control_policy(const void *content, size_t variant, int steps, const double *z,
                        double *decision, double *opt_specification, double *scratch);
void idm_control_log_policy(const void *content, size_t variant, int steps, const double *z,
                            double *log_decision, double *scratch);
double idm_control_value(const void *content, size_t variant, int steps, const double *z,
                         double *scratch);
size_t idm_control_scratch(const void *content);
/* Layer with the values of `left` steps left. */
static inline const double *control_layer(const control *c, size_t variant, int left)
{
  return c->value + ((size_t)(c->layers + 1) * variant + (size_t)left) * c->padded;
}

/* Steps left when `steps` were taken; 1 for the stationary problem, whose layer 1 is V*. Past the
 * horizon nothing is left to plan for, and the last layer stays in force. */
static inline int control_left(const control *c, int steps)
{
  if (c->setting->horizon <= 0) return 1;
  const int left = c->setting->horizon - steps;
  return left > 1 ? left : 1;
}

/* First row of a table of the actions for a variant and the steps left. */
static inline size_t control_row(const control *c, size_t variant, int left)
{
  return ((size_t)c->layers * variant + (size_t)(left - 1)) * c->sizes.actions * c->padded;
}

/* --- adjoint.c: the derivative in reverse --------------------------------------------------- */

idm_status idm_adjoint_create(void *content, void **ret_adjoint, idm_error *opt_error);
void idm_adjoint_destroy(void *content);
void idm_adjoint_begin(void *content);
void idm_adjoint_point(void *content, const idm_policy_slope *point);
idm_status idm_adjoint_finish(void *content, idm_theta *slope, idm_error *opt_error);

/* --- forward.c ------------------------------------------------------------------------------ */

idm_status idm_control_forward(void *content, size_t variant, idm_forward *forward,
                               double *opt_occupancy, idm_error *opt_error);

#endif
