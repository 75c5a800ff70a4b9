/* Derived columns and rules of a log: `derive` and `rules` under `data` of a YAML problem. */
#ifndef IDM_IO_PROBLEM_DERIVE_H
#define IDM_IO_PROBLEM_DERIVE_H

#include "io/problem/reader.h"
#include "io/yaml/emit.h"

/* Read both from the section. */
idm_status idm_yaml_read_coding(const idm_yaml_reader *reader, const idm_yaml_node *data);
/* Write what a problem has of them into the section. */
void idm_yaml_put_coding(idm_emitter *out, const idm_columns *columns);

#endif
