/* Long short-term memory with scores of actions, for many histories at once
 * (docs/method/learners.md, 3). */
#include "plan/network/network.h"

#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "base/vector.h"

lstm_layout idm_lstm_layout(size_t actions, size_t observations, size_t units, size_t layer)
{
  lstm_layout p = {
      .actions = actions, .observations = observations, .units = units, .layer = layer};
  p.action = 4 * units;
  p.observation = p.action + actions * 4 * units;
  p.recurrent = p.observation + observations * 4 * units;
  p.first = p.recurrent + units * 4 * units;
  p.second = p.first + layer + units * layer;
  p.count = p.second + actions + layer * actions;
  return p;
}

static void draw(idm_random *random, size_t count, double variance, double *w)
{
  for (size_t i = 0; i < count; i++) w[i] = sqrt(variance) * idm_random_normal(random);
}

void idm_lstm_init(const lstm_layout *p, idm_random *random, double *w)
{
  const double units = (double)p->units;
  memset(w, 0, p->count * sizeof *w);
  for (size_t i = 0; i < p->units; i++) w[p->units + i] = 1;
  draw(random, p->recurrent - p->action, 0.5, w + p->action);
  draw(random, p->first - p->recurrent, 1 / units, w + p->recurrent);
  draw(random, p->units * p->layer, 1 / units, w + p->first + p->layer);
  draw(random, p->layer * p->actions, 1 / (double)p->layer, w + p->second + p->actions);
}

/* Positions among the transposes. */
static double *first_transposed(const lstm *l)
{
  return l->transposed + l->plan.units * 4 * l->plan.units;
}
static double *second_transposed(const lstm *l)
{
  return first_transposed(l) + l->plan.units * l->plan.layer;
}

void idm_lstm_transpose(lstm *l)
{
  const lstm_layout *p = &l->plan;
  idm_transpose(p->units, 4 * p->units, l->weights + p->recurrent, l->transposed);
  idm_transpose(p->units, p->layer, l->weights + p->first + p->layer, first_transposed(l));
  idm_transpose(p->layer, p->actions, l->weights + p->second + p->actions, second_transposed(l));
}

/* --- elementwise functions ------------------------------------------------------------------- */

/* Beyond this a logistic function is 0 or 1 to the last bit, and exponentials would overflow. */
static const double saturation = 40;

IDM_INLINE double clip(double x)
{
  return x > saturation ? saturation : x < -saturation ? -saturation : x;
}

/* NaN stays NaN. */
IDM_INLINE double logistic(double x)
{
  return isnan(x) ? x : 1 / (1 + idm_vexp(-clip(x)));
}
IDM_INLINE double hyperbolic_tangent(double x)
{
  return isnan(x) ? x : 1 - 2 / (1 + idm_vexp(2 * clip(x)));
}

IDM_KERNEL(static, apply_gates,
           (size_t units, const double *c, double *gates, double *next_c, double *next_h),
           (units, c, gates, next_c, next_h))
{
  double *i = gates, *f = gates + units, *g = gates + 2 * units, *o = gates + 3 * units;
  for (size_t k = 0; k < units; k++) {
    i[k] = logistic(i[k]);
    f[k] = logistic(f[k]);
    g[k] = hyperbolic_tangent(g[k]);
    o[k] = logistic(o[k]);
    next_c[k] = f[k] * c[k] + i[k] * g[k];
    next_h[k] = o[k] * hyperbolic_tangent(next_c[k]);
  }
}

IDM_KERNEL(static, apply_tanh, (size_t count, double *x), (count, x))
{
  for (size_t k = 0; k < count; k++) x[k] = hyperbolic_tangent(x[k]);
}

/* Replaces the gates by the derivatives with respect to their inputs. */
IDM_KERNEL(static, gates_backward,
           (size_t units, const double *c, const double *next_c, const double *by_h,
            const double *by_c, double *gates, double *by_c_before),
           (units, c, next_c, by_h, by_c, gates, by_c_before))
{
  double *i = gates, *f = gates + units, *g = gates + 2 * units, *o = gates + 3 * units;
  for (size_t k = 0; k < units; k++) {
    const double t = hyperbolic_tangent(next_c[k]);
    const double by_cell = by_c[k] + by_h[k] * o[k] * (1 - t * t);
    const double by_i = by_cell * g[k] * i[k] * (1 - i[k]);
    const double by_f = by_cell * c[k] * f[k] * (1 - f[k]);
    const double by_g = by_cell * i[k] * (1 - g[k] * g[k]);
    by_c_before[k] = by_cell * f[k];
    o[k] = by_h[k] * t * o[k] * (1 - o[k]);
    i[k] = by_i;
    f[k] = by_f;
    g[k] = by_g;
  }
}

IDM_KERNEL(static, add, (size_t count, const double *from, double *to), (count, from, to))
{
  for (size_t k = 0; k < count; k++) to[k] += from[k];
}

/* --- forward --------------------------------------------------------------------------------- */

void idm_lstm_step(const lstm *l, size_t n, const lstm_input *input, const double *h,
                   const double *c, double *gates, double *next_c, double *next_h)
{
  const lstm_layout *p = &l->plan;
  const size_t units = p->units, width = 4 * units;
  for (size_t i = 0; i < n; i++) {
    double *to = gates + i * width;
    memcpy(to, l->weights, width * sizeof *to);
    if (input[i].action >= 0)
      add(width, l->weights + p->action + (size_t)input[i].action * width, to);
    if (input[i].observation >= 0)
      add(width, l->weights + p->observation + (size_t)input[i].observation * width, to);
  }
  idm_product(n, width, units, h, units, 1, l->weights + p->recurrent, gates);
  for (size_t i = 0; i < n; i++)
    apply_gates(units, c + i * units, gates + i * width, next_c + i * units, next_h + i * units);
}

/* to[n][m] = constants + from[n][k] matrix; in `weights` the matrix follows the constants. */
static void connect(size_t n, size_t k, size_t m, const double *from, const double *weights,
                    double *to)
{
  for (size_t i = 0; i < n; i++) memcpy(to + i * m, weights, m * sizeof *to);
  idm_product(n, m, k, from, k, 1, weights + m, to);
}

void idm_lstm_score(const lstm *l, size_t n, const double *h, double *layer, double *score)
{
  const lstm_layout *p = &l->plan;
  connect(n, p->units, p->layer, h, l->weights + p->first, layer);
  apply_tanh(n * p->layer, layer);
  connect(n, p->layer, p->actions, layer, l->weights + p->second, score);
}

/* --- backward -------------------------------------------------------------------------------- */

/* Backward pass of `connect`: adds to the derivatives with respect to its weights. */
static void weights_backward(size_t n, size_t k, size_t m, const double *from, const double *by_to,
                             double *by_weights)
{
  for (size_t i = 0; i < n; i++) add(m, by_to + i * m, by_weights);
  idm_product(k, m, n, from, 1, k, by_to, by_weights + m);
}

void idm_lstm_score_backward(const lstm *l, size_t n, const double *h, const double *layer,
                             const double *by_score, double *by_layer, double *by_weights,
                             double *by_h)
{
  const lstm_layout *p = &l->plan;
  weights_backward(n, p->layer, p->actions, layer, by_score, by_weights + p->second);
  memset(by_layer, 0, n * p->layer * sizeof *by_layer);
  idm_product(n, p->layer, p->actions, by_score, p->actions, 1, second_transposed(l), by_layer);
  for (size_t i = 0; i < n * p->layer; i++) by_layer[i] *= 1 - layer[i] * layer[i];
  weights_backward(n, p->units, p->layer, h, by_layer, by_weights + p->first);
  idm_product(n, p->units, p->layer, by_layer, p->layer, 1, first_transposed(l), by_h);
}

void idm_lstm_step_backward(const lstm *l, size_t n, const lstm_input *input, const double *h,
                            const double *c, const double *next_c, double *gates,
                            const double *by_h, const double *by_c, double *by_weights,
                            double *by_h_before, double *by_c_before)
{
  const lstm_layout *p = &l->plan;
  const size_t units = p->units, width = 4 * units;
  for (size_t i = 0; i < n; i++) {
    const size_t at = i * units;
    double *gate = gates + i * width;
    gates_backward(units, c + at, next_c + at, by_h + at, by_c + at, gate, by_c_before + at);
    add(width, gate, by_weights);
    if (input[i].action >= 0)
      add(width, gate, by_weights + p->action + (size_t)input[i].action * width);
    if (input[i].observation >= 0)
      add(width, gate, by_weights + p->observation + (size_t)input[i].observation * width);
  }
  idm_product(units, width, n, h, 1, units, gates, by_weights + p->recurrent);
  memset(by_h_before, 0, n * units * sizeof *by_h_before);
  idm_product(n, units, width, gates, width, 1, l->transposed, by_h_before);
}
