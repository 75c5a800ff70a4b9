/* Which entries of transitions or emissions share one free number. */
#ifndef IDM_IO_PROBLEM_TIES_H
#define IDM_IO_PROBLEM_TIES_H

#include "io/problem/reader.h"
#include "io/yaml/emit.h"

/* Names beside `scale` and `prior` under free.transition or free.emission, each with a pattern of
 * letters in the shape of a matrix: for every action, or by action as matrices are. */
idm_status idm_yaml_read_ties(idm_yaml_reader *reader, const idm_yaml_node *opt_node, size_t id);
/* The same names written out, action by action. */
void idm_yaml_put_ties(idm_emitter *out, const idm_setting *setting, const idm_block *block);

#endif
