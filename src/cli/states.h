/* What an agent does in every state, where states are observed. */
#ifndef IDM_CLI_STATES_H
#define IDM_CLI_STATES_H

#include "cli/cli.h"
#include "io/json.h"

/* A line a state, up to a screenful. */
idm_status cli_print_states(cli_call *call, const idm_setting *setting, idm_workspace *workspace);
/* {state: {"value": number, "policy": {action: probability}}} */
idm_status cli_states_json(cli_call *call, const idm_setting *setting, idm_workspace *workspace,
                           json_t **ret_object);

#endif
