/* A field of a settings struct from a node of YAML, as its key describes it. */
#ifndef IDM_IO_YAML_KEY_H
#define IDM_IO_YAML_KEY_H

#include "idm/key.h"
#include "io/yaml/tree.h"

/* `what` names the field in messages. */
idm_status idm_yaml_read_key(const idm_yaml_tree *tree, const idm_yaml_node *node,
                             const idm_key *key, const char *what, void *fields);

#endif
