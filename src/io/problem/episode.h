/* Course of an episode in a YAML problem. */
#ifndef IDM_IO_PROBLEM_EPISODE_H
#define IDM_IO_PROBLEM_EPISODE_H

#include "io/problem/reader.h"

idm_status idm_yaml_read_episode(idm_yaml_reader *reader);
idm_status idm_yaml_read_start(idm_yaml_reader *reader, const idm_yaml_node *node);
idm_status idm_yaml_read_discount(idm_yaml_reader *reader, const idm_yaml_node *node);

#endif
