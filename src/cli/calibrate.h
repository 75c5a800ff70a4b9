/* What recover and sbc share. */
#ifndef IDM_CLI_CALIBRATE_H
#define IDM_CLI_CALIBRATE_H

#include "cli/cli.h"

extern const cli_option cli_calibration_options[];
/* Replicate as the settings of the call ask for, and report. */
idm_status cli_calibrate(cli_call *call,
                         idm_status (*report)(cli_call *call, const idm_calibration *calibration));

#endif
