/* Classes of the command line, and all of them fitted to a log. */
#ifndef IDM_CLI_CLASSES_H
#define IDM_CLI_CLASSES_H

#include "cli/posterior.h"
#include "idm/classes.h"

/* Refuse --set of a key that the class decides. */
idm_status cli_class_check(cli_call *call, const idm_class *of);
/* idm fit --class all. */
idm_status cli_fit_classes(cli_call *call);

#endif
