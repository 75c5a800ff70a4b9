/* Lattices to compare with. */
#ifndef IDM_INVERT_FINER_H
#define IDM_INVERT_FINER_H

#include "idm/problem.h"
#include "idm/workspace.h"

/* Whether a lattice stands between the planner and its beliefs: not where it has none, nor where
 * the state is seen. */
bool idm_lattice_matters(const idm_problem *problem, const idm_workspace *workspace);
/* The resolution that a problem is planned at. */
int idm_lattice_resolution(const idm_problem *problem);
/* The finest lattice up to about twice as fine that so many workspaces can have at once; 0
 * where none that is a quarter finer fits. */
int idm_lattice_finer(const idm_problem *problem, const idm_workspace *workspace, int resolution,
                      size_t workspaces);
/* What a change from one lattice to a finer one is multiplied by to stand for doubling: linear
 * interpolation errs by 1/r where a value bends or jumps, by 1/r^2 elsewhere, and less than a
 * doubling shows less of the first. */
double idm_lattice_doubling(int resolution, int finer);

#endif
