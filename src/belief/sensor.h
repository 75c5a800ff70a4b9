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
#ifndef IDM_BELIEF_SENSOR_H
#define IDM_BELIEF_SENSOR_H

#include <math.h>

#include "idm/setting.h"

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
