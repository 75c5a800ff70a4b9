/* What cells of a log mean: `codes`, `missing` and `missed` under `data` of a YAML problem. */
#ifndef IDM_IO_PROBLEM_CODES_H
#define IDM_IO_PROBLEM_CODES_H

#include "io/problem/reader.h"

/* Once the columns are read. */
idm_status idm_yaml_read_codes(const idm_yaml_reader *reader, const idm_yaml_node *data);

#endif
