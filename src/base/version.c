/* The version, as the build knows it. */
#include "idm/idm.h"

const char *idm_version(void)
{
  return IDM_VERSION;
}
