/* run.nc: the functions of netCDF, loaded on first use, and words of the format. */
#include "io/run/netcdf.h"

#include <pthread.h>

const char *const idm_netcdf_answers[] = {"point", "posterior", "set", NULL};

idm_netcdf_functions idm_netcdf;

#define SYMBOL(name) IDM_LIBRARY_SYMBOL(idm_netcdf, name)
static const idm_symbol symbols[] = {IDM_NETCDF_FUNCTIONS(SYMBOL)};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool loaded;

static void load(void)
{
  loaded = idm_library_load(IDM_NETCDF_LIBRARY, symbols, sizeof symbols / sizeof *symbols);
}

idm_status idm_netcdf_load(idm_error *opt_error)
{
  pthread_once(&once, load);
  if (loaded) return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM,
                  "run.nc needs the library netCDF (%s), which this machine lacks",
                  IDM_NETCDF_LIBRARY);
}
