/* The simplex lattice: beliefs whose coordinates are multiples of 1/r, and interpolation between
 * them.
 *
 * Freudenthal triangulation in the coordinates y_i = r * sum_{j >= i} z_j (docs/method/control.md,
 * 7). Where the setting is fully observed, the points are the corners of the simplex, and a belief
 * is its own vector of weights. */
#ifndef IDM_BELIEF_LATTICE_H
#define IDM_BELIEF_LATTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "idm/status.h"

typedef struct idm_lattice {
  size_t states;
  int resolution;
  bool corners; /* an MDP: one point per state */
  size_t points;
  size_t *rank;   /* [states][resolution + 1]: term of coordinate y_i in the index of a point */
  double *belief; /* [points][states]; NULL for corners */
} idm_lattice;

/* Number of points C(r + k - 1, k - 1), or SIZE_MAX on overflow. */
size_t idm_lattice_count(size_t states, int resolution);
/* Default resolution: 99 up to 3 states, else the largest with at most 20,000 points, at least 1.
 */
int idm_lattice_default(size_t states);
/* The largest resolution with at most `points` points; 0: there is none. */
int idm_lattice_max_resolution(size_t states, size_t points);

idm_status idm_lattice_create(size_t states, int resolution, bool corners,
                              idm_lattice **ret_lattice, idm_error *opt_error);
void idm_lattice_destroy(idm_lattice *lattice);

/* Vertices of the simplex cell that contains belief z, at most `states`, with positive weights that
 * sum to 1. Returns their number. vertex and weight have `states` entries, scratch 2 * states. */
size_t idm_lattice_locate(const idm_lattice *lattice, const double *z, uint32_t *vertex,
                          double *weight, double *scratch);

/* The same cell, including vertices of weight 0, as a path: vertex j is one step up in coordinate
 * step[j] from vertex j - 1; step[0] is 0. On a face between cells it is the upper cell. vertex,
 * weight and step have `states` entries, scratch 2 * states. */
size_t idm_lattice_cell(const idm_lattice *lattice, const double *z, uint32_t *vertex,
                        double *weight, uint32_t *step, double *scratch);
/* derivative[state] with respect to z of the function that is linear on a cell with values
 * at[count] at its vertices; determined up to a constant common to all states. */
void idm_lattice_gradient(const idm_lattice *lattice, size_t count, const uint32_t *step,
                          const double *at, double *derivative);

#endif
