/* The population of a YAML problem: priors of what people are like, in place of the usual ones. */
#ifndef IDM_IO_PROBLEM_POPULATION_H
#define IDM_IO_PROBLEM_POPULATION_H

#include "io/problem/reader.h"

/* `population: {sd:, coefficient:, correlation:}`; the first two are a number for every free block,
 * or numbers by block. */
idm_status idm_yaml_read_population(idm_yaml_reader *reader);

#endif
