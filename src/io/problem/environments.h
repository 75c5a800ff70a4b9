/* The family of environments of a YAML problem. */
#ifndef IDM_IO_PROBLEM_ENVIRONMENTS_H
#define IDM_IO_PROBLEM_ENVIRONMENTS_H

#include "io/problem/reader.h"

/* {NAME: {transition: ..., observation: ..., start: ...}}: what one does not give is the problem's
 * own, and what the problem does not give is that of the first. */
idm_status idm_yaml_read_environments(idm_yaml_reader *reader);
/* Put the environment that the node names in place of the setting's own. */
idm_status idm_yaml_enter(idm_yaml_reader *reader, const idm_yaml_node *node);

#endif
