/* The registry of inverse planners. */
#include <stddef.h>
#include <string.h>

#include "base/arguments.h"
#include "idm/extension/inverse.h"
#include "invert/posterior.h"

#define INVERSES(X)                                                                                \
  X(idm_inverse_bayes)                                                                             \
  X(idm_inverse_map)                                                                               \
  X(idm_inverse_laplace)                                                                           \
  X(idm_inverse_minimum_perturbation)                                                              \
  X(idm_inverse_maximum_margin)                                                                    \
  X(idm_inverse_regularised_margin)                                                                \
  X(idm_inverse_multiple_experimentation)                                                          \
  X(idm_inverse_distance)                                                                          \
  X(idm_inverse_policy_inversion)                                                                  \
  X(idm_inverse_preference)                                                                        \
  X(idm_inverse_preference_bayes)                                                                  \
  X(idm_inverse_distribution_matching)                                                             \
  X(idm_inverse_distribution_matching_bayes)

#define DECLARE(inverse) extern const idm_inverse inverse;
INVERSES(DECLARE)

#define ADDRESS_OF(inverse) &(inverse),
static const idm_inverse *const inverses[] = {INVERSES(ADDRESS_OF)};

enum { BUILT_IN_COUNT = sizeof inverses / sizeof inverses[0], MAX_PLUGINS = 32 };

/* Inverse planners of plug-ins, see idm_plugin_load. */
static idm_inverse plugin[MAX_PLUGINS];
static size_t plugins;

const idm_inverse *idm_inverse_at(size_t index)
{
  if (index < BUILT_IN_COUNT) return inverses[index];
  return index - BUILT_IN_COUNT < plugins ? &plugin[index - BUILT_IN_COUNT] : NULL;
}

idm_status idm_inverse_check_table(const idm_inverse *inverse, idm_error *opt_error)
{
  if (inverse->size != sizeof *inverse)
    return idm_fail(opt_error, IDM_INPUT,
                    "idm_inverse.size is %zu; expected sizeof(idm_inverse), %zu", inverse->size,
                    sizeof *inverse);
  if (!inverse->name || !inverse->name[0] || !inverse->summary || !inverse->row || !inverse->fit ||
      !inverse->settings)
    return idm_fail(opt_error, IDM_INPUT,
                    "the inverse planner '%s' lacks what idm_inverse requires",
                    inverse->name ? inverse->name : "");
  if (idm_inverse_find(inverse->name))
    return idm_fail(opt_error, IDM_INPUT, "there is an inverse planner '%s' already",
                    inverse->name);
  if (plugins == MAX_PLUGINS)
    return idm_fail(opt_error, IDM_INPUT, "more than %d inverse planners of plug-ins", MAX_PLUGINS);
  return IDM_OK;
}

idm_status idm_inverse_register(const idm_inverse *inverse, idm_error *opt_error)
{
  idm_require(inverse);
  const idm_status status = idm_inverse_check_table(inverse, opt_error);
  if (status != IDM_OK) return status;
  memcpy(&plugin[plugins++], inverse, inverse->size);
  return IDM_OK;
}

const idm_inverse *idm_inverse_find(const char *name)
{
  if (!name) return NULL;
  for (size_t i = 0; idm_inverse_at(i); i++)
    if (strcmp(idm_inverse_at(i)->name, name) == 0) return idm_inverse_at(i);
  return NULL;
}
