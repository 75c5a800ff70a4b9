/* Shared objects that are rejected as plug-ins, one per value of FAULT. */
#include "idm/extension/plugin.h"

#define NONE   0
#define ABI    1
#define LAYOUT 2
#define EMPTY  3
#define BARE   4

#if FAULT != NONE
static const idm_planner planner = {.size = sizeof(idm_planner), .name = "bare"};
extern const idm_plugin idm_plugin_table;
const idm_plugin idm_plugin_table = {.abi = IDM_PLUGIN_ABI + (FAULT == ABI),
#if FAULT != LAYOUT
                                     .layout = IDM_PLUGIN_LAYOUT,
#endif
                                     .planner = FAULT == EMPTY ? NULL : &planner};
#endif
