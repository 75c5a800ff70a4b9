/* How an agent takes up what it sees, and whether that or its models are free. Inline, because
 * recognition spends its time here. */
#ifndef IDM_PLAN_UPDATE_H
#define IDM_PLAN_UPDATE_H

#include "belief/filter.h"
#include "belief/sensor.h"
#include "idm/theta.h"

static inline idm_update idm_update_of(const idm_theta *theta)
{
  const double prior = theta->block[IDM_PRIOR_WEIGHT].value[0];
  const double evidence = theta->block[IDM_EVIDENCE_WEIGHT].value[0];
  return (idm_update){prior != 1 || evidence != 1, prior, evidence};
}

/* The sensor of an agent. Observed states are seen whatever its capacity. */
static inline idm_sensor idm_sensor_of(const idm_setting *setting, const idm_theta *theta)
{
  const double capacity = theta->block[IDM_SENSOR_CAPACITY].value[0];
  return (idm_sensor){.capacity = setting->fully_observed ? INFINITY : capacity,
                      .sizes = theta->sizes,
                      .models = theta->models,
                      .transition = theta->block[IDM_TRANSITION].value,
                      .emission = theta->block[IDM_EMISSION].value,
                      .model_prior = theta->block[IDM_MODEL_PRIOR].value,
                      .before = setting->emits_before};
}

/* Whether the sensor is limited, or may become so: then what an agent perceived is not recorded. */
static inline bool idm_sensor_may_limit(const idm_setting *setting, const idm_theta *theta)
{
  const bool free = theta->block[IDM_SENSOR_CAPACITY].role == IDM_DESCRIPTIVE;
  const idm_sensor sensor = idm_sensor_of(setting, theta);
  return !setting->fully_observed && (free || idm_sensor_is_limited(&sensor));
}

/* Whether derivatives by what makes beliefs are wanted: the models' dynamics, and how they are
 * taken up. */
static inline bool idm_update_is_free(const idm_theta *theta)
{
  static const idm_block_id makes[] = {IDM_TRANSITION, IDM_EMISSION, IDM_PRIOR_WEIGHT,
                                       IDM_EVIDENCE_WEIGHT};
  for (size_t i = 0; i < sizeof makes / sizeof makes[0]; i++)
    if (theta->block[makes[i]].role == IDM_DESCRIPTIVE) return true;
  return false;
}

#endif
