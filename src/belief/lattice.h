/* The simplex lattice: beliefs whose coordinates are multiples of 1/r, and interpolation between
 * them.
 *
 * Freudenthal triangulation in the coordinates y_i = r * sum_{j >= i} z_j.
 * Where the setting is fully observed the points are the corners, and a belief is its own weights.
 */
#ifndef IDM_BELIEF_LATTICE_H
#define IDM_BELIEF_LATTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "idm/status.h"

typedef struct idm_lattice {
  size_t states;
  int resolution;
  bool corners; /* an MDP: one point a state */
  size_t points;
  size_t *rank;   /* [states][resolution + 1]: what coordinate y_i adds to a point's index */
  double *belief; /* [points][states]; NULL for corners */
} idm_lattice;

/* C(r + k - 1, k - 1), or SIZE_MAX where it does not fit. */
size_t idm_lattice_count(size_t states, int resolution);
/* The resolution taken where none is given: 99 up to 3 states, else the largest with at most 20,000
 * points. */
int idm_lattice_default(size_t states);
/* The largest resolution with at most `points` points (0: not even one). */
int idm_lattice_max_resolution(size_t states, size_t points);

idm_status idm_lattice_create(size_t states, int resolution, bool corners,
                              idm_lattice **ret_lattice, idm_error *opt_error);
void idm_lattice_destroy(idm_lattice *lattice);

/* The cell of belief z: at most `states` vertices with positive weights that sum to 1. Returns how
 * many. scratch holds 2 * states numbers. */
size_t idm_lattice_locate(const idm_lattice *lattice, const double *z, uint32_t *vertex,
                          double *weight, double *scratch);

/* The same cell with the vertices of weight 0 that complete it, as the walk that makes it: vertex j
 * lies one step up in coordinate step[j] from vertex j - 1 (step[0] is 0). At a face the cell is
 * the one above. scratch holds 2 * states numbers. */
size_t idm_lattice_cell(const idm_lattice *lattice, const double *z, uint32_t *vertex,
                        double *weight, uint32_t *step, double *scratch);
/* Derivative with respect to z, [state], of the function that is linear on a cell and `at` its
 * vertices; determined up to a number common to all states. */
void idm_lattice_gradient(const idm_lattice *lattice, size_t count, const uint32_t *step,
                          const double *at, double *derivative);

#endif
