/* The utility that is inferred, and what the log leaves open of it.
 *
 * Contents: sought · open */
#ifndef IDM_INVERT_UTILITY_SOUGHT_H
#define IDM_INVERT_UTILITY_SOUGHT_H

#include "idm/finding.h"
#include "idm/problem.h"
#include "invert/utility/mdp.h"

/* === sought ================================================================================= */

/* The utility that is looked for: its entries by action and state, free, tied to others, held, or
 * linear in features, whose weights are the free numbers. */

typedef struct idm_free_utility {
  size_t entries;  /* actions * states, as in theta */
  size_t count;    /* free numbers, in the order of the answer's coordinates */
  int32_t *number; /* [entry]: the free number that it is, or -1: held; all -1 with features */
  double *held;    /* [entry]: the file's values, in units */
  double unit;     /* of everything that is counted as utilities are: 1 until it is chosen */
  const idm_features *features; /* borrowed from the problem; NULL: none (see idm_inverse_check) */
  idm_features *owned_features; /* owned: of entries that are mixtures of others, or of the free
                          weights where some are held; then `features` is this */
  double *base;                 /* [entry]: what is added to the features; NULL: nothing */
} idm_free_utility;

/* Of a problem whose utility is free, and nothing else (see idm_inverse.finds). */
idm_status idm_free_utility_create(const idm_problem *problem, idm_free_utility **ret_free_utility,
                                   idm_error *opt_error);
void idm_free_utility_destroy(idm_free_utility *free_utility);
/* The same numbers where entries are by action and belief, each the mean over states of a belief
 * [beliefs][states]. In the units of the other. */
idm_status idm_belief_utility_create(const idm_free_utility *free_utility, size_t actions,
                                     size_t states, size_t beliefs, const double *belief,
                                     idm_free_utility **ret_free_utility, idm_error *opt_error);
/* Choose the unit by the largest of what entries hold, free ones too where their values count, and
 * of `size`, a bound or a difference that is asked for (infinite: none). What is then solved has
 * numbers about 1, whatever the problem counts in, and tolerances mean the same everywhere; a power
 * of 2, so that nothing is rounded. */
void idm_free_utility_rescale(idm_free_utility *free_utility, bool include_free, double size);
/* key[count]: a number between 1/2 and 3/2 for each, by its name: two problems that differ in order
 * alone have the same ones. */
idm_status idm_free_utility_keys(const idm_problem *problem, const idm_free_utility *free_utility,
                                 double *key, idm_error *opt_error);
/* weight[count]: how many entries each number is; 1 of the weight of a feature. */
void idm_free_utility_weights(const idm_free_utility *free_utility, double *weight);
/* d entry / d number, and the part of an entry that no number moves. */
double idm_free_utility_coefficient(const idm_free_utility *free_utility, size_t entry,
                                    size_t number);
double idm_free_utility_constant(const idm_free_utility *free_utility, size_t entry);
/* row[count] += factor d entry / d number; returns factor times the constant of the entry. */
double idm_free_utility_add(const idm_free_utility *free_utility, size_t entry, double factor,
                            double *row);
/* One entry at the free numbers x[count]. */
double idm_free_utility_value(const idm_free_utility *free_utility, size_t entry, const double *x);
/* utility[entry] at the free numbers x[count], all in units. */
void idm_free_utility_fill(const idm_free_utility *free_utility, const double *x, double *utility);
/* The free numbers x[count] into a theta, in the file's units: weights of features too. */
void idm_free_utility_write(const idm_free_utility *free_utility, const double *x,
                            idm_theta *theta);
/* utility[entry] of a change of the free numbers: what is held does not change. */
void idm_free_utility_apply(const idm_free_utility *free_utility, const double *change,
                            double *utility);
/* gradient[count] = what a derivative by entries is by free numbers. */
void idm_free_utility_backward(const idm_free_utility *free_utility, const double *derivative,
                               double *gradient);

/* === open =================================================================================== */

/* What a log leaves open of a utility: shaping by a potential, and with it a shift, which no
 * behaviour can tell, and what is wanted where nobody was seen. */

/* Directions of the free numbers along which a utility changes nothing that the log shows, into the
 * finding: by discount P phi - phi for some potential phi in states that were visited; and in those
 * that were not, by whatever leaves what is done there, by the demonstrator's policy, worth as much
 * less as phi says. Held and tied entries leave fewer. opt_demonstrator: NULL where every state
 * counts as visited. Of more states than can be eliminated nothing is said (`looked` stays false,
 * and words say so). */
idm_status idm_nullspace_shaping(const idm_mdp *mdp, const idm_demonstrator *opt_demonstrator,
                                 const idm_free_utility *free_utility, idm_optimality *finding,
                                 idm_error *opt_error);
/* The same of what was done in several worlds: the utility, which they share, changes by a
 * potential of each. More worlds leave fewer. */
idm_status idm_nullspace_shared(size_t mdps, const idm_mdp *const *mdp,
                                const idm_demonstrator *const *opt_demonstrator,
                                const idm_free_utility *free_utility, idm_optimality *finding,
                                idm_error *opt_error);
/* And of whoever holds several worlds possible and plans for all of them at once: by one potential
 * that changes the utility alike in each. */
idm_status idm_nullspace_robust(size_t mdps, idm_mdp *const *mdp,
                                const idm_demonstrator *opt_demonstrator,
                                const idm_free_utility *free_utility, idm_optimality *finding,
                                idm_error *opt_error);
/* Directions d with rows . d = 0, for a design of rows[count][free], which is destroyed. */
idm_status idm_nullspace_design(size_t count, double *rows, idm_optimality *finding,
                                idm_error *opt_error);

/* Words on states that were never visited, where there are any. */
void idm_nullspace_note_unvisited(size_t unvisited, size_t states, idm_optimality *finding);

/* Half the distance of the unit vectors of two canonical utilities, states alike, actions by the
 * prior: sqrt((1 - correlation) / 2). 0 where both are constant, 1/2 where one is. */
idm_status idm_canonical_distance(const idm_mdp *mdp, const double *a, const double *b,
                                  double *distance, idm_error *opt_error);

#endif
