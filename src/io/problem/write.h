/* Parts of the YAML writer. */
#ifndef IDM_IO_PROBLEM_WRITE_YAML_H
#define IDM_IO_PROBLEM_WRITE_YAML_H

#include "io/problem/entries.h"
#include "io/problem/reader.h"
#include "io/yaml/emit.h"

/* Write a problem's keys into a block mapping that goes on. What has no form in YAML is a failure
 * of the emitter's. */
void idm_problem_put_yaml(idm_emitter *out, const idm_problem *problem);

#endif
