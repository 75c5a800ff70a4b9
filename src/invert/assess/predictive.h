/* Whether the log's own summaries are what the answer predicts: counts of decisions by cell.
 *
 * A cell is picked by the past and counts some of the actions: an action at a step, an action that
 * ends the trajectory at a step, the same action again after an observation, the action before the
 * last again after what was seen then, an action after an observation, an action at a belief
 * (beliefs.h), an action in a variant of the setting; the first and the third by agent as well. */
#ifndef IDM_INVERT_ASSESS_PREDICTIVE_H
#define IDM_INVERT_ASSESS_PREDICTIVE_H

#include "invert/assess/beliefs.h"

typedef enum cell_family {
  CELLS_STEP,
  CELLS_END,
  CELLS_STAY,
  CELLS_RETURN,
  CELLS_SEEN,
  CELLS_BELIEF,
  CELLS_VARIANT,
  CELLS_AGENT_ACTION,
  CELLS_AGENT_STAY,
  CELLS_FAMILIES
} cell_family;

/* Counts of one family, at the answer and of the answers taken last. */
typedef struct cells {
  size_t count;
  int32_t *of;      /* [question][action]: the cell that it falls into, or -1 */
  double *chances;  /* [cell]: decisions that could have fallen there */
  double *expected; /* [cell] */
  double *spread;   /* [cell]: variance of the count */
  double *variance; /* [cell]: of what is left when the scores are taken out */
  double *cross;    /* [cell][dimension]: Cov(count, S) */
  double *left;     /* [cell]: the residual */
} cells;

typedef struct predictive {
  const residual *r;
  beliefs beliefs;
  double *shift; /* [dimension] of those answers */
  cells family[CELLS_FAMILIES];
} predictive;

idm_status idm_predictive_open(predictive *p, const residual *r, idm_error *opt_error);
void idm_predictive_close(predictive *p);
/* Count some answers, whose shift has been found. */
void idm_predictive_take(predictive *p, const double *taken, const double *shift);
/* After that: the sum of squared residuals of a family in units of their variance, and that of one
 * agent over both its families. */
double idm_predictive_sum(const predictive *p, cell_family family);
double idm_predictive_agent(const predictive *p, size_t agent);
/* How many of the answers taken last fell into a cell. */
double idm_predictive_observed(const predictive *p, cell_family family, size_t cell);
/* What a cell that is not of an agent is called in a table: "step 2, monitor". */
void idm_predictive_label(const predictive *p, cell_family family, size_t cell, char *text,
                          size_t size);
/* How far a cell is off. */
typedef struct misfit {
  double sds;  /* of the residual, which the test is of */
  double size; /* in sds of the count, (observed - expected) / sqrt(n p (1 - p)), as it is quoted */
} misfit;
/* The cell of the largest size of those off by a share of at least `least` of the chances; false
 * where there is none. In words: "at step 2 ...". */
bool idm_predictive_worst(const predictive *p, cell_family family, double least, misfit *ret_misfit,
                          char *text, size_t size);

#endif
