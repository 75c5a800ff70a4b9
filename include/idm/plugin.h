/* Plug-ins: shared objects that bring a planner, an inverse planner or both. */
#ifndef IDM_PLUGIN_H
#define IDM_PLUGIN_H

#include "idm/behavior.h"
#include "idm/inverse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changes with every change of the tables below that a compiler would not notice. */
enum { IDM_PLUGIN_ABI = 2, IDM_PLUGIN_SIZES = 7 };

/* Sizes of what a plug-in and the library hand each other. */
#define IDM_PLUGIN_LAYOUT                                                                          \
  {                                                                                                \
    sizeof(idm_planner), sizeof(idm_inverse), sizeof(idm_behavior_ops), sizeof(idm_belief_ops),    \
        sizeof(idm_block_info), sizeof(idm_theta), sizeof(idm_setting)                             \
  }

/* What a plug-in exports under the name `idm_plugin_table`. */
typedef struct idm_plugin {
  unsigned abi;                    /* IDM_PLUGIN_ABI */
  size_t layout[IDM_PLUGIN_SIZES]; /* IDM_PLUGIN_LAYOUT */
  const idm_planner *planner;      /* NULL where it brings none */
  const idm_inverse *inverse;      /* likewise */
} idm_plugin;

/* Export a planner or an inverse planner (NULL: none). One line of a plug-in. */
#define IDM_PLUGIN(its_planner, its_inverse)                                                       \
  extern const idm_plugin idm_plugin_table;                                                        \
  const idm_plugin idm_plugin_table = {IDM_PLUGIN_ABI, IDM_PLUGIN_LAYOUT, (its_planner),           \
                                       (its_inverse)}

/* Load a plug-in and put what it brings into the registries, where it stays until the process ends:
 * the one thing that the library keeps for everybody. Not to be called while others use the
 * registries. IDM_INPUT where it is no plug-in, was built against another library, lacks what a
 * table requires, or brings a name that is taken. */
IDM_API idm_status idm_plugin_load(const char *path, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
