/* Problems from files, for other modules.
 *
 * Contents: parse · read · placeholder */
#ifndef IDM_IO_PROBLEM_READ_H
#define IDM_IO_PROBLEM_READ_H

#include "idm/problem.h"
#include "io/file.h"
#include "io/yaml/tree.h"

/* === parse ================================================================================== */

/* Whole problem files, and what may stand beside a problem in the same document. */

/* Reads what stands beside the problem in the same document, once the problem is read. */
typedef idm_status (*idm_yaml_section)(void *context, const idm_yaml_tree *tree);

/* === read =================================================================================== */

/* Problems from wherever they are, from within. */

/* idm_problem_read with a reader of sections; files of another format have none. */
idm_status idm_problem_read_sections(const idm_location *place, idm_yaml_section opt_section,
                                     void *context, idm_problem **ret_problem, idm_notes *opt_notes,
                                     idm_error *opt_error);
/* The name of a built-in example where the path is one ("example:NAME"), else NULL. */
const char *idm_problem_example(const char *path);

/* === placeholder ============================================================================ */

/* What `idm init` writes where a table cannot tell: to be filled in by a person. */

#define IDM_PLACEHOLDER "FILL_IN"

/* IDM_INPUT with the lines of all placeholders that are left, where there are any. A text in quotes
 * is none. */
idm_status idm_yaml_check_placeholders(const idm_yaml_tree *tree);

#endif
