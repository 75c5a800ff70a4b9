/* Directions in which the dynamics of a problem can be off: one probability that grows at the
 * expense of the others of its row, or the likeliest outcome of every row of a matrix together. */
#ifndef IDM_INVERT_ASSESS_DIRECTION_H
#define IDM_INVERT_ASSESS_DIRECTION_H

#include "idm/dynamics.h"

typedef enum direction_part {
  DIRECTION_TRANSITION,
  DIRECTION_EMISSION,
  DIRECTION_START
} direction_part;

typedef struct direction {
  direction_part part;
  size_t action; /* whose matrix it is: of tied ones the first */
  size_t state;  /* whose row moves; the number of states: every row */
} direction;

typedef struct directions {
  const idm_setting *setting; /* borrowed */
  idm_dynamics *own;          /* the numbers of the problem */
  size_t *lead[2];            /* [action]: the first action whose matrix is the same one; transition
                                 and emission */
  size_t count;
  direction *one; /* those of whole matrices first */
  int32_t *entry; /* [direction][state]: the outcome that grows in the row of a state, of the start
                     in [0]; -1: the row stays */
} directions;

/* Directions of the problem's environment: those of matrices of which two rows or more can move,
 * and with `numbers` every probability strictly between 0 and 1 by itself (of a row with two, the
 * larger). Rows that the problem's file ties move together. Terminal actions have none. Transitions
 * by rows become matrices. IDM_INPUT where the problem has no dynamics. idm_directions_close frees
 * what is there. */
idm_status idm_directions_open(directions *d, const idm_problem *problem, bool numbers,
                               idm_error *opt_error);
void idm_directions_close(directions *d);

/* Rows of one action, or the start, that a direction moves: entry[state], or NULL where it moves
 * none of them. */
static inline const int32_t *idm_direction_rows(const directions *d, size_t i, direction_part part,
                                                size_t action)
{
  const direction *it = &d->one[i];
  const bool moves =
      it->part == part && (part == DIRECTION_START || it->action == d->lead[part][action]);
  return moves ? d->entry + i * d->own->sizes.states : NULL;
}

/* d row[outcome] / d row[entry]: the others give way in proportion. */
static inline double idm_direction_slope(const double *row, size_t entry, size_t outcome)
{
  return outcome == entry ? 1 : -row[outcome] / (1 - row[entry]);
}

/* What the problem gives to the outcome that grows; the mean over the rows of a matrix. */
double idm_direction_given(const directions *d, size_t i);
/* Bounds of the shift that keep every probability that moves inside (0, 1). */
void idm_direction_limits(const directions *d, size_t i, double *low, double *high);
/* The problem's numbers with direction i moved by `shift`, into dynamics of the same sizes. */
void idm_direction_move(const directions *d, size_t i, double shift, idm_dynamics *to);
/* Move the matrices of every model of an agent by the same shift, as far as they can be. */
void idm_direction_move_models(const directions *d, size_t i, double shift, idm_theta *theta);

/* start[healthy], transition[*,healthy,diseased], observation[test,healthy,positive]; of a matrix
 * observation[test]. */
void idm_direction_name(const directions *d, size_t i, char *text, size_t size);
/* "observations after `test` in state `healthy`", and what grows there: "`positive`". */
void idm_direction_describe(const directions *d, size_t i, char *where, size_t where_size,
                            char *what, size_t what_size);

#endif
