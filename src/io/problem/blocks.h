/* Blocks of theta in a YAML problem, each in the form that its descriptor gives. */
#ifndef IDM_IO_PROBLEM_BLOCKS_H
#define IDM_IO_PROBLEM_BLOCKS_H

#include "idm/block.h"
#include "io/problem/reader.h"

/* One block from its node. */
idm_status idm_yaml_read_block(const idm_yaml_reader *reader, size_t id, const idm_yaml_node *node);
/* Those that stand at the top of the file, except the discount. */
idm_status idm_yaml_read_blocks(idm_yaml_reader *reader);
/* Whether a block stands at the top of the file under its own name. */
bool idm_yaml_is_block_key(const idm_block_info *info);

#endif
