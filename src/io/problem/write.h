/* Parts of the YAML writer. */
#ifndef IDM_IO_PROBLEM_WRITE_YAML_H
#define IDM_IO_PROBLEM_WRITE_YAML_H

#include "idm/io.h"
#include "io/problem/parse.h"

/* Write a problem into a file that goes on. */
idm_status idm_problem_put_yaml(idm_file *file, const idm_problem *problem, idm_error *opt_error);
/* A text, quoted where it has to be. */
void idm_yaml_put_text(idm_file *file, const char *text);

/* Whether the word `identity` stands for a matrix bit for bit. */
bool idm_yaml_is_identity(const double *matrix, size_t rows, size_t columns);
/* A valid problem that reads back as it is; IDM_INPUT says what has no form in YAML. */
idm_status idm_yaml_check_writable(const idm_problem *problem, idm_error *opt_error);

#endif
