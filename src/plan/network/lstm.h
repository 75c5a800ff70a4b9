/* A long short-term memory (Hochreiter and Schmidhuber 1997, with forget gates) and a layer that
 * chooses by it, for many histories at once.
 *
 *   i, f, o = logistic, g = tanh of (constant + row of the action + row of the observation + h R)
 *   c' = f c + i g,  h' = o tanh(c')
 *   scores = constant + tanh(constant + h' first) second
 *
 * What is not there (the action before the first, an observation that was not recorded) has no row.
 * Weights stand in one array: constants of the gates, rows of actions, rows of observations, R,
 * then for each layer its constants and its matrix. Gates are i, f, g, o, `units` numbers each. */
#ifndef IDM_PLAN_NETWORK_LSTM_H
#define IDM_PLAN_NETWORK_LSTM_H

#include <stddef.h>
#include <stdint.h>

#include "idm/random.h"

/* How large everything is, and where in the array it stands. */
typedef struct lstm_plan {
  size_t actions;
  size_t observations;
  size_t units;
  size_t layer;
  size_t action;      /* rows [action][4 units] */
  size_t observation; /* rows [observation][4 units] */
  size_t recurrent;   /* R [units][4 units] */
  size_t first;       /* [layer], then [units][layer] */
  size_t second;      /* [action], then [layer][action] */
  size_t count;
} lstm_plan;

lstm_plan idm_lstm_plan(size_t actions, size_t observations, size_t units, size_t layer);
/* What weights start from: normal with a variance of 1 over the number of inputs (rows of R and of
 * layers; those of actions and observations 1/2), constants 0, those of forget gates 1. */
void idm_lstm_start(const lstm_plan *plan, idm_random *random, double *weights);

/* Weights, and the transposes that reverse mode multiplies by. */
typedef struct lstm {
  lstm_plan plan;
  double *weights;    /* [count] */
  double *transposed; /* of R, of the first matrix, of the second: in this order */
} lstm;

/* The transposes of the weights now held. */
void idm_lstm_ready(lstm *l);

/* What a step read: -1 for what is not there. */
typedef struct lstm_input {
  int32_t action;
  int32_t observation;
} lstm_input;

/* One step of n memories h, c [n][units]; gates [n][4 units] are kept for the way back. */
void idm_lstm_step(const lstm *l, size_t n, const lstm_input *input, const double *h,
                   const double *c, double *gates, double *next_c, double *next_h);
/* Scores [n][actions] of n memories; the layer's units [n][layer] are kept for the way back. */
void idm_lstm_score(const lstm *l, size_t n, const double *h, double *layer, double *score);

/* Slopes back from scores: added to those of the weights, and to by_h [n][units]. by_layer
 * [n][layer] is scratch. */
void idm_lstm_score_recall(const lstm *l, size_t n, const double *h, const double *layer,
                           const double *by_score, double *by_layer, double *by_weights,
                           double *by_h);
/* Slopes back from a step: by_h and by_c are those after it; those before it take the place of what
 * by_h_before, by_c_before [n][units] held; those of the weights are added to. Gates are used up.
 */
void idm_lstm_step_recall(const lstm *l, size_t n, const lstm_input *input, const double *h,
                          const double *c, const double *next_c, double *gates, const double *by_h,
                          const double *by_c, double *by_weights, double *by_h_before,
                          double *by_c_before);

#endif
