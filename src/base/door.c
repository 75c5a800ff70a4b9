/* The door of a public function. */
#include "base/door.h"

#include <string.h>

idm_status idm_door(const char *function, const void *const *given, size_t count, const char *names,
                    idm_error *opt_error)
{
  size_t i = 0;
  while (i < count && given[i]) i++;
  if (i == count) return IDM_OK;
  for (; i; i--) names = strchr(names, ',') + 2;
  return idm_fail(opt_error, IDM_USAGE, "%s was called with NULL for '%.*s'", function,
                  (int)strcspn(names, ","), names);
}
