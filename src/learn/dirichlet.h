/* Mixtures of products of Dirichlet rows: proposals that lead from any mode of a posterior of
 * dynamics to any other.
 *
 * Given paths of hidden states, rows are independent and Dirichlet. The mean of these densities
 * over the paths that a chain draws at a mode estimates the posterior there, with the dependence
 * between rows (Gelfand and Smith 1990); it is exact where the states are known. */
#ifndef IDM_LEARN_DIRICHLET_H
#define IDM_LEARN_DIRICHLET_H

#include "idm/random.h"
#include "learn/structure.h"

typedef struct dirichlet {
  const structure *structure; /* borrowed */
  size_t numbers;             /* of idm_dynamics */
  size_t parts;
  size_t kernels;   /* per part; all have the same weight */
  size_t *added;    /* [part]: kernels so far */
  double *shape;    /* [part][kernel][number] */
  double *constant; /* [part][kernel]: log of the normaliser */
} dirichlet;

idm_status dirichlet_create(const structure *s, size_t numbers, size_t parts, size_t kernels,
                            dirichlet **ret_dirichlet, idm_error *opt_error);
void dirichlet_destroy(dirichlet *d);
/* Add a kernel to a part: Dirichlet(prior + counts), given counts that are gathered. Threads may
 * add to different parts at a time. A part that is full is left as it is. */
void dirichlet_add(dirichlet *d, size_t part, double prior, const double *counts);
/* Once all parts are full: draw the rows that are learnt, ties with them. `scratch` [numbers]. */
void dirichlet_draw(const dirichlet *d, idm_random *random, double *numbers, double *scratch);
/* log density of the rows that are learnt; *opt_part is the part that has the largest share of it.
 * `scratch` [numbers]. */
double dirichlet_log_density(const dirichlet *d, const double *numbers, double *scratch,
                             size_t *opt_part);

#endif
