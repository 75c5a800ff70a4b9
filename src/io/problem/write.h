/* Writer of YAML problems.
 *
 * Contents: write · writable */
#ifndef IDM_IO_PROBLEM_WRITE_H
#define IDM_IO_PROBLEM_WRITE_H

#include "idm/extension/problem.h"
#include "io/problem/reader.h"
#include "io/yaml/emit.h"

/* === write ================================================================================== */

/* Parts of the YAML writer. */

/* Write a problem's keys into an open block mapping. A problem that YAML cannot express sets the
 * emitter's error. */
void idm_problem_put_yaml(idm_emitter *out, const idm_problem *problem);

/* === writable =============================================================================== */

/* Problems that YAML can express. */

/* Returns true if a matrix equals `identity` bit for bit. */
bool idm_yaml_is_identity(const double *matrix, size_t rows, size_t columns);
/* IDM_INPUT, with the reason, unless the problem is valid and is read back unchanged. */
idm_status idm_yaml_check_writable(const idm_problem *problem, idm_error *opt_error);

#endif
