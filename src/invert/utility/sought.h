/* The utility that is looked for: its entries by action and state, free, tied to others, held, or
 * linear in features, whose weights are the free numbers. */
#ifndef IDM_INVERT_UTILITY_SOUGHT_H
#define IDM_INVERT_UTILITY_SOUGHT_H

#include "idm/problem.h"

typedef struct idm_sought {
  size_t entries;  /* actions * states, as in theta */
  size_t count;    /* free numbers, in the order of the answer's coordinates */
  int32_t *number; /* [entry]: the free number that it is, or -1: held; all -1 with features */
  double *held;    /* [entry]: the file's values, in units */
  double unit;     /* of everything that is counted as utilities are: 1 until it is chosen */
  const idm_features *features; /* borrowed from the problem; NULL: none (see idm_inverse_check) */
  idm_features *blend; /* owned: of entries that are mixtures of others, or of the free weights
                          where some are held; then `features` is this */
  double *base;        /* [entry]: what is added to the features; NULL: nothing */
} idm_sought;

/* Of a problem whose utility is free, and nothing else (see idm_inverse.finds). */
idm_status idm_sought_create(const idm_problem *problem, idm_sought **ret_sought,
                             idm_error *opt_error);
void idm_sought_destroy(idm_sought *sought);
/* The same numbers where entries are by action and belief, each the mean over states of a belief
 * [beliefs][states]. In the units of the other. */
idm_status idm_sought_create_on(const idm_sought *sought, size_t actions, size_t states,
                                size_t beliefs, const double *belief, idm_sought **ret_sought,
                                idm_error *opt_error);
/* Choose the unit by the largest of what entries hold, free ones too where their values count, and
 * of `size`, a bound or a difference that is asked for (infinite: none). What is then solved has
 * numbers about 1, whatever the problem counts in, and tolerances mean the same everywhere; a power
 * of 2, so that nothing is rounded. */
void idm_sought_measure(idm_sought *sought, bool free_too, double size);
/* key[count]: a number between 1/2 and 3/2 for each, by its name: two problems that differ in order
 * alone have the same ones. */
idm_status idm_sought_keys(const idm_problem *problem, const idm_sought *sought, double *key,
                           idm_error *opt_error);
/* weight[count]: how many entries each number is; 1 of the weight of a feature. */
void idm_sought_weights(const idm_sought *sought, double *weight);
/* d entry / d number, and the part of an entry that no number moves. */
double idm_sought_coefficient(const idm_sought *sought, size_t entry, size_t number);
double idm_sought_constant(const idm_sought *sought, size_t entry);
/* row[count] += factor d entry / d number; returns factor times the constant of the entry. */
double idm_sought_add(const idm_sought *sought, size_t entry, double factor, double *row);
/* One entry at the free numbers x[count]. */
double idm_sought_value(const idm_sought *sought, size_t entry, const double *x);
/* utility[entry] at the free numbers x[count], all in units. */
void idm_sought_fill(const idm_sought *sought, const double *x, double *utility);
/* The free numbers x[count] into a theta, in the file's units: weights of features too. */
void idm_sought_write(const idm_sought *sought, const double *x, idm_theta *theta);
/* utility[entry] of a change of the free numbers: what is held does not change. */
void idm_sought_push(const idm_sought *sought, const double *change, double *utility);
/* gradient[count] = what a derivative by entries is by free numbers. */
void idm_sought_pull(const idm_sought *sought, const double *slope, double *gradient);

#endif
