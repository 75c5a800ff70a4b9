/* Whole problem files, and what may stand beside a problem in the same document. */
#ifndef IDM_IO_PROBLEM_PARSE_H
#define IDM_IO_PROBLEM_PARSE_H

#include "idm/problem.h"
#include "io/place.h"
#include "io/yaml/tree.h"

/* Reads what stands beside the problem in the same document, once the problem is read. */
typedef idm_status (*idm_yaml_section)(void *context, const idm_yaml_tree *tree);

/* idm_problem_parse_yaml with such a reader; the text is that of the file at `place`, which tables
 * are relative to. */
idm_status idm_problem_parse_sections(const char *text, size_t length, const idm_place *place,
                                      idm_yaml_section opt_section, void *context,
                                      idm_problem **ret_problem, idm_notes *opt_notes,
                                      idm_error *opt_error);

#endif
