/* The registry of inverse planners. */
#include <string.h>

#include "idm/inverse.h"

#define INVERSES(X)                                                                                \
  X(idm_inverse_bayes)                                                                             \
  X(idm_inverse_map)                                                                               \
  X(idm_inverse_laplace)

#define DECLARE(inverse) extern const idm_inverse inverse;
INVERSES(DECLARE)

#define ENTRY(inverse) &(inverse),
static const idm_inverse *const inverses[] = {INVERSES(ENTRY)};

const idm_inverse *idm_inverse_at(size_t index)
{
  return index < sizeof inverses / sizeof inverses[0] ? inverses[index] : NULL;
}

const idm_inverse *idm_inverse_find(const char *name)
{
  if (!name) return NULL;
  for (size_t i = 0; idm_inverse_at(i); i++)
    if (strcmp(idm_inverse_at(i)->name, name) == 0) return idm_inverse_at(i);
  return NULL;
}
