/* Transition and observation matrices of a YAML problem. */
#ifndef IDM_IO_PROBLEM_DYNAMICS_H
#define IDM_IO_PROBLEM_DYNAMICS_H

#include "io/problem/reader.h"

const char *idm_yaml_kind_name(idm_yaml_kind kind);
size_t idm_yaml_kind_columns(const idm_yaml_reader *reader, idm_yaml_kind kind);
/* Matrices of every action from `node`; where it names no matrix, those of opt_base; where there
 * are none, a terminal action gets identity or uniform. Fills matrices [action][state][column]. */
idm_status idm_yaml_read_matrices(idm_yaml_reader *reader, idm_yaml_kind kind,
                                  const idm_yaml_node *node, const double *opt_base,
                                  double *matrices);
idm_status idm_yaml_read_environment(idm_yaml_reader *reader);

#endif
