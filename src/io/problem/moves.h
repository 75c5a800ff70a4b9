/* Transitions of observed states, row by row: what may follow. */
#ifndef IDM_IO_PROBLEM_MOVES_H
#define IDM_IO_PROBLEM_MOVES_H

#include "io/problem/reader.h"

/* Whether the file gives the environment's transitions so: states are observed, and `transition`
 * is {action: {from: {to: probability}}} for some action, or names a table. */
bool idm_yaml_gives_moves(const idm_yaml_reader *reader);
idm_status idm_yaml_read_moves(idm_yaml_reader *reader);

#endif
