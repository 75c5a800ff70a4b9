/* The version, as the build knows it. */
#include "idm/status.h"

const char *idm_version(void)
{
  return IDM_VERSION;
}
