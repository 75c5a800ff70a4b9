/* Problems that differ from another by dynamics, numbers or the lattice.
 *
 * Contents: fork · finer */
#ifndef IDM_INVERT_FORK_H
#define IDM_INVERT_FORK_H

#include "idm/problem.h"
#include "idm/workspace.h"

/* === fork =================================================================================== */

/* A problem like another but for a parameter and dynamics of its own: all else is borrowed. */

/* NULL where it fails. */
idm_status idm_problem_clone(const idm_problem *problem, idm_problem **ret_clone,
                             idm_error *opt_error);
void idm_clone_destroy(idm_problem *clone);

/* === finer ================================================================================== */

/* Lattices to compare with. */

/* Whether a lattice stands between the planner and its beliefs: not where it has none, nor where
 * the state is seen. */
bool idm_lattice_is_used(const idm_problem *problem, const idm_workspace *workspace);
/* The resolution that a problem is planned at. */
int idm_lattice_resolution(const idm_problem *problem);
/* The finest lattice up to about twice as fine that so many workspaces can have at once; 0
 * where none that is a quarter finer fits. */
int idm_lattice_finer(const idm_problem *problem, const idm_workspace *workspace, int resolution,
                      size_t workspaces);
/* What a change from one lattice to a finer one is multiplied by to stand for doubling: linear
 * interpolation errs by 1/r where a value bends or jumps, by 1/r^2 elsewhere, and less than a
 * doubling shows less of the first. */
double idm_lattice_doubling_factor(int resolution, int finer);

#endif
