/* Beliefs: the simplex lattice, the Bayes filter with its reverse-mode derivative, and a sensor of
 * limited capacity.
 *
 * Contents: lattice · filter · filter slope · sensor */
#ifndef IDM_BELIEF_BELIEF_H
#define IDM_BELIEF_BELIEF_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "idm/extension/setting.h"
#include "idm/status.h"

/* === lattice ================================================================================ */

/* The simplex lattice: beliefs whose coordinates are multiples of 1/r, and interpolation between
 * them.
 *
 * Freudenthal triangulation in the coordinates y_i = r * sum_{j >= i} z_j (docs/method/control.md,
 * 7). Where the setting is fully observed, the points are the corners of the simplex, and a belief
 * is its own vector of weights. */

typedef struct idm_lattice {
  size_t states;
  int resolution;
  bool corners; /* an MDP: one point per state */
  size_t points;
  size_t *rank;   /* [states][resolution + 1]: term of coordinate y_i in the index of a point */
  double *belief; /* [points][states]; NULL for corners */
} idm_lattice;

/* Number of points C(r + k - 1, k - 1), or SIZE_MAX on overflow. */
size_t idm_lattice_count(size_t states, int resolution);
/* Default resolution: 99 up to 3 states, else the largest with at most 20,000 points, at least 1.
 */
int idm_lattice_default(size_t states);
/* The largest resolution with at most `points` points; 0: there is none. */
int idm_lattice_max_resolution(size_t states, size_t points);

idm_status idm_lattice_create(size_t states, int resolution, bool corners,
                              idm_lattice **ret_lattice, idm_error *opt_error);
void idm_lattice_destroy(idm_lattice *lattice);

/* Vertices of the simplex cell that contains belief z, at most `states`, with positive weights that
 * sum to 1. Returns their number. vertex and weight have `states` entries, scratch 2 * states. */
size_t idm_lattice_locate(const idm_lattice *lattice, const double *z, uint32_t *vertex,
                          double *weight, double *scratch);

/* The same cell, including vertices of weight 0, as a path: vertex j is one step up in coordinate
 * step[j] from vertex j - 1; step[0] is 0. On a face between cells it is the upper cell. vertex,
 * weight and step have `states` entries, scratch 2 * states. */
size_t idm_lattice_cell(const idm_lattice *lattice, const double *z, uint32_t *vertex,
                        double *weight, uint32_t *step, double *scratch);
/* derivative[state] with respect to z of the function that is linear on a cell with values
 * at[count] at its vertices; determined up to a constant common to all states. */
void idm_lattice_gradient(const idm_lattice *lattice, size_t count, const uint32_t *step,
                          const double *at, double *derivative);

/* === filter ================================================================================= */

/* The Bayes filter of one candidate model: prediction and correction. See docs/method/control.md,
 * 2.
 *
 * An observation depends on the state after the action, or with `observation_from: before` on the
 * state acted in. This one state is called the emitter: p(x) = sum_s emitter[s] omega(x|u,s), where
 * the distribution of the emitter is the prediction or z itself. */

/* Weights of prior and evidence in the update of a belief (Grether 1980): the posterior of the
 * emitter is proportional to its prior to the power `prior` times the likelihood to the power
 * `evidence`; zeros remain 0. Predicted probabilities of observations are not changed by these
 * weights. */
typedef struct idm_update {
  bool distorted; /* false: Bayes' rule, and the powers have no effect */
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

/* The environment's model of an action; the setting must have matrices. */
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

/* The same with sparse transitions; and the probability of one next state. */
void idm_filter_predict_sparse(const idm_sparse_rows *moves, size_t action, size_t states,
                               const double *z, double *next);
double idm_filter_next_probability(const idm_sparse_rows *moves, size_t action, size_t states,
                                   const double *z, size_t next);

/* Distribution of the emitter at z, emitter[state]. */
void idm_filter_emitter(const idm_action_model *action_model, const double *z, double *emitter);

/* Returns p(x). posterior[s'] = p(s'|z,u,x) where p(x) > 0, unchanged elsewhere. */
double idm_filter_correct(const idm_action_model *action_model, const double *emitter, size_t x,
                          double *posterior);

/* joint[s'] = p(s'|z,u,x) p(x) for an update with weights of prior and evidence; returns p(x). */
double idm_filter_distorted_joint(const idm_action_model *action_model, const double *z, size_t x,
                                  double *joint);

/* Two states: the linear map from z to p(s', x | z, u), joint[i] = z[0] from[0][i] + z[1]
 * from[1][i]. */
typedef struct idm_pair_matrix {
  double from[2][2];
} idm_pair_matrix;

/* `emission` is the column of the observation, with a stride of `observations`. */
static inline idm_pair_matrix idm_pair_matrix_of(const double *transition, const double *emission,
                                                 size_t observations, bool before)
{
  const double low = emission[0];
  const double high = emission[observations];
  return (idm_pair_matrix){{{transition[0] * low, transition[1] * (before ? low : high)},
                            {transition[2] * (before ? high : low), transition[3] * high}}};
}

/* joint[s'] = p(s', x | z, u); returns the sum p(x). With weights of prior and evidence, the
 * posterior belief times p(x). */
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

/* sum_s' tau(s'|s,u) derivative[s']. */
static inline double idm_filter_expect_next(const idm_action_model *action_model,
                                            const double *derivative, size_t s)
{
  double sum = 0;
  for (size_t t = 0; t < action_model->states; t++)
    sum += action_model->transition[s * action_model->states + t] * derivative[t];
  return sum;
}

/* From derivatives with respect to the state after the action to those with respect to the emitter.
 */
static inline double idm_filter_by_emitter(const idm_action_model *action_model,
                                           const double *derivative, size_t s)
{
  return action_model->before ? idm_filter_expect_next(action_model, derivative, s) : derivative[s];
}

/* From derivatives with respect to the emitter to those with respect to the state acted in. */
static inline double idm_filter_by_state(const idm_action_model *action_model,
                                         const double *derivative, size_t s)
{
  return action_model->before ? derivative[s] : idm_filter_expect_next(action_model, derivative, s);
}

/* back[s] += factor sum_s' (derivative[s'] - offset) d joint[s'] / d z_s, by Bayes' rule. */
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

/* Reverse-mode derivative of one step of the filter: of the posterior belief and of the probability
 * of the observation, with respect to prior belief, dynamics and weights. */

/* Destinations that derivatives are added to; NULL: not computed. Derivatives with respect to rows
 * of the dynamics are determined up to a constant per row, since rows sum to 1. */
typedef struct idm_filter_gradient {
  double *belief; /* [state]: with respect to z; determined up to a constant common to all states */
  double *transition; /* [state][next state] */
  double *emission;   /* [emitter][observation] */
  double *prior;      /* one number each: with respect to the weights of prior */
  double *evidence;   /* and evidence; under Bayes' rule at weights of 1 */
} idm_filter_gradient;

/* Length of the scratch of idm_filter_backward. */
size_t idm_filter_backward_scratch(size_t states);
/* One step at z followed by the observation x, which must have p(x|z) > 0: adds scale * sum_s'
 * after[s'] d posterior[s'] + by_probability * d p(x|z) to the destinations. */
void idm_filter_backward(const idm_action_model *action_model, const double *z, size_t x,
                         const double *after, double scale, double by_probability,
                         const idm_filter_gradient *to, double *scratch);

/* === sensor ================================================================================= */

/* A sensor of limited capacity (rational inattention; Sims 2003). See docs/method/control.md, 11.
 *
 * The channel from the emitted observation X to the perceived one passes X with probability a(z,u)
 * = min(1, C / H(X|z,u)) and else passes nothing: an erasure channel, whose mutual information is
 * min(C, H). Among all channels of that mutual information it has the least expected logarithmic
 * loss about X, H - C (Courtade and Weissman 2014), and it reports nothing false. If nothing is
 * perceived, the belief is the prediction of the transition alone.
 *
 * H is the entropy in nats of the agent's predicted observation, with its models mixed by their
 * prior weights: the channel does not depend on a preferred model. */

typedef struct idm_sensor {
  double capacity; /* C, nats per step; inf: everything is perceived, and the fields below have no
                      effect */
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

/* Length of the scratch of the functions below. */
static inline size_t idm_sensor_scratch(idm_sizes sizes)
{
  return sizes.states + sizes.observations;
}

/* H(X|z,u) in nats. */
double idm_sensor_entropy(const idm_sensor *sensor, const double *z, size_t action,
                          double *scratch);
/* a(z,u): the probability that the observation is perceived; 1 where the sensor is not limited, 0
 * at a capacity of 0. */
double idm_sensor_passes(const idm_sensor *sensor, const double *z, size_t action, double *scratch);

#endif
