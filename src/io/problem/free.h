/* Free blocks of a YAML problem. */
#ifndef IDM_IO_PROBLEM_FREE_H
#define IDM_IO_PROBLEM_FREE_H

#include "io/problem/reader.h"

idm_status idm_yaml_read_free(idm_yaml_reader *reader);
/* The same from the node that stands under `free`. */
idm_status idm_yaml_read_free_blocks(idm_yaml_reader *reader, const idm_yaml_node *node);

#endif
