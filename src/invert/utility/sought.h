/* The free utility, and its directions that the log leaves unidentified.
 *
 * Contents: sought · open */
#ifndef IDM_INVERT_UTILITY_SOUGHT_H
#define IDM_INVERT_UTILITY_SOUGHT_H

#include "idm/extension/finding.h"
#include "idm/extension/problem.h"
#include "invert/utility/mdp.h"

/* === sought ================================================================================= */

/* The utility that is estimated: its entries by action and state are free, tied to others, fixed,
 * or linear in features, whose weights are the free numbers. */

typedef struct idm_free_utility {
  size_t entries;  /* actions * states, as in theta */
  size_t count;    /* free numbers, in the order of the answer's coordinates */
  int32_t *number; /* [entry]: index of its free number, or -1: fixed; all -1 with features */
  double *held;    /* [entry]: values of the file, in units */
  double unit;     /* unit of all quantities measured as utilities: 1 until it is set */
  const idm_features *features; /* borrowed from the problem; NULL: none (see idm_inverse_check) */
  idm_features
      *owned_features; /* owned features, for entries that are mixtures of others, or for the free
                          weights if some are fixed; `features` then points here */
  double *base;        /* [entry]: offset added to the features; NULL: none */
} idm_free_utility;

/* For a problem whose utility is the only free block (see idm_inverse.target_block). */
idm_status idm_free_utility_create(const idm_problem *problem, idm_free_utility **ret_free_utility,
                                   idm_error *opt_error);
void idm_free_utility_destroy(idm_free_utility *free_utility);
/* The same free numbers with entries by action and belief, each the expectation over the states of
 * belief[beliefs][states], in the same unit. */
idm_status idm_belief_utility_create(const idm_free_utility *free_utility, size_t actions,
                                     size_t states, size_t beliefs, const double *belief,
                                     idm_free_utility **ret_free_utility, idm_error *opt_error);
/* Sets the unit to a power of 2 (so that nothing is rounded) by the largest fixed entry, also of
 * free entries if include_free, and by `size`, a bound or difference from the settings (infinite:
 * none). The scaled problem has numbers of order 1, so that tolerances do not depend on the
 * problem's units. */
void idm_free_utility_rescale(idm_free_utility *free_utility, bool include_free, double size);
/* key[count]: a number between 1/2 and 3/2 per free number, derived from its name, so that it does
 * not depend on the order. */
idm_status idm_free_utility_keys(const idm_problem *problem, const idm_free_utility *free_utility,
                                 double *key, idm_error *opt_error);
/* weight[count]: number of entries of each free number; 1 for the weight of a feature. */
void idm_free_utility_weights(const idm_free_utility *free_utility, double *weight);
/* d entry / d number, and the constant part of an entry. */
double idm_free_utility_coefficient(const idm_free_utility *free_utility, size_t entry,
                                    size_t number);
double idm_free_utility_constant(const idm_free_utility *free_utility, size_t entry);
/* row[count] += factor d entry / d number; returns factor times the constant of the entry. */
double idm_free_utility_add(const idm_free_utility *free_utility, size_t entry, double factor,
                            double *row);
/* Value of one entry at the free numbers x[count]. */
double idm_free_utility_value(const idm_free_utility *free_utility, size_t entry, const double *x);
/* utility[entry] at the free numbers x[count], all in units. */
void idm_free_utility_fill(const idm_free_utility *free_utility, const double *x, double *utility);
/* Writes the free numbers x[count] to a theta, in the file's units, including weights of features.
 */
void idm_free_utility_write(const idm_free_utility *free_utility, const double *x,
                            idm_theta *theta);
/* utility[entry] of a change of the free numbers, without constant parts. */
void idm_free_utility_apply(const idm_free_utility *free_utility, const double *change,
                            double *utility);
/* gradient[count]: derivatives with respect to free numbers, from derivatives with respect to
 * entries. */
void idm_free_utility_backward(const idm_free_utility *free_utility, const double *derivative,
                               double *gradient);

/* === open =================================================================================== */

/* Unidentified directions of a utility: potential shaping, which includes a shift and does not
 * affect any behaviour, and utilities in unvisited states. */

/* Adds to the finding the directions of the free numbers that do not change the likelihood of the
 * log: in visited states discount P phi - phi for some potential phi; in unvisited states any
 * change whose policy mean, under the demonstrator's policy, equals that expression. Fixed and tied
 * entries leave fewer directions. opt_demonstrator NULL: every state counts as visited. With more
 * states than can be eliminated nothing is computed (`evaluated` stays false, and a note is added
 * to the words). */
idm_status idm_nullspace_shaping(const idm_mdp *mdp, const idm_demonstrator *opt_demonstrator,
                                 const idm_free_utility *free_utility, idm_optimality *finding,
                                 idm_error *opt_error);
/* The same for decisions in several environments: the common utility changes by a potential of
 * each. More environments leave fewer directions. */
idm_status idm_nullspace_shared(size_t mdps, const idm_mdp *const *mdp,
                                const idm_demonstrator *const *opt_demonstrator,
                                const idm_free_utility *free_utility, idm_optimality *finding,
                                idm_error *opt_error);
/* The same for an agent that plans for several models jointly: one potential that changes the
 * utility equally under each. */
idm_status idm_nullspace_robust(size_t mdps, idm_mdp *const *mdp,
                                const idm_demonstrator *opt_demonstrator,
                                const idm_free_utility *free_utility, idm_optimality *finding,
                                idm_error *opt_error);
/* Directions d with rows . d = 0, for a design matrix rows[count][free], which is overwritten. */
idm_status idm_nullspace_design(size_t count, double *rows, idm_optimality *finding,
                                idm_error *opt_error);

/* Adds a remark on unvisited states, if any. */
void idm_nullspace_note_unvisited(size_t unvisited, size_t states, idm_optimality *finding);

/* Half the distance between the normalised canonical utilities, with states weighted equally and
 * actions by the prior: sqrt((1 - correlation) / 2) (EPIC). 0 if both are constant, 1/2 if one is.
 */
idm_status idm_canonical_distance(const idm_mdp *mdp, const double *a, const double *b,
                                  double *distance, idm_error *opt_error);

#endif
