/* The fixed point of x = max(constant + M x over the rows of each number, floor), M with no
 * negative entries and rows that sum to no more than a discount: policy iteration, with a bound
 * that holds whatever rounding and an iterative solver leave over. */
#ifndef IDM_PLAN_POINT_MONOTONE_H
#define IDM_PLAN_POINT_MONOTONE_H

#include <stdbool.h>
#include <stdint.h>

#include "idm/status.h"

typedef struct monotone_row {
  size_t entry; /* first */
  double constant;
} monotone_row;

typedef struct monotone {
  double discount;
  bool (*opt_halts)(void *context); /* whether to stop, asked between iterations; NULL: never */
  void *context;
  size_t numbers;
  size_t rows;
  size_t entries;
  size_t most_rows;
  size_t most_entries;
  size_t *first;     /* [number + 1]: row */
  double *floor;     /* [number], -inf: none */
  monotone_row *row; /* [row + 1] */
  uint32_t *column;  /* [entry]: number */
  double *value;     /* [entry] */
} monotone;

/* So many numbers, none of them described yet; *m is freed by idm_monotone_free, whatever is
 * returned. */
idm_status idm_monotone_create(size_t numbers, double discount, monotone *m, idm_error *opt_error);
void idm_monotone_free(monotone *m);
/* Add an entry to the row to come. */
idm_status idm_monotone_add(monotone *m, size_t column, double value, idm_error *opt_error);
/* That row is complete. */
idm_status idm_monotone_end_row(monotone *m, double constant, idm_error *opt_error);
/* The number that those rows belong to is described. */
void idm_monotone_end(monotone *m, double floor);
/* Lower x, [number], which is nowhere below the fixed point, towards it; it stays nowhere below. */
idm_status idm_monotone_lower(const monotone *m, double *x, idm_error *opt_error);

#endif
