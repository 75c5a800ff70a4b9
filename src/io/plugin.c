/* Loads plug-ins and registers their planners and inverse planners. */
#include "idm/extension/plugin.h"

#include <dlfcn.h>
#include <string.h>

#include "base/arguments.h"
#include "invert/posterior.h"
#include "plan/workspace.h"

static const size_t layout[IDM_PLUGIN_SIZES] = IDM_PLUGIN_LAYOUT;

static idm_status check_table(const char *path, const idm_plugin *table, idm_error *opt_error)
{
  if (table->abi != IDM_PLUGIN_ABI || memcmp(table->layout, layout, sizeof layout) != 0)
    return idm_fail(opt_error, IDM_INPUT,
                    "the plug-in '%s' was built against another library (interface %u, this is "
                    "%u%s); rebuild it",
                    path, table->abi, (unsigned)IDM_PLUGIN_ABI,
                    table->abi == IDM_PLUGIN_ABI ? " with other tables" : "");
  if (!table->planner && !table->inverse)
    return idm_fail(opt_error, IDM_INPUT,
                    "the plug-in '%s' contains neither a planner nor an inverse planner", path);
  return IDM_OK;
}

idm_status idm_plugin_load(const char *path, idm_error *opt_error)
{
  idm_require(path);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return idm_fail(opt_error, IDM_INPUT, "cannot load a plug-in: %s", dlerror());
  const idm_plugin *table = dlsym(handle, "idm_plugin_table");
  idm_status status =
      table ? check_table(path, table, opt_error)
            : idm_fail(opt_error, IDM_INPUT,
                       "'%s' is no plug-in: it exports no idm_plugin_table (see IDM_PLUGIN)", path);
  /* Both are checked before either is registered: a registry must not point into a closed library.
   */
  if (status == IDM_OK && table->planner)
    status = idm_planner_check_table(table->planner, opt_error);
  if (status == IDM_OK && table->inverse)
    status = idm_inverse_check_table(table->inverse, opt_error);
  if (status == IDM_OK && table->planner) status = idm_planner_register(table->planner, opt_error);
  if (status == IDM_OK && table->inverse) status = idm_inverse_register(table->inverse, opt_error);
  if (status != IDM_OK) dlclose(handle);
  return status;
}
