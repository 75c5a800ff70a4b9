/* The Bayes filter, its reverse-mode derivative, and a sensor of limited capacity.
 *
 * Contents: filter · filter slope · sensor */
#include <math.h>
#include <string.h>

#include "base/statistics.h"
#include "belief/belief.h"

/* === filter ================================================================================= */

/* The Bayes filter of one candidate model. */

void idm_filter_predict(size_t states, const double *transition, const double *z, double *next)
{
  memset(next, 0, states * sizeof *next);
  for (size_t s = 0; s < states; s++) {
    if (z[s] == 0) continue;
    const double *row = transition + s * states;
    for (size_t t = 0; t < states; t++) next[t] += z[s] * row[t];
  }
}

void idm_filter_emitter(const idm_action_model *action_model, const double *z, double *emitter)
{
  if (action_model->before)
    memcpy(emitter, z, action_model->states * sizeof *emitter);
  else
    idm_filter_predict(action_model->states, action_model->transition, z, emitter);
}

/* Logarithm of the unnormalised weight of an emitter after the update; -inf where it is impossible.
 */
static double distorted_log(const idm_action_model *action_model, const double *emitter, size_t x,
                            size_t s)
{
  const double likelihood = action_model->emission[s * action_model->observations + x];
  if (!(emitter[s] > 0 && likelihood > 0)) return -INFINITY;
  return action_model->update.prior * log(emitter[s]) +
         action_model->update.evidence * log(likelihood);
}

/* Weights of two emitters after the update: a logistic function of the log-odds. */
static void distort_pair(const idm_action_model *action_model, const double *emitter, size_t x,
                         double *weight)
{
  const double low = action_model->emission[x];
  const double high = action_model->emission[action_model->observations + x];
  const bool possible[2] = {emitter[0] > 0 && low > 0, emitter[1] > 0 && high > 0};
  weight[0] = possible[0];
  weight[1] = possible[1];
  if (!possible[0] || !possible[1]) return;
  const double odds = exp(action_model->update.prior * log(emitter[1] / emitter[0]) +
                          action_model->update.evidence * log(high / low));
  weight[0] = 1 / (1 + odds);
  weight[1] =
      1 / (1 + 1 / odds); /* a small weight keeps its digits, which 1 - weight[0] would lose */
}

/* Belief after an update with weights for prior and evidence; `posterior` may be `emitter`, where
 * the emitter is the state after the action. idm_softmax would need an array of logarithms, for
 * which the filter has no scratch. */
static void distort(const idm_action_model *action_model, const double *emitter, size_t x,
                    double *posterior)
{
  const size_t k = action_model->states;
  double max_log = -INFINITY;
  double total = 0;
  if (k == 2) { /* needs a fifth of the logarithms */
    double weight[2];
    distort_pair(action_model, emitter, x, weight);
    const double *t = action_model->transition;
    posterior[0] = action_model->before ? weight[0] * t[0] + weight[1] * t[2] : weight[0];
    posterior[1] = action_model->before ? weight[0] * t[1] + weight[1] * t[3] : weight[1];
    return;
  }
  for (size_t s = 0; s < k; s++)
    max_log = fmax(max_log, distorted_log(action_model, emitter, x, s));
  if (action_model->before) memset(posterior, 0, k * sizeof *posterior);
  for (size_t s = 0; s < k; s++) {
    const double weight = exp(distorted_log(action_model, emitter, x, s) - max_log);
    total += weight;
    if (!action_model->before) posterior[s] = weight;
    for (size_t t = 0; action_model->before && t < k; t++)
      posterior[t] += weight * action_model->transition[s * k + t];
  }
  for (size_t t = 0; t < k; t++) posterior[t] /= total;
}

double idm_filter_distorted_joint(const idm_action_model *action_model, const double *z, size_t x,
                                  double *joint)
{
  const double *emitter = z;
  double p = 0;
  if (!action_model->before) {
    idm_filter_predict(action_model->states, action_model->transition, z, joint);
    emitter = joint;
  }
  for (size_t s = 0; s < action_model->states; s++)
    p += emitter[s] * action_model->emission[s * action_model->observations + x];
  if (p > 0) distort(action_model, emitter, x, joint);
  for (size_t s = 0; s < action_model->states; s++) joint[s] *= p;
  return p;
}

double idm_filter_correct(const idm_action_model *action_model, const double *emitter, size_t x,
                          double *posterior)
{
  const size_t k = action_model->states;
  const double *emission = action_model->emission + x;
  double total = 0;
  for (size_t s = 0; s < k; s++) total += emitter[s] * emission[s * action_model->observations];
  if (!(total > 0)) return 0;
  if (action_model->update.distorted) {
    distort(action_model, emitter, x, posterior);
    return total;
  }
  if (!action_model->before) {
    for (size_t t = 0; t < k; t++)
      posterior[t] = emitter[t] * emission[t * action_model->observations] / total;
    return total;
  }
  memset(posterior, 0, k * sizeof *posterior);
  for (size_t s = 0; s < k; s++) {
    const double likelihood = emitter[s] * emission[s * action_model->observations] / total;
    if (likelihood == 0) continue;
    for (size_t t = 0; t < k; t++) posterior[t] += likelihood * action_model->transition[s * k + t];
  }
  return total;
}

void idm_filter_predict_sparse(const idm_sparse_rows *moves, size_t action, size_t states,
                               const double *z, double *next)
{
  for (size_t s = 0; s < states; s++) next[s] = 0;
  for (size_t s = 0; s < states; s++) {
    if (!(z[s] > 0)) continue;
    const size_t row = action * states + s;
    for (size_t i = moves->first[row]; i < moves->first[row + 1]; i++)
      next[moves->next[i]] += z[s] * moves->probability[i];
  }
}

double idm_filter_next_probability(const idm_sparse_rows *moves, size_t action, size_t states,
                                   const double *z, size_t next)
{
  double p = 0;
  for (size_t s = 0; s < states; s++)
    if (z[s] > 0) p += z[s] * idm_sparse_rows_probability(moves, action * states + s, next);
  return p;
}

/* === filter slope =========================================================================== */

/* Reverse-mode derivative of one step of the filter.
 *
 * With E the distribution of the emitter (the prediction, or z itself where `before` is set), p =
 * sum E omega(x) and w proportional to E^a omega(x)^b, a = b = 1 for Bayes' rule, the posterior
 * belief is w, or where `before` is set the prediction of w by tau. */

typedef struct step {
  double *emitter;    /* [state]: E */
  double *weight;     /* [state]: w */
  double *derivative; /* [state]: with respect to w, then to E */
  double power[2];    /* a, b */
  double log_size;    /* logarithm of the normaliser of w */
} step;

size_t idm_filter_backward_scratch(size_t states)
{
  return 3 * states;
}

static double likelihood_of(const idm_action_model *action_model, size_t e, size_t x)
{
  return action_model->emission[e * action_model->observations + x];
}

/* Compute E and w; with one division for Bayes' rule. */
static void recompute_step(const idm_action_model *action_model, const double *z, size_t x, step *s)
{
  double total = 0;
  idm_filter_emitter(action_model, z, s->emitter);
  for (size_t e = 0; e < action_model->states; e++) {
    const double likelihood = likelihood_of(action_model, e, x);
    const bool possible = s->emitter[e] > 0 && likelihood > 0;
    if (!action_model->update.distorted)
      s->weight[e] = s->emitter[e] * likelihood;
    else
      s->weight[e] =
          possible ? s->power[0] * log(s->emitter[e]) + s->power[1] * log(likelihood) : -INFINITY;
    total += s->weight[e];
  }
  if (action_model->update.distorted) {
    s->log_size = idm_softmax(s->weight, action_model->states, s->weight);
    return;
  }
  for (size_t e = 0; e < action_model->states; e++) s->weight[e] /= total;
  s->log_size = log(total);
}

/* d w / d E (i = 0) or d w / d omega (i = 1) before normalisation, where the factor x has power[i]
 * and the other factor power[!i]. A factor of 0 has a derivative under Bayes' rule only; with other
 * powers it remains 0. */
static double factor_derivative(const step *s, size_t e, int i, double x, double other)
{
  if (x > 0) return s->power[i] * s->weight[e] / x;
  if (s->power[i] != 1 || !(other > 0)) return 0;
  return exp(s->power[!i] * log(other) - s->log_size);
}

/* Derivatives with respect to w, less their mean under w, since w sums to 1. */
static void derivative_by_weight(const idm_action_model *action_model, const double *after,
                                 double scale, const step *s)
{
  double mean = 0;
  for (size_t e = 0; e < action_model->states; e++) {
    s->derivative[e] = scale * idm_filter_by_emitter(action_model, after, e);
    mean += s->weight[e] * s->derivative[e];
  }
  for (size_t e = 0; e < action_model->states; e++) s->derivative[e] -= mean;
}

/* Derivatives with respect to the powers a and b. */
static void derivative_by_power(const idm_action_model *action_model, size_t x, const step *s,
                                const idm_filter_gradient *to)
{
  for (size_t e = 0; e < action_model->states; e++) {
    const double weighted_derivative = s->weight[e] * s->derivative[e];
    if (!(s->weight[e] > 0)) continue;
    if (to->prior) *to->prior += weighted_derivative * log(s->emitter[e]);
    if (to->evidence) *to->evidence += weighted_derivative * log(likelihood_of(action_model, e, x));
  }
}

void idm_filter_backward(const idm_action_model *action_model, const double *z, size_t x,
                         const double *after, double scale, double likelihood,
                         const idm_filter_gradient *to, double *scratch)
{
  const size_t k = action_model->states;
  const idm_update update = action_model->update;
  step s = {
      .emitter = scratch, .weight = scratch + k, .derivative = scratch + 2 * k, .power = {1, 1}};
  if (update.distorted) {
    s.power[0] = update.prior;
    s.power[1] = update.evidence;
  }
  recompute_step(action_model, z, x, &s);
  derivative_by_weight(action_model, after, scale, &s);
  if (to->prior || to->evidence) derivative_by_power(action_model, x, &s, to);
  for (size_t e = 0; e < k; e++) {
    const double omega = likelihood_of(action_model, e, x);
    if (to->emission)
      to->emission[e * action_model->observations + x] +=
          s.derivative[e] * factor_derivative(&s, e, 1, omega, s.emitter[e]) +
          likelihood * s.emitter[e];
    s.derivative[e] =
        s.derivative[e] * factor_derivative(&s, e, 0, s.emitter[e], omega) + likelihood * omega;
  }
  for (size_t from = 0; from < k; from++) {
    if (to->belief) to->belief[from] += idm_filter_by_state(action_model, s.derivative, from);
    for (size_t next = 0; to->transition && next < k; next++)
      to->transition[from * k + next] += action_model->before ? scale * s.weight[from] * after[next]
                                                              : z[from] * s.derivative[next];
  }
}

/* === sensor ================================================================================= */

/* A sensor of limited capacity. */

double idm_sensor_entropy(const idm_sensor *sensor, const double *z, size_t action, double *scratch)
{
  const idm_sizes n = sensor->sizes;
  double *const emitter = scratch, *const p = scratch + n.states;
  memset(p, 0, n.observations * sizeof *p);
  for (size_t m = 0; m < sensor->models; m++) {
    const size_t at = m * n.actions + action;
    const idm_action_model action_model = {
        .states = n.states,
        .observations = n.observations,
        .transition = sensor->transition + at * n.states * n.states,
        .emission = sensor->emission + at * n.states * n.observations,
        .before = sensor->before};
    if (!(sensor->model_prior[m] > 0)) continue;
    idm_filter_emitter(&action_model, z, emitter);
    for (size_t s = 0; s < n.states; s++)
      for (size_t x = 0; x < n.observations; x++)
        p[x] += sensor->model_prior[m] * emitter[s] * action_model.emission[s * n.observations + x];
  }
  double entropy = 0;
  for (size_t x = 0; x < n.observations; x++)
    if (p[x] > 0) entropy -= p[x] * log(p[x]);
  return entropy;
}

double idm_sensor_passes(const idm_sensor *sensor, const double *z, size_t action, double *scratch)
{
  if (!idm_sensor_is_limited(sensor)) return 1;
  if (sensor->capacity == 0) return 0;
  const double entropy = idm_sensor_entropy(sensor, z, action, scratch);
  return sensor->capacity < entropy ? sensor->capacity / entropy : 1;
}
