/* Roles of the columns of a log: the key `data` of a YAML problem. */
#ifndef IDM_IO_PROBLEM_COLUMNS_H
#define IDM_IO_PROBLEM_COLUMNS_H

#include "io/problem/reader.h"

idm_status idm_yaml_read_columns(idm_yaml_reader *reader);

#endif
