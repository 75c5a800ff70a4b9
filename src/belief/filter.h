/* The Bayes filter, its derivative, and a sensor of limited capacity.
 *
 * Contents: filter · filter slope · sensor */
#ifndef IDM_BELIEF_FILTER_H
#define IDM_BELIEF_FILTER_H

#include <math.h>
#include <stddef.h>

#include "idm/setting.h"

/* === filter ================================================================================= */

/* The Bayes filter of one candidate model: prediction, and correction by what was seen.
 *
 * What is seen comes from the state after the action, or with `observation_from: before` from the
 * state acted in. Either way it comes from one state, the emitter: p(x) = sum_s emitter[s]
 * omega(x|u,s), where the emitter is distributed as the prediction or as z itself. */

/* How a belief takes up what was seen (Grether 1980): the emitter's posterior is proportional to
 * its prior to one power times the likelihood to another, and what is 0 stays 0. Predictions are
 * those of probability theory all the same. */
typedef struct idm_update {
  bool distorted; /* false: Bayes' rule, and nothing below counts */
  double prior;
  double evidence;
} idm_update;

/* One action under one model. */
typedef struct idm_action_model {
  size_t states;
  size_t observations;
  const double *transition; /* [s][s'] */
  const double *emission;   /* [emitter][x] */
  bool before;              /* the emitter is the state acted in */
  idm_update update;
} idm_action_model;

/* The environment's own, of an action; its dynamics are known. */
static inline idm_action_model idm_action_model_of(const idm_setting *setting, size_t action)
{
  const idm_sizes n = idm_setting_sizes(setting);
  return (idm_action_model){.states = n.states,
                            .observations = n.observations,
                            .transition = setting->transition + action * n.states * n.states,
                            .emission = setting->emission + action * n.states * n.observations,
                            .before = setting->emits_before};
}

/* next[s'] = sum_s z_s tau(s'|s,u); transition is the action's matrix [s][s']. */
void idm_filter_predict(size_t states, const double *transition, const double *z, double *next);

/* The same by moves, and how likely one of the next states is. */
void idm_filter_predict_sparse(const idm_sparse_rows *moves, size_t action, size_t states,
                               const double *z, double *next);
double idm_filter_next_probability(const idm_sparse_rows *moves, size_t action, size_t states,
                                   const double *z, size_t next);

/* How the emitter is distributed at z. */
void idm_filter_emitter(const idm_action_model *action_model, const double *z, double *emitter);

/* p(x), and posterior[s'] = p(s'|z,u,x), normalised where p(x) > 0 and left alone elsewhere. */
double idm_filter_correct(const idm_action_model *action_model, const double *emitter, size_t x,
                          double *posterior);

/* p(s'|z,u,x) times p(x) where the update is bent; returns p(x). */
double idm_filter_distorted_joint(const idm_action_model *action_model, const double *z, size_t x,
                                  double *joint);

/* Two states: what takes z to p(s', x | z, u), joint[i] = z[0] from[0][i] + z[1] from[1][i]. */
typedef struct idm_pair_matrix {
  double from[2][2];
} idm_pair_matrix;

/* `emission` is the column of what was seen, a stride of `observations` apart. */
static inline idm_pair_matrix idm_pair_matrix_of(const double *transition, const double *emission,
                                                 size_t observations, bool before)
{
  const double low = emission[0];
  const double high = emission[observations];
  return (idm_pair_matrix){{{transition[0] * low, transition[1] * (before ? low : high)},
                            {transition[2] * (before ? high : low), transition[3] * high}}};
}

/* joint[s'] = p(s', x | z, u); returns their sum p(x). Where the update is bent, the belief after
 * times p(x). */
static inline double idm_filter_joint(const idm_action_model *action_model, const double *z,
                                      size_t x, double *joint)
{
  const size_t k = action_model->states;
  const double *emission = action_model->emission + x;
  if (action_model->update.distorted) return idm_filter_distorted_joint(action_model, z, x, joint);
  if (k == 2) { /* the loops below, unrolled */
    const idm_pair_matrix pair = idm_pair_matrix_of(
        action_model->transition, emission, action_model->observations, action_model->before);
    joint[0] = z[0] * pair.from[0][0] + z[1] * pair.from[1][0];
    joint[1] = z[0] * pair.from[0][1] + z[1] * pair.from[1][1];
    return joint[0] + joint[1];
  }
  double total = 0;
  for (size_t t = 0; t < k; t++) {
    double next = 0;
    for (size_t s = 0; s < k; s++)
      next += z[s] * action_model->transition[s * k + t] *
              (action_model->before ? emission[s * action_model->observations] : 1);
    joint[t] = action_model->before ? next : next * emission[t * action_model->observations];
    total += joint[t];
  }
  return total;
}

/* --- derivatives, backwards ----------------------------------------------------------------- */

/* sum_s' tau(s'|s,u) slope[s']. */
static inline double idm_filter_expect_next(const idm_action_model *action_model,
                                            const double *derivative, size_t s)
{
  double sum = 0;
  for (size_t t = 0; t < action_model->states; t++)
    sum += action_model->transition[s * action_model->states + t] * derivative[t];
  return sum;
}

/* From slopes by the state after, [s'], to those by the emitter. */
static inline double idm_filter_by_emitter(const idm_action_model *action_model,
                                           const double *derivative, size_t s)
{
  return action_model->before ? idm_filter_expect_next(action_model, derivative, s) : derivative[s];
}

/* From slopes by the emitter to those by the state acted in. */
static inline double idm_filter_by_state(const idm_action_model *action_model,
                                         const double *derivative, size_t s)
{
  return action_model->before ? derivative[s] : idm_filter_expect_next(action_model, derivative, s);
}

/* back[s] += factor sum_s' (slope[s'] - offset) d joint[s'] / d z_s, by Bayes' rule. */
static inline void idm_filter_joint_backward(const idm_action_model *action_model, size_t x,
                                             const double *derivative, double offset, double factor,
                                             double *back)
{
  const size_t k = action_model->states;
  const double *emission = action_model->emission + x;
  for (size_t t = 0; t < k; t++)
    for (size_t s = 0; s < k; s++)
      back[s] += factor * (derivative[t] - offset) * action_model->transition[s * k + t] *
                 emission[(action_model->before ? s : t) * action_model->observations];
}

/* === filter slope =========================================================================== */

/* The derivative of one step of the filter in reverse: of the belief after and of the probability
 * of what was seen, by everything that they are made of. */

/* Where derivatives are added; NULL: not wanted. Those by rows of the dynamics are determined up to
 * a number a row, since rows sum to 1. */
typedef struct idm_filter_gradient {
  double *belief;     /* [state]: by z; a number common to all states is undetermined */
  double *transition; /* [state][next state] */
  double *emission;   /* [emitter][observation] */
  double *prior;      /* one number each: by the powers of a bent update; at Bayes' rule by those */
  double *evidence;   /* at 1 */
} idm_filter_gradient;

/* Numbers of scratch that idm_filter_backward needs. */
size_t idm_filter_backward_scratch(size_t states);
/* One step at z after which x was seen, which is possible: f has the slopes after[s'] by the belief
 * that follows, times `scale`, and `seen` by p(x|z). */
void idm_filter_backward(const idm_action_model *action_model, const double *z, size_t x,
                         const double *after, double scale, double by_probability,
                         const idm_filter_gradient *to, double *scratch);

/* === sensor ================================================================================= */

/* A sensor of limited capacity (rational inattention; Sims 2003).
 *
 * The channel from what is emitted, X, to what is perceived passes X with probability a(z,u) =
 * min(1, C / H(X|z,u)) and else nothing: an erasure channel, whose mutual information is min(C, H).
 * Among all channels of that mutual information it attains the least expected logarithmic loss
 * about X, H - C (Courtade and Weissman 2014), and it reports nothing false. If nothing is
 * perceived, the belief is predicted by the transition alone.
 *
 * H is the entropy in nats of what the agent expects to see, its models mixed by their prior
 * weights: the channel is set before a model is preferred. */

typedef struct idm_sensor {
  double capacity; /* C, nats per step; inf: everything is seen, and nothing below counts */
  idm_sizes sizes;
  size_t models;
  const double *transition;  /* [model][action][s][s'] */
  const double *emission;    /* [model][action][emitter][x] */
  const double *model_prior; /* [model] */
  bool before;               /* the emitter is the state acted in */
} idm_sensor;

static inline bool idm_sensor_is_limited(const idm_sensor *sensor)
{
  return isfinite(sensor->capacity);
}

/* Numbers of scratch that the functions below need. */
static inline size_t idm_sensor_scratch(idm_sizes sizes)
{
  return sizes.states + sizes.observations;
}

/* H(X|z,u) in nats. */
double idm_sensor_entropy(const idm_sensor *sensor, const double *z, size_t action,
                          double *scratch);
/* a(z,u): the probability that what is emitted is perceived; 1 where the sensor is not limited, 0
 * at a capacity of 0. */
double idm_sensor_passes(const idm_sensor *sensor, const double *z, size_t action, double *scratch);

#endif
