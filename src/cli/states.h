/* What an agent does in every state, where states are observed. */
#ifndef IDM_CLI_STATES_H
#define IDM_CLI_STATES_H

#include "cli/cli.h"
#include "io/json.h"

/* One line per state, up to a screenful: probabilities at choice time, or the planned policy. */
idm_status cli_print_states(cli_call *call, const idm_setting *setting, idm_workspace *workspace,
                            bool planned);
/* {state: {"value": number, "policy": {action: probability}}}; with habits also "planned". */
idm_status cli_states_json(cli_call *call, const idm_setting *setting, idm_workspace *workspace,
                           json_t **ret_object);

#endif
