/* Candidate models of a YAML problem. */
#ifndef IDM_IO_PROBLEM_MODELS_H
#define IDM_IO_PROBLEM_MODELS_H

#include "io/problem/reader.h"

idm_status idm_yaml_read_models(idm_yaml_reader *reader);

#endif
