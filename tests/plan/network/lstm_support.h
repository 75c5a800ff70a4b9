/* Provides a long short-term memory by direct loops, written from its definition. */
#ifndef IDM_TESTS_PLAN_NETWORK_LSTM_SUPPORT_H
#define IDM_TESTS_PLAN_NETWORK_LSTM_SUPPORT_H

#include <stddef.h>

enum { PLAIN_UNITS = 100 };

typedef struct plain_lstm {
  size_t actions, observations, units, layer;
  const double *weights;
  double h[PLAIN_UNITS], c[PLAIN_UNITS];
} plain_lstm;

/* Updates the memory by an action and an observation, -1 for none. */
void plain_read(plain_lstm *l, int action, int observation);
/* Computes the scores of the actions. */
void plain_score(const plain_lstm *l, double *score);

#endif
