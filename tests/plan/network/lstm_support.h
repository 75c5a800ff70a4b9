/* A long short-term memory in plain loops, written from its definition and nothing else. */
#ifndef IDM_TESTS_PLAN_NETWORK_LSTM_SUPPORT_H
#define IDM_TESTS_PLAN_NETWORK_LSTM_SUPPORT_H

#include <stddef.h>

enum { PLAIN_UNITS = 100 };

typedef struct plain_lstm {
  size_t actions, observations, units, layer;
  const double *weights;
  double h[PLAIN_UNITS], c[PLAIN_UNITS];
} plain_lstm;

/* Read an action and an observation, -1 for none. */
void plain_read(plain_lstm *l, int action, int observation);
/* Scores of the actions. */
void plain_score(const plain_lstm *l, double *score);

#endif
