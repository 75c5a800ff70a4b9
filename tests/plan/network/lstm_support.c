/* Implements a long short-term memory by direct loops. */
#include "plan/network/lstm_support.h"

#include <math.h>
#include <string.h>

/* The input of gate `gate` of unit j. */
static double gate_input(const plain_lstm *l, int gate, size_t j, int action, int observation)
{
  const size_t width = 4 * l->units, at = (size_t)gate * l->units + j;
  const double *rows = l->weights + width;
  double sum = l->weights[at];
  if (action >= 0) sum += rows[(size_t)action * width + at];
  rows += l->actions * width;
  if (observation >= 0) sum += rows[(size_t)observation * width + at];
  rows += l->observations * width;
  for (size_t i = 0; i < l->units; i++) sum += l->h[i] * rows[i * width + at];
  return sum;
}

static double plain_logistic(double x)
{
  return 1 / (1 + exp(-x));
}

void plain_read(plain_lstm *l, int action, int observation)
{
  double h[PLAIN_UNITS];
  double c[PLAIN_UNITS];
  for (size_t j = 0; j < l->units; j++) {
    const double in = plain_logistic(gate_input(l, 0, j, action, observation));
    const double forget = plain_logistic(gate_input(l, 1, j, action, observation));
    const double cell = tanh(gate_input(l, 2, j, action, observation));
    const double out = plain_logistic(gate_input(l, 3, j, action, observation));
    c[j] = forget * l->c[j] + in * cell;
    h[j] = out * tanh(c[j]);
  }
  memcpy(l->h, h, sizeof h);
  memcpy(l->c, c, sizeof c);
}

void plain_score(const plain_lstm *l, double *score)
{
  const double *first = l->weights + 4 * l->units * (1 + l->actions + l->observations + l->units);
  const double *second = first + l->layer * (1 + l->units);
  for (size_t u = 0; u < l->actions; u++) score[u] = second[u];
  for (size_t j = 0; j < l->layer; j++) {
    double sum = first[j];
    for (size_t i = 0; i < l->units; i++) sum += l->h[i] * first[l->layer + i * l->layer + j];
    for (size_t u = 0; u < l->actions; u++)
      score[u] += tanh(sum) * second[l->actions + j * l->actions + u];
  }
}
