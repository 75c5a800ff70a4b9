/* Problems from wherever they are, from within. */
#ifndef IDM_IO_PROBLEM_READ_H
#define IDM_IO_PROBLEM_READ_H

#include "io/place.h"
#include "io/problem/parse.h"

/* idm_problem_read with a reader of sections; files of another format have none. */
idm_status idm_problem_read_sections(const idm_place *place, idm_yaml_section opt_section,
                                     void *context, idm_problem **ret_problem, idm_notes *opt_notes,
                                     idm_error *opt_error);
/* The name of a built-in example where the path is one ("example:NAME"), else NULL. */
const char *idm_problem_example(const char *path);

#endif
