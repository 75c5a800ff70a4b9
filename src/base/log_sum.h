/* Sums of exponentials in logarithms, and weights proportional to exponentials.
 *
 * The same rules hold for every function. A term of -inf adds nothing. A sum without terms, or with
 * terms of -inf only, is -inf. A term of +inf makes the sum +inf. A term of NaN makes the sum NaN,
 * also next to +inf. No other terms overflow or underflow to such a sum. */
#ifndef IDM_BASE_LOG_SUM_H
#define IDM_BASE_LOG_SUM_H

#include <math.h>
#include <stddef.h>

/* log(exp(a) + exp(b)). */
double idm_log_add_exp(double a, double b);

/* log sum_i exp(x_i). */
double idm_log_sum_exp(const double *x, size_t count);

/* The same sum, one term at a time: the sum is scale * exp(largest). */
typedef struct idm_log_sum {
  double largest;
  double scale;
} idm_log_sum;

static const idm_log_sum idm_log_sum_empty = {-INFINITY, 0};

void idm_log_sum_add(idm_log_sum *sum, double term);
double idm_log_sum_value(idm_log_sum sum);

/* p_i = exp(x_i) / sum_j exp(x_j); p may be x. Returns log sum_j exp(x_j). If that is not finite,
 * no such p exists, and every p_i is 0. */
double idm_softmax(const double *x, size_t count, double *p);

/* x becomes its softmax with every exp(x_i) raised to at least `floor` times the largest, 0 < floor
 * <= 1. A term of NaN counts as -inf. If the largest x_i is infinite, all weights are equal. */
void idm_softmax_floor(double *x, size_t count, double floor);

#endif
