/* Linear maps of small vectors, and their derivatives in reverse. */
#ifndef IDM_PLAN_NETWORK_LINEAR_H
#define IDM_PLAN_NETWORK_LINEAR_H

#include <math.h>
#include <stddef.h>

#include "idm/random.h"

/* Numbers of a map, a constant a row included. */
static inline size_t idm_linear_count(size_t rows, size_t columns)
{
  return rows * (columns + 1);
}

/* What it starts from: normal with a variance of 1/columns, constants 0. */
static inline void idm_linear_start(size_t rows, size_t columns, idm_random *random, double *w)
{
  for (size_t i = 0; i < rows; i++) {
    w[i * (columns + 1)] = 0;
    for (size_t j = 0; j < columns; j++)
      w[i * (columns + 1) + j + 1] = idm_random_normal(random) / sqrt((double)columns);
  }
}

/* y[rows] = w x, row i of w a constant and then x's numbers. */
static inline void idm_linear(size_t rows, size_t columns, const double *w, const double *x,
                              double *y)
{
  for (size_t i = 0; i < rows; i++) {
    const double *row = w + i * (columns + 1);
    y[i] = row[0];
    for (size_t j = 0; j < columns; j++) y[i] += row[j + 1] * x[j];
  }
}

/* What `by_y` is by w, added to by_w, and by x, added to opt_by_x. */
static inline void idm_linear_recall(size_t rows, size_t columns, const double *w, const double *x,
                                     const double *by_y, double *by_w, double *opt_by_x)
{
  for (size_t i = 0; i < rows; i++) {
    const double *row = w + i * (columns + 1);
    double *slope = by_w + i * (columns + 1);
    slope[0] += by_y[i];
    for (size_t j = 0; j < columns; j++) slope[j + 1] += by_y[i] * x[j];
    for (size_t j = 0; opt_by_x && j < columns; j++) opt_by_x[j] += by_y[i] * row[j + 1];
  }
}

#endif
