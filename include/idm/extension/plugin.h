/* Plug-ins: shared objects that provide a planner, an inverse planner or both. */
#ifndef IDM_EXTENSION_PLUGIN_H
#define IDM_EXTENSION_PLUGIN_H

#include "idm/extension/behavior.h"
#include "idm/extension/inverse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Increased with every change of the tables below that the compiler does not detect. */
enum { IDM_PLUGIN_ABI = 3, IDM_PLUGIN_SIZES = 7 };

/* Sizes of the structs that a plug-in and the library exchange. */
#define IDM_PLUGIN_LAYOUT                                                                          \
  {                                                                                                \
    sizeof(idm_planner), sizeof(idm_inverse), sizeof(idm_behavior_ops), sizeof(idm_belief_ops),    \
        sizeof(idm_block_info), sizeof(idm_theta), sizeof(idm_setting)                             \
  }

/* Table that a plug-in exports under the name `idm_plugin_table`. */
typedef struct idm_plugin {
  unsigned abi;                    /* IDM_PLUGIN_ABI */
  size_t layout[IDM_PLUGIN_SIZES]; /* IDM_PLUGIN_LAYOUT */
  const idm_planner *planner;      /* NULL: none */
  const idm_inverse *inverse;      /* NULL: none */
} idm_plugin;

/* Export a planner and an inverse planner (NULL: none). Use once per plug-in. */
#define IDM_PLUGIN(its_planner, its_inverse)                                                       \
  extern const idm_plugin idm_plugin_table;                                                        \
  const idm_plugin idm_plugin_table = {IDM_PLUGIN_ABI, IDM_PLUGIN_LAYOUT, (its_planner),           \
                                       (its_inverse)}

/* Load a plug-in and add its planners to the registries, where they stay until the process ends.
 * The registries are shared by the whole process; do not call this function while another thread
 * uses them. IDM_INPUT if the file is not a plug-in, was built against another version of the
 * library, lacks a required member, or its name is taken. */
IDM_API idm_status idm_plugin_load(const char *path, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
