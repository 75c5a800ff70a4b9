/* What has a form in YAML. */
#ifndef IDM_IO_PROBLEM_WRITABLE_H
#define IDM_IO_PROBLEM_WRITABLE_H

#include "idm/problem.h"

/* Whether the word `identity` stands for a matrix bit for bit. */
bool idm_yaml_is_identity(const double *matrix, size_t rows, size_t columns);
/* A valid problem that reads back as it is; IDM_INPUT says what has no form in YAML. */
idm_status idm_yaml_check_writable(const idm_problem *problem, idm_error *opt_error);

#endif
