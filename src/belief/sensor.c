/* A sensor of limited capacity: see the header. */
#include "belief/sensor.h"

#include <string.h>

#include "belief/filter.h"

double idm_sensor_entropy(const idm_sensor *sensor, const double *z, size_t action, double *scratch)
{
  const idm_sizes n = sensor->sizes;
  double *const emitter = scratch, *const p = scratch + n.states;
  memset(p, 0, n.observations * sizeof *p);
  for (size_t m = 0; m < sensor->models; m++) {
    const size_t at = m * n.actions + action;
    const idm_world world = {.states = n.states,
                             .observations = n.observations,
                             .transition = sensor->transition + at * n.states * n.states,
                             .emission = sensor->emission + at * n.states * n.observations,
                             .before = sensor->before};
    if (!(sensor->model_prior[m] > 0)) continue;
    idm_filter_emitter(&world, z, emitter);
    for (size_t s = 0; s < n.states; s++)
      for (size_t x = 0; x < n.observations; x++)
        p[x] += sensor->model_prior[m] * emitter[s] * world.emission[s * n.observations + x];
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
