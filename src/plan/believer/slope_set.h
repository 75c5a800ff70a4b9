/* The derivative of the log-likelihood where several hypotheses are possible: subtrees of the
 * prefix tree, gone through depth first, with the hypotheses of one branch in memory at a time. */
#ifndef IDM_PLAN_BELIEVER_SLOPE_SET_H
#define IDM_PLAN_BELIEVER_SLOPE_SET_H

#include "plan/believer/hypotheses.h"

/* A row of the tree. */
typedef struct slope_row {
  uint32_t before; /* slot of the belief decided at, see slope.c; none where there are several */
  uint32_t after;  /* slot of the belief made; none for a leaf, and where there are several */
  uint32_t depth;
  uint32_t first_row; /* for messages */
  int32_t action;
  int32_t observation;
  bool missed; /* see idm_event */
  bool leaf;
  bool last;        /* see idm_event */
  const bool *open; /* [action]; NULL: all */
  double count;     /* trajectories through this row */
  double decided;   /* the same; 0 where nothing was decided: forced, or not recorded */
} slope_row;

/* Where a subtree hangs: at one known belief, whose slopes are added to, or at a start that is one
 * of several. */
typedef struct slope_base {
  size_t variant;
  int steps;
  uint32_t depth;
  habit_slope *habit;          /* what is asked of habits is added here */
  idm_theta *opt_dynamics;     /* and of what makes beliefs here; NULL: not wanted */
  const double *opt_start;     /* [state]: several; then nothing below is given */
  int last;                    /* the action before; IDM_MISSING at a start */
  const double *belief;        /* [state] */
  const double *known;         /* [state]: the environment's */
  const double *decision;      /* [action] */
  const double *specification; /* [action][model] */
  double *belief_slope;
  double *log_decision_slope;
  double *specification_slope;
} slope_base;

typedef struct slope_set slope_set;
/* The believer and the adjoint of its planner are borrowed. */
idm_status idm_slope_set_create(const believer *b, void *adjoint, slope_set **ret_slope,
                                idm_error *opt_error);
void idm_slope_set_destroy(slope_set *slope);
/* Adds the log-likelihood of rows that follow each other in the tree, below a base. After adjoint
 * `begin`: points are asked for on the way. Where it comes to -inf slopes are of no use. `checked`:
 * last observations were found possible before. An error names its row by *at. */
idm_status idm_slope_set_run(slope_set *slope, const slope_base *base, const slope_row *row,
                             size_t rows, bool checked, double *log_likelihood, size_t *at,
                             idm_error *opt_error);

#endif
