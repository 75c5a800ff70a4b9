/* What `idm init` writes where a table cannot tell: to be filled in by a person. */
#ifndef IDM_IO_PROBLEM_PLACEHOLDER_H
#define IDM_IO_PROBLEM_PLACEHOLDER_H

#include "io/yaml/tree.h"

#define IDM_PLACEHOLDER "FILL_IN"

/* IDM_INPUT with the lines of all placeholders that are left, where there are any. A text in quotes
 * is none. */
idm_status idm_yaml_check_placeholders(const idm_yaml_tree *tree);

#endif
