/* Problems as YAML documents, for other modules: reading and writing.
 *
 * Contents: parse · read · placeholder · write · writable */
#ifndef IDM_IO_PROBLEM_YAML_H
#define IDM_IO_PROBLEM_YAML_H

#include "idm/extension/problem.h"
#include "io/file.h"
#include "io/problem/reader.h"
#include "io/yaml/yaml.h"

/* === parse ================================================================================== */

/* Whole problem files, and further sections of the same document. */

/* Reads further sections of the document, after the problem has been read. */
typedef idm_status (*idm_yaml_section)(void *context, const idm_yaml_tree *tree);

/* === read =================================================================================== */

/* Problems from files and from built-in examples. */

/* idm_problem_read with a function that reads further sections, which only YAML files have. */
idm_status idm_problem_read_sections(const idm_location *place, idm_yaml_section opt_section,
                                     void *context, idm_problem **ret_problem, idm_notes *opt_notes,
                                     idm_error *opt_error);
/* Name of a built-in example if the path is one ("example:NAME"); otherwise NULL. */
const char *idm_problem_example(const char *path);

/* === placeholder ============================================================================ */

/* Placeholders that `idm init` writes for what a table does not contain, to be replaced by the
 * user. */

#define IDM_PLACEHOLDER "FILL_IN"

/* IDM_INPUT, with the lines of all placeholders, if any are left. A text in quotes is not a
 * placeholder. */
idm_status idm_yaml_check_placeholders(const idm_yaml_tree *tree);

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
