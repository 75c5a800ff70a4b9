/* All classes, fitted to a log. */
#ifndef IDM_CLI_CLASSES_H
#define IDM_CLI_CLASSES_H

#include "cli/posterior.h"

/* idm fit --class all. */
idm_status cli_fit_classes(cli_call *call);

#endif
