/* Copies of problems with their own dynamics and parameters, and resolutions of finer lattices.
 *
 * Contents: clone · finer */
#ifndef IDM_INVERT_CLONE_H
#define IDM_INVERT_CLONE_H

#include "idm/extension/problem.h"
#include "plan/plan.h"

/* === clone ================================================================================== */

/* A clone of a problem with its own theta and dynamics; all other parts are borrowed. */

/* *ret_clone is NULL on failure. */
idm_status idm_problem_clone(const idm_problem *problem, idm_problem **ret_clone,
                             idm_error *opt_error);
void idm_clone_destroy(idm_problem *clone);

/* === finer ================================================================================== */

/* Finer lattices for comparisons. */

/* true if the planner approximates beliefs by a lattice: false if it has none or the state is
 * observed. */
bool idm_lattice_is_used(const idm_problem *problem, const idm_workspace *workspace);
/* Resolution that a problem is planned at. */
int idm_lattice_resolution(const idm_problem *problem);
/* Resolution of the finest lattice, up to twice `resolution`, that fits in memory for `workspaces`
 * workspaces at once; 0 if none fits that is at least a quarter finer. */
int idm_lattice_finer(const idm_problem *problem, const idm_workspace *workspace, int resolution,
                      size_t workspaces);
/* Factor that extrapolates the change from one lattice to a finer one to a doubling of the
 * resolution. Linear interpolation has an error of order 1/r where the value function has a kink or
 * jump and 1/r^2 elsewhere; a step smaller than a doubling shows less of the error of order 1/r. */
double idm_lattice_doubling_factor(int resolution, int finer);

#endif
