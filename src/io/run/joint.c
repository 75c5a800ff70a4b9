/* Dynamics that were drawn with the decisions: see the header. */
#include "io/run/joint.h"

static json_t *by_name(const idm_labels *name, const double *value)
{
  json_t *object = json_object();
  for (size_t i = 0; i < name->count; i++)
    idm_json_set(&object, name->name[i], idm_json_number(value[i]));
  return object;
}

json_t *idm_json_joint(const idm_joint_dynamics *dynamics)
{
  json_t *object = json_object();
  idm_json_set(&object, "mean", by_name(&dynamics->name, dynamics->mean));
  idm_json_set(&object, "sd", by_name(&dynamics->name, dynamics->sd));
  idm_json_set(&object, "r_hat", idm_json_number(dynamics->rhat));
  idm_json_set(&object, "ess_bulk", idm_json_number(dynamics->effective));
  idm_json_set(&object, "observations_lost", idm_json_number(dynamics->lost));
  return object;
}

json_t *idm_json_central(const idm_drawn *drawn)
{
  json_t *object = json_object();
  if (drawn->of) idm_json_set(&object, "draw", json_integer((json_int_t)drawn->of));
  idm_json_set(&object, "probability", idm_json_numbers(drawn->central, drawn->numbers));
  return object;
}
