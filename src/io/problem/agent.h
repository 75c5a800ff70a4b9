/* Agent of a YAML problem. */
#ifndef IDM_IO_PROBLEM_AGENT_H
#define IDM_IO_PROBLEM_AGENT_H

#include "idm/problem.h"
#include "io/problem/reader.h"

enum { IDM_YAML_AGENT_KEYS = 100 };
/* The keys that may stand under `agent` with the problem's planner; returns how many. */
size_t idm_yaml_agent_keys(const idm_problem *problem, const char *known[IDM_YAML_AGENT_KEYS]);
/* Set one of those keys. */
idm_status idm_yaml_set_agent(idm_yaml_reader *reader, const char *name, const idm_yaml_node *node);
idm_status idm_yaml_read_agent(idm_yaml_reader *reader);

#endif
