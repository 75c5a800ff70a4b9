/* The writer of YAML problems.
 *
 * Contents: write · writable */
#ifndef IDM_IO_PROBLEM_WRITE_H
#define IDM_IO_PROBLEM_WRITE_H

#include "idm/problem.h"
#include "io/problem/reader.h"
#include "io/yaml/emit.h"

/* === write ================================================================================== */

/* Parts of the YAML writer. */

/* Write a problem's keys into a block mapping that goes on. What has no form in YAML is a failure
 * of the emitter's. */
void idm_problem_put_yaml(idm_emitter *out, const idm_problem *problem);

/* === writable =============================================================================== */

/* What has a form in YAML. */

/* Whether the word `identity` stands for a matrix bit for bit. */
bool idm_yaml_is_identity(const double *matrix, size_t rows, size_t columns);
/* A valid problem that reads back as it is; IDM_INPUT says what has no form in YAML. */
idm_status idm_yaml_check_writable(const idm_problem *problem, idm_error *opt_error);

#endif
