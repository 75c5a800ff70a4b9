/* People whose likelihood is normal in their free parameters, tabulated exactly, as a grid
 * represents quadratic functions without error, with their posteriors in closed form. */
#ifndef IDM_TESTS_INVERT_HIERARCHY_TABLE_SUPPORT_H
#define IDM_TESTS_INVERT_HIERARCHY_TABLE_SUPPORT_H

#include "invert/hierarchy/hierarchy.h"
#include "invert/matching.h"
#include "support.h"

/* Person 0 has cells 0 and 1, person 1 has cell 2. Two effects are of the first parameter, the
 * second of them with a share per cell, and one of the second parameter. */
enum { TABLE_PEOPLE = 2, TABLE_CELLS = 3, TABLE_NUMBERS = 2, TABLE_EFFECTS = 3 };

/* The design, in static memory; regressors are 1 and a covariate for the first effect, and 1 for
 * the others. */
extern const idm_design table_design;

/* Log-likelihood of a cell at x: -(x - c)'A(x - c)/2. */
double table_plain(size_t cell, const double *x);
/* H and h of a person: log L(e) = h'e - e'He/2 plus a constant. */
void table_normal(size_t person, double curvature[TABLE_EFFECTS][TABLE_EFFECTS],
                  double linear_term[TABLE_EFFECTS]);
/* Mean and covariance of a person's effects given the data, for the population normal(mean, L L'),
 * L = factor. */
void table_posterior(size_t person, const double *mean, const double *factor,
                     double expected[TABLE_EFFECTS],
                     double covariance[TABLE_EFFECTS][TABLE_EFFECTS]);
/* The model with its table, for parameters from -8 to 8. Returns the grid, owned by the caller;
 * likelihoods need no planning. */
idm_grid *table_open(hierarchy *model);
/* The model with exact likelihoods and gradients, and no table. */
void table_open_slopes(hierarchy *model);

#endif
